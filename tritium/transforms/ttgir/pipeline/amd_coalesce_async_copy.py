"""amd-coalesce-async-copy: Choose layouts in which a wave copies adjacent bytes of LDS.

    ttg.async_copy_global_to_local %p, %b : #blocked, 4 elements of f32 a lane, of which 1 is contiguous
    =>
    %q = ttg.convert_layout %p : … -> #blocked, 1 element a lane
    ttg.async_copy_global_to_local %q, %b

On CDNA an instruction that copies from global memory to LDS writes the elements of all lanes one after the other, from
one address of the wave. So each lane must have as many registers in a row as one instruction copies, no more, and the
next lane the elements that follow in LDS.

1. The width is the largest that instructions have (`AmdGPU.copy_bits`), of at most the elements that are contiguous in
   global memory, with one mask, and in LDS.
2. Into a swizzled buffer, lanes and warps are distributed along its order, and each lane has one width of elements in
   the order of its layout; the lowering swizzles the addresses.
3. Into a padded buffer, registers, lanes and warps take the elements in the order of its offsets, as a linear layout.

Copies whose layout is so already stay, and those without a width.
"""

from __future__ import annotations

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import ttg
from ....dialects.tt_types import PointerType
from ....dialects.ttg_context import num_warps, target_of, threads_per_warp
from ....dialects.ttg_defaults import blocked_in
from ....dialects.ttg_layouts import Blocked, Linear
from ....dialects.ttg_maps import linear_layout, linear_layout_of
from ....dialects.ttg_memory import MemDescType, PaddedShared, SwizzledShared, element_bits
from ....hardware.amd import AmdGPU, amd_gpu
from ....ir import IntegerAttr, Operation, TensorType, count, functions_of, i32, may_change, pass_on
from ....layout.bases import per_block
from ....layout.linear import LinearLayout
from ....support.dataclasses import dataclass
from ..layout.coalesce import convert_operation
from .buffers import loaded_elements

__all__ = ["CoalesceCopyOptions", "amd_coalesce_async_copy"]


@dataclass(frozen=True)
class CoalesceCopyOptions:
    """`gfx_arch`: the architecture, where it is not the module's."""

    gfx_arch: str = ""


@pass_on("module", statistics={"copies coalesced": "asynchronous copies with a new layout"})
def amd_coalesce_async_copy(module: Operation, options: CoalesceCopyOptions = CoalesceCopyOptions()) -> bool:
    """Choose layouts for the asynchronous copies of a module compiled for CDNA 3 or 4."""
    arch = options.gfx_arch or target_of(module).partition(":")[2]
    changed = 0
    for func in functions_of(module) if arch and amd_gpu(arch).copies_buffers_to_lds else ():
        copies = [op for op in func.walk() if isinstance(op, ttg.AsyncCopyGlobalToLocal)]
        facts = AxisInfoAnalysis(func) if copies else None
        for copy in copies:
            found = None if facts is None else _layout(copy, facts, amd_gpu(arch))
            if found is not None and may_change("amd-coalesce-async-copy", copy):
                layout, width = found
                convert_operation(copy, layout)
                copy.attributes["contiguity"] = IntegerAttr(width, i32)
                changed += 1
    count("copies coalesced", changed)
    return changed > 0


def _layout(
    copy: ttg.AsyncCopyGlobalToLocal, facts: AxisInfoAnalysis, gpu: AmdGPU
) -> tuple[Blocked | Linear, int] | None:
    """The layout of a copy, and the elements of one instruction; None where it stays."""
    tensor, memory = copy.src.type, copy.operands[1].type
    assert isinstance(tensor, TensorType) and isinstance(memory, MemDescType)
    before, shared = tensor.encoding, memory.encoding
    if not isinstance(before, Blocked) or not isinstance(shared, (SwizzledShared, PaddedShared)):
        return None
    assert isinstance(tensor.element, PointerType)
    bits = element_bits(tensor.element.pointee)
    offsets = linear_layout_of(tensor).invert_and_compose(_offsets_of(memory, shared))
    loaded, adjacent = loaded_elements(facts, copy), offsets.contiguous("register", "offset")
    width = _width(min(loaded, adjacent), bits, gpu)
    if not width:
        return None
    if isinstance(shared, PaddedShared):
        width = min(width, min(shared.intervals) // gpu.warp_size)
        if not _width(width, bits, gpu):
            return None
    if adjacent >= loaded and _is_coalesced(tensor, memory, shared, width, gpu):
        return None
    if width * bits not in gpu.copy_bits:
        return None
    layout = (
        _padded(copy, before, shared, width)
        if isinstance(shared, PaddedShared)
        else _swizzled(copy, before, shared, width)
    )
    return None if layout is None or layout is before else (layout, width)


def _width(most: int, bits: int, gpu: AmdGPU) -> int:
    """The largest number of elements up to `most` that one instruction copies, halved from there; 0 where none does."""
    while most and most * bits not in gpu.copy_bits:
        most //= 2
    return most


def _offsets_of(memory: MemDescType, shared: SwizzledShared | PaddedShared) -> LinearLayout:
    """The offsets of a buffer, without padding."""
    return linear_layout(shared, shared.shape) if isinstance(shared, PaddedShared) else linear_layout_of(memory)


def _is_coalesced(
    tensor: TensorType, memory: MemDescType, shared: SwizzledShared | PaddedShared, width: int, gpu: AmdGPU
) -> bool:
    """Whether lanes have `width` registers in a row, each lane the offsets after the one before; swizzling aside."""
    if isinstance(shared, SwizzledShared):
        flat = SwizzledShared(shared.vec, 1, 1, shared.order, shared.CGALayout)
        offsets = linear_layout(flat, memory.shape[-flat.rank :])
    else:
        offsets = _offsets_of(memory, shared)
    found = linear_layout_of(tensor).invert_and_compose(offsets)
    if found.contiguous("register", "offset") != width:
        return False
    steps = [found.apply(lane=1 << bit)["offset"] for bit in range(gpu.warp_size.bit_length() - 1)]
    return steps == [width << bit for bit in range(len(steps))]


def _swizzled(copy: ttg.AsyncCopyGlobalToLocal, before: Blocked, shared: SwizzledShared, width: int) -> Blocked:
    """Rule 2."""
    tensor = copy.src.type
    assert isinstance(tensor, TensorType)
    shape = per_block(tensor.shape, before.CGALayout)
    sizes = [min(n, size) for n, size in zip(before.sizePerThread, shape)]
    sizes[before.order[0]] = width
    lanes, warps = threads_per_warp(copy), num_warps(copy) or 1
    found = blocked_in(before.CGALayout, shape, sizes, shared.order, warps, lanes)
    return Blocked(found.sizePerThread, found.threadsPerWarp, found.warpsPerCTA, before.order, before.CGALayout)


def _padded(copy: ttg.AsyncCopyGlobalToLocal, before: Blocked, shared: PaddedShared, width: int) -> Linear | None:
    """Rule 3; None where the buffer has too few elements."""
    lanes, warps = threads_per_warp(copy).bit_length() - 1, (num_warps(copy) or 1).bit_length() - 1
    bases, first = list(shared.offset), width.bit_length() - 1
    if len(bases) < first + lanes or before.CGALayout:
        return None
    by_warp = bases[first + lanes : first + lanes + warps]
    by_warp += [(0,) * shared.rank] * (warps - len(by_warp))
    registers = bases[:first] + bases[first + lanes + warps :]
    return Linear(tuple(registers), tuple(bases[first : first + lanes]), tuple(by_warp), ())
