"""`triton._compile_warmup_state`: whether launches compile only. Here only `kernel.warmup(...)` does."""

from __future__ import annotations

__all__ = ["is_compile_warmup"]


def is_compile_warmup() -> bool:
    """False."""
    return False
