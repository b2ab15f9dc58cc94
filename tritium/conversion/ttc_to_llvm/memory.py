"""Memory: scratch buffers, vector and scalar accesses, atomics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dialects import tt, ttc
from ...dialects.tt_types import PointerType
from ...ir import IntegerType, Type, Value, bf16, element_type, with_element
from ...support import UnsupportedOperation
from ..llvm.dot import plan_dot
from .context import FunctionContext, lowers
from .minmax import number_extreme
from .resize import resize, through_single
from .types import bit_width, byte_width, is_float, lanes_of, llvm_type, mangled

__all__: list[str] = []


@lowers(ttc.Alloc)
def _alloc(e: FunctionContext, op: ttc.Alloc) -> None:
    ty = op.result.type
    assert isinstance(ty, ttc.BufferType)
    e.bind(op.result, e.reserve(ty.size * byte_width(ty.element)))


@lowers(ttc.Address)
def _address(e: FunctionContext, op: ttc.Address) -> None:
    ty = op.buffer.type
    assert isinstance(ty, ttc.BufferType)
    element = llvm_type(ty.element)
    e.bind(op.result, e.op(f"getelementptr inbounds {element}, ptr {e(op.buffer)}, {e.typed(op.offset)}"))


@lowers(tt.AddPtr)
def _addptr(e: FunctionContext, op: tt.AddPtr) -> None:
    pointee = _memory_type(_pointee(op.ptr))
    e.bind(op.result, e.op(f"getelementptr {pointee}, {e.typed(op.ptr)}, {e.typed(op.offset)}"))


@lowers(ttc.OffsetPointer)
def _offset_pointer(e: FunctionContext, op: ttc.OffsetPointer) -> None:
    pointee = _memory_type(_pointee(op.base))
    e.bind(op.result, e.op(f"getelementptr {pointee}, ptr {e(op.base)}, {e.typed(op.offsets)}"))


def _pointee(ptr: Value) -> Type:
    ty = element_type(ptr.type)
    assert isinstance(ty, PointerType)
    return ty.pointee


def _memory_type(ty: Type) -> str:
    """The type of an element in memory: i1 takes a byte."""
    return "i8" if ty == IntegerType(1) else llvm_type(ty)


@lowers(ttc.Splat)
def _splat(e: FunctionContext, op: ttc.Splat) -> None:
    e.bind(op.result, e.splat(e(op.src), llvm_type(op.src.type), lanes_of(op.result.type)))


@lowers(ttc.Shuffle)
def _shuffle(e: FunctionContext, op: ttc.Shuffle) -> None:
    lanes = ", ".join(f"i32 {k}" for k in op.lanes)
    e.bind(op.result, e.op(f"shufflevector {e.typed(op.lhs)}, {e.typed(op.rhs)}, <{len(op.lanes)} x i32> <{lanes}>"))


@lowers(ttc.Extract)
def _extract(e: FunctionContext, op: ttc.Extract) -> None:
    e.bind(op.result, e.op(f"extractelement {e.typed(op.src)}, i64 {op.lane}"))


def _align(ty: Type) -> int:
    return byte_width(ty)


def _mask(e: FunctionContext, op: Any, ty: Type) -> tuple[str, str]:
    return llvm_type(with_element(ty, IntegerType(1))), e(op.mask)


def _other(e: FunctionContext, op: Any) -> str:
    return "zeroinitializer" if op.other is None else e(op.other)


@lowers(ttc.Load)
def _load(e: FunctionContext, op: ttc.Load) -> None:
    ty = op.result.type
    if op.mask is None:
        volatile = "volatile " if op.is_volatile else ""
        e.bind(op.result, e.op(f"load {volatile}{llvm_type(ty)}, ptr {e(op.ptr)}, align {_align(ty)}"))
        return
    text = llvm_type(ty)
    operands = (("ptr", e(op.ptr)), ("i32", str(_align(ty))), _mask(e, op, ty), (text, _other(e, op)))

    def masked() -> str:
        return _masked(e, f"llvm.masked.load.{mangled(ty)}.p0", ty, operands)

    if not _masks_are_slow(e, ty):
        e.bind(op.result, masked())
        return
    done = _if_all_lanes(e, op, ty)
    whole = e.op(f"load {text}, ptr {e(op.ptr)}, align {_align(ty)}")
    edges = [f"[ {whole}, %{e.block} ]"]
    next(done)
    part = masked()
    edges.append(f"[ {part}, %{e.block} ]")
    next(done)
    e.bind(op.result, e.op(f"phi {text} {', '.join(edges)}"))


def _masks_are_slow(e: FunctionContext, ty: Type) -> bool:
    """Without AVX-512's masks, or AVX2's for 32 and 64 bits, LLVM asks for each lane in turn."""
    target = e.module.target
    return not target.has_avx512 and not (target.has_avx2 and byte_width(ty) >= 4)


def _if_all_lanes(e: FunctionContext, op: Any, ty: Type) -> Iterator[None]:
    """Branch to code for a mask that is all true; each `next` goes on to the other case, then behind both.

    Nearly all accesses of a kernel are whole; the branch is predicted and costs a test of the mask.
    """
    lanes = lanes_of(ty)
    mask_type, mask = _mask(e, op, ty)
    whole, part, done = (e.fresh_label(hint) for hint in ("whole", "part", "accessed"))
    bits = e.op(f"bitcast {mask_type} {mask} to i{lanes}")
    test = e.op(f"icmp eq i{lanes} {bits}, -1")
    e.stmt(f"br i1 {test}, label %{whole}, label %{part}")
    e.label(whole)

    def rest() -> Iterator[None]:
        e.stmt(f"br label %{done}")
        e.label(part)
        yield
        e.stmt(f"br label %{done}")
        e.label(done)
        yield

    return rest()


def _masked(e: FunctionContext, name: str, ty: Type, operands: tuple[tuple[str, str], ...]) -> str:
    text = llvm_type(ty)
    params = ", ".join("i32 immarg" if t == "i32" else t for t, _ in operands)
    e.module.declare(f"declare {text} @{name}({params})")
    return e.op(f"call {text} @{name}({', '.join(f'{t} {v}' for t, v in operands)})")


@lowers(ttc.Store)
def _store(e: FunctionContext, op: ttc.Store) -> None:
    ty = op.value.type
    if op.mask is None:
        e.stmt(f"store {e.typed(op.value)}, ptr {e(op.ptr)}, align {_align(ty)}")
        return
    name = f"llvm.masked.store.{mangled(ty)}.p0"
    mask_type, mask = _mask(e, op, ty)
    e.module.declare(f"declare void @{name}({llvm_type(ty)}, ptr, i32 immarg, {mask_type})")
    call = f"call void @{name}({e.typed(op.value)}, ptr {e(op.ptr)}, i32 {_align(ty)}, {mask_type} {mask})"
    if not _masks_are_slow(e, ty):
        e.stmt(call)
        return
    done = _if_all_lanes(e, op, ty)
    e.stmt(f"store {e.typed(op.value)}, ptr {e(op.ptr)}, align {_align(ty)}")
    next(done)
    e.stmt(call)
    next(done)


@lowers(ttc.Prefetch)
def _prefetch(e: FunctionContext, op: ttc.Prefetch) -> None:
    e.module.declare("declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
    write, locality = (0, 2) if op.to_read else (1, 3)  # 2: into the second cache, where lines may wait
    e.stmt(f"call void @llvm.prefetch.p0(ptr {e(op.ptr)}, i32 {write}, i32 {locality}, i32 1)")


def _all_lanes(ty: Type) -> str:
    return "splat (i1 true)"


@lowers(ttc.Gather)
def _gather(e: FunctionContext, op: ttc.Gather) -> None:
    ty = op.result.type
    mask_type = llvm_type(with_element(ty, IntegerType(1)))
    mask = _all_lanes(ty) if op.mask is None else e(op.mask)
    operands = (
        (llvm_type(op.ptrs.type), e(op.ptrs)),
        ("i32", str(_align(ty))),
        (mask_type, mask),
        (llvm_type(ty), _other(e, op)),
    )
    lanes = lanes_of(ty)
    e.bind(op.result, _masked(e, f"llvm.masked.gather.{mangled(ty)}.v{lanes}p0", ty, operands))


@lowers(ttc.Scatter)
def _scatter(e: FunctionContext, op: ttc.Scatter) -> None:
    ty, lanes = op.value.type, lanes_of(op.value.type)
    mask_type = llvm_type(with_element(ty, IntegerType(1)))
    mask = _all_lanes(ty) if op.mask is None else e(op.mask)
    pointers = llvm_type(op.ptrs.type)
    name = f"llvm.masked.scatter.{mangled(ty)}.v{lanes}p0"
    e.module.declare(f"declare void @{name}({llvm_type(ty)}, {pointers}, i32 immarg, {mask_type})")
    e.stmt(f"call void @{name}({e.typed(op.value)}, {pointers} {e(op.ptrs)}, i32 {_align(ty)}, {mask_type} {mask})")


@lowers(ttc.Dot)
def _dot(e: FunctionContext, op: ttc.Dot) -> None:
    a, b, acc = op.types.split()
    plan = plan_dot(e.module.target, op.m, op.n, op.k, a, b, acc)
    for line in plan.declares:
        e.module.declare(line)
    e.module.define(plan.symbol, plan.function_text)
    e.stmt(plan.call(e(op.acc), e(op.a), e(op.b)))


_ORDER = {
    tt.MemSemantic.relaxed: "monotonic",
    tt.MemSemantic.acquire: "acquire",
    tt.MemSemantic.release: "release",
    tt.MemSemantic.acq_rel: "acq_rel",
}
_RMW = {
    tt.AtomicOp._and: "and",
    tt.AtomicOp._or: "or",
    tt.AtomicOp.xor: "xor",
    tt.AtomicOp.add: "add",
    tt.AtomicOp.fadd: "fadd",
    tt.AtomicOp.max: "max",
    tt.AtomicOp.min: "min",
    tt.AtomicOp.umax: "umax",
    tt.AtomicOp.umin: "umin",
    tt.AtomicOp.exch: "xchg",
}


@lowers(tt.AtomicRMW)
def _atomic_rmw(e: FunctionContext, op: tt.AtomicRMW) -> None:
    name, ty = _RMW[op.atomic_rmw_op], op.val.type
    extreme = name in ("max", "min") and (is_float(ty) or ty is bf16)
    if extreme or (ty is bf16 and name == "fadd"):
        e.bind(op.result, _atomic_by_exchange(e, op, name))
        return
    if name != "xchg" and (name[0] == "f") != is_float(ty):
        raise UnsupportedOperation(op, f"of {ty} is not supported on the CPU")
    order = _ORDER[op.sem]
    e.bind(op.result, e.op(f"atomicrmw {name} ptr {e(op.ptr)}, {e.typed(op.val)} {order}"))


def _atomic_by_exchange(e: FunctionContext, op: tt.AtomicRMW, name: str) -> str:
    """An extreme of floats, or a sum of bf16 in f32: tried again until nobody else wrote meanwhile; the old value."""
    ty, order = op.val.type, _ORDER[op.sem]
    wide, (value,) = through_single(e, ty, [e(op.val)]) if ty is bf16 else (ty, [e(op.val)])
    text, integer, size = llvm_type(ty), f"i{bit_width(ty)}", byte_width(ty)
    head, done = e.fresh_label("try"), e.fresh_label("done")
    before = e.block
    first = e.op(f"load atomic {integer}, ptr {e(op.ptr)} monotonic, align {size}")
    e.stmt(f"br label %{head}")
    e.label(head)
    bits = e.op("phi")
    line = len(e.lines) - 1
    old = bits if text == integer else e.op(f"bitcast {integer} {bits} to {text}")
    number = resize(e, old, ty, wide)
    if name == "fadd":
        new = e.op(f"fadd {llvm_type(wide)} {number}, {value}")
    else:
        new = number_extreme(e, name == "max", wide, number, value)
    new = resize(e, new, wide, ty)
    new = new if text == integer else e.op(f"bitcast {text} {new} to {integer}")
    pair = e.op(f"cmpxchg ptr {e(op.ptr)}, {integer} {bits}, {integer} {new} {order} monotonic")
    seen = e.op(f"extractvalue {{ {integer}, i1 }} {pair}, 0")
    e.lines[line] = f"  {bits} = phi {integer} [ {first}, %{before} ], [ {seen}, %{e.block} ]"
    e.stmt(f"br i1 {e.op(f'extractvalue {{ {integer}, i1 }} {pair}, 1')}, label %{done}, label %{head}")
    e.label(done)
    return old


@lowers(tt.AtomicCAS)
def _atomic_cas(e: FunctionContext, op: tt.AtomicCAS) -> None:
    order = _ORDER[op.sem]
    failure = {"release": "monotonic", "acq_rel": "acquire"}.get(order, order)
    ty = llvm_type(op.val.type)
    integer, expected, desired = ty, e(op.cmp), e(op.val)
    if is_float(op.val.type):
        integer = f"i{8 * byte_width(op.val.type)}"
        expected = e.op(f"bitcast {ty} {expected} to {integer}")
        desired = e.op(f"bitcast {ty} {desired} to {integer}")
    pair = e.op(f"cmpxchg ptr {e(op.ptr)}, {integer} {expected}, {integer} {desired} {order} {failure}")
    old = e.op(f"extractvalue {{ {integer}, i1 }} {pair}, 0")
    e.bind(op.result, old if integer == ty else e.op(f"bitcast {integer} {old} to {ty}"))


@lowers(tt.AtomicLoad)
def _atomic_load(e: FunctionContext, op: tt.AtomicLoad) -> None:
    e.bind(op.result, _read_at_once(e, op, op.result.type))


def _read_at_once(e: FunctionContext, op: tt.AtomicLoad | tt.AtomicPoll, ty: Type) -> str:
    text = llvm_type(ty)
    return e.op(f"load atomic {text}, ptr {e(op.ptr)} {_ORDER[op.sem]}, align {byte_width(ty)}")


@lowers(tt.AtomicStore)
def _atomic_store(e: FunctionContext, op: tt.AtomicStore) -> None:
    ty = op.value.type
    e.stmt(f"store atomic {e.typed(op.value)}, ptr {e(op.ptr)} {_ORDER[op.sem]}, align {byte_width(ty)}")


@lowers(ttc.Clock)
def _clock(e: FunctionContext, op: ttc.Clock) -> None:
    e.bind(op.result, _time(e))


def _time(e: FunctionContext) -> str:
    """Nanoseconds, of the C library's clock 0, which every system has."""
    e.module.declare("declare i32 @clock_gettime(i32, ptr)")
    at = e.reserve(16)
    e.stmt(f"call i32 @clock_gettime(i32 0, ptr {at})")
    seconds = e.op(f"load i64, ptr {at}, align 8")
    rest = e.op(f"load i64, ptr {e.op(f'getelementptr i8, ptr {at}, i64 8')}, align 8")
    return e.op(f"add i64 {e.op(f'mul i64 {seconds}, 1000000000')}, {rest}")


@lowers(tt.AtomicPoll)
def _atomic_poll(e: FunctionContext, op: tt.AtomicPoll) -> None:
    """Read until it is there or time is up; between two reads others may run."""
    e.module.declare("declare i32 @sched_yield()")
    ty = op.expected.type
    head, wait, done = (e.fresh_label(name) for name in ("poll", "wait", "polled"))
    start = None if op.timeout is None else _time(e)
    e.stmt(f"br label %{head}")
    e.label(head)
    seen = e.op(f"icmp eq {llvm_type(ty)} {_read_at_once(e, op, ty)}, {e(op.expected)}")
    e.stmt(f"br i1 {seen}, label %{done}, label %{wait}")
    e.label(wait)
    e.stmt("call i32 @sched_yield()")
    if start is None:
        e.stmt(f"br label %{head}")
    else:
        assert op.timeout is not None
        early = e.op(f"icmp slt i64 {e.op(f'sub i64 {_time(e)}, {start}')}, {e(op.timeout)}")
        e.stmt(f"br i1 {early}, label %{head}, label %{done}")
    e.label(done)
    e.bind(op.result, seen)
