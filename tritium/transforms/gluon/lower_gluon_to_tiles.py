"""lower-gluon-to-tiles: Lower Gluon to programs on tiles, without layouts, for targets without threads.

    %b = ttg.local_alloc %x : (tensor<32x64xf32, #blocked>) -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : …
    %y = ttg.local_load %t : … -> tensor<64x32xf32, #blocked1>
    %z = ttg.convert_layout %y : … -> tensor<64x32xf32, #blocked2>

    %m = ttc.alloc : !ttc.buf<2048xf32>                     private memory: element (i, j) at 64 * i + j
    %p = ttc.address %m[0] : !ttc.buf<2048xf32>, i32
    tt.store (%p + …), %x : tensor<32x64x!tt.ptr<f32>>
    %y = tt.load (%p + …) : tensor<64x32x!tt.ptr<f32>>      at i + 64 * j; %z is %y

A buffer is memory in row-major order of its coordinates, and a view a pointer with a stride for each dimension, so that
views alias as they do in shared memory. Layouts affect no value but what `memdesc_reinterpret` reads: it is lowered
where both layouts are in row-major order. Asynchronous copies by threads are done at once; barriers and waits are
dropped, since a program is one thread. What only NVIDIA GPUs have is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from ...dialects import arith, gluon, tt, ttc, ttg, ttng
from ...dialects.ttg_maps import map_or_none
from ...dialects.ttg_memory import MemDescType
from ...ir import (
    Builder,
    DenseElementsAttr,
    FunctionType,
    Operation,
    TensorType,
    Type,
    TypeAttr,
    Value,
    bf16,
    count,
    functions_of,
    i1,
    i8,
    i16,
    i32,
    i64,
    pass_on,
)
from ...layout.bases import identity_bases
from ...support import UnsupportedOperation
from ...support.dataclasses import dataclass
from ..rules.constants import constant_attr
from ..tile_access import Tile

__all__ = ["lower_gluon_to_tiles"]

HINT = "run the kernel on an emulated GPU (TRITIUM_TARGET=emulated:90)"


@pass_on("module", statistics={"buffers": "buffers in shared memory that became private memory"})
def lower_gluon_to_tiles(module: Operation) -> bool:
    """Lower a module's functions. Raises UnsupportedOperation for what only GPUs have."""
    for func in functions_of(module):
        _Lowering(func).run()
    for op in module.walk():
        _without_layouts(op)
    for name in [name for name in module.attributes if name.startswith("ttg.")]:
        del module.attributes[name]
    return True


@dataclass(frozen=True)
class _View:
    """A part of a buffer: the address of its first element, and the stride of each dimension in elements."""

    base: Value
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def contiguous(self) -> bool:
        """Whether the elements are adjacent, in row-major order."""
        wanted = zip(self.shape, self.strides, _row_major(self.shape))
        return all(stride == step for n, stride, step in wanted if n > 1)


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def _pointee(pointer: Value) -> Type:
    """The type of what is at an address."""
    assert isinstance(pointer.type, tt.PointerType)
    return pointer.type.pointee


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _buffer(value: Value) -> MemDescType:
    assert isinstance(value.type, MemDescType)
    return value.type


class _Lowering:
    """The lowering of one function: the views that its buffers have become."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.views: dict[Value, _View] = {}
        self.b: Any = None

    def run(self) -> None:
        """Replace operations on buffers and layouts, operands before their users."""
        replaced: list[Operation] = []
        for op in list(self.func.walk()):
            lower = _LOWERINGS.get(type(op))
            if lower is None:
                self._require_portable(op)
                continue
            self.b = Builder(op.parent, op, op.loc)
            lower(self, op)
            replaced.append(op)
        for op in reversed(replaced):
            op.erase()

    def _require_portable(self, op: Operation) -> None:
        """Raise for an operation that has no meaning without threads, or that passes buffers on."""
        if op.name.startswith(("ttg.", "ttng.")):
            raise UnsupportedOperation(op, f"is an operation of NVIDIA GPUs: {HINT}")
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        if any(isinstance(v.type, MemDescType) for v in (*op.operands, *op.results, *arguments)):
            raise UnsupportedOperation(
                op, "passes a buffer in shared memory on: allocate one buffer with a further dimension, and index it"
            )

    # -- building -------------------------------------------------------------------------------------------------

    def tile(self, view: _View, shape: Sequence[int] | None = None, without: int | None = None) -> Tile:
        """The elements of a view as a tile; with `shape` of those, and with none along `without`."""
        strides = [0 if d == without else stride for d, stride in enumerate(view.strides)]
        element = _pointee(view.base)
        numbers = [self.number(stride, i64) for stride in strides]
        return Tile(self.b, TensorType(tuple(shape or view.shape), element), view.base, [], numbers, [])

    def number(self, value: int, ty: Type) -> Value:
        """A constant scalar."""
        found: Value = self.b.add(arith.Constant.of(value, ty))
        return found

    def moved(self, base: Value, elements: Value) -> Value:
        """The address that many elements further."""
        found: Value = self.b.add(tt.AddPtr(base, elements))
        return found

    def indexed(self, op: Any, buffer: Value) -> Value:
        """The addresses of a gather or scatter: those of the coordinates, with the indices at the axis."""
        view, axis, indices = self.views[buffer], op.axis, op.indices
        ty = indices.type
        pointers = self.tile(view, ty.shape, axis).pointers()
        if ty.element.width < 32:
            indices = self.b.add(arith.ExtSI(indices, out=TensorType(ty.shape, i32)))
            ty = indices.type
        plain = TensorType(ty.shape, ty.element)
        stride = self.b.add(tt.Splat(self.number(view.strides[axis], ty.element), result=plain))
        found: Value = self.b.add(tt.AddPtr(pointers, self.b.add(arith.MulI(indices, stride))))
        return found


Lower: TypeAlias = Callable[[_Lowering, Any], None]


def _forward(to: _Lowering, op: Any) -> None:
    """The operand itself."""
    op.results[0].replace_all_uses_with(op.operands[0])


def _drop(to: _Lowering, op: Any) -> None:
    """Nothing: a program is one thread, and memory is written at once."""


def _alloc(to: _Lowering, op: ttg.LocalAlloc) -> None:
    ty = _buffer(op.result)
    count("buffers")
    memory = to.b.add(ttc.Alloc(result=ttc.BufferType(prod(ty.shape), i8 if ty.element is i1 else ty.element)))
    base = to.b.add(ttc.Address(memory, to.number(0, i32)))
    if ty.element is i1:
        base = to.b.add(tt.Bitcast(base, result=tt.PointerType(i1)))
    to.views[op.result] = view = _View(base, tuple(ty.shape), _row_major(ty.shape))
    if op.src is not None:
        to.tile(view).store(op.src, (), {})


def _load(to: _Lowering, op: ttg.LocalLoad) -> None:
    op.result.replace_all_uses_with(to.tile(to.views[op.src]).load((), None, {}))


def _store(to: _Lowering, op: ttg.LocalStore) -> None:
    to.tile(to.views[op.dst]).store(op.src, (), {})


def _gather(to: _Lowering, op: ttg.LocalGather) -> None:
    op.result.replace_all_uses_with(to.b.add(tt.Load(to.indexed(op, op.src), None, None)))


def _scatter(to: _Lowering, op: ttg.LocalScatter) -> None:
    to.b.insert(tt.Store(to.indexed(op, op.dst), op.values, None))


def _atomic(to: _Lowering, op: ttg.LocalAtomicScatterRmw) -> None:
    pointers = to.indexed(op, op.dst)
    relaxed, scope = tt.MemSemantic.relaxed, tt.MemSyncScope.cta
    made = tt.AtomicRMW(op.atomic_rmw_op, pointers, op.values, op.mask, relaxed, scope)
    op.result.replace_all_uses_with(to.b.add(made))


def _copy(to: _Lowering, op: ttg.AsyncCopyGlobalToLocal) -> None:
    tile = to.tile(to.views[op.result])
    other = op.other
    if op.mask is not None and other is None:
        other = tile.filler(False)
    tile.store(to.b.add(tt.Load(op.src, op.mask, other)), (), {})


def _fp4_to_fp(to: _Lowering, op: ttg.Fp4ToFp) -> None:
    """Bits e2m1 at those of the lowest exponents and highest mantissa are the number scaled by a power of two."""
    b, ty, shape = to.b, _tensor(op.result), _tensor(op.src).shape
    element = ty.element
    wide = TensorType(shape, i16)
    bits = b.add(arith.ExtUI(op.src, out=wide))
    mantissa, scale = (6, 2.0**126) if element is bf16 else (9, 2.0**14)

    def constant(value: float, like: TensorType) -> Value:
        found: Value = b.add(arith.Constant.create([], [like], {"value": constant_attr(value, like)}))
        return found

    halves = []
    for shift in (0, 4):
        four = b.add(arith.ShRUI(bits, constant(shift, wide)))
        sign = b.add(arith.ShLI(b.add(arith.AndI(four, constant(8, wide))), constant(12, wide)))
        rest = b.add(arith.ShLI(b.add(arith.AndI(four, constant(7, wide))), constant(mantissa, wide)))
        plain = TensorType(shape, element)
        number = b.add(tt.Bitcast(b.add(arith.OrI(sign, rest)), result=plain))
        halves.append(b.add(arith.MulF(number, constant(scale, plain))))
    joined = b.add(tt.Join(*halves, result=TensorType((*shape, 2), element)))
    rank = len(shape)
    order = (*range(op.axis + 1), rank, *range(op.axis + 1, rank))
    pairs = b.add(tt.Trans(joined, order))
    op.result.replace_all_uses_with(b.add(tt.Reshape(pairs, result=_plain(ty))))


def _index(to: _Lowering, op: ttg.MemDescIndex) -> None:
    view = to.views[op.src]
    step = to.b.add(arith.MulI(op.index, to.number(view.strides[0], i32)))
    to.views[op.result] = _View(to.moved(view.base, step), view.shape[1:], view.strides[1:])


def _subslice(to: _Lowering, op: ttg.MemDescSubslice) -> None:
    view = to.views[op.src]
    offset = sum(at * stride for at, stride in zip(op.offsets, view.strides))
    shape = tuple(_buffer(op.result).shape)
    to.views[op.result] = _View(to.moved(view.base, to.number(offset, i32)), shape, view.strides)


def _trans(to: _Lowering, op: ttg.MemDescTrans) -> None:
    view, order = to.views[op.src], op.order
    to.views[op.result] = _View(view.base, tuple(view.shape[d] for d in order), tuple(view.strides[d] for d in order))


def _reshape(to: _Lowering, op: ttg.MemDescReshape) -> None:
    view, shape = to.views[op.src], tuple(_buffer(op.result).shape)
    if not view.contiguous:
        raise UnsupportedOperation(op, "of a buffer whose elements are not adjacent is not supported on CPUs")
    to.views[op.result] = _View(view.base, shape, _row_major(shape))


def _reinterpret(to: _Lowering, op: ttg.MemDescReinterpret) -> None:
    view, ty, source = to.views[op.src], _buffer(op.result), _buffer(op.src)
    same = (ty.element, ty.shape, ty.encoding) == (source.element, source.shape, source.encoding)
    plain = _in_row_major_order(ty) and _in_row_major_order(source)
    if not view.contiguous or i1 in (ty.element, source.element) or not (same or plain):
        raise UnsupportedOperation(
            op, f"reads bytes where their layout puts them, and CPUs keep buffers in row-major order: {HINT}"
        )
    base = view.base if same else to.b.add(tt.Bitcast(view.base, result=tt.PointerType(ty.element)))
    to.views[op.result] = _View(base, tuple(ty.shape), _row_major(ty.shape))


def _in_row_major_order(ty: MemDescType) -> bool:
    """Whether the elements are in shared memory in row-major order."""
    layout: Any = ty.encoding
    found = map_or_none(layout, tuple(ty.shape[-layout.rank :]))
    wanted = identity_bases(tuple(ty.shape[-layout.rank :]), tuple(range(layout.rank))[::-1])
    return found is not None and [tuple(b) for b in found.bases["offset"]] == [tuple(b) for b in wanted]


_LOWERINGS: dict[type[Operation], Lower] = {
    gluon.SetAutoLayout: _forward,
    ttg.ConvertLayout: _forward,
    ttg.Fp4ToFp: _fp4_to_fp,
    ttg.LocalAlloc: _alloc,
    ttg.LocalLoad: _load,
    ttg.LocalStore: _store,
    ttg.LocalGather: _gather,
    ttg.LocalScatter: _scatter,
    ttg.LocalAtomicScatterRmw: _atomic,
    ttg.AsyncCopyGlobalToLocal: _copy,
    ttg.MemDescIndex: _index,
    ttg.MemDescSubslice: _subslice,
    ttg.MemDescTrans: _trans,
    ttg.MemDescReshape: _reshape,
    ttg.MemDescReinterpret: _reinterpret,
    **dict.fromkeys((ttg.LocalDealloc, ttg.Barrier, ttg.AsyncCommitGroup, ttg.AsyncWait, ttng.ClusterBarrier), _drop),
}


# -- types ------------------------------------------------------------------------------------------------------------


def _plain(ty: Type) -> Type:
    """The type without a layout."""
    return _plain_tensor(ty) if isinstance(ty, TensorType) and ty.encoding is not None else ty


def _plain_tensor(ty: TensorType) -> TensorType:
    return TensorType(ty.shape, ty.element)


def _without_layouts(op: Operation) -> None:
    """Drop the layouts of an operation's types."""
    for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
        value.type = _plain(value.type)
    for name, attribute in op.attributes.items():
        if isinstance(attribute, DenseElementsAttr) and isinstance(attribute.type, TensorType):
            op.attributes[name] = DenseElementsAttr(attribute.values, _plain_tensor(attribute.type))
        elif isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType):
            ty = attribute.type
            op.attributes[name] = TypeAttr(FunctionType(tuple(map(_plain, ty.inputs)), tuple(map(_plain, ty.results))))
