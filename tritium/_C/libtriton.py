"""`from triton._C.libtriton import nvidia`: tutorials compare with the vendor's library through it."""

from __future__ import annotations

from types import SimpleNamespace

from ..backends.nvidia import cublas

__all__ = ["nvidia"]

nvidia = SimpleNamespace(cublas=cublas)
