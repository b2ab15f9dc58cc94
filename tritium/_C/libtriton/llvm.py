"""`triton._C.libtriton.llvm`: LLVM IR of a module after `nvidia.passes.ttgpuir.add_to_llvmir`, and its assembly.

`to_module` lowers the module to LLVM text, `optimize_module` runs LLVM's passes, `translate_to_asm` makes PTX for the
triple nvptx64-nvidia-cuda; for CPUs and AMD GPUs this path does not exist (kernels for CPUs go through `ttcir`).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ...backends.cpu.target import host_target
from ...backends.nvidia.options import CUDAOptions
from ...backends.nvidia.target import CUDATarget
from ...compiler.module_views import module_of
from ...dropin.refusal import UnsupportedBinding, refused_attributes
from ...ir import IntegerAttr
from ...support import TritiumError
from ...support.lazy import LazyModule
from ..pass_table import LINE_INFO, LOWERED_FOR

__all__ = [
    "OPTIMIZE_O0",
    "OPTIMIZE_O1",
    "OPTIMIZE_O2",
    "OPTIMIZE_O3",
    "add_version_info",
    "attach_datalayout",
    "context",
    "get_cpu_features",
    "init_targets",
    "link_extern_libs",
    "module",
    "optimization_level",
    "optimize_module",
    "to_module",
    "translate_to_asm",
]

_codegen = LazyModule("...backends.nvidia.codegen", __package__)
_debug_info = LazyModule("...conversion.llvm.debug_info", __package__)
_lowering = LazyModule("...conversion.ttg_to_llvm.module", __package__)
_nvidia_target = LazyModule("...conversion.ttg_to_llvm.nvidia.target", __package__)
_user_text = LazyModule("...backends.compiler", __package__)

_TRIPLE = "nvptx64-nvidia-cuda"


class optimization_level(enum.IntEnum):
    """How much LLVM optimizes."""

    OPTIMIZE_O0 = 0
    OPTIMIZE_O1 = 1
    OPTIMIZE_O2 = 2
    OPTIMIZE_O3 = 3


OPTIMIZE_O0, OPTIMIZE_O1, OPTIMIZE_O2, OPTIMIZE_O3 = optimization_level


class context:
    """Stands for LLVM's context; every compile makes its own."""


class module:
    """LLVM text, and what was set of its target and libraries; `str()` is the text."""

    def __init__(self, text: str, capability: int) -> None:
        self.text = text
        self.capability = capability
        self.ptx: int | None = None
        self.libraries: tuple[tuple[str, str], ...] = ()
        self.flushes_subnormals = False

    def get_functions(self) -> list[Any]:
        """The functions, each with `name`, `is_declaration()` and `is_external_linkage()`."""
        found = re.findall(r"^(define|declare)\b([^@\n]*)@([\w.$]+)\(", self.text, re.M)
        return [
            SimpleNamespace(
                name=name,
                is_declaration=lambda kind=kind: kind == "declare",
                is_external_linkage=lambda head=head: not {"internal", "private"} & set(head.split()),
            )
            for kind, head, name in found
        ]

    def add_flag(self, behavior: int, key: str, value: int) -> None:
        """Refused, but for the flag that `nvidia.set_nvvm_reflect_ftz` sets."""
        if key != "nvvm-reflect-ftz":
            raise UnsupportedBinding(f"llvm.module.add_flag({key!r})", "only nvvm-reflect-ftz changes code here")
        self.flushes_subnormals = bool(value)

    def __str__(self) -> str:
        return self.text


def init_targets() -> None:
    """Nothing: LLVM is initialized when it is first used."""


def get_cpu_features() -> set[str]:
    """The features of this machine's processor, as LLVM calls them: {"avx2", ...}."""
    return {name[1:] for name in host_target().features.split(",") if name.startswith("+")}


def _integer(op: Any, name: str, default: int) -> int:
    found = op.attributes.get(name)
    return found.value if isinstance(found, IntegerAttr) else default


def to_module(mod: Any, context: context) -> module:
    """The LLVM text of a module that went through `add_to_llvmir`; multiply-adds may be fused until
    `translate_to_asm` says otherwise."""
    op = module_of(mod)
    capability = _integer(op, LOWERED_FOR, 0)
    if not capability:
        raise TritiumError(
            "llvm.to_module needs a module that nvidia.passes.ttgpuir.add_to_llvmir(pm, capability, ptx_version) was "
            "run on\nhint: CUDABackend.make_llir runs all of the passes before it"
        )
    values = {
        "num_warps": _integer(op, "ttg.num-warps", 4),
        "num_ctas": _integer(op, "ttg.num-ctas", 1),
        "enable_fp_fusion": True,
    }
    options = CUDAOptions.parse(values, CUDATarget(capability))
    lines = _debug_info.DebugInfo() if LINE_INFO in op.attributes else None
    return module(_lowering.ttg_to_llvm(op, _nvidia_target.NVIDIATarget(capability), options, lines).text, capability)


def attach_datalayout(mod: module, triple: str, proc: str, features: str, flags: Sequence[str] = ()) -> None:
    """Choose the target: only nvptx64, whose data layout the text has already; of the features the PTX version."""
    mod.capability, mod.ptx = _chip(triple, proc, features)


def _chip(triple: str, proc: str, features: str) -> tuple[int, int | None]:
    number = re.fullmatch(r"sm_(\d+)[af]?", proc)
    if triple != _TRIPLE or number is None:
        raise UnsupportedBinding(
            f"llvm for {triple} {proc}",
            "code is made for nvptx64-nvidia-cuda and sm_NN; kernels for CPUs compile with GPUTarget('cpu', ...)",
        )
    version = re.search(r"\+ptx(\d+)", features)
    return int(number[1]), None if version is None else int(version[1])


def link_extern_libs(mod: module, paths: Sequence[str]) -> None:
    """Link bitcode when the module is optimized: of libdevice the functions that are called, all of other files."""
    found = {("libdevice" if "libdevice" in str(path) else f"library{i}"): str(path) for i, path in enumerate(paths)}
    mod.libraries = tuple(found.items())


def add_version_info(mod: module) -> None:
    """Nothing: the metadata of a kernel names the versions (`kernel.metadata`)."""


def optimize_module(
    mod: module,
    opt: optimization_level,
    arch: str = "",
    features: str = "",
    flags: Sequence[str] = (),
    enable_fp_fusion: bool = False,
    disable_slp_vectorizer: bool = False,
    disable_vector_combine: bool = False,
    expand_masked_div_rem: bool = False,
) -> None:
    """Link libraries and run LLVM's passes: the passes chosen for GPUs at OPTIMIZE_O1 and above, none at O0.

    The pass list has no SLP vectorizer, no vector-combine and no masked division, so that what the last parameters
    switch off never runs. LLVM's own flags cannot be passed.
    """
    chip = _codegen.NVPTXTarget.of(mod.capability, mod.ptx)
    if opt == OPTIMIZE_O0:
        return
    mod.text = str(_codegen.optimize(mod.text, chip, mod.libraries, mod.flushes_subnormals))


_CONTRACT = re.compile(r"(?<= )contract ")


def translate_to_asm(
    llvm_ir: str,
    triple: str,
    proc: str,
    features: str,
    flags: Sequence[str],
    enable_fp_fusion: bool,
    is_object: bool,
    canonicalize_gep: bool = False,
    sched4reg: bool = False,
) -> str:
    """PTX of LLVM text; without `enable_fp_fusion` no multiplication and addition become one FMA."""
    if is_object:
        raise UnsupportedBinding("llvm.translate_to_asm(is_object=True)", "CUDABackend.make_cubin assembles PTX")
    capability, ptx = _chip(triple, proc, features)
    text = str(llvm_ir) if enable_fp_fusion else _CONTRACT.sub("", str(llvm_ir))
    made: str = _codegen.emit_ptx(
        _user_text.UserText(text), _codegen.NVPTXTarget.of(capability, ptx), fewer_registers=sched4reg
    )
    return made


_BEHAVIORS = "APPEND APPEND_UNIQUE ERROR MAX MIN OVERRIDE REQUIRE WARNING"

__getattr__ = refused_attributes(
    __name__,
    {
        "translate_mir_to_asm translate_to_mir": "LLVM's machine IR cannot be edited; compile from llir or ptx text",
        "function function_list source_mgr": "llvm.module.get_functions() lists functions",
        "to_bitcode": "llvmlite makes bitcode: llvmlite.binding.parse_assembly(text).as_bitcode()",
        " ".join(f"MODULE_FLAG_BEHAVIOR_{name}" for name in _BEHAVIORS.split()): "see llvm.module.add_flag",
    },
)
