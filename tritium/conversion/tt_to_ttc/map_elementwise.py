"""Functions of scalars on every element of tiles: the region written out in a loop over groups of neighbours."""

from __future__ import annotations

from ...dialects import arith, tt
from ...ir import Value
from ...support import UnsupportedOperation
from .buffers import TileBuffer
from .lanes import Index, Uniform, tile_type
from .lowering import TileLowering, lowers
from .nests import run_nest
from .space import Space

__all__: list[str] = []


@lowers(tt.MapElementwise)
def _map(lowering: TileLowering, op: tt.MapElementwise) -> None:
    """One group of `pack` neighbours along the last dimension after the other; in it, branches are branches."""
    shape, pack = tile_type(op.srcs[0]).shape, int(op.pack)
    if shape[-1] % pack:
        raise UnsupportedOperation(op, f"of {pack} neighbours in rows of {shape[-1]} is not supported on the CPU")
    if len(op.regions[0].blocks) > 1:
        raise UnsupportedOperation(op, "with more than one block is not supported on the CPU")
    outputs = [TileBuffer.allocate(lowering.alloc, tile_type(r)) for r in op.results]
    groups = Space((*shape[:-1], shape[-1] // pack), -1, 1)
    run_nest(lowering.ev, groups, lambda index: _group(lowering, op, index, outputs))
    lowering.ev.buffers.update(zip(op.results, outputs))


def _group(lowering: TileLowering, op: tt.MapElementwise, index: Index, outputs: list[TileBuffer]) -> None:
    ev, pack = lowering.ev, int(op.pack)
    places = [(*index[:-1], _neighbour(lowering, index[-1], k, pack)) for k in range(pack)]
    arguments = [ev.at(v, place).value for v in op.srcs for place in places]  # type: ignore[union-attr]
    returned = _apply(lowering, op, arguments)
    for k, value in enumerate(returned):
        outputs[k // pack].write(ev.w, places[k % pack], Uniform(value, ev.w.depth), 1)


def _neighbour(lowering: TileLowering, group: object, k: int, pack: int) -> Uniform:
    """The place of the k-th element of a group along the last dimension."""
    w = lowering.ev.w
    assert isinstance(group, Uniform)
    at = group.value
    if pack > 1:
        at = w.place(arith.AddI(w.place(arith.MulI(at, w.number(pack, at.type))), w.number(k, at.type)))
    return Uniform(at, w.depth)


def _apply(lowering: TileLowering, op: tt.MapElementwise, arguments: list[Value]) -> list[Value]:
    """The region on these elements; its results."""
    w, block = lowering.ev.w, op.regions[0].blocks[0]
    mapping: dict[Value, Value] = dict(lowering.ev.scalars)
    mapping.update(zip(block.args, arguments, strict=True))
    for inner in block:
        w.loc = inner.loc
        if isinstance(inner, tt.MapElementwiseReturn):
            return [mapping[v] for v in inner.operands]
        w.place(inner.clone(mapping))
    raise UnsupportedOperation(op, "whose function does not return is not supported on the CPU")
