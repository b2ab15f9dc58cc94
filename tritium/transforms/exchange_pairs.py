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

from collections.abc import Sequence
from math import prod
from typing import Any

from ..dialects import arith, tt
from ..ir import (
    ELEMENTWISE,
    DenseElementsAttr,
    IntegerType,
    Operation,
    TensorType,
    Value,
    functions_of,
    i32,
    pass_on,
    shape_of,
)

__all__ = ["exchange_pairs"]


@pass_on("function")
def exchange_pairs(op: Operation) -> bool:
    """Replace the xor with the xor of a pair by a gather, and coordinates of such tiles by bits of the index."""
    return sum(_Function(func).run() for func in functions_of(op)) > 0


def _is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _xor_reduction(value: Value) -> Any:
    """The reduction of pairs by xor of which `value` has the result at both places; None if it is no such value."""
    broadcast: Any = value.defining_op
    expanded: Any = broadcast.src.defining_op if isinstance(broadcast, tt.Broadcast) else None
    reduction: Any = expanded.src.defining_op if isinstance(expanded, tt.ExpandDims) else None
    if not isinstance(reduction, tt.Reduce) or len(reduction.operands) != 1 or expanded.axis != reduction.axis:
        return None
    operand = reduction.operands[0]
    if shape_of(operand.type) != shape_of(value.type) or shape_of(operand.type)[reduction.axis] != 2:
        return None
    combine, *others = list(reduction.regions[0].blocks[0])
    is_xor = isinstance(combine, arith.XOrI) and len(others) == 1 and others[0].operands[0] is combine.result
    both = is_xor and set(combine.operands) == set(reduction.regions[0].blocks[0].args)
    return reduction if both else None


class _Function:
    """The rewrite of one function."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.block = func.regions[0].blocks[0]
        self.exchanged: dict[
            Value, tuple[Value, int]
        ] = {}  # a gather's result -> the source, and what its index is xor
        self.known: dict[Any, Value] = {}  # flat tiles that depend on no argument

    def run(self) -> bool:
        """Rewrite the exchanges, then the coordinates of tiles of the same shapes."""
        shapes = {shape for op in list(self.func.walk()) if (shape := self._exchange(op)) is not None}
        if not shapes:
            return False
        for op in list(self.func.walk()):
            if isinstance(op, tt.Broadcast) and shape_of(op.result.type) in shapes:
                flat = self._flat(op.src, shape_of(op.result.type))
                if flat is not None:
                    self._replace(op, flat)
        return True

    def _exchange(self, op: Operation) -> tuple[int, ...] | None:
        """Replace the xor of a tile with the xor of its pairs; the shape of the tile, None for another operation."""
        if not isinstance(op, arith.XOrI):
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

    def _gather(self, op: Any, tile: Value, distance: int) -> Value:
        """The elements of a tile at the index xor a number, flat; of what the tile is a bitcast of, for the bitcasts
        back. Exchanges one after another are one."""
        cast: Any = tile.defining_op
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
                back.erase()
        return self._before(op, tt.Bitcast(found, result=_flat_type(tile.type)))

    def _replace(self, op: Any, flat: Value) -> None:
        """Replace the result by the elements of a flat tile, and drop what only it used."""
        operands = list(op.operands)
        op.result.replace_all_uses_with(self._before(op, tt.Reshape(flat, result=op.result.type)))
        op.erase()
        while operands:
            made = operands.pop().defining_op
            if (
                isinstance(made, (tt.Broadcast, tt.ExpandDims, tt.Reduce, tt.Bitcast, tt.Reshape, tt.Gather))
                and not made.results[0].uses
            ):
                operands += made.operands
                made.erase()

    def _before(self, op: Operation, new: Any) -> Value:
        new.loc = op.loc
        op.parent.insert_before(new, op)  # type: ignore[union-attr]
        return new.result  # type: ignore[no-any-return]

    # -- coordinates ---------------------------------------------------------------------------------------------------

    def _once(self, key: Any, make: Any) -> Value:
        """A flat tile, written at the end of those at the start of the function."""
        found = self.known.get(key)
        if found is None:
            new = make()
            new.loc = self.func.loc
            last = next(reversed(self.known.values()), None)
            before = next(iter(self.block)) if last is None else last.defining_op.next  # type: ignore[union-attr]
            self.block.insert_before(new, before)
            found = self.known[key] = new.results[0]
        return found

    def _index(self, size: int) -> Value:
        return self._once(("index", size), lambda: tt.MakeRange(0, size, result=TensorType((size,), i32)))

    def _constant(self, size: int, value: Any, element: Any = i32) -> Value:
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
        op: Any = value.defining_op
        if op is None or not isinstance(getattr(value.type, "element", None), IntegerType):
            return None
        size = prod(shape)
        if isinstance(op, arith.Constant):
            number = op.splat_value()
            return None if number is None else self._constant(size, number, value.type.element)
        if isinstance(op, tt.Broadcast):
            return self._flat(op.src, shape)
        if isinstance(op, (tt.Reshape, tt.ExpandDims, tt.MakeRange)):
            return self._coordinate(op, shape)
        if not op.traits & ELEMENTWISE or op.regions or len(op.results) != 1:
            return None
        operands = [self._flat(operand, shape) for operand in op.operands]
        if any(operand is None for operand in operands):
            return None
        ty = TensorType((size,), value.type.element)
        return self._once(key, lambda: type(op).create(operands, [ty], dict(op.attributes)))

    def _coordinate(self, op: Any, shape: Sequence[int]) -> Value | None:
        """A range along one dimension: some bits of the index."""
        own = shape_of(op.results[0].type)
        along = [d for d, n in enumerate(own) if n > 1]
        while isinstance(op, (tt.Reshape, tt.ExpandDims)):
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


def _flat_type(ty: Any) -> TensorType:
    return TensorType((prod(ty.shape),), ty.element)
