"""`triton.backends.amd.compiler`: its helpers; what belongs to Triton's own code generator is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..support.folders import file_digest
from .refusal import refused_attributes

__all__ = ["file_hash", "get_min_dot_size"]


def file_hash(path: str) -> str:
    """A digest of a file."""
    return file_digest(path)


def get_min_dot_size(target: Any) -> Callable[[Any, Any], tuple[int, int, int]]:
    """A function from the types of two operands of `tl.dot` to the minimum M, N and K: any size is padded."""
    return lambda lhs_type, rhs_type: (1, 1, 1)


_LATER = "it belongs to Triton's code generator: use tritium.compile, or the methods of HIPBackend"

__getattr__ = refused_attributes(
    __name__,
    {
        "assemble_amdgcn compile_amdgpu get_amd_codegen_path get_amd_codegen_revision": _LATER,
        "get_amd_codegen_target_triple get_llvm_flags is_async_copy_enabled is_coexec_scheduler_enabled": _LATER,
        "is_consan_supported is_expert_scheduling_enabled is_fpsan_supported": _LATER,
        "is_in_thread_transpose_enabled is_pingpong_schedule_enabled": _LATER,
    },
)
