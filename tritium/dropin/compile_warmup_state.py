"""`triton._compile_warmup_state`: whether launches compile only. They never do here but by `kernel.warmup(...)`."""

from __future__ import annotations

__all__ = ["is_compile_warmup"]


def is_compile_warmup() -> bool:
    """False."""
    return False
