"""The layouts of dot operands, in registers and in shared memory.

MMA instructions require certain elements in certain threads (`DotOperand`). These are loaded from a row-major or
column-major buffer, swizzled so that the eight rows which `ldmatrix` reads at once, or the words that lanes read, are
in different banks: shared memory has 32 banks of 4 bytes, so a wavefront reads 1024 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..layout.bases import order_of_bases, per_block
from .ttg_layouts import AmdMfma, AmdWmma, Distributed, DotOperand, NvidiaMma
from .ttg_maps import linear_layout
from .ttg_memory import AmdRotatingShared, MemDescType, NvmmaShared, SwizzledShared

__all__ = [
    "buffer_for",
    "cluster_bases",
    "memory_order",
    "nvmma_for",
    "operand_layout",
    "swizzled_for",
    "swizzled_tile",
    "transposed_buffer",
]

#: Bits that all banks together deliver at once (CUDA C++ programming guide, "shared memory": 32 banks of 32 bits).
ALL_BANKS = 1024

#: Bits of the widest access to LDS (ds_read_b128), and the lanes that it serves at once with 64 bits each.
AMD_VECTOR = 128
AMD_WIDE_LANES = 16


def operand_layout(operand: int, parent: Distributed, bits: int) -> DotOperand:
    """The layout of operand 0 or 1 of a dot whose result has the layout `parent`.

    A thread has 32 bits of adjacent elements of `bits` bits along K: for elements that are narrower in memory than in
    the dot, the width in memory results in fewer and wider accesses. (amd-accelerate-matmul chooses its own `kWidth`.)
    """
    return DotOperand(operand, parent, max(32 // bits, 1) if isinstance(parent, NvidiaMma) else 0)


def buffer_for(
    operand: DotOperand,
    layout: Distributed,
    shape: Sequence[int],
    bits: int,
    blocks: tuple[tuple[int, ...], ...] = (),
) -> SwizzledShared | AmdRotatingShared:
    """The buffer for a tensor with the layout `layout` that `operand` is read from.

    In the order of a thread's registers; but where the operand of an AMD GPU has several adjacent elements along K in a
    thread (`amd-in-thread-transpose`), K is contiguous. Lanes then write rows that are several rows apart, which the
    swizzle has to rotate for other banks.
    """
    order = memory_order(layout, shape)
    k = len(order) - 1 if operand.opIdx == 0 else len(order) - 2
    if not isinstance(operand.parent, (AmdMfma, AmdWmma)) or order[0] == k or not _has_neighbors(layout, shape, k):
        return swizzled_for(operand, shape, order, bits, blocks)
    found = swizzled_for(operand, shape, (k, *(d for d in order if d != k)), bits, blocks)
    return AmdRotatingShared(found.vec, found.perPhase, found.maxPhase, found.order, blocks)


def _has_neighbors(layout: Distributed, shape: Sequence[int], dim: int) -> bool:
    """Whether each thread holds two adjacent elements along a dimension."""
    step = tuple(int(d == dim) for d in range(len(shape)))
    return step in map(tuple, linear_layout(layout, tuple(shape)).bases["register"])


def swizzled_for(
    operand: DotOperand,
    shape: Sequence[int],
    order: Sequence[int],
    bits: int,
    blocks: tuple[tuple[int, ...], ...] = (),
    transposed: bool = False,
) -> SwizzledShared:
    """The buffer of `shape`, dimension `order[0]` contiguous, that `operand` is best read from.

    `bits`: width of an element; `blocks`: the bases of the CTAs of a cluster; `transposed`: what is read is the
    buffer with its two dimensions exchanged.
    """
    if isinstance(operand.parent, (AmdMfma, AmdWmma)):
        return _swizzled_for_amd(operand, shape, order, bits, blocks, transposed)
    if not isinstance(operand.parent, NvidiaMma):
        return SwizzledShared(1, 1, 1, tuple(order), blocks)
    return swizzled_tile(operand.opIdx, operand.kWidth, shape, order, bits, blocks, transposed)


def swizzled_tile(
    operand: int,
    width: int,
    shape: Sequence[int],
    order: Sequence[int],
    bits: int,
    blocks: tuple[tuple[int, ...], ...] = (),
    transposed: bool = False,
) -> SwizzledShared:
    """The same for operand 0 or 1 of an MMA of which each thread has `width` adjacent elements along K."""
    columns = per_block(shape, blocks)[order[0]]
    per_phase = max(ALL_BANKS // (bits * columns), 1)
    # What a quarter of a warp reads of a row, and how many rows it reads: of m8n8k4 for f64 there are four along K.
    vec, rows = 4 * width, 4 if bits == 64 else 8
    along = len(order) - 1 if operand == 0 else len(order) - 2
    if transposed != (order[0] != along):
        vec, rows = rows, vec
    phases = max(min(rows, ALL_BANKS // (vec * bits)), 1)
    return SwizzledShared(vec, per_phase, max(phases // per_phase, 1), tuple(order), blocks)


def _swizzled_for_amd(
    operand: DotOperand,
    shape: Sequence[int],
    order: Sequence[int],
    bits: int,
    blocks: tuple[tuple[int, ...], ...],
    transposed: bool,
) -> SwizzledShared:
    """The same for the operand of a matrix instruction of an AMD GPU, whose lanes are along M or N first, then along K.

    Where K is contiguous, a lane reads `kWidth` elements at once, and rows are permuted, so that those that the lanes
    of one cycle read are in different banks. Elsewhere lanes along M or N read adjacent elements, and those along K
    other rows: groups of `kWidth` rows are permuted.
    """
    along = len(order) - 1 if operand.opIdx == 0 else len(order) - 2
    if transposed:
        along = 2 * len(order) - 3 - along
    columns = per_block(shape, blocks)[order[0]]
    parent = operand.parent
    side = min(parent.instrShape[:2]) if isinstance(parent, AmdMfma) else 16
    if order[0] != along:
        groups = 1 if isinstance(parent, AmdWmma) else parent.lanes // side
        phases = max(1, min(groups, ALL_BANKS // (side * bits), columns // side))
        if phases == 1:
            return SwizzledShared(1, 1, 1, tuple(order), blocks)
        return SwizzledShared(side, operand.kWidth, phases, tuple(order), blocks)
    width = min(operand.kWidth, AMD_VECTOR // bits)
    lanes = AMD_WIDE_LANES if width * bits > 32 else 2 * AMD_WIDE_LANES
    rows = min(side, lanes)
    vec = width * lanes // rows
    per_phase = max(1, ALL_BANKS // bits // columns)
    phases = max(1, min(rows // per_phase, columns // vec))
    return SwizzledShared(vec, per_phase, phases, tuple(order), blocks)


def nvmma_for(
    shape: Sequence[int],
    order: Sequence[int],
    bits: int,
    blocks: tuple[tuple[int, ...], ...] = (),
    fp4_padded: bool = False,
) -> NvmmaShared:
    """The layout of a buffer of `shape`, dimension `order[0]` contiguous, that WGMMA reads and TMA fills.

    The widest swizzle that a row fills; none for fewer than the 8 rows that a swizzle permutes. `bits` and `blocks` as
    above; `fp4_padded`: bytes of two 4-bit elements, padded to twice the size.
    """
    mine = per_block(shape, blocks)
    row = mine[order[0]] * bits // 8 * (2 if fp4_padded else 1)
    swizzle = next((n for n in (128, 64, 32) if row % n == 0), 0)
    if prod(mine[d] for d in order[1:]) < 8:
        swizzle = 0
    return NvmmaShared(
        swizzlingByteWidth=swizzle,
        transposed=len(order) > 1 and order[0] == 0,
        elementBitWidth=bits,
        fp4Padded=fp4_padded,
        rank=len(shape),
        CGALayout=blocks,
    )


def memory_order(layout: Distributed, shape: Sequence[int]) -> tuple[int, ...]:
    """The dimensions, fastest first, in which a tensor with `layout` is best written to memory.

    As a thread's elements follow each other; but where it has only one along the dimension that neighbouring lanes go
    along, as the lanes do.
    """
    bases: Any = linear_layout(layout, tuple(shape)).bases
    order = order_of_bases(bases["register"], len(shape))
    lanes = order_of_bases(bases["lane"], len(shape))
    moving = {next(d for d, n in enumerate(v) if n) for v in bases["lane"] if any(v)}
    # dimensions that no lane moves along follow in the order of the registers
    lanes = (*(d for d in lanes if d in moving), *(d for d in order if d not in moving))
    has_one = not any(basis[lanes[0]] for basis in bases["register"]) if lanes else False
    return lanes if lanes != order and has_one else order


def cluster_bases(layout: Distributed, shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """How the CTAs of a cluster share a tensor with `layout`, as `CGALayout` says it: in parts of one block."""
    if layout.ctas == 1:
        return ()
    bases = linear_layout(layout, tuple(shape)).bases["block"]
    part = [min((v[d] for v in bases if v[d]), default=1) for d in range(len(shape))]
    return tuple(tuple(n // size for n, size in zip(v, part)) for v in bases)


def transposed_buffer(buffer: MemDescType, order: Sequence[int] = (1, 0)) -> MemDescType:
    """The type of a buffer seen with its dimensions in another order, as `ttg.memdesc_trans` gives it.

    Of swizzled buffers; of those of wgmma with their two dimensions exchanged.
    """
    layout: Any = buffer.encoding
    blocks = tuple(tuple(basis[d] for d in order) for basis in layout.CGALayout)
    if isinstance(layout, NvmmaShared):
        turned = layout.with_(transposed=not layout.transposed, CGALayout=blocks)
    else:
        place = {d: k for k, d in enumerate(order)}
        turned = layout.with_(order=tuple(place[d] for d in layout.order), CGALayout=blocks)
    front = len(buffer.allocShape) - len(order)
    alloc = (*buffer.allocShape[:front], *(buffer.allocShape[front + d] for d in order))
    shape = tuple(buffer.shape[d] for d in order)
    return MemDescType(shape, buffer.element, turned, buffer.memorySpace, buffer.mutable, alloc)
