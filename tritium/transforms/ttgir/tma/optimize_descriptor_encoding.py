"""optimize-descriptor-encoding: Assign a shared memory layout to every tensor descriptor.

    #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
    %d = tt.make_tensor_descriptor … : <f16>, <128x64xf16>    =>    … : <f16>, <128x64xf16, #shared>
    %x = tt.descriptor_load %d[…]

A descriptor in memory encodes a swizzle and a box, so all accesses through it must agree on one layout. Descriptors
that are connected by loops, branches or selects form a group. The layout of a group is

1. the layout in which users of the loads allocate the result, where they agree on one that TMA can write;
2. else the widest swizzle for which the smallest accessed tile has whole rows, distributed over the CTAs of a cluster
   like the registers of the accesses;
3. the same for the descriptor's own tile with its last dimension split over the CTAs, where accesses request different
   layouts, or where the descriptor is passed to or returned from another function.

Where a CTA's part of a row would be shorter than TMA's minimum of 16 bytes, each CTA gets whole rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....analysis.tma import MIN_ROW_BYTES, layout_for_shape
from ....dialects import arith, tt, ttg, ttng
from ....dialects.ttg_context import num_ctas
from ....dialects.ttg_maps import map_or_none
from ....dialects.ttg_memory import NvmmaShared, SharedLinear
from ....dialects.ttg_operands import cluster_bases, nvmma_for
from ....ir import (
    DescriptorAccess,
    FunctionType,
    Operation,
    TensorType,
    Type,
    TypeAttr,
    Value,
    functions_of,
    is_buffer_store,
    is_descriptor_load,
    pass_on,
)
from ....ir.interfaces import forwarded_pairs
from ....ir.union_find import UnionFind
from ....layout.bases import cta_bases, per_block
from ....support.dataclasses import dataclass

__all__ = ["optimize_descriptor_encoding"]

Bases = tuple[tuple[int, ...], ...]
DESIRED = "tt.desired_encoding"

_ELSEWHERE = (tt.Call, tt.Return, ttng.ReinterpretTensorDesc)


@dataclass(frozen=True)
class EncodingRequest:
    """The requests to a group: a layout, the distribution over CTAs, and the smallest tile accessed."""

    layout: NvmmaShared | None = None
    blocks: Bases | None = None
    shape: tuple[int, ...] = ()
    plain: bool = False

    def joined(self, other: EncodingRequest) -> EncodingRequest:
        """Merge two requests; `plain` where they differ in the layout."""
        if self.plain or other.plain or (self.layout and other.layout and self.layout is not other.layout):
            return EncodingRequest(plain=True)
        shape = self.shape or other.shape
        if self.shape and other.shape:
            shape = tuple(map(min, self.shape, other.shape))
        blocks = self.blocks if self.blocks is not None else other.blocks
        if self.blocks is not None and other.blocks is not None and self.blocks != other.blocks:
            blocks = _split_last_dim(len(shape), 1 << len(self.blocks))
        return EncodingRequest(self.layout or other.layout, blocks, shape)


@pass_on("module")
def optimize_descriptor_encoding(module: Operation) -> bool:
    """Assign a shared memory layout to every descriptor of a module."""
    changed = False
    for func in functions_of(module):
        changed |= _assign(func)
    return changed


def _assign(func: Any) -> bool:
    groups = _Groups(func)
    ctas = num_ctas(func)
    changed = False
    for value, request in groups.requests():
        ty: Any = value.type
        block = ty.block
        new = tt.TensorDescType(TensorType(block.shape, block.element, _layout(block, request, ctas)))
        changed |= new is not ty
        value.type = new
    if changed or any(isinstance(ty, tt.TensorDescType) for ty in func.function_type.results):
        _declare(func, ctas)
    return changed


def _declare(func: Any, ctas: int) -> None:
    """Update the function type from the types of arguments and results."""
    args = func.function_type.inputs if func.is_declaration else tuple(a.type for a in func.entry.args)
    results = tuple(_plain(ty, ctas) for ty in func.function_type.results)
    func.attributes["function_type"] = TypeAttr(FunctionType(args, results))


def _plain(ty: Type, ctas: int) -> Type:
    if not isinstance(ty, tt.TensorDescType):
        return ty
    block = ty.block
    return tt.TensorDescType(TensorType(block.shape, block.element, _layout(block, EncodingRequest(plain=True), ctas)))


# -- layouts --------------------------------------------------------------------------------------------------------


def _split_last_dim(rank: int, ctas: int) -> Bases:
    """The CTAs of a cluster, split along the last dimension."""
    return cta_bases((*[1] * (rank - 1), ctas), (*[1] * (rank - 1), ctas), range(rank)[::-1]) if ctas > 1 else ()


def _layout(block: TensorType, request: EncodingRequest, ctas: int) -> NvmmaShared:
    rank = block.rank
    shape = request.shape or block.shape
    bits = max(8, block.element.width)  # type: ignore[attr-defined]
    blocks = request.blocks
    if request.layout is not None and not request.plain:
        asked = request.layout if request.layout.rank == rank else layout_for_shape(request.layout, block.shape)
        if _splits_rows(shape, asked.CGALayout, bits):
            return asked
        blocks = asked.CGALayout
    elif blocks is None or request.plain:
        blocks = _split_last_dim(rank, ctas)
    elif blocks:
        blocks = tuple((*[0] * (rank - len(basis)), *basis[max(0, len(basis) - rank) :]) for basis in blocks)
    if not _splits_rows(shape, blocks, bits):
        blocks = tuple((*basis[:-1], 0) for basis in blocks)
    return nvmma_for(shape, range(rank)[::-1], bits, blocks)


def _splits_rows(shape: Sequence[int], blocks: Bases, bits: int) -> bool:
    """Whether a CTA's part of a row is long enough for TMA; else each CTA gets whole rows."""
    return per_block(shape, blocks)[-1] * bits // 8 >= MIN_ROW_BYTES


def _tma_layout(layout: Any, shape: Sequence[int], bits: int) -> NvmmaShared | None:
    """The layout of a buffer in a form that TMA can write, or None."""
    if isinstance(layout, NvmmaShared):
        return None if layout.transposed else layout
    if not isinstance(layout, SharedLinear):
        return None
    wanted = map_or_none(layout, tuple(shape))
    blocks = tuple(tuple(basis) for basis in layout.block)
    rank = len(shape)
    best = [nvmma_for(shape, range(rank)[::-1], bits, blocks, padded) for padded in (False, True)]
    rest = [
        NvmmaShared(
            swizzlingByteWidth=n, transposed=False, elementBitWidth=bits, fp4Padded=padded, rank=rank, CGALayout=blocks
        )
        for padded in (False, True)
        for n in (0, 32, 64, 128)
    ]
    return next((c for c in (*best, *rest) if wanted is not None and map_or_none(c, tuple(shape)) == wanted), None)


# -- requests of accesses -----------------------------------------------------------------------------------------


def _request_of(op: Any) -> EncodingRequest:
    """The request of one descriptor access."""
    ty: Any = op.block.type
    asked = _allocated_layout(op) if is_descriptor_load(op) else None
    rank = op.desc.type.block.rank
    shape = (*[1] * (rank - len(ty.shape)), *ty.shape)
    if asked is not None:
        return EncodingRequest(asked, tuple(asked.CGALayout), shape)
    return EncodingRequest(None, None if ty.encoding is None else cluster_bases(ty.encoding, ty.shape), shape)


def _allocated_layout(op: Any) -> NvmmaShared | None:
    """The layout of the first buffer that the loaded tensor is copied to and that TMA can write."""
    ty = op.result.type
    found = _tma_layout(op.attributes.get(DESIRED), ty.shape, ty.element.width)
    if found is not None:
        return found
    for user in op.result.users:
        if isinstance(user, ttg.LocalAlloc) or is_buffer_store(user):
            buffer = user.result.type if isinstance(user, ttg.LocalAlloc) else user.buffer.type
            found = _tma_layout(buffer.encoding, buffer.shape, buffer.element.width)
            if found is not None:
                return found
    return None


# -- groups of connected descriptors --------------------------------------------------------------------------------


def _is_descriptor(value: Value) -> bool:
    return isinstance(value.type, tt.TensorDescType)


def _flows(op: Any) -> Iterable[tuple[Value, Value]]:
    if isinstance(op, arith.Select):
        return [(op.true_value, op.result), (op.false_value, op.result)]
    return forwarded_pairs(op)


class _Groups:
    """Groups of connected descriptors in a function, with the merged request of each."""

    def __init__(self, func: Any) -> None:
        self.sets: UnionFind[Value] = UnionFind()
        self.request: dict[Value, EncodingRequest] = {}
        kernel = func.sym_visibility != "private"
        if not func.is_declaration:
            for arg in func.entry.args:
                self.add_request(arg, EncodingRequest(plain=not kernel))
        for op in func.walk():
            self.visit(op)

    def visit(self, op: Any) -> None:
        """Collect connections and requests of an operation."""
        if isinstance(op, DescriptorAccess):
            self.add_request(op.desc, _request_of(op))
            return
        request = EncodingRequest(plain=isinstance(op, _ELSEWHERE))
        for value in (*op.operands, *op.results):
            self.add_request(value, request)
        for source, target in _flows(op):
            if _is_descriptor(source) and _is_descriptor(target):
                self.join(source, target)

    def add_request(self, value: Value, request: EncodingRequest) -> None:
        """Add a request to the group of a value, if it is a descriptor."""
        if _is_descriptor(value):
            first = self.sets.find(value)
            self.request[first] = self.request.get(first, EncodingRequest()).joined(request)

    def join(self, a: Value, b: Value) -> None:
        """Merge the groups of two descriptors."""
        a, b = self.sets.find(a), self.sets.find(b)
        if a is not b:
            self.sets.union(a, b)
            self.request[a] = self.request.get(a, EncodingRequest()).joined(self.request.pop(b, EncodingRequest()))

    def requests(self) -> Iterator[tuple[Value, EncodingRequest]]:
        """Each descriptor with the request of its group."""
        for group in self.sets.groups():
            request = self.request.get(self.sets.find(group[0]), EncodingRequest())
            for value in group:
                yield value, request
