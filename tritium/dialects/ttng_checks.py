"""What the operations of the ttng dialect require; each function is the `verify_op` of a definition.

Whether registers and tensor memory hold an element where an instruction can take it from is not decided here: that
needs the linear maps of both, which the lowering works out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from ..ir import FloatType, IntegerType, Operation, TensorType, Type, Value, bf16, f16, f32, i1, i16, i32, i64
from .constraints import GOOD, bit_width
from .tt_types import CachePolicy as GenericPolicy
from .tt_types import DescriptorReduceKind, PointerType, TensorDescType
from .ttg_context import num_ctas, num_warps
from .ttg_layouts import DotOperand, NvidiaMma
from .ttg_maps import linear_layout_of
from .ttg_memory import MMA_SHARED, MemDescType, NvmmaShared, SharedMemorySpace
from .ttng_types import (
    CachePolicy,
    PackedArithKind,
    TensorDescIm2ColType,
)

Messages = Sequence[str]
_shared_memory = SharedMemorySpace()
_i128 = IntegerType(128)


def buffer_type(ty: Type, what: str) -> Iterator[str]:
    if not isinstance(ty, MemDescType):
        yield f"{what} must be a buffer, not {ty}"


def _tensor(ty: Type, what: str) -> Iterator[str]:
    if not isinstance(ty, TensorType):
        yield f"{what} must be a tensor, not {ty}"


def value_is(v: Value | None, ty: Type, what: str) -> Iterator[str]:
    if v is not None and v.type is not ty:
        yield f"{what} must be {ty}, not {v.type}"


def each_is(values: Sequence[Value], ty: Type, what: str) -> Iterator[str]:
    wrong = next((v.type for v in values if v.type is not ty), None)
    if wrong is not None:
        yield f"{what} must be {ty}, not {wrong}"


def same_content(a: Any, b: Any, words: str) -> Iterator[str]:
    if a.element is not b.element or a.shape != b.shape:
        yield f"{words} must have one shape and element type, but there are {a} and {b}"


def _around(op: Operation, name: str) -> bool:
    parent = op.parent_op
    while parent is not None and parent.name != name:
        parent = parent.parent_op
    return parent is not None


# -- barriers -----------------------------------------------------------------------------------------------------


def _barrier(op: Operation, ty: Type) -> tuple[str, ...]:
    """A buffer of i64, at most one a block, in shared memory; blocks share barriers in order."""
    return _barrier_of(ty, num_ctas(op))


@functools.lru_cache(1024)
def _barrier_of(ty: Type, blocks: int) -> tuple[str, ...]:
    good = isinstance(ty, MemDescType) and ty.element is i64 and len(ty.shape) == 1 and ty.memorySpace is _shared_memory
    if not good or ty.shape[0] > blocks:  # type: ignore[attr-defined]
        return (f"a barrier is a buffer of at most {blocks} i64 in shared memory, not {ty}",)
    bases = [basis[0] for basis in getattr(ty.encoding, "CGALayout", ()) if basis[0]]  # type: ignore[attr-defined]
    if bases != [1 << i for i in range(len(bases))]:
        return (f"the CTAs must hold the barriers of {ty} in order",)
    return ()


def completion_barrier(op: Operation, ty: Type) -> Iterator[str]:
    """An mbarrier with one element per CTA."""
    yield from _barrier(op, ty)
    bases = tuple(getattr(getattr(ty, "encoding", None), "CGALayout", ()))
    blocks = num_ctas(op)
    if bases != tuple((1 << i,) for i in range(blocks.bit_length() - 1)):
        yield f"each of the {blocks} CTAs must have its own barrier, not {ty}"


def barrier(op: Any) -> Messages:
    """Operand 0 is a barrier (at most one i64 a block, in shared memory); predicates are i1, a phase is i32."""
    found = list(_barrier(op, op.operands[0].type))
    for f in op.operand_fields:
        value = getattr(op, f.name)
        if f.name == "pred":
            found += value_is(value, i1, "the predicate")
        elif f.name == "phase":
            found += value_is(value, i32, "the phase")
        elif f.name == "deps":
            found += [m for v in value for m in buffer_type(v.type, "each of `deps`")]
    return found


def _count(op: Any) -> list[str]:
    return [] if op.count >= 1 else [f"count is {op.count}, it must be at least 1"]


def init_barrier(op: Any) -> Messages:
    """A barrier, of at least one arrival; one that blocks share is not made inside of `ttg.warp_specialize`."""
    found = [*barrier(op), *_count(op)]
    if not found and op.alloc.type.shape[0] != num_ctas(op) and _around(op, "ttg.warp_specialize"):
        found.append("a barrier shared by CTAs cannot be initialized inside ttg.warp_specialize")
    return found


def arrive_barrier(op: Any) -> Messages:
    """A barrier and at least one arrival; a multicast is to other CTAs of the cluster, and by each for itself."""
    found = [*barrier(op), *_count(op)]
    mask, blocks = op.multicastCTA, num_ctas(op)
    if mask and not 0 < mask < blocks:
        found.append(f"multicastCTA is {mask}, it must be a mask over the CTAs of the cluster ({blocks})")
    if mask and op.fromCTA not in (None, blocks - 1):
        found.append("fromCTA and multicastCTA exclude each other")
    if mask and not found:
        found += completion_barrier(op, op.alloc.type)
    return found


def _together(src: Type, dst: Type) -> int:
    """How many registers of each thread are adjacent in a buffer; 0 where that is not known."""
    try:
        registers, memory = linear_layout_of(src), linear_layout_of(dst)
        return registers.invert_and_compose(memory).contiguous("register", "offset")
    except ValueError:
        return 0


def async_shared_store(op: Any) -> Messages:
    """A tensor, a mutable buffer of its shape, a barrier, in a cluster of at least two CTAs; 32 bits at a time."""
    src, dst = op.src.type, op.dst.type
    found = [*_tensor(src, "the source"), *buffer_type(dst, "the destination")]
    if not found:
        found += same_content(src, dst, "source and destination")
        found += [] if dst.mutable else [f"the destination must be mutable, not {dst}"]
    if not found and 0 < _together(src, dst) * bit_width(src) < 32:
        found.append(f"less than 32 bits of a thread are adjacent in {dst}")
    if num_ctas(op) < 2:
        found.append("needs a cluster of at least two CTAs")
    return [*found, *_barrier(op, op.mbarrier.type)]


def in_cluster(op: Operation) -> Messages:
    """More than one block in the cluster."""
    return GOOD if num_ctas(op) > 1 else ("needs ttg.num-ctas > 1",)


def cluster_barrier(op: Operation) -> Messages:
    """More than one block in the cluster; in a kernel, or in a function that will be inlined."""
    func: Operation | None = op
    while func is not None and func.name != "tt.func":
        func = func.parent_op
    found = list(in_cluster(op))
    if func is not None and getattr(func.attributes.get("sym_visibility"), "value", "") == "private":
        if getattr(func.attributes.get("noinline"), "value", 0):
            found.append("must be in a kernel, not in a function that is called")
    return found


def cluster_sync(op: Operation) -> Messages:
    """More than one block in the cluster, and not inside of `ttg.warp_specialize`."""
    inside = ["cannot be inside of ttg.warp_specialize"] if _around(op, "ttg.warp_specialize") else []
    return [*in_cluster(op), *inside]


# -- answers about canceled launches ------------------------------------------------------------------------------


def _answer(ty: Type) -> Iterator[str]:
    """A buffer of two i64 that each CTA has for itself."""
    if not isinstance(ty, MemDescType) or ty.element is not i64 or ty.shape != (2,):
        yield f"the answer needs a buffer of two i64, not {ty}"
    elif any(n for basis in getattr(ty.encoding, "CGALayout", ()) for n in basis):
        yield f"each CTA must have the whole response, not {ty}"


def clc_try_cancel(op: Any) -> Messages:
    """A buffer of two i64, and a barrier that each CTA has for itself."""
    return [*_answer(op.result.type), *completion_barrier(op, op.mbarrier.type)]


def clc_response(op: Any) -> Messages:
    """A tensor of two i64."""
    ty = op.response.type
    good = isinstance(ty, TensorType) and ty.element is i64 and ty.shape == (2,)
    return GOOD if good else (f"the answer is a tensor of two i64, not {ty}",)


def clc_load_result(op: Any) -> Messages:
    """From a buffer of two i64 to i128."""
    return [*_answer(op.src.type), *value_is(op.clcResult, _i128, "the result")]


def clc_answer(op: Any) -> Messages:
    """Of an i128."""
    want = i1 if op.name == "ttng.clc_is_canceled" else i32
    return [*value_is(op.clcResult, _i128, "the answer"), *value_is(op.results[0], want, "the result")]


# -- arithmetic ---------------------------------------------------------------------------------------------------


def packed_arith(op: Any) -> Messages:
    """Two tensors, three for fma, of as many dimensions as the result; floats, or i8 for pairs of 4-bit floats."""
    n = 3 if op.op_kind is PackedArithKind.fma else 2
    types = [v.type for v in op.operands_]
    result = op.result.type
    if len(types) != n:
        return (f"{op.op_kind.name} has {n} operands, not {len(types)}",)
    found = [m for ty in (*types, result) for m in _tensor(ty, "each of operands and result")]
    if found:
        return found
    if not isinstance(result.element, FloatType):
        return (f"the result must be of floats, not {result}",)
    for ty in types:
        if not isinstance(ty.element, FloatType) and bit_width(ty) != 8:
            found.append(f"operands must be floats or i8, not {ty}")
        pairs = bit_width(ty) == 8 and not isinstance(ty.element, FloatType)
        ratios = [m / n for n, m in zip(ty.shape, result.shape)]
        if len(ty.shape) != len(result.shape) or sorted(ratios) != [1] * (len(ratios) - pairs) + [2] * pairs:
            found.append(f"an operand {ty} does not fit to the result {result}")
    return found


def warp_group_dot(op: Any) -> Messages:
    """Operands of WGMMA, and an accumulator of the result's type in a WGMMA layout."""
    a, b, c = op.a.type, op.b.type, op.c.type
    found = [
        *buffer_type(b, "b"),
        *_tensor(c, "the accumulator"),
        *value_is(op.useC, i1, "useC"),
        *value_is(op.d, c, "the result"),
    ]
    if not isinstance(a, (TensorType, MemDescType)):
        found.append(f"a must be a tensor or a buffer, not {a}")
    if found:
        return found
    layout = c.encoding
    if not isinstance(layout, NvidiaMma) or layout.versionMajor != 3:
        found.append(f"the result must have a layout #ttg.nvidia_mma of version 3, not {layout}")
    if not isinstance(a.encoding, (*MMA_SHARED, DotOperand)):
        found.append(f"a must have the layout of a shared operand or of one in registers, not {a.encoding}")
    if not isinstance(b.encoding, MMA_SHARED):
        found.append(f"b must have the layout of a shared operand, not {b.encoding}")
    if (num_warps(op) or 4) % 4:
        found.append(f"needs whole groups of four warps, not {num_warps(op)}")
    if isinstance(a, TensorType) and isinstance(a.encoding, DotOperand) and a.encoding.kWidth * bit_width(a) != 32:
        found.append(f"kWidth of an operand {a.element} in registers must be {32 // bit_width(a)}")
    if not dot_shapes_match(a, b, c):
        found.append(f"the shapes do not fit to each other: {a} * {b} -> {c}")
    return found


def dot_shapes_match(a: Any, b: Any, c: Any) -> bool:
    """Whether MxK * KxN -> MxN, with the same dimensions in front, if any."""
    if not len(a.shape) == len(b.shape) == len(c.shape) >= 2:
        return False
    return (a.shape[-2], a.shape[-1], b.shape[-1]) == (c.shape[-2], b.shape[-2], c.shape[-1])


def warp_group_dot_wait(op: Any) -> Messages:
    """At least one value, and results of the same types."""
    types = [v.type for v in op.operands]
    if not types:
        return ("waits for at least one value",)
    if [r.type for r in op.results] != types:
        return ("the results must have the types of the operands",)
    return GOOD


# -- TMA ---------------------------------------------------------------------------------------------------------


def _described(ty: Type) -> TensorType | None:
    """The type of a block of what a descriptor describes; integers without sign."""
    if not isinstance(ty, (TensorDescType, TensorDescIm2ColType)):
        return None
    block = ty.block
    element = block.element
    if isinstance(element, IntegerType):
        element = IntegerType(element.width)
    return TensorType(block.shape, element, block.encoding)


def _policy(op: Any) -> Iterator[str]:
    policy = op.cachePolicy
    if policy is not None and not isinstance(policy, (GenericPolicy, CachePolicy)):
        yield f"cachePolicy must be #tt.cache_policy or #ttng.cache_policy, not {policy}"


def _copied(op: Any, buffer: Type) -> Iterator[str]:
    """The buffer can hold what the descriptor describes."""
    block = _described(op.desc.type)
    if block is None:
        yield f"`desc` must be a descriptor, not {op.desc.type}"
        return
    if not isinstance(buffer, MemDescType):
        yield f"a block is copied to or from a buffer, not {buffer}"
        return
    if block.element is not buffer.element:
        yield f"descriptor and buffer must have one element type, but there are {block.element} and {buffer.element}"
    layout, own = getattr(op.desc.type, "sharedLayout", block.encoding), buffer.encoding
    if not isinstance(own, NvmmaShared):
        yield f"the buffer must have a layout #ttg.nvmma_shared, not {own}"
        return
    if own.transposed:
        yield "a buffer that is copied must not be transposed"
    names = ("transposed", "swizzlingByteWidth", "elementBitWidth", "fp4Padded")
    if not isinstance(layout, NvmmaShared) or any(getattr(layout, n) != getattr(own, n) for n in names):
        yield f"descriptor and buffer must have one layout, but there are {layout} and {own}"


def _block(op: Any, buffer: Any) -> Iterator[str]:
    """As many coordinates as dimensions, and as many elements as the buffer."""
    block = _described(op.desc.type)
    assert block is not None
    windows = isinstance(op.desc.type, TensorDescIm2ColType)
    n = len(op.coord)
    yield from each_is(op.coord, i32, "coordinates")
    if windows and not 3 <= n <= 5:
        yield f"a descriptor of windows needs 3 to 5 coordinates, not {n}"
    elif not windows and (n != len(block.shape) or not 1 <= n <= 5):
        yield f"a block of {len(block.shape)} dimensions needs as many coordinates, at most 5, not {n}"
    if prod(block.shape) != prod(buffer.shape):
        yield f"a block of {prod(block.shape)} elements does not match a buffer of {prod(buffer.shape)}"


def _tma_barrier(op: Any) -> Iterator[str]:
    """Each CTA has a barrier; two share one where the module says that instructions work on two CTAs."""
    yield from _barrier(op, op.barrier.type)
    module: Operation | None = op
    while module is not None and module.name != "builtin.module":
        module = module.parent_op
    pairs = getattr(module.attributes.get("ttng.two-ctas"), "value", None) if module is not None else None
    if pairs is None or not isinstance(op.barrier.type, MemDescType):
        return
    bases = tuple(basis[0] for basis in getattr(op.barrier.type.encoding, "CGALayout", ()))
    alone = tuple(1 << i for i in range(num_ctas(op).bit_length() - 1))
    if bases != alone and not (pairs and bases == (0, *alone[:-1])):
        owners = "each CTA, or each pair of CTAs," if pairs else "each CTA"
        yield f"{owners} must have a barrier of its own, not {op.barrier.type}"


def _load(op: Any) -> Iterator[str]:
    yield from _tma_barrier(op)
    yield from value_is(op.pred, i1, "the predicate")
    yield from _copied(op, op.result.type)
    yield from _policy(op)
    if not getattr(op.result.type, "mutable", True):
        yield f"the buffer must be mutable, not {op.result.type}"
    shared = any(not any(basis) for basis in getattr(getattr(op.result.type, "encoding", None), "CGALayout", ()))
    if op.multicast and not shared:
        yield f"a multicast needs a buffer of which several CTAs hold the same part, not {op.result.type}"


def tma_load(op: Any) -> Messages:
    """A block of a descriptor, a mutable buffer of its size and layout, a barrier; offsets for windows alone."""
    found = list(_load(op))
    if found:
        return found
    found += _block(op, op.result.type)
    found += each_is(op.offsets, i16, "offsets")
    windows = isinstance(op.desc.type, TensorDescIm2ColType)
    want = len(op.coord) - 2 if windows else 0
    if len(op.offsets) != want:
        found.append(f"needs {want} offsets, not {len(op.offsets)}")
    return found


def _store(op: Any) -> list[str]:
    found = list(_copied(op, op.src.type))
    if not found and op.src.type.encoding.fp4Padded:
        found.append("padded 4-bit elements cannot be written")
    return found


def tma_store(op: Any) -> Messages:
    """A block of a descriptor and a buffer of its size and layout."""
    found = [*_store(op), *_policy(op)]
    return found or list(_block(op, op.src.type))


def tma_reduce(op: Any) -> Messages:
    """As a store, with an operation that exists for elements of this type."""
    found = _store(op) or list(_block(op, op.src.type))
    if not found and not reducible(op.kind, op.desc.type.block.element):
        found.append(f"there is no {op.kind.name.lstrip('_')} of {op.desc.type.block.element}")
    return found


def reducible(kind: DescriptorReduceKind, element: Type) -> bool:
    integer = isinstance(element, IntegerType) and element.width in (32, 64)
    short = element in (f16, bf16)
    if kind is DescriptorReduceKind.add:
        signed_long = integer and element.width == 64 and element.signedness == "s"  # type: ignore[attr-defined]
        return (integer and not signed_long) or short or element is f32
    if kind in (DescriptorReduceKind.min, DescriptorReduceKind.max):
        return integer or short
    return integer and kind not in (DescriptorReduceKind.inc, DescriptorReduceKind.dec)


def _rows(op: Any, buffer: Any) -> Iterator[str]:
    """Rows of a matrix, each with its own number."""
    block, x = _described(op.desc.type), op.x_offsets.type
    assert block is not None
    yield from value_is(op.y_offset, i32, "the column")
    if len(block.shape) != 2 or block.shape[0] != 1:
        yield f"the descriptor must have blocks of one row, not {block}"
    elif not isinstance(x, TensorType) or x.element is not i32 or len(x.shape) != 1:
        yield f"the rows must be a tensor of i32 in one dimension, not {x}"
    elif buffer.shape != (x.shape[0], block.shape[1]):
        yield f"{x.shape[0]} rows of {block.shape[1]} elements do not match {buffer}"
    elif buffer.allocShape[-2:] != buffer.shape:
        yield f"the buffer must not be a part of a larger one: {buffer}"
    elif x.encoding is not None:
        yield from _row_numbers(x, buffer)


def _row_numbers(x: TensorType, buffer: Any) -> Iterator[str]:
    """Where the numbers of rows are: four at a time, in all threads of a warp, in the blocks that hold the rows."""
    try:
        layout = linear_layout_of(x)
    except ValueError:
        return
    if layout.contiguous("register", "dim0") < 4:
        yield f"each thread must have at least 4 rows next to each other: {x}"
    bases = layout.bases
    if any(any(basis) for basis in bases.get("lane", ())):
        yield f"all threads of a warp must have the same rows: {x}"
    rows = [basis[0] for basis in buffer.encoding.CGALayout]
    step = buffer.shape[0] // (1 << sum(1 for row in rows if row))
    if [basis[0] for basis in bases.get("block", ())] != [row * step for row in rows]:
        yield f"the row indices must be in the CTAs that hold the rows: {x}, {buffer}"


def tma_gather(op: Any) -> Messages:
    """Rows of a matrix, a mutable buffer for them, a barrier."""
    found = list(_load(op))
    if not found and op.result.type.encoding.fp4Padded:
        found.append("padded 4-bit elements cannot be gathered")
    return found or list(_rows(op, op.result.type))


def tma_scatter(op: Any) -> Messages:
    """Rows of a matrix and a buffer of them."""
    return [*_store(op), *_policy(op)] or list(_rows(op, op.src.type))


def address(op: Operation) -> Messages:
    """Operand 0 is a pointer."""
    ty = op.operands[0].type
    return GOOD if isinstance(ty, PointerType) else (f"needs an address, not {ty}",)


def reinterpret_tensor_descriptor(op: Any) -> Messages:
    """From a pointer to a descriptor."""
    ty = op.results[0].type
    return [*address(op), *([] if isinstance(ty, TensorDescType) else [f"the result must be a descriptor, not {ty}"])]


_TENSORMAP_LIMITS = {"elem_type": 15, "interleave_layout": 2, "swizzle_mode": 3, "fill_mode": 1}


def tensormap_create(op: Any) -> Messages:
    """Two pointers; sizes of as many dimensions everywhere, strides of one fewer; modes there are."""
    found = list(address(op))
    if not isinstance(op.global_address.type, PointerType):
        found.append(f"needs the address of a tensor, not {op.global_address.type}")
    rank = len(op.box_dim)
    for name, n in (("global_dim", rank), ("global_stride", rank - 1), ("element_stride", rank)):
        if len(getattr(op, name)) != n:
            found.append(f"{name} has {len(getattr(op, name))} entries, it must have {n}")
    for name in ("box_dim", "global_dim", "element_stride"):
        found += each_is(getattr(op, name), i32, name)
    found += each_is(op.global_stride, i64, "global_stride")
    for name, most in _TENSORMAP_LIMITS.items():
        if not 0 <= getattr(op, name) <= most:
            found.append(f"{name} is {getattr(op, name)}, it must be 0 to {most}")
    return found
