"""Loop nests over the elements of a tile, one dimension of it in vectors."""

from __future__ import annotations

from collections.abc import Callable

from .evaluate import Evaluator, zero_index
from .lanes import Index, Lane, Strided, Uniform
from .peel import Peel
from .space import Space

__all__ = ["chunk_index", "outer_loops", "run_nest"]


def outer_loops(ev: Evaluator, space: Space, skip: int, body: Callable[[list[Lane]], None]) -> None:
    """Loops over every dimension but the vector axis and `skip`, the first outermost; `body` gets the index so far,
    with coordinate 0 in those two."""
    index: list[Lane] = [zero_index(ev)] * len(space.shape)
    dims = [d for d, n in enumerate(space.shape) if d not in (space.axis, skip) and n > 1]

    def descend(k: int) -> None:
        if k == len(dims):
            body(index)
            return
        d = dims[k]
        with ev.w.counted(0, space.shape[d], 1) as iv:
            index[d] = Uniform(iv, ev.w.depth)
            descend(k + 1)
        index[d] = zero_index(ev)

    descend(0)


def chunk_index(ev: Evaluator, space: Space, index: list[Lane], base: Lane) -> Index:
    """The index of the chunk that starts at `base` along the vector axis."""
    assert isinstance(base, Uniform)
    full = list(index)
    full[space.axis] = Strided(base.value, 1, base.level)
    return tuple(full)


def run_nest(ev: Evaluator, space: Space, body: Callable[[Index], None], peel: Peel | None = None) -> None:
    """Run `body` for every chunk (or element, without a vector axis) of the space; `peel` cuts the loop over chunks."""
    before, ev.lanes = ev.lanes, space.lanes

    def chunks(index: list[Lane]) -> None:
        if space.axis < 0:
            body(tuple(index))
            return
        extent = space.shape[space.axis]
        if extent == space.lanes:
            body(chunk_index(ev, space, index, zero_index(ev)))
            return
        if peel is None:
            with ev.w.counted(0, extent, space.lanes) as iv:
                body(chunk_index(ev, space, index, Uniform(iv, ev.w.depth)))
            return
        w = ev.w
        start, end, step = w.number(0), w.number(extent), w.number(space.lanes)
        middle = peel.split(ev, 0, extent, space.lanes)
        with peel.holding(ev), w.between(start, middle, step) as iv:
            body(chunk_index(ev, space, index, Uniform(iv, w.depth)))
        with w.between(middle, end, step) as iv:
            body(chunk_index(ev, space, index, Uniform(iv, w.depth)))

    outer_loops(ev, space, -1, chunks)
    ev.lanes = before
