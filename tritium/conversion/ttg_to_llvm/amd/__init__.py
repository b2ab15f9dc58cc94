"""What lowerings print for AMD GPUs alone: AMDGPU intrinsics."""
