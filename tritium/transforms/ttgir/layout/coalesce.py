"""coalesce: every access to global memory gets a layout in which neighbouring threads access neighbouring addresses.

    %x = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>        one element a thread and instruction

    %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>
    %y = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>       eight elements, 16 bytes, a thread and instruction
    %x = ttg.convert_layout %y : … -> tensor<1024xf16, #blocked>

What is known of addresses (`axis_info`) says along which axis they are contiguous, so that threads are laid out along
it, and how many neighbours a thread may take at once: as many as are contiguous and aligned, up to 16 bytes. Accesses
of one shape that depend on each other take the same number, so that no conversion is needed between them. Stores and
atomics take no more than they can write at once: threads that write with gaps in between waste memory's bandwidth,
while for loads the cache fills the gaps.

The conversions around an access are removed by `remove-layout-conversions` where what is around can have its layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import tt, ttg
from ....dialects.tt_types import PointerType
from ....dialects.ttg_context import capability_of, num_warps, target_of, threads_per_warp
from ....dialects.ttg_defaults import blocked_in
from ....dialects.ttg_layouts import Blocked
from ....ir import FloatType, Operation, TensorType, Value, count, element_type, f16, f64, functions_of, pass_on
from ....ir.union_find import UnionFind
from ....layout.bases import is_permutation, per_block
from ....support.lazy import LazyModule

__all__ = ["coalesce", "coalesced_layouts", "convert_operation"]

_operands = LazyModule("....dialects.ttg_operands", __package__)

#: Bits that one thread loads or stores in one instruction (PTX ISA 8.7, section 9.7.9.8: .v4.b32).
VECTOR_BITS = 128


@pass_on("module", statistics={"accesses coalesced": "loads, stores and atomics with a layout of their own"})
def coalesce(module: Operation) -> bool:
    """Give every access to global memory the layout that its addresses suggest."""
    changed = 0
    for func in functions_of(module):
        chosen = coalesced_layouts(func)
        for op, layout in chosen.items():
            convert_operation(op, layout)
        changed += len(chosen)
    count("accesses coalesced", changed)
    return changed > 0


def coalesced_layouts(func: Operation) -> dict[Operation, Blocked]:
    """The layout that each access of a function would get."""
    return _Chooser(func).layouts()


def address_of(op: Operation) -> Value | None:
    """The tensor of pointers that an operation accesses memory through, if it has a layout to change; else None."""
    which = _ADDRESSES.get(op.__class__)
    value: Value | None = which(op) if which is not None else None
    if value is None or not isinstance(value.type, TensorType) or value.type.encoding is None:
        return None
    return value if isinstance(value.type.element, PointerType) else None


_ADDRESSES: dict[type, Callable[[Any], Value]] = {
    tt.Load: lambda op: op.ptr,
    tt.Store: lambda op: op.ptr,
    tt.AtomicRMW: lambda op: op.ptr,
    tt.AtomicCAS: lambda op: op.ptr,
    ttg.AsyncCopyGlobalToLocal: lambda op: op.src,
}

_WITH_DESCRIPTORS = (
    tt.DescriptorLoad,
    tt.DescriptorStore,
    tt.DescriptorReduce,
    tt.DescriptorGather,
    tt.DescriptorScatter,
)


def _blocks(ty: Any) -> tuple[tuple[int, ...], ...]:
    """How the blocks of a cluster divide a tensor; where that is not in parts, all of them have it whole."""
    if (dealt := getattr(ty.encoding, "CGALayout", None)) is not None:
        return dealt  # type: ignore[no-any-return]
    bases = _operands.cluster_bases(ty.encoding, ty.shape)
    return bases if is_permutation(bases, len(ty.shape)) else ((0,) * len(ty.shape),) * len(bases)


def _share(ty: Any) -> list[int]:
    """What one block of the cluster has of a tensor."""
    return per_block(ty.shape, _blocks(ty))


def order_from(contiguity: Sequence[int]) -> list[int]:
    """The axes, most contiguous first; of equals the last axis."""
    return sorted(range(len(contiguity)), key=lambda axis: (-contiguity[axis], -axis))


class _Chooser:
    """The layouts for the accesses of one function."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.facts = AxisInfoAnalysis(func)
        self.accesses = {op: ptr for op in func.walk() if (ptr := address_of(op)) is not None}
        self.orders = {op: order_from(self.facts.of(ptr).contiguity) for op, ptr in self.accesses.items()}

    def layouts(self) -> dict[Operation, Blocked]:
        """Operation -> the layout of its tensors, in the order of the program; those of descriptors last."""
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
            if isinstance(op, _WITH_DESCRIPTORS) and _tile_of(op).encoding is not None:
                out[op] = self._descriptor_layout(op)
        return out

    def per_thread(self, op: Operation) -> int:
        """How many neighbours a thread accesses at once, as far as addresses allow."""
        ty: Any = self.accesses[op].type
        facts, axis = self.facts.of(self.accesses[op]), self.orders[op][0]
        width = max(1, getattr(element_type(ty).pointee, "width", 64))  # type: ignore[attr-defined]
        aligned = max(1, facts.divisibility[axis] // max(1, width // 8))
        most = VECTOR_BITS // max(width, 1)
        if isinstance(op, (tt.AtomicRMW, tt.AtomicCAS)):
            most = min(most, _atomic_elements(op, width))
        return min(aligned, facts.contiguity[axis], _share(ty)[axis], most)

    def _layout(self, op: Operation, ty: Any, size: int) -> Blocked:
        """The layout of an access whose like have `size` neighbours in a thread."""
        warps, lanes = num_warps(op) or 1, threads_per_warp(op)
        share = _share(ty)
        size = min(size, max(1, prod(share) // (warps * lanes)))
        if not isinstance(op, tt.Load):
            size = min(size, self.per_thread(op))
        order = self.orders[op]
        sizes = [1] * len(share)
        sizes[order[0]] = size
        return blocked_in(_blocks(ty), share, sizes, order, warps, lanes)

    def _descriptor_layout(self, op: Any) -> Blocked:
        """Rows of 16 bytes a thread: such tensors go through shared memory, which does not mind."""
        ty = _tile_of(op)
        warps, lanes = num_warps(op) or 1, threads_per_warp(op)
        share = _share(ty)
        sizes = [1] * len(share)
        sizes[-1] = min(max(1, prod(share) // (warps * lanes)), VECTOR_BITS // ty.element.width)
        return blocked_in(_blocks(ty), share, sizes, range(len(share))[::-1], warps, lanes)


def _tile_of(op: Any) -> Any:
    """The type of what an access through a descriptor reads or writes."""
    return op.results[0].type if op.results else op.src.type


def _atomic_elements(op: Any, width: int) -> int:
    """How many elements one atomic instruction changes: several for sums of floats (PTX ISA 8.7, red.global.add).

    On AMD's chips floats share a register of 32 bits.
    """
    element = element_type(op.val.type)
    if isinstance(op, tt.AtomicCAS) or not isinstance(element, FloatType) or element is f64:
        return 1
    if target_of(op).startswith("hip:"):
        return max(1, 32 // width)
    if op.atomic_rmw_op is tt.AtomicOp.fadd and (capability_of(op) or 90) < 90:
        return 2 if element is f16 else 1
    return VECTOR_BITS // width


def _connected(func: Operation) -> UnionFind[Operation]:
    """Which operations depend on each other, through values or through the loop around them."""
    sets: UnionFind[Operation] = UnionFind()
    for op in func.walk():
        for value in op.operands:
            maker = value.defining_op
            if maker is None and value.block is not None:
                maker = value.block.parent_op  # an argument of a loop's body depends on what the loop takes
            if maker is not None and maker is not func:
                sets.union(maker, op)
    return sets


def convert_operation(op: Operation, layout: Any) -> None:
    """Let `op` work in `layout`: operands converted to it before, results converted back behind."""
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
