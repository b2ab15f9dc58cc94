"""optimize-descriptor-encoding: every descriptor says how its blocks lie in shared memory.

    #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
    %d = tt.make_tensor_descriptor … : <f16>, <128x64xf16>    =>    … : <f16>, <128x64xf16, #shared>
    %x = tt.descriptor_load %d[…]

A descriptor in memory names a swizzle and a box, so that all accesses by it must agree on one layout. Descriptors that
flow into each other, through loops, branches and selections, are one group. A group's layout is

1. what a load's result is put into, where its users ask for one layout that the copy engine writes;
2. else the widest swizzle that the smallest block accessed has whole rows for, with blocks of a cluster dealt as in the
   registers of the accesses;
3. the same for the descriptor's own block and the last dimension dealt, where accesses ask for different layouts, or
   where the descriptor goes to or comes from another function, which cannot be asked.

Where a block's part of a row would be shorter than the 16 bytes that the engine moves, each block has whole rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....analysis.buffers import passed_on
from ....analysis.tma import LEAST_ROW, layout_for_shape
from ....dialects import arith, tt, ttg, ttng
from ....dialects.ttg_context import num_ctas
from ....dialects.ttg_maps import map_or_none
from ....dialects.ttg_memory import NvmmaShared, SharedLinear
from ....dialects.ttg_operands import cluster_bases, nvmma_for
from ....ir import FunctionType, Operation, TensorType, Type, TypeAttr, Value, functions_of, pass_on
from ....ir.union_find import UnionFind
from ....layout.bases import cta_bases, per_block
from ....support.dataclasses import dataclass

__all__ = ["optimize_descriptor_encoding"]

Bases = tuple[tuple[int, ...], ...]
DESIRED = "tt.desired_encoding"

_LOADS = (tt.DescriptorLoad, tt.DescriptorGather)
_ELSEWHERE = (tt.Call, tt.Return, ttng.ReinterpretTensorDesc)


@dataclass(frozen=True)
class EncodingRequest:
    """What is known of a group: the layout asked for, how blocks of a cluster are dealt, and the smallest block."""

    layout: NvmmaShared | None = None
    blocks: Bases | None = None
    shape: tuple[int, ...] = ()
    plain: bool = False

    def joined(self, other: EncodingRequest) -> EncodingRequest:
        """Both together; `plain` where they differ in the layout."""
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
    """Give every descriptor of a module a layout in shared memory."""
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
    """The types of arguments and results, as the function says them."""
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
    """The blocks of a cluster, along the last dimension."""
    return cta_bases((*[1] * (rank - 1), ctas), (*[1] * (rank - 1), ctas), range(rank)[::-1]) if ctas > 1 else ()


def _layout(block: TensorType, request: EncodingRequest, ctas: int) -> NvmmaShared:
    rank = block.rank
    shape = request.shape or block.shape
    bits = max(8, block.element.width)  # type: ignore[attr-defined]
    blocks = request.blocks
    if request.layout is not None and not request.plain:
        asked = request.layout if request.layout.rank == rank else layout_for_shape(request.layout, block.shape)
        if _moves_rows(shape, asked.CGALayout, bits):
            return asked
        blocks = asked.CGALayout
    elif blocks is None or request.plain:
        blocks = _split_last_dim(rank, ctas)
    elif blocks:
        blocks = tuple((*[0] * (rank - len(basis)), *basis[max(0, len(basis) - rank) :]) for basis in blocks)
    if not _moves_rows(shape, blocks, bits):
        blocks = tuple((*basis[:-1], 0) for basis in blocks)
    return nvmma_for(shape, range(rank)[::-1], bits, blocks)


def _moves_rows(shape: Sequence[int], blocks: Bases, bits: int) -> bool:
    """Whether a block's part of a row is long enough for the engine; else each has whole rows."""
    return per_block(shape, blocks)[-1] * bits // 8 >= LEAST_ROW


def _readable(layout: Any, shape: Sequence[int], bits: int) -> NvmmaShared | None:
    """The layout of a buffer as one that the copy engine writes, None where it does not."""
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


# -- what accesses ask for ------------------------------------------------------------------------------------------


def _request_of(op: Any) -> EncodingRequest:
    """What one access by descriptor asks for."""
    ty = op.result.type if isinstance(op, _LOADS) else op.src.type
    asked = _asked(op) if isinstance(op, _LOADS) else None
    rank = op.desc.type.block.rank
    shape = (*[1] * (rank - len(ty.shape)), *ty.shape)
    if asked is not None:
        return EncodingRequest(asked, tuple(asked.CGALayout), shape)
    return EncodingRequest(None, None if ty.encoding is None else cluster_bases(ty.encoding, ty.shape), shape)


def _asked(op: Any) -> NvmmaShared | None:
    """The layout of the first buffer that what was loaded is put into and that the engine can write."""
    ty = op.result.type
    found = _readable(op.attributes.get(DESIRED), ty.shape, ty.element.width)
    if found is not None:
        return found
    for user in op.result.users:
        if isinstance(user, (ttg.LocalAlloc, ttg.LocalStore)):
            buffer = user.result.type if isinstance(user, ttg.LocalAlloc) else user.dst.type
            found = _readable(buffer.encoding, buffer.shape, buffer.element.width)
            if found is not None:
                return found
    return None


# -- descriptors that flow into each other --------------------------------------------------------------------------


def _is_descriptor(value: Value) -> bool:
    return isinstance(value.type, tt.TensorDescType)


def _flows(op: Any) -> Iterable[tuple[Value, Value]]:
    if isinstance(op, arith.Select):
        return [(op.true_value, op.result), (op.false_value, op.result)]
    return passed_on(op)


class _Groups:
    """The descriptors of a function, those that flow into each other together, and what is asked of each group."""

    def __init__(self, func: Any) -> None:
        self.sets: UnionFind[Value] = UnionFind()
        self.request: dict[Value, EncodingRequest] = {}
        kernel = func.sym_visibility != "private"
        if not func.is_declaration:
            for arg in func.entry.args:
                self.ask(arg, EncodingRequest(plain=not kernel))
        for op in func.walk():
            self.visit(op)

    def visit(self, op: Any) -> None:
        """What an operation says."""
        if isinstance(op, (*_LOADS, *tt.DESCRIPTOR_WRITES)):
            self.ask(op.desc, _request_of(op))
            return
        request = EncodingRequest(plain=isinstance(op, _ELSEWHERE))
        for value in (*op.operands, *op.results):
            self.ask(value, request)
        for source, target in _flows(op):
            if _is_descriptor(source) and _is_descriptor(target):
                self.join(source, target)

    def ask(self, value: Value, request: EncodingRequest) -> None:
        """Ask something of the group of a value, if that is a descriptor."""
        if _is_descriptor(value):
            first = self.sets.find(value)
            self.request[first] = self.request.get(first, EncodingRequest()).joined(request)

    def join(self, a: Value, b: Value) -> None:
        """Make the groups of two descriptors one."""
        a, b = self.sets.find(a), self.sets.find(b)
        if a is not b:
            self.sets.union(a, b)
            self.request[a] = self.request.get(a, EncodingRequest()).joined(self.request.pop(b, EncodingRequest()))

    def requests(self) -> Iterator[tuple[Value, EncodingRequest]]:
        """Each descriptor, with what is asked of its group."""
        for group in self.sets.groups():
            request = self.request.get(self.sets.find(group[0]), EncodingRequest())
            for value in group:
                yield value, request
