"""Writes ttc operations into the right loop: a stack of open loops, and where in each the next operation goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...analysis.affine import Cast, Leaf, Num, Product, Remainder, Sum, Sym
from ...dialects import arith, scf, tt, ttc
from ...dialects.arith_flags import Overflow
from ...ir import (
    Block,
    CountedLoop,
    DenseElementsAttr,
    IfLike,
    IndexType,
    IntegerType,
    Operation,
    Type,
    Value,
    VectorType,
    element_type,
    i1,
    i32,
    i64,
    with_element,
)
from ...ir.builder import Builder
from ...support import UNKNOWN, Location
from .lanes import Lane, Strided, Uniform, Vec

__all__ = ["Writer"]

NSW = Overflow.of("nsw")


class _Level:
    __slots__ = ("anchor", "block", "memo")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.anchor: Operation | None = None  # the inner loop, once it is open: earlier than it is outside it
        self.memo: dict[Any, Any] = {}


class Writer:
    """Inserts ops at a loop level; `floor` keeps everything at least that deep (inside a conditional)."""

    def __init__(self, block: Block) -> None:
        self.builder = Builder(block)
        self.levels = [_Level(block)]
        self.floor = 0
        self.loc: Location = UNKNOWN

    @property
    def depth(self) -> int:
        """The innermost level."""
        return len(self.levels) - 1

    def place(self, op: Any, level: int | None = None) -> Any:
        """Insert `op` at `level` (default: innermost); its only result, or None."""
        level = self.depth if level is None else max(level, self.floor)
        at = self.levels[level]
        if op.loc is UNKNOWN:
            op.loc = self.loc
        b = self.builder
        b.block, b.before = at.block, at.anchor
        return b.add(op)

    @contextmanager
    def opened(self, block: Block, anchor: Operation) -> Iterator[None]:
        """Write into `block`, which belongs to `anchor`, an op just placed at the innermost level."""
        self.levels[-1].anchor = anchor
        self.levels.append(_Level(block))
        try:
            yield
        finally:
            self.levels.pop()
            self.levels[-1].anchor = None

    def branch(
        self, condition: Value, types: Sequence[Type] = (), with_else: bool = True, level: int | None = None
    ) -> IfLike:
        """Insert an `scf.if` with empty blocks."""
        op = scf.If.build(condition, types, with_else)
        self.place(op, level)
        return op

    @contextmanager
    def loop(self, lower: Value, upper: Value, step: Value, init: list[Value]) -> Iterator[CountedLoop]:
        """An `scf.for`; the caller places the `scf.yield`."""
        op = scf.For.build(lower, upper, step, init)
        self.place(op)
        with self.opened(op.body, op):
            yield op

    @contextmanager
    def counted(self, lower: int, upper: int, step: int) -> Iterator[Value]:
        """A loop of known bounds without carried values; gives the i32 induction variable."""
        with self.between(*(self.number(n) for n in (lower, upper, step))) as iv:
            yield iv

    @contextmanager
    def between(self, lower: Value, upper: Value, step: Value) -> Iterator[Value]:
        """A loop without carried values; gives the induction variable."""
        with self.loop(lower, upper, step, []) as op:
            yield op.induction_variable
            self.place(scf.Yield([]))

    @contextmanager
    def conditional(self, block: Block, op: IfLike) -> Iterator[None]:
        """Write into a branch of `op`; nothing of it may be hoisted out."""
        outer, self.floor = self.floor, self.depth + 1
        with self.opened(block, op):
            yield
        self.floor = outer

    # -- constants and scalars --------------------------------------------------------------------------------

    def number(self, value: float, ty: Type = i32, level: int = 0) -> Value:
        """A scalar constant, written once a level."""
        key = ("number", repr(value), ty)  # the text: 0.0 and -0.0 are equal
        return self._once(key, level, lambda: arith.Constant.of(value, ty))

    def constant(self, attr: Any, level: int = 0) -> Value:
        """Any constant attribute."""
        return self._once(("constant", attr), level, lambda: arith.Constant(attr))

    def _once(self, key: Any, level: int, make: Any) -> Value:
        level = max(level, self.floor)
        for k in range(level + 1):
            found = self.levels[k].memo.get(key)
            if found is not None:
                return found
        value = self.place(make(), level)
        self.levels[level].memo[key] = value
        return value

    def add(self, a: Value, b: Value, level: int, wraps: bool = False) -> Value:
        """a + b on scalars or vectors, once a level; coordinates and offsets do not wrap, values of the kernel may."""
        if arith.is_zero(a):
            return b
        if arith.is_zero(b):
            return a
        return self._once(("add", a, b, wraps), level, lambda: arith.AddI(a, b, None if wraps else NSW))

    def mul(self, a: Value, b: Value, level: int) -> Value:
        """a * b on scalars or vectors."""
        return self._once(("mul", a, b), level, lambda: arith.MulI(a, b))

    def times(self, a: Value, factor: int, level: int) -> Value:
        """a * factor."""
        if arith.is_zero(a):
            return a
        return a if factor == 1 else self.mul(a, self.number(factor, a.type), level)

    def times_vector(self, a: Value, factor: int, level: int) -> Value:
        """A vector of integers times a number."""
        if factor == 1:
            return a
        attr = DenseElementsAttr((factor,), a.type)  # type: ignore[arg-type]
        return self.mul(a, self.constant(attr), level)

    def cast(self, a: Value, ty: Type, signed: bool = True, level: int | None = None) -> Value:
        """A scalar or vector integer as another integer type (`ty` is the element type)."""
        source = element_type(a.type)
        if source is ty:
            return a
        result = with_element(a.type, ty)
        if isinstance(source, IndexType) or isinstance(ty, IndexType):
            return self.place(arith.IndexCast(a, out=result), level)
        assert isinstance(source, IntegerType) and isinstance(ty, IntegerType)
        cls = arith.TruncI if ty.width < source.width else (arith.ExtSI if signed else arith.ExtUI)
        return self.place(cls(a, out=result), level)

    def symbol(self, s: Sym, ty: Type, scalars: dict[Value, Value]) -> Value:
        """A symbolic scalar of type `ty`, written out once, outside all loops."""
        if isinstance(s, Num):
            return self.number(s.value, ty)
        key = ("symbol", s, ty)
        for level in self.levels[: max(0, self.floor) + 1]:
            found = level.memo.get(key)
            if found is not None:
                return found
        found = self._symbol(s, ty, scalars)
        self.levels[max(0, self.floor)].memo[key] = found
        return found

    def _symbol(self, s: Sym, ty: Type, scalars: dict[Value, Value]) -> Value:
        if isinstance(s, Leaf):
            return scalars[s.value]
        if isinstance(s, Cast):
            return self.cast(self.symbol(s.a, s.source, scalars), s.target, s.signed, 0)
        if isinstance(s, Remainder):
            a, n = self.symbol(s.a, ty, scalars), self.symbol(s.n, ty, scalars)
            return self.place((arith.RemSI if s.signed else arith.RemUI)(a, n), 0)
        assert isinstance(s, (Sum, Product))
        a, b = self.symbol(s.a, ty, scalars), self.symbol(s.b, ty, scalars)
        return self.place(arith.AddI(a, b) if isinstance(s, Sum) else arith.MulI(a, b), 0)

    # -- vectors ----------------------------------------------------------------------------------------------

    def iota(self, lanes: int, ty: Type, step: int = 1) -> Value:
        """[0, step, 2 step, …]"""
        vector = VectorType((lanes,), ty)
        return self.constant(DenseElementsAttr(tuple(step * k for k in range(lanes)), vector))

    def splat(self, value: Value, lanes: int, level: int) -> Value:
        """A scalar in every lane."""
        op = value.defining_op
        vector = VectorType((lanes,), value.type)
        if isinstance(op, arith.Constant):
            return self.constant(DenseElementsAttr((op.splat_value(),), vector))
        return self._once(("splat", value, lanes), level, lambda: ttc.Splat(value, result=vector))

    def vector(self, lane: Lane, lanes: int) -> Value:
        """Any form as a vector register."""
        if isinstance(lane, Vec):
            return lane.value
        if isinstance(lane, Uniform):
            return self.splat(lane.value, lanes, lane.level)
        if isinstance(lane, Strided):
            return self._strided_vector(lane, lanes)
        return self.vector(lane.slow(), lanes)

    def _strided_vector(self, lane: Strided, lanes: int) -> Value:
        key = ("strided", lane, lanes)
        return self._once(key, lane.level, lambda: self._strided_op(lane, lanes))

    def _strided_op(self, lane: Strided, lanes: int) -> Operation:
        pointer = isinstance(lane.base.type, tt.PointerType)
        steps = self.lane_offsets(lane, lanes, i64 if pointer else lane.base.type)
        if pointer:
            return ttc.OffsetPointer(lane.base, steps)
        return arith.AddI(self.splat(lane.base, lanes, lane.level), steps)

    def lane_offsets(self, lane: Strided, lanes: int, ty: Type) -> Value:
        """[0, stride, 2 stride, …] as a vector of `ty`."""
        if isinstance(lane.stride, int):
            return self.iota(lanes, ty, lane.stride)
        stride = self.cast(lane.stride, ty, True, lane.level)
        return self.mul(self.iota(lanes, ty), self.splat(stride, lanes, lane.level), lane.level)

    def mask_vector(self, lane: Lane | None, lanes: int) -> Value | None:
        """A mask as a vector of i1; None if there is none or it is all true."""
        if lane is None:
            return None
        if isinstance(lane, Uniform):
            op = lane.value.defining_op
            if isinstance(op, arith.Constant) and op.splat_value() == 1:
                return None
        v = self.vector(lane, lanes)
        assert element_type(v.type) is i1
        return v
