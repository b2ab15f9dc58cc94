"""`triton._C.libtriton.amd`: refused by name, since the stages for AMD GPUs end at `ttir`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ...dropin.refusal import refused_attributes
from .passes import namespace

__all__ = ["load_dialects", "passes"]

passes = SimpleNamespace(ttgpuir=namespace("amd.passes.ttgpuir"))


def load_dialects(context: Any) -> None:
    """Nothing: dialects are imported when text or a pass names them."""


_FUNCTIONS = (
    "CALLING_CONV_AMDGPU_KERNEL add_scalarize_packed_fops_llvm_pass assemble_amdgcn attach_target_triple "
    "cleanup_bitcode_metadata disable_print_inline find_loaded_library get_target_triple has_architected_sgprs "
    "hipblas link_hsaco need_extern_lib set_abi_version set_all_fn_arg_inreg set_bool_control_constant "
    "set_isa_version set_target_triple supports_multi_cta_launch supports_tdm"
)
_INSTEAD = "the stages for AMD GPUs end at ttir, which Triton compiles further"

__getattr__ = refused_attributes(__name__, {_FUNCTIONS: _INSTEAD})
