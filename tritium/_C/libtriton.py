"""`from triton._C.libtriton import nvidia, llvm, ir`: the vendor's library that tutorials compare with, what the
processor has, and modules as `torch.compile` walks them."""

from __future__ import annotations

from types import SimpleNamespace

from ..backends.cpu.target import host_target
from ..backends.nvidia import cublas
from . import views

__all__ = ["ir", "llvm", "nvidia"]

ir = views
nvidia = SimpleNamespace(cublas=cublas)


def _cpu_features() -> set[str]:
    """What this machine's processor has, in LLVM's words: {"avx2", ...}."""
    return {name[1:] for name in host_target().features.split(",") if name.startswith("+")}


llvm = SimpleNamespace(get_cpu_features=_cpu_features)
