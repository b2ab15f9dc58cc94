"""Ways to make a module smaller, for `tritium reduce`.

A way finds targets in a module: operations, by their number in the order of `walk`, with what else tells one from
another. It takes some of them in a copy, whose operations have the same numbers. What it makes need not be valid: who
asks verifies it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..dialects import arith, cf, ub
from ..ir import (
    CONSTANT,
    ISOLATED,
    SYMBOL,
    TERMINATOR,
    ArrayAttr,
    Block,
    CountedLoop,
    FloatType,
    FunctionType,
    IfLike,
    IntegerType,
    Operation,
    Region,
    TensorType,
    TypeAttr,
    Value,
    index,
)

__all__ = ["WAYS", "Target", "Way", "size_of"]

Target = tuple[Any, ...]  # the number of an operation, and more


class Way(NamedTuple):
    """A reduction: its name, its candidates, and the function that applies some of them to a copy."""

    name: str
    find: Callable[[Operation], list[Target]]
    take: Callable[[list[Operation], Sequence[Target]], None]


def size_of(module: Operation) -> tuple[int, ...]:
    """What gets smaller: operations that are no constants; all; blocks, arguments and results; attributes; the values
    that are used."""
    work = total = blocks = attributes = 0
    used: set[Value] = set()
    for op in module.walk():
        total += 1
        work += not (op.traits & CONSTANT or op.name == "ub.poison")
        attributes += len(op.attributes)
        used.update(op.operands)
        for region in op.regions:
            blocks += sum(1 + len(block.args) for block in region.blocks)
        ty = _type_of(op)
        blocks += 0 if ty is None else len(ty.results)
        attributes += sum(len(row.elements) for row in _argument_attributes(op))
    return work, total, blocks, attributes, len(used)


def _argument_attributes(op: Operation) -> list[Any]:
    rows = op.attributes.get("arg_attrs")
    return [row for row in rows.elements if hasattr(row, "elements")] if isinstance(rows, ArrayAttr) else []


# ---- values in the place of others ----------------------------------------------------------------------------------


def _stand_in(ty: Any, before: Operation) -> Value:
    """A value of a type that dominates an operation: an argument, a new zero, an earlier result, or poison."""
    arg = _argument(ty, before)
    if arg is not None:
        return arg
    element = ty.element if isinstance(ty, TensorType) else ty
    if isinstance(element, (IntegerType, FloatType)) or element is index:
        return _placed(arith.Constant.of(0, ty), before)
    return _earlier(ty, before) or _placed(ub.Poison(result=ty), before)


def _argument(ty: Any, before: Operation) -> Value | None:
    """The first argument of a type, of the block around an operation or one around that."""
    op: Operation | None = before
    while op is not None and op.parent is not None:
        for arg in op.parent.args:
            if arg.type is ty:
                return arg
        op = op.parent_op
        if op is None or op.traits & ISOLATED:
            break
    return None


def _placed(op: Operation, before: Operation) -> Value:
    assert before.parent is not None
    before.parent.insert_before(op, before)
    return op.results[0]


def _earlier(ty: Any, before: Operation) -> Value | None:
    """The nearest dominating result of a type, in this block or an enclosing one."""
    around: Operation | None = before
    while around is not None and around.parent is not None:
        op = around.prev
        while op is not None:
            for result in op.results:
                if result.type is ty:
                    return result
            op = op.prev
        around = around.parent_op
        if around is None or around.traits & ISOLATED:
            return None
    return None


def _erase(op: Operation, values: Sequence[Value] = ()) -> None:
    """Erase an operation; replace its results by the values, or by others of the type."""
    for i, result in enumerate(op.results):
        if result.users:
            fits = i < len(values) and values[i].type is result.type
            result.replace_all_uses_with(values[i] if fits else _stand_in(result.type, op))
    op.erase()


def _attached(op: Operation) -> bool:
    return op.parent is not None


# ---- the ways -------------------------------------------------------------------------------------------------------


def _symbols(module: Operation) -> list[Target]:
    return [(i,) for i, op in enumerate(module.walk()) if i and op.traits & SYMBOL]


def _plain(module: Operation) -> list[Target]:
    """Operations but for symbols and terminators, users before what they use."""
    found = [(i,) for i, op in enumerate(module.walk()) if i and not op.traits & (SYMBOL | TERMINATOR)]
    return found[::-1]


def _erase_all(ops: list[Operation], targets: Sequence[Target]) -> None:
    for (i,) in targets:
        if _attached(ops[i]):
            _erase(ops[i])


def _regions(module: Operation) -> list[Target]:
    """Operations with regions of one block, outermost first, once for each region."""
    return [
        (i, k)
        for i, op in enumerate(module.walk())
        if i and op.regions and not op.traits & (ISOLATED | SYMBOL)
        for k, region in enumerate(op.regions)
        if len(region.blocks) == 1
    ]


def _inline_regions(ops: list[Operation], targets: Sequence[Target]) -> None:
    """The body in the place of the operation, as if it ran once."""
    for i, k in targets:
        op = ops[i]
        if _attached(op):
            _inline(op, op.regions[k].blocks[0])


def _inline(op: Operation, body: Block) -> None:
    given = list(op.operands)
    for arg in body.args:
        value = next((v for v in given if v.type is arg.type), None)
        if value is not None:
            given.remove(value)
        if arg.users:
            arg.replace_all_uses_with(value if value is not None else _stand_in(arg.type, op))
    results: list[Value] = []
    for inner in list(body):
        if inner.traits & TERMINATOR:
            results = list(inner.operands)[-len(op.results) :] if op.results else []
            inner.erase()
        else:
            inner.move_before(op)
    _erase(op, results)


def _carried(module: Operation) -> list[Target]:
    """The results of counted loops and of conditionals."""
    kinds = (CountedLoop, IfLike)
    return [
        (i, k) for i, op in enumerate(module.walk()) if isinstance(op, kinds) for k in reversed(range(len(op.results)))
    ]


def _drop_carried(ops: list[Operation], targets: Sequence[Target]) -> None:
    """Remove a loop-carried value: its initial value replaces it inside and after the loop; a value replaces the result
    of a branch."""
    for i, k in targets:
        op = ops[i]
        if not _attached(op) or k >= len(op.results):
            continue
        result = op.results[k]
        if isinstance(op, CountedLoop):
            init = op.init_args[k]
            op.iter_args[k].replace_all_uses_with(init)
            result.replace_all_uses_with(init)
            op.body.erase_argument(1 + k)
            op.set_operands([v for n, v in enumerate(op.operands) if n != op.init_start + k])
        elif result.users:
            result.replace_all_uses_with(_stand_in(result.type, op))
        for region in op.regions:
            for block in region.blocks:
                if block.last is not None:
                    block.last.set_operands([v for n, v in enumerate(block.last.operands) if n != k])
        del op.results[k]
        for n, left in enumerate(op.results):
            left.index = n


def _operands(module: Operation) -> list[Target]:
    """Operands that a function argument could replace."""
    return [
        (i, k)
        for i, op in enumerate(module.walk())
        for k, value in enumerate(op.operands)
        if _argument(value.type, op) not in (None, value)
    ]


def _use_arguments(ops: list[Operation], targets: Sequence[Target]) -> None:
    for i, k in targets:
        value = _argument(ops[i].operands[k].type, ops[i])
        if value is not None:
            ops[i].set_operand(k, value)


def _branches(module: Operation) -> list[Target]:
    """Ends of blocks that go to several, once for each that they may go to."""
    return [(i, k) for i, op in enumerate(module.walk()) if len(op.successors) > 1 for k in range(len(op.successors))]


def _go_on(ops: list[Operation], targets: Sequence[Target]) -> None:
    """Go to one of them; blocks that nothing leads to are erased."""
    for i, k in targets:
        op = ops[i]
        if _attached(op) and len(op.successors) > 1:
            block, region = op.parent, op.parent.parent  # type: ignore[union-attr]
            goal, values = op.successors[k], list(op.successor_operands()[k])  # type: ignore[attr-defined]
            op.erase()
            block.append(cf.Br(values, goal))  # type: ignore[union-attr]
            _drop_unreachable(region)


def _drop_unreachable(region: Region) -> None:
    reached, work = set(), [region.blocks[0]]
    while work:
        block = work.pop()
        if block not in reached:
            reached.add(block)
            work.extend(block.last.successors if block.last is not None else ())
    for block in [b for b in region.blocks if b not in reached]:
        for op in block:
            op.drop_references()
            op.parent = None
        region.blocks.remove(block)


def _straight(module: Operation) -> list[Target]:
    """Branches to a block that nothing else leads to."""
    found: list[Target] = []
    entered: dict[Block, int] = {}
    for op in module.walk():
        for goal in op.successors:
            entered[goal] = entered.get(goal, 0) + 1
    for i, op in enumerate(module.walk()):
        if len(op.successors) == 1 and entered[op.successors[0]] == 1 and op.successors[0] is not op.parent:
            found.append((i,))
    return found


def _merge_blocks(ops: list[Operation], targets: Sequence[Target]) -> None:
    for (i,) in targets:
        op = ops[i]
        block, goal = op.parent, op.successors[0] if op.successors else None
        if block is None or goal is None or goal.parent is None or goal is goal.parent.blocks[0] or goal is block:
            continue
        for arg, value in zip(goal.args, list(op.operands)):
            arg.replace_all_uses_with(value)
        op.erase()
        for inner in list(goal):
            inner.detach()
            block.append(inner)
        goal.parent.blocks.remove(goal)
        goal.parent = None


def _attributes(module: Operation) -> list[Target]:
    """Attributes of operations, and those of the arguments of functions."""
    found: list[Target] = [(i, key) for i, op in enumerate(module.walk()) for key in op.attributes]
    for i, op in enumerate(module.walk()):
        found += [(i, "arg_attrs", n) for n, row in enumerate(_argument_attributes(op)) if row.elements]
    return found


def _drop_attributes(ops: list[Operation], targets: Sequence[Target]) -> None:
    for i, key, *more in targets:
        rows = ops[i].attributes.get(key)
        if not more:
            ops[i].attributes.pop(key, None)
        elif isinstance(rows, ArrayAttr):
            kept = list(rows.elements)
            kept[more[0]] = type(kept[more[0]])({})  # type: ignore[call-arg]
            ops[i].attributes[key] = ArrayAttr(tuple(kept))


def _unused_arguments(module: Operation) -> list[Target]:
    """Arguments of functions that nothing uses, the last first; and results of functions, as argument -1."""
    found: list[Target] = []
    for i, op in enumerate(module.walk()):
        ty = _type_of(op)
        if ty is not None and op.regions and op.regions[0].blocks:
            args = op.regions[0].blocks[0].args
            found += [(i, n) for n in reversed(range(len(args))) if not args[n].users]
            found += [(i, -1)] if ty.results else []
    return found


def _type_of(op: Operation) -> FunctionType | None:
    ty = getattr(op, "function_type", None)
    return ty if isinstance(ty, FunctionType) else None


def _drop_arguments(ops: list[Operation], targets: Sequence[Target]) -> None:
    for i, n in targets:
        op, ty = ops[i], _type_of(ops[i])
        if ty is None or not _attached(op):
            continue
        if n < 0:
            op.attributes["function_type"] = TypeAttr(FunctionType(ty.inputs, ()))
            for inner in op.walk():
                if inner.traits & TERMINATOR and inner.parent_op is op and not inner.successors:
                    inner.set_operands([])
            op.attributes.pop("res_attrs", None)
            continue
        op.regions[0].blocks[0].erase_argument(n)
        inputs = (*ty.inputs[:n], *ty.inputs[n + 1 :])
        op.attributes["function_type"] = TypeAttr(FunctionType(inputs, ty.results))
        rows = op.attributes.get("arg_attrs")
        if isinstance(rows, ArrayAttr):
            op.attributes["arg_attrs"] = ArrayAttr((*rows.elements[:n], *rows.elements[n + 1 :]))


#: In the order in which they pay: what takes most away first.
WAYS = [
    Way("erasing functions", _symbols, _erase_all),
    Way("erasing operations", _plain, _erase_all),
    Way("inlining regions", _regions, _inline_regions),
    Way("carrying less", _carried, _drop_carried),
    Way("going straight on", _branches, _go_on),
    Way("joining blocks", _straight, _merge_blocks),
    Way("using arguments", _operands, _use_arguments),
    Way("dropping arguments", _unused_arguments, _drop_arguments),
    Way("dropping attributes", _attributes, _drop_attributes),
]
