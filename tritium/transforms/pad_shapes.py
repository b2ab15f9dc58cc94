"""pad-shapes: Pad tile dimensions to powers of two, with masks where needed.

    %x = tt.load %p : tensor<100x!tt.ptr<f32>>    =>    %i = tt.make_range {end = 128} < 100
                                                        %x = tt.load %p, %i, 0 : tensor<128x!tt.ptr<f32>>

Each dimension is rounded up. Elements keep their coordinates, followed by the padding; its content is undefined, and
operations whose result depends on it get neutral operands (`padding`):

| operation | in the padding |
|---|---|
| loads, stores, atomics | masked off; without a mask, repeated for an element of the program |
| reductions, reverse scans | the identity of the function, else a flag beside each value |
| dots | zeros along K |
| reshapes | undefined, or each element is looked up |
| gathers, histograms, assertions | the index 0, masked off, true |
| elementwise functions that may branch or loop | copies of elements of the program |

All other operations are elementwise, or move whole dimensions. GPU layouts require powers of two; CPUs get the same
tiles, so that there is one `ttir` for all targets.
"""

from __future__ import annotations

from typing import Any

from ..dialects import tt, ub
from ..ir import (
    ELEMENTWISE,
    Branch,
    DenseArrayAttr,
    Operation,
    RegionBranch,
    TypeAttr,
    functions_of,
    i32,
    pass_on,
    region_branch_of,
    shape_of,
)
from ..support import UnsupportedOperation
from .padding.combining import COMBINING
from .padding.dots import DOTS
from .padding.memory import MEMORY
from .padding.reshaping import RESHAPING, decompose_cat
from .padding.shapes import Padder, Shape, is_uneven, padded_type

__all__ = ["pad_shapes"]

_Site = tuple[Operation, list[Shape], list[Shape]]


@pass_on("module")
def pad_shapes(module: Operation) -> bool:
    """Pad the tiles of all functions of a module."""
    for op in list(module.walk()):
        if isinstance(op, tt.Cat) and is_uneven(op.lhs.type):
            decompose_cat(op)
    sites = _sites(module)
    if not _pad_values(module):
        return False
    p = Padder({}, {})
    for op, sources, results in sites:
        handler = _HANDLERS.get(op.__class__)
        if handler is not None:
            handler(op, p.at(op, sources, results))
        elif not (op.traits & ELEMENTWISE or isinstance(op, (RegionBranch, Branch)) or region_branch_of(op)):
            raise UnsupportedOperation(op, "requires shapes of powers of two: pad the block yourself")
    return True


def _sites(module: Operation) -> list[_Site]:
    """The operations on tiles to be padded, in program order, with their original shapes."""
    return [
        (op, [shape_of(v.type) for v in op.operands], [shape_of(r.type) for r in op.results])
        for op in module.walk()
        if any(is_uneven(v.type) for v in (*op.operands, *op.results))
    ]


def _pad_values(module: Operation) -> bool:
    """Change the types of all values to padded ones."""
    changed = False
    for op in module.walk():
        changed |= _pad(op.results)
        for region in op.regions:
            for block in region.blocks:
                changed |= _pad(block.args)
    for func in functions_of(module):
        func.attributes["function_type"] = TypeAttr(padded_type(func.function_type))  # type: ignore[attr-defined]
    return changed


def _pad(values: Any) -> bool:
    uneven = [v for v in values if is_uneven(v.type)]
    for v in uneven:
        v.type = padded_type(v.type)
    return bool(uneven)


def _keep(op: Any, p: Padder) -> None:
    """The content of the padding does not matter."""


def _assert(op: Any, p: Padder) -> None:
    op.set_operand(0, p.fill(op.condition, p.sources[0], 1))


def _print(op: Any, p: Padder) -> None:
    op.attributes["tt.shapes"] = DenseArrayAttr(tuple(d for shape in p.sources for d in shape), i32)


def _map(op: Any, p: Padder) -> None:
    """The function may loop until a condition holds: in the padding, give it an operand that occurs elsewhere."""
    if p.sources[0][-1] % op.pack:
        raise UnsupportedOperation(op, f"with pack = {op.pack} requires a last dimension of whole groups")
    op.set_operands([p.repeat(v, shape) for v, shape in zip(op.srcs, p.sources)])


def _assembly(op: Any, p: Padder) -> None:
    if not op.pure:
        raise UnsupportedOperation(
            op, "with side effects requires shapes of powers of two, else they happen in the padding too"
        )


_HANDLERS: dict[type, Any] = {
    ub.Poison: _keep,
    tt.Splat: _keep,
    tt.ExpandDims: _keep,
    tt.Broadcast: _keep,
    tt.Join: _keep,
    tt.Split: _keep,
    tt.Call: _keep,
    tt.Return: _keep,
    **MEMORY,
    **COMBINING,
    **RESHAPING,
    **DOTS,
    tt.Assert: _assert,
    tt.Print: _print,
    tt.MapElementwise: _map,
    tt.InlineAsm: _assembly,
    tt.ExternElementwise: _assembly,
}
