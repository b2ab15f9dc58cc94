"""The hooks of `TargetInfo` for NVIDIA GPUs: NVVM's intrinsics, and inline PTX where LLVM has none.

An access to global memory with a mask has a predicate: threads that are masked off touch no memory and branch nowhere.
LLVM cannot express that, so it is inline PTX. Without a mask it is LLVM's own load or store, whose address LLVM folds
into the instruction.

    tt.load %p, %m, %o         mov.b32 $0, …; @$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];

>>> from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
>>> NVIDIATarget(90).warp_size
32
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.tt_types import CacheModifier, CachePolicy, EvictionPolicy
from ....hardware.nvidia import NvidiaGPU, nvidia_gpu
from ....hardware.nvidia_features import L2_CACHE_POLICY, LONG_VECTORS, REDUX, REDUX_F32, TMA
from ....ir import Operation
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass
from ..target_info import SHARED_ALIGNMENT, GlobalAccess, ModuleContext, ThreadEmitter
from .arithmetic import NVIDIAArithmetic

__all__ = ["NVIDIATarget", "meet_cluster"]

_AXES = "xyz"
_REDUX = {
    "arith.addi": "add",
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.maxui": "umax",
    "arith.minui": "umin",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}
_REDUX_FLOAT = {
    "arith.maxnumf": "fmax",
    "arith.minnumf": "fmin",
    "arith.maximumf": "fmax.NaN",
    "arith.minimumf": "fmin.NaN",
}
_READ = "llvm.nvvm.read.ptx.sreg"


def meet_cluster(e: ThreadEmitter, intrinsic: str) -> None:
    """Arrive at the barrier of the cluster, or wait for it.

    UnsupportedOperation where the kernel's own warps do not pass here exactly once before the workers part, or where
    workers run a partition meanwhile: they would not arrive.
    """
    how = e.specialization
    if how is not None and not how.done:
        op = e.current
        once = op is not None and op.parent is how.ops[0].parent and how.direct and not how.parted
        if not once:
            raise UnsupportedOperation(
                op, "waits for the whole cluster, of which some warps do something else (ttg.warp_specialize)"
            )
        how.cluster_barriers.append(intrinsic)
    e.call_void(intrinsic, attributes=" #1")


class NVIDIATarget(NVIDIAArithmetic):
    """A GPU of this compute capability, times ten: 90 for sm_90."""

    name = "NVIDIA GPUs"
    triple = "nvptx64-nvidia-cuda"
    kernel_convention = "ptx_kernel"
    registers = NvidiaGPU.registers
    warp_size = NvidiaGPU.warp_size

    def __init__(self, capability: int = 80) -> None:
        self.gpu = nvidia_gpu(capability)
        self.vectorized_bytes = 32 if self.gpu.has(LONG_VECTORS) else 16

    def nvidia_gpu(self) -> NvidiaGPU:
        """The machine model."""
        return self.gpu

    # -- kernels --------------------------------------------------------------------------------------------------

    def shared_alignment(self, context: ModuleContext) -> int:
        """From sm_90 on that of 128-byte rows read by wgmma and TMA."""
        return SHARED_ALIGNMENT if self.gpu.has(TMA) or context.high_register_pressure else 16

    def kernel_attributes(self, context: ModuleContext) -> str:
        """Threads per CTA, registers per thread, CTAs per cluster."""
        found = {"nvvm.reqntid": str(32 * context.total_warps)}
        if context.registers:
            found["nvvm.maxnreg"] = str(min(context.registers, self.gpu.registers_per_thread))
        elif context.loads_limit_occupancy:
            found["nvvm.minctasm"] = "1"  # as many registers as one CTA may have
        if context.num_ctas > 1:
            found["nvvm.cluster_dim"] = f"{context.num_ctas},1,1"
        return "nounwind convergent " + " ".join(f'"{k}"="{v}"' for k, v in found.items())

    def thread_ids(self, context: ModuleContext) -> list[str]:
        """From %tid.x; the bits of lane and warp."""
        context.declare(f"declare noundef i32 @{_READ}.tid.x()")
        lines = [
            f"  %thread = call noundef range(i32 0, {32 * context.total_warps}) i32 @{_READ}.tid.x()",
            "  %lane = and i32 %thread, 31",
            "  %warp = lshr i32 %thread, 5",
        ]
        if context.num_ctas > 1:
            context.declare(f"declare noundef i32 @{_READ}.cluster.ctarank()")
            lines.append(f"  %block = call noundef i32 @{_READ}.cluster.ctarank()")
        return lines

    def program_id(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """CTAs of a cluster are one program; clusters lie along x."""
        register = "clusterid" if e.module.num_ctas > 1 else "ctaid"
        return _special(e, f"{register}.{_AXES[axis]}", anew)

    def num_programs(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """%nctaid, or %nclusterid."""
        register = "nclusterid" if e.module.num_ctas > 1 else "nctaid"
        return _special(e, f"{register}.{_AXES[axis]}", anew)

    def reload_thread_id(self, e: ThreadEmitter) -> str:
        """mov.u32 %tid.x"""
        return e.asm("mov.u32 $0, %tid.x;", "=r", [], "i32")

    def opaque(self, e: ThreadEmitter, value: str) -> str:
        """mov.b64"""
        return e.asm("mov.b64 $0, $1;", "=l,l", [("i64", value)], "i64", side_effects=False)

    # -- threads of a warp and of a CTA ---------------------------------------------------------------------------

    def shuffle(self, e: ThreadEmitter, kind: str, word: str, argument: str) -> str:
        """shfl.sync"""
        operands = [("i32", "-1"), ("i32", word), ("i32", argument), ("i32", "0" if kind == "up" else "31")]
        return e.call("i32", f"llvm.nvvm.shfl.sync.{kind}.i32", *operands, attributes=" #1")

    def reduces_warps(self, operation: str, ty: str) -> bool:
        """redux.sync (PTX ISA 8.8, 9.7.13.8): integers and minimum and maximum of f32."""
        if ty == "i32":
            return operation in _REDUX and self.gpu.has(REDUX)
        return operation in _REDUX_FLOAT and self.gpu.has(REDUX_F32)

    def reduce_warp(self, e: ThreadEmitter, operation: str, ty: str, word: str) -> str:
        """redux.sync"""
        kind = (_REDUX if ty == "i32" else _REDUX_FLOAT)[operation]
        return e.call(ty, f"llvm.nvvm.redux.sync.{kind}", (ty, word), ("i32", "-1"), attributes=" #1")

    def barrier(self, e: ThreadEmitter, global_memory: bool = False) -> None:
        """bar.sync of all threads, or of a partition's by the barrier of its number."""
        warps = e.warps
        if warps.alone:
            e.call_void("llvm.nvvm.barrier.cta.sync.aligned.all", ("i32", "0"), attributes=" #1")
        elif warps.count == 1:
            self.warp_barrier(e)
        else:
            operands = ("i32", str(warps.barrier)), ("i32", str(32 * warps.count))
            e.call_void("llvm.nvvm.barrier.cta.sync.aligned.count", *operands, attributes=" #1")

    def uniform(self, e: ThreadEmitter, word: str) -> str:
        """From lane 0, by which ptxas knows it to be uniform."""
        return self.shuffle(e, "idx", word, "0")

    def warp_barrier(self, e: ThreadEmitter) -> None:
        """bar.warp.sync"""
        e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")

    def cluster_barrier(self, e: ThreadEmitter, relaxed: bool) -> None:
        """barrier.cluster, or mbarriers of the region where warps run regions of a `ttg.warp_specialize`."""
        how = e.specialization
        if how is not None and how.parted and not how.done:
            how.synchronize_region(e)
            return
        kind = ".relaxed" if relaxed else ""
        meet_cluster(e, f"llvm.nvvm.barrier.cluster.arrive{kind}.aligned")
        meet_cluster(e, "llvm.nvvm.barrier.cluster.wait.aligned")

    # -- memory ---------------------------------------------------------------------------------------------------

    def global_access(self, e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> GlobalAccess:
        """`ld.global` and `st.global`, predicated."""
        return _global_access(e, op, bits, count, stores)

    def add_shared(self, e: ThreadEmitter, address: str, condition: str) -> None:
        """@p red.shared.add"""
        at = e.op(f"ptrtoint ptr addrspace(3) {address} to i32")
        e.asm("@$1 red.shared.add.u32 [$0], 1;", "r,b,~{memory}", [("i32", at), ("i1", condition)])

    def cta_scope(self) -> str:
        """block"""
        return "block"

    def store_shared(self, e: ThreadEmitter, address: str, words: Sequence[str], bits: int, condition: str) -> None:
        """@p st.shared"""
        suffix, letter, ty = _SHARED_WORDS[bits]
        if bits == 8:
            words = [e.op(f"zext i8 {w} to i16") for w in words]
        count = "" if len(words) == 1 else f".v{len(words)}"
        names = ", ".join(f"${i + 2}" for i in range(len(words)))
        listed = names if len(words) == 1 else f"{{{names}}}"
        at = e.op(f"ptrtoint ptr addrspace(3) {address} to i32")
        constraints = ",".join(["r", "b", *[letter] * len(words)]) + ",~{memory}"
        operands = [("i32", at), ("i1", condition), *((ty, w) for w in words)]
        e.asm(f"@$1 st.shared{count}.{suffix} [$0], {listed};", constraints, operands)


_SHARED_WORDS = {8: ("b8", "h", "i16"), 16: ("b16", "h", "i16"), 32: ("b32", "r", "i32"), 64: ("b64", "l", "i64")}


def _special(e: ThreadEmitter, register: str, anew: bool) -> str:
    if anew:
        return e.asm(f"mov.u32 $0, %{register};", "=r", [], "i32")
    return e.call("i32", f"{_READ}.{register}")


# -- accesses to global memory ---------------------------------------------------------------------------------------

_LOAD_MODIFIERS = (CacheModifier.none, CacheModifier.ca, CacheModifier.cg, CacheModifier.cs, CacheModifier.cv)
_STORE_MODIFIERS = (CacheModifier.none, CacheModifier.wb, CacheModifier.cg, CacheModifier.cs, CacheModifier.wt)


@dataclass(frozen=True)
class _Words(GlobalAccess):
    """`hints` are the qualifiers of `ld` or `st`; `policy` is an operand, the result of createpolicy."""

    hints: str
    policy: str | None

    @property
    def register(self) -> str:
        """The type of a register for a word; there is none of 8 bits."""
        return f"i{max(16, self.bits)}"

    @property
    def constraint(self) -> str:
        """The letter of inline PTX for it."""
        return {16: "h", 32: "r", 64: "l"}[max(16, self.bits)]

    @property
    def suffix(self) -> str:
        """`.v4.b32`"""
        return f"{f'.v{self.count}' if self.count > 1 else ''}.b{self.bits}"

    def load(self, e: ThreadEmitter, address: str, mask: str | None, others: Sequence[str]) -> list[str]:
        """`ld.global`, after moves of `others` where it has a predicate."""
        n = self.count
        if mask is None and not self.hints:
            self.note_mergeable(e)
            return self._elements(e, e.op(f"load {self.type}, ptr addrspace(1) {address}, align {self.alignment}"))
        if self.bits < 16:
            others = [v if v.isdigit() else e.op(f"zext i8 {v} to i16") for v in others]
        constraints, operands = [f"={self.constraint}"] * n + ["l"], [("ptr addrspace(1)", address)]
        targets = ", ".join(f"${i}" for i in range(n))
        target = f"{{{targets}}}" if n > 1 else targets
        lines = []
        if mask is not None:
            for i, other in enumerate(others):
                lines.append(
                    f"mov.b{max(16, self.bits)} ${i}, {other if other.isdigit() else f'${n + len(operands)}'};"
                )
                if not other.isdigit():
                    constraints.append(self.constraint)
                    operands.append((self.register, other))
        predicate = _predicate(mask, n, constraints, operands)
        line = f"{predicate}ld{self.hints or '.global'}{self.suffix} {target}, [${n}]"
        lines.append(line + self._hint(n, constraints, operands) + ";")
        struct = self.register if n == 1 else f"{{ {', '.join([self.register] * n)} }}"
        result = e.asm("\n\t".join(lines), ",".join(constraints), operands, struct, attributes="")
        parts = [result] if n == 1 else e.fields(struct, result, n)
        return parts if self.bits >= 16 else [e.op(f"trunc i16 {v} to i8") for v in parts]

    def store(self, e: ThreadEmitter, address: str, values: Sequence[str], mask: str | None) -> None:
        """`st.global`"""
        n = self.count
        if mask is None and not self.hints:
            self.note_mergeable(e)
            whole = self._whole(e, values)
            e.stmt(f"store {self.type} {whole}, ptr addrspace(1) {address}, align {self.alignment}")
            return
        if self.bits < 16:
            values = [e.op(f"zext i8 {v} to i16") for v in values]
        operands = [("ptr addrspace(1)", address), *((self.register, v) for v in values)]
        constraints = ["l", *[self.constraint] * n]
        sources = ", ".join(f"${i + 1}" for i in range(n))
        source = f"{{{sources}}}" if n > 1 else sources
        predicate = _predicate(mask, 0, constraints, operands)
        line = f"{predicate}st{self.hints or '.global'}{self.suffix} [$0], {source}"
        e.asm(line + self._hint(0, constraints, operands) + ";", ",".join(constraints), operands, attributes="")

    def _hint(self, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
        if self.policy is None:
            return ""
        constraints.append("l")
        operands.append(("i64", self.policy))
        return f", ${results + len(operands) - 1}"


def _predicate(mask: str | None, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
    if mask is None:
        return ""
    constraints.append("b")
    operands.append(("i1", mask))
    return f"@${results + len(operands) - 1} "


def _global_access(e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> _Words:
    """The access of `op`, with its cache policy as qualifiers and, since sm_80, an operand."""
    policy = getattr(op, "cachePolicy", None)
    if getattr(op, "isVolatile", False):
        return _Words(bits, count, ".volatile.global", None)  # hints do not go with it
    if not isinstance(policy, CachePolicy):
        return _Words(bits, count, "", None)
    cache, eviction = policy.cache_modifier, policy.eviction_policy
    if cache not in (_STORE_MODIFIERS if stores else _LOAD_MODIFIERS):
        raise UnsupportedOperation(op, f"cannot have the cache modifier {cache.name}")
    hints, made = ".global", None
    if cache is not CacheModifier.none:
        hints += f".{cache.name}"
    if eviction is not EvictionPolicy.evict_normal:
        if cache is CacheModifier.none:
            hints += f".L1::{eviction.name}"
        if e.module.gpu.has(L2_CACHE_POLICY):
            hints += ".L2::cache_hint"
            made = e.asm(f"createpolicy.fractional.L2::{eviction.name}.b64 $0, 1.0;", "=l", [], "i64", False)
    return _Words(bits, count, "" if hints == ".global" else hints, made)
