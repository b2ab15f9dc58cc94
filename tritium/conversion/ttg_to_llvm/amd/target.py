"""The hooks of `TargetInfo` for AMD GPUs: AMDGPU's intrinsics (LLVM's user guide for AMDGPU).

No lowering emits inline assembly but that of a kernel's own: LLVM writes objects itself, and has no assembler at hand
(`backends/amd/codegen`).

>>> from tritium.conversion.ttg_to_llvm.amd.target import AMDTarget
>>> AMDTarget("gfx942", 64).warp_size
64
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import Operation
from ....support import UnsupportedOperation
from ....support.lazy import LazyModule
from ...lowerings import LoweringFunction
from ..files import FILES
from ..instruction_order import SCHEDULING_BARRIER
from ..target_info import GlobalAccess, ModuleContext, ThreadEmitter
from .arithmetic import FPMATH, AMDArithmetic
from .byte_transpose import transposed_word
from .lowerings import AMD_LOWERINGS
from .memory import EMPTY, NON_TEMPORAL, Written, global_access, store_where, where

__all__ = ["NO_ACCESS_MERGING", "AMDTarget"]

_debug = LazyModule(".debug", __package__)
CODE_OBJECT_VERSION = 500
NO_ACCESS_MERGING = "tritium-no-access-merging"
"""The attribute that becomes noimplicitfloat before code is generated, which would disable the SLP vectorizer, too."""
_AXES = "xyz"
_NVIDIA_DIALECTS = ("ttng", "nvg", "nvvm")
_NVIDIA_ONLY = frozenset(name for file, names in FILES.items() if file.startswith("nvidia.") for name in names.split())
_LATER = ("amdg.buffer_load_to_local",)  # instructions of gfx950
_FLAGS = 4 << 20  # the number of the first metadata node of the module's flags
_LOCAL = 5 << 20  # the number of the metadata node by which a fence orders LDS alone


class AMDTarget(AMDArithmetic):
    """A GPU of architecture `arch` ("gfx942") with warps (waves) of `warp_size` lanes.

    `waves_per_eu` asks for so many waves per SIMD (0: no request); `flush` lets f32 arithmetic flush subnormals.
    `libraries` names the bitcode libraries that will be linked.
    """

    name = "AMD GPUs"
    triple = "amdgcn-amd-amdhsa"
    kernel_convention = "amdgpu_kernel"
    registers = 131072  # CDNA 3: 512 registers of 64 lanes for each of the four SIMDs
    vectorized_bytes = 64
    fmas_per_region = 256
    has_partitions = True
    no_access_merging = f'"{NO_ACCESS_MERGING}"'

    def __init__(
        self,
        arch: str,
        warp_size: int,
        waves_per_eu: int = 0,
        flush: bool = False,
        attributes: str = "",
        libraries: frozenset[str] = frozenset(),
    ) -> None:
        self.arch, self.warp_size, self.libraries = arch, warp_size, libraries
        self.waves_per_eu, self.flush, self.extra_attributes = waves_per_eu, flush, attributes

    def lowering_of(self, cls: type[Operation]) -> LoweringFunction | None:
        """That of `amd/files`, or a refusal of what only NVIDIA GPUs or later AMD GPUs have."""
        if cls.name in AMD_LOWERINGS.files:
            return AMD_LOWERINGS.find(cls)
        refused = cls.name in _NVIDIA_ONLY or cls.name in _LATER or cls.name.partition(".")[0] in _NVIDIA_DIALECTS
        return self._refuse if refused else None

    def _refuse(self, e: ThreadEmitter, op: Operation) -> None:
        raise UnsupportedOperation(op, f"is not supported on {self.name} (hip:{self.arch})")

    def word_of_bytes(self, e: ThreadEmitter, elements: Sequence[str], words: dict[tuple[str, ...], str]) -> str:
        """Bytes of four words by permutations: those of a transpose, two for each word that it makes."""
        return transposed_word(e, elements, words) or super().word_of_bytes(e, elements, words)

    # -- kernels --------------------------------------------------------------------------------------------------

    def shared_alignment(self, context: ModuleContext) -> int:
        """LDS of a workgroup starts at address 0."""
        return 1024

    def kernel_attributes(self, context: ModuleContext) -> str:
        """The workgroup's size, waves per SIMD, subnormals."""
        found = {
            "amdgpu-flat-work-group-size": f"1,{self.warp_size * context.total_warps}",
            "uniform-work-group-size": "true",
            "denormal-fp-math-f32": "preserve-sign" if self.flush else "ieee",
        }
        if self.waves_per_eu:
            found["amdgpu-waves-per-eu"] = str(self.waves_per_eu)
        for item in filter(None, self.extra_attributes.split(",")):
            key, _, value = item.partition("=")
            found[key.strip()] = value.strip()
        return "nounwind convergent " + " ".join(f'"{k}"="{v}"' if v else f'"{k}"' for k, v in found.items())

    def parameter_attributes(self) -> str:
        """Scalars are preloaded into SGPRs where the hardware can."""
        return " inreg"

    def module_flags(self, context: ModuleContext) -> list[str]:
        """The version of the code object, and the nodes that instructions refer to."""
        return [
            f"!llvm.module.flags = !{{!{_FLAGS}}}",
            f'!{_FLAGS} = !{{i32 1, !"amdhsa_code_object_version", i32 {CODE_OBJECT_VERSION}}}',
            f"!{NON_TEMPORAL} = !{{i32 1}}",
            f"!{FPMATH} = !{{float 2.5}}",
            f"!{EMPTY} = !{{}}",
            f'!{_LOCAL} = !{{!"amdgpu-synchronize-as", !"local"}}',
            *(_debug.printf_metadata(context) if context.texts else ()),
        ]

    def thread_ids(self, context: ModuleContext) -> list[str]:
        """From the work item's ID; the warp is in an SGPR."""
        self._declare(context, "i32", "workitem.id.x")
        self._declare(context, "i32", "readfirstlane.i32", "i32")
        threads, lanes = self.warp_size * context.total_warps, self.warp_size
        return [
            f"  %thread = call noundef range(i32 0, {threads}) i32 @llvm.amdgcn.workitem.id.x()",
            f"  %lane = and i32 %thread, {lanes - 1}",
            f"  %thread.warp = lshr i32 %thread, {lanes.bit_length() - 1}",
            "  %warp = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %thread.warp)",
        ]

    @staticmethod
    def _declare(context: ModuleContext, result: str, name: str, *types: str) -> None:
        context.declare(f"declare {result} @llvm.amdgcn.{name}({', '.join(types)})")

    def program_id(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """The workgroup's ID."""
        return e.call("i32", f"llvm.amdgcn.workgroup.id.{_AXES[axis]}")

    def num_programs(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """The count of workgroups, one of the hidden arguments of code objects since version 5."""
        base = e.call("ptr addrspace(4)", "llvm.amdgcn.implicitarg.ptr")
        at = base if not axis else e.op(f"getelementptr i8, ptr addrspace(4) {base}, i64 {4 * axis}")
        return e.op(f"load i32, ptr addrspace(4) {at}, align 4")

    def reload_thread_id(self, e: ThreadEmitter) -> str:
        """The work item's ID, in v0 from the start."""
        return e.call("i32", "llvm.amdgcn.workitem.id.x")

    def opaque(self, e: ThreadEmitter, value: str) -> str:
        """The operand itself: uniform parts of addresses are in SGPRs, which hoisting does not exhaust."""
        return value

    # -- threads of a warp and of a CTA ---------------------------------------------------------------------------

    def shuffle(self, e: ThreadEmitter, kind: str, word: str, argument: str) -> str:
        """DPP where it has the pattern, ds_swizzle within 32 lanes, else ds_bpermute."""
        if kind == "bfly":
            return self._butterfly(e, word, int(argument))
        if kind == "idx":
            return self._permute(e, word, argument)
        if kind == "down":
            other = e.op(f"add i32 {e.lane}, {argument}")
            inside = e.op(f"icmp ult i32 {other}, {self.warp_size}")
        else:
            other = e.op(f"sub i32 {e.lane}, {argument}")
            inside = e.op(f"icmp uge i32 {e.lane}, {argument}")
        return self._permute(e, word, e.op(f"select i1 {inside}, i32 {other}, i32 {e.lane}"))

    def _permute(self, e: ThreadEmitter, word: str, lane: str) -> str:
        at = str(int(lane) * 4) if lane.isdigit() else e.op(f"shl i32 {lane}, 2")
        return e.call("i32", "llvm.amdgcn.ds.bpermute", ("i32", at), ("i32", word), attributes=" #1")

    def _butterfly(self, e: ThreadEmitter, word: str, mask: int) -> str:
        control = self._dpp_control(mask)
        if control is not None:
            operands = [
                ("i32", word),
                ("i32", word),
                ("i32", str(control)),
                ("i32", "15"),
                ("i32", "15"),
                ("i1", "true"),
            ]
            return e.call("i32", "llvm.amdgcn.update.dpp.i32", *operands, attributes=" #1")
        if mask < 32:  # bits 14:10 are the exclusive or, 4:0 the and-mask
            operands = [("i32", word), ("i32", str(mask << 10 | 31))]
            return e.call("i32", "llvm.amdgcn.ds.swizzle", *operands, attributes=" #1")
        return self._permute(e, word, e.op(f"xor i32 {e.lane}, {mask}"))

    def _dpp_control(self, mask: int) -> int | None:
        """The DPP control by which a lane reads `lane ^ mask`; None if there is none."""
        if mask < 4:  # quad_perm: two bits for each of four lanes
            return sum((i ^ mask) << 2 * i for i in range(4))
        if mask < 16 and self.warp_size == 32:
            return 0x160 + mask  # row_xmask
        return {7: 0x141, 8: 0x128, 15: 0x140}.get(mask)  # row_half_mirror, row_ror:8, row_mirror

    def uniform(self, e: ThreadEmitter, word: str) -> str:
        """v_readfirstlane"""
        return e.call("i32", "llvm.amdgcn.readfirstlane.i32", ("i32", word))

    def barrier(self, e: ThreadEmitter, global_memory: bool = False) -> None:
        """s_barrier between fences, which order LDS alone unless global memory is asked for, too."""
        if not e.warps.alone:
            raise UnsupportedOperation(e.current, f"warp specialization is not supported on {self.name}")
        local = "" if global_memory else f", !mmra !{_LOCAL}"
        e.stmt(f'fence syncscope("workgroup") release{local}')
        e.call_void("llvm.amdgcn.s.barrier", attributes=" #1")
        e.stmt(f'fence syncscope("workgroup") acquire{local}')

    def warp_barrier(self, e: ThreadEmitter) -> None:
        """Lanes of a wave run in lockstep, and a wave's accesses to LDS are in order; this orders LLVM's."""
        e.stmt(f'fence syncscope("wavefront") acq_rel, !mmra !{_LOCAL}')
        e.call_void("llvm.amdgcn.wave.barrier", attributes=" #1")

    def scheduling_barrier(self, e: ThreadEmitter) -> None:
        """llvm.amdgcn.sched.barrier, which is no instruction."""
        e.call_void(SCHEDULING_BARRIER, ("i32", "0"), attributes=" #1")

    def cluster_barrier(self, e: ThreadEmitter, relaxed: bool) -> None:
        """UnsupportedOperation: there are no clusters."""
        raise UnsupportedOperation(e.current, f"clusters are not supported on {self.name}")

    # -- memory ---------------------------------------------------------------------------------------------------

    def global_access(self, e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> GlobalAccess:
        """`global_load` and `global_store`, in branches."""
        return global_access(e, op, bits, count, stores)

    def add_shared(self, e: ThreadEmitter, address: str, condition: str) -> None:
        """ds_add_u32 in a branch."""
        line = f'atomicrmw add ptr addrspace(3) {address}, i32 1 syncscope("workgroup") monotonic'
        where(e, condition, "i32", "0", Written(e, line))

    def cta_scope(self) -> str:
        """workgroup"""
        return "workgroup"

    def store_shared(self, e: ThreadEmitter, address: str, words: Sequence[str], bits: int, condition: str) -> None:
        """ds_write in a branch."""
        ty, whole = f"i{bits}", words[0]
        if len(words) > 1:
            ty, whole = f"<{len(words)} x i{bits}>", "poison"
            for i, w in enumerate(words):
                whole = e.op(f"insertelement {ty} {whole}, i{bits} {w}, i32 {i}")
        line = f"store {ty} {whole}, ptr addrspace(3) {address}, align {len(words) * bits // 8}"
        store_where(e, condition, line)
