"""Rematerialize values in another layout: the second part of `remove-layout-conversions`.

    Slice      the backward slice of (value, layout) pairs to recompute
    Copies     emits the copies, and records the values available in several layouts

A node of a slice is a value in a layout. The root of a conversion's slice is its operand in the layout of its result.
An operation in the slice needs its operands in the layouts from which that of its result follows
(`layout_flow.backward`), a loop-carried value its initial and its yielded value, the result of a branch the values that
both sides yield. A slice ends at values that already have the layout, at operations that can produce any layout, at
existing copies, and at cuts: nodes that are converted where they are defined.

Nothing is moved or removed: a copy is inserted before its original, so that it dominates all users of the original;
loops and branches get additional results. Unused originals are removed later, as dead code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import arith, tt, ttg
from ....ir import (
    PURE,
    WRITE,
    Block,
    BlockArgument,
    Builder,
    CountedLoop,
    DenseElementsAttr,
    IfLike,
    LoopLike,
    Memory,
    Operation,
    OpResult,
    TensorType,
    Value,
    accessed_values,
    is_pointer_load,
    is_register_dot,
    memory_effects,
    predecessor_operands,
    value_dominates,
)
from ...layout_flow import backward, is_expensive_access, layout_of, takes_any_result, with_layout
from ...regions import add_result

__all__ = ["Copies", "Node", "Slice", "Test", "may_repeat", "never"]

Node = tuple[Value, Any]
"""A value and the layout that it is needed in."""


def may_repeat(op: Any, loads: bool = False) -> bool:
    """Whether an operation may be executed twice: it has no side effects and is cheap.

    `loads`: allow loads of at least as many elements as there are threads.
    """
    if is_register_dot(op) or isinstance(op, LoopLike) or (not op.traits & PURE and memory_effects(op) & WRITE):
        return False
    if any(accessed_values(op, memory=Memory.TENSOR)):
        return False
    if is_pointer_load(op):
        return loads or not is_expensive_access(op)
    if isinstance(op, (tt.Gather, tt.Reshape)):
        return not op.efficient_layout
    return True


def repeatable_edges(value: Value) -> list[tuple[Operation, int]] | None:
    """The operands that become `value`, where a loop can carry it, or a conditional yield it, in one more layout."""
    if isinstance(value, OpResult):
        return predecessor_operands(value) if isinstance(value.owner, IfLike) else None
    block = value.block
    carried = block is not None and isinstance(block.parent_op, CountedLoop)
    return predecessor_operands(value) if carried else None


Test = Callable[[Any], bool]

MAX_NODES = 512
"""Limit of a slice: in unrolled loops, every conversion would otherwise visit the whole loop."""


def never(op: Any) -> bool:
    """No operation."""
    return False


class Slice:
    """The values to recompute so that `root` is available in a layout.

    `nodes`: the operand nodes of each recomputed node. `given`: existing copies. The slice ends at operations that
    satisfy `stop`, and fails beyond `MAX_NODES`. A conversion can produce any layout; if it satisfies `through`, its
    operand is recomputed instead. With `loads`, expensive loads may be repeated.
    """

    def __init__(self, copies: Copies, stop: Test = never, through: Test = never, loads: bool = False) -> None:
        self.copies = copies
        self.stop = stop
        self.through = through
        self.loads = loads
        self.nodes: dict[Node, list[Node]] = {}
        self.given: dict[Node, Value] = {}
        self.refused: set[Node] = set()

    def copy(self) -> Slice:
        """A slice with the same nodes."""
        new = Slice(self.copies, self.stop, self.through, self.loads)
        new.nodes, new.given, new.refused = dict(self.nodes), dict(self.given), set(self.refused)
        return new

    def grow(self, root: Value, layout: Any, user: Operation, stop: Test | None = None) -> bool:
        """Add what `user` needs to use `root` in `layout`; on failure returns False, and the slice is unusable."""
        self.stop = stop or self.stop
        work = [((root, layout), user)]
        while work:
            node, user = work.pop()
            if layout_of(node[0]) is node[1] or node in self.nodes or self.has_copy(node, user):
                continue
            more = self.expand(node)
            if more is None or len(self.nodes) > MAX_NODES:
                return False
            work += more
        return True

    def has_copy(self, node: Node, user: Operation) -> bool:
        """Whether there is a copy that `user` may use. A copy that not all users may use is ignored."""
        if node not in self.refused and (found := self.copies.find(node, user)) is not None:
            self.given[node] = found
            return True
        if self.given.pop(node, None) is not None or node not in self.refused:
            self.refused.add(node)
        return False

    def expand(self, node: Node) -> list[tuple[Node, Operation]] | None:
        """Enter a node; returns its operand nodes, each with its user, or None where it cannot be recomputed."""
        value, layout = node
        op: Any = value.defining_op
        edges = repeatable_edges(value)
        if edges is not None:
            if op is not None and self.stop(op):
                return self.enter(node, [])
            return self.enter(node, [((user.operands[i], layout), user) for user, i in edges])
        if op is None or isinstance(op, LoopLike):
            return None
        stops = self.stop(op)
        if not stops and not may_repeat(op, self.loads):
            return None
        for other in op.results:
            self.nodes.setdefault((other, layout), [])
        if isinstance(op, ttg.ConvertLayout) and self.through(op):
            return self.enter(node, [((op.src, layout), op)])
        if stops or takes_any_result(op, layout):
            return self.enter(node, [])
        wanted = None if isinstance(op, tt.Cat) or (op.regions and not _repeats_regions(op)) else backward(op, layout)
        if wanted is None:
            return None
        needs = [((v, w), op) for v, w in zip(op.operands, wanted) if w is not None]
        for other in op.results:
            self.nodes[other, layout] = [need for need, _ in needs]
        return needs

    def enter(self, node: Node, needs: list[tuple[Node, Operation]]) -> list[tuple[Node, Operation]]:
        self.nodes[node] = [need for need, _ in needs]
        return needs

    def operations(self) -> dict[Operation, list[Node]]:
        """The operations to recompute in order of insertion, each with the nodes of its results."""
        found: dict[Operation, list[Node]] = {}
        for node in self.nodes:
            if (op := node[0].defining_op) is not None:
                found.setdefault(op, []).append(node)
        return found


def _repeats_regions(op: Operation) -> bool:
    """Whether the operation's regions are copied with it, such as the combine region of a reduction."""
    return isinstance(op, (tt.Reduce, tt.Scan, tt.MapElementwise))


class Copies:
    """The values of a function that are available in several layouts.

    `made` may be used wherever the original may; conversions that stay (`kept`), only after themselves.
    """

    def __init__(self) -> None:
        self.made: dict[Node, Value] = {}
        self.kept: dict[Node, Value] = {}
        self.last_dots: dict[Block, Operation | None] = {}  # memo by block

    def find(self, node: Node, user: Operation) -> Value | None:
        """The value in the layout, if one is available to `user`."""
        made = self.made.get(node)
        if made is not None:
            return made
        kept = self.kept.get(node)
        return kept if kept is not None and value_dominates(kept, user) else None

    def keep(self, conversion: Any) -> None:
        """Record a conversion that stays, for use by others."""
        self.kept[conversion.src, layout_of(conversion.result)] = conversion.result

    def cut(self, node: Node, before: Operation | None = None) -> Value:
        """Convert the node's value at its definition, or before `before`."""
        value, layout = node
        at: Any = before
        if at is None:
            at = value.block.first if isinstance(value, BlockArgument) else value.defining_op.next  # type: ignore[union-attr]
        loc = at.loc if value.defining_op is None else value.defining_op.loc
        made: Value = Builder(at.parent, at, loc).add(ttg.ConvertLayout(value, result=with_layout(value.type, layout)))
        if before is None:
            self.made[node] = made
        return made

    def build(self, part: Slice, root: Node, cuts: dict[Node, Value] | None = None) -> Value:
        """Emit the nodes of a slice; returns the value of its root."""
        return _Building(self, part, cuts or {}).run(root)


class _Building:
    """One run of `Copies.build`."""

    def __init__(self, copies: Copies, part: Slice, cuts: dict[Node, Value]) -> None:
        self.made = copies.made
        self.part = part
        self.here = {**part.given, **cuts}
        self.later: list[tuple[Operation, int, Node]] = []  # operands to be filled in once they exist

    def run(self, root: Node) -> Value:
        self.node(root)
        while self.later:
            op, i, node = self.later.pop()
            self.node(node)
            op.set_operand(i, self.value(node))  # type: ignore[arg-type]
        out = self.value(root)
        assert out is not None
        return out

    def value(self, node: Node) -> Value | None:
        """The value of a node, or None if it does not exist yet."""
        if layout_of(node[0]) is node[1]:
            return node[0]
        found = self.here.get(node)
        return found if found is not None else self.made.get(node)

    def node(self, root: Node) -> None:
        """Emit a node after its operands, iteratively: slices are as long as programs."""
        work = [root]
        while work:
            node = work[-1]
            missing = [] if self.value(node) is not None else self.missing(node)
            if missing:
                work += missing
                continue
            work.pop()
            if self.value(node) is None:
                self.make(node)

    def missing(self, node: Node) -> list[Node]:
        """The nodes that must exist before a node is emitted: of a loop its initial value, not the yielded one."""
        needs = self.part.nodes[node]
        if isinstance(node[0], BlockArgument):
            needs = needs[:1]
        elif isinstance(node[0].defining_op, IfLike):
            needs = []
        return [need for need in needs if self.value(need) is None]

    def make(self, node: Node) -> None:
        value, layout = node
        if isinstance(value, BlockArgument):
            self.carry(value, layout)
        elif isinstance(value.defining_op, IfLike):
            self.choose(value, layout)  # type: ignore[arg-type]
        else:
            self.repeat(value.defining_op, layout)

    def carry(self, arg: BlockArgument, layout: Any) -> None:
        """Carry a loop-carried value in a second layout."""
        loop: Any = arg.owner.parent_op
        start, following = self.part.nodes[arg, layout]
        initial, ty = self.value(start), with_layout(arg.type, layout)
        assert initial is not None
        new = loop.body.add_argument(ty, arg.loc)
        result = add_result(loop, ty, [], [])
        new.hint = result.hint = arg.hint
        loop.set_operands([*loop.operands, initial])
        self.made[arg, layout] = new
        self.made[loop.results[arg.index - 1], layout] = result
        self.wait(loop.terminator, following)

    def choose(self, value: OpResult, layout: Any) -> None:
        """Yield a branch's result in a second layout."""
        branch: Any = value.owner
        self.made[value, layout] = result = add_result(branch, with_layout(value.type, layout), [], [])
        result.hint = value.hint
        for region, need in zip(branch.regions, self.part.nodes[value, layout]):
            self.wait(region.blocks[0].last, need)

    def wait(self, terminator: Any, need: Node) -> None:
        """Yield a value that is emitted later; until then the one in the old layout is its placeholder."""
        self.later.append((terminator, len(terminator.operands), need))
        terminator.set_operands([*terminator.operands, need[0]])

    def repeat(self, op: Any, layout: Any) -> None:
        """Emit a second copy of an operation, before the original."""
        needs = {need[0]: need for need in self.part.nodes[op.results[0], layout]}
        mapping: dict[Any, Any] = {v: self.value(need) for v, need in needs.items()}
        new = op.clone(mapping)
        op.parent.insert_before(new, op)
        for old, result in zip(op.results, new.results):
            if isinstance(result.type, TensorType):
                result.type = with_layout(result.type, layout)
            self.made[old, layout] = result
        if isinstance(new, arith.Constant):
            new.attributes["value"] = DenseElementsAttr(new.value.values, new.result.type)  # type: ignore[attr-defined]
