"""rewrite-tensor-pointer: Lower block pointers to scalars, and their accesses to pointers and masks.

    %p = tt.make_tensor_ptr %base, [%n], [%s], [%o]     parts: base, shape n (i64), strides s (i64), offsets o (i64)
    %q = tt.advance %p, [%d]                            parts of %p with offset o + sext(d)
    tt.load %q {boundaryCheck = [0], padding = pad_nan} tt.load %pointers, %inside, %filler   (see `tile_access`)

Loops and branches carry the parts of block pointers (see `expand_values`). Dimensions not listed in `boundaryCheck` are
not checked. Without padding, elements out of bounds are zero.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..ir import Builder, Operation, TensorType, Type, functions_of, i64, pass_on
from .expand_values import Bundle, Expander
from .tile_access import Tile

__all__ = ["rewrite_tensor_pointer"]

_HINTS = ("cachePolicy", "isVolatile")


@pass_on("function")
def rewrite_tensor_pointer(op: Operation) -> bool:
    """Lower the block pointers of a function, or of all functions of a module."""
    changed = False
    for func in functions_of(op):
        if func.__class__ is not tt.Func:
            continue
        changed |= Expander(_parts_of, _HANDLERS).run(func)
    return changed


def _tile_type(ty: Type) -> TensorType | None:
    if isinstance(ty, tt.PointerType) and isinstance(ty.pointee, TensorType):
        return ty.pointee
    return None


def _parts_of(ty: Type) -> Bundle | None:
    tile = _tile_type(ty)
    if tile is None:
        return None
    base = tt.PointerType(tile.element, ty.address_space)  # type: ignore[attr-defined]
    names = [f"{word}_{d}" for word in ("shape", "stride", "offset") for d in range(tile.rank)]
    return [("", base), *((name, i64) for name in names)]


def _builder(op: Operation) -> Builder:
    return Builder(op.parent, op, op.loc)


def _make(op: Any, values: Expander) -> None:
    b = _builder(op)
    offsets = [b.add(arith.ExtSI(v, out=i64)) if v.type is not i64 else v for v in op.offsets]
    values.parts[op.result] = [op.base, *op.shape, *op.strides, *offsets]


def _advance(op: Any, values: Expander) -> None:
    b = _builder(op)
    parts = values.parts[op.ptr]
    steps = op.offsets
    moved = list(parts[: -len(steps)])
    for offset, step in zip(parts[-len(steps) :], steps):
        wide = b.add(arith.ExtSI(step, out=i64)) if step.type is not i64 else step
        moved.append(b.add(arith.AddI(offset, wide)))
    values.parts[op.result] = moved


def _tile(op: Any, values: Expander) -> Tile:
    tile = _tile_type(op.ptr.type)
    assert tile is not None
    base, *rest = values.parts[op.ptr]
    n = tile.rank
    return Tile(_builder(op), tile, base, rest[:n], rest[n : 2 * n], rest[2 * n :])


def _hints(op: Operation) -> dict[str, Any]:
    return {name: attr for name, attr in op.attributes.items() if name in _HINTS}


def _load(op: Any, values: Expander) -> None:
    tile = _tile(op, values)
    axes = tuple(op.boundaryCheck)
    filler = tile.filler(op.padding == tt.PaddingOption.pad_nan) if axes else None
    result = tile.load(axes, filler, _hints(op))
    result.hint = op.result.hint
    op.result.replace_all_uses_with(result)


def _store(op: Any, values: Expander) -> None:
    _tile(op, values).store(op.value, tuple(op.boundaryCheck), _hints(op))


_HANDLERS: dict[type[Operation], Any] = {
    tt.MakeTensorPtr: _make,
    tt.Advance: _advance,
    tt.Load: _load,
    tt.Store: _store,
}
