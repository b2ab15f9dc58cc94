"""Control flow over tiles: loop-carried tiles live in buffers that each iteration overwrites.

A loop's buffer holds the argument at the head of the body and the next value at its end. A new value is written in
place when it needs the old one only element by element; when several carried tiles depend on each other in other
ways, the new values go to spare buffers first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import cf, scf, tt, ub
from ...ir import Block, CountedLoop, IfLike, LoopLike, Operation, Region, TensorType, Value, region_branch_of
from ...support import UnsupportedOperation
from .buffers import TileBuffer
from .lanes import Index, tile_type
from .lowering import TileLowering, lowers
from .nests import run_nest
from .versions import versioned

__all__: list[str] = []


def _is_tile(v: Value) -> bool:
    return isinstance(v.type, TensorType)


def _scalars(values: Any) -> list[Value]:
    return [v for v in values if not _is_tile(v)]


def _new_buffers(lowering: TileLowering, values: Sequence[Value]) -> list[TileBuffer]:
    """A buffer for each tile among `values`."""
    return [TileBuffer.allocate(lowering.alloc, tile_type(v)) for v in values if _is_tile(v)]


def _bind(lowering: TileLowering, values: Any, buffers: list[TileBuffer]) -> None:
    for v, buffer in zip([v for v in values if _is_tile(v)], buffers, strict=True):
        lowering.ev.buffers[v] = buffer


def _bind_scalars(lowering: TileLowering, old: Any, new: Any) -> None:
    lowering.ev.scalars.update(zip(_scalars(old), new, strict=True))


def _mapped(lowering: TileLowering, values: Any) -> list[Value]:
    return [lowering.ev.scalars[v] for v in _scalars(values)]


def _copy_loop_annotation(op: LoopLike, loop: LoopLike) -> None:
    """Copy LLVM's loop annotation; hints for GPUs are dropped."""
    annotation = op.attributes.get("llvm.loop_annotation")
    if annotation is not None:
        loop.attributes["llvm.loop_annotation"] = annotation


@lowers(CountedLoop)
def _for(lowering: TileLowering, op: CountedLoop) -> None:
    if op.unsignedCmp:
        raise UnsupportedOperation(op, "with unsigned bounds is not supported on the CPU")
    buffers = _new_buffers(lowering, op.init_args)
    for v, buffer in zip(filter(_is_tile, op.init_args), buffers):
        lowering.fill(v, buffer)
    bounds = _mapped(lowering, op.bounds)
    lower, upper, step = bounds
    loop = scf.For.build(lower, upper, step, _mapped(lowering, op.init_args))
    loop.loc = op.loc
    _copy_loop_annotation(op, loop)
    lowering.ev.w.place(loop)
    _bind_scalars(lowering, [op.induction_variable, *op.iter_args], loop.body.args)
    _bind(lowering, op.iter_args, buffers)
    lowering.nested(op.body, loop.body)
    _bind_scalars(lowering, op.results, loop.results)
    _bind(lowering, op.results, buffers)


@lowers(IfLike)
def _if(lowering: TileLowering, op: IfLike) -> None:
    buffers = _new_buffers(lowering, op.results)
    types = [r.type for r in _scalars(op.results)]
    branch = scf.If.build(lowering.ev.scalars[op.condition], types, op.else_block is not None)
    branch.loc = op.loc
    lowering.ev.w.place(branch)
    _bind(lowering, op.results, buffers)
    for old, new in ((op.then_block, branch.then_block), (op.else_block, branch.else_block)):
        if old is not None and new is not None:
            lowering.nested(old, new)
            if new.last is None or not isinstance(new.last, scf.Yield):
                new.append(scf.Yield([]))
    _bind_scalars(lowering, op.results, branch.results)


@lowers(scf.While)
def _while(lowering: TileLowering, op: scf.While) -> None:
    before = _new_buffers(lowering, op.inits)
    for v, buffer in zip(filter(_is_tile, op.inits), before):
        lowering.fill(v, buffer)
    after = _new_buffers(lowering, op.results)
    inits = _mapped(lowering, op.inits)
    types = [r.type for r in _scalars(op.results)]
    loop = scf.While(inits, Region(Block([v.type for v in inits])), Region(Block(types)), results_=types, loc=op.loc)
    _copy_loop_annotation(op, loop)
    lowering.ev.w.place(loop)
    _bind(lowering, op.before_block.args, before)
    _bind(lowering, op.results, after)
    _bind_scalars(lowering, op.before_block.args, loop.before_block.args)
    lowering.nested(op.before_block, loop.before_block)
    _bind(lowering, op.after_block.args, after)
    _bind_scalars(lowering, op.after_block.args, loop.after_block.args)
    lowering.nested(op.after_block, loop.after_block)
    _bind_scalars(lowering, op.results, loop.results)


@lowers(scf.Yield)
def _yield(lowering: TileLowering, op: Operation) -> None:
    branch = region_branch_of(op)
    assert branch is not None
    targets = [branch.successor_values(op, i)[0] for i in range(len(op.operands))]
    _assign_tiles(lowering, targets, list(op.operands))
    lowering.ev.w.place(scf.Yield(_mapped(lowering, op.operands)))


@lowers(scf.Condition)
def _condition(lowering: TileLowering, op: scf.Condition) -> None:
    parent = op.parent_op
    assert isinstance(parent, scf.While)
    _assign_tiles(lowering, list(parent.results), list(op.args))
    condition = lowering.ev.scalars[op.condition]
    lowering.ev.w.place(scf.Condition(condition, _mapped(lowering, op.args)))


def _assign_tiles(lowering: TileLowering, targets: list[Value], values: list[Value]) -> None:
    """Parallel assignment: write each tile of `values` into the buffer of its target."""
    ev, plan = lowering.ev, lowering.plan
    moves: list[tuple[Value, Value, TileBuffer]] = []
    for target, value in zip(targets, values, strict=True):
        if not _is_tile(target) or isinstance(value.defining_op, ub.Poison):
            continue
        buffer, old = ev.buffers[target], ev.buffers.get(value)
        if old is None or old.base is not buffer.base:
            moves.append((target, value, buffer))
    overwritten = {ev.buffers[t].base for t, _, _ in moves}
    reads: dict[Value, set[tuple[Value, bool]]] = {}
    for _, value, _ in moves:
        identity = tuple(range(tile_type(value).rank))
        reads[value] = {
            (ev.buffers[v].base, dims == identity)
            for v, dims in plan.accesses([value])
            if v in ev.buffers and ev.buffers[v].base in overwritten
        }
    lowering.flush()
    spaces = {plan.space(tile_type(v).shape, [v]) for _, v, _ in moves}
    if len(spaces) == 1 and all(same for row in reads.values() for _, same in row):
        _assign_in_one_loop(lowering, moves)
        return
    later: list[tuple[Value, TileBuffer, TileBuffer]] = []
    direct: list[tuple[Value, TileBuffer]] = []
    for target, value, buffer in moves:  # two targets may get one value: it is computed for each
        others = any(base is buffer.base for t, v, _ in moves if t is not target for base, _ in reads[v])
        itself = any(base is buffer.base and not same for base, same in reads[value])
        if others or itself:
            spare = TileBuffer.allocate(lowering.alloc, tile_type(value), buffer.stored)
            lowering.fill(value, spare)
            later.append((value, spare, buffer))
        else:
            direct.append((value, buffer))
    for value, buffer in direct:
        lowering.fill(value, buffer)
    for value, spare, buffer in later:
        before = ev.buffers.get(value)
        ev.buffers[value] = spare
        lowering.fill(value, buffer)
        if before is None:  # the spare is filled on this path only
            del ev.buffers[value]
        else:
            ev.buffers[value] = before


def _assign_in_one_loop(lowering: TileLowering, moves: list[tuple[Value, Value, TileBuffer]]) -> None:
    """One loop: all new elements of a chunk are computed before any is written."""
    ev = lowering.ev
    values = [v for _, v, _ in moves]
    if not values:
        return
    space = lowering.plan.space(tile_type(values[0]).shape, values)

    def body(index: Index) -> None:
        lanes = [ev.at(v, index) for v in values]
        for lane, (_, _, buffer) in zip(lanes, moves):
            buffer.write(ev.w, index, lane, ev.lanes)

    versioned(lowering, values, space, lambda peel: run_nest(ev, space, body, peel))


# -- branches between blocks --------------------------------------------------------------------------------------


@lowers(cf.Br)
def _br(lowering: TileLowering, op: cf.Br) -> None:
    _assign_tiles(lowering, list(op.dest.args), list(op.dest_operands))
    target = lowering.blocks[op.dest]
    lowering.ev.w.place(cf.Br(_mapped(lowering, op.dest_operands), target))


@lowers(cf.CondBr)
def _cond_br(lowering: TileLowering, op: cf.CondBr) -> None:
    """Tiles are assigned on both sides: a block that is not taken does not read its buffers."""
    _assign_tiles(lowering, [*op.true_dest.args, *op.false_dest.args], [*op.true_operands, *op.false_operands])
    blocks = lowering.blocks
    lowering.ev.w.place(
        cf.CondBr(
            lowering.ev.scalars[op.condition],
            _mapped(lowering, op.true_operands),
            _mapped(lowering, op.false_operands),
            blocks[op.true_dest],
            blocks[op.false_dest],
        )
    )


@lowers(tt.Return)
def _return(lowering: TileLowering, op: tt.Return) -> None:
    lowering.ev.w.place(tt.Return([], loc=op.loc))
