"""From loops over vectors and buffers to LLVM IR text: one function a kernel, with the loop over programs inside."""

from .module import LoweredModule, Site, ttc_to_llvm

__all__ = ["LoweredModule", "Site", "ttc_to_llvm"]
