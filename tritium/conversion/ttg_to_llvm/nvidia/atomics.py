"""Atomic operations on global memory: read-modify-write, compare and swap; loads, stores and polls that are ordered.

    tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m      @$9 red.global.gpu.relaxed.add.v4.f32 [$0], {$1, …};

Each element is touched by one of the threads that hold it; `red` where nobody wants the old value. Neighbours go in one
instruction where there is one: two f16 or bf16 in a word, and from sm_90 on vectors of up to 16 bytes (PTX ISA 8.8,
9.7.13.2). What has no instruction (integers of 8 and 16 bits, bf16 before sm_90) becomes LLVM's own atomic, a loop that
compares and swaps.

Qualifiers stand in Triton's order, which ptxas takes as well as the manual's: kernels are searched for them.

**Order.** A program is all of its threads. What any of them wrote before an operation that releases is seen by who
acquires: all threads meet at a barrier before a release, and after an acquire. A thread with several instructions to do
has the fences once, around them, instead of in each: a fence and a relaxed operation behind it make a release pattern,
a relaxed operation and a fence behind it an acquire pattern (PTX ISA 8.8, 8.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import arith, tt
from ....dialects.tt_types import AtomicOp, MemSemantic, PointerType
from ....hardware.nvidia_features import BF16_ATOMICS, VECTOR_ATOMICS
from ....ir import FloatType, TensorType, Type, Value, element_type
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass
from ...llvm.branches import op_where
from ..context import FunctionContext, lowers
from ..convert_layout import wait_for
from ..memory import first_holder, vector_groups
from ..packing import pack, unpack
from ..polling import poll
from ..replicated_results import bind_replicated
from ..types import bit_width, byte_width, llvm_type
from ..warp import bits_of, from_bits

__all__: list[str] = []

_RELEASES = (MemSemantic.release, MemSemantic.acq_rel)
_ACQUIRES = (MemSemantic.acquire, MemSemantic.acq_rel)


@dataclass(frozen=True)
class _Instruction:
    """`count` words of `width` bits at an address: `suffix` is what stands behind the scope, as `add.v4.f32`."""

    suffix: str
    width: int
    count: int

    @property
    def register(self) -> str:
        """The type of a register for a word."""
        return f"i{self.width}"

    @property
    def constraint(self) -> str:
        """How inline PTX names it."""
        return {16: "h", 32: "r", 64: "l"}[self.width]


class _Order:
    """The memory order of an operation for one thread, and for all."""

    def __init__(self, e: FunctionContext, op: Any, instructions: int, by_llvm: bool = False) -> None:
        self.e, self.sem, self.scope = e, op.sem, op.scope.name
        self.fenced = (instructions > 1 or by_llvm) and op.sem is not MemSemantic.relaxed
        self.spelled = "relaxed" if self.fenced else op.sem.name

    def before(self) -> None:
        """Order a release after earlier writes of all threads: a barrier, then a fence (see `analysis.membar`)."""
        if self.sem in _RELEASES:
            _meet(self.e)
            self._fence()

    def after(self, met: bool) -> None:
        """Nothing is read too early; `met` says that all threads have been at a barrier since."""
        if self.sem in _ACQUIRES and not met:
            _meet(self.e)

    def fence_after(self) -> None:
        """Behind the instructions of the thread that does them."""
        if self.sem in _ACQUIRES:
            self._fence()

    def _fence(self) -> None:
        if self.fenced:
            self.e.asm(f"fence.acq_rel.{self.scope};", "~{memory}", [])


def _meet(e: FunctionContext) -> None:
    """All threads of the program wait for each other."""
    wait_for(e, "block" if e.module.num_ctas == 1 else "cluster")


def _check(op: Any) -> Type:
    """The type of the elements; they are in global memory."""
    pointer = element_type(op.ptr.type)
    if not isinstance(pointer, PointerType) or pointer.address_space != 1:
        raise UnsupportedOperation(op, f"through {op.ptr.type} is not supported on NVIDIA GPUs")
    return pointer.pointee


def _conditions(e: FunctionContext, op: Any, mask: Value | None) -> tuple[str | None, list[str | None]]:
    """Whether this thread is the one among copies, and for each register whether it does anything."""
    holder = first_holder(e, op.ptr.type)
    masks = e(mask) if mask is not None else ["true"] * len(e(op.ptr))
    known: dict[str, str | None] = {"true": holder}
    for m in masks:
        if m not in known:
            known[m] = m if holder is None else e.op(f"and i1 {holder}, {m}")
    return holder, [known[m] for m in masks]


def _emit(
    e: FunctionContext, line: str, kind: _Instruction, address: str, sources: Sequence[Sequence[str]],
    condition: str | None, result: bool,
) -> list[str]:  # fmt: skip
    """One instruction `line{ RESULT}, [address], sources…;`; its results are zero where the condition fails."""
    n = kind.count if result else 0
    constraints = [f"={kind.constraint}"] * n + ["l"]
    operands = [("ptr addrspace(1)", address)]
    text = ["", line]
    if n:
        text[1] += f" {_vector(range(n))},"
    text[1] += f" [${n}]"
    for words in sources:
        first = n + len(operands)
        text[1] += f", {_vector(range(first, first + len(words)))}"
        constraints += [kind.constraint] * len(words)
        operands += [(kind.register, w) for w in words]
    if condition is not None:
        text[0] = "".join(f"mov.b{kind.width} ${i}, 0;\n\t" for i in range(n)) + f"@${n + len(operands)} "
        constraints.append("b")
        operands.append(("i1", condition))
    struct = "void" if not n else kind.register if n == 1 else f"{{ {', '.join([kind.register] * n)} }}"
    whole = e.asm("".join(text) + ";", ",".join([*constraints, "~{memory}"]), operands, struct)
    return [] if not n else [whole] if n == 1 else e.fields(struct, whole, n)


def _vector(numbers: Sequence[int]) -> str:
    names = ", ".join(f"${i}" for i in numbers)
    return f"{{{names}}}" if len(numbers) > 1 else names


# -- read, modify, write ----------------------------------------------------------------------------------------------

_NAMES = {
    AtomicOp._and: "and.b",
    AtomicOp._or: "or.b",
    AtomicOp.xor: "xor.b",
    AtomicOp.add: "add.u",
    AtomicOp.max: "max.s",
    AtomicOp.min: "min.s",
    AtomicOp.umax: "max.u",
    AtomicOp.umin: "min.u",
    AtomicOp.exch: "exch.b",
}
_LLVM_NAMES = {AtomicOp.exch: "xchg"}
_FLOATS = {"f32": "add.f32", "f64": "add.f64", "f16": "add.noftz.f16", "bf16": "add.noftz.bf16"}


def _most(e: FunctionContext, op: tt.AtomicRMW, ty: Type) -> int:
    """How many bytes one instruction may change."""
    if op.atomic_rmw_op is not AtomicOp.fadd or not isinstance(ty, FloatType) or ty.name == "f64":
        return byte_width(ty)
    if e.module.gpu.has(VECTOR_ATOMICS):
        return 16
    return 4 if ty.name == "f16" else byte_width(ty)


def _rmw_instruction(e: FunctionContext, op: tt.AtomicRMW, ty: Type, count: int) -> _Instruction | None:
    """The PTX instruction for `count` contiguous elements; None if only LLVM has one."""
    width = bit_width(ty)
    if op.atomic_rmw_op is not AtomicOp.fadd:
        if width not in (8, 16, 32, 64):
            raise UnsupportedOperation(op, f"on {ty} is not supported: NVIDIA GPUs change whole bytes")
        if width < 32:
            return None
        return _Instruction(f"{_NAMES[op.atomic_rmw_op]}{width}", width, 1)
    if not isinstance(ty, FloatType) or ty.name not in _FLOATS:
        raise UnsupportedOperation(op, f"cannot add to {ty}")
    if ty.name == "bf16" and not e.module.gpu.has(BF16_ATOMICS):
        return None
    suffix, words = _FLOATS[ty.name], count
    if width == 16 and count > 1:
        suffix, width, words = suffix + "x2", 32, count // 2
    if words > 1:
        head, _, tail = suffix.rpartition(".")
        suffix = f"{head}.v{words}.{tail}"
    return _Instruction(suffix, width, words)


@lowers(tt.AtomicRMW)
def _rmw(e: FunctionContext, op: tt.AtomicRMW) -> None:
    ty, used = _check(op), bool(op.result.users)
    if _is_read(op):
        _ordered_load(e, op, op.mask)
        return
    groups = vector_groups(e, op.ptr, op.mask, _most(e, op, ty))
    kind = _rmw_instruction(e, op, ty, len(groups[0]))
    order = _Order(e, op, len(groups), kind is None)
    holder, conditions = _conditions(e, op, op.mask)
    addresses, sources = e(op.ptr), e(op.val)
    exchanges = op.atomic_rmw_op is AtomicOp.exch  # for which there is no red
    order.before()
    values: dict[int, str] = {}
    for group in groups:
        first = group[0]
        if kind is None:
            values[first] = _by_llvm(e, op, order, addresses[first], sources[first], conditions[first])
            continue
        opcode = "atom" if used or exchanges or order.spelled in ("acquire", "acq_rel") else "red"
        line = f"{opcode}.global.{order.scope}.{order.spelled}.{kind.suffix}"
        words = pack(e, [sources[r] for r in group], ty, kind.width)
        old = _emit(e, line, kind, addresses[first], [words], conditions[first], opcode == "atom")
        if used:
            values.update(zip(group, unpack(e, old, ty, kind.width)))
    order.fence_after()
    order.after(used and bind_replicated(e, op, values, holder))


def _by_llvm(
    e: FunctionContext, op: tt.AtomicRMW, order: _Order, address: str, source: str, condition: str | None
) -> str:
    """Atomics that LLVM expands to compare-and-swap loops; explicit fences, as LLVM drops the ordering of some."""
    ty = llvm_type(op.val.type)
    name = _LLVM_NAMES.get(op.atomic_rmw_op, op.atomic_rmw_op.name.strip("_"))
    scope = {"gpu": ' syncscope("device")', "cta": ' syncscope("block")', "sys": ""}[order.scope]
    line = f"atomicrmw {name} ptr addrspace(1) {address}, {ty} {source}{scope} monotonic"
    return op_where(e, condition, line, ty)


@lowers(tt.AtomicCAS)
def _cas(e: FunctionContext, op: tt.AtomicCAS) -> None:
    ty = _check(op)
    width = bit_width(ty)
    if width not in (16, 32, 64):
        raise UnsupportedOperation(op, f"on {ty} is not supported: NVIDIA GPUs compare 16, 32 or 64 bits")
    kind = _Instruction(f"cas.b{width}", width, 1)
    groups = vector_groups(e, op.ptr, None, byte_width(ty))
    order = _Order(e, op, len(groups))
    holder, conditions = _conditions(e, op, None)
    addresses, compared, sources = e(op.ptr), e(op.cmp), e(op.val)
    order.before()
    values = {}
    for (r,) in groups:
        words = [[bits_of(e, ty, column[r])] for column in (compared, sources)]
        line = f"atom.global.{order.spelled}.{order.scope}.{kind.suffix}"
        (old,) = _emit(e, line, kind, addresses[r], words, conditions[r], True)
        values[r] = from_bits(e, ty, old)
    order.fence_after()
    order.after(bool(op.result.users) and bind_replicated(e, op, values, holder))


# -- loads, stores, polls ---------------------------------------------------------------------------------------------


def _is_read(op: tt.AtomicRMW) -> bool:
    """Whether zero is added to one element, which nobody can tell from an ordered load."""
    zero = arith.is_zero(op.val)
    one = not isinstance(op.result.type, TensorType)
    return zero and one and op.atomic_rmw_op is AtomicOp.add and op.sem not in _RELEASES


@lowers(tt.AtomicLoad)
def _load(e: FunctionContext, op: tt.AtomicLoad) -> None:
    _ordered_load(e, op, op.mask)


def _ordered_load(e: FunctionContext, op: Any, mask: Value | None) -> None:
    ty = _check(op)
    kind = _moved(ty)
    groups = vector_groups(e, op.ptr, mask, byte_width(ty))
    order = _Order(e, op, len(groups))
    holder, conditions = _conditions(e, op, mask)
    addresses, values = e(op.ptr), {}
    for (r,) in groups:
        line = f"ld.{order.spelled}.{order.scope}.global.{kind.suffix}"
        words = _emit(e, line, kind, addresses[r], [], conditions[r], True)
        values[r] = _element(e, ty, words[0], kind)
    order.fence_after()
    order.after(bool(op.result.users) and bind_replicated(e, op, values, holder))


def _moved(ty: Type) -> _Instruction:
    """How an element is loaded or stored; registers have at least 16 bits."""
    width = max(8, bit_width(ty))
    return _Instruction(f"b{width}", max(16, width), 1)


def _element(e: FunctionContext, ty: Type, word: str, kind: _Instruction) -> str:
    width = bit_width(ty)
    return from_bits(e, ty, word if width == kind.width else e.op(f"trunc {kind.register} {word} to i{width}"))


@lowers(tt.AtomicStore)
def _store(e: FunctionContext, op: tt.AtomicStore) -> None:
    ty = _check(op)
    kind = _moved(ty)
    groups = vector_groups(e, op.ptr, op.mask, byte_width(ty))
    order = _Order(e, op, len(groups))
    _, conditions = _conditions(e, op, op.mask)
    addresses, sources = e(op.ptr), e(op.value)
    order.before()
    for (r,) in groups:
        word = bits_of(e, ty, sources[r])
        if bit_width(ty) < kind.width:
            word = e.op(f"zext i{bit_width(ty)} {word} to {kind.register}")
        line = f"st.{order.spelled}.{order.scope}.global.{kind.suffix}"
        _emit(e, line, kind, addresses[r], [[word]], conditions[r], False)


@lowers(tt.AtomicPoll)
def _poll(e: FunctionContext, op: tt.AtomicPoll) -> None:
    """Poll each element until it is as expected or the timeout expires; elements are polled in order."""
    ty = _check(op)
    holder, conditions = _conditions(e, op, None)
    groups = vector_groups(e, op.ptr, None, byte_width(ty))
    addresses, wanted = e(op.ptr), e(op.expected)
    end = None
    if op.timeout is not None:
        end = e.op(f"add i64 {_nanoseconds(e)}, {_wide(e, op.timeout)}")
    values = {}
    for (r,) in groups:
        values[r] = _wait(e, op, ty, addresses[r], wanted[r], conditions[r], end)
    order = _Order(e, op, 1)
    order.after(bool(op.result.users) and bind_replicated(e, op, values, holder))


def _nanoseconds(e: FunctionContext) -> str:
    return e.asm("mov.u64 $0, %globaltimer;", "=l", [], "i64")


def _wide(e: FunctionContext, value: Value) -> str:
    width = bit_width(value.type)
    return e.scalar(value) if width == 64 else e.op(f"zext i{width} {e.scalar(value)} to i64")


def _wait(
    e: FunctionContext, op: tt.AtomicPoll, ty: Type, address: str, wanted: str, condition: str | None, end: str | None
) -> str:
    """Whether the value was seen: the condition of the loop that reads it. False for threads that do not read."""
    kind = _moved(ty)

    def is_seen() -> str:
        load = f"ld.{op.sem.name}.{op.scope.name}.global.{kind.suffix}"
        (word,) = _emit(e, load, kind, address, [], None, True)
        return e.op(f"icmp eq {llvm_type(ty)} {_element(e, ty, word, kind)}, {wanted}")

    return poll(e, is_seen, _nanoseconds, condition, end)
