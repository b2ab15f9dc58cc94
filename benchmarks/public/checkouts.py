"""Copy what `public_kernels.py` needs of clones to another folder, some megabytes, for a machine without a network.

    python benchmarks/public/checkouts.py CLONES TARGET

CLONES has a folder for each repository, named as `git clone` names it; those that are missing are left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

#: A repository's folder -> patterns of the files below it that the driver's imports reach.
NEEDED = {
    "attorch": ("attorch/*.py",),
    "flash-linear-attention": (
        "fla/*.py", "fla/ops/**/*.py",
        "fla/modules/**/*.py", "fla/utils/**/*.py",
    ),
    "vllm": (
        "vllm/triton_utils/*.py", "vllm/v1/attention/ops/*.py", "vllm/v1/attention/backends/*.py",
        "vllm/lora/ops/**/*.py", "vllm/utils/*.py", "vllm/model_executor/layers/lightning_attn.py",
        "vllm/model_executor/layers/quantization/awq_triton.py", "vllm/model_executor/layers/quantization/utils/*.py",
    ),
    "lightllm": (
        "lightllm/common/basemodel/**/*.py", "lightllm/common/fused_moe/**/*.py", "lightllm/models/llama/**/*.py",
        "lightllm/models/gemma_2b/**/*.py", "lightllm/utils/*.py", "lightllm/common/*.py",
        "lightllm/common/kernel_config.py",
    ),
    "sglang": (
        "python/sglang/*.py", "python/sglang/kernels/*.py", "python/sglang/kernels/ops/*.py",
        "python/sglang/kernels/ops/attention/*.py", "python/sglang/kernels/ops/layernorm/*.py",
        "python/sglang/kernels/ops/moe/*.py", "python/sglang/kernels/ops/quantization/*.py",
        "python/sglang/kernels/ops/sampling/*.py", "python/sglang/kernels/ops/speculative/*.py",
        "python/sglang/kernels/ops/gemm/*.py", "python/sglang/srt/utils/*.py",
        "python/sglang/srt/layers/quantization/*.py", "python/sglang/kernels/jit/*.py",
    ),
    "mamba": ("mamba_ssm/ops/**/*.py", "mamba_ssm/utils/**/*.py", "mamba_ssm/distributed/*.py", "mamba_ssm/*.py"),
    "Liger-Kernel": ("src/liger_kernel/*.py", "src/liger_kernel/ops/*.py", "src/liger_kernel/ops/experimental/*.py",
                     "src/liger_kernel/ops/backends/*.py"),
    "unsloth": ("unsloth/kernels/*.py",),
    "ml-cross-entropy": ("cut_cross_entropy/**/*.py",),
    "conch": ("conch/**/*.py",),
    "SageAttention": ("sageattention/**/*.py",),
    "FlagAttention": ("src/flag_attn/**/*.py",),
    "FlagGems": (
        "src/flag_gems/*.py", "src/flag_gems/**/*.py", "src/flag_gems/**/_nvidia/**/*.yaml",
        "src/flag_gems/**/_nvidia/*.yaml",
    ),
    "tutorials": ("python/tutorials/*.py",),
}  # fmt: skip
_OTHER_CARDS = {"_aipu", "_amd", "_arm", "_ascend", "_cambricon", "_enflame", "_hygon", "_iluvatar", "_kunlunxin",
                "_metax", "_mthreads", "_sunrise", "_tsingmicro", "__pycache__"}  # fmt: skip


def copy(clones: Path, target: Path) -> int:
    """Copy the files that are needed; returns their bytes."""
    total = 0
    for repository, patterns in NEEDED.items():
        root = clones / repository
        for file in sorted({file for pattern in patterns for file in root.glob(pattern)}):
            below = file.relative_to(root)
            if _OTHER_CARDS.intersection(below.parts):
                continue
            (target / repository / below).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / repository / below)
            total += file.stat().st_size
    return total


if __name__ == "__main__":
    print(f"{copy(Path(sys.argv[1]), Path(sys.argv[2])) / 1e6:.1f} MB")
