"""Split tensors of pointers into a base, an argument of the kernel, and i32 offsets in elements.

    %p = tt.splat %base                                   base %base, offsets 0
    %q = tt.addptr %p, %o                                 base %base, offsets %o
    %r = scf.for … iter_args(%x = %q) {                   base %base, offsets an iter_arg that begins with %o
      %y = tt.addptr %x, %step                            base %base, offsets that + %step
      scf.yield %y
    }

A pointer that loops carry gets an offset that they carry beside it; where nothing uses the pointer any more,
`canonicalize` drops it. Offsets are computed modulo 2 ** 32: of arrays below 2 GB that is exact for each element that
is accessed. Pointers that come from elsewhere (loaded, selected, results of calls and branches) are not split.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ....dialects import arith, tt, ttg
from ....dialects.constraints import bit_width
from ....ir import Block, BlockArgument, Builder, CountedLoop, Operation, TensorType, Type, Value, i32

__all__ = ["PointerOffsets"]

_Rebuild = Callable[..., Operation]

#: Operations that rearrange a tensor of pointers -> the same operation on its offsets.
_VIEWS: dict[type[Operation], _Rebuild] = {
    tt.Broadcast: lambda op, v, ty: tt.Broadcast(v, result=ty),
    tt.ExpandDims: lambda op, v, ty: tt.ExpandDims(v, op.axis, result=ty),
    tt.Trans: lambda op, v, ty: tt.Trans(v, op.order, result=ty),
    ttg.ConvertLayout: lambda op, v, ty: ttg.ConvertLayout(v, result=ty),
}


class PointerOffsets:
    """The bases and offsets of the pointers of one function; `bases` are the arguments that may be a base."""

    def __init__(self, bases: Collection[Value]) -> None:
        self.bases = bases
        self.found: dict[Value, Value | None] = {}  # offsets; None for zero

    # -- bases ----------------------------------------------------------------------------------------------------

    def base_of(self, value: Value, assumed: dict[Value, Value | None] | None = None) -> Value | None:
        """The argument that a pointer, or each pointer of a tensor, is computed from; None where that is unknown.

        `assumed`: what is taken for the base of arguments of loops whose yields are being looked at.
        """
        assumed = {} if assumed is None else assumed
        if value in self.bases:
            return value
        if value in assumed:
            return assumed[value]
        op = value.defining_op
        if op is not None and (isinstance(op, (tt.Splat, tt.AddPtr)) or op.__class__ in _VIEWS):
            return self.base_of(op.operands[0], assumed)
        carried = _carried(value)
        if carried is None:
            return None
        loop, k = carried
        argument = loop.iter_args[k]
        base = self.base_of(loop.inits[k], assumed)
        yielded = self.base_of(loop.yielded[k], assumed | {argument: base})
        return base if base is not None and base is yielded else None

    # -- offsets --------------------------------------------------------------------------------------------------

    def offsets(self, value: Value) -> Value:
        """The offsets of a pointer with a known base, created where it is defined."""
        found = self._offsets(value)
        if found is None:
            found = self.found[value] = _after(value).add(arith.Constant.of(0, _offset_type(value.type)))
        return found

    def _offsets(self, value: Value) -> Value | None:
        """The same, None for zero."""
        if value in self.bases:
            return None
        if value in self.found:
            return self.found[value]
        made = self._create(value)
        if not isinstance(value.defining_op, CountedLoop):  # a loop is replaced, with its results, when it carries more
            self.found[value] = made
        return made

    def _create(self, value: Value) -> Value | None:
        op = value.defining_op
        if isinstance(op, tt.AddPtr):
            before = self._offsets(op.ptr)
            b = _after(value)
            step = _as_i32(b, op.offset)
            return step if before is None else b.add(arith.AddI(before, step))
        if op is not None and (isinstance(op, tt.Splat) or op.__class__ in _VIEWS):
            source = self._offsets(op.operands[0])
            if source is None:
                return None
            ty = _offset_type(value.type)
            assert isinstance(ty, TensorType)
            return _after(value).add(_rebuilt(op, source, ty))
        carried = _carried(value)
        assert carried is not None, "a pointer with a base"
        return self._carry(*carried, value)

    def _carry(self, loop: CountedLoop, k: int, value: Value) -> Value:
        """Carry the offsets of the pointer `k` of a loop, too; those of `value`, its argument or its result."""
        argument = loop.iter_args[k]
        if argument not in self.found:
            loop = loop.replace_with_additional_iter_args([self.offsets(loop.inits[k])])
            self.found[argument] = loop.iter_args[-1]
            following = self.offsets(loop.yielded[k])
            loop = _loop_of(argument)  # another one, if the offsets of another pointer were needed
            place = _index(self.found[argument])
            last = loop.terminator
            last.set_operands([*last.operands[:place], following, *last.operands[place + 1 :]])
        offsets = self.found[argument]
        assert offsets is not None
        return offsets if value is argument else loop.results[_index(offsets)]


def _loop_of(argument: Value) -> CountedLoop:
    """The loop whose body has an argument."""
    block = argument.block
    loop = None if block is None else block.parent_op
    assert isinstance(loop, CountedLoop)
    return loop


def _index(argument: Value | None) -> int:
    """Which of the values that a loop carries an argument of its body is."""
    assert isinstance(argument, BlockArgument)
    return argument.index - 1


def _carried(value: Value) -> tuple[CountedLoop, int] | None:
    """The `scf.for` and the index of what it carries, of which `value` is the argument or the result."""
    if isinstance(value, BlockArgument):
        loop = value.owner.parent_op if isinstance(value.owner, Block) else None
        return (loop, value.index - 1) if isinstance(loop, CountedLoop) and value.index > 0 else None
    op = value.defining_op
    return (
        next(((op, k) for k, r in enumerate(op.results) if r is value), None) if isinstance(op, CountedLoop) else None
    )


def _rebuilt(op: Operation, source: Value, ty: TensorType) -> Operation:
    return tt.Splat(source, result=ty) if isinstance(op, tt.Splat) else _VIEWS[op.__class__](op, source, ty)


def _offset_type(ty: Type) -> Type:
    return TensorType(ty.shape, i32, ty.encoding) if isinstance(ty, TensorType) else i32


def _as_i32(b: Builder, value: Value) -> Value:
    """An offset of any width, modulo 2 ** 32."""
    ty = _offset_type(value.type)
    if value.type is ty:
        return value
    narrow = bit_width(value.type.element if isinstance(value.type, TensorType) else value.type) < 32
    made: Value = b.add(arith.ExtSI(value, out=ty) if narrow else arith.TruncI(value, out=ty))
    return made


def _after(value: Value) -> Builder:
    """A builder where `value` is defined, for what is computed from the same operands."""
    op = value.defining_op
    if op is None:
        block = value.block
        assert block is not None and block.first is not None
        return Builder(block, block.first, block.first.loc)
    return Builder(op.parent, op.next, op.loc)
