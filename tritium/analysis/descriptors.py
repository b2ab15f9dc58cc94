"""Groups of tensor descriptors that flow into each other, and those that TMA does not support.

Descriptors connected by loops, branches, selections and calls form a group, which is lowered as a whole: to TMA or to
pointers. `pointer_reasons` says why a group is lowered to pointers and masks (`rewrite-tensor-descriptor-to-pointer`)
on a target with TMA. Results are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..dialects import arith, tt
from ..dialects.ttng_checks import reducible
from ..hardware.nvidia_features import TMA_GATHER
from ..ir import (
    DescriptorAccess,
    IntegerAttr,
    LoopLike,
    Operation,
    Value,
    constant_of,
    functions_of,
    is_descriptor_store,
)
from ..ir.interfaces import ends_region, forwarded_pairs
from ..ir.union_find import UnionFind
from .axis_info import AxisInfoAnalysis
from .dataflow import reachable
from .tma import MIN_ROW_BYTES, fits_tma

__all__ = [
    "WHOLE_ROWS",
    "descriptor_groups",
    "is_descriptor",
    "pointer_reasons",
    "uneven_descriptors",
    "with_uneven_writes",
]

_BITWISE = (tt.DescriptorReduceKind._and, tt.DescriptorReduceKind._or, tt.DescriptorReduceKind.xor)

WHOLE_ROWS = "tritium.whole_rows"
"""Attribute of a descriptor's definition: it is used for writes only if its rows end at multiples of 16 bytes."""

#: The maximum size of a descriptor's block: of the 227 KiB of shared memory per CTA on Hopper it leaves space for the
#: other operand of a dot. Larger ones do not fit in Triton either.
MAX_BYTES = 128 * 1024


def is_descriptor(value: Value) -> bool:
    """Whether a value is a tensor descriptor."""
    return isinstance(value.type, tt.TensorDescType)


# -- groups ---------------------------------------------------------------------------------------------------------


def descriptor_groups(funcs: Iterable[Any], calls: bool = False) -> list[list[Value]]:
    """The descriptors of functions, grouped by data flow; with `calls`, across calls too."""
    funcs = [func for func in funcs if not func.is_declaration]
    named = {func.sym_name: func for func in funcs} if calls else {}
    groups: UnionFind[Value] = UnionFind()
    for func in funcs:
        for value in _values(func):
            groups.find(value)
        for op in func.walk():
            for source, target in _flows(op, named):
                if is_descriptor(source):
                    groups.union(source, target)
    return groups.groups()


def _values(func: Any) -> Iterator[Value]:
    """The descriptors of a function, in program order."""
    for region in func.regions:
        for block in region.blocks:
            yield from filter(is_descriptor, block.args)
    for op in func.walk():
        yield from filter(is_descriptor, op.results)
        for region in op.regions:
            for block in region.blocks:
                yield from filter(is_descriptor, block.args)


def _flows(op: Any, named: dict[str, Any]) -> Iterable[tuple[Value, Value]]:
    if isinstance(op, arith.Select):
        return [(op.true_value, op.result), (op.false_value, op.result)]
    callee = named.get(op.callee) if isinstance(op, tt.Call) else None
    if callee is not None:
        pairs = list(zip(op.operands, callee.entry.args))
        for back in callee.walk():
            if isinstance(back, tt.Return):
                pairs += zip(back.operands, op.results)
        return pairs
    return forwarded_pairs(op)


# -- what the engine cannot do --------------------------------------------------------------------------------------


def pointer_reasons(module: Operation, capability: int) -> list[tuple[list[Value], str]]:
    """The groups of a module that must be lowered to pointers, each with the reason."""
    out = []
    facts = _Facts()
    for group in descriptor_groups(functions_of(module), calls=True):
        reason = next(_reasons(group, capability, facts), None)
        if reason is not None:
            out.append((group, reason))
    return out


def uneven_descriptors(module: Operation) -> list[tuple[list[Value], str]]:
    """The groups of a module with blocks whose size is not a power of two in some dimension, each with the reason."""
    out = []
    for group in descriptor_groups(functions_of(module), calls=True):
        shape = group[0].type.block.shape  # type: ignore[attr-defined]
        if any(d & (d - 1) for d in shape):
            out.append((group, f"blocks of {'x'.join(map(str, shape))} are padded to powers of two and masked"))
    return out


class _Facts(dict[Any, AxisInfoAnalysis]):
    """Axis info of each function, computed on demand."""

    def __missing__(self, func: Any) -> AxisInfoAnalysis:
        self[func] = AxisInfoAnalysis(func)
        return self[func]

    def divisor(self, op: Operation, value: Value) -> int:
        """The largest known divisor of an operand of `op`."""
        func: Operation | None = op
        while func is not None and not isinstance(func, tt.Func):
            func = func.parent_op
        return self[func].of(value).element_divisor()


def with_uneven_writes(module: Operation, capability: int) -> list[Any]:
    """The definitions of descriptors that TMA would support if their rows were known to end at multiples of 16 bytes.

    Only descriptors that no loop, branch or call forwards, and whose row length is not a constant.
    """
    out = []
    facts = _Facts()
    for group in descriptor_groups(functions_of(module), calls=True):
        maker = group[0].defining_op
        if len(group) > 1 or not isinstance(maker, tt.MakeTensorDescriptor) or constant_of(maker.shape[-1]) is not None:
            continue
        uneven = _is_written(group) and next(_ends(group, facts), None) is not None
        if uneven and next(_unserved(group, capability, facts), None) is None:
            out.append(maker)
    return out


def _reasons(group: list[Value], capability: int, facts: _Facts) -> Iterator[str]:
    if _is_written(group):
        yield from _ends(group, facts)
    yield from _unserved(group, capability, facts)


def _is_written(group: list[Value]) -> bool:
    return any(is_descriptor_store(user) for value in group for user in value.users)


def _unserved(group: list[Value], capability: int, facts: _Facts) -> Iterator[str]:
    for value in group:
        ty: Any = value.type
        found = fits_tma(ty.block, _pads_with_nan(value))
        if found is not None:
            yield found
        size = ty.block.numel * ty.block.element.width // 8
        if size > MAX_BYTES:
            yield f"blocks of {size} bytes exceed {MAX_BYTES} bytes of shared memory"
        if isinstance(value.defining_op, tt.MakeTensorDescriptor):
            yield from _made(value.defining_op)
        for user in value.users:
            yield from _used(user, value, capability)
            yield from _column(user, value, facts)


def _ends(group: list[Value], facts: _Facts) -> Iterator[str]:
    """Rows of a tensor that is written must end at multiples of 16 bytes, the granularity of TMA stores.

    Measured on an H100, 2026-11: a tile that extends beyond the end of a row is stored or added to memory up to the
    next multiple of 16 bytes. Loads are exact to the element.
    """
    for value in group:
        bytes_each = value.type.block.element.width // 8  # type: ignore[attr-defined]
        maker: Any = value.defining_op
        if isinstance(maker, tt.MakeTensorDescriptor):
            if WHOLE_ROWS in maker.attributes:
                continue
            size = maker.shape[-1]
            # Strides are multiples of 16 bytes: where that is unknown, the kernel checks it.
            strides = {_unwidened(stride) for stride in list(maker.strides)[:-1]}
            if facts.divisor(maker, size) * bytes_each % MIN_ROW_BYTES and _unwidened(size) not in strides:
                each = MIN_ROW_BYTES // bytes_each
                yield f"the last dimension, which is written to, is not known to be a multiple of {each}"
        elif maker is None and _argument_attr(value, "tt.uneven_rows") is not None:
            yield f"the last dimension, which is written to, is no multiple of {MIN_ROW_BYTES // bytes_each}"


def _unwidened(value: Value) -> Value:
    while isinstance(value.defining_op, arith.ExtSI):
        value = value.defining_op.operands[0]
    return value


def _pads_with_nan(value: Value) -> bool:
    """Whether out-of-bounds elements are NaN, by the descriptor's definition or the kernel's argument."""
    maker: Any = value.defining_op
    if maker is not None:
        return getattr(maker, "padding", None) is tt.PaddingOption.pad_nan
    padding = _argument_attr(value, "tt.padding")
    return isinstance(padding, IntegerAttr) and padding.value == tt.PaddingOption.pad_nan


def _argument_attr(value: Value, name: str) -> Any:
    """An attribute of a function argument; None if it has none, or `value` is an argument of another block."""
    func: Any = value.owner.parent_op  # type: ignore[attr-defined]
    attrs = getattr(func, "arg_attrs", None)
    if attrs is None or value not in func.entry.args:
        return None
    return attrs.elements[value.index].get(name)  # type: ignore[attr-defined]


def _made(op: tt.MakeTensorDescriptor) -> Iterator[str]:
    """Strides that TMA does not support; a descriptor that outlives the iteration that defines it."""
    bytes_each = op.result.type.block.element.width // 8  # type: ignore[attr-defined]
    *outer, last = (constant_of(v) for v in op.strides)
    if not isinstance(last, IntegerAttr) or last.value != 1:
        yield "the last stride is not known to be 1"
    for stride in outer:
        if isinstance(stride, IntegerAttr) and stride.value * bytes_each % MIN_ROW_BYTES:
            yield f"a stride of {stride.value * bytes_each} bytes is no multiple of {MIN_ROW_BYTES}"
    if _outlives_iteration(op):
        yield "the descriptor of one iteration is used in the next, which overwrites it"


def _outlives_iteration(op: tt.MakeTensorDescriptor) -> bool:
    """Whether a loop around `op` carries its result, while the next iteration overwrites it in memory."""
    loops: set[Operation] = set()
    parent = op.parent_op
    while parent is not None:
        if isinstance(parent, LoopLike):
            loops.add(parent)
        parent = parent.parent_op
    if not loops:
        return False
    seeds: list[Value] = [op.result]
    values = reachable(seeds, _passed_to)
    return any(ends_region(user) and user.parent_op in loops for value in values for user in value.users)


def _passed_to(value: Value) -> Iterator[Value]:
    """The values that `value` becomes by selections, loops and branches."""
    for user in value.users:
        around = user.parent_op if ends_region(user) else user
        for source, target in _flows(around, {}):
            if source is value:
                yield target


def _used(op: Any, value: Value, capability: int) -> Iterator[str]:
    if isinstance(op, (tt.DescriptorGather, tt.DescriptorScatter)) and not TMA_GATHER.on(capability):
        yield "TMA gather and scatter require sm_100"
    if isinstance(op, tt.DescriptorReduce):
        element: Any = value.type.block.element  # type: ignore[attr-defined]
        # Measured on an H200, 2026-11: an illegal instruction, where the PTX ISA allows it.
        bitwise_long = op.kind in _BITWISE and getattr(element, "signedness", "") == "s" and element.width == 64
        if bitwise_long or not reducible(op.kind, element):
            yield f"TMA has no {op.kind.name.lstrip('_')} reduction of {element}"


def _column(op: Any, value: Value, facts: _Facts) -> Iterator[str]:
    """Rows of a tile must begin at multiples of 16 bytes, as those of the tensor do.

    Measured on an H200, 2026-11: otherwise an illegal instruction; the PTX ISA does not specify it.
    """
    user: Operation = op
    if isinstance(op, DescriptorAccess):
        column = op.offsets[-1]
        bytes_each = value.type.block.element.width // 8  # type: ignore[attr-defined]
        if facts.divisor(user, column) * bytes_each % MIN_ROW_BYTES:
            multiple = MIN_ROW_BYTES // bytes_each
            yield f"the last offset is not known to be a multiple of {multiple} (tl.multiple_of says so)"
