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

from collections.abc import Iterable, Sequence

from ..analysis.dataflow import SparseForward
from ..dialects import cf, tt
from ..ir import (
    CONSTANT,
    SYMBOL_TABLE,
    Attribute,
    Block,
    Branch,
    CountedLoop,
    IntegerAttr,
    Operation,
    RegionBranch,
    RegionEdge,
    RuleTable,
    SymbolTable,
    Value,
    constant_of,
    fold,
    functions_of,
    is_private,
)
from .rules import ARITH_RULES, TT_RULES

__all__ = ["VARIES", "ConstantFlow", "State"]


class _Varies:
    def __repr__(self) -> str:
        return "varies"


VARIES = _Varies()
"""The state of a value that is not one constant."""

State = Attribute | _Varies
_RULES = RuleTable([*ARITH_RULES, *TT_RULES])


class ConstantFlow(SparseForward[State]):
    """The solution for the functions of a module, or for one function about whose callers nothing is known.

    `states`: the state of each value; one that is missing is never computed. `reached`: the blocks that may run.
    """

    def __init__(self, root: Operation) -> None:
        super().__init__()
        self.returned: dict[Operation, list[State | None]] = {}
        self.callees: dict[Operation, Operation] = {}
        self.callers: dict[Operation, list[Operation]] = {}
        self.private: set[Operation] = set()
        functions = functions_of(root)
        if root.traits & SYMBOL_TABLE:
            self.resolve_calls(SymbolTable(root), functions)
        for func in functions:
            if func not in self.private:
                self.reach_unknown(func.regions[0].blocks[0])
        self.run()

    def resolve_calls(self, symbols: SymbolTable, functions: list[Operation]) -> None:
        """Find which function each call means, and the functions that nothing but these calls can reach."""
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

    # -- the lattice --------------------------------------------------------------------------------------------------

    def state(self, value: Value) -> State | None:
        """The state of a value; None while nothing is known."""
        known = self.states.get(value)
        return constant_of(value) if known is None else known

    def merge(self, first: State, second: State) -> State:
        """One constant where both are that, else anything."""
        return first if first is second else VARIES

    def entry(self, argument: Value) -> State:
        """Any value."""
        return VARIES

    def known(self, value: Value) -> Attribute | None:
        """The constant that a value is known to be."""
        state = self.state(value)
        return state if isinstance(state, Attribute) else None

    def values(self, operands: Iterable[Value]) -> list[State | None]:
        return [self.state(v) for v in operands]

    # -- control flow -------------------------------------------------------------------------------------------------

    def edges(self, branch: RegionBranch, source: Operation) -> Sequence[RegionEdge]:
        """None while what decides between them is not computed, then those that are feasible."""
        if None in self.values(branch.control_operands(source)):
            return ()
        return branch.feasible_edges(source, self.known)

    def region_argument(self, branch: Operation, argument: Value) -> State | None:
        """The induction variable of a loop that runs once is the lower bound."""
        if isinstance(branch, CountedLoop) and branch.trip_count(self.known) == 1:
            return self.state(branch.lb)
        return VARIES

    def branch_targets(self, branch: Branch) -> Iterable[tuple[Block, list[Value]]]:
        """Those that the condition, where it is computed, allows."""
        targets = list(zip(branch.successors, branch.successor_operands()))
        if branch.__class__ is not cf.CondBr:
            return targets
        state = self.state(branch.operands[0])
        if isinstance(state, IntegerAttr):
            return targets[:1] if state.value else targets[1:]
        return () if state is None else targets

    def exit(self, terminator: Operation) -> None:
        """What a function returns are the results of its calls."""
        func = terminator.parent_op
        if func is None or terminator.__class__ is not tt.Return:
            return
        old = self.returned.get(func, [None] * len(terminator.operands))
        new = [_both(a, b) for a, b in zip(old, self.values(terminator.operands))]
        if new != old:
            self.returned[func] = new
            for call in self.callers.get(func, []):
                self.revisit(call)

    # -- operations ---------------------------------------------------------------------------------------------------

    def transfer(self, op: Operation) -> None:
        """Evaluate an operation on constants."""
        if op.__class__ is tt.Call:
            self.call(op)
        elif op.regions:
            self.set_results(op, [VARIES] * len(op.results))
        elif not op.traits & CONSTANT:
            self.evaluate(op)

    def set_results(self, op: Operation, states: Sequence[State | None]) -> None:
        for result, state in zip(op.results, states):
            self.set_result(result, state)

    def evaluate(self, op: Operation) -> None:
        states = self.values(op.operands)
        if None in states:
            return  # not computed yet; it is looked at again when it is
        known = [None if s is VARIES else s for s in states]
        answer = None
        if any(s is not None for s in known) or len(set(op.operands)) < len(known):
            answer = fold(op, _RULES, known, dialect=op.name.partition(".")[0])  # type: ignore[arg-type]
        if answer is None:
            self.set_results(op, [VARIES] * len(op.results))
            return
        for result, part in zip(op.results, answer):
            self.set_result(result, part if isinstance(part, Attribute) else self.folded_to(op, part))

    def folded_to(self, op: Operation, value: Value) -> State | None:
        """The state of the value a fold answered; an operation is visited again for operands only."""
        return self.state(value) if value in op.operands else VARIES

    def call(self, op: Operation) -> None:
        callee = self.callees.get(op)
        if callee is None:
            self.set_results(op, [VARIES] * len(op.results))
            return
        if callee in self.private:
            entry = callee.regions[0].blocks[0]
            for argument, operand in zip(entry.args, op.operands):
                self.join(argument, self.state(operand))
            self.reach(entry)
        self.set_results(op, self.returned.get(callee, []))


def _both(a: State | None, b: State | None) -> State | None:
    return b if a is None else a if b is None or a is b else VARIES
