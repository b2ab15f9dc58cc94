"""Structured control flow and branches, as basic blocks with phis.

A value is a list of LLVM operands here, its parts: one on CPUs, one a register of a thread for a tensor on GPUs. What
differs between targets is how a value's parts are named and typed, which the function's context knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...dialects import arith, cf, scf
from ...dialects import llvm as llvm_dialect
from ...dialects.llvm_loops import LICM_OFF
from ...ir import Block, CountedLoop, IfLike, LoopLike, Operation, Region, Type, Value
from .module import ModuleContext

__all__ = ["CONTROL", "Phis", "lower_for", "lower_if", "lower_region"]

_METADATA = 1 << 20  # the first number of metadata about loops


class Context(Protocol):
    """The interface of a function context for control flow."""

    lines: list[str]
    block: str

    @property
    def module(self) -> ModuleContext: ...
    def op(self, text: str) -> str: ...
    def stmt(self, text: str) -> None: ...
    def fresh_label(self, hint: str) -> str: ...
    def label(self, name: str) -> None: ...
    def parts(self, value: Value) -> list[str]: ...
    def bind_parts(self, value: Value, parts: list[str]) -> None: ...
    def types_of(self, ty: Type) -> list[str]: ...
    def block_body(self, block: Block) -> None: ...
    def call_void(self, intrinsic: str, *operands: tuple[str, str]) -> None: ...


class Phis:
    """Phi instructions whose incoming values are known only later: the lines are filled in by `close`."""

    def __init__(self, e: Context, values: list[Any]) -> None:
        self.e = e
        self.rows: list[tuple[int, str, str, list[str]]] = []
        for v in values:
            types = e.types_of(v.type)
            names = [e.op("phi") for _ in types]
            first = len(e.lines) - len(names)
            e.bind_parts(v, names)
            self.rows += [(first + i, name, ty, []) for i, (name, ty) in enumerate(zip(names, types))]

    def incoming(self, operands: list[str], block: str) -> None:
        """An edge from `block` that carries `operands`, the parts of all values in a row."""
        for (_, _, _, edges), operand in zip(self.rows, operands, strict=True):
            edges.append(f"[ {operand}, %{block} ]")

    def close(self) -> None:
        """All edges are known."""
        for line, name, ty, edges in self.rows:
            self.e.lines[line] = f"  {name} = phi {ty} {', '.join(edges)}"


def _all_parts(e: Context, values: Any) -> list[str]:
    return [part for v in values for part in e.parts(v)]


def _typed(e: Context, value: Value) -> str:
    (ty,), (operand,) = e.types_of(value.type), e.parts(value)
    return f"{ty} {operand}"


def _constant(value: Value) -> int | None:
    op = value.defining_op
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    return number if isinstance(number, int) else None


def _wishes(e: Context, op: LoopLike) -> str:
    """What the jump back of a loop tells LLVM: that nothing is to be moved in front of it, where the loop says so."""
    hints = op.attributes.get("llvm.loop_annotation")
    if hints is not LICM_OFF:
        return ""
    # numbers of metadata may have gaps: these are above those of debug information, which are written last
    e.module.declare(f'!{_METADATA} = !{{!"llvm.licm.disable"}}')
    number = _METADATA + len(e.module.declares)
    e.module.declare(f"!{number} = distinct !{{!{number}, !{_METADATA}}}")
    return f", !llvm.loop !{number}"


def lower_for(
    e: Context, op: CountedLoop, ending: Callable[[], object] | None = None, whole: tuple[Value, int] | None = None
) -> None:
    """A loop. `ending` writes what follows the last iteration, and is not run where there is no iteration.

    `whole` is `analysis.trips.whole_block`: with `(n, c)` there are no iterations, or those from `lb` to `lb + c`.
    """
    lower, upper, step = map(_constant, (op.lb, op.ub, op.step))
    unsigned = bool(op.unsignedCmp)
    if lower is not None and upper is not None and step is not None and not unsigned and lower < upper:
        _counted_for(e, op, lower, upper, step)
        return
    if ending is not None or whole is not None:
        _guarded_for(e, op, ending or (lambda: None), whole)
        return
    head, body, done = e.fresh_label("for"), e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{head}")
    e.label(head)
    phis = Phis(e, op.body.args)
    phis.incoming(_all_parts(e, [op.lb, *op.init_args]), before)
    test = e.op(f"icmp {'ult' if unsigned else 'slt'} {_typed(e, op.induction_variable)}, {e.parts(op.ub)[0]}")
    e.stmt(f"br i1 {test}, label %{body}, label %{done}")
    e.label(body)
    e.block_body(op.body)
    following = e.op(f"add {_typed(e, op.induction_variable)}, {e.parts(op.step)[0]}")
    phis.incoming([following, *_all_parts(e, op.yielded)], e.block)
    e.stmt(f"br label %{head}{_wishes(e, op)}")
    phis.close()
    e.label(done)
    for result, arg in zip(op.results, op.iter_args, strict=True):
        e.bind_parts(result, e.parts(arg))


def _guarded_for(
    e: Context, op: CountedLoop, ending: Callable[[], object], whole: tuple[Value, int] | None = None
) -> None:
    """A loop with its test at the end, guarded by a test for zero iterations.

    A `whole` block is tested for equality with its end: LLVM computes a constant trip count from that.
    """
    compare = again = f"icmp {'ult' if op.unsignedCmp else 'slt'} {e.types_of(op.lb.type)[0]}"
    body, end, done = e.fresh_label("body"), e.fresh_label("end"), e.fresh_label("done")
    before, inits = e.block, _all_parts(e, op.init_args)
    bound = limit = e.parts(op.ub)[0]
    if whole is not None:
        limit, again = e.parts(whole[0])[0], compare.replace("slt", "ne")
        bound = e.op(f"add {_typed(e, op.lb)}, {whole[1]}")
    e.stmt(f"br i1 {e.op(f'{compare} {e.parts(op.lb)[0]}, {limit}')}, label %{body}, label %{done}")
    e.label(body)
    phis = Phis(e, op.body.args)
    phis.incoming([e.parts(op.lb)[0], *inits], before)
    e.block_body(op.body)
    following = e.op(f"add {_typed(e, op.induction_variable)}, {e.parts(op.step)[0]}")
    yielded = _all_parts(e, op.yielded)
    phis.incoming([following, *yielded], e.block)
    e.stmt(f"br i1 {e.op(f'{again} {following}, {bound}')}, label %{body}, label %{end}{_wishes(e, op)}")
    phis.close()
    e.label(end)
    ending()
    last = e.block
    e.stmt(f"br label %{done}")
    e.label(done)
    results = Phis(e, list(op.results))
    results.incoming(inits, before)
    results.incoming(yielded, last)
    results.close()


def _counted_for(e: Context, op: CountedLoop, lower: int, upper: int, step: int) -> None:
    """A loop that runs at least once, with the test at its end."""
    body, done = e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{body}")
    e.label(body)
    phis = Phis(e, op.body.args)
    phis.incoming(_all_parts(e, [op.lb, *op.init_args]), before)
    e.block_body(op.body)
    counter, ty = _typed(e, op.induction_variable), e.types_of(op.lb.type)[0]
    limit = 1 << (int(ty[1:]) - 1)
    wraps = upper - 1 + step >= limit  # the greatest sum
    # as an unsigned number, a counter that passes through zero wraps
    flags = "" if wraps or step <= 0 else " nuw nsw" if lower >= 0 else " nsw"
    following = e.op(f"add{flags} {counter}, {e.parts(op.step)[0]}")
    yielded = [e.parts(v) for v in op.yielded]
    again = f"{counter}, {max(upper - step, -limit)}" if wraps else f"{ty} {following}, {e.parts(op.ub)[0]}"
    test = e.op(f"icmp slt {again}")
    phis.incoming([following, *(part for parts in yielded for part in parts)], e.block)
    e.stmt(f"br i1 {test}, label %{body}, label %{done}{_wishes(e, op)}")
    phis.close()
    e.label(done)
    for result, parts in zip(op.results, yielded, strict=True):
        e.bind_parts(result, parts)


def lower_if(e: Context, op: IfLike, before_else: Callable[[], None] = lambda: None) -> None:
    """A branch by a condition; `before_else` writes what the second one begins with."""
    then, done = e.fresh_label("then"), e.fresh_label("endif")
    other = e.fresh_label("else") if op.else_block is not None else done
    e.stmt(f"br i1 {e.parts(op.condition)[0]}, label %{then}, label %{other}")
    edges = []
    for label, block in ((then, op.then_block), (other, op.else_block)):
        if block is None:
            continue
        e.label(label)
        if block is op.else_block:
            before_else()
        e.block_body(block)
        yielded = _all_parts(e, block.last.operands) if block.last is not None else []
        edges.append((yielded, e.block))
        e.stmt(f"br label %{done}")
    e.label(done)
    phis = Phis(e, op.results)
    for yielded, origin in edges:
        phis.incoming(yielded, origin)
    phis.close()


def _while(e: Context, op: scf.While) -> None:
    head, body, done = e.fresh_label("while"), e.fresh_label("body"), e.fresh_label("done")
    before = e.block
    e.stmt(f"br label %{head}")
    e.label(head)
    phis = Phis(e, op.before_block.args)
    phis.incoming(_all_parts(e, op.inits), before)
    e.block_body(op.before_block)
    condition = op.before_block.last
    assert isinstance(condition, scf.Condition)
    forwarded = [e.parts(v) for v in condition.args]
    for targets in (op.after_block.args, op.results):
        for target, parts in zip(targets, forwarded, strict=True):
            e.bind_parts(target, parts)
    e.stmt(f"br i1 {e.parts(condition.condition)[0]}, label %{body}, label %{done}")
    e.label(body)
    e.block_body(op.after_block)
    assert op.after_block.last is not None
    phis.incoming(_all_parts(e, op.after_block.last.operands), e.block)
    e.stmt(f"br label %{head}{_wishes(e, op)}")
    phis.close()
    e.label(done)


def _handed_on(e: Context, op: Any) -> None:
    """The enclosing operation reads the operands."""


def lower_region(e: Context, region: Region) -> None:
    """All blocks of a function body; the entry's arguments are bound already."""
    labels: dict[Block, str] = {b: e.fresh_label("block") for b in region.blocks[1:]}
    phis: dict[Block, Phis] = {}
    branches: list[tuple[Block, list[Value], str]] = []
    for block in region.blocks:
        if block in labels:
            e.label(labels[block])
            phis[block] = Phis(e, block.args)
        e.block_body(block)
        branches += _branch(e, block, labels)
    for target, values, origin in branches:
        phis[target].incoming(_all_parts(e, values), origin)
    for p in phis.values():
        p.close()


def _branch(e: Context, block: Block, labels: dict[Block, str]) -> list[tuple[Block, list[Value], str]]:
    last = block.last
    if isinstance(last, cf.Br):
        e.stmt(f"br label %{labels[last.dest]}")
        return [(last.dest, last.dest_operands, e.block)]
    if not isinstance(last, cf.CondBr):
        return []
    origin, yes, no = e.block, last.true_dest, last.false_dest
    condition = e.parts(last.condition)[0]
    if yes is no:  # one block, two edges: phis want two origins
        hop = e.fresh_label("edge")
        e.stmt(f"br i1 {condition}, label %{labels[yes]}, label %{hop}")
        e.label(hop)
        e.stmt(f"br label %{labels[no]}")
        return [(yes, last.true_operands, origin), (no, last.false_operands, hop)]
    e.stmt(f"br i1 {condition}, label %{labels[yes]}, label %{labels[no]}")
    return [(yes, last.true_operands, origin), (no, last.false_operands, origin)]


def _branches_later(e: Context, op: Any) -> None:
    """Written by `lower_region`, which knows the labels."""


def _assume(e: Context, op: Any) -> None:
    e.call_void("llvm.assume", ("i1", e.parts(op.operands[0])[0]))


CONTROL: dict[type[Operation], Callable[[Any, Any], None]] = {
    CountedLoop: lower_for,
    IfLike: lower_if,
    scf.While: _while,
    scf.Yield: _handed_on,
    scf.Condition: _handed_on,
    cf.Br: _branches_later,
    cf.CondBr: _branches_later,
    llvm_dialect.Assume: _assume,
}
"""The lowerings of control flow, for every target's table."""
