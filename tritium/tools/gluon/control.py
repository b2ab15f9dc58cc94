"""Loops, branches and warp specialization in Gluon."""

from __future__ import annotations

from ...dialects import ttg, ttng
from ...dialects.ttg_memory import AsyncTokenType
from ...ir import Block, CountedLoop, LoopLike, Operation, Value
from .printer import KernelPrinter, NoGluon, Statements

__all__ = ["STATEMENTS"]


def _for(p: KernelPrinter, op: CountedLoop) -> None:
    if "unsignedCmp" in op.attributes:
        raise NoGluon(op, "with unsigned bounds")
    body = op.regions[0].blocks[0]
    index, *carried = body.args
    last = body.last
    assert last is not None
    names, values = [], []
    for argument, first, next_value, result in zip(carried, op.operands[op.init_start :], last.operands, op.results):
        if isinstance(argument.type, AsyncTokenType):
            continue
        name = p.names.of(argument, "carried")
        made = next_value.defining_op
        text = p.use(first)
        if isinstance(made, ttng.WarpGroupDot) and made.isAsync:
            p.imports.add("from tritium.experimental.gluon.language.nvidia.hopper import warpgroup_mma_init")
            text = f"warpgroup_mma_init({text})"
        p.line(f"{name} = {text}")
        p.texts[argument] = p.texts[result] = name
        names.append(name)
        values.append(next_value)
    p.texts[index] = p.names.of(index, "i")
    p.line(f"for {p.texts[index]} in range({p.use(op.lb)}, {p.use(op.ub)}, {p.use(op.step)}):")
    with p.indented():
        p.block(body)
        p.assign(names, list(map(p.use, values)))


def _if(p: KernelPrinter, op: Operation) -> None:
    names = [p.names.of(r, "chosen") for r in op.results]
    for i, region in enumerate(op.regions):
        if not region.blocks:
            continue
        p.line(f"if {p.use(op.operands[0])}:" if i == 0 else "else:")
        with p.indented():
            p.block(region.blocks[0])
            last = region.blocks[0].last
            assert last is not None
            p.assign(names, list(map(p.use, last.operands)))
    p.texts.update(zip(op.results, names))


def _while(p: KernelPrinter, op: LoopLike) -> None:
    """`while f(x):` with the first region as `f`, or as an expression where it is one operation."""
    before, after = (region.blocks[0] for region in op.regions)
    condition = before.last
    assert condition is not None
    names = []
    for argument, first in zip(before.args, op.operands):
        name = p.names.of(argument, "carried")
        p.line(f"{name} = {p.use(first)}")
        p.texts[argument] = name
        names.append(name)
    text = _condition(p, before, condition.operands[0])
    for value, argument, result in zip(condition.operands[1:], after.args, op.results):
        if value not in p.texts:
            raise NoGluon(op, "with values that its condition computes")
        p.texts[argument] = p.texts[result] = p.use(value)
    p.line(f"while {text}:")
    with p.indented():
        p.block(after)
        p.assign(names, list(map(p.use, op.yielded)))


def _condition(p: KernelPrinter, block: Block, value: Value) -> str:
    """The condition of a loop: an expression, or the call of a function of it."""
    operations = [op for op in block if op is not block.last]
    if not operations:
        return p.use(value)
    if len(operations) == 1 and operations[0].name in _PURE and operations[0] is value.defining_op:
        return p.expressions[operations[0].name](p, operations[0])
    inner, captured = p.nested(), p.captured([block])
    for op in operations:
        inner.operation(op)
    inner.line(f"return {inner.use(value)}")
    return f"{inner.define('condition', captured)}({', '.join(captured)})"


_PURE = ("arith.cmpi", "arith.cmpf", "arith.andi", "arith.ori", "arith.xori")


def _specialize(p: KernelPrinter, op: ttg.WarpSpecialize) -> None:
    """Functions for the default region and the partitions, whose arguments are what the regions capture."""
    default, holder = op.regions[0].blocks[0], op.partitions
    calls = [_function(p, "default_partition", default, {})]
    for region in holder.regions:
        block = region.blocks[0]
        given: dict[Value, str] = {argument: p.use(value) for argument, value in zip(block.args, holder.operands)}
        calls.append(_function(p, "partition", block, given))
    names = [p.names.of(r, "result") for r in op.results]
    p.texts.update(zip(op.results, names))
    registers = "" if op.requestedRegisters is None else f", {list(op.requestedRegisters)}"
    p.line(f"{', '.join(names)}{' = ' * bool(names)}gl.warp_specialize([")
    for call in calls:
        p.line(f"    {call},")
    p.line(f"], {list(op.partitionNumWarps)}{registers})")


def _function(p: KernelPrinter, name: str, block: Block, given: dict[Value, str]) -> str:
    """A function of a block as `(function, (arguments,))`."""
    inner = p.nested()
    inner.texts.update(given)
    captured = inner.captured([block])
    inner.block(block)
    last = block.last
    if last is not None and last.operands:
        inner.line(f"return {', '.join(map(inner.use, last.operands))}")
    elif not inner.lines:
        inner.line("pass")
    made = inner.define(name, captured)
    return f"({made}, ({', '.join(captured)}{',' * (len(captured) == 1)}))"


def _nothing(p: KernelPrinter, op: Operation) -> None:
    """Written with the operation of the region."""


STATEMENTS: Statements = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": _nothing,
    "ttg.warp_specialize": _specialize,
    "ttg.warp_yield": _nothing,
    "ttg.warp_return": _nothing,
}
