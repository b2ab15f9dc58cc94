"""loop-aware-cse: Eliminate common subexpressions, including loop-carried values that are always equal.

    %r:2 = scf.for … iter_args(%a = %x, %b = %x) {          %r = scf.for … iter_args(%a = %x) {
      %c = arith.addi %a, %k                                  %c = arith.addi %a, %k
      %d = arith.addi %b, %k                           =>     scf.yield %c
      scf.yield %c, %d                                      }
    }                                                       %r replaces %r#0 and %r#1

%a and %b are equal because they start equal and, as long as they are equal, so are the yielded values. Plain cse does
not find this: %c and %d have different operands. Here carried values are partitioned into classes by their initial
values, the body is numbered as if a class were one value, and classes with different yielded values are split, to a
fixed point (Hopcroft's partition refinement). Values of one class are then equal in every iteration.

Loops are visited from the inside out, between two runs of cse; then dead carried values are removed.
"""

from __future__ import annotations

from typing import Any

from ..ir import (
    ALLOC,
    COMMUTATIVE,
    READ,
    TERMINATOR,
    WRITE,
    CountedLoop,
    Operation,
    RuleTable,
    Value,
    count,
    functions_of,
    memory_effects,
    pass_on,
    rewrite_greedily,
)
from .cse import cse
from .rules.scf import for_carried_values

__all__ = ["loop_aware_cse"]

_CLEANUP = RuleTable([for_carried_values])


@pass_on("function", statistics={"carried values merged": "carried values equal to another one of their loop"})
def loop_aware_cse(op: Operation) -> bool:
    """Eliminate common subexpressions and equal carried values in a function, or in all functions of a module."""
    changed = False
    for func in functions_of(op):
        changed |= bool(cse(func))
        loops = [op for op in func.walk_post() if isinstance(op, CountedLoop) and op.results]
        merged = sum(_merge_carried(loop) for loop in loops)
        count("carried values merged", merged)
        if merged:
            changed = True
            cse(func)
        if loops:
            changed |= rewrite_greedily(func, _CLEANUP)
    return changed


def _merge_carried(loop: CountedLoop) -> int:
    """Drop the carried values of a loop that are always equal to an earlier one; returns their number."""
    classes = equal_carried(loop)
    first: dict[int, int] = {}
    twins = {i: first.setdefault(c, i) for i, c in enumerate(classes)}
    twins = {i: twin for i, twin in twins.items() if i != twin}
    if not twins:
        return 0
    args = loop.iter_args
    for i, twin in twins.items():
        loop.results[i].replace_all_uses_with(loop.results[twin])
    new, spread = loop.without_iter_args({i: args[twin] for i, twin in twins.items()})
    assert loop.parent is not None
    loop.parent.insert_before(new, loop)
    kept = (spread[twins.get(i, i)] for i in range(len(spread)))
    loop.replace_with([v for v in kept if v is not None])
    return len(twins)


def equal_carried(loop: CountedLoop) -> list[int]:
    """The class of each carried value: those of one class are equal in every iteration."""
    groups: dict[Any, int] = {}
    classes = [groups.setdefault(v, len(groups)) for v in loop.init_args]
    while len(groups) < len(classes):
        numbers, known = _number_body(loop, classes), len(groups)
        groups = {}
        nexts = loop.yielded
        classes = [groups.setdefault((c, numbers.get(v, v)), len(groups)) for c, v in zip(classes, nexts)]
        if len(groups) == known:
            break
    return classes


def _number_body(loop: CountedLoop, classes: list[int]) -> dict[Value, Any]:
    """Value numbers of the body, assuming that the carried values of a class are equal.

    Values that are not in the result, among them those from outside, are equal only to themselves.
    """
    numbers: dict[Value, Any] = {arg: ("carried", c) for arg, c in zip(loop.iter_args, classes)}
    seen: dict[Any, int] = {}
    epoch = 0
    for op in loop.body:
        effects = 0 if op.traits & TERMINATOR else memory_effects(op)
        if effects & WRITE:
            epoch += 1
        if effects & (WRITE | ALLOC) or op.regions or not op.results:
            continue
        inputs = [numbers.get(v, v) for v in op.operands]
        if op.traits & COMMUTATIVE and len(inputs) == 2:
            inputs.sort(key=lambda n: hash(n))
        types = tuple(r.type for r in op.results)
        attributes = frozenset(op.attributes.items())
        key = (op.__class__, op.name, tuple(inputs), attributes, types, epoch if effects & READ else -1)
        number = seen.setdefault(key, len(seen))
        for r in op.results:
            numbers[r] = (number, r.index)
    return numbers
