"""Left operands of WGMMAs in registers: which operation overwrites them while the WGMMA may still read them.

scf.for … iter_args(%p = …, …) {
  %d = ttng.warp_group_dot %p, %b, %acc {isAsync}     reads the registers of %p until it has completed
  %q = arith.truncf %s                                writes the same registers: the next iteration's %p
  scf.yield %q, …
}
"""

from __future__ import annotations

from typing import Any

from ....dialects import tt, ttg
from ....ir import Block, BlockArgument, Operation, TensorType, Value, f32
from ...layout_flow import layout_of
from ..layout.cost import stays_in_thread

__all__ = ["is_carried_lhs", "is_renaming", "lhs_redefinition", "promotes_accumulator", "register_definition"]


def is_carried_lhs(dot: Any, body: Block) -> bool:
    """Whether the left operand is in registers that the loop carries."""
    a = dot.a
    return isinstance(a, BlockArgument) and a.owner is body and isinstance(a.type, TensorType)


def lhs_redefinition(dot: Any, body: Block) -> Operation | None:
    """The operation of `body` that writes the next iteration's left operand, if registers carry it.

    The terminator where the value comes from elsewhere: copies are made there.
    """
    if not is_carried_lhs(dot, body):
        return None
    last: Any = body.last
    made = register_definition(last.operands[dot.a.index - 1])
    return made if made is not None and made.parent is body else last  # type: ignore[no-any-return]


def register_definition(value: Value) -> Operation | None:
    """The operation that writes the registers of a tensor: the definition, or that of what it renames."""
    op: Any = value.defining_op
    while op is not None and is_renaming(op):
        op = op.operands[0].defining_op
    return op  # type: ignore[no-any-return]


def is_renaming(op: Any) -> bool:
    """Whether an operation leaves every element in its register."""
    if op.__class__ in (tt.Trans, tt.Reshape):
        return True
    if op.__class__ is not ttg.ConvertLayout:
        return False
    before, after, shape = layout_of(op.src), layout_of(op.result), op.src.type.shape
    return stays_in_thread(shape, before, after) and stays_in_thread(shape, after, before)


def promotes_accumulator(dot: Any) -> bool:
    """Whether partial sums are added outside the tensor cores, each after a wait (fp8 with maxNumImpreciseAcc)."""
    return dot.a.type.element.width == 8 and dot.d.type.element is f32 and dot.maxNumImpreciseAcc < dot.a.type.shape[-1]
