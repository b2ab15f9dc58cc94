"""rewrite-tensor-descriptor-to-pointer: descriptors become scalars, and pointers and masks where memory is accessed.

    %d = tt.make_tensor_descriptor %base, [%n], [%s]    parts: base, shape (i64), strides (i64), nan padding (i1)
    %x = tt.descriptor_load %d[%i]                      a masked load of the tile at offsets %i, all dimensions checked
    tt.descriptor_store %d[%i], %x                      a masked store

The last stride is 1: whoever makes a descriptor has checked that.

A kernel's own descriptor arguments are replaced by the arguments `base, shape…, strides…`, shape and strides as i64,
in that order: this is what launchers pack. Their padding is known when compiling: NaN where the argument has the
attribute `tt.padding = 2 : i32` (`PaddingOption`), else zero. Descriptors that loops, branches and calls of functions
pass on travel as all their parts.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..ir import (
    ArrayAttr,
    Builder,
    FunctionType,
    Operation,
    TensorType,
    Type,
    TypeAttr,
    Value,
    functions_of,
    i1,
    i64,
    pass_on,
)
from .expand_values import Bundle, Expander
from .rules.constants import constant
from .tile_access import Tile

__all__ = ["rewrite_tensor_descriptor_to_pointer"]

_HINTS = ("cachePolicy",)


@pass_on("function")
def rewrite_tensor_descriptor_to_pointer(op: Operation) -> bool:
    """Rewrite the descriptors of a function, or of all functions of a module."""
    changed = False
    for func in functions_of(op):
        paddings = _argument_paddings(func)
        changed |= Expander(_parts_of, _HANDLERS).run(func)
        if paddings:
            _fix_paddings(func, paddings)
    return changed


def _argument_paddings(func: Any) -> list[tuple[int, bool]]:
    """Of a kernel: where the padding of each descriptor argument will stand, and what it is."""
    if func.sym_visibility == "private":
        return []
    found, at = [], 0
    attrs = func.arg_attrs.elements if func.arg_attrs is not None else [None] * len(func.entry.args)
    for arg, row in zip(func.entry.args, attrs):
        bundle = _parts_of(arg.type)
        at += 1 if bundle is None else len(bundle)
        if bundle is not None:
            padding = None if row is None else row.get("tt.padding")
            found.append((at - 1, padding is not None and padding.value == tt.PaddingOption.pad_nan))
    return found


def _fix_paddings(func: Any, paddings: list[tuple[int, bool]]) -> None:
    """Make the paddings constants and take their arguments away."""
    entry = func.entry
    for at, nan in reversed(paddings):
        known = constant(nan, i1)
        entry.prepend(known.defining_op)
        entry.args[at].replace_all_uses_with(known)
        entry.erase_argument(at)
        if func.arg_attrs is not None:
            rows = func.arg_attrs.elements
            func.attributes["arg_attrs"] = ArrayAttr((*rows[:at], *rows[at + 1 :]))
    ty = FunctionType(tuple(a.type for a in entry.args), func.function_type.results)
    func.attributes["function_type"] = TypeAttr(ty)


def _parts_of(ty: Type) -> Bundle | None:
    if not isinstance(ty, tt.TensorDescType):
        return None
    block = ty.block
    names = [f"{word}_{d}" for word in ("shape", "stride") for d in range(block.rank)]
    return [("", tt.PointerType(block.element)), *((name, i64) for name in names), ("nan", i1)]


def _make(op: Any, values: Expander) -> None:
    b = Builder(op.parent, op, op.loc)
    shape = [b.add(arith.ExtSI(v, out=i64)) if v.type is not i64 else v for v in op.shape]
    nan = b.add(arith.Constant.of(op.padding == tt.PaddingOption.pad_nan, i1))
    values.parts[op.result] = [op.base, *shape, *op.strides, nan]


def _tile(op: Any, ty: TensorType, values: Expander) -> tuple[Tile, Value]:
    b = Builder(op.parent, op, op.loc)
    base, *rest = values.parts[op.desc]
    n = ty.rank
    offsets = [b.add(arith.ExtSI(v, out=i64)) if v.type is not i64 else v for v in op.indices]
    strides = [*rest[n : 2 * n - 1], b.add(arith.Constant.of(1, i64))]
    return Tile(b, ty, base, rest[:n], strides, offsets), rest[-1]


def _hints(op: Operation) -> dict[str, Any]:
    return {name: attr for name, attr in op.attributes.items() if name in _HINTS}


def _load(op: Any, values: Expander) -> None:
    block = op.desc.type.block
    tile, nan = _tile(op, block, values)
    result = tile.load(tuple(range(block.rank)), tile.filler_chosen(nan), _hints(op))
    if op.result.type is not result.type:  # dimensions of size 1 left out
        result = tile.b.add(tt.Reshape(result, result=op.result.type))
    result.hint = op.result.hint
    op.result.replace_all_uses_with(result)


def _store(op: Any, values: Expander) -> None:
    block = op.desc.type.block
    tile, _ = _tile(op, block, values)
    value = op.src
    if value.type is not block:
        value = tile.b.add(tt.Reshape(value, result=block))
    tile.store(value, tuple(range(block.rank)), _hints(op))


_HANDLERS: dict[type[Operation], Any] = {
    tt.MakeTensorDescriptor: _make,
    tt.DescriptorLoad: _load,
    tt.DescriptorStore: _store,
}
