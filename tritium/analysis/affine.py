"""Affine forms: integers and pointers of a tensor as a scalar base plus a stride for each dimension.

The addresses `ptr + (pid * 128 + arange)[:, None] * stride + arange[None, :]` are one pointer plus a stride for each
dimension, all scalars: an address costs two multiplications, and contiguous elements are known. The scalars are
symbolic (`Sym`), so that a query costs nothing; the lowering emits those it uses.

Forms are exact, including wraparound, with one exception: offsets of `tt.addptr` are assumed not to overflow their
integer type within a tile (as Triton's axis analysis assumes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects import arith, tt
from ..ir import IndexType, IntegerType, TensorType, Type, Value, element_type, i64, shape_of
from ..support.dataclasses import dataclass

__all__ = ["AffineForm", "Affinity", "Cast", "Leaf", "Num", "Product", "Remainder", "Sum", "Sym", "add", "mul"]


@dataclass(frozen=True)
class Num:
    """A known integer."""

    value: int


@dataclass(frozen=True)
class Leaf:
    """A scalar SSA value."""

    value: Value


@dataclass(frozen=True)
class Sum:
    """a + b"""

    a: Sym
    b: Sym


@dataclass(frozen=True)
class Product:
    """a * b"""

    a: Sym
    b: Sym


@dataclass(frozen=True)
class Cast:
    """`a` converted between integer types."""

    a: Sym
    source: Type
    target: Type
    signed: bool


@dataclass(frozen=True)
class Remainder:
    """a mod n, as `arith.remsi` or `arith.remui` has it."""

    a: Sym
    n: Sym
    signed: bool


Sym = Num | Leaf | Sum | Product | Cast | Remainder
ZERO, ONE = Num(0), Num(1)


def add(a: Sym, b: Sym) -> Sym:
    """a + b, simplified."""
    if isinstance(a, Num) and isinstance(b, Num):
        return Num(a.value + b.value)
    if a == ZERO:
        return b
    return a if b == ZERO else Sum(a, b)


def mul(a: Sym, b: Sym) -> Sym:
    """a * b, simplified."""
    if isinstance(a, Num) and isinstance(b, Num):
        return Num(a.value * b.value)
    if ZERO in (a, b):
        return ZERO
    if a == ONE:
        return b
    return a if b == ONE else Product(a, b)


def negate(a: Sym) -> Sym:
    """-a"""
    return mul(a, Num(-1))


def cast(a: Sym, source: Type, target: Type, signed: bool) -> Sym:
    """`a` converted to `target`; a constant is folded, truncated to the width of `source`."""
    if source is target:
        return a
    if isinstance(a, Num) and isinstance(source, IntegerType):
        value = a.value & ((1 << source.width) - 1)
        return Num(value - (1 << source.width) if signed and value >> (source.width - 1) else value)
    return a if isinstance(a, Num) else Cast(a, source, target, signed)


@dataclass(frozen=True)
class AffineForm:
    """value[i…] = base + sum of strides[d] * i_d; for pointers, elements after the scalar `pointer`.

    `type` is the integer type in which base and strides are computed (i64 for pointers).
    """

    base: Sym
    strides: tuple[Sym, ...]
    type: Type
    pointer: Value | None = None

    @property
    def uniform(self) -> bool:
        """True when all elements are equal."""
        return all(s == ZERO for s in self.strides)


Handler = Callable[["Affinity", Any, TensorType], "AffineForm | None"]
_HANDLERS: dict[type, Handler] = {}


def _affine(*classes: type) -> Callable[[Handler], Handler]:
    def register(fn: Handler) -> Handler:
        for cls in classes:
            _HANDLERS[cls] = fn
        return fn

    return register


class Affinity:
    """Affine forms of the values of one function, computed on demand and memoized.

    With `hopeful`, `(base + arange) % n` is assumed not to wrap around within the tile, nor a sum before it is extended
    to more bits; users of such a form check that at run time.
    """

    def __init__(self, hopeful: bool = False) -> None:
        self.hopeful = hopeful
        self.forms: dict[Value, AffineForm | None] = {}
        self.strides: dict[tuple[Value, int], Sym | None] = {}

    def of(self, value: Value) -> AffineForm | None:
        """The affine form of a tensor of integers or pointers, or None."""
        if value not in self.forms:
            self._compute_in_order(value)
        return self.forms[value]

    def _compute_in_order(self, value: Value) -> None:
        """The form of `value`, operands first and iteratively: chains exceed the recursion limit."""
        waiting, entered = [value], set()
        while waiting:
            last = waiting[-1]
            if last in self.forms:
                waiting.pop()
            elif last in entered or type(last.defining_op) not in _HANDLERS:
                self.forms[last] = self._compute(last)
            else:
                entered.add(last)
                waiting += [v for v in last.defining_op.operands if isinstance(v.type, TensorType)]  # type: ignore[union-attr]

    def _compute(self, value: Value) -> AffineForm | None:
        ty, op = value.type, value.defining_op
        if op is None or not isinstance(ty, TensorType):
            return None
        if not isinstance(ty.element, (IntegerType, IndexType, tt.PointerType)) or ty.element == IntegerType(1):
            return None
        handler = _HANDLERS.get(type(op))
        return None if handler is None else handler(self, op, ty)

    def stride_along(self, value: Value, dim: int) -> Sym | None:
        """The stride of `value` along `dim`, if it is the same everywhere.

        Weaker than an affine form: other dimensions may be arbitrary.
        """
        key = (value, dim)
        if key not in self.strides:
            self.strides[key] = self._stride(value, dim)
        return self.strides[key]

    def _stride(self, value: Value, dim: int) -> Sym | None:
        ty, op = value.type, value.defining_op
        if not isinstance(ty, TensorType):
            return ZERO
        if ty.shape[dim] == 1:
            return ZERO
        form = self.of(value)
        if form is not None:
            return form.strides[dim]
        if isinstance(op, tt.ExpandDims):
            return self.stride_along(op.src, dim - (dim > op.axis))
        if isinstance(op, tt.Broadcast):
            return self.stride_along(op.src, dim)
        if isinstance(op, tt.Trans):
            return self.stride_along(op.src, op.order[dim])
        if isinstance(op, (arith.AddI, tt.AddPtr)):
            a, b = (self.stride_along(v, dim) for v in op.operands)
            return None if a is None or b is None else add(a, b)
        if isinstance(op, (arith.ExtSI, arith.ExtUI)):
            return self.stride_along(op.in_, dim)
        if isinstance(op, (arith.RemSI, arith.RemUI)):
            a, b = (self.stride_along(v, dim) for v in op.operands)
            return a if b == ZERO and a in (ZERO, ONE) else None
        if op is None or op.regions or not op.operands:
            return None
        return ZERO if all(self.stride_along(v, dim) == ZERO for v in op.operands if _has_shape_of(v, ty)) else None


def _has_shape_of(v: Value, ty: TensorType) -> bool:
    return isinstance(v.type, TensorType) and v.type.shape == ty.shape


@_affine(arith.Constant)
def _constant(a: Affinity, op: arith.Constant, ty: TensorType) -> AffineForm | None:
    number = op.splat_value()
    if not isinstance(number, int):
        return None
    return AffineForm(Num(number), (ZERO,) * ty.rank, ty.element)


@_affine(tt.Splat)
def _splat(a: Affinity, op: tt.Splat, ty: TensorType) -> AffineForm | None:
    zeros = (ZERO,) * ty.rank
    if isinstance(ty.element, tt.PointerType):
        return AffineForm(ZERO, zeros, i64, op.src)
    number = op.src.defining_op.splat_value() if isinstance(op.src.defining_op, arith.Constant) else None
    return AffineForm(Num(number) if isinstance(number, int) else Leaf(op.src), zeros, ty.element)


@_affine(tt.MakeRange)
def _make_range(a: Affinity, op: tt.MakeRange, ty: TensorType) -> AffineForm | None:
    return AffineForm(Num(op.start), (ONE,), ty.element)


@_affine(tt.ExpandDims)
def _expand_dims(a: Affinity, op: tt.ExpandDims, ty: TensorType) -> AffineForm | None:
    f = a.of(op.src)
    if f is None:
        return None
    return AffineForm(f.base, (*f.strides[: op.axis], ZERO, *f.strides[op.axis :]), f.type, f.pointer)


@_affine(tt.Broadcast)
def _broadcast(a: Affinity, op: tt.Broadcast, ty: TensorType) -> AffineForm | None:
    f = a.of(op.src)
    if f is None:
        return None
    strides = tuple(ZERO if n == 1 else s for n, s in zip(shape_of(op.src.type), f.strides))
    return AffineForm(f.base, strides, f.type, f.pointer)


@_affine(tt.Trans)
def _trans(a: Affinity, op: tt.Trans, ty: TensorType) -> AffineForm | None:
    f = a.of(op.src)
    return None if f is None else AffineForm(f.base, tuple(f.strides[k] for k in op.order), f.type, f.pointer)


@_affine(tt.Reshape)
def _reshape(a: Affinity, op: tt.Reshape, ty: TensorType) -> AffineForm | None:
    """From one dimension (others of size 1) to any number: the coordinate is the row-major position."""
    f = a.of(op.src)
    if f is None:
        return None
    real = [s for n, s in zip(shape_of(op.src.type), f.strides) if n > 1]
    if len(real) > 1:
        return AffineForm(f.base, (ZERO,) * ty.rank, f.type, f.pointer) if f.uniform else None
    step = real[0] if real else ZERO
    strides: list[Sym] = []
    for n in reversed(ty.shape):
        strides.append(step)
        step = mul(step, Num(n))
    return AffineForm(f.base, tuple(reversed(strides)), f.type, f.pointer)


@_affine(arith.AddI)
def _addi(a: Affinity, op: arith.AddI, ty: TensorType) -> AffineForm | None:
    x, y = a.of(op.lhs), a.of(op.rhs)
    if x is None or y is None:
        return None
    return AffineForm(add(x.base, y.base), tuple(map(add, x.strides, y.strides)), x.type)


@_affine(arith.SubI)
def _subi(a: Affinity, op: arith.SubI, ty: TensorType) -> AffineForm | None:
    x, y = a.of(op.lhs), a.of(op.rhs)
    if x is None or y is None:
        return None
    strides = tuple(add(s, negate(t)) for s, t in zip(x.strides, y.strides))
    return AffineForm(add(x.base, negate(y.base)), strides, x.type)


@_affine(arith.MulI)
def _muli(a: Affinity, op: arith.MulI, ty: TensorType) -> AffineForm | None:
    x, y = a.of(op.lhs), a.of(op.rhs)
    if x is None or y is None:
        return None
    if not y.uniform:
        x, y = y, x
    return _scaled(x, y.base) if y.uniform else None


def _scaled(f: AffineForm, factor: Sym) -> AffineForm:
    return AffineForm(mul(f.base, factor), tuple(mul(s, factor) for s in f.strides), f.type)


@_affine(arith.ShLI)
def _shli(a: Affinity, op: arith.ShLI, ty: TensorType) -> AffineForm | None:
    x, y = a.of(op.lhs), a.of(op.rhs)
    if x is None or y is None or not y.uniform or not isinstance(y.base, Num) or not 0 <= y.base.value < 31:
        return None
    return _scaled(x, Num(1 << y.base.value))


@_affine(arith.ExtSI, arith.ExtUI, arith.TruncI, arith.IndexCast)
def _extend(a: Affinity, op: Any, ty: TensorType) -> AffineForm | None:
    f = a.of(op.in_)
    if f is None:
        return None
    signed = not isinstance(op, arith.ExtUI)
    widens = isinstance(op, (arith.ExtSI, arith.ExtUI)) and not f.uniform
    if widens and not _fits(f, op.in_.type, signed) and not (a.hopeful and signed):
        return None
    strides = tuple(cast(s, f.type, ty.element, signed) for s in f.strides)
    return AffineForm(cast(f.base, f.type, ty.element, signed), strides, ty.element)


def _fits(f: AffineForm, ty: TensorType, signed: bool) -> bool:
    """True when all elements are known and in the range of the integer type."""
    if not isinstance(f.base, Num) or not isinstance(f.type, IntegerType):
        return False
    low = high = f.base.value
    for n, s in zip(ty.shape, f.strides):
        if not isinstance(s, Num):
            return False
        low, high = low + min(0, s.value * (n - 1)), high + max(0, s.value * (n - 1))
    half = 1 << (f.type.width - 1)
    return (-half if signed else 0) <= low and high < half


@_affine(arith.RemSI, arith.RemUI)
def _remainder(a: Affinity, op: Any, ty: TensorType) -> AffineForm | None:
    x, n = a.of(op.lhs), a.of(op.rhs)
    if x is None or n is None or not n.uniform:
        return None
    if not x.uniform and (not a.hopeful or not all(isinstance(s, Num) and s.value >= 0 for s in x.strides)):
        return None
    if x.uniform and isinstance(n.base, Num) and n.base.value == 0:
        return None
    return AffineForm(Remainder(x.base, n.base, isinstance(op, arith.RemSI)), x.strides, x.type)


@_affine(tt.AddPtr)
def _addptr(a: Affinity, op: tt.AddPtr, ty: TensorType) -> AffineForm | None:
    p, o = a.of(op.ptr), a.of(op.offset)
    if p is None or o is None:
        return None
    base = add(p.base, cast(o.base, o.type, i64, True))
    strides = tuple(add(s, cast(t, o.type, i64, True)) for s, t in zip(p.strides, o.strides))
    return AffineForm(base, strides, i64, p.pointer)


@_affine(tt.Bitcast)
def _bitcast(a: Affinity, op: tt.Bitcast, ty: TensorType) -> AffineForm | None:
    """Only pointers whose pointees are of one size keep their strides; the scalar is cast where it is used."""
    source = element_type(op.src.type)
    if isinstance(source, tt.PointerType) or isinstance(ty.element, tt.PointerType):
        return None
    return a.of(op.src) if source is ty.element else None
