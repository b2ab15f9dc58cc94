"""Constant propagation and reachability, computed together, since each depends on the other.

The lattice of a value has three levels: unknown, one constant, or varying. States only move in this direction, so that
a loop-carried value is assumed constant until one of its sources says otherwise:

    %r = scf.for … iter_args(%a = 1) { %b = muli %a, 1; scf.yield %b }        %a, %b, %r are 1

Only reachable blocks contribute: the taken region of an `scf.if` with a constant condition, the successors of
`cf.cond_br`, bodies of loops that run, callees that are called. Arguments of a private function are the operands of its
calls; results of a call are what the callee returns. Operations are evaluated by the rules of `canonicalize`. After
Wegman and Zadeck, "Constant Propagation with Conditional Branches" (1991).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..dialects import cf, scf, tt
from ..ir import (
    CONSTANT,
    SYMBOL_TABLE,
    TERMINATOR,
    Attribute,
    Block,
    IntegerAttr,
    Operation,
    RuleTable,
    SymbolTable,
    Value,
    constant_of,
    fold,
    functions_of,
    is_private,
)
from .rules import ARITH_RULES, TT_RULES
from .rules.constants import integer_width, signed

__all__ = ["VARIES", "ConstantFlow", "State"]


class _Varies:
    def __repr__(self) -> str:
        return "varies"


VARIES = _Varies()
"""The state of a value that is not one constant."""

State = Attribute | _Varies
_RULES = RuleTable([*ARITH_RULES, *TT_RULES])


class ConstantFlow:
    """The solution for the functions of a module, or for one function with unknown callers.

    `states`: the state of each value; a missing one is never computed. `reached`: the blocks that may run.
    """

    def __init__(self, root: Operation) -> None:
        self.states: dict[Value, State] = {}
        self.reached: dict[Block, None] = {}  # in the order of discovery
        self.work: list[Operation] = []
        self.queued: set[Operation] = set()
        self.returned: dict[Operation, list[State | None]] = {}
        self.callees: dict[Operation, Operation] = {}
        self.callers: dict[Operation, list[Operation]] = {}
        self.private: set[Operation] = set()
        functions = functions_of(root)
        if root.traits & SYMBOL_TABLE:
            self.resolve_calls(SymbolTable(root), functions)
        for func in functions:
            if func not in self.private:
                self.enter(func.regions[0].blocks[0], None)
        while self.work:
            op = self.work.pop()
            self.queued.discard(op)
            if op.parent in self.reached:
                self.visit(op)

    def resolve_calls(self, symbols: SymbolTable, functions: list[Operation]) -> None:
        """Resolve the callee of each call, and find the functions reachable through these calls only."""
        bodies = set(functions)
        for func in functions:
            for op in func.walk():
                if op.__class__ is tt.Call:
                    callee = symbols.lookup(op.callee)  # type: ignore[attr-defined]
                    if callee is not None and callee in bodies:
                        self.callees[op] = callee
                        self.callers.setdefault(callee, []).append(op)
        for func in functions:
            if is_private(func) and all(use.op in self.callees for use in symbols.uses(func)):
                self.private.add(func)

    # -- states -----------------------------------------------------------------------------------------------

    def state(self, value: Value) -> State | None:
        """The state of a value; None while it is unknown."""
        known = self.states.get(value)
        return constant_of(value) if known is None else known

    def join(self, value: Value, state: State | None) -> None:
        """Join `state` into the state of `value`."""
        old = self.states.get(value)
        if state is None or old is state or old is VARIES:
            return
        self.states[value] = state if old is None else VARIES
        for user in value.users:
            self.push(user)

    def join_all(self, values: Iterable[Value], states: Iterable[State | None]) -> None:
        """`join` for each pair."""
        for value, state in zip(values, states):
            self.join(value, state)

    def push(self, op: Operation) -> None:
        if op not in self.queued:
            self.queued.add(op)
            self.work.append(op)

    def enter(self, block: Block, values: Sequence[State | None] | None) -> None:
        """Mark `block` as reachable with these argument states (None: varying)."""
        self.join_all(block.args, [VARIES] * len(block.args) if values is None else values)
        if block not in self.reached:
            self.reached[block] = None
            for op in reversed(block):
                self.push(op)

    # -- operations -------------------------------------------------------------------------------------------

    def visit(self, op: Operation) -> None:
        """Update the states of the results of `op` from its operands."""
        special = _VISITS.get(op.__class__)
        if special is not None:
            special(self, op)
            return
        if op.traits & TERMINATOR:
            self.terminator(op)
        elif not op.regions:
            self.evaluate(op)
        if op.regions:
            self.join_all(op.results, [VARIES] * len(op.results))
            for region in op.regions:
                for block in region.blocks[:1]:
                    self.enter(block, None)

    def terminator(self, op: Operation) -> None:
        """A terminator of an unknown class: all successors are reachable, with varying arguments."""
        for successor in op.successors:
            self.enter(successor, None)
        parent = op.parent_op
        if not op.successors and parent is not None and parent.__class__ in _VISITS:
            self.push(parent)

    def evaluate(self, op: Operation) -> None:
        if not op.results or op.traits & CONSTANT:
            return
        states = self.values(op.operands)
        if None in states:
            return  # not computed yet; visited again when it is
        known = [None if s is VARIES else s for s in states]
        answer = None
        if any(s is not None for s in known) or len(set(op.operands)) < len(known):
            answer = fold(op, _RULES, known, dialect=op.name.partition(".")[0])  # type: ignore[arg-type]
        if answer is None:
            self.join_all(op.results, [VARIES] * len(op.results))
            return
        for result, part in zip(op.results, answer):
            self.join(result, part if isinstance(part, Attribute) else self.folded_to(op, part))

    def folded_to(self, op: Operation, value: Value) -> State | None:
        """The state of the value that a fold returned; changes are propagated only from operands."""
        return self.state(value) if value in op.operands else VARIES

    # -- control flow -----------------------------------------------------------------------------------------

    def ways(self, condition: Value) -> tuple[bool, bool]:
        """Whether an i1 may be true, and whether it may be false."""
        state = self.state(condition)
        if isinstance(state, IntegerAttr):
            return bool(state.value), not state.value
        return state is not None, state is not None

    def values(self, operands: Iterable[Value]) -> list[State | None]:
        return [self.state(v) for v in operands]

    def branch(self, op: Any) -> None:
        self.enter(op.dest, self.values(op.dest_operands))

    def conditional_branch(self, op: Any) -> None:
        yes, no = self.ways(op.condition)
        if yes:
            self.enter(op.true_dest, self.values(op.true_operands))
        if no:
            self.enter(op.false_dest, self.values(op.false_operands))

    def if_(self, op: Any) -> None:
        for region, taken in zip(op.regions, self.ways(op.condition)):
            if taken and region.blocks:
                self.enter(region.blocks[0], [])
                self.join_all(op.results, self.values(region.blocks[0].last.operands))

    def for_(self, op: Any) -> None:
        bounds = self.values(op.operands[:3])
        if None in bounds:
            return
        trips, body = _trips(op, bounds), op.body
        inits, nexts = self.values(op.init_args), self.values(body.last.operands)
        if trips != 0:
            self.enter(body, [bounds[0] if trips == 1 else VARIES, *inits])
            self.join_all(op.results, nexts)
            if trips != 1:
                self.join_all(body.args[1:], nexts)
        if trips in (0, None):
            self.join_all(op.results, inits)

    def while_(self, op: Any) -> None:
        before, after = op.before_block, op.after_block
        self.enter(before, self.values(op.inits))
        handed = self.values(before.last.args)
        yes, no = self.ways(before.last.condition)
        if yes:
            self.enter(after, handed)
            self.join_all(before.args, self.values(after.last.operands))
        if no:
            self.join_all(op.results, handed)

    def call(self, op: Any) -> None:
        callee = self.callees.get(op)
        if callee is None:
            self.join_all(op.results, [VARIES] * len(op.results))
            return
        if callee in self.private:
            self.enter(callee.regions[0].blocks[0], self.values(op.args))
        self.join_all(op.results, self.returned.get(callee, []))

    def return_(self, op: Any) -> None:
        func = op.parent_op
        old = self.returned.get(func, [None] * len(op.operands))
        new = [_both(a, b) for a, b in zip(old, self.values(op.operands))]
        if new != old:
            self.returned[func] = new
            for call in self.callers.get(func, []):
                self.push(call)


def _both(a: State | None, b: State | None) -> State | None:
    return b if a is None else a if b is None or a is b else VARIES


def _trips(op: Any, bounds: Sequence[State | None]) -> int | None:
    """The trip count of a loop with these bounds; None where it varies."""
    width = integer_width(op.lb.type)
    numbers = [signed(b.value, width) if isinstance(b, IntegerAttr) else None for b in bounds]
    lower, upper, step = numbers
    if lower is None or upper is None or step is None or step <= 0 or op.unsignedCmp:
        return None
    return max(0, -(-(upper - lower) // step))


_VISITS: dict[type[Operation], Callable[[ConstantFlow, Any], None]] = {
    cf.Br: ConstantFlow.branch,
    cf.CondBr: ConstantFlow.conditional_branch,
    scf.If: ConstantFlow.if_,
    scf.For: ConstantFlow.for_,
    scf.While: ConstantFlow.while_,
    tt.Call: ConstantFlow.call,
    tt.Return: ConstantFlow.return_,
}
