"""rewrite-tensor-descriptor-to-pointer: Lower tensor descriptors to scalars, and their accesses to pointers and masks.

    %d = tt.make_tensor_descriptor %base, [%n], [%s]    parts: base, shape (i64), strides (i64), nan padding (i1)
    %x = tt.descriptor_load %d[%i]                      a masked load of the tile at offsets %i, all dimensions checked
    tt.descriptor_store %d[%i], %x                      a masked store
    tt.descriptor_reduce add, %d[%i], %x                a masked atomic read-modify-write
    %x = tt.descriptor_gather %d[%rows, %j]             a masked load of pointers to the rows; scatter likewise

A kernel's descriptor arguments are replaced by the arguments `base, shape…, strides…`, shape and strides as i64, in
that order: launchers pass these, and have checked that the last stride is 1, and that base and other strides are
multiples of 16 bytes, which the arguments state (`tt.divisibility`). Their padding is a compile-time constant: NaN
where the argument has the attribute `tt.padding = 2 : i32` (`PaddingOption`), else zero. Descriptors forwarded by
loops, branches and calls are expanded into all their parts.

With `native`, the capability of a GPU with TMA, only those are lowered that TMA does not support
(`analysis/descriptors`), and copies of those that it does not always support (`uneven_rows`); with 0, all are lowered.
With `uneven`, only those are lowered whose tiles have a dimension that is no power of two, which `pad-shapes` then
pads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..analysis.descriptors import pointer_reasons, uneven_descriptors
from ..analysis.tma import EXPANDED, STAY
from ..dialects import arith, tt
from ..dialects.tt_types import PointerType
from ..dialects.ttg_switches import is_on
from ..ir import (
    UNIT,
    ArrayAttr,
    Builder,
    DictionaryAttr,
    FloatType,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Operation,
    StringAttr,
    TensorType,
    Type,
    TypeAttr,
    Value,
    functions_of,
    i1,
    i32,
    i64,
    pass_on,
    remark,
)
from ..support import UnsupportedOperation
from ..support.dataclasses import dataclass
from .expand_values import Bundle, Expander
from .rules.constants import constant, constant_attr
from .tile_access import Tile
from .uneven_rows import split_uneven_writes

__all__ = ["rewrite_tensor_descriptor_to_pointer"]

_HINTS = ("cachePolicy",)
_ALIGNMENT = 16  # bytes: of the base and the strides of a descriptor (see runtime.TensorDescriptor)


@dataclass(frozen=True)
class DescriptorOptions:
    """`native`: the capability of a GPU with TMA, 0 for all other targets.

    `uneven`: lower only descriptors of tiles that are not of powers of two.
    """

    native: int = 0
    uneven: bool = False


_MARK = StringAttr("pointers")
"""A placeholder for the layout in types of descriptors that are lowered while others are not."""


@pass_on("module")
def rewrite_tensor_descriptor_to_pointer(op: Operation, options: DescriptorOptions = DescriptorOptions()) -> bool:
    """Lower the descriptors of all functions of a module, or those that hardware does not support."""
    if options.uneven:
        return _rewrite(op, _marked_parts) if _mark(op, uneven_descriptors(op)) else False
    if options.native and is_on(op, "tma"):
        split = split_uneven_writes(op, options.native)
        marked = _mark(op, pointer_reasons(op, options.native))
        return _rewrite(op, _marked_parts) or split if marked else split
    return _rewrite(op, _parts_of)


def _mark(module: Operation, groups: list[tuple[list[Value], str]]) -> bool:
    """Mark the types of the descriptors to lower, with the reason for each group of them."""
    for group, reason in groups:
        maker = group[0].defining_op or group[0].owner.parent_op  # type: ignore[attr-defined]
        remark(maker, f"tensor descriptor lowered to pointers: TMA not used because {reason}")
        for value in group:
            block = value.type.block  # type: ignore[attr-defined]
            value.type = tt.TensorDescType(TensorType(block.shape, block.element, _MARK))
    if groups:
        _record_descriptor_parameters(module)
        for op in module.walk():
            if isinstance(op, tt.Return) and any(_is_marked(v.type) for v in op.operands):
                func: Any = op.parent_op
                results = tuple(v.type for v in op.operands)
                func.attributes["function_type"] = TypeAttr(FunctionType(func.function_type.inputs, results))
    return bool(groups)


def _record_descriptor_parameters(module: Operation) -> None:
    """Record which descriptor parameters a launch passes as descriptors, in order, for a kernel with both kinds."""
    for func in functions_of(module):
        types = [a.type for a in func.entry.args if isinstance(a.type, tt.TensorDescType)]  # type: ignore[attr-defined]
        stay = [not _is_marked(ty) for ty in types]
        before: Any = func.attributes.pop(STAY, None)
        if before is not None:  # some were lowered earlier
            left = iter(stay)
            stay = [bool(v.value) and next(left) for v in before.elements]
        if any(stay) and not all(stay):
            func.attributes[STAY] = ArrayAttr(tuple(IntegerAttr(int(v), i1) for v in stay))


def _is_marked(ty: Type) -> bool:
    return isinstance(ty, tt.TensorDescType) and ty.block.encoding is _MARK


def _marked_parts(ty: Type) -> Bundle | None:
    return _parts_of(ty) if _is_marked(ty) else None


def _rewrite(op: Operation, parts_of: Callable[[Type], Bundle | None]) -> bool:
    changed = False
    for func in functions_of(op):
        if func.__class__ is not tt.Func:
            continue
        arguments = _kernel_arguments(func, parts_of)
        changed |= Expander(parts_of, _HANDLERS).run(func)
        if arguments:
            _fix_arguments(func, arguments)
    return changed


class _Argument(NamedTuple):
    """A descriptor parameter: the index of its padding, its tile, and whether it pads with NaN."""

    at: int
    block: TensorType
    nan: bool

    def known(self) -> dict[int, int]:
        """Known divisibility of the parts, from the requirements on the host's descriptors (see TensorDescriptor)."""
        rank, bytes_each = self.block.rank, max(1, self.block.element.width // 8)
        strides = range(self.at - rank, self.at - 1)
        return {self.at - 2 * rank - 1: _ALIGNMENT, **dict.fromkeys(strides, max(1, _ALIGNMENT // bytes_each))}


def _kernel_arguments(func: Any, parts_of: Callable[[Type], Bundle | None]) -> list[_Argument]:
    """The descriptors among a kernel's arguments."""
    if func.sym_visibility == "private" or _is_called(func):
        return []
    found, at = [], 0
    attrs = func.arg_attrs.elements if func.arg_attrs is not None else [None] * len(func.entry.args)
    for arg, row in zip(func.entry.args, attrs):
        bundle = parts_of(arg.type)
        at += 1 if bundle is None else len(bundle)
        if bundle is not None:
            padding = None if row is None else row.get("tt.padding")
            nan = padding is not None and padding.value == tt.PaddingOption.pad_nan
            found.append(_Argument(at - 1, _tile_of(arg), nan))
    return found


def _is_called(func: Any) -> bool:
    """True when a function has callers in the module, so that its arguments are not passed by launchers."""
    module = func.parent_op
    if module is None or not any(_parts_of(arg.type) for arg in func.entry.args):
        return False
    return any(op.__class__ is tt.Call and op.callee == func.sym_name for op in module.walk())


def _fix_arguments(func: Any, arguments: list[_Argument]) -> None:
    """Replace the paddings and the last stride, which is 1, by constants, and remove their arguments.

    Divisibility is stated for the other parts.
    """
    entry = func.entry
    func.attributes[EXPANDED] = UNIT
    rows = [DictionaryAttr({})] * len(entry.args) if func.arg_attrs is None else list(func.arg_attrs.elements)
    for argument in reversed(arguments):
        at = argument.at
        one = constant(1, i64)
        entry.prepend(one.defining_op)
        entry.args[at - 1].replace_all_uses_with(one)
        known = constant(argument.nan, i1)
        entry.prepend(known.defining_op)
        entry.args[at].replace_all_uses_with(known)
        for i, divisor in argument.known().items():
            rows[i] = DictionaryAttr({**dict(rows[i].entries), "tt.divisibility": IntegerAttr(divisor, i32)})
        entry.erase_argument(at)
        del rows[at]
    func.attributes["arg_attrs"] = ArrayAttr(tuple(rows))
    ty = FunctionType(tuple(a.type for a in entry.args), func.function_type.results)
    func.attributes["function_type"] = TypeAttr(ty)


def _parts_of(ty: Type) -> Bundle | None:
    if not isinstance(ty, tt.TensorDescType):
        return None
    block = ty.tile
    names = [f"{word}_{d}" for word in ("shape", "stride") for d in range(block.rank)]
    return [("", tt.PointerType(block.element)), *((name, i64) for name in names), ("nan", i1)]


def _tile_of(desc: Value) -> TensorType:
    """The type of a descriptor's tile, without the mark."""
    tile: TensorType = desc.type.tile  # type: ignore[attr-defined]
    return TensorType(tile.shape, tile.element) if tile.encoding is _MARK else tile


def _make(op: Any, values: Expander) -> None:
    b = Builder(op.parent, op, op.loc)
    shape = [b.add(arith.ExtSI(v, out=i64)) if v.type is not i64 else v for v in op.shape]
    nan = b.add(arith.Constant.of(op.padding == tt.PaddingOption.pad_nan, i1))
    values.parts[op.result] = [op.base, *shape, *op.strides, nan]


def _no_layouts(op: Any) -> None:
    """Raise for an access in a program with layouts: pointers and masks would need layouts as well."""
    types = [_tile_of(op.desc), *(v.type for v in (*op.operands, *op.results))]
    if any(isinstance(ty, TensorType) and ty.encoding is not None for ty in types):
        raise UnsupportedOperation(op, "tensors have layouts here; descriptors must be lowered before")


def _tile(op: Any, ty: TensorType, values: Expander) -> tuple[Tile, Value]:
    _no_layouts(op)
    b = Builder(op.parent, op, op.loc)
    base, *rest = values.parts[op.desc]
    n = ty.rank
    offsets = [_wide(b, v) for v in op.indices]
    return Tile(b, ty, base, rest[:n], rest[n : 2 * n], offsets), rest[-1]


def _wide(b: Builder, v: Value) -> Value:
    return b.add(arith.ExtSI(v, out=i64)) if v.type is not i64 else v  # type: ignore[no-any-return]


def _hints(op: Operation) -> dict[str, Any]:
    return {name: attr for name, attr in op.attributes.items() if name in _HINTS}


def _load(op: Any, values: Expander) -> None:
    block = _tile_of(op.desc)
    tile, nan = _tile(op, block, values)
    result = tile.load(tuple(range(block.rank)), tile.filler_chosen(nan), _hints(op))
    if op.result.type is not result.type:  # dimensions of size 1 dropped
        result = tile.b.add(tt.Reshape(result, result=op.result.type))
    result.hint = op.result.hint
    op.result.replace_all_uses_with(result)


def _store(op: Any, values: Expander) -> None:
    block = _tile_of(op.desc)
    tile, _ = _tile(op, block, values)
    value = _in_shape(tile.b, op.src, block)
    tile.store(value, tuple(range(block.rank)), _hints(op))


def _in_shape(b: Builder, value: Value, block: TensorType) -> Value:
    return value if value.type is block else b.add(tt.Reshape(value, result=block))  # type: ignore[no-any-return]


# -- rows ---------------------------------------------------------------------------------------------------------


class _Rows(Tile):
    """The rows with indices `rows` of a tensor of two dimensions, from a column on."""

    def __init__(self, op: Any, ty: TensorType, values: Expander) -> None:
        _no_layouts(op)
        b = Builder(op.parent, op, op.loc)
        base, rows, columns, *strides, self.nan = values.parts[op.desc]
        zero = b.add(arith.Constant.of(0, i64))
        super().__init__(b, ty, base, [rows, columns], strides, [zero, _wide(b, op.y_offset)])
        self.rows = b.add(arith.ExtSI(op.x_offsets, out=TensorType(op.x_offsets.type.shape, i64)))

    def pointers(self) -> Value:
        """base + row * stride 0 + column * stride 1"""
        b, (count, width) = self.b, self.ty.shape
        offsets = b.add(arith.MulI(self.rows, b.add(tt.Splat(self.strides[0], result=self.rows.type))))
        start = b.add(tt.AddPtr(self.base, b.add(arith.MulI(self.offsets[1], self.strides[1]))))
        pointers = b.add(tt.Splat(start, result=TensorType((count, width), self.base.type)))
        pointers = b.add(tt.AddPtr(pointers, self.along(offsets, 0)))
        wide = TensorType((width,), i64)
        steps = b.add(arith.ExtSI(b.add(tt.MakeRange(0, width)), out=wide))
        steps = b.add(arith.MulI(steps, b.add(tt.Splat(self.strides[1], result=wide))))
        return b.add(tt.AddPtr(pointers, self.along(steps, 1)))  # type: ignore[no-any-return]

    def inside_axis(self, d: int) -> Value:
        """0 <= row < rows, or the columns of a tile."""
        if d == 1:
            return super().inside_axis(d)
        b, wide = self.b, self.rows.type
        zero = b.add(tt.Splat(self.offsets[0], result=wide))
        above = b.add(arith.CmpI(arith.CmpIPredicate.sge, self.rows, zero))
        below = b.add(arith.CmpI(arith.CmpIPredicate.slt, self.rows, b.add(tt.Splat(self.shape[0], result=wide))))
        return b.add(arith.AndI(above, below))  # type: ignore[no-any-return]


def _gather(op: Any, values: Expander) -> None:
    tile = _Rows(op, op.result.type, values)
    result = tile.load((0, 1), tile.filler_chosen(tile.nan), _hints(op))
    result.hint = op.result.hint
    op.result.replace_all_uses_with(result)


def _scatter(op: Any, values: Expander) -> None:
    _Rows(op, op.src.type, values).store(op.src, (0, 1), _hints(op))


# -- reductions to memory ---------------------------------------------------------------------------------------------

_KIND, _RMW = tt.DescriptorReduceKind, tt.AtomicOp
_INTEGERS = {  # kind -> operation for signed integers, for unsigned ones
    _KIND.add: (_RMW.add, _RMW.add),
    _KIND.min: (_RMW.min, _RMW.umin),
    _KIND.max: (_RMW.max, _RMW.umax),
    _KIND._and: (_RMW._and, _RMW._and),
    _KIND._or: (_RMW._or, _RMW._or),
    _KIND.xor: (_RMW.xor, _RMW.xor),
}


def _reduce(op: Any, values: Expander) -> None:
    block = _tile_of(op.desc)
    element = op.desc.type.block.element
    if isinstance(element, IntegerType):
        operation = _INTEGERS[op.kind][element.signedness == "u"] if op.kind in _INTEGERS else None
    else:
        operation = _RMW.fadd if op.kind is _KIND.add else None
    extremum = isinstance(element, FloatType) and op.kind in (_KIND.min, _KIND.max)
    if operation is None and not extremum:
        raise UnsupportedOperation(op, f"{op.kind.name.strip('_')} of {element} needs hardware that reads descriptors")
    tile, _ = _tile(op, block, values)
    value = _in_shape(tile.b, op.src, block)
    mask = tile.inside(tuple(range(block.rank)))
    if extremum:
        _float_extremum(tile, op.kind, value, mask)
    else:
        _change(tile.b, operation, tile.pointers(), value, mask)


def _change(b: Any, operation: Any, pointers: Value, value: Value, mask: Value) -> None:
    order, scope = tt.MemSemantic.release, tt.MemSyncScope.gpu
    b.insert(tt.AtomicRMW(operation, pointers, value, mask, order, scope, result=value.type))


def _float_extremum(tile: Any, kind: Any, value: Any, mask: Value) -> None:
    """The float minimum or maximum by integer atomics on the bits: nonnegative floats are ordered like signed integers,
    negative ones in reverse like unsigned, and there the larger of two is negative if one of them is."""
    b = tile.b
    integer = IntegerType(value.type.element.width)
    shaped = TensorType(value.type.shape, integer, value.type.encoding)
    bits = b.add(arith.Bitcast(value, out=shaped))
    pointers = tile.pointers()
    place = TensorType(value.type.shape, PointerType(integer, 1), value.type.encoding)
    pointers = b.add(tt.Bitcast(pointers, result=place))
    zero = b.add(arith.Constant.create([], [shaped], {"value": constant_attr(0, shaped)}))
    upper, lower = (_RMW.max, _RMW.umin) if kind is _KIND.max else (_RMW.min, _RMW.umax)
    for operation, side in ((upper, arith.CmpIPredicate.sge), (lower, arith.CmpIPredicate.slt)):
        here = b.add(arith.AndI(mask, b.add(arith.CmpI(side, bits, zero))))
        _change(b, operation, pointers, bits, here)


_HANDLERS: dict[type[Operation], Any] = {
    tt.MakeTensorDescriptor: _make,
    tt.DescriptorLoad: _load,
    tt.DescriptorStore: _store,
    tt.DescriptorGather: _gather,
    tt.DescriptorScatter: _scatter,
    tt.DescriptorReduce: _reduce,
}
