"""The NVIDIA stages: ttir -> ttgir -> llir -> ptx -> cubin.

| stage | what it is | made by |
|---|---|---|
| ttir | tile programs, as for every target | `transforms.ttir` |
| ttgir | tensors with layouts: which thread holds what | `convert-triton-to-tritongpu`, `transforms.ttgir.pipelines` |
| llir | LLVM IR of one thread, optimized | `conversion.ttg_to_llvm`, `codegen` |
| ptx | NVIDIA's portable assembly | `codegen` |
| cubin | machine code | `assembler` |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from ...analysis.register_pressure import LOW_OCCUPANCY, high_pressure_loop, warps_for_accumulators
from ...analysis.tma import HOST_MAP, LAUNCH_PREDICATE, LAUNCH_VALUE, STAY, tensordesc_row
from ...conversion.convert_triton_to_tritongpu import ConvertOptions, convert_triton_to_tritongpu
from ...conversion.llvm.debug_info import DebugInfo
from ...conversion.ttg_to_llvm.module import ttg_to_llvm
from ...conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
from ...dialects import builtin, tt, ttg
from ...dialects.tt_types import TensorDescType, is_descriptor
from ...dialects.ttg_switches import WITHOUT, is_on
from ...hardware.nvidia import NvidiaGPU
from ...hardware.nvidia_features import MMA_SYNC, WGMMA
from ...ir import (
    ArrayAttr,
    CountedLoop,
    IntegerAttr,
    Operation,
    Pass,
    StringAttr,
    Type,
    functions_of,
    i32,
    is_tensor_dot,
)
from ...ir.passes import has_any, rows_from, run_pipeline
from ...ir.remarks import remark
from ...ir.verifier import verify
from ...support.cores import spare_cores
from ...support.lazy import LazyModule
from ...support.patterns import pattern
from ...support.recording import recorded
from ...support.settings import compilation, nvidia
from ...transforms.ttgir.pipelines import LOWERING, nvidia_ttgir_pipeline
from ...transforms.ttir import gpu_ttir_pipeline, gpu_versions_pipeline
from ..compiler import UserText
from ..errors import BackendError, OutOfResources
from . import codegen
from .assembler import Assembler, Resources, assembler_options, warn_of
from .options import CUDAOptions
from .target import CUDATarget
from .toolchain import find_tool, highest_ptx, parse_release, tool_version

__all__ = ["PIPELINES", "Build", "gluon_to_ttgir", "make_ttgir", "make_ttir"]

_general = rows_from("tritium.transforms")
_HOST_MAPS = (
    _general(
        "host-tensor-maps",
        "descriptors that are functions of the arguments",
        when=has_any("tt.make_tensor_descriptor"),
    ),
)
_driver_jit = LazyModule(".driver_jit", __package__)
_predicates = LazyModule("...support.launch_predicate", __package__)
_occupancy = LazyModule("...hardware.occupancy", __package__)
_shared_memory_report = LazyModule("..shared_memory_report", __package__)
_gluon = LazyModule("...transforms.gluon.pipelines", __package__)
_verify_kernel = LazyModule("...transforms.gluon.verify_kernel", __package__)
_occupancy_retry = LazyModule(".occupancy_retry", __package__)
_spill_retry = LazyModule(".spill_retry", __package__)

PIPELINES = {f"cuda:{c}": gpu_ttir_pipeline(CUDATarget(c).has_descriptors) for c in (80, 90)}
"""The passes to `ttir` by the first target that has them so."""


def make_ttir(module: Any, metadata: dict[str, Any], options: CUDAOptions) -> Any:
    """The module after the passes of the table, with descriptors where hardware reads them."""
    run_pipeline(module, gpu_ttir_pipeline(options.native_descriptors), stage="ttir", verifier=verify)
    return module


def ttgir_pipeline(options: CUDAOptions, warps: int | None = None, launch: str = "") -> list[Pass]:
    """All passes from `ttir` to `ttgir` for these options; `warps`: another number of them; `launch`: the one that a
    kernel with several versions is compiled for, as of `raise-loads-to-tma`."""
    capability = options.target.capability
    machine = ConvertOptions(f"cuda:{capability}", warps or options.num_warps, options.warp_size, options.num_ctas)
    return [
        _general(
            "rewrite-tensor-descriptor-to-pointer",
            "descriptors that TMA does not support",
            {"native": capability if options.native_descriptors else 0},
            when=has_any("tt.make_tensor_descriptor", argument="!tt.tensordesc<"),
        ),
        *(
            _raise_loads(options, machine.num_warps, launch)
            if options.raise_loads or (options.launch_versions and options.host_maps)
            else ()
        ),
        *(_HOST_MAPS if options.host_maps and options.native_descriptors else ()),
        _general(
            "decompose-scaled-dot",
            "no later pass supports scaled dots yet",
            {"tensor_cores": options.target.gpu.has(MMA_SYNC)},
            when=has_any("tt.dot_scaled"),
        ),
        *gpu_versions_pipeline(
            machine.num_warps * machine.threads_per_warp,
            options.enable_fp_fusion,
            options.num_stages if options.target.gpu.has(WGMMA) and options.num_ctas == 1 else 0,
        ),
        Pass("convert-triton-to-tritongpu", convert_triton_to_tritongpu, "a plain layout for every tensor", machine),
        *nvidia_ttgir_pipeline(options.target.gpu, options.num_stages),
    ]


def _raise_loads(options: CUDAOptions, warps: int, launch: str) -> Iterator[Pass]:
    """Loads by TMA in launches that allow it: all that can be, or those of persistent kernels."""
    if options.raise_loads or (options.target.gpu.has(WGMMA) and options.num_ctas == 1):
        if options.persistent or _may_persist(options):
            yield _general(
                "make-persistent",
                "each program computes several tiles",
                {
                    "everything": bool(options.persistent),
                    "capability": options.target.capability,
                    "warps": warps,
                    "stages": options.num_stages,
                },
                when=has_any("tt.dot"),
            )
        yield _general(
            "raise-loads-to-tma",
            "loads of affine addresses by TMA",
            {"everything": options.raise_loads, "warps": warps, "launch": launch},
            when=has_any("tt.dot") if options.raise_loads else _may_raise,
        )
        yield _general("canonicalize", "Drop the pointers of raised loads", when=_is_raised)


def _may_persist(options: CUDAOptions) -> bool:
    """Whether kernels may be made persistent by default: no option names a number of programs or registers."""
    automatic = options.persistent is None and not options.raise_loads and options.launch_versions
    return automatic and options.maxnreg is None and not options.launch_cooperative_grid


def _may_raise(module: Operation) -> bool:
    """Whether a dot is in two loops or more, as those of persistent kernels are."""
    return any(is_tensor_dot(op) and _loops_around(op) > 1 for op in module.walk())


def _loops_around(op: Operation) -> int:
    count, around = 0, op.parent_op
    while around is not None:
        count, around = count + isinstance(around, CountedLoop), around.parent_op
    return count


def _is_raised(module: Operation) -> bool:
    """Whether loads were raised."""
    return any(LAUNCH_PREDICATE in func.attributes for func in functions_of(module))


def default_ttgir_pipeline(capability: int) -> list[Pass]:
    """The same for the options that hold where none are given."""
    return ttgir_pipeline(CUDAOptions.parse({}, CUDATarget(capability)))


def make_ttgir(module: Any, metadata: dict[str, Any], options: CUDAOptions, keep_warps: bool = False) -> Any:
    """Tensors with layouts; with `keep_warps` for the warps of the options, whatever their registers can hold."""
    if options.maxnreg is not None:
        module.attributes["ttg.maxnreg"] = IntegerAttr(options.maxnreg, i32)
    if options.without:
        module.attributes[WITHOUT] = StringAttr(options.without)
    metadata["num_warps"] = warps = options.num_warps if keep_warps else _warps(module, options)
    launch = metadata.pop("launch", None)
    passes = ttgir_pipeline(options, warps, "" if launch is None else json.dumps(launch))
    run_pipeline(module, passes, stage="ttgir", verifier=verify)
    if not any(isinstance(op, ttg.WarpSpecialize) for op in module.walk()):
        _check_worth(options, _launch_values(module))
    metadata["cluster_dims"] = (options.num_ctas, 1, 1)
    return module


def _check_worth(options: CUDAOptions, launch_values: list[str]) -> None:
    """Compile the other version of a kernel that was made persistent by default, and lost by it: without a producer
    warp, with spills, or too large for shared memory."""
    if launch_values and options.persistent is None:
        raise _predicates.OtherVersion(_predicates.NEVER)


def gluon_to_ttgir(module: Any, metadata: dict[str, Any], options: CUDAOptions) -> Any:
    """Gluon's module with all layouts chosen, for the warps that the kernel's layouts are made for."""
    if options.maxnreg is not None:
        module.attributes["ttg.maxnreg"] = IntegerAttr(options.maxnreg, i32)
    if options.without:
        module.attributes[WITHOUT] = StringAttr(options.without)
    metadata["num_warps"] = options.num_warps
    if not options.target.has_descriptors:
        passes = _gluon.PIPELINE
    else:
        passes = _gluon.PIPELINE_WITH_HOST_MAPS if options.host_maps else _gluon.PIPELINE_WITH_TMA
    run_pipeline(module, passes, stage="ttgir", verifier=_verify_kernel.verify_kernel)
    metadata["cluster_dims"] = (options.num_ctas, 1, 1)
    return module


def _warps(module: Operation, options: CUDAOptions) -> int:
    """The warps requested; more where the accumulators of dots exceed the registers of a thread and no limit is set."""
    given = options.num_warps
    if not options.target.gpu.has(MMA_SYNC) or options.num_ctas > 1 or options.maxnreg is not None:
        return given
    high = high_pressure_loop(module, given) if is_on(module, "warps-for-accumulators") else None
    warps = given if high is None else warps_for_accumulators(module, given)
    if high is not None and warps > given:
        loop, registers = high
        text = f"dot accumulators need {registers} of 255 registers per thread with {given} warp{'s' * (given != 1)}"
        remark(loop, f"{text}: the kernel is compiled for {warps} warps")
    return warps


class Build:
    """One compile from `ttgir` on. Where it `assembles`, the assembler is started while LLVM works, and killed where
    that fails; a compile that ends with a text starts none."""

    def __init__(self, options: CUDAOptions, assembles: bool) -> None:
        self.options, self._assembles = options, assembles
        self.target = options.target
        self._assembler: Assembler | Any = None  # or a `DriverAssembler`
        self._llir: Any = None

    @property
    def nvptx_target(self) -> codegen.NVPTXTarget:
        """The target of code generation; BackendError if it is unsupported."""
        ptx = self.options.ptx_version
        release = _release_of_assembler(self.target.capability) if ptx is None else None
        return codegen.NVPTXTarget.of(self.target.capability, ptx if release is None else highest_ptx(release))

    def make_llir(self, module: builtin.Module, metadata: dict[str, Any]) -> Any:
        """Optimized LLVM IR; launch parameters go into the metadata."""
        options, target = self.options, self.nvptx_target
        with self._assembling():
            run_pipeline(module, LOWERING, stage="llir", verifier=verify)
            lines = None if compilation.disable_line_info else DebugInfo()
            lowered = recorded(
                "ttg-to-llvm",
                lambda: ttg_to_llvm(module, NVIDIATarget(self.target.capability), options, lines),
                lambda made: made.text,
                "llir",
            )
            metadata["name"] = lowered.name
            metadata.update(_resources(module, options))
            metadata["tensordesc_meta"], metadata["argument_maps"] = _descriptors(module)
            metadata["launch_predicate"] = _launch_predicate(module)
            metadata["persistent_grid"] = _launch_values(module)
            metadata["shared"] = max(lowered.shared_bytes, options.min_shared_mem or 0)
            self._check_shared(module, metadata)
            comment = launch_comment(metadata)
            foreign = any(op.name == "tt.elementwise_inline_asm" for op in module.walk())
            libraries, ftz = options.extern_libs, options.enable_reflect_ftz
            return recorded(
                "llvm", lambda: codegen.optimize(lowered.text, target, libraries, ftz, comment, foreign), str, "llir"
            )

    def make_ptx(self, llir: Any, metadata: dict[str, Any]) -> str:
        """PTX, whose `.version` the assembler reads."""
        target = self.nvptx_target
        metadata["ptx_version"] = target.ptx
        with self._assembling():
            text = codegen.emit_ptx(llir, target, self.options.sched4reg)
        self._llir = llir
        self._complete(metadata, text)
        return f"// {launch_comment(metadata)}\n{text}"

    def make_cubin(self, ptx: str, metadata: dict[str, Any]) -> bytes:
        """Machine code; registers, spills and stack go into the metadata."""
        assembler, self._assembler = self._assembler, None
        if assembler is None:
            assembler = self._begin()
        self._complete(metadata, ptx)
        code, found = assembler.finish(ptx, metadata["name"])
        if isinstance(assembler, Assembler):  # the driver's compiler knows no options to vary
            few = NvidiaGPU.register_limit((LOW_OCCUPANCY + 1) * metadata["num_warps"])
            if found.spilled:
                code, found = self._retry_spills(ptx, (code, found), metadata)
            elif found.registers > few:
                code, found = self._retry_for_occupancy(
                    ptx, (code, found), metadata["name"], metadata["num_warps"], metadata["shared"]
                )
        if found.spilled:
            _check_worth(self.options, metadata.get("persistent_grid") or [])
        warn_of(found, metadata["name"], ptx)
        _check_registers(found.registers, metadata)
        metadata["n_regs"], metadata["n_spills"] = found.registers, found.spilled
        metadata["stack_size"], metadata["static_shared"] = found.stack, found.shared
        metadata["spill_stores"], metadata["spill_loads"] = found.spill_stores, found.spill_loads
        metadata["barriers"], metadata["remarks"] = found.barriers, list(found.remarks)
        metadata["n_max_threads"] = 32 * metadata["num_warps"]
        return code

    def _retry_spills(
        self, ptx: str, made: tuple[bytes, Resources], metadata: dict[str, Any]
    ) -> tuple[bytes, Resources]:
        """The code with the fewest spills of all `retry_rounds`, up to the first without spills."""
        first, name = made[1], metadata["name"]

        def worth_retrying() -> bool:
            return _spill_retry.worth_retrying(made[1])

        for rounds in _spill_retry.retry_rounds(
            ptx, self._retry_options(ptx, first, metadata), self._reordered, worth_retrying
        ):
            with closing(_spill_retry.assemble_rounds(rounds, self._start, name, spare_cores())) as tried:
                for found in tried:
                    allowed = [one for one in found if not self._limited or one[1].registers <= first.registers]
                    made = min([made, *allowed], key=lambda one: one[1].spilled)
                    if not made[1].spilled:
                        return made
        return made

    def _retry_for_occupancy(
        self, ptx: str, made: tuple[bytes, Resources], name: str, warps: int, shared: int
    ) -> tuple[bytes, Resources]:
        """The code for one more CTA per SM, if that helps (`occupancy_retry`) and does not spill."""
        if self._limited or not self._may("one-more-cta") or self.options.num_ctas > 1 or isinstance(ptx, UserText):
            return made
        cta = _occupancy_retry.CTA(self.target.gpu, warps, shared)
        text = _occupancy_retry.for_one_more_cta(cta, ptx, made[1])
        found = None if text is None else self._start().finish_if_possible(text, name)
        return made if found is None or not _occupancy_retry.is_better(cta, found[1], made[1]) else found

    def _retry_options(self, ptx: str, found: Resources, metadata: dict[str, Any]) -> Any:
        warps, shared = metadata["num_warps"], metadata["shared"] + found.shared
        limits = _occupancy.ctas_by_limit(self.target.gpu, found.registers, warps, shared)
        ctas = 1 if found.spilled > found.registers else min(limits.values())  # ptxas fails rather than allow one
        few = self._may("register-pressure-scheduling")
        return _spill_retry.SpillRetry(
            ctas_per_sm=None if self._limited else ctas,
            more=ctas < limits["registers"] and found.registers < NvidiaGPU.register_limit(warps),
            sink_loads=self._may("ldmatrix-scheduling") and not isinstance(ptx, UserText),
            usage_level=few and not any(option in self._extra for option in _spill_retry.USAGE_LEVEL),
            reordered=few and not self.options.sched4reg,
        )

    def _reordered(self) -> str | None:
        """The PTX as LLVM schedules it for register pressure; None where the IR is not known or a user wrote it."""
        if self._llir is None or isinstance(self._llir, UserText):
            return None
        return codegen.emit_ptx(str(self._llir), self.nvptx_target, fewer_registers=True)

    def _may(self, switch: str) -> bool:
        return switch not in self.options.without.split(",")

    @property
    def _limited(self) -> bool:
        """Whether the user limits the registers."""
        return self.options.maxnreg is not None or "maxrregcount" in self._extra

    def _complete(self, metadata: dict[str, Any], ptx: str) -> None:
        """Add the metadata of earlier stages, for a kernel that starts at a later one."""
        metadata["name"] = kernel_name(ptx)
        threads = _THREADS.search(ptx)
        if threads is not None and int(threads[1]) != 32 * metadata["num_warps"]:
            raise BackendError(
                f"the PTX of {metadata['name']} is for CTAs of {threads[1]} threads (.reqntid), and would be "
                f"launched with {32 * metadata['num_warps']} (num_warps={metadata['num_warps']})"
            )
        metadata.setdefault("cluster_dims", (self.options.num_ctas, 1, 1))
        metadata["shared"] = max(metadata["shared"], self.options.min_shared_mem or 0)
        for name, (_, default) in _ATTRIBUTES.items():
            metadata.setdefault(name, default)

    @property
    def _extra(self) -> str:
        """The options of the assembler that the user gives."""
        return " ".join(filter(None, (nvidia.ptxas_options, self.options.ptx_options)))

    def _begin(self) -> Assembler | Any:
        """The assembler; the driver's compiler where there is none."""
        if find_tool("ptxas") is not None:
            return self._start()
        return _driver_jit.DriverAssembler(self.target.capability, self.options.enable_fp_fusion, self._extra)

    def _start(self, more: Sequence[str] = ()) -> Assembler:
        options = assembler_options(self.nvptx_target.name, self.options.enable_fp_fusion, self._extra)
        return Assembler([*options, *more])

    @contextmanager
    def _assembling(self) -> Iterator[None]:
        """Start the assembler in parallel if it will be needed; kill it on failure."""
        if self._assembles and self._assembler is None:
            self._assembler = self._begin()
        try:
            yield
        except BaseException:
            assembler, self._assembler = self._assembler, None
            if assembler is not None:
                assembler.close()
            raise

    def _check_shared(self, module: Operation, metadata: dict[str, Any]) -> None:
        """OutOfResources where a CTA needs more shared memory than any GPU of this capability has."""
        limit = self.target.shared_memory
        if metadata["shared"] > limit:
            _check_worth(self.options, metadata["persistent_grid"])
            raise _shared_memory_report.too_much_shared_memory(
                module, metadata["shared"], limit, metadata["name"], self.options.num_stages
            )


def _release_of_assembler(capability: int) -> tuple[int, int] | None:
    """The CUDA release whose PTX version is supported, or that a setting names; None without an assembler."""
    if nvidia.mock_ptx_version:
        return parse_release(nvidia.mock_ptx_version)
    tool = find_tool("ptxas")
    return _driver_jit.driver_compiler(capability) if tool is None else tool_version(tool)  # type: ignore[no-any-return]


def _check_registers(each: int, metadata: dict[str, Any]) -> None:
    """OutOfResources where a CTA needs more registers than an SM has, as `maxnreg` may allow."""
    warps = metadata["num_warps"]
    most = NvidiaGPU.register_limit(warps)
    if each > most:
        threads = f"threads of {warps} warp{'s' * (warps != 1)}"
        hint = f"{threads} can have {most} registers, and maxnreg allows {each}: set maxnreg to {most} or less"
        hint += ", or use fewer warps"
        needed = each * warps * NvidiaGPU.warp_size
        raise OutOfResources(needed, NvidiaGPU.registers, "registers", metadata["name"], hint=hint)


_ENTRY = pattern(r"^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)", re.M)


_THREADS = pattern(r"^\s*\.reqntid\s+(\d+)\s*(?:,\s*1\s*)*$", re.M)


def kernel_name(ptx: str) -> str:
    """The first kernel of PTX text; BackendError if there is none."""
    found = _ENTRY.search(ptx)
    if found is None:
        raise BackendError("the PTX has no kernel (.entry)")
    return found[1]


def launch_comment(metadata: dict[str, Any]) -> str:
    """How a kernel is launched: the comment by which `llir` and `ptx` can be compiled from a file (`IRSource`).

    >>> launch_comment({"num_warps": 4, "num_ctas": 1, "shared": 0})
    'Launch: num_warps=4, num_ctas=1, shared=0'
    """
    return "Launch: " + ", ".join(f"{name}={metadata[name]}" for name in ("num_warps", "num_ctas", "shared"))


# What launches read, under Triton's names: metadata -> (attribute of the module, what holds without one).
_ATTRIBUTES = {
    "num_warps": ("ttg.total-num-warps", None),
    "tmem_size": ("ttg.tensor_memory_size", 0),
    "global_scratch_size": ("ttg.global_scratch_memory_size", 0),
    "global_scratch_align": ("ttg.global_scratch_memory_alignment", 1),
    "profile_scratch_size": ("ttg.profile_scratch_memory_size", 0),
    "profile_scratch_align": ("ttg.profile_scratch_memory_alignment", 1),
}


def _resources(module: Operation, options: CUDAOptions) -> dict[str, Any]:
    found = {}
    for name, (attribute, default) in _ATTRIBUTES.items():
        value = module.attributes.get(attribute)
        found[name] = value.value if isinstance(value, IntegerAttr) else default
    found["num_warps"] = found["num_warps"] or _integer(module, "ttg.num-warps") or options.num_warps
    return found


_Row = dict[str, Any]


def _descriptors(module: Operation) -> tuple[list[_Row | None], list[_Row]]:
    """The metadata of the descriptors among a kernel's parameters, in order; None: passed as pointers. Then of those
    that the launcher makes from other arguments: what from (`map`), and `type` and `meta` as of a parameter."""
    rows: list[_Row | None] = []
    maps: list[_Row] = []
    for func in functions_of(module):
        if isinstance(func, tt.Func) and func.sym_visibility != "private" and not func.is_declaration:
            given = []
            for i, arg in enumerate(func.entry.args):
                if is_descriptor(arg.type):
                    row, made = tensordesc_row(arg.type), _host_map(func, i)
                    if made is None:
                        given.append(row)
                    else:
                        maps.append({"map": made, "type": _tile_text(arg.type), "meta": row})
            found = iter(given)
            stay = func.attributes.get(STAY)
            if isinstance(stay, ArrayAttr):
                rows += [next(found) if isinstance(v, IntegerAttr) and v.value else None for v in stay.elements]
            else:
                rows += found
    return rows, maps


def _launch_predicate(module: Operation) -> str | None:
    """The conditions on launches that may run the kernel (`analysis/launch_conditions`); None without any."""
    found = [func.attributes.get(LAUNCH_PREDICATE) for func in functions_of(module)]
    return next((text.value for text in found if isinstance(text, StringAttr)), None)


def _launch_values(module: Operation) -> list[str]:
    """What the launcher passes to a persistent kernel after its arguments; a launch starts as many programs as run."""
    rows = [func.arg_attrs for func in functions_of(module) if isinstance(func, tt.Func) and func.arg_attrs is not None]
    found = [row.get(LAUNCH_VALUE) for attrs in rows for row in attrs.elements]
    return [text.value for text in found if isinstance(text, StringAttr)]


def _host_map(func: tt.Func, index: int) -> str | None:
    """What the launcher makes a descriptor from; None for one that it is passed."""
    text = None if func.arg_attrs is None else func.arg_attrs.elements[index].get(HOST_MAP)
    return text.value if isinstance(text, StringAttr) else None


def _tile_text(ty: Type) -> str:
    """The type of a descriptor as in a signature; rows need not end at multiples of 16 bytes."""
    assert isinstance(ty, TensorDescType)
    return f"tensordesc<{ty.block.element}[{','.join(map(str, ty.block.shape))}],uneven>"


def _integer(op: Operation, name: str) -> int:
    value = op.attributes.get(name)
    return value.value if isinstance(value, IntegerAttr) else 0
