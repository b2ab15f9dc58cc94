"""Version TMA stores through descriptors whose rows may not end at a multiple of 16 bytes.

TMA writes in units of 16 bytes, so it would write past the end of a row that ends within one. Where that is the only
reason against TMA, the kernel tests the size:

    %d = tt.make_tensor_descriptor %p, [%m, %n], …          %d = …  (`tritium.whole_rows`), %e = the same
    tt.descriptor_store %d[%i, %j], %v                      %whole = %n % 8 == 0        (elements of 2 bytes)
                                                            scf.if %whole { tt.descriptor_store %d[%i, %j], %v }
                                                            else          { tt.descriptor_store %e[%i, %j], %v }

and `%e`, which no load uses, is lowered to pointers and masks by `rewrite-tensor-descriptor-to-pointer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..analysis.descriptors import WHOLE_ROWS, with_uneven_writes
from ..analysis.tma import MIN_ROW_BYTES, UNLIKELY
from ..dialects import arith
from ..ir import UNIT, Builder, Operation, Value, is_descriptor_store, remark
from .versions import version

__all__ = ["split_uneven_writes"]


def split_uneven_writes(module: Operation, capability: int) -> bool:
    """Version the writes through such descriptors; returns whether there are any."""
    makers = with_uneven_writes(module, capability)
    for maker in makers:
        remark(maker, "TMA stores where rows end at multiples of 16 bytes, stores through pointers elsewhere")
        others = maker.clone()
        b = Builder(maker.parent, maker.next, maker.loc)
        b.insert(others)
        whole = _ends_whole(b, maker)
        maker.attributes[WHOLE_ROWS] = UNIT
        for user in [user for user in maker.result.users if is_descriptor_store(user)]:
            _split(user, whole, maker.result, others.result)
    return bool(makers)


def _ends_whole(b: Builder, maker: Any) -> Value:
    size = maker.shape[-1]
    each = MIN_ROW_BYTES // (maker.result.type.block.element.width // 8)
    rest = b.add(arith.RemSI(size, b.add(arith.Constant.of(each, size.type))))
    return b.add(arith.CmpI(arith.CmpIPredicate.eq, rest, b.add(arith.Constant.of(0, size.type))))  # type: ignore[no-any-return]


def _split(write: Operation, whole: Value, by_engine: Value, by_pointers: Value) -> None:
    def by_tma(b: Builder) -> Callable[[Value], Value]:
        b.insert(write.clone())
        return lambda value: value

    version([write], whole, by_tma).attributes[UNLIKELY] = UNIT
    for i, operand in enumerate(write.operands):
        if operand is by_engine:
            write.set_operand(i, by_pointers)
