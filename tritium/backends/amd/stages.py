"""The AMD stages: ttir -> ttgir -> llir -> amdgcn -> hsaco.

| stage | what it is | made by |
|---|---|---|
| ttir | tile programs, as for every target | `transforms.ttir` |
| ttgir | tensors with layouts: which thread holds what | `pipelines` |
| llir | LLVM IR of one thread, optimized | `conversion.ttg_to_llvm`, `codegen` |
| amdgcn | assembly | `codegen` |
| hsaco | the code object that a ROCm loader reads | `codegen` or `assembler`, `linker` |
"""

from __future__ import annotations

import sys

from ...conversion.llvm.debug_info import DebugInfo
from ...conversion.ttg_to_llvm.amd.target import AMDTarget
from ...conversion.ttg_to_llvm.module import ttg_to_llvm
from ...dialects import builtin
from ...ir import IntegerAttr
from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...support import InternalError, OptionError
from ...support.deferred_warnings import warn
from ...support.lazy import LazyModule
from ...support.patterns import pattern
from ...support.recording import recorded
from ...support.settings import amd, compilation
from ...transforms.ttir import gpu_ttir_pipeline
from ..compiler import UserText
from ..errors import BackendError, PerformanceWarning
from .assembler import assemble, is_assembly
from .code_object import KernelResources, kernels_of, resources_of, resources_of_assembly
from .codegen import AMDGPUTarget, emit, has_inline_assembly, optimize
from .linker import link
from .options import HIPOptions
from .pipelines import LOWERING, ttgir_pipeline
from .target import HIPTarget

__all__ = ["PIPELINES", "Build", "gluon_to_ttgir", "make_ttgir", "make_ttir"]

_gluon = LazyModule("...transforms.gluon.pipelines", __package__)
_verify_kernel = LazyModule("...transforms.gluon.verify_kernel", __package__)
_shared_memory_report = LazyModule("..shared_memory_report", __package__)

PIPELINES = {"hip:gfx942": gpu_ttir_pipeline(HIPTarget("gfx942").has_descriptors, True)}
"""The passes to `ttir` by the first target that has them so."""

# What launches read, under Triton's names: metadata -> (attribute of the module, its value without one).
_ATTRIBUTES = {
    "global_scratch_size": ("ttg.global_scratch_memory_size", 0),
    "global_scratch_align": ("ttg.global_scratch_memory_alignment", 1),
    "profile_scratch_size": ("ttg.profile_scratch_memory_size", 0),
    "profile_scratch_align": ("ttg.profile_scratch_memory_alignment", 1),
}
_KERNEL = pattern(r"^\s*\.amdhsa_kernel\s+(\S+)", 8)


def make_ttir(module: builtin.Module, metadata: dict[str, object], options: HIPOptions) -> builtin.Module:
    """The module after the passes of the table, with descriptors where hardware reads them."""
    run_pipeline(module, gpu_ttir_pipeline(options.native_descriptors, True), stage="ttir", verifier=verify)
    return module


def make_ttgir(module: builtin.Module, metadata: dict[str, object], options: HIPOptions) -> builtin.Module:
    """Tensors with layouts for warps of the target's size."""
    metadata["num_warps"] = options.num_warps
    run_pipeline(module, ttgir_pipeline(options), stage="ttgir", verifier=verify)
    return module


def gluon_to_ttgir(module: builtin.Module, metadata: dict[str, object], options: HIPOptions) -> builtin.Module:
    """Gluon's module with all layouts chosen, for the warps that the kernel's layouts are made for."""
    metadata["num_warps"] = options.num_warps
    run_pipeline(module, _gluon.PIPELINE_FOR_AMD, stage="ttgir", verifier=_verify_kernel.verify_kernel)
    return module


class Build:
    """One compile from `ttgir` on. It keeps the LLVM IR of the assembly that it made, whose code object needs no
    assembler."""

    def __init__(self, options: HIPOptions) -> None:
        for name in ("dump_mir", "swap_mir", "codegen_path"):
            if getattr(amd, name):
                raise OptionError(f"the setting amd.{name} is not supported: LLVM's machine IR is not accessible here")
        self.options = options
        self.target = options.target
        self._made: tuple[str, str] | None = None  # assembly, and the LLVM IR that it was made of

    @property
    def codegen_target(self) -> AMDGPUTarget:
        """LLVM's processor and features."""
        cu = self.options.wgp_cu_mode == "cu" and self.target.warp_size == 32
        features, attributes = "+cumode" if cu else "", bool(self.options.llvm_fn_attrs)
        return AMDGPUTarget(self.target.base_arch, features, self.options.extern_libs, attributes)

    def make_llir(self, module: builtin.Module, metadata: dict[str, object]) -> str:
        """Optimized LLVM IR; launch parameters go into the metadata."""
        options = self.options
        run_pipeline(module, LOWERING, stage="llir", verifier=verify)
        lines = None if compilation.disable_line_info else DebugInfo("LineTablesOnly")
        machine = AMDTarget(
            self.target.base_arch,
            self.target.warp_size,
            options.waves_per_eu,
            options.allow_flush_denorm,
            options.llvm_fn_attrs,
            frozenset(name for name, _ in options.extern_libs),
        )
        lowered = recorded(
            "ttg-to-llvm", lambda: ttg_to_llvm(module, machine, options, lines), lambda made: made.text, "llir"
        )
        if "@llvm.nvvm." in lowered.text:
            raise InternalError(f"kernel {lowered.name}: an instruction of NVIDIA GPUs in code for {self.target.key}")
        metadata["name"] = lowered.name
        metadata["shared"] = max(lowered.shared_bytes, options.min_shared_mem or 0)
        for name, (attribute, default) in _ATTRIBUTES.items():
            value = module.attributes.get(attribute)
            metadata[name] = value.value if isinstance(value, IntegerAttr) else default
        limit = self.target.shared_memory
        if lowered.shared_bytes > limit:
            raise _shared_memory_report.too_much_shared_memory(
                module, lowered.shared_bytes, limit, lowered.name, options.num_stages
            )
        comment = self._launch_comment(metadata)
        return recorded("llvm", lambda: optimize(lowered.text, self.codegen_target, comment), str, "llir")

    def _launch_comment(self, metadata: dict[str, object]) -> str:
        """What a compile that starts at the text reads (`stated_options`)."""
        warps, shared = metadata.get("num_warps", self.options.num_warps), metadata.get("shared", 0)
        return f"Launch: num_warps={warps}, num_ctas={self.options.num_ctas}, shared={shared}"

    def make_amdgcn(self, llir: str, metadata: dict[str, object]) -> str:
        """Assembly, with the kernel's resources in comments and metadata."""
        text = self._emit_text(llir, metadata)
        if amd.dump_amdgcn:
            print(f"; -----// AMDGCN Dump //----- //\n{text}", file=sys.stderr, flush=True)
        self._made = text, llir
        self._complete(metadata, text)
        if self.options.emulated:
            self._add_resources(metadata, resources_of_assembly(text))
        return text

    def make_hsaco(self, code: str, metadata: dict[str, object]) -> bytes:
        """The code object of LLVM IR, or of assembly; resources go into the metadata.

        Assembly that was made of LLVM IR here, and LLVM IR without inline assembly, needs no assembler: LLVM writes the
        object itself. ToolMissing where there is none for others.
        """
        llir = self._made[1] if self._made is not None and self._made[0] == code else code
        if is_assembly(llir):
            self._complete(metadata, llir)
            relocatable = assemble(llir, self.codegen_target)
        elif has_inline_assembly(llir):
            relocatable = assemble(self._emit_text(llir, metadata), self.codegen_target)
        else:
            relocatable = emit(llir, self.codegen_target, use_object=True)
        made = link(relocatable)
        names = kernels_of(made)
        if len(names) != 1:
            raise BackendError(f"the code object has {len(names)} kernels, not one")
        metadata["name"] = names[0]
        self._complete_launch(metadata)
        self._add_resources(metadata, resources_of(made, names[0]))
        return made

    def _emit_text(self, llir: str, metadata: dict[str, object]) -> str:
        """Assembly text; an error about inline assembly, of which LLVM knows no place, names the kernel."""
        try:
            text = emit(llir, self.codegen_target, use_object=False).decode()
        except BackendError as error:
            if isinstance(llir, UserText) or not has_inline_assembly(llir):
                raise
            raise BackendError(f"kernel {metadata['name']}: inline assembly: {error}") from None
        return f"; {self._launch_comment(metadata)}\n{text}"

    def _add_resources(self, metadata: dict[str, object], found: KernelResources) -> None:
        """Add registers, spills and memory of a kernel; PerformanceWarning for spills."""
        metadata["n_regs"], metadata["n_spills"] = found.vgprs, found.vgpr_spills + found.sgpr_spills
        metadata["vgprs"], metadata["agprs"], metadata["sgprs"] = found.vgprs, found.agprs, found.sgprs
        metadata["vgpr_spills"], metadata["sgpr_spills"] = found.vgpr_spills, found.sgpr_spills
        metadata["scratch"], metadata["static_shared"] = found.scratch, found.lds
        if found.vgpr_spills:
            warn(
                f"kernel {metadata['name']}: {found.vgpr_spills} VGPRs spilled to scratch ({found.scratch} bytes per "
                "thread): use smaller tiles or more warps (num_warps)",
                PerformanceWarning,
            )
        metadata["n_max_threads"] = self.target.warp_size * int(str(metadata["num_warps"]))

    def _complete(self, metadata: dict[str, object], amdgcn: str) -> None:
        """Add the metadata of earlier stages, for a kernel that starts at a later one."""
        kernel = _KERNEL.search(amdgcn)
        if kernel is None:
            raise BackendError("the assembly has no kernel (.amdhsa_kernel)")
        metadata["name"] = kernel[1]
        self._complete_launch(metadata)

    def _complete_launch(self, metadata: dict[str, object]) -> None:
        metadata["shared"] = max(int(str(metadata.get("shared", 0))), self.options.min_shared_mem or 0)
        for name, (_, default) in _ATTRIBUTES.items():
            metadata.setdefault(name, default)
