"""coalesce: Choose layouts in which adjacent threads access adjacent addresses of global memory.

    %x = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>        one element per thread and instruction

    %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>
    %y = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>       eight elements, 16 bytes, per thread and instruction
    %x = ttg.convert_layout %y : … -> tensor<1024xf16, #blocked>

`axis_info` determines the axis along which addresses are contiguous, which becomes the fastest dimension of the layout,
and the vector width: as many elements as are contiguous and aligned, up to 16 bytes. Accesses of one shape that depend
on each other get the same width, so that no conversion is needed between them. Stores and atomics get no more elements
per thread than one instruction writes: strided writes waste memory bandwidth, while strided loads hit the cache.
Where no axis is known to be contiguous, the one with the smallest stride that is likely (`likely_strides`) comes first:
a known stride, or else of runtime strides the one that the smallest number is known to divide.

`remove-layout-conversions` removes the conversions around an access where its neighbors can adopt its layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.likely_strides import LikelyStrides, MultipleOf
from ....dialects import tt, ttg
from ....dialects.tt_types import PointerType
from ....dialects.ttg_context import gpu_of, num_warps, target_of, threads_per_warp
from ....dialects.ttg_defaults import blocked_in
from ....dialects.ttg_layouts import Blocked, Layout
from ....hardware.nvidia_features import VECTOR_ATOMICS
from ....ir import (
    DescriptorAccess,
    FloatType,
    Operation,
    PointerAccess,
    TensorType,
    Value,
    count,
    element_type,
    f16,
    f64,
    functions_of,
    is_atomic,
    is_pointer_load,
    pass_on,
)
from ....ir.union_find import UnionFind
from ....layout.bases import is_permutation, per_block
from ....support.lazy import LazyModule

__all__ = ["coalesce", "coalesced_layouts", "convert_operation"]

_operands = LazyModule("....dialects.ttg_operands", __package__)

#: Bits that one thread loads or stores in one instruction (PTX ISA 8.7, section 9.7.9.8: .v4.b32).
VECTOR_BITS = 128


@pass_on("module", statistics={"accesses coalesced": "loads, stores and atomics with a new layout"})
def coalesce(module: Operation) -> bool:
    """Give every access to global memory a coalesced layout."""
    changed = 0
    for func in functions_of(module):
        chosen = coalesced_layouts(func)
        for op, layout in chosen.items():
            convert_operation(op, layout)
        changed += len(chosen)
    count("accesses coalesced", changed)
    return changed > 0


def coalesced_layouts(func: Operation, accesses: Iterable[Operation] | None = None) -> dict[Operation, Blocked]:
    """The coalesced layout of each access in a function, or of these accesses by pointers."""
    return _Chooser(func, accesses).layouts()


def address_of(op: Operation) -> Value | None:
    """The pointer tensor of a memory access, if it has a layout that can be changed; else None."""
    if not isinstance(op, PointerAccess) or not op.vectorized:
        return None
    value = op.pointer
    if not isinstance(value.type, TensorType) or value.type.encoding is None:
        return None
    return value if isinstance(value.type.element, PointerType) else None


def _cta_bases(ty: Any) -> tuple[tuple[int, ...], ...]:
    """The CTA bases of a tensor; where they contain copies, those of a tensor that every CTA owns whole."""
    if (cga := getattr(ty.encoding, "CGALayout", None)) is not None:
        return cga  # type: ignore[no-any-return]
    if not isinstance(ty.encoding, Layout):
        return ()  # still to be chosen
    bases = _operands.cluster_bases(ty.encoding, ty.shape)
    return bases if is_permutation(bases, len(ty.shape)) else ((0,) * len(ty.shape),) * len(bases)


def _share(ty: Any) -> list[int]:
    """The shape of the part of a tensor that one CTA owns."""
    return per_block(ty.shape, _cta_bases(ty))


def order_from(contiguity: Sequence[int]) -> list[int]:
    """The axes in order of decreasing contiguity; ties prefer the last axis."""
    return sorted(range(len(contiguity)), key=lambda axis: (-contiguity[axis], -axis))


def order_from_strides(strides: Sequence[int | MultipleOf | None]) -> list[int]:
    """The axes in order of increasing stride: known strides, then those known at run time by what divides them.

    Axes of unknown or no stride, and ties, are in the usual order after them; so are runtime strides beside those axes.
    """
    runtime = [stride for stride in strides if not isinstance(stride, int)]
    comparable = all(isinstance(stride, MultipleOf) for stride in runtime) and 0 not in strides

    def key(axis: int) -> tuple[bool, int, int]:
        stride = strides[axis]
        if isinstance(stride, MultipleOf):
            return (True, stride.divisor if comparable else 0, -axis)
        return (not stride, abs(stride or 0), -axis)

    return sorted(range(len(strides)), key=key)


class _Chooser:
    """Choose the layouts of the accesses in one function."""

    def __init__(self, func: Operation, accesses: Iterable[Operation] | None = None) -> None:
        self.func = func
        self.facts = AxisInfoAnalysis(func)
        self.all = accesses is None
        chosen = func.walk() if accesses is None else accesses
        self.accesses = {op: ptr for op in chosen if (ptr := address_of(op)) is not None}
        self.likely = LikelyStrides(self.facts)
        self.orders = {op: self._order(ptr) for op, ptr in self.accesses.items()}

    def _order(self, pointer: Value) -> list[int]:
        """The axes of an access, that of neighboring threads first."""
        contiguity = self.facts.of(pointer).contiguity
        if len(contiguity) > 1 and max(contiguity) == 1:
            return order_from_strides(self.likely.of(pointer))
        return order_from(contiguity)

    def layouts(self) -> dict[Operation, Blocked]:
        """Operation -> layout of its tensors, in program order; descriptor accesses come last."""
        groups = _connected(self.func)
        out: dict[Operation, Blocked] = {}
        kinds = {op: (groups.find(op), p.type.shape, *self.orders[op]) for op, p in self.accesses.items()}  # type: ignore[attr-defined]
        widest: dict[Any, int] = {}
        for op, kind in kinds.items():
            widest[kind] = max(widest.get(kind, 1), self.per_thread(op))
        for op, ptr in self.accesses.items():
            size = self.per_thread(op) if ptr.defining_op is None else widest[kinds[op]]
            out[op] = self._layout(op, ptr.type, size)
        for op in self.func.walk():
            if self.all and isinstance(op, DescriptorAccess) and _tile_of(op).encoding is not None:
                out[op] = self._descriptor_layout(op)
        return out

    def per_thread(self, op: Operation) -> int:
        """The number of contiguous elements per thread that the addresses allow."""
        ty: Any = self.accesses[op].type
        facts, axis = self.facts.of(self.accesses[op]), self.orders[op][0]
        width = max(1, getattr(element_type(ty).pointee, "width", 64))  # type: ignore[attr-defined]
        aligned = max(1, facts.divisibility[axis] // max(1, width // 8))
        most = VECTOR_BITS // max(width, 1)
        if is_atomic(op):
            most = min(most, _atomic_elements(op, width))
        return min(aligned, facts.contiguity[axis], _share(ty)[axis], most)

    def _layout(self, op: Operation, ty: Any, size: int) -> Blocked:
        """The layout of an access with `size` contiguous elements per thread."""
        warps, lanes = num_warps(op) or 1, threads_per_warp(op)
        share = _share(ty)
        size = min(size, max(1, prod(share) // (warps * lanes)))
        if not is_pointer_load(op):
            size = min(size, self.per_thread(op))
        order = self.orders[op]
        sizes = [1] * len(share)
        sizes[order[0]] = size
        return blocked_in(_cta_bases(ty), share, sizes, order, warps, lanes)

    def _descriptor_layout(self, op: Any) -> Blocked:
        """16 bytes of a row per thread: the tensor goes through shared memory, which needs no particular layout."""
        ty = _tile_of(op)
        warps, lanes = num_warps(op) or 1, threads_per_warp(op)
        share = _share(ty)
        sizes = [1] * len(share)
        sizes[-1] = min(max(1, prod(share) // (warps * lanes)), VECTOR_BITS // ty.element.width)
        return blocked_in(_cta_bases(ty), share, sizes, range(len(share))[::-1], warps, lanes)


def _tile_of(op: Any) -> Any:
    """The type of the tensor that a descriptor access reads or writes."""
    return op.results[0].type if op.results else op.src.type


def _atomic_elements(op: Any, width: int) -> int:
    """The elements that one atomic instruction updates: several for float additions (PTX ISA 8.7, red.global.add).

    On AMD GPUs, floats share a register of 32 bits.
    """
    element = element_type(op.val.type)
    if isinstance(op, tt.AtomicCAS) or not isinstance(element, FloatType) or element is f64:
        return 1
    if target_of(op).startswith("hip:"):
        return max(1, 32 // width)
    gpu = gpu_of(op)
    if op.atomic_rmw_op is tt.AtomicOp.fadd and gpu is not None and not gpu.has(VECTOR_ATOMICS):
        return 2 if element is f16 else 1
    return VECTOR_BITS // width


def _connected(func: Operation) -> UnionFind[Operation]:
    """Operations connected by values or by the loop around them."""
    sets: UnionFind[Operation] = UnionFind()
    for op in func.walk():
        for value in op.operands:
            maker = value.defining_op
            if maker is None and value.block is not None:
                maker = value.block.parent_op  # a block argument of a loop depends on the operands of the loop
            if maker is not None and maker is not func:
                sets.union(maker, op)
    return sets


def convert_operation(op: Operation, layout: Any) -> None:
    """Convert operands of `op` to `layout` before it, and its results back after it."""
    block, following = op.parent, op.next
    assert block is not None and following is not None
    operands = []
    for value in op.operands:
        ty = value.type
        if isinstance(ty, TensorType) and len(ty.shape) == layout.rank and ty.encoding is not layout:
            new = ttg.ConvertLayout(value, result=TensorType(ty.shape, ty.element, layout), loc=op.loc)
            block.insert_before(new, op)
            value = new.result
        operands.append(value)
    op.set_operands(operands)
    for result in op.results:
        old = result.type
        if isinstance(old, TensorType) and old.encoding is not layout:
            users = list(result.users)
            result.type = TensorType(old.shape, old.element, layout)
            back = ttg.ConvertLayout(result, result=old, loc=op.loc)
            block.insert_before(back, following)
            back.result.hint = result.hint
            for user in users:
                user.set_operands([back.result if v is result else v for v in user.operands])
