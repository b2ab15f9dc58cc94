"""reorder-instructions: Reorder operations to reduce register pressure.

    %b = ttg.local_load %m : … -> #dot_op                scf.for … {
    scf.for … {                                            %b = ttg.local_load %m : … -> #dot_op
      %d = tt.dot %a, %b, %c                       =>      %d = tt.dot %a, %b, %c
    }                                                    }

Program order determines live ranges, since ptxas moves little across barriers. So:

1. rule *sink below dealloc*: a conversion sinks below the deallocation of a buffer that precedes its first user, so
   that its scratch can reuse the memory.
2. rule *sink into loop*: a dot operand that is read before a loop and used once in it sinks to its user; for
   `mma.sync`, to one user in each of several loops, or branches beside them. Until then it occupies shared memory, not
   registers.
3. rule *hoist store*: the copy of a tensor to shared memory is hoisted to the tensor's definition, unless each thread
   can recompute the tensor; so is a transpose, which is free. On AMD GPUs the copy stays where it is: there are more
   registers, and less LDS, which the buffers of several operands can then share.
4. rule *sink into branch*: a conversion used in only one branch of an `if` sinks into it.
5. rule *lhs before rhs*: of a dot's operands read from shared memory the left one is read first, in the order in which
   the steps along K are unrolled.

No read of memory moves over a write.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, tt, ttg
from ....dialects.ttg_context import target_of
from ....dialects.ttg_layouts import DotOperand, NvidiaMma
from ....ir import (
    WRITE,
    CountedLoop,
    IfLike,
    Operation,
    count,
    functions_of,
    is_buffer_load,
    may_change,
    memory_effects,
    pass_on,
)
from ....ir.dominance import ancestor_in
from ...layout_flow import layout_of

__all__ = ["reorder_instructions"]


@pass_on("function", statistics={"operations moved": "operations moved"})
def reorder_instructions(op: Operation) -> bool:
    """Reorder the operations of a function, or of all functions of a module, to reduce register pressure."""
    moved = 0
    for func in functions_of(op):
        for rule in _RULES:
            moved += sum(rule(op) for op in list(func.walk()))
    count("operations moved", moved)
    return moved > 0


def _move_after(op: Any, place: Any) -> bool:
    """Move an operation after another, if that is legal and changes the order."""
    if place.next is op or not may_change("reorder-instructions", op):
        return False
    op.move_after(place)
    return True


def _after_the_buffer(op: Any) -> bool:
    if not isinstance(op, ttg.ConvertLayout):
        return False
    users = {ancestor_in(op.parent.parent, user) for user in op.result.users}  # type: ignore[union-attr]
    place, following = None, op.next
    while following is not None and following not in users:
        if isinstance(following, ttg.LocalDealloc):
            place = following
        following = following.next
    return place is not None and following is not None and _move_after(op, place)


def _is_operand_or_read(op: Any) -> bool:
    """Whether the result is a dot operand, or read from a buffer."""
    return is_buffer_load(op) or (isinstance(op, ttg.ConvertLayout) and isinstance(layout_of(op.result), DotOperand))


def _into_the_loop(op: Any) -> bool:
    if not _is_operand_or_read(op):
        return False
    users = [user for user, _ in op.result.uses]
    own = _loop_around(op)
    loops = [_loop_around(user) for user in users]
    around = [_branch_around(op, user) if loop is own else loop for loop, user in zip(loops, users)]
    if all(loop is own for loop in loops) or None in around or len(set(around)) < len(around):
        return False
    if len(users) > 1 and _is_wgmma_operand(op):
        return False
    if is_buffer_load(op) and any(_writes_until(op, user) for user in users):
        return False
    if not may_change("reorder-instructions", op):
        return False
    for user in users[1:]:
        copy = op.clone()
        user.parent.insert_before(copy, user)
        op.result.replace_uses_where(copy.results[0], lambda other, user=user: other is user)
    op.move_before(users[0])
    return True


def _is_wgmma_operand(op: Any) -> bool:
    """Whether an operand is for a WGMMA: it need not sink, and the WGMMA would wait for the read."""
    parent = getattr(layout_of(op.result), "parent", None)
    return isinstance(parent, NvidiaMma) and parent.versionMajor >= 3


def _loop_around(op: Operation) -> Operation | None:
    around = op.parent_op
    while around is not None and not isinstance(around, CountedLoop):
        around = around.parent_op
    return around


def _branch_around(op: Operation, user: Operation) -> Operation | None:
    """The `if` beside `op` that contains a user of it."""
    assert op.parent is not None
    around = ancestor_in(op.parent.parent, user)
    return around if isinstance(around, IfLike) else None


def _writes_until(op: Any, user: Operation) -> bool:
    """Whether memory may be written between `op` and a user, including in loops around the user."""
    around = ancestor_in(op.parent.parent, user)
    if around is None or around.parent is not op.parent:
        return True
    if around is not user and memory_effects(around) & WRITE and op.src.type.mutable:
        return True
    following = op.next
    while following is not None and following is not around:
        if memory_effects(following) & WRITE and op.src.type.mutable:
            return True
        following = following.next
    return following is None


def _store_at_once(op: Any) -> bool:
    if not isinstance(op, ttg.LocalAlloc) or op.src is None or op.src.defining_op is None:
        return False
    made: Any = op.src.defining_op
    if _is_hip(op):
        return False
    return not isinstance(made, (arith.Constant, tt.Splat)) and _move_after(op, made)


def _is_hip(op: Operation) -> bool:
    """Whether an operation is compiled for an AMD GPU."""
    return target_of(op).startswith("hip:")


def _transpose_at_once(op: Any) -> bool:
    if not isinstance(op, (tt.Trans, ttg.MemDescTrans)) or op.src.defining_op is None:
        return False
    return _move_after(op, op.src.defining_op)


def _into_the_branch(op: Any) -> bool:
    if not isinstance(op, ttg.ConvertLayout):
        return False
    users = list(op.result.users)
    branches = {ancestor_in(op.parent.parent, user) for user in users}  # type: ignore[union-attr]
    branch = branches.pop() if len(branches) == 1 else None
    if not isinstance(branch, IfLike) or branch.parent is not op.parent:
        return False
    for region in branch.regions:
        inner = {ancestor_in(region, user) for user in users}
        if None not in inner and region.blocks and may_change("reorder-instructions", op):
            op.move_before(next(first for first in region.blocks[0] if first in inner))
            return True
    return False


def _left_before_right(op: Any) -> bool:
    layout = layout_of(op.result) if is_buffer_load(op) else None
    if not isinstance(layout, DotOperand) or layout.opIdx != 1 or not op.result.has_one_use:
        return False
    (dot,) = op.result.users
    left: Any = dot.operands[0].defining_op if isinstance(dot, tt.Dot) else None
    if not is_buffer_load(left) or left.parent is not op.parent or not op.is_before(left):
        return False
    following = op.next
    while following is not left:
        if memory_effects(following) & WRITE:
            return False
        following = following.next
    return _move_after(op, left)


_RULES = (
    _after_the_buffer,
    _into_the_loop,
    _store_at_once,
    _transpose_at_once,
    _into_the_branch,
    _left_before_right,
)
