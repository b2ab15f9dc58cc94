"""exchange-pairs: Read the other element of a pair by its index, where a program computes it from their xor.

    %r = "tt.reduce"(%x) <{axis = 1}> (xor)         =>   %f = tt.reshape %x : tensor<4x2x2xi32> -> tensor<16xi32>
         : (tensor<4x2x2xi32>) -> tensor<4x2xi32>        %i = tt.make_range {end = 16, start = 0}
    %e = tt.expand_dims %r {axis = 1}                    %j = arith.xori %i, dense<2>
    %b = tt.broadcast %e                                 %g = tt.gather %f[%j] {axis = 0}
    %y = arith.xori %x, %b                               %y = tt.reshape %g : tensor<16xi32> -> tensor<4x2x2xi32>

    %k = tt.reshape %two : tensor<2xi32> -> tensor<1x2x1xi32>   =>   (bit 1 of %i, as tensor<4x2x2xi32>)
    %c = tt.broadcast %k : … -> tensor<4x2x2xi32>

Sorting networks exchange neighbours along one dimension of a hypercube at a time. On a CPU the reduction is a loop
nest of its own, and the vectors of all others are as short as the dimension. Without reductions and without broadcasts
of coordinates no operation distinguishes the dimensions, and `collapse-dims` merges them into one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ..dialects import arith, tt
from ..ir import (
    ELEMENTWISE,
    DenseElementsAttr,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    element_type,
    functions_of,
    i32,
    memory_effects,
    pass_on,
    shape_of,
)

__all__ = ["exchange_pairs"]

_VIEWS = (tt.Reshape, tt.ExpandDims)


@pass_on("function")
def exchange_pairs(op: Operation) -> bool:
    """Replace the xor with the xor of a pair by a gather, and coordinates of such tiles by bits of the index."""
    return sum(_Function(func).run() for func in functions_of(op)) > 0


def _is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _xor_reduction(value: Value) -> tt.Reduce | None:
    """The reduction of pairs by xor of which `value` has the result at both places; None if it is no such value."""
    broadcast = value.defining_op
    expanded = broadcast.src.defining_op if isinstance(broadcast, tt.Broadcast) else None
    reduction = expanded.src.defining_op if isinstance(expanded, tt.ExpandDims) else None
    if not isinstance(reduction, tt.Reduce) or len(reduction.operands) != 1:
        return None
    operand, axis = reduction.operands[0], reduction.axis
    shape = shape_of(operand.type)
    if not isinstance(expanded, tt.ExpandDims) or expanded.axis != axis:
        return None
    if shape != shape_of(value.type) or shape[axis] != 2:
        return None
    body = reduction.regions[0].blocks[0]
    combine, *others = list(body)
    is_xor = isinstance(combine, arith.XOrI) and len(others) == 1 and others[0].operands[0] is combine.result
    return reduction if is_xor and set(combine.operands) == set(body.args) else None


class _Function:
    """The rewrite of one function."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.block = func.regions[0].blocks[0]
        self.anchor = next(iter(self.block))
        self.exchanged: dict[
            Value, tuple[Value, int]
        ] = {}  # a gather's result -> the source, and what its index is xor
        self.written: set[Operation] = set()  # the operations of `known`
        self.known: dict[tuple[object, ...], Value] = {}  # flat tiles that depend on no argument

    def run(self) -> bool:
        """Rewrite the exchanges, then the coordinates of tiles of the same shapes."""
        shapes = {shape for op in list(self.func.walk()) if (shape := self._exchange(op)) is not None}
        if not shapes:
            return False
        for op in list(self.func.walk()):
            if op.parent is not None and isinstance(op, tt.Broadcast) and shape_of(op.result.type) in shapes:
                flat = self._flat(op.src, shape_of(op.result.type))
                if flat is not None:
                    self._replace(op, flat)
        return True

    def _exchange(self, op: Operation) -> tuple[int, ...] | None:
        """Replace the xor of a tile with the xor of its pairs; the shape of the tile, None for another operation."""
        if op.parent is None or not isinstance(op, arith.XOrI):  # erased, or another
            return None
        for tile, other in (op.operands, op.operands[::-1]):
            reduction = _xor_reduction(other)
            if reduction is not None and reduction.operands[0] is tile:
                shape = shape_of(tile.type)
                distance = prod(shape[reduction.axis + 1 :])
                if not _is_power_of_two(distance) or prod(shape) >= 1 << 31:
                    return None
                self._replace(op, self._gather(op, tile, distance))
                return shape
        return None

    def _gather(self, op: arith.XOrI, tile: Value, distance: int) -> Value:
        """The elements of a tile at the index xor a number, flat; of what the tile is a bitcast of, for the bitcasts
        back. Exchanges one after another are one."""
        cast = tile.defining_op
        source = cast.src if isinstance(cast, tt.Bitcast) else tile
        flat, view = _flat_type(source.type), source.defining_op
        before = self.exchanged.get(view.src) if isinstance(view, tt.Reshape) else None
        if before is not None:
            origin, distance = before[0], before[1] ^ distance
        else:
            origin = view.src if isinstance(view, tt.Reshape) else source
            origin = origin if origin.type is flat else self._before(op, tt.Reshape(origin, result=flat))
        partners = self._partner(flat.numel, distance)
        found = self._before(op, tt.Gather(origin, partners, 0, result=flat))
        self.exchanged[found] = origin, distance
        if source is tile:
            return found
        for back in [user for user in op.result.users if isinstance(user, tt.Bitcast)]:
            if back.result.type is source.type:
                back.result.replace_all_uses_with(self._before(op, tt.Reshape(found, result=source.type)))
                self._erase(back)
        return self._before(op, tt.Bitcast(found, result=_flat_type(tile.type)))

    def _replace(self, op: arith.XOrI | tt.Broadcast, flat: Value) -> None:
        """Replace the result by the elements of a flat tile, and drop what only it used."""
        operands = list(op.operands)
        op.result.replace_all_uses_with(self._before(op, tt.Reshape(flat, result=op.result.type)))
        self._erase(op)
        while operands:
            made = operands.pop().defining_op
            kept = made is None or made in self.written or any(r.uses for r in made.results) or memory_effects(made)
            if made is not None and not kept:
                operands += made.operands
                self._erase(made)

    def _erase(self, op: Operation) -> None:
        if op is self.anchor and op.next is not None:
            self.anchor = op.next
        op.erase()

    def _before(self, op: Operation, new: Operation) -> Value:
        new.loc, block = op.loc, op.parent
        assert block is not None
        block.insert_before(new, op)
        return new.results[0]

    # -- coordinates ---------------------------------------------------------------------------------------------------

    def _once(self, key: tuple[object, ...], make: Callable[[], Operation]) -> Value:
        """A flat tile, written at the start of the function after those before."""
        found = self.known.get(key)
        if found is None:
            new = make()
            new.loc = self.func.loc
            self.written.add(new)
            self.block.insert_before(new, self.anchor)
            found = self.known[key] = new.results[0]
        return found

    def _index(self, size: int) -> Value:
        return self._once(("index", size), lambda: tt.MakeRange(0, size, result=TensorType((size,), i32)))

    def _constant(self, size: int, value: int | float, element: Type = i32) -> Value:
        ty = TensorType((size,), element)
        return self._once(
            ("constant", repr(value), ty), lambda: arith.Constant(DenseElementsAttr((value,), ty), result=ty)
        )

    def _partner(self, size: int, distance: int) -> Value:
        index, by = self._index(size), self._constant(size, distance)
        return self._once(("partner", size, distance), lambda: arith.XOrI(index, by))

    def _flat(self, value: Value, shape: Sequence[int]) -> Value | None:
        """`value`, broadcast to `shape`, as a flat tile; None unless it is made of coordinates and constants."""
        key = "flat", value, tuple(shape)
        if key in self.known:
            return self.known[key]
        op, element, size = value.defining_op, element_type(value.type), prod(shape)
        if op is None or not isinstance(element, IntegerType):
            return None
        if isinstance(op, arith.Constant):
            number = op.splat_value()
            return None if number is None else self._constant(size, number, element)
        if isinstance(op, tt.Broadcast):
            return self._flat(op.src, shape)
        if isinstance(op, (*_VIEWS, tt.MakeRange)):
            return self._coordinate(value, shape)
        if not op.traits & ELEMENTWISE or op.regions or len(op.results) != 1:
            return None
        operands = [flat for operand in op.operands if (flat := self._flat(operand, shape)) is not None]
        if len(operands) < len(op.operands):
            return None
        ty, kind, attributes = TensorType((size,), element), op.__class__, dict(op.attributes)
        return self._once(key, lambda: kind.create(operands, [ty], attributes))

    def _coordinate(self, value: Value, shape: Sequence[int]) -> Value | None:
        """A range along one dimension: some bits of the index."""
        own, op = shape_of(value.type), value.defining_op
        along = [d for d, n in enumerate(own) if n > 1]
        while isinstance(op, _VIEWS):
            op = op.src.defining_op
        if not isinstance(op, tt.MakeRange) or op.start != 0 or len(along) != 1 or len(own) != len(shape):
            return None
        (axis,) = along
        count, stride, size = own[axis], prod(shape[axis + 1 :]), prod(shape)
        if count != op.end or count != shape[axis] or not _is_power_of_two(count) or not _is_power_of_two(stride):
            return None
        bits, mask = self._constant(size, stride.bit_length() - 1), self._constant(size, count - 1)
        index = self._index(size)
        moved = self._once(("shift", size, stride), lambda: arith.ShRUI(index, bits))
        return self._once(("coordinate", size, stride, count), lambda: arith.AndI(moved, mask))


def _flat_type(ty: Type) -> TensorType:
    return TensorType((prod(shape_of(ty)),), element_type(ty))
