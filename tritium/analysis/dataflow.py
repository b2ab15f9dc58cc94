"""Dataflow analysis: states from a lattice, solved to the least fixed point along the edges of control flow.

    SparseForward    a state for each SSA value, from operands to results: constants, axis info, points-to sets
    SparseBackward   a state for each SSA value, from uses to definitions: which values are needed
    DenseForward     a state for each program point, in execution order: unordered accesses since the last barrier
    DenseBackward    a state for each program point, against execution order: live values

An analysis derives from one of them and defines `merge`, the least upper bound of two states, and `transfer`, the
effect of one operation. The bottom element ("not computed yet", "unreachable") is a value without an entry, or None.
Solvers know control flow through `RegionBranch` and `Branch` (`ir.interfaces`), so that a new region operation needs no
change to any analysis:

    %r = scf.for … iter_args(%a = %x) {      SparseForward:  a := merge(x, y), r := merge(x, y), until neither changes
      %y = arith.muli %a, %a                 DenseForward:   the body is run again with what its end leaves, until
      scf.yield %y                                           that adds nothing to what it was entered with
    }

Termination: states only grow, and a lattice of finite height bounds how often. `transfer` must be monotone: larger
operand states give larger result states. With `TRITIUM_VERIFY_EACH` (or `checking=True`) a solver verifies that and
raises InternalError. Fixed points over other graphs than control flow use `reachable`, `propagate` and `fixed_point`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from ..ir import TERMINATOR, Block, Branch, Operation, OpResult, Region, RegionBranch, RegionEdge, Value
from ..ir.dominance import reverse_postorder
from ..ir.interfaces import predecessor_operands
from ..support import InternalError, settings

__all__ = ["DenseBackward", "DenseForward", "SparseBackward", "SparseForward", "fixed_point", "propagate", "reachable"]

K = TypeVar("K", bound=Hashable)
S = TypeVar("S")

MAX_UPDATES = 1000
"""Updates of one state after which a checking solver reports that it does not terminate."""


def reachable(seeds: Iterable[K], successors: Callable[[K], Iterable[K]]) -> dict[K, None]:
    """The transitive closure of `seeds` under `successors`, as an ordered set: depth first, last successor first."""
    found: dict[K, None] = {}
    work = list(seeds)
    while work:
        node = work.pop()
        if node not in found:
            found[node] = None
            work += successors(node)
    return found


def propagate(seeds: Iterable[K], visit: Callable[[K], Iterable[K]]) -> None:
    """Visit each seed, and whatever a visit returns (the nodes whose state it changed) again; last in, first out."""
    work = list(seeds)
    while work:
        work += visit(work.pop())


def fixed_point(step: Callable[[S], S], state: S) -> S:
    """Apply `step` to a state until it changes nothing."""
    while (following := step(state)) != state:
        state = following
    return state


class _Solver(Generic[S]):
    """What the four solvers share: the lattice, and checks of it."""

    def __init__(self, checking: bool | None = None) -> None:
        self.checking = settings.compilation.verify_each if checking is None else checking
        self._updates: dict[object, int] = {}

    def merge(self, first: S, second: S) -> S:
        """The least upper bound of two states."""
        raise NotImplementedError

    def _check(self, at: object, old: S, new: S) -> None:
        """Refuse a recomputed state that is not above the old one, and one that never stops growing."""
        if self.merge(old, new) != new:
            raise InternalError(f"{type(self).__name__} is not monotone: {old!r}, then {new!r}, at {at}")
        self._updates[at] = self._updates.get(at, 0) + 1
        if self._updates[at] > MAX_UPDATES:
            raise InternalError(f"{type(self).__name__} does not terminate: {MAX_UPDATES} updates of {at}")


class _Sparse(_Solver[S]):
    """States of values."""

    def __init__(self, checking: bool | None = None) -> None:
        super().__init__(checking)
        self.states: dict[Value, S] = {}

    def state(self, value: Value) -> S | None:
        """The state of a value; None (bottom) while nothing is known of it."""
        return self.states.get(value)

    def join(self, value: Value, state: S | None) -> None:
        """Raise the state of `value` to the least upper bound with `state`; None (bottom) changes nothing."""
        if state is None:
            return
        old = self.states.get(value)
        if old is not None:
            if old is state:
                return
            state = self.merge(old, state)
            if state == old:
                return
            if self.checking:
                self._check(value, old, state)
        self.states[value] = state
        self.changed(value)

    def changed(self, value: Value) -> None:
        """Visit again what depends on the state of a value."""
        raise NotImplementedError


# -- sparse, forward ------------------------------------------------------------------------------------------------


class SparseForward(_Sparse[S]):
    """States of values, from operands to results, in blocks that control may reach.

    Operations are visited once in program order. Where a visit changes the state of a value that operations visited
    before depend on (a value carried around a loop), these are visited again, in program order, before any new one.
    """

    def __init__(self, checking: bool | None = None) -> None:
        super().__init__(checking)
        self.reached: dict[Block, None] = {}
        self._fresh: list[Block] = []  # reached, and perhaps not swept
        self._swept: set[Block] = set()
        self._active: set[Region] = set()  # being swept
        self._ops: list[Operation] = []  # in the order of their first visits
        self._numbers: dict[Operation, int] = {}
        self._queue: set[int] = set()  # numbers of operations to be visited again
        self._first = False  # whether an operation is visited for the first time

    # -- what an analysis defines -------------------------------------------------------------------------------------

    def transfer(self, op: Operation) -> None:
        """Update the results of an operation without control flow (`set_result`) from the states of its operands."""
        raise NotImplementedError

    def entry(self, argument: Value) -> S | None:
        """The state of an argument about whose origin nothing is known: of a function, or of an unknown region."""
        return None

    def region_argument(self, branch: Operation, argument: Value) -> S | None:
        """The state of a region argument that a region branch defines itself, such as an induction variable."""
        return self.entry(argument)

    def edges(self, branch: RegionBranch, source: Operation) -> Sequence[RegionEdge]:
        """The edges from `source` (the branch or a terminator of its regions) that control may take."""
        return branch.edges_from(source)

    def branch_targets(self, branch: Branch) -> Iterable[tuple[Block, list[Value]]]:
        """The blocks that a branch may go to, each with the operands that become its arguments."""
        return zip(branch.successors, branch.successor_operands())

    def enters(self, op: Operation) -> bool:
        """Whether the regions of an operation that is no region branch are analyzed."""
        return True

    def exit(self, terminator: Operation) -> None:
        """A terminator that passes control to no block or region known here was reached: a return, for example."""

    # -- solving ------------------------------------------------------------------------------------------------------

    def solve(self, func: Operation) -> None:
        """Analyze the regions of a function, with `entry` states for its arguments."""
        for region in func.regions:
            if region.blocks:
                self.reach_unknown(region.blocks[0])
        self.run()

    def run(self) -> None:
        """Visit until nothing changes."""
        while self._fresh or self._queue:
            self._drain(nested=False)

    def set_result(self, value: Value, state: S | None) -> None:
        """The state of a result as its operation computes it now."""
        if state is None:
            return
        old = self.states.get(value)
        if old is None:
            self.states[value] = state
            if not self._first:
                self.changed(value)
        elif old is not state and old != state:
            if self.checking:
                self._check(value, old, state)
            self.join(value, state)

    def reach(self, block: Block) -> None:
        """Control may reach `block`."""
        if block not in self.reached:
            self.reached[block] = None
            self._fresh.append(block)

    def reach_unknown(self, block: Block) -> None:
        """Control may reach `block` with any arguments."""
        for argument in block.args:
            self.join(argument, self.entry(argument))
        self.reach(block)

    def changed(self, value: Value) -> None:
        """Visit the users of a value again that have been visited."""
        numbers = self._numbers
        for user in value.users:
            number = numbers.get(user)
            if number is not None:
                self._queue.add(number)

    def revisit(self, op: Operation) -> None:
        """Visit an operation again, if it has been visited."""
        number = self._numbers.get(op)
        if number is not None:
            self._queue.add(number)

    def _drain(self, nested: bool = True) -> None:
        """Visit what is queued, then blocks newly reached: while `nested`, only in regions of visited operations."""
        while self._queue or self._fresh:
            if self._queue:
                number = min(self._queue)  # in program order; there are rarely more than a few
                self._queue.discard(number)
                self._first = False
                self._visit(self._ops[number])
                continue
            kept = []
            while self._fresh and not self._queue:
                block = self._fresh.pop(0)
                region = block.parent
                if region is None or region in self._active or block in self._swept:
                    continue
                if nested and region.parent not in self._numbers:
                    kept.append(block)
                else:
                    self._sweep(region)
            self._fresh += kept
            if kept and not self._queue:
                return

    def _sweep(self, region: Region) -> None:
        """Visit the operations of the reached blocks of a region for the first time."""
        self._active.add(region)
        blocks = region.blocks if len(region.blocks) == 1 else reverse_postorder(region)
        found = True
        while found:
            found = False
            for block in blocks:
                if block in self.reached and block not in self._swept:
                    found = len(blocks) > 1
                    self._sweep_block(block)
        self._active.discard(region)

    def _sweep_block(self, block: Block) -> None:
        self._swept.add(block)
        numbers, ops = self._numbers, self._ops
        for op in block:
            numbers[op] = len(ops)
            ops.append(op)
            self._first = True  # definitions dominate uses: no user of a result has been visited
            if op.regions or op.traits & TERMINATOR:
                self._visit(op)
                if self._queue or self._fresh:
                    self._drain()
            elif op.results:
                self.transfer(op)

    def _visit(self, op: Operation) -> None:
        if op.regions:
            self._visit_regions(op)
        elif op.traits & TERMINATOR:
            self._visit_terminator(op)
        elif op.results:
            self.transfer(op)

    def _visit_regions(self, op: Operation) -> None:
        if isinstance(op, RegionBranch):
            for edge in self.edges(op, op):
                self._flow(op, edge)
            if not self._first:  # the operands of the branch may decide which edges of its terminators are feasible
                for region in op.regions:
                    for terminator in op.region_terminators(region):
                        self.revisit(terminator)
            return
        self.transfer(op)
        if self.enters(op):
            for region in op.regions:
                if region.blocks:
                    self.reach_unknown(region.blocks[0])

    def _visit_terminator(self, op: Operation) -> None:
        if op.successors:
            if isinstance(op, Branch):
                for block, operands in self.branch_targets(op):
                    for argument, operand in zip(block.args, operands):
                        self.join(argument, self.state(operand))
                    self.reach(block)
                return
            for block in op.successors:
                self.reach_unknown(block)
            return
        parent = op.parent_op
        if isinstance(parent, RegionBranch):
            for edge in self.edges(parent, op):
                self._flow(parent, edge)
        else:
            self.exit(op)

    def _flow(self, branch: RegionBranch, edge: RegionEdge) -> None:
        """Follow one edge of a region branch."""
        if edge.target is not None:
            block = edge.target.blocks[0]
            if len(edge.inputs) != len(block.args):
                for argument in block.args:
                    if argument not in edge.inputs:
                        self.join(argument, self.region_argument(branch, argument))
            self.reach(block)
        for operand, value in edge:
            self.join(value, self.state(operand))


# -- sparse, backward -----------------------------------------------------------------------------------------------


class SparseBackward(_Sparse[S]):
    """States of values, from uses to definitions.

    `transfer` is called once for every operation, from the last to the first, and again whenever the state of one of
    its results changes; it raises the states of operands by `join`. The state of a region argument, of the result of
    a region branch or of a block argument is passed to the operands that become it.
    """

    def __init__(self, checking: bool | None = None) -> None:
        super().__init__(checking)
        self._changed: list[Value] = []
        self._visited: set[Operation] = set()

    def transfer(self, op: Operation) -> None:
        """Raise the states of the operands of `op` (`join`) as the states of its results ask."""
        raise NotImplementedError

    def solve(self, root: Operation) -> None:
        """Analyze all operations in `root`."""
        visited = self._visited
        for op in reversed(list(root.walk())):
            visited.add(op)
            self.transfer(op)
            if self._changed:
                self.run()

    def run(self) -> None:
        """Propagate until nothing changes."""
        while self._changed:
            self.visit(self._changed.pop())

    def changed(self, value: Value) -> None:
        """Pass the state of a value on, unless the operation that computes it is visited later anyway."""
        if isinstance(value, OpResult):
            op = value.owner
            if not op.regions and op not in self._visited:
                return
        self._changed.append(value)

    def visit(self, value: Value) -> None:
        """Pass the state of `value` to what it is computed from."""
        sources = predecessor_operands(value)
        if sources is not None:
            state = self.state(value)
            for op, i in sources:
                self.join(op.operands[i], state)
        if isinstance(value, OpResult) and value.owner in self._visited:
            self.transfer(value.owner)


# -- dense ----------------------------------------------------------------------------------------------------------


class _Dense(_Solver[S]):
    """States of program points. `verifies_monotone` is off for a transfer function that learns while it runs."""

    verifies_monotone = True

    def __init__(self, checking: bool | None = None) -> None:
        super().__init__(checking)
        self._last: dict[object, tuple[S, S]] = {}

    def transfer(self, op: Operation, state: S) -> S:
        """The state on the other side of an operation without control flow."""
        raise NotImplementedError

    def operation(self, op: Operation, state: S) -> S:
        """The state on the other side of an operation with regions."""
        return self.region_branch(op, state) if isinstance(op, RegionBranch) else self.transfer(op, state)

    def region_branch(self, op: RegionBranch, state: S) -> S:
        """The state on the other side of a region branch, after its regions have reached a fixed point."""
        raise NotImplementedError

    def _joined(self, old: S | None, new: S) -> S:
        return new if old is None else self.merge(old, new)

    def _record(self, at: object, given: S, left: S) -> S:
        """Compare a run of a block with the last one: given more, it must leave as much."""
        if self.verifies_monotone:
            old = self._last.get(at)
            if old is not None and self.merge(old[0], given) == given:
                self._check(at, old[1], left)
            self._last[at] = given, left
        return left


class DenseForward(_Dense[S]):
    """States of program points, in execution order: `region` gives the state at the end of a region.

    Regions run structurally, inner loops to their fixed points first. `bottom` is the state of unreachable points.
    """

    bottom: S

    def region(self, region: Region, state: S) -> S:
        """The state where the region ends, entered with `state`: that of all terminators without successors."""
        if len(region.blocks) == 1:
            return self._block(region.blocks[0], state)
        left = self._blocks(region, state)
        out: S | None = None
        for block, end in left.items():
            if block.last is None or not block.last.successors:
                out = self._joined(out, end)
        return state if not region.blocks else self.bottom if out is None else out

    def _blocks(self, region: Region, state: S) -> dict[Block, S]:
        """The states at the ends of the reachable blocks of a region."""
        if not region.blocks:
            return {}
        entry = region.blocks[0]
        if len(region.blocks) == 1:
            return {entry: self._block(entry, state)}
        begin: dict[Block, S] = {entry: state}
        end: dict[Block, S] = {}
        work = [entry]
        while work:
            block = work.pop()
            end[block] = left = self._block(block, begin[block])
            for target in block.last.successors if block.last is not None else ():
                old = begin.get(target)
                new = self._joined(old, left)
                if old is None or new != old:
                    begin[target] = new
                    if target not in work:
                        work.append(target)
        return end

    def _block(self, block: Block, given: S) -> S:
        """The state after a block, entered with `given`."""
        state = given
        for op in block:
            state = self.operation(op, state) if op.regions else self.transfer(op, state)
        return self._record(block, given, state) if self.checking else state

    def region_branch(self, op: RegionBranch, state: S) -> S:
        """Run the regions that edges lead to, with the states of the edges' sources, until nothing changes."""
        begin: dict[Region, S] = {}
        ends: dict[Operation, S] = {op: state}
        order = {region: i for i, region in enumerate(op.regions)}
        work: list[Region] = []

        def follow(source: Operation) -> None:
            for edge in op.edges_from(source):
                target = edge.target
                if target is not None:
                    old = begin.get(target)
                    new = self._joined(old, ends[source])
                    if old is None or new != old:
                        begin[target] = new
                        if target not in work:
                            work.append(target)

        follow(op)
        while work:
            work.sort(key=order.__getitem__, reverse=True)
            region = work.pop()
            for block, left in self._blocks(region, begin[region]).items():
                last = block.last
                if last is not None and not last.successors:
                    ends[last] = left
                    follow(last)
        out: S | None = None
        for source, left in ends.items():
            if any(edge.target is None for edge in op.edges_from(source)):
                out = self._joined(out, left)
        return self.bottom if out is None else out


class DenseBackward(_Dense[S]):
    """States of program points, against execution order: `region` gives the state at the beginning of a region.

    The state at a terminator is the least upper bound over the points that control may pass to. `edge` adjusts it for
    values that an edge forwards (live values: arguments become operands). `bottom` is the state after a terminator
    that passes control to nothing.
    """

    bottom: S

    def edge(self, pairs: Iterable[tuple[Value, Value]], state: S) -> S:
        """The state before an edge that makes operands (first) into arguments or results (second)."""
        return state

    def region(self, region: Region, state: S) -> S:
        """The state where the region begins, left with `state` by all terminators without successors."""
        return self._region(region, lambda terminator: state)

    def _region(self, region: Region, after: Callable[[Operation], S]) -> S:
        blocks = reverse_postorder(region)
        begin: dict[Block, S] = {}
        changed = bool(blocks)
        while changed:
            changed = False
            for block in reversed(blocks):
                state = self._at_end(block, begin, after)
                given = state
                for op in _reversed(block):
                    state = self.operation(op, state) if op.regions else self.transfer(op, state)
                if self.checking:
                    self._record(block, given, state)
                if block not in begin or begin[block] != state:
                    begin[block] = state
                    changed = len(blocks) > 1
        return begin[blocks[0]] if blocks else self.bottom

    def _at_end(self, block: Block, begin: dict[Block, S], after: Callable[[Operation], S]) -> S:
        last = block.last
        if last is None:
            return self.bottom
        if not last.successors:
            return after(last)
        passed = last.successor_operands() if isinstance(last, Branch) else [()] * len(last.successors)
        out = self.bottom
        for target, operands in zip(last.successors, passed):
            if target in begin:
                out = self.merge(out, self.edge(zip(operands, target.args), begin[target]))
        return out

    def region_branch(self, op: RegionBranch, state: S) -> S:
        """Run the regions backward from `state` after the operation, until what they begin with does not change."""
        begin: dict[Region, S] = {}

        def after(source: Operation) -> S:
            out = self.bottom
            for edge in op.edges_from(source):
                target = state if edge.target is None else begin.get(edge.target)
                if target is not None:
                    out = self.merge(out, self.edge(edge, target))
            return out

        changed = True
        while changed:
            changed = False
            for region in reversed(op.regions):
                new = self._region(region, after) if region.blocks else self.bottom
                if region not in begin or begin[region] != new:
                    begin[region] = new
                    changed = True
        return self.transfer(op, after(op))


def _reversed(block: Block) -> Iterable[Operation]:
    op = block.last
    while op is not None:
        yield op
        op = op.prev
