"""Memory accesses exclude the padding.

    tt.load %p, %m, %o       =>   tt.load %p, %m & inside, %o       with zeros for %o where there is none
    tt.store %p, %x          =>   tt.store %p, %x, inside           read-modify-writes likewise

An operation without a mask is repeated for an element of the program, whose pointer fills the padding.

    tt.atomic_cas %p, %c, %v =>   in the padding, p and c are those of an element of the program and v = c: the memory
                                  is unchanged
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt
from ...ir import element_type
from ..rules.constants import splat_of
from .shapes import Padder

__all__ = ["MEMORY"]


def _load(op: Any, p: Padder) -> None:
    shape = p.sources[0]
    element = element_type(op.result.type)
    other = op.other
    if other is None and not isinstance(element, tt.PointerType):
        other = p.number(0, op.result.type)
    mask = p.both(op.mask, p.inside(shape))
    kept = {name: attr for name, attr in op.attributes.items() if name != "operandSegmentSizes"}
    made = p.add(tt.Load(op.ptr, mask, other, attributes=kept, result=op.result.type))
    number = None if other is None else splat_of(other)
    if number is not None:
        p.filled[made] = number
    p.replace(made)


def _masked(op: Any, p: Padder) -> None:
    """Writes have their optional mask as last operand."""
    mask = p.both(op.mask, p.inside(p.sources[0]))
    rest = op.operands if op.mask is None else op.operands[:-1]
    if mask is not None:  # only the bins of a histogram may be padded
        op.set_operands([*rest, mask])


def _compare_and_swap(op: Any, p: Padder) -> None:
    shape = p.sources[0]
    inside = p.inside(shape)
    expected = p.repeat(op.cmp, shape)
    value = p.add(arith.Select(inside, op.val, expected))
    op.set_operands([p.repeat(op.ptr, shape), expected, value])


def _poll(op: Any, p: Padder) -> None:
    shape = p.sources[0]
    op.set_operands([p.repeat(op.ptr, shape), p.repeat(op.expected, shape), *op.operands[2:]])


MEMORY: dict[type, Any] = {
    tt.Load: _load,
    tt.Store: _masked,
    tt.AtomicRMW: _masked,
    tt.AtomicLoad: _masked,
    tt.AtomicStore: _masked,
    tt.AtomicCAS: _compare_and_swap,
    tt.AtomicPoll: _poll,
    tt.Histogram: _masked,
}
