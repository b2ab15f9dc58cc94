"""Functions of several neighbouring elements as functions of one element of several tensors, for GPUs.

`tt.map_elementwise` with `pack = 2` hands its function neighbours along the last dimension. Which elements a thread
holds side by side is a question of layouts; none has to be asked where neighbours are split off first:

    %e, %o = tt.split (tt.reshape %x : tensor<8x64xi32> -> tensor<8x32x2xi32>)
    %a, %b = tt.map_elementwise %e, %o {pack = 1}        the same function: it took them one after the other before
    %y = tt.reshape (tt.join %a, %b) : tensor<8x32x2xi32> -> tensor<8x64xi32>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects import tt
from ..ir import Operation, TensorType, Value
from ..ir.builder import Builder
from ..support import UnsupportedOperation

__all__ = ["split_packs"]


def split_packs(module: Operation) -> None:
    """Let every `tt.map_elementwise` of a module take one element of each operand; UnsupportedOperation where a row is
    no whole number of groups."""
    for op in list(module.walk()):
        if op.__class__ is tt.MapElementwise and op.pack > 1:  # type: ignore[attr-defined]
            _split(op)


def _split(op: Any) -> None:
    pack, columns = op.pack, op.srcs[0].type.shape[-1]
    if columns % pack:
        raise UnsupportedOperation(op, f"of {pack} neighbours in rows of {columns} is not supported on GPUs")
    b = Builder(op.parent, op, op.loc)
    sources = [part for v in op.srcs for part in _parts(b, v, pack)]
    shape = sources[0].type.shape  # type: ignore[attr-defined]
    types = [TensorType(shape, r.type.element) for r in op.results for _ in range(pack)]
    region = op.regions.pop()
    new = tt.MapElementwise(sources, 1, region, results_=types)
    b.insert(new)
    for k, result in enumerate(op.results):
        result.replace_all_uses_with(_whole(b, new.results[k * pack : (k + 1) * pack]))
    op.erase()


def _parts(b: Builder, v: Any, pack: int) -> list[Value]:
    """The elements whose place along the last dimension is 0, 1, … modulo `pack`, a power of two."""
    if pack == 1:
        return [v]
    *rows, columns = v.type.shape
    pairs = b.add(tt.Reshape(v, result=TensorType((*rows, columns // 2, 2), v.type.element)))
    halves = tt.Split(pairs)
    b.insert(halves)
    even, odd = (_parts(b, half, pack // 2) for half in halves.results)
    return [part for two in zip(even, odd) for part in two]


def _whole(b: Builder, parts: Sequence[Any]) -> Any:
    """The tensor of which these are the parts."""
    if len(parts) == 1:
        return parts[0]
    even, odd = _whole(b, parts[0::2]), _whole(b, parts[1::2])
    *rows, columns = even.type.shape
    pairs = b.add(tt.Join(even, odd, result=TensorType((*rows, columns, 2), even.type.element)))
    return b.add(tt.Reshape(pairs, result=TensorType((*rows, 2 * columns), even.type.element)))
