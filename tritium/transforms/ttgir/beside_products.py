"""beside-products: what a product does not need is done while it multiplies.

    %s = ttng.warp_group_dot %q, %k, %zero {isAsync}       %s = ttng.warp_group_dot %q, %k, %zero {isAsync}
    %t = ttng.warp_group_dot_wait %s                       ttng.wait_barrier %full
    %p = … %t …                                       =>   %t = ttng.warp_group_dot_wait %s
    %r = "tt.reduce"(%p)                                   %p = … %t …
    ttng.wait_barrier %full                                %o = ttng.warp_group_dot %p, %v, %acc {isAsync}
    %o = ttng.warp_group_dot %p, %v, %acc {isAsync}        %r = "tt.reduce"(%p)

Threads compute between two products while the tensor cores have nothing to do but for other blocks, so that what need
not stand there is taken away:

1. rule *wait before*: a copy that the second product reads is waited for right behind the beginning of the first. It
   was begun with what the first product reads, and is there by then; and a wait is a loop, over which the assembler
   moves nothing: without it the exponentials, the scaling of the sum and the rounding of its factors are one block.
2. rule *sum behind*: a reduction that the second product does not need, with what follows from it, moves behind its
   beginning, and behind that of loads for later iterations; most of it is threads that exchange numbers, one step
   behind the other. What is reduced stays in registers beside the operands and the sum of the product; where these are
   too many, the reduction stays.

Neither moves over anything with effects but products and waits for them.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...dialects import tt, ttng
from ...dialects.ttg_context import num_warps, threads_per_warp
from ...dialects.ttg_switches import is_on
from ...ir import PURE, Block, Operation, TensorType, Value, count, functions_of, may_change, pass_on

__all__ = ["beside_products"]

_REGISTERS = 176
"""Registers of a thread up to which tensors stay there for a reduction behind a product: 255, less what addresses,
descriptors and the results of reductions take."""


@pass_on("module", statistics={"waits": "waits behind products", "sums": "reductions behind products"})
def beside_products(module: Operation) -> bool:
    """Move waits for copies, and reductions, to where products are under way."""
    if not is_on(module, "beside-products"):
        return False
    waits = sums = 0
    for func in functions_of(module):
        blocks = {op.parent: None for op in func.walk() if _is_under_way(op)}
        for block in blocks:
            assert block is not None
            waits += _waits_before(block)
            sums += sum(_sums_behind(op) for op in list(block) if _is_under_way(op))
    count("waits", waits)
    count("sums", sums)
    return waits + sums > 0


def _is_under_way(op: Any) -> bool:
    """Whether an operation is a product that goes on while threads do."""
    return op.__class__ is ttng.WarpGroupDot and op.isAsync


# -- rule "wait before" -------------------------------------------------------------------------------------------


def _waits_before(block: Block) -> int:
    moved = 0
    product: Operation | None = None
    after: Operation | None = None
    for op in list(block):
        if _is_under_way(op):
            product = after = op
        elif op.__class__ is ttng.WaitBarrier and product is not None:
            assert after is not None
            made = _made_since(op, product)
            if made is None or not may_change("wait before", op):
                product = None
                continue
            for each in (*made, op):
                if after.next is not each:
                    each.move_after(after)
                after = each
            moved += 1
        elif not (op.traits & PURE or op.__class__ in (ttng.WarpGroupDotWait, tt.Reduce)):
            product = None
    return moved


def _made_since(wait: Any, product: Operation) -> list[Operation] | None:
    """What a wait needs of the operations behind a product, in their order; None if that is more than addresses."""
    needed: set[Value] = set(wait.operands)
    made: list[Operation] = []
    op = wait.prev
    while op is not product:
        if not needed.isdisjoint(op.results):
            if not op.traits & PURE or any(isinstance(r.type, TensorType) for r in op.results):
                return None
            made.append(op)
            needed.update(op.operands)
        op = op.prev
    return made[::-1]


# -- rule "sum behind" --------------------------------------------------------------------------------------------


def _sums_behind(product: Any) -> int:
    """Move reductions that a product does not need, and what follows from them, behind it."""
    between = _since_last(product)
    needed = _needed(product, between)
    moved: list[Operation] = []
    for op in between:
        follows = any(v.defining_op in moved for v in op.operands)
        if op.__class__ is tt.Reduce or follows:
            if op in needed or not may_change("sum behind", op):
                if follows:
                    return 0
            elif follows or _fits(op, product):
                moved.append(op)
    place = _as_late(product, moved)
    for op in moved:
        op.move_after(place)
        place = op
    return sum(op.__class__ is tt.Reduce for op in moved)


def _as_late(product: Any, moved: list[Operation]) -> Operation:
    """Behind what `moved` may stand: the product, and what else is begun meanwhile. What follows from it joins it."""
    place, op = product, product.next
    while moved and op is not None and op.next is not None:
        if any(v.defining_op in moved for v in op.operands):
            if not op.traits & PURE:
                break
            moved.append(op)
        elif op.regions or op.__class__ in (ttng.WarpGroupDot, ttng.WarpGroupDotWait):
            break
        else:
            place = op
        op = op.next
    return place  # type: ignore[no-any-return]


def _since_last(product: Any) -> list[Any]:
    """The operations in front of a product that may move behind it, back to what has effects."""
    out: list[Any] = []
    op = product.prev
    while op is not None and (op.traits & PURE or op.__class__ is tt.Reduce):
        out.append(op)
        op = op.prev
    return out[::-1]


def _needed(product: Any, between: list[Any]) -> set[Operation]:
    """Those of `between` that an operand of the product comes from."""
    found: set[Operation] = set()
    values = set(product.operands)
    for op in reversed(between):
        if not values.isdisjoint(op.results):
            found.add(op)
            values.update(v for inner in op.walk() for v in inner.operands)
    return found


def _fits(reduction: Any, product: Any) -> bool:
    """Whether what is reduced may stay in registers with the product's sum and its left operand."""
    tensors = [v for v in (*reduction.operands, product.d, product.a) if isinstance(v.type, TensorType)]
    threads = (num_warps(product) or 4) * threads_per_warp(product)
    bits = sum(prod(v.type.shape) * v.type.element.width for v in tensors)  # type: ignore[attr-defined]
    return bits // 32 // threads <= _REGISTERS
