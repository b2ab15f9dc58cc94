"""What lowerings print for NVIDIA GPUs alone: NVVM intrinsics and inline PTX."""
