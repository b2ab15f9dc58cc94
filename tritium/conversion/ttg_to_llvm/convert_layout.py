"""ttg.convert_layout: what the plan of `analysis.exchange` says, as instructions; and barriers.

Registers that stay in their thread are renamed, which costs nothing. Within warps selects and shuffles move words of 32
bits. Else elements are stored to the scratch of the operation and loaded again, in rounds:

    store round 0; wait; load round 0; wait; store round 1; wait; load round 1

where a barrier synchronizes the threads of the warp, the CTA, or the cluster that exchange elements. What
goes to global memory next is stored by round, too: the memory is at work while the next round waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...analysis.exchange import exchange_of
from ...dialects import gpu, tt, ttg
from ...ir import PURE, Type
from ...layout import LinearLayout
from ...layout.shuffles import Input, LanePlan, Select, Shuffle
from ...layout.swizzle import MemoryPlan
from .context import OFFSET, FunctionContext, lowers
from .positions import linear_image
from .shared_access import Addresses, from_memory, load_access, owner, store_access, to_memory
from .types import llvm_type

__all__ = ["wait_for"]


@lowers(ttg.ConvertLayout)
def _convert_layout(e: FunctionContext, op: ttg.ConvertLayout) -> None:
    plan = exchange_of(op)
    parts, ty = e(op.src), op.src.type
    if isinstance(plan, MemoryPlan):
        e.arriving[op.result] = _through_memory(e, plan, parts, ty, e.scratch(op), e.debug)
        if not _is_stored_next(op):
            e(op.result)
    elif plan.shuffles or plan.selects:
        e.bind(op.result, _Lanes(e, plan, parts, ty).outputs())
    else:
        e.bind(op.result, [parts[r] for r in plan.registers()])


@lowers(ttg.Barrier, gpu.Barrier)
def _barrier(e: FunctionContext, op: Any) -> None:
    """A CTA barrier; a cluster barrier if it orders global writes of a program with several CTAs."""
    spaces = op.addrSpace if isinstance(op, ttg.Barrier) else ttg.AddrSpace.all
    if isinstance(op, ttg.Barrier) and spaces & ttg.AddrSpace.global_write and e.module.num_ctas > 1:
        e.cluster_barrier()
    else:
        e.barrier(bool(spaces & (ttg.AddrSpace.global_read | ttg.AddrSpace.global_write)))


def wait_for(e: FunctionContext, whom: str) -> None:
    """Wait for the threads of the "warp", "block" or "cluster", and see what they have written."""
    if whom == "block":
        e.barrier()
    elif whom == "warp":
        e.target.warp_barrier(e)
    else:
        e.cluster_barrier()


# -- through memory ---------------------------------------------------------------------------------------------


def _is_stored_next(op: Any) -> bool:
    """Whether the result goes to a store alone, and nothing in between uses memory."""
    if not op.result.has_one_use:
        return False
    (user,) = op.result.users
    between = op.next
    while between is not None and between is not user:
        if not between.traits & PURE or between.regions or OFFSET in between.attributes:
            return False
        between = between.next
    return between is user and isinstance(user, tt.Store) and user.value is op.result


def _through_memory(
    e: FunctionContext, plan: MemoryPlan, parts: list[str], ty: Type, scratch: str, debug: str
) -> Iterator[dict[int, str]]:
    """The parts that each round brings, by their registers; `debug` is where the instructions are from."""
    remote = plan.sync == "cluster"
    into = Addresses(e, plan.store.access, scratch, block_bit=plan.block_bit)
    outof = Addresses(e, plan.load.access, scratch, block_bit=plan.block_bit)
    owns = owner(e, plan.idle_lanes, plan.idle_warps)
    held = [to_memory(e, ty, v) for v in parts] if llvm_type(ty) not in _PLAIN else parts
    fresh: dict[str, str] = {}
    for k in range(plan.rounds):
        outer, e.debug = e.debug, debug
        if k:
            wait_for(e, plan.sync)
        mine = [held[plan.store.register(i, k)] for i in range(len(plan.store.access.same))]
        store_access(e, plan.store.access, into, mine, ty, owns)
        wait_for(e, plan.sync)
        loaded = load_access(e, plan.load.access, outof, ty, remote)
        found = {plan.load.register(i, k): v for i, v in loaded.items()}
        if remote and k == plan.rounds - 1:  # nobody overwrites, or leaves, what others still read
            wait_for(e, plan.sync)
        for v in found.values():
            if v not in fresh:
                fresh[v] = from_memory(e, ty, v)
        e.debug = outer
        yield {r: fresh[v] for r, v in found.items()}


_PLAIN = frozenset(("i8", "i16", "i32", "i64", "half", "bfloat", "float", "double"))


# -- within warps -----------------------------------------------------------------------------------------------


class _Lanes:
    """Emits the nodes of a plan; a node is a list of words, several for elements wider than one."""

    def __init__(self, e: FunctionContext, plan: LanePlan, parts: list[str], ty: Type) -> None:
        self.e, self.plan, self.ty = e, plan, ty
        self.kind = f"i{plan.bits}"
        self.parts = parts
        self.raw: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.sources: dict[tuple[tuple[int, ...], int], str] = {}

    def outputs(self) -> list[str]:
        """The parts of the result."""
        words: list[list[str]] = []
        for node in self.plan.nodes:
            if isinstance(node, Input):
                words.append(self.packed(node.registers))
            elif isinstance(node, Select):
                condition = self.condition(node.mask)
                pairs = zip(words[node.other], words[node.value], strict=True)
                words.append([self.e.op(f"select i1 {condition}, i32 {a}, i32 {b}") for a, b in pairs])
            else:
                words.append([self.shuffled(node, w) for w in words[node.value]])
        known: dict[tuple[int, int], str] = {}
        for output in self.plan.outputs:
            if output not in known:
                known[output] = self.unpacked(words[output[0]], output[1])
        return [known[o] for o in self.plan.outputs]

    # -- words --------------------------------------------------------------------------------------------------

    def bits(self, register: int) -> str:
        """A register as an integer of the plan's width."""
        if register not in self.raw:
            e, ty = self.e, llvm_type(self.ty)
            v = to_memory(e, self.ty, self.parts[register])
            if ty in ("half", "bfloat", "float", "double"):
                v = e.op(f"bitcast {ty} {v} to {self.kind}")
            self.raw[register] = v
        return self.raw[register]

    def packed(self, registers: tuple[int, ...]) -> list[str]:
        e, bits = self.e, self.plan.bits
        values = [self.bits(r) for r in registers]
        if bits == 32:
            return values
        if bits == 64:
            whole = e.op(f"bitcast i64 {values[0]} to <2 x i32>")
            return [e.op(f"extractelement <2 x i32> {whole}, i32 {i}") for i in range(2)]
        if len(values) == 1:
            return [e.op(f"zext {self.kind} {values[0]} to i32")]
        vector, whole = f"<{len(values)} x {self.kind}>", "poison"
        for i, v in enumerate(values):
            whole = e.op(f"insertelement {vector} {whole}, {self.kind} {v}, i32 {i}")
        width = bits * len(values)
        whole = e.op(f"bitcast {vector} {whole} to i{width}")
        return [whole if width == 32 else e.op(f"zext i{width} {whole} to i32")]

    def unpacked(self, words: list[str], place: int) -> str:
        e, bits = self.e, self.plan.bits
        if bits == 32:
            v = words[0]
        elif bits == 64:
            low = e.op(f"insertelement <2 x i32> poison, i32 {words[0]}, i32 0")
            both = e.op(f"insertelement <2 x i32> {low}, i32 {words[1]}, i32 1")
            v = e.op(f"bitcast <2 x i32> {both} to i64")
        else:
            vector = f"<{32 // bits} x {self.kind}>"
            whole = e.op(f"bitcast i32 {words[0]} to {vector}")
            v = e.op(f"extractelement {vector} {whole}, i32 {place}")
        ty = llvm_type(self.ty)
        if ty in ("half", "bfloat", "float", "double"):
            return e.op(f"bitcast {self.kind} {v} to {ty}")
        return from_memory(e, self.ty, v)

    # -- threads ------------------------------------------------------------------------------------------------

    def condition(self, mask: int) -> str:
        """Whether the thread's bits of `mask` have odd parity."""
        if mask not in self.conditions:
            e, parity = self.e, "0"
            for operand, bits in self.thread_bits(mask):
                v = e.op(f"and i32 {operand}, {bits}")
                if bits & (bits - 1):
                    v = e.call("i32", "llvm.ctpop.i32", ("i32", v))
                else:
                    v = e.op(f"lshr i32 {v}, {bits.bit_length() - 1}")
                parity = v if parity == "0" else e.op(f"xor i32 {parity}, {v}")
            odd = e.op(f"and i32 {parity}, 1")
            self.conditions[mask] = e.op(f"icmp ne i32 {odd}, 0")
        return self.conditions[mask]

    def thread_bits(self, mask: int) -> list[tuple[str, int]]:
        out = []
        for name, operand in (("lane", self.e.lane), ("warp", self.e.warp), ("block", self.e.block_id)):
            size = self.plan.source.ins[name]
            if mask & (size - 1):
                out.append((operand, mask & (size - 1)))
            mask >>= size.bit_length() - 1
        return out

    def shuffled(self, node: Shuffle, word: str) -> str:
        if node.is_butterfly(self.plan.source.ins["lane"].bit_length() - 1):
            kind, lane = "bfly", str(node.constant)
        else:
            kind, lane = "idx", self.lane_of(node)
        return self.e.target.shuffle(self.e, kind, word, lane)

    def lane_of(self, node: Shuffle) -> str:
        """The lane to take a word from."""
        key = node.columns, node.constant
        if key not in self.sources:
            e, columns, bases = self.e, list(node.columns), {}
            operands = {"lane": e.lane, "warp": e.warp, "block": e.block_id}
            for name in operands:
                n = self.plan.source.ins[name].bit_length() - 1
                bases[name], columns = [(c,) for c in columns[:n]], columns[n:]
            lane = linear_image(e, LinearLayout(bases, {"lane": e.module.warp_size}), operands)["lane"]
            if node.constant:
                lane = str(node.constant) if lane == "0" else e.op(f"xor i32 {lane}, {node.constant}")
            self.sources[key] = lane
        return self.sources[key]
