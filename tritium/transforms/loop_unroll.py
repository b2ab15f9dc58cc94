"""loop-unroll: Unroll loops with `tt.loop_unroll_factor`.

    scf.for %i = %lb to %ub step %s { body(%i) } {tt.loop_unroll_factor = 2 : i32}
 =>
    %middle = %lb + (trips - trips mod 2) * %s          trips = max(0, ceildiv(%ub - %lb, %s))
    scf.for %i = %lb to %middle step 2 * %s { body(%i); body(%i + %s) }
    scf.for %i = %middle to %ub step %s { body(%i) }    the remainder

The remainder loop is omitted when the trip count is a known multiple of the factor. It is not pipelined (`tt.num_stages
= 1`), since its trip count is less than the factor.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith
from ..ir import (
    Block,
    Builder,
    CountedLoop,
    IntegerAttr,
    Operation,
    Value,
    count,
    functions_of,
    i32,
    may_change,
    pass_on,
)

__all__ = ["FACTOR", "loop_unroll"]

FACTOR = "tt.loop_unroll_factor"


@pass_on("function")
def loop_unroll(op: Operation) -> bool:
    """Unroll the loops of a function, or of all functions of a module, that request it."""
    unrolled = 0
    for func in functions_of(op):
        for loop in [
            inner for inner in func.walk_post() if isinstance(inner, CountedLoop) and FACTOR in inner.attributes
        ]:
            if not may_change("unroll", loop):
                continue
            factor = loop.attributes.pop(FACTOR).value  # type: ignore[attr-defined]
            if factor > 1 and not loop.unsignedCmp:
                _unroll(loop, factor)
                unrolled += 1
    count("loops unrolled", unrolled)
    return unrolled > 0


def _unroll(loop: CountedLoop, factor: int) -> None:
    b = Builder(loop.parent, loop, loop.loc)
    trips = loop.trip_count()
    even = trips is not None and trips % factor == 0
    middle = loop.ub if even else _middle(b, loop, factor)
    ty = loop.lb.type
    step = b.add(arith.MulI(loop.step, b.add(arith.Constant.of(factor, ty))))
    main = loop.clone_without_body(loop.lb, middle, step, loop.init_args)
    _fill(main, loop, factor)
    b.insert(main)
    if even:
        loop.replace_with(main.results)
        return
    for i, value in enumerate(main.results):
        loop.results[i].replace_all_uses_with(value)
    rest = b.insert(loop.with_operands(middle, loop.ub, loop.step, main.results))
    rest.attributes["tt.num_stages"] = IntegerAttr(1, i32)
    for old, new in zip(list(main.results), rest.results):
        old.replace_uses_where(new, lambda user: user is not rest)
    loop.erase()


def _middle(b: Builder, loop: CountedLoop, factor: int) -> Value:
    """The upper bound of the unrolled loop."""
    ty = loop.lb.type
    zero, k = b.add(arith.Constant.of(0, ty)), b.add(arith.Constant.of(factor, ty))
    span = b.add(arith.SubI(loop.ub, loop.lb))
    trips = b.add(arith.MaxSI(b.add(arith.CeilDivSI(span, loop.step)), zero))
    whole = b.add(arith.SubI(trips, b.add(arith.RemUI(trips, k))))
    return b.add(arith.AddI(loop.lb, b.add(arith.MulI(whole, loop.step))))  # type: ignore[no-any-return]


def _fill(main: CountedLoop, loop: CountedLoop, factor: int) -> None:
    """Emit `factor` copies of the body, each with the values yielded by the previous one."""
    body: Block = main.body
    b = Builder(body, loc=loop.loc)
    carried: list[Value] = list(main.iter_args)
    for new, old in zip(body.args, loop.body.args):
        new.hint = old.hint
    i = main.induction_variable
    for k in range(factor):
        if k:
            i = b.add(arith.AddI(i, loop.step))
        mapping: dict[Any, Any] = dict(zip(loop.body.args, [i, *carried]))
        for op in loop.body:
            if op is not loop.terminator:
                body.append(op.clone(mapping))
        carried = [mapping.get(v, v) for v in loop.terminator.operands]
    b.insert(main.make_yield(carried))
