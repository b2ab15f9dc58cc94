"""What the operations of the ttng dialect on tensor memory demand; each function stands for `verify_op`.

Whether registers and tensor memory hold an element where an instruction can take it from is not decided here: that
needs the linear maps of both, which the lowering works out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import FloatType, IntegerType, TensorType, Type, bf16, f16, f32, i1, i32
from .constraints import bit_width
from .tt_types import ScaleDotElemType
from .ttg_maps import linear_layout_of
from .ttg_memory import MMA_SHARED, MemDescType, NvmmaShared, Shared, padded_layout
from .ttng_checks import Messages, buffer_type, completion_barrier, dot_shapes_match, each_is, same_content, value_is
from .ttng_types import LoadReductionAttr, TensorMemory, TensorMemoryLayout, TensorMemoryScales

# -- tensor memory ------------------------------------------------------------------------------------------------


def _accumulators(ty: Type) -> tuple[str, tuple[Type, ...]] | None:
    """The kind of instruction for operands of this element type, and what it can add up to."""
    if ty is f32:
        return "tf32", (f32,)
    if ty is f16:
        return "f16", (f16, f32)
    if ty is bf16:
        return "f16", (f32,)
    if isinstance(ty, FloatType) and ty.width in (4, 6, 8):
        return "f8f6f4", (f16, f32)
    return ("i8", (i32,)) if isinstance(ty, IntegerType) and ty.width == 8 else None


def _mma_types(a: Type, b: Type, d: Type) -> Iterator[str]:
    kinds = _accumulators(a), _accumulators(b)
    if kinds[0] is None or kinds[1] is None:
        yield f"there is no MMA of {a} and {b}"
    elif kinds[0][0] != kinds[1][0]:
        yield f"one instruction cannot take {a} and {b}"
    elif d not in kinds[0][1] or d not in kinds[1][1]:
        yield f"an MMA of {a} and {b} cannot accumulate {d}"


def _mma_barriers(op: Any) -> Iterator[str]:
    if len(op.barriers) != len(op.barrier_preds):
        yield f"there are {len(op.barriers)} barriers, but {len(op.barrier_preds)} predicates for them"
    if op.barriers and not op.is_async:
        yield "has barriers, but is not asynchronous"
    for v in op.barriers:
        yield from completion_barrier(op, v.type)
    yield from each_is([op.useD, op.pred, *op.barrier_preds], i1, "predicates")


def mma(op: Any) -> Messages:
    """Matrices in the memory and layouts that the instruction takes, of elements it multiplies, and barriers."""
    a, b, d = op.a.type, op.b.type, op.d.type
    found = [m for ty, what in ((a, "a"), (b, "b"), (d, "d")) for m in buffer_type(ty, what)]
    if found:
        return found
    found += [*_mma_barriers(op), *_mma_types(a.element, b.element, d.element)]
    if not len(a.shape) == len(b.shape) == len(d.shape) == 2 or not dot_shapes_match(a, b, d):
        found.append(f"the shapes do not fit to each other: {a} * {b} -> {d}")
    if not isinstance(a.encoding, (*MMA_SHARED, TensorMemory)):
        found.append(f"a must have the layout of a shared operand or of tensor memory, not {a.encoding}")
    if not isinstance(b.encoding, MMA_SHARED):
        found.append(f"b must have the layout of a shared operand, not {b.encoding}")
    layout = d.encoding
    if not isinstance(layout, TensorMemory):
        return [*found, f"d must have the layout of tensor memory, not {layout}"]
    if layout.colStride * bit_width(d) != 32:
        found.append(f"elements of d must fill columns of 32 bits, colStride is {layout.colStride}")
    if isinstance(a.encoding, TensorMemory) and a.encoding.colStride != 1:
        found.append(f"elements of a must follow each other, colStride is {a.encoding.colStride}")
    for ty in (d, a):
        if isinstance(ty.encoding, TensorMemory) and ty.encoding.twoCTAs != op.two_ctas:
            found.append(f"two_ctas and twoCTAs of {ty} must agree")
    return found


_SCALED = {
    ScaleDotElemType.e4m3: "f8E4M3FN",
    ScaleDotElemType.e5m2: "f8E5M2",
    ScaleDotElemType.e2m3: "f6E2M3FN",
    ScaleDotElemType.e3m2: "f6E3M2FN",
    ScaleDotElemType.e2m1: "f4E2M1FN",
    ScaleDotElemType.bf16: "bf16",
    ScaleDotElemType.fp16: "f16",
}


def _unpacked(ty: Any, kind: ScaleDotElemType, inner: int) -> tuple[Type, list[int]]:
    """Element type and shape of a scaled operand once bytes of two elements have become two along `inner`.

    Two elements share a byte along the dimension that is contiguous: another than `inner` where the operand lies
    across (is transposed, or not, as that operand would have to be).
    """
    element = ty.element if isinstance(ty.element, FloatType) else FloatType(_SCALED[kind])
    shape = list(ty.shape[-2:])
    if kind is ScaleDotElemType.e2m1:
        layout = ty.encoding
        across = isinstance(layout, NvmmaShared) and layout.transposed == (inner == 1)
        shape[1 - inner if across else inner] *= 2
    return element, shape


def mma_scaled(op: Any) -> Messages:
    """Matrices of elements and of scales in the memory that the instruction takes; predicates, barriers."""
    a, b, d = op.a.type, op.b.type, op.d.type
    values = (op.a, op.b, op.d, op.a_scale, op.b_scale)
    found = [m for v in values for m in buffer_type(v.type, "each of the matrices")]
    if found:
        return found
    if any(len(ty.shape) < 2 for ty in (a, b, d)):
        return (f"multiplies matrices, not {a} and {b} to {d}",)
    (left, m_k), (right, k_n) = _unpacked(a, op.a_type, 1), _unpacked(b, op.b_type, 0)
    found += [*_mma_barriers(op), *_mma_types(left, right, d.element)]
    if (m_k[0], m_k[1], k_n[1]) != (d.shape[-2], k_n[0], d.shape[-1]):
        found.append(f"the shapes do not fit to each other: {a} * {b} -> {d}")
    if not isinstance(d.encoding, TensorMemory) or d.encoding.blockM != 128:
        found.append(f"d must have the layout of tensor memory in tiles of 128 rows, not {d.encoding}")
    return found


def commit(op: Any) -> Messages:
    """A barrier that each CTA has for itself, and at most four buffers."""
    found = [*completion_barrier(op, op.barrier.type), *value_is(op.pred, i1, "the predicate")]
    found += [m for v in op.descs for m in buffer_type(v.type, "each of `descs`")]
    if len(op.descs) > 4:
        found.append(f"there are {len(op.descs)} descriptors, at most 4 are allowed")
    return found


def _moved(tensor: Type, buffer: Type, what: str) -> Iterator[str]:
    """A matrix in registers, and a buffer of tensor memory for it."""
    if not isinstance(tensor, TensorType) or len(tensor.shape) != 2:
        yield f"{what} must be a tensor of two dimensions, not {tensor}"
    elif not isinstance(buffer, MemDescType) or not isinstance(buffer.encoding, TensorMemoryLayout):
        yield f"needs a buffer in tensor memory, not {buffer}"
    else:
        yield from same_content(tensor, buffer, "tensor and buffer")


def tmem_alloc(op: Any) -> Messages:
    """A whole buffer in tensor memory; one that is never written later gets its content here."""
    ty = op.result.type
    if not isinstance(ty, MemDescType) or not isinstance(ty.encoding, TensorMemoryLayout):
        return (f"makes a buffer in tensor memory, not {ty}",)
    found = list(_moved(op.src.type, ty, "the content")) if op.src is not None else []
    if ty.shape != ty.allocShape:
        found.append(f"the result must be a whole buffer, not {ty}")
    if op.src is None and not ty.mutable:
        found.append(f"a buffer without content must be mutable, not {ty}")
    return found


def tmem_load(op: Any) -> Messages:
    """A buffer and a tensor of its shape; `redOp` and the result `red` together; `abs` and `NaN` for f32 alone."""
    found = list(_moved(op.result.type, op.src.type, "the result"))
    if not found and isinstance(op.src.type.encoding, TensorMemoryScales):
        found.append("scales cannot be loaded")
    if op.redOp is not None and not isinstance(op.redOp, LoadReductionAttr):
        found.append(f"redOp must be #ttng.redOp, not {op.redOp}")
    if (op.redOp is None) != (op.red is None):
        found.append("redOp and the result for it need each other")
    for name in ("abs", "NaN"):
        if getattr(op, name) and op.redOp is None:
            found.append(f"{name} needs redOp")
        elif getattr(op, name) and getattr(op.src.type, "element", None) is not f32:
            found.append(f"{name} needs elements of f32, not {op.src.type}")
    if not found and op.redOp is not None and not _rows_in_threads(op.result.type):
        found.append(f"each thread must hold a whole row for the reduction, not {op.result.type}")
    return found


def _rows_in_threads(ty: TensorType) -> bool:
    """Whether the registers of a thread are one row; true where that is not known."""
    try:
        bases = linear_layout_of(ty).bases
    except ValueError:
        return True
    elsewhere = [basis for name, group in bases.items() if name != "register" for basis in group]
    return all(basis[1] == 0 for basis in elsewhere) and all(basis[0] == 0 for basis in bases["register"])


def tmem_store(op: Any) -> Messages:
    """A tensor, a mutable buffer of its shape, a predicate."""
    found = [*_moved(op.src.type, op.dst.type, "the source"), *value_is(op.pred, i1, "the predicate")]
    if not found and not op.dst.type.mutable:
        found.append(f"the buffer must be mutable, not {op.dst.type}")
    return found


def tmem_subslice(op: Any) -> Messages:
    """A part of a buffer that begins at a multiple of its length and ends inside."""
    a, b, dim = op.src.type, op.result.type, op.dim
    found = [*buffer_type(a, "the source"), *buffer_type(b, "the result")]
    if found:
        return found
    if not isinstance(a.encoding, TensorMemoryLayout) or not isinstance(b.encoding, TensorMemoryLayout):
        return (f"takes a part of a buffer in tensor memory, not {b} of {a}",)
    if a.element is not b.element or a.allocShape != b.allocShape or a.memorySpace is not b.memorySpace:
        found.append(f"{b} is no part of {a}")
    if not 0 <= dim < len(a.shape) or len(a.shape) != len(b.shape):
        return [*found, f"there is no dimension {dim} to cut in {a}"]
    if any(n != m for d, (n, m) in enumerate(zip(a.shape, b.shape)) if d != dim):
        found.append(f"only dimension {dim} may get shorter, but there are {a} and {b}")
    length = b.shape[dim]
    if op.offset % length or not 0 <= op.offset <= a.shape[dim] - length:
        found.append(f"a part of length {length} cannot begin at {op.offset} of {a.shape[dim]}")
    return found


def tmem_copy(op: Any) -> Messages:
    """A buffer of shared memory, and a mutable one of tensor memory."""
    a, b = op.src.type, op.dst.type
    found = [*buffer_type(a, "the source"), *buffer_type(b, "the destination")]
    if found:
        return found
    if not isinstance(a.encoding, Shared) or not isinstance(b.encoding, TensorMemoryLayout):
        return (f"copies from shared to tensor memory, not {a} to {b}",)
    if not b.mutable:
        found.append(f"the destination must be mutable, not {b}")
    layout = a.encoding
    if padded_layout(layout) is not None or getattr(layout, "transposed", False) or getattr(layout, "fp4Padded", False):
        found.append(f"the source must be neither transposed nor padded: {layout}")
    scales = isinstance(b.encoding, TensorMemoryScales)
    if isinstance(layout, NvmmaShared) and (layout.swizzlingByteWidth == 0) != scales:
        found.append("scales are copied from a buffer that is not swizzled, all else from one that is")
    if not scales and (a.shape != b.shape or getattr(b.encoding, "blockM", 0) != 128):
        found.append(f"the destination must have tiles of 128 rows and the shape of the source: {a} to {b}")
    return found
