"""Rules of structured control flow."""

from __future__ import annotations

from typing import Any

from ...dialects import tt
from ...dialects.arith import AndI, ExtSI, MaxSI, MinSI, Select, TruncI
from ...ir import CHANGED, PURE, CountedLoop, IfLike, Operation, Rule, Touched, Value, element_type, i1, i32, i64, rule
from ..regions import is_inside, splice
from .constants import constant, splat_of
from .scf_while import WHILE_RULES

__all__ = ["SCF_RULES", "selectable"]


# -- if -----------------------------------------------------------------------------------------------------------


@rule(IfLike)
def if_known(op: Any) -> Any:
    """if true { a } else { b } = a, if false { a } else { b } = b"""
    c = splat_of(op.condition)
    if c is None:
        return None
    block = op.then_block if c else op.else_block
    if block is None:
        return []
    moved, values = splice(block, op, [])
    return Touched(values, moved)


@rule(IfLike)
def if_condition_inside(op: Any) -> Any:
    """if p { f(p) } else { g(p) } = if p { f(true) } else { g(false) }"""
    p = op.condition
    if len(p.users) == 1 and p.has_one_use:
        return None
    touched: list[Operation] = []
    for region, number in zip(op.regions, (1, 0)):
        inside = [u for u in p.users if is_inside(u, region)]
        if not inside:
            continue
        known = constant(number, i1)
        region.blocks[0].prepend(known.defining_op)  # type: ignore[arg-type]
        touched += [known.defining_op, *inside]  # type: ignore[list-item]
        for user in inside:
            for i, v in enumerate(user.operands):
                if v is p:
                    user.set_operand(i, known)
    return Touched(CHANGED, touched) if touched else None


def selectable(value: Value) -> bool:
    """Block pointers and descriptors are bundles of scalars, and have no select."""
    element = element_type(value.type)
    if isinstance(element, tt.PointerType):
        return element_type(element.pointee) is element.pointee
    return not isinstance(element, tt.TensorDescType)


@rule(IfLike)
def if_result_from_outside(op: Any) -> Any:
    """r = if p { yield x } else { yield x } is x, and { yield x } else { yield y } is select(p, x, y); unused r is
    removed"""
    if not op.results:
        return None
    ours = (op.then_block, op.else_block)
    yields = [block.last.operands for block in ours]
    replaced: dict[int, Value] = {}
    for i, (r, x, y) in enumerate(zip(op.results, *yields)):
        if not r.users:
            replaced[i] = r
        elif x is y:
            replaced[i] = x
        elif x.block not in ours and y.block not in ours and selectable(x):
            replaced[i] = Select(op.condition, x, y, loc=op.loc).result
    if not replaced:
        return None
    needless = [d for side in yields for i in replaced if (d := side[i].defining_op) is not None]
    new, spread = op.without_results(replaced)
    # Before the branch, so that a tensor can become its result again (combine-tensor-select-and-if).
    selects = [v.defining_op for v in replaced.values() if v.defining_op.__class__ is Select and v.block is None]
    for made in (*selects, new):
        op.parent.insert_before(made, op)
    return Touched([replaced[i] if v is None else v for i, v in enumerate(spread)], [new, *selects, *needless])


@rule(IfLike)
def if_empty_else(op: Any) -> Any:
    """if p { a } else { } = if p { a }"""
    block = op.else_block
    if op.results or block is None or block.first is not block.last:
        return None
    block.erase()
    return CHANGED


@rule(IfLike)
def if_nested(op: Any) -> Any:
    """if p { if q { a } } = if p & q { a }, where q comes from outside"""
    inner = op.then_block.first
    if op.results or op.else_block is not None or not isinstance(inner, IfLike) or inner.next is not op.then_block.last:
        return None
    if inner.results or inner.else_block is not None or inner.condition.block is op.then_block:
        return None
    both = AndI(op.condition, inner.condition)
    moved, _ = splice(inner.then_block, inner, [])
    inner.erase()
    op.parent.insert_before(both, op)
    op.set_condition(both.result)
    return Touched(CHANGED, [both, *moved])


@rule(IfLike)
def if_same_condition(op: Any) -> Any:
    """if p { a } else { b }; if p { c } else { d } = if p { a; c } else { b; d }"""
    first = op.prev
    if first.__class__ is not op.__class__ or first.condition is not op.condition:
        return None
    types = [r.type for r in (*first.results, *op.results)]
    new = op.build(op.condition, types, with_else=bool(types or first.else_block or op.else_block))
    new.loc, new.attributes = op.loc, {**first.attributes, **op.attributes}
    for source, early, late in zip(new.regions, first.regions, op.regions):
        _run_both(new, source, early, late, first)
    op.parent.insert_before(new, op)
    n = len(first.results)
    for old, result in zip(first.results, new.results):
        result.hint = old.hint
        old.replace_all_uses_with(result)
    for old, result in zip(op.results, new.results[n:]):
        result.hint = old.hint
    first.erase()
    regions = [inner for region in new.regions for block in region.blocks for inner in block]
    return Touched(list(new.results[n:]), [new, *regions])


def _run_both(made: IfLike, target: Any, early: Any, late: Any, first: Any) -> None:
    """Fill `target` with the operations of `early` and then `late`, in which the results of `first` are its yielded
    values."""
    if not target.blocks:
        return
    block, yielded = target.blocks[0], []
    for region in (early, late):
        if not region.blocks:
            continue
        last = region.blocks[0].last
        values = list(last.operands)
        last.erase()
        for inner in list(region.blocks[0]):
            inner.detach()
            block.append(inner)
        if region is early:
            for r, v in zip(first.results, values):
                r.replace_uses_where(v, lambda user, late=late: is_inside(user, late))  # type: ignore[misc]
        yielded += values
    block.append(made.make_yield(yielded))


# -- for ----------------------------------------------------------------------------------------------------------


@rule(CountedLoop)
def for_few(op: Any) -> Any:
    """a loop with no iterations is its initial values; one with a single iteration is its body"""
    n = op.trip_count()
    if n == 0:
        return list(op.init_args)
    if n != 1:
        return None
    moved, values = splice(op.body, op, [op.lb, *op.init_args])
    return Touched(values, moved)


def _feeds_only_itself(arg: Value, index: int, body: Any) -> bool:
    """True when `arg` is used only by pure operations of the body that contribute to its own next value."""
    work, seen = [arg], {arg}
    while work:
        for user in work.pop().users:
            if user is body.last:
                continue
            if user.parent is not body or not user.traits & PURE:
                return False
            for r in user.results:
                if r not in seen:
                    seen.add(r)
                    work.append(r)
    return all(v not in seen or i == index for i, v in enumerate(body.last.operands))


@rule(CountedLoop)
def for_carried_values(op: Any) -> Any:
    """a carried value that never changes is its initial value; a dead one, or one equal to another, is removed"""
    body = op.body
    inits, args, yields = op.init_args, body.args[1:], op.yielded
    replaced: dict[int, Value] = {}
    outside: dict[int, Value] = {}
    first: dict[tuple[Value, Value], int] = {}
    for i, (init, arg, nxt) in enumerate(zip(inits, args, yields)):
        if nxt is arg or nxt is init:
            replaced[i] = outside[i] = init
        elif (init, nxt) in first:
            twin = first[init, nxt]
            replaced[i], outside[i] = args[twin], op.results[twin]
        elif not op.results[i].users and _feeds_only_itself(arg, i, body):
            replaced[i] = outside[i] = init
        else:
            first[init, nxt] = i
    if not replaced:
        return None
    touched = [u for i in replaced for u in args[i].users]
    touched += [d for i in replaced if (d := yields[i].defining_op) is not None]
    old = list(op.results)
    new, spread = op.without_iter_args(replaced)
    values: list[Any] = [outside[i] if v is None else v for i, v in enumerate(spread)]
    for i, v in enumerate(values):
        if v in old:
            values[i] = values[old.index(v)]
    op.parent.insert_before(new, op)
    return Touched(values, [new, *touched])


@rule(CountedLoop)
def for_of_32_bits(op: CountedLoop) -> Touched | None:
    """for i64 i = c1 to n step c2 = for i32 i = c1 to n step c2 where n is at most a constant, and i cannot leave 32
    bits"""
    first, step, last = splat_of(op.lb), splat_of(op.step), _upper_bound(op.ub)
    if op.unsignedCmp or op.lb.type is not i64 or first is None or step is None or last is None:
        return None
    if step <= 0 or first < -(1 << 31) or max(first, last) + step >= 1 << 31:
        return None
    inside = MaxSI(op.ub, op.lb, loc=op.loc)
    narrow = [constant(first, i32), TruncI(inside.result, out=i32, loc=op.loc).out, constant(step, i32)]
    made = [inside, *(v.defining_op for v in narrow)]
    for new in made:
        op.parent.insert_before(new, op)
    counter = op.body.args[0]
    users = list(counter.users)
    counter.type = i32
    wide = ExtSI(counter, out=i64, loc=op.loc)
    counter.replace_all_uses_with(wide.out)
    wide.set_operand(0, counter)
    op.body.prepend(wide)
    op.set_operands([*narrow, *op.operands[3:]])
    return Touched(CHANGED, [*made, wide, *users])


def _upper_bound(value: Value) -> int | None:
    """A constant that an integer does not exceed; None where none is known."""
    made = value.defining_op
    if not isinstance(made, (MinSI, MaxSI)):
        number: int | None = splat_of(value)
        return number
    bounds = [_upper_bound(v) for v in made.operands]
    known = [n for n in bounds if n is not None]
    if isinstance(made, MinSI):
        return min(known, default=None)
    return max(known) if len(known) == 2 else None


SCF_RULES: list[Rule] = [
    if_known,
    if_condition_inside,
    if_result_from_outside,
    if_empty_else,
    if_nested,
    if_same_condition,
    for_few,
    for_carried_values,
    for_of_32_bits,
    *WHILE_RULES,
]
