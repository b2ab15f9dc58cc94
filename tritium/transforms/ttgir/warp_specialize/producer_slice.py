"""The producer's backward slice: what it needs to compute for its loads, through loops and branches.

    %r:2 = scf.for %i = %lb to %ub step %s iter_args(%x = %x0, %y = %y0) {
      %v = tt.descriptor_load %d[%x, %c0]
      %x1 = arith.addi %x, %c64
      %y1 = …
      scf.yield %x1, %y1
    }

The slice of `%d[%x, %c0]` includes the initial and the yielded value of `%x`, the first carried value of the loop, and
so `%x1`; `%y` is not in it. The producer executes the loop itself, so its bounds belong to the slice, too.

The slice is computed twice, by the producer and (unless dead there) by the consumer. This is legal if it depends on
scalar values only: it must not read memory, nor compute tensors, for which one warp has no layout. Otherwise `problem`
names the operation and the reason.
"""

from __future__ import annotations

from typing import Any

from ....ir import BlockArgument, CountedLoop, IfLike, Operation, TensorType, Value, is_pure
from ...regions import defined_in

__all__ = ["Slice"]


class Slice:
    """The operations under `roots` that are needed to compute the requested values.

    `ops`: the operations; `carried[loop]`: the indices of needed carried values of a loop; `yielded[branch]`: those of
    needed results of a branch; `outside`: values from elsewhere. `problem`: the operation that prevents this, and why;
    or None.
    """

    def __init__(self, roots: list[Operation]) -> None:
        self.roots = roots
        self.ops: set[Operation] = set()
        self.carried: dict[Operation, set[int]] = {}
        self.yielded: dict[Operation, set[int]] = {}
        self.outside: dict[Value, None] = {}
        self.problem: tuple[Operation, str] | None = None
        self._seen: set[Value] = set()

    def need_at(self, op: Any, values: list[Value]) -> bool:
        """Add `values`, and the control flow around `op`; False if that is impossible."""
        self._around(op)
        for value in values:
            self._need(value)
        return self.problem is None

    def _refuse(self, op: Operation, why: str) -> None:
        if self.problem is None:
            self.problem = (op, why)

    def _is_inside(self, value: Value) -> bool:
        return any(defined_in(value, root) or value.defining_op is root for root in self.roots)

    def _around(self, op: Operation) -> None:
        """The loops and branches around `op`."""
        while op not in self.roots:
            parent = op.parent_op
            assert parent is not None
            op = parent
            if op in self.ops:
                return
            self._control(op)

    def _control(self, op: Any) -> None:
        if isinstance(op, CountedLoop):
            values = op.bounds
        elif isinstance(op, IfLike):
            values = [op.condition]
        else:
            self._refuse(op, f"it is nested in {op.name}, which is neither a loop nor a branch")
            return
        if op not in self.ops:
            self.ops.add(op)
            self._around(op)
            for value in values:
                self._need(value)

    def _need(self, value: Value) -> None:
        if value in self._seen:
            return
        self._seen.add(value)
        if not self._is_inside(value):
            self.outside[value] = None
            return
        if isinstance(value, BlockArgument):
            self._argument(value)
        else:
            op = value.defining_op
            assert op is not None
            self._result(op, value)

    def _argument(self, value: Any) -> None:
        loop = value.owner.parent_op
        if not isinstance(loop, CountedLoop):
            self._refuse(loop, f"its address depends on {loop.name}")
            return
        self._control(loop)
        if value.index:
            self._carried(loop, value.index - 1)

    def _carried(self, loop: CountedLoop, i: int) -> None:
        self.carried.setdefault(loop, set()).add(i)
        for value in (loop.init_args[i], loop.yielded[i], loop.iter_args[i], loop.results[i]):
            self._need(value)

    def _result(self, op: Any, value: Any) -> None:
        if isinstance(op, (CountedLoop, IfLike)):
            self._control(op)
            if isinstance(op, CountedLoop):
                self._carried(op, value.index)
            else:
                self._need_result(op, value.index)
        elif isinstance(value.type, TensorType):
            self._refuse(op, "its address depends on a tensor")
        elif op.regions or not is_pure(op):
            self._refuse(op, f"its address depends on {op.name}, which is not arithmetic")
        else:
            self.ops.add(op)
            self._around(op)
            for operand in op.operands:
                self._need(operand)

    def _need_result(self, branch: Any, i: int) -> None:
        self.yielded.setdefault(branch, set()).add(i)
        for region in branch.regions:
            self._need(region.blocks[0].last.operands[i])
