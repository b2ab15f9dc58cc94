"""Loop-carried tiles that only move by a uniform step become one scalar.

    for …: p = addptr(p, splat(s))      =>      for …: p = addptr(p0, splat(n)); n = n + s

A pointer tile carried through a loop would otherwise live in memory and lose its affine form.
"""

from __future__ import annotations

from ...dialects import arith, tt
from ...ir import Block, CountedLoop, FloatType, TensorType, Value, i64
from ...ir.builder import Builder

__all__ = ["uniform_iter_args"]


def uniform_iter_args(func: tt.Func) -> None:
    """Rewrite all loops of a function, inner ones first."""
    for op in list(func.walk_post()):
        if isinstance(op, CountedLoop):
            for i in range(len(op.iter_args)):
                step = _uniform_step(op, i)
                if step is not None:
                    op = _rewritten(op, i, step)


def _uniform_step(loop: CountedLoop, i: int) -> list[tuple[Value, int]] | None:
    """The scalars (with signs) whose sum carried tile number `i` moves by in an iteration."""
    arg = loop.iter_args[i]
    if not isinstance(arg.type, TensorType) or isinstance(arg.type.element, FloatType):
        return None
    at: Value = loop.yielded[i]
    steps: list[tuple[Value, int]] = []
    while at is not arg:
        op = at.defining_op
        if isinstance(op, tt.AddPtr):
            at, by, sign = op.ptr, op.offset, 1
        elif isinstance(op, arith.AddI):
            at, by, sign = (op.lhs, op.rhs, 1) if _scalar_of(op.rhs) is not None else (op.rhs, op.lhs, 1)
        elif isinstance(op, arith.SubI):
            at, by, sign = op.lhs, op.rhs, -1
        else:
            return None
        scalar = _scalar_of(by)
        if scalar is None:
            return None
        steps.append((by, sign))
    return steps


def _scalar_of(value: Value) -> Value | int | None:
    op = value.defining_op
    while isinstance(op, tt.Broadcast):
        op = op.src.defining_op
    if isinstance(op, tt.Splat):
        return op.src
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    return number if isinstance(number, int) else None


def _rewritten(loop: CountedLoop, i: int, steps: list[tuple[Value, int]]) -> CountedLoop:
    arg, init = loop.iter_args[i], loop.init_args[i]
    ty = arg.type
    assert isinstance(ty, TensorType) and loop.parent is not None
    counter = i64 if isinstance(ty.element, tt.PointerType) else ty.element
    b = Builder(loop.parent, loop, loop.loc)
    zero = b.add(arith.Constant.of(0, counter))
    inits = [zero if k == i else v for k, v in enumerate(loop.init_args)]
    new = loop.with_operands(loop.lb, loop.ub, loop.step, inits)
    block: Block = new.body
    fresh = block.insert_argument(i + 1, counter)
    fresh.hint = arg.hint
    b.insert(new)
    b.at_start(block)
    moved = _moved(b, init, fresh, ty)
    arg.replace_all_uses_with(moved)
    block.erase_argument(i + 2)
    last = new.terminator
    b.at(last)
    total: Value = fresh
    for by, sign in steps:
        step = _as_counter(b, by, counter)
        total = b.add((arith.AddI if sign > 0 else arith.SubI)(total, step))
    last.set_operand(i, total)
    b.after(new)
    for k, (old, result) in enumerate(zip(loop.results, new.results)):
        if k != i:
            old.replace_all_uses_with(result)
        elif old.users:
            old.replace_all_uses_with(_moved(b, init, result, ty))
    loop.erase()
    return new


def _moved(b: Builder, init: Value, by: Value, ty: TensorType) -> Value:
    tile = b.add(tt.Splat(by, result=TensorType(ty.shape, by.type)))
    return b.add(tt.AddPtr(init, tile) if isinstance(ty.element, tt.PointerType) else arith.AddI(init, tile))


def _as_counter(b: Builder, by: Value, counter: object) -> Value:
    scalar = _scalar_of(by)
    if isinstance(scalar, int):
        return b.add(arith.Constant.of(scalar, counter))  # type: ignore[arg-type]
    assert isinstance(scalar, Value)
    if scalar.type is counter:
        return scalar
    return b.add(arith.ExtSI(scalar, out=counter))
