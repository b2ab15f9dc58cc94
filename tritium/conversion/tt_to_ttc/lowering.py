"""The driver of one function: walks the tile program in order and emits loops where tiles are materialized.

Tile operations that can be inlined emit nothing by themselves. What is emitted at its position in the program is an
*item*: filling a buffer, a store, a reduction. Items over the same space are collected in a group, so that a tile that
is buffered and the reductions over it share one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...dialects import tt, ub
from ...ir import Block, LoopLike, Operation, Region, TensorType, Value, memory_effects
from ...support import UnsupportedOperation
from ..llvm.dot import CPUFeatures
from ..lowerings import Lowerings
from .access import Sanitizer, store_at
from .buffers import TileBuffer
from .context import LoweringContext
from .evaluate import zero_index
from .extremes import extreme_of
from .lanes import Index, Uniform, tile_type
from .nests import run_nest
from .peel import peel_for
from .plan import inlinable
from .read_prefetch import streaming_loads
from .reduce import ReduceItem, emit_reductions, vectorizable
from .space import Space
from .versions import versioned
from .write_prefetch import prefetch_writes, prefetchable_store
from .writer import Writer

__all__ = ["LOWERINGS", "TileLowering", "lowers"]

LOWERINGS = Lowerings()
"""By op class: a function of the `TileLowering` and the operation, for operations lowered at their position."""
lowers = LOWERINGS.lowers


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


class TileLowering(LoweringContext):
    """Lowers one function."""

    def __init__(self, func: tt.Func, target: CPUFeatures, sanitize: bool, guard: bool) -> None:
        super().__init__(func, target)
        if sanitize or guard:
            self.ev.sanitizer = Sanitizer({arg: i for i, arg in enumerate(func.entry.args)}, sanitize, guard)
        self.group: _Group | None = None

    def run(self) -> tt.Func:
        """The lowered function."""
        blocks = self.func.regions[0].blocks
        new = [self.entry, *(Block() for _ in blocks[1:])]
        self._map_blocks(blocks, new)
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

    def _map_blocks(self, old: list[Block], new: list[Block]) -> None:
        """Give the new blocks their arguments: scalars stay arguments, tiles get buffers."""
        self.blocks = dict(zip(old, new))
        for before, after in zip(old, new):
            for arg in before.args:
                if isinstance(arg.type, TensorType):
                    self.ev.buffers[arg] = TileBuffer.allocate(self.alloc, arg.type)
                    continue
                fresh = after.add_argument(arg.type, arg.loc)
                fresh.hint = arg.hint
                self.ev.scalars[arg] = fresh

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
        lower = LOWERINGS.find(type(op))
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
        space = self.plan.space(tile_type(value).shape, [value], computing=(value,))
        buffer = TileBuffer.allocate(self.alloc, tile_type(value))
        group = self._group_for(space, None, [value], (value,))
        group.fills.append((value, buffer))
        return buffer

    def reduction(self, op: tt.Reduce) -> None:
        """Let a reduction be written, soon."""
        shape = tile_type(op.srcs[0]).shape
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
        store = prefetchable_store(self, filled, last) if filled and last is not None else None

        def fill(index: Index) -> None:
            if store is not None:
                prefetch_writes(self, store, index)
            for value, buffer in group.fills:
                buffer.write(ev.w, index, ev.at(value, index), ev.lanes)

        if group.reductions:
            values = [v for item in group.reductions for v in item.sources]
            peel = peel_for(self, [*filled, *values], group.space, tuple(filled))
            streams = streaming_loads(self, [*filled, *values], group.space, tuple(filled))
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
        space = self.plan.space(tile_type(value).shape, [value])
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
            found = TileBuffer.allocate(self.alloc, tile_type(value))
            self.fill(value, found)
        return found

    def element(self, value: Value) -> Value:
        """The only element of a tile."""
        zero = zero_index(self.ev)
        before, self.ev.lanes = self.ev.lanes, 1
        lane = self.ev.at(value, (zero,) * tile_type(value).rank)
        assert isinstance(lane, Uniform)
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
        shape = tile_type(tiles[0]).shape if tiles else ()
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
        if home is not op.parent or (value.defining_op is None and not _owns_buffer(value)):
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


def _owns_buffer(value: Value) -> bool:
    """True for the carried tiles of a loop, whose buffers the loop may overwrite."""
    block = value.block
    return block is not None and isinstance(block.parent_op, LoopLike)
