"""remove-layout-conversions: Choose layouts that need few conversions between them.

    %i = tt.make_range … #blocked                               %i = tt.make_range … #blocked1
    %a = tt.addptr %p, %i : … #blocked                          %a = tt.addptr %p, %i : … #blocked1
    %b = ttg.convert_layout %a : #blocked -> #blocked1    =>    %x = tt.load %b : … #blocked1
    %x = tt.load %b : … #blocked1

A conversion stores a tensor to shared memory, synchronizes, and loads it. The result of a program does not depend on
layouts, so each operation can use any layout that is consistent between its operands and results. The pass has three
parts:

1. Forward (`propagate_layouts`): the layouts of loads, dots and atomics are propagated to their users.
2. Backward (`rematerialize`): the producers of a conversion's operand are recomputed in the layout of its result, where
   that is cheaper than the conversion (rule *repeat*), according to `conversion_cost`. A value that several conversions
   need is recomputed once per layout.
3. Remaining conversions are made cheaper: - rule *narrow*: a conversion is hoisted to where the tensor has fewer bytes,
   above a widening cast, a broadcast, or an `expand_dims`; the operations in between are recomputed in the new layout;
   - rule *branch*: of a value yielded by a branch in a loop, only the side that needs it is converted; - rule *load*: a
   conversion to a dot operand is hoisted to the load, next to which it can be pipelined, if all operations in between
   are elementwise; - rule *invariant*: a conversion of a loop-invariant value is hoisted out of the loop.

In between, conversions of conversions, and of values that each thread can compute, are folded by the rules of
`canonicalize`. Loop-carried values in old layouts are removed at the end, when they have no users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....dialects import arith, tt, ttg
from ....dialects.ttg_layouts import DotOperand, Mma
from ....ir import (
    EXTENDS,
    READ,
    REARRANGES,
    REPEATS,
    Block,
    CountedLoop,
    IfLike,
    LoopLike,
    Memory,
    Operation,
    RuleTable,
    Value,
    accessed_values,
    count,
    functions_of,
    is_global_load,
    is_pointer_load,
    is_register_dot,
    may_change,
    pass_on,
    predecessor_operands,
    rewrite_greedily,
)
from ...carried_values import drop_dead_carried
from ...layout_flow import backward, forwarded_values, is_elementwise, layout_of
from ...regions import defined_in
from ...rules.scf import SCF_RULES
from ...rules.ttg import CONVERT_RULES
from .cost import (
    ARITHMETIC,
    LOAD,
    SLOW,
    SPECIAL,
    conversion_cost,
    more_work,
    reduction_cost,
    size_in_bytes,
)
from .propagate import propagate_layouts
from .rematerialize import Copies, Node, Slice, never

__all__ = ["remove_layout_conversions"]

MAX_REPEATS = 16
"""Iterations of *repeat* over all conversions: each one retries the conversions that the previous one inserted."""

_CONVERSIONS = RuleTable(CONVERT_RULES)
_CLEANUP = RuleTable([*CONVERT_RULES, *SCF_RULES])


@pass_on("function", statistics={"conversions": "conversions that remain"})
def remove_layout_conversions(op: Operation) -> bool:
    """Choose layouts that need few conversions, for a function or all functions of a module."""
    changed = False
    for func in functions_of(op):
        if conversions_of(func):
            changed |= _remove(func)
    return changed


def conversions_of(func: Operation) -> list[Any]:
    """The conversions of a function, in program order."""
    return [op for op in func.walk() if op.__class__ is ttg.ConvertLayout]


def _remove(func: Operation) -> bool:
    changed = bool(propagate_layouts(func))
    changed |= rewrite_greedily(func, _CONVERSIONS)
    for _ in range(MAX_REPEATS):
        if not _each(func, _repeat):
            break
        changed = True
        rewrite_greedily(func, _CONVERSIONS)
    for hoist in (_narrow, _branch, _load):
        changed |= _each(func, hoist)
    left = [_leave_loops(conversion) for conversion in conversions_of(func)]
    changed |= any(left)
    if changed:
        rewrite_greedily(func, _CONVERSIONS)
        drop_dead_carried(func)
        rewrite_greedily(func, _CLEANUP)
    count("conversions", len(conversions_of(func)))
    return changed


def _each(func: Operation, rule: Any) -> bool:
    """Try a rule on every conversion; those that stay can replace equal ones."""
    copies, changed = Copies(), False
    for conversion in conversions_of(func):
        new = rule(conversion, copies) if not conversion.force_warp_shuffle else None
        if new is None:
            copies.keep(conversion)
        else:
            conversion.result.replace_all_uses_with(new)
            conversion.erase()
            changed = True
    return changed


def _leave_loops(conversion: Any) -> bool:
    """Rule *invariant*."""
    place: Operation | None = None
    around = conversion.parent_op
    while isinstance(around, LoopLike) and not defined_in(conversion.src, around):
        place = around.hoist_point
        around = around.parent_op
    if place is None or not may_change("invariant", conversion):
        return False
    conversion.move_before(place)
    return True


def _root(conversion: Any) -> Node:
    return conversion.src, layout_of(conversion.result)


# -- repeat -------------------------------------------------------------------------------------------------------


def _repeat(conversion: Any, copies: Copies) -> Value | None:
    """Recompute the operand of a conversion in the new layout, if that is cheaper."""
    root = _root(conversion)
    if isinstance(root[1], DotOperand):
        return None  # rule *load*
    for through in (_is_free, never):  # a free conversion may be recomputed as one that is not
        part = Slice(copies, through=through)
        if part.grow(*root, conversion) and _pays(conversion, part, 0):
            return copies.build(part, root) if may_change("repeat", conversion) else None
    return None


def _is_free(conversion: Any) -> bool:
    """Whether a conversion only renames registers."""
    return conversion_cost(conversion.src.type, layout_of(conversion.result)) == 0


def _pays(conversion: Any, part: Slice, more: int) -> bool:
    """Whether recomputing a slice costs at most as much as the conversion; `more` is an additional cost."""
    again = part.operations()
    needed = _needed_elsewhere(conversion, part, again)
    limit = conversion_cost(conversion.src.type, layout_of(conversion.result))
    for op, nodes in again.items():
        stays = any(r in needed for r in op.results)
        cost = _cost(op, nodes, stays)
        if cost is None:
            return False
        more += cost
    return more <= limit


def _cost(op: Any, nodes: list[Node], stays: bool) -> int | None:
    """The additional cost of an operation's results in other layouts; `stays`: the original is still needed."""
    if op.__class__ is arith.Constant:
        return 0
    if op.name.startswith(("arith.", "math.")):
        each = SPECIAL if op.name in SLOW else ARITHMETIC
        return sum(each * (more_work(r.type, layout) - (not stays)) * size_in_bytes(r.type) for r, layout in nodes)
    if isinstance(op, ttg.ConvertLayout) and _is_free(op):
        return sum(conversion_cost(op.src.type, layout) for _, layout in nodes)
    if not stays:
        return 0
    if is_pointer_load(op) or (op.traits & READ and any(accessed_values(op, READ, Memory.SHARED))):
        return sum(LOAD * size_in_bytes(r.type) for r in op.results)
    return reduction_cost(op) if isinstance(op, tt.Reduce) else 0


def _needed_elsewhere(conversion: Any, part: Slice, again: Mapping[Operation, Any]) -> set[Value]:
    """The values of a slice that have users besides the conversion and the slice itself."""
    inside = {value for value, _ in part.nodes}
    found = [value for value in inside if any(_leaves(user, i, conversion, inside, again) for user, i in value.uses)]
    needed: set[Value] = set()
    while found:
        value = found.pop()
        if value not in needed:
            needed.add(value)
            found += [v for v in _made_of(value) if v in inside]
    return needed


def _leaves(user: Operation, i: int, conversion: Any, inside: set[Value], again: Mapping[Operation, Any]) -> bool:
    """Whether this use is neither the conversion nor in the slice."""
    if user is conversion or user in again:
        return False
    values = forwarded_values(user, i)
    return not values or not all(v in inside or not v.users for v in values)


def _made_of(value: Value) -> list[Value]:
    edges = predecessor_operands(value)
    if edges is not None:
        return [user.operands[i] for user, i in edges]
    return [] if value.defining_op is None else value.defining_op.operands


# -- narrow -------------------------------------------------------------------------------------------------------


def _widens(op: Any) -> bool:
    """Whether each thread computes a result of more bytes from its elements of the operand."""
    if isinstance(op, tt.FpToFp):
        return op.src.type.element.width < op.result.type.element.width
    return bool(op.traits & (REPEATS | EXTENDS))


def _narrow(conversion: Any, copies: Copies) -> Value | None:
    """Convert before the operation that widens the tensor, unless a copy made elsewhere can be used."""
    root = _root(conversion)
    part = Slice(copies, through=_is_free)
    if isinstance(root[1], DotOperand) or not part.grow(*root, conversion, _widens):
        return None
    place: Node | None = None
    for node in list(part.nodes):
        op: Any = node[0].defining_op
        if op is None or not _widens(op):
            continue
        wanted = backward(op, node[1])
        if wanted is None:
            return None
        whole = part.copy()
        if whole.grow(op.operands[0], wanted[0], op, never):
            whole.nodes[node] = [(op.operands[0], wanted[0])]
            part = whole
            continue
        if place is not None:
            return None
        place = op.operands[0], wanted[0]
        part.nodes[node] = [place]
    cost = 0 if place is None else conversion_cost(place[0].type, place[1])
    if not _pays(conversion, part, cost) or not may_change("narrow", conversion):
        return None
    return copies.build(part, root, {} if place is None else {place: copies.cut(place)})


# -- branch -------------------------------------------------------------------------------------------------------


def _is_branch(op: Any) -> bool:
    return isinstance(op, IfLike)


def _branch(conversion: Any, copies: Copies) -> Value | None:
    """Convert on the side of a branch that cannot compute its value in the new layout, not after the branch."""
    root = _root(conversion)
    part = Slice(copies, through=_is_free)
    if not part.grow(*root, conversion, _is_branch):
        return None
    cut_nodes: list[Node] = []
    on_side: list[tuple[Node, Any]] = []
    work = [node for node in part.nodes if _is_branch(node[0].defining_op)]
    while work:
        node = work.pop(0)
        branch: Any = node[0].defining_op
        yields = [region.blocks[0].last for region in branch.regions]
        needs = [(last.operands[node[0].index], node[1]) for last in yields]  # type: ignore[attr-defined]
        grown, good = part.copy(), []
        for need, last in zip(needs, yields):
            trial = grown.copy()
            good.append(trial.grow(*need, last, _is_branch))
            grown = trial if good[-1] else grown
        if not any(good) or (not all(good) and not isinstance(branch.parent_op, CountedLoop)):
            cut_nodes.append(node)
            continue
        on_side += [(need, last) for need, last, fine in zip(needs, yields, good) if not fine]
        work += [new for new in grown.nodes if new not in part.nodes and _is_branch(new[0].defining_op)]
        part = grown
        part.nodes[node] = needs
    if not on_side or not may_change("branch", conversion):
        return None
    cuts = {node: copies.cut(node) for node in cut_nodes}
    cuts |= {need: copies.cut(need, last) for need, last in on_side}
    return copies.build(part, root, cuts)


# -- load ---------------------------------------------------------------------------------------------------------

_MADE_ANYWHERE = (arith.Constant, tt.MakeRange)  # without operands, by each thread


def _by_each_thread(op: Any) -> bool:
    """Whether an operation moves no element between threads."""
    return bool(op.traits & REARRANGES) or op.__class__ is ttg.Fp4ToFp or is_elementwise(op)


def _load(conversion: Any, copies: Copies) -> Value | None:
    """Convert the loaded tensor instead of a value computed from it, to an operand of a dot in the same loop."""
    root = _root(conversion)
    if not isinstance(root[1], DotOperand) or not _before_dot(conversion, copies.last_dots):
        return None
    part = Slice(copies, through=lambda op: True)
    if not part.grow(*root, conversion, lambda op: not _by_each_thread(op)):
        return None
    loads = []
    for node in part.nodes:
        op = node[0].defining_op
        if op is None or not (is_global_load(op) or op.__class__ in _MADE_ANYWHERE or _by_each_thread(op)):
            return None
        if is_global_load(op):
            loads.append(node)
    if len(loads) == len(part.nodes) or not may_change("load", conversion):
        return None
    return copies.build(part, root, {node: copies.cut(node) for node in loads})


def _before_dot(conversion: Any, last: dict[Block, Operation | None]) -> bool:
    """Whether every path from the conversion reaches a tensor core dot with operands in registers.

    `last` memoizes the last one of each block: dots do not move while these rules run.
    """
    block = conversion.parent
    if block not in last:
        found = [op for op in block if is_register_dot(op) and _has_register_operands(op)]
        last[block] = found[-1] if found else None
    dot = last[block]
    return dot is not None and bool(conversion.is_before(dot))


def _has_register_operands(dot: Operation) -> bool:
    layout = layout_of(dot.operands[0])
    return isinstance(layout, DotOperand) and isinstance(layout.parent, Mma)
