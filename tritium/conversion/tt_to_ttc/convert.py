"""The driver: walks the tile program in order and writes loops where tiles must come into being.

Tile operations that can be inlined write nothing by themselves. What must happen at its place in the program is an
*item*: filling a buffer, a store, a reduction. Items over the same space wait in a group, so that a tile that is
buffered and the reductions over it share one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...analysis.affine import Affinity
from ...dialects import builtin, tt, ub
from ...ir import Block, Operation, Region, TensorType, Value, functions_of, memory_effects
from ...support import UnsupportedOperation
from ...transforms.inliner import inline
from ...transforms.structure_returns import structure_returns
from . import access, control, dot, effects, map_elementwise, scan  # noqa: F401  (they register what they lower)
from .access import Sanitizer, store_at
from .ahead import streams_of
from .buffers import TileBuffer
from .evaluate import Evaluator, zero_index
from .extremes import extreme_of
from .iter_args import uniform_iter_args
from .lanes import Index
from .lowerings import LOWERINGS
from .nests import Space, run_nest
from .peel import peel_for
from .plan import Plan, inlinable, make_plan
from .prefetch import prefetch, store_of
from .reduce import ReduceItem, emit_reductions, vectorizable
from .versions import versioned
from .writer import Writer

__all__ = ["TileLowering", "convert_tt_to_ttc"]


def convert_tt_to_ttc(
    module: builtin.Module, target: Any, sanitize: bool = False, guard: bool = False
) -> builtin.Module:
    """A new module with the kernel of `module` as loops over vectors and buffers.

    `target` tells `vector_bits` and what the dot planner asks; `sanitize` writes a bounds check before each access,
    `guard` before each store a check that the memory is not only to be read. `module` is used up: calls in it are
    inlined and its loops rewritten.
    """
    result = builtin.Module.empty()
    result.loc = module.loc
    for func in _kernels(module):
        result.body.append(TileLowering(func, target, sanitize, guard).run())
    return result


def _kernels(module: builtin.Module) -> list[tt.Func]:
    """The public functions, with all that they call in line: tiles are not passed between functions on a CPU."""
    if any(isinstance(op, tt.Call) for op in module.walk()):
        for func in functions_of(module):
            func.attributes.pop("noinline", None)
            structure_returns(func)
        inline(module)
    for call in module.walk():
        if isinstance(call, tt.Call):
            raise UnsupportedOperation(call, f"of @{call.callee}, a recursive function, is not supported on the CPU")
    return [op for op in module.body if isinstance(op, tt.Func) and op.sym_visibility == "public"]


class _Group:
    """Items over one space that wait for one loop nest."""

    def __init__(self, space: Space, axis: int | None) -> None:
        self.space = space
        self.axis = axis  # the reduced dimension, once a reduction has joined
        self.fills: list[tuple[Value, TileBuffer]] = []
        self.reductions: list[ReduceItem] = []

    @property
    def values(self) -> set[Value]:
        """What will exist only when the group is written."""
        return {v for v, _ in self.fills} | {r for item in self.reductions for r in item.op.results}


class TileLowering:
    """Lowers one function."""

    def __init__(self, func: tt.Func, target: Any, sanitize: bool, guard: bool) -> None:
        self.func = func
        self.target = target
        self.vector_bits: int = target.vector_bits
        self.entry = Block()
        self.alloc = Writer(Block())
        self.ev = Evaluator(Writer(self.entry), Affinity())
        if sanitize or guard:
            self.ev.sanitizer = Sanitizer({arg: i for i, arg in enumerate(func.entry.args)}, sanitize, guard)
        self.group: _Group | None = None
        self.plan: Plan

    def run(self) -> tt.Func:
        """The lowered function."""
        uniform_iter_args(self.func)
        blocks = self.func.regions[0].blocks
        self.plan = make_plan(blocks, self.ev.affinity, Affinity(hopeful=True), self.vector_bits)
        new = [self.entry, *(Block() for _ in blocks[1:])]
        control.map_blocks(self, blocks, new)
        for old, block in zip(blocks, new):
            self.ev.w = Writer(block)
            self.block(old)
        allocated = list(self.alloc.levels[0].block)
        for op in reversed(allocated):
            op.detach()
            self.entry.prepend(op)
        return tt.Func(
            Region(*new),
            self.func.sym_name,
            self.func.function_type,
            "public",
            arg_attrs=self.func.arg_attrs,
            loc=self.func.loc,
        )

    # -- operations in order ----------------------------------------------------------------------------------

    def block(self, old: Block) -> None:
        """Lower the operations of a block at the writer's position."""
        for op in old:
            self.operation(op)
        self.flush()

    def nested(self, old: Block, new: Block) -> None:
        """Lower `old` into `new`, a block of an operation just placed."""
        outer = self.ev.w
        self.ev.w = Writer(new)
        self.block(old)
        self.ev.w = outer

    def operation(self, op: Operation) -> None:
        """Lower one operation of the tile program."""
        self.ev.w.loc = op.loc
        if inlinable(op):
            for r in op.results:
                if r in self.plan.buffered:
                    self.buffer(r)
            return
        if isinstance(op, tt.Reduce):
            self.reduction(op)
            return
        lower = LOWERINGS.get(type(op))
        if lower is not None:
            self.flush()
            self.ev.w.loc = op.loc
            lower(self, op)
            return
        self.scalar(op)

    def scalar(self, op: Operation) -> None:
        """An operation on scalars is copied."""
        tiles = any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))
        if tiles or op.regions or op.successors:
            raise UnsupportedOperation(op, "is not supported on the CPU")
        if memory_effects(op) or self._waits_for(op.operands):
            self.flush()
        copy = op.clone(self.ev.scalars)
        self.ev.w.place(copy)

    def _waits_for(self, values: list[Value]) -> bool:
        return self.group is not None and any(v in self.group.values for v in values)

    # -- groups -----------------------------------------------------------------------------------------------

    def buffer(self, value: Value) -> TileBuffer:
        """Let `value` be written to a fresh buffer, soon."""
        space = self.plan.space(value.type.shape, [value], computing=(value,))
        buffer = TileBuffer.allocate(self.alloc, value.type)
        group = self._group_for(space, None, [value], (value,))
        group.fills.append((value, buffer))
        return buffer

    def reduction(self, op: tt.Reduce) -> None:
        """Let a reduction be written, soon."""
        shape = op.srcs[0].type.shape
        space = self.plan.space(shape, op.srcs)
        if not vectorizable(op):
            space = Space(shape, -1, 1)
        outputs = [
            TileBuffer.allocate(self.alloc, r.type) if isinstance(r.type, TensorType) else None for r in op.results
        ]
        group = self._group_for(space, op.axis, op.srcs)
        group.reductions.append(ReduceItem(op, outputs, extreme_of(op, self.target)))

    def _group_for(
        self, space: Space, axis: int | None, values: list[Value], computing: tuple[Value, ...] = ()
    ) -> _Group:
        group = self.group
        if group is not None and self._may_join(group, space, axis, self.plan.accesses(values, computing)):
            group.axis = group.axis if axis is None else axis
            return group
        self.flush()
        self.group = _Group(space, axis)
        return self.group

    def _may_join(
        self, group: _Group, space: Space, axis: int | None, accesses: Iterable[tuple[Value, tuple[int | None, ...]]]
    ) -> bool:
        if group.space != space or (axis is not None and group.axis not in (None, axis)):
            return False
        reduced = {r for item in group.reductions for r in item.op.results}
        filled = {v for v, _ in group.fills}
        same = tuple(range(len(space.shape)))
        for v, dims in accesses:
            if v in reduced or (v in filled and dims != same):
                return False
            op = v.defining_op  # scalars computed from results of the group
            if op is not None and any(o in reduced for o in op.operands):
                return False
        return True

    def flush(self) -> None:
        """Write the waiting group."""
        group, self.group = self.group, None
        if group is None:
            return
        ev = self.ev

        filled = [v for v, _ in group.fills]
        last = group.reductions[-1].op if group.reductions else None
        store = store_of(self, filled, last) if filled and last is not None else None

        def fill(index: Index) -> None:
            if store is not None:
                prefetch(self, store, index)
            for value, buffer in group.fills:
                buffer.write(ev.w, index, ev.at(value, index), ev.lanes)

        if group.reductions:
            values = [v for item in group.reductions for v in item.sources]
            peel = peel_for(self, [*filled, *values], group.space, tuple(filled))
            streams = streams_of(self, [*filled, *values], group.space, tuple(filled))
            emit_reductions(ev, group.space, group.reductions, fill, peel, streams)
        else:
            versioned(self, filled, group.space, lambda peel: run_nest(ev, group.space, fill, peel), tuple(filled))
        ev.buffers.update(group.fills)
        for item in group.reductions:
            for r, output in zip(item.op.results, item.outputs):
                if output is not None:
                    ev.buffers[r] = output

    # -- helpers of the lowerings -----------------------------------------------------------------------------

    def fill(self, value: Value, buffer: TileBuffer) -> None:
        """Write `value` into `buffer` now; one that nothing may depend on is what the buffer has."""
        self.flush()
        if isinstance(value.defining_op, ub.Poison):
            return
        ev = self.ev
        space = self.plan.space(value.type.shape, [value])
        versioned(
            self,
            [value],
            space,
            lambda peel: run_nest(ev, space, lambda i: buffer.write(ev.w, i, ev.at(value, i), ev.lanes), peel),
        )

    def materialized(self, value: Value) -> TileBuffer:
        """A row-major buffer that holds `value`, filled now if there is none."""
        self.flush()
        found = self.ev.buffers.get(value)
        if found is None or found.stored is not found.element:
            found = TileBuffer.allocate(self.alloc, value.type)
            self.fill(value, found)
        return found

    def element(self, value: Value) -> Value:
        """The only element of a tile."""
        zero = zero_index(self.ev)
        before, self.ev.lanes = self.ev.lanes, 1
        lane: Any = self.ev.at(value, (zero,) * value.type.rank)
        self.ev.lanes = before
        return lane.value

    def elementwise(self, values: list[Value], body: Callable[[Index], None], lanes: bool = True) -> None:
        """Run `body` over the elements of tiles of one shape (chunks, or one by one without `lanes`)."""
        shape = next((v.type.shape for v in values if isinstance(v.type, TensorType)), ())
        space = self.plan.space(shape, [v for v in values if isinstance(v.type, TensorType)])
        run_nest(self.ev, space if lanes else Space(shape, -1, 1), body)

    def store(self, op: tt.Store) -> None:
        """A tile store."""
        tiles = [v for v in op.operands if isinstance(v.type, TensorType)]
        shape = tiles[0].type.shape if tiles else ()
        space = self.plan.space(shape, tiles, (op.ptr,))
        versioned(
            self,
            tiles,
            space,
            lambda peel: run_nest(self.ev, space, lambda i: store_at(self.ev, op, i), peel),
            store=op,
        )

    def dies_at(self, value: Value, op: Operation) -> bool:
        """True when nothing reads `value` after `op`, so that its buffer may be overwritten there."""
        home = value.block
        if home is not op.parent or (value.defining_op is None and not control.owns_buffer(value)):
            return False
        pending, seen = list(value.users), set()
        while pending:
            user = pending.pop()
            if user in seen or user is op:
                continue
            seen.add(user)
            at: Operation | None = user
            while at is not None and at.parent is not home:
                at = at.parent_op
            if at is None or not at.is_before(op):
                return False
            if inlinable(user):
                for r in user.results:
                    if r not in self.plan.buffered:
                        pending += r.users
        return True
