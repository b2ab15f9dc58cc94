"""collapse-dims: Merge adjacent dimensions of tiles that no operation distinguishes.

    %y = arith.addf %x, %x : tensor<2x2x2x2xf32>       =>   %y = arith.addf %x, %x : tensor<2x2x4xf32>
    %s = "tt.reduce"(%y) <{axis = 1}>                  =>   %s = "tt.reduce"(%y) <{axis = 1}>
         : (tensor<2x2x2x2xf32>) -> tensor<2x2x2xf32>            : (tensor<2x2x4xf32>) -> tensor<2x4xf32>

Sorting networks are written on hypercubes, tiles of shape 2x2x…x2, with a reduction or a broadcast along one dimension
at a time. As loops over dimensions of size 2 they are deep, and their vectors have two elements.

Which boundaries between dimensions must be kept is decided for groups of connected values, which have one shape:

| operation | boundaries kept |
|---|---|
| reduction | both boundaries of its axis |
| broadcast | those between broadcast dimensions and others |
| elementwise | those that another operand or result needs |
| reshape, splat, constant of one value | none: each use gets a copy of its own shape |
| all other operations, values of loops and branches | all |

A tile of four dimensions or more that is reduced along another axis starts a new group, and is reshaped for it: the
row-major order is kept, so that the reshape is another view of a buffer. Groups do not grow beyond `MAX_BOUNDARIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple

from ..dialects import arith, tt, ub
from ..ir import (
    ELEMENTWISE,
    DenseElementsAttr,
    IntegerAttr,
    Operation,
    TensorType,
    Value,
    functions_of,
    i32,
    pass_on,
    shape_of,
)

__all__ = ["MAX_BOUNDARIES", "collapse_dims"]

MAX_BOUNDARIES = 4

_SMALL_RANK = 3  # tiles of up to three dimensions stay in one group, without reshapes
_HINTS = ("tt.divisibility", "tt.contiguity", "tt.constancy")  # one integer for each dimension


@pass_on("function")
def collapse_dims(op: Operation) -> bool:
    """Merge adjacent dimensions of tiles that no operation distinguishes."""
    return sum(_Function(func).run() for func in functions_of(op)) > 0


class _Group:
    """Values in which a boundary is kept in all or in none. Boundary `i` is the one before dimension `i`."""

    numbers = count()

    def __init__(self, needed: Iterable[int] = (), axes: Iterable[int] = ()) -> None:
        self.number = next(self.numbers)
        self.needed = set(needed)
        self.axes = set(axes)  # boundaries of reductions
        self.into: _Group | None = None

    @property
    def root(self) -> _Group:
        """The group that this one was merged into, or itself."""
        group = self
        while group.into is not None:
            group = group.into
        return group


class _Place(NamedTuple):
    """A value in a group: `boundaries[i - 1]` is the group's index of boundary `i`. For the result of a reduction,
    `source` is the axis and the boundaries of its operand."""

    group: _Group
    boundaries: tuple[int, ...]
    source: tuple[int, tuple[int, ...]] | None = None

    @property
    def kept(self) -> list[int]:
        """The boundaries of the value that are kept."""
        needed = self.group.root.needed
        return [at for at, number in enumerate(self.boundaries, 1) if number in needed]


def _rank(value: Value) -> int:
    return len(shape_of(value.type))


def _all(rank: int) -> tuple[int, ...]:
    return tuple(range(1, rank))


class _Function:
    """The groups of one function's values."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.places: dict[Value, _Place] = {}  # of values in a group
        self.views: list[tuple[Operation, int, _Place]] = []  # operands that become copies or reshapes
        self.axes: list[tuple[Any, _Place]] = []  # operations with a dimension of this place as attribute

    def run(self) -> bool:
        """Compute the groups, and change the shapes of all values; returns whether any changed."""
        for op in self.func.walk():
            if op is not self.func:
                _VISIT.get(op.__class__, _visit_other)(self, op)
        types = {value: _merged(value.type, place.kept) for value, place in self.places.items()}
        views = [(op, at, _merged(op.operands[at].type, place.kept)) for op, at, place in self.views]
        changed = [value for value, ty in types.items() if value.type is not ty]
        for value in changed:
            value.type = types[value]
        for op, place in self.axes:
            op.attributes["axis"] = IntegerAttr(sum(at <= op.axis for at in place.kept), i32)
        for op, at, ty in views:
            _view(op, at, ty)
        for op in list(self.func.walk()) if changed else ():
            if isinstance(op, tt.Reshape) and op.src.type is op.result.type:
                op.result.replace_all_uses_with(op.src)
                op.erase()
        return bool(changed)

    def join(self, op: Operation, operands: Sequence[int]) -> _Place | None:
        """Merge the groups of operands and return their place; operands that cannot be in it become views. None if none
        has a place."""
        known = [self.places[op.operands[at]] for at in operands if op.operands[at] in self.places]
        if not known:
            return None
        newest = max(known, key=lambda place: place.group.root.number)
        for place in known:
            _merge(newest, place)
        return self.see(op, operands, newest)

    def start(self, op: Operation, operands: Sequence[int], needed: Iterable[int], axes: Iterable[int] = ()) -> _Place:
        """The place of operands in a new group."""
        return self.see(op, operands, _Place(_Group(needed, axes), _all(_rank(op.operands[operands[0]]))))

    def see(self, op: Operation, operands: Sequence[int], place: _Place) -> _Place:
        """Put operands into a place, as views where they have another."""
        for at in operands:
            own = self.places.get(op.operands[at])
            if own is None or own.group.root is not place.group.root or own.boundaries != place.boundaries:
                self.views.append((op, at, place))
        return place


def _merge(place: _Place, other: _Place) -> None:
    """Merge two groups where their shapes allow it."""
    mine, its = place.group.root, other.group.root
    if mine is its or place.boundaries != other.boundaries:
        return
    same_axes = its.axes == mine.axes or not its.axes or not mine.axes or len(place.boundaries) < _SMALL_RANK
    if same_axes and len(mine.needed | its.needed) <= MAX_BOUNDARIES:
        mine.needed |= its.needed
        mine.axes |= its.axes
        its.into = mine


def _needs(place: _Place | None, boundaries: Iterable[int]) -> bool:
    """Keep boundaries of a place; False where there is none, or the group would exceed the limit."""
    if place is None:
        return False
    needed = place.group.root.needed | {place.boundaries[at - 1] for at in boundaries}
    if len(needed) > max(MAX_BOUNDARIES, len(place.group.root.needed)):
        return False
    place.group.root.needed = needed
    return True


# -- boundaries kept by operations ---------------------------------------------------------------------------------


def _visit_other(f: _Function, op: Operation) -> None:
    tiles = [at for at, v in enumerate(op.operands) if _rank(v) > 1]
    results = [r for r in op.results if _rank(r) > 1]
    shapes = {shape_of(v.type) for v in (*(op.operands[at] for at in tiles), *results)}
    by_element = op.traits & ELEMENTWISE and not op.regions and not any(hint in op.attributes for hint in _HINTS)
    if by_element and tiles and len(shapes) == 1:
        place = f.join(op, tiles) or f.start(op, tiles, ())
        f.places |= dict.fromkeys(results, place)
        return
    for at in tiles:
        own = f.places.get(op.operands[at])
        if own is not None and not _needs(own, _all(_rank(op.operands[at]))):
            f.start(op, [at], _all(_rank(op.operands[at])))
    for r in results:
        if _rank(r) <= _SMALL_RANK:
            f.places[r] = _Place(_Group(_all(_rank(r))), _all(_rank(r)))


def _visit_free(f: _Function, op: Any) -> None:
    if op.__class__ is arith.Constant and op.splat_value() is None:
        _visit_other(f, op)


def _visit_broadcast(f: _Function, op: Any) -> None:
    if _rank(op.result) > 1:
        needed = _borders(op.src.type.shape, op.result.type.shape)
        place = f.places.get(op.src)
        if place is None or not _needs(place, needed):
            place = f.start(op, [0], needed)
        f.places[op.result] = _Place(place.group, place.boundaries)


def _borders(source: Sequence[int], result: Sequence[int]) -> list[int]:
    """The boundaries between broadcast dimensions and others; a dimension of size 1 belongs to those before it.

    >>> _borders((1, 1, 2, 1), (4, 4, 2, 1)), _borders((1, 8), (1, 8))
    ([2], [])
    """
    kinds = [None if n == 1 else m != n for m, n in zip(source, result)]
    last = next((kind for kind in kinds if kind is not None), None)
    borders = []
    for at, kind in enumerate(kinds):
        if kind is not None and kind is not last:
            borders.append(at)
            last = kind
    return borders


def _visit_expand_dims(f: _Function, op: Any) -> None:
    axis, rank = op.axis, _rank(op.result)
    if rank < 2:
        return
    own = f.places.get(op.src)
    if own is not None and own.source is not None and own.source[0] == axis:  # the axis that a reduction removed
        place = _Place(own.group, own.source[1])
    else:
        place = _Place(_Group(at for at in (axis, axis + 1) if 0 < at < rank), _all(rank))
        f.see(op, [0], _Place(place.group, tuple(at if at < axis else at + 1 for at in _all(rank - 1))))
    f.axes.append((op, place))
    f.places[op.result] = place


def _visit_reduce(f: _Function, op: Any) -> None:
    axis, rank, operands = op.axis, _rank(op.operands[0]), range(len(op.operands))
    if rank < 2:
        return
    around = [at for at in (axis, axis + 1) if 0 < at < rank]
    place = f.join(op, operands)
    numbers = {place.boundaries[at - 1] for at in around} if place is not None else set()
    root = place.group.root if place is not None else _Group()
    other_axis = root.axes and numbers != root.axes and rank > _SMALL_RANK
    if place is None or other_axis or not _needs(place, around):
        f.views = [view for view in f.views if view[0] is not op]
        place = f.start(op, operands, around, around)
    else:
        place.group.root.axes |= numbers
    f.axes.append((op, place))
    whole = place.boundaries
    boundaries = tuple(whole[at - 1] if at <= axis else whole[at] for at in _all(rank - 1))
    f.places |= {r: _Place(place.group, boundaries, (axis, whole)) for r in op.results if _rank(r) > 0}


_VISIT: dict[type, Callable[[_Function, Any], None]] = {
    tt.Reshape: _visit_free,
    tt.Splat: _visit_free,
    arith.Constant: _visit_free,
    ub.Poison: _visit_free,
    tt.Broadcast: _visit_broadcast,
    tt.ExpandDims: _visit_expand_dims,
    tt.Reduce: _visit_reduce,
}


# -- rewriting ---------------------------------------------------------------------------------------------------------


def _merged(ty: Any, kept: Sequence[int]) -> TensorType:
    """The type with the dimensions between kept boundaries merged."""
    shape = [1]
    for at, size in enumerate(ty.shape):
        if at in kept:
            shape.append(1)
        shape[-1] *= size
    return ty if tuple(shape) == ty.shape else TensorType(tuple(shape), ty.element)


def _view(op: Operation, at: int, ty: TensorType) -> None:
    """Give an operand this type: clone its definition if that is cheap, else reshape it."""
    value = op.operands[at]
    if value.type is ty:
        return
    made: Any = value.defining_op
    if made.__class__ is tt.Reshape and made.src.type is ty:
        op.set_operand(at, made.src)
        return
    if made.__class__ is tt.Reshape:
        new: Any = tt.Reshape(made.src, result=ty)
    elif made.__class__ is tt.Splat:
        new = tt.Splat(made.src, result=ty)
    elif made.__class__ is ub.Poison:
        new = ub.Poison(result=ty)
    elif made.__class__ is arith.Constant and made.splat_value() is not None:
        new = arith.Constant(DenseElementsAttr(made.value.values, ty), result=ty)
    else:
        new = tt.Reshape(value, result=ty)
    new.loc = value.defining_op.loc if value.defining_op is not None else op.loc
    op.parent.insert_before(new, op)  # type: ignore[union-attr]
    op.set_operand(at, new.result)
