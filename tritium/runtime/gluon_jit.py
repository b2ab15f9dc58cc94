"""`gluon.jit`: a Python function in Gluon as a kernel."""

from __future__ import annotations

from typing import Any

from ..compiler.gluon_source import GluonASTSource
from .jit import JITFunction, T, jit_with

__all__ = ["GluonASTSource", "GluonJITFunction", "jit"]


class GluonJITFunction(JITFunction[T]):
    """A kernel in Gluon, launched as one in the Triton language is."""

    ASTSource = GluonASTSource

    def is_gluon(self) -> bool:
        """True."""
        return True


def jit(fn: Any = None, **options: Any) -> Any:
    """Make a Python function a kernel in Gluon, or a function that kernels call; options as of `tritium.jit`."""
    return jit_with(GluonJITFunction, fn, options)
