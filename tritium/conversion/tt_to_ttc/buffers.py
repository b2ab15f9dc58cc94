"""Tiles in scratch memory: where each element lies, and reading and writing them by coordinates."""

from __future__ import annotations

from ...dialects import arith, tt, ttc
from ...ir import FloatType, IntegerType, TensorType, Type, Value, VectorType, element_type, i1, i8, with_element
from ...support.dataclasses import dataclass
from .lanes import Index, Lane, Strided, Uniform, Vec
from .writer import Writer

__all__ = ["TileBuffer", "convert_element", "row_major", "stored_type"]


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements, last dimension fastest.

    >>> row_major((4, 8))
    (8, 1)
    """
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def stored_type(ty: Type) -> Type:
    """The type of an element in scratch memory: i1 takes a byte."""
    return i8 if ty is i1 else ty


@dataclass(frozen=True, eq=False)
class TileBuffer:
    """A tile in scratch memory.

    `base` is a ttc buffer value, `shape` and `strides` are in elements, `offset` is that of element (0, …),
    `stored` the element type in memory and `element` the one it stands for.
    """

    base: Value
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: Type
    stored: Type
    offset: int = 0

    @classmethod
    def allocate(cls, alloc: Writer, ty: TensorType, stored: Type | None = None) -> TileBuffer:
        """Fresh row-major scratch for a tile of type `ty`; `alloc` writes at the start of the function."""
        memory = stored_type(ty.element) if stored is None else stored
        base = alloc.place(ttc.Alloc(result=ttc.BufferType(ty.numel, memory)))
        return cls(base, ty.shape, row_major(ty.shape), ty.element, memory)

    def reshaped(self, shape: tuple[int, ...]) -> TileBuffer:
        """The same row-major memory under another shape."""
        return TileBuffer(self.base, shape, row_major(shape), self.element, self.stored, self.offset)

    def place_of(self, w: Writer, index: Index) -> Lane:
        """The element offset of the lanes at `index`."""
        total, lane_stride, level = w.number(self.offset), 0, 0
        vector: Value | None = None
        for at, stride in zip(index, self.strides, strict=True):
            level = max(level, at.level)
            if isinstance(at, Vec):
                scaled = w.times_vector(at.value, stride, at.level)
                vector = scaled if vector is None else w.add(vector, scaled, level)
                continue
            assert isinstance(at, (Uniform, Strided))
            base = at.value if isinstance(at, Uniform) else at.base
            total = w.add(total, w.times(base, stride, at.level), level)
            if isinstance(at, Strided):
                assert isinstance(at.stride, int)
                lane_stride += at.stride * stride
        if vector is not None:
            assert isinstance(vector.type, VectorType)
            lanes = vector.type.numel
            rest = w.vector(Strided(total, lane_stride, level) if lane_stride else Uniform(total, level), lanes)
            return Vec(w.add(vector, rest, level), level)
        return Strided(total, lane_stride, level) if lane_stride else Uniform(total, level)

    def pointer(self, w: Writer, offset: Value, level: int) -> Value:
        """The address of an element."""
        return w.place(ttc.Address(self.base, offset), level)

    def read(self, w: Writer, index: Index, lanes: int) -> Lane:
        """The lanes at `index`, as `element`."""
        at = self.place_of(w, index)
        level = at.level
        if isinstance(at, Uniform):
            loaded = w.place(ttc.Load(self.pointer(w, at.value, level), result=self.stored), level)
            return Uniform(convert_element(w, loaded, self.element, level), level)
        vector = VectorType((lanes,), self.stored)
        if isinstance(at, Strided) and at.stride == 1:
            loaded = w.place(ttc.Load(self.pointer(w, at.base, level), result=vector), level)
        else:
            offsets = w.vector(at, lanes)
            base = self.pointer(w, w.number(0), 0)
            loaded = w.place(ttc.Gather(w.place(ttc.OffsetPointer(base, offsets), level), result=vector), level)
        return Vec(convert_element(w, loaded, self.element, level), level)

    def write(self, w: Writer, index: Index, value: Lane, lanes: int) -> None:
        """Store the lanes at `index`, converted to the stored type; always in the innermost loop."""
        at = self.place_of(w, index)
        level = w.depth
        if isinstance(at, Uniform):
            assert isinstance(value, Uniform), "several lanes for one element"
            w.place(ttc.Store(self.pointer(w, at.value, level), convert_element(w, value.value, self.stored, level)))
            return
        data = convert_element(w, w.vector(value, lanes), self.stored, level)
        if isinstance(at, Strided) and at.stride == 1:
            w.place(ttc.Store(self.pointer(w, at.base, level), data))
            return
        base = self.pointer(w, w.number(0), 0)
        w.place(ttc.Scatter(w.place(ttc.OffsetPointer(base, w.vector(at, lanes))), data))


def convert_element(w: Writer, value: Value, ty: Type, level: int) -> Value:
    """A scalar or vector with its element type changed to `ty`, by value; i1 in a byte is 0 or 1."""
    source = element_type(value.type)
    if source is ty:
        return value
    result = with_element(value.type, ty)
    if isinstance(source, FloatType) and isinstance(ty, FloatType):
        if 8 in (source.width, ty.width):
            rounding = tt.RoundingMode.rtne if ty.width < source.width else None
            return w.place(tt.FpToFp(value, rounding, result=result), level)
        cls = arith.ExtF if ty.width > source.width else arith.TruncF
        return w.place(cls(value, out=result), level)
    assert isinstance(source, IntegerType) and isinstance(ty, IntegerType), f"{source} to {ty}"
    if source.width > ty.width:
        return w.place(arith.TruncI(value, out=result), level)
    return w.place((arith.ExtUI if source is i1 else arith.ExtSI)(value, out=result), level)
