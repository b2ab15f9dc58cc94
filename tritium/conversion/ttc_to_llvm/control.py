"""Structured control flow and branches, as basic blocks with phis."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, cf, scf, tt
from ...dialects import llvm as llvm_dialect
from ...ir import Block, Region, Value
from .context import FunctionContext, lowers
from .types import llvm_type

__all__ = ["lower_region"]


class _Phis:
    """Phi instructions whose incoming values are known only later: the lines are filled in by `close`."""

    def __init__(self, e: FunctionContext, values: list[Any]) -> None:
        self.e = e
        self.rows: list[tuple[int, str, str, list[str]]] = []
        for v in values:
            name = e.op("phi")
            e.bind(v, name)
            self.rows.append((len(e.lines) - 1, name, llvm_type(v.type), []))

    def incoming(self, operands: list[str], block: str) -> None:
        """An edge from `block` that carries `operands`."""
        for (_, _, _, edges), operand in zip(self.rows, operands, strict=True):
            edges.append(f"[ {operand}, %{block} ]")

    def close(self) -> None:
        """All edges are known."""
        for line, name, ty, edges in self.rows:
            self.e.lines[line] = f"  {name} = phi {ty} {', '.join(edges)}"


def _constant(value: Value) -> int | None:
    op = value.defining_op
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    return number if isinstance(number, int) else None


@lowers(scf.For)
def _for(e: FunctionContext, op: scf.For) -> None:
    lower, upper, step = map(_constant, (op.lb, op.ub, op.step))
    if lower is not None and upper is not None and step is not None and lower < upper:
        _counted_for(e, op, upper + step <= 1 << 30)
        return
    head, body, done = e.fresh_label("for"), e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{head}")
    e.label(head)
    phis = _Phis(e, op.body.args)
    phis.incoming([e(op.lb), *(e(v) for v in op.init_args)], before)
    test = e.op(f"icmp slt {e.typed(op.induction_variable)}, {e(op.ub)}")
    e.stmt(f"br i1 {test}, label %{body}, label %{done}")
    e.label(body)
    e.block_body(op.body)
    following = e.op(f"add {e.typed(op.induction_variable)}, {e(op.step)}")
    phis.incoming([following, *(e(v) for v in op.body.last.operands)], e.block)
    e.stmt(f"br label %{head}")
    phis.close()
    e.label(done)
    for result, arg in zip(op.results, op.iter_args, strict=True):
        e.bind(result, e(arg))


def _counted_for(e: FunctionContext, op: scf.For, no_wrap: bool) -> None:
    """A loop that runs at least once: the test stands at its end."""
    body, done = e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{body}")
    e.label(body)
    phis = _Phis(e, op.body.args)
    phis.incoming([e(op.lb), *(e(v) for v in op.init_args)], before)
    e.block_body(op.body)
    flags = " nuw nsw" if no_wrap else ""
    following = e.op(f"add{flags} {e.typed(op.induction_variable)}, {e(op.step)}")
    yielded = [e(v) for v in op.body.last.operands]
    test = e.op(f"icmp slt {llvm_type(op.lb.type)} {following}, {e(op.ub)}")
    phis.incoming([following, *yielded], e.block)
    e.stmt(f"br i1 {test}, label %{body}, label %{done}")
    phis.close()
    e.label(done)
    for result, name in zip(op.results, yielded, strict=True):
        e.bind(result, name)


@lowers(scf.If)
def _if(e: FunctionContext, op: scf.If) -> None:
    then, done = e.fresh_label("then"), e.fresh_label("endif")
    other = e.fresh_label("else") if op.else_block is not None else done
    e.stmt(f"br i1 {e(op.condition)}, label %{then}, label %{other}")
    edges = []
    for label, block in ((then, op.then_block), (other, op.else_block)):
        if block is None:
            continue
        e.label(label)
        e.block_body(block)
        yielded = [e(v) for v in block.last.operands] if block.last is not None else []
        edges.append((yielded, e.block))
        e.stmt(f"br label %{done}")
    e.label(done)
    phis = _Phis(e, op.results)
    for yielded, block in edges:
        phis.incoming(yielded, block)
    phis.close()


@lowers(scf.While)
def _while(e: FunctionContext, op: scf.While) -> None:
    head, body, done = e.fresh_label("while"), e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{head}")
    e.label(head)
    phis = _Phis(e, op.before_block.args)
    phis.incoming([e(v) for v in op.inits], before)
    e.block_body(op.before_block)
    condition = op.before_block.last
    assert isinstance(condition, scf.Condition)
    forwarded = [e(v) for v in condition.args]
    for targets in (op.after_block.args, op.results):
        for target, name in zip(targets, forwarded, strict=True):
            e.bind(target, name)
    e.stmt(f"br i1 {e(condition.condition)}, label %{body}, label %{done}")
    e.label(body)
    e.block_body(op.after_block)
    assert op.after_block.last is not None
    phis.incoming([e(v) for v in op.after_block.last.operands], e.block)
    e.stmt(f"br label %{head}")
    phis.close()
    e.label(done)


@lowers(scf.Yield, scf.Condition)
def _handed_on(e: FunctionContext, op: Any) -> None:
    """The enclosing operation reads the operands."""


def lower_region(e: FunctionContext, region: Region) -> None:
    """All blocks of a function body; the entry's arguments are bound already."""
    labels: dict[Block, str] = {b: e.fresh_label("block") for b in region.blocks[1:]}
    phis: dict[Block, _Phis] = {}
    branches: list[tuple[Block, list[Value], str]] = []
    for block in region.blocks:
        if block in labels:
            e.label(labels[block])
            phis[block] = _Phis(e, block.args)
        e.block_body(block)
        branches += _branch(e, block, labels)
    for target, values, origin in branches:
        phis[target].incoming([e(v) for v in values], origin)
    for p in phis.values():
        p.close()


def _branch(e: FunctionContext, block: Block, labels: dict[Block, str]) -> list[tuple[Block, list[Value], str]]:
    last = block.last
    if isinstance(last, cf.Br):
        e.stmt(f"br label %{labels[last.dest]}")
        return [(last.dest, last.dest_operands, e.block)]
    if not isinstance(last, cf.CondBr):
        return []
    origin, yes, no = e.block, last.true_dest, last.false_dest
    if yes is no:  # one block, two edges: phis want two origins
        hop = e.fresh_label("edge")
        e.stmt(f"br i1 {e(last.condition)}, label %{labels[yes]}, label %{hop}")
        e.label(hop)
        e.stmt(f"br label %{labels[no]}")
        return [(yes, last.true_operands, origin), (no, last.false_operands, hop)]
    e.stmt(f"br i1 {e(last.condition)}, label %{labels[yes]}, label %{labels[no]}")
    return [(yes, last.true_operands, origin), (no, last.false_operands, origin)]


@lowers(cf.Br, cf.CondBr)
def _branches_later(e: FunctionContext, op: Any) -> None:
    """Written by `lower_region`, which knows the labels."""


@lowers(tt.Return)
def _return(e: FunctionContext, op: tt.Return) -> None:
    e.stmt(f"br label %{e.next_program}")


@lowers(llvm_dialect.Assume)
def _assume(e: FunctionContext, op: Any) -> None:
    e.call_void("llvm.assume", ("i1", e(op.operands[0])))
