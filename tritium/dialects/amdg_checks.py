"""What the operations of the amdg dialect require; each function is the `verify_op` of a definition.

Whether two layouts put every element into the same thread, as slices and concatenations need it, is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from ..ir import FloatType, Operation, TensorType, Type, Value, bf16, element_type, f16, i1, i32, i64, shape_of
from ..layout.bases import identity_bases
from .constraints import GOOD, bit_width
from .tt_types import CachePolicy, PointerType, TensorDescType
from .ttg_context import num_ctas, num_warps
from .ttg_layouts import Blocked
from .ttg_maps import linear_layout_of
from .ttg_memory import AsyncTokenType, MemDescType, SharedMemorySpace, padded_layout
from .ttg_rules import equivalent, unpacked

Messages = Sequence[str]
_token = AsyncTokenType()
_shared_memory = SharedMemorySpace()


def _tensors(*values: Value) -> Iterator[str]:
    for v in values:
        if not isinstance(v.type, TensorType):
            yield f"needs a tensor, not {v.type}"


def _is(v: Value | None, ty: Type, what: str) -> Iterator[str]:
    if v is not None and v.type is not ty:
        yield f"the {what} must be {ty}, not {v.type}"


def in_shape(ty: Type, element: Type) -> Type:
    """A tensor of `element` in the shape and layout of the tensor type `ty`."""
    return TensorType(ty.shape, element, ty.encoding) if isinstance(ty, TensorType) else element


# -- values in registers ------------------------------------------------------------------------------------------


def extract_slice(op: Any) -> Messages:
    """A part of a tensor inside of it, in whole steps of its shape; element type and number of dimensions stay."""
    found = list(_tensors(op.source, op.result))
    if found:
        return found
    a, b, offsets = op.source.type, op.result.type, op.static_offsets
    if a.element is not b.element or not len(a.shape) == len(b.shape) == len(offsets):
        return (f"needs an offset for each dimension, and tensors alike but for their shapes: {a} to {b}",)
    if any(o < 0 or o + n > m for o, n, m in zip(offsets, b.shape, a.shape)):
        return (f"{b} at {list(offsets)} is no part of {a}",)
    return list(_same_threads(a, b))


def _bases(ty: Any) -> dict[str, list[tuple[int, ...]]]:
    """Where threads and registers hold a tensor; nothing where that is not known."""
    try:
        return linear_layout_of(ty).bases if ty.encoding is not None else {}
    except ValueError:
        return {}


def _same_threads(a: TensorType, b: TensorType) -> Iterator[str]:
    """Both have the same thread mapping, so that no element moves between threads."""
    here, there = _bases(a), _bases(b)
    if here and there and any(here[name] != there[name] for name in ("lane", "warp")):
        yield f"each thread must hold the same part of a tile in both: {a}, {b}"


def concat(op: Any) -> Messages:
    """Tensors of one type, as many as fill the result."""
    if not op.sources:
        return ("puts together at least one tensor",)
    found = list(_tensors(*op.sources, op.result))
    if found:
        return found
    first, result = op.sources[0].type, op.result.type
    if any(v.type is not first for v in op.sources):
        return ("the tensors must be of one type",)
    if first.element is not result.element or len(first.shape) != len(result.shape):
        return (f"the result must be like its parts, but there are {first} and {result}",)
    if any(m % n for n, m in zip(first.shape, result.shape)) or prod(result.shape) != len(op.sources) * first.numel:
        return (f"{len(op.sources)} of {first} do not fill {result}",)
    return list(_same_threads(first, result))


def transposed_in_threads(op: Any) -> Messages:
    """A matrix in a blocked layout, and the same in the layout in which registers of a thread go the other way."""
    found = list(_tensors(op.operands[0], op.results[0]))
    if found:
        return found
    a, b = op.operands[0].type, op.results[0].type
    if a.shape != b.shape or a.element is not b.element or len(a.shape) != 2:
        return (f"only the layout of a matrix may change, but there are {a} and {b}",)
    if not isinstance(a.encoding, Blocked):
        return (f"the operand must have a blocked layout, not {a.encoding}",)
    layout = a.encoding
    here, there = ([v for v in _bases(ty).get("register", []) if any(v)] for ty in (a, b))
    tile = identity_bases([min(n, m) for n, m in zip(layout.sizePerThread, a.shape)], layout.order[::-1])
    if there and there != [*tile, *here[len(tile) :]]:
        found.append(f"the registers of {b} must be those of {a} with the two dimensions of a thread's tile swapped")
    return [*found, *_same_threads(a, b)]


def scaled(op: Any) -> Messages:
    """From narrow floats, or pairs of them in bytes, to f16 or bf16 or back; as many dimensions everywhere."""
    found = list(_tensors(op.input, op.scale, op.output))
    if found:
        return found
    a, scale, b = op.input.type, op.scale.type, op.output.type
    if "downcast" in op.name:
        a, b = b, a
    narrow = 8 if "fp8" in op.name else 0
    if b.element not in (f16, bf16) and not (isinstance(b.element, FloatType) and "downcast" in op.name):
        found.append(f"the wide type must be f16 or bf16, not {b.element}")
    if bit_width(a) != 8 or isinstance(a.element, FloatType) != bool(narrow):
        found.append(f"the narrow type must be {'an 8-bit float' if narrow else 'i8'}, not {a.element}")
    if not len(a.shape) == len(scale.shape) == len(b.shape):
        return [*found, f"needs as many dimensions everywhere: {a}, {scale}, {b}"]
    axis = getattr(op, "axis", 0)
    if not 0 <= axis < len(a.shape):
        return [*found, f"axis {axis} is out of range for {a}"]
    want = [n * (2 if d == axis and not narrow else 1) for d, n in enumerate(a.shape)]
    if list(b.shape) != want:
        found.append(f"the shapes do not fit to each other: {a} and {b}")
    return found


def scaled_upcast_fp4(op: Any) -> Messages:
    """Pairs of 4-bit floats in bytes to f16 or bf16; scales lie where the results do, pairs where their halves do."""
    found = list(scaled(op))
    if found:
        return found
    a, scale, b = op.input.type, op.scale.type, op.output.type
    if scale.shape != b.shape or not equivalent(scale, b):
        found.append(f"scales must have the shape and layout of the result: {scale} and {b}")
    wrong = unpacked(a, b, op.axis)
    return [*found, wrong] if wrong else found


# -- buffers ------------------------------------------------------------------------------------------------------


def _offsets(op: Any) -> Iterator[str]:
    ty = op.ptr.type
    if not isinstance(ty, PointerType) or isinstance(ty.pointee, TensorType):
        yield f"the base must be an address, not {ty}"
    elif not isinstance(op.offsets.type, TensorType) or op.offsets.type.element is not i32:
        yield f"the offsets must be a tensor of i32, not {op.offsets.type}"
    else:
        mask = getattr(op, "mask", None)
        if mask is not None:
            yield from _is(mask, in_shape(op.offsets.type, i1), "mask")
        yield from _is(getattr(op, "stride", None), i32, "stride")
    policy = op.attributes.get("cachePolicy")
    if policy is not None and not isinstance(policy, CachePolicy):
        yield f"cachePolicy must be #tt.cache_policy, not {policy}"


def buffer(op: Any) -> Messages:
    """An address and i32 offsets; values of the type it points to, in the shape of the offsets."""
    found = list(_offsets(op))
    if found:
        return found
    want = in_shape(op.offsets.type, op.ptr.type.pointee)
    names = ("result", "other", "value", "cmp", "val")
    values = [(n, getattr(op, n)) for n in names if any(f.name == n for f in op.fields)]
    return [m for name, v in values for m in _is(v, want, name)]


def buffer_to_local(op: Any) -> Messages:
    """An address, i32 offsets, and a mutable buffer of the type it points to, of as many elements."""
    found = list(_offsets(op))
    dest = op.dest.type
    if not isinstance(dest, MemDescType) or not dest.mutable:
        found.append(f"the destination must be a mutable buffer, not {dest}")
    if found:
        return found
    if dest.element is not op.ptr.type.pointee:
        found.append(f"a buffer of {dest.element} cannot hold what {op.ptr.type} points to")
    if dest.shape[-len(op.offsets.type.shape) :] != op.offsets.type.shape:
        found.append(f"buffer and offsets must have one shape: {dest}, {op.offsets.type}")
    return [*found, *_is(op.other, in_shape(op.offsets.type, op.ptr.type.pointee), "other")]


def copy_to_global(op: Any) -> Messages:
    """A buffer, and pointers to its element type in its shape."""
    src, dst = op.src.type, op.dst.type
    if not isinstance(src, MemDescType) or not isinstance(element_type(dst), PointerType):
        return (f"copies from a buffer to pointers, not from {src} to {dst}",)
    found = list(_is(op.mask, in_shape(dst, i1), "mask"))
    if src.element is not element_type(dst).pointee or src.shape != shape_of(dst):  # type: ignore[attr-defined]
        found.append(f"buffer and pointers do not fit to each other: {src}, {dst}")
    return found


def packed_load(op: Any) -> Messages:
    """From a matrix of bytes to one of as many, with half as many along one dimension and twice along the other."""
    src, dst = op.src.type, op.result.type
    if not isinstance(src, MemDescType) or not isinstance(dst, TensorType):
        return (f"loads a tensor from a buffer, not {dst} from {src}",)
    found = list(_is(op.token, _token, "token"))
    if src.element is not dst.element or prod(src.shape) != dst.numel or len(src.shape) != len(dst.shape):
        found.append(f"the shapes do not fit to each other: {src}, {dst}")
    return found


def tokens(op: Any) -> Messages:
    """Waits for tokens."""
    return [m for v in op.operands for m in _is(v, _token, "operand")]


# -- barriers -----------------------------------------------------------------------------------------------------


def predicate(op: Any) -> Messages:
    """i1"""
    return list(_is(op.pred, i1, "predicate"))


def barrier(op: Any) -> Messages:
    """Operand 0 is a buffer of one i64 in shared memory; at least one arrival."""
    ty = op.operands[0].type
    found = []
    good = isinstance(ty, MemDescType) and ty.element is i64 and ty.memorySpace is _shared_memory
    if not good or prod(ty.shape) != 1:
        found.append(f"a barrier is a buffer of one i64 in shared memory, not {ty}")
    if "count" in op.attributes and op.count < 1:
        found.append(f"count is {op.count}, it must be at least 1")
    return found


def in_cluster(op: Operation) -> Messages:
    """More than one block in the cluster."""
    return GOOD if num_ctas(op) > 1 else ("needs ttg.num-ctas > 1",)


# -- TDM ---------------------------------------------------------------------------------------------------------


def _described(op: Any, desc: Type, buffer: Type) -> Iterator[str]:
    if not isinstance(desc, TensorDescType) or not isinstance(buffer, MemDescType):
        yield f"copies between a descriptor and a buffer, not {desc} and {buffer}"
    elif bit_width(desc.block) != bit_width(buffer):
        yield f"descriptor and buffer must have one element type: {desc}, {buffer}"
    elif desc.block.encoding is not None and type(desc.block.encoding) is not type(buffer.encoding):
        yield f"descriptor and buffer must have one layout: {desc}, {buffer}"
    elif op.name in _OUT_OF_SHARED and (padded := padded_layout(buffer.encoding)) is not None:
        if tuple(padded.intervals) != (desc.block.shape[-1],):
            yield f"only rows may be padded: {buffer}"


_OUT_OF_SHARED = ("amdg.async_tdm_copy_local_to_global", "amdg.async_tdm_scatter")


def _extras(op: Any) -> Iterator[str]:
    yield from _is(op.pred, i32, "predicate")
    if op.barrier is not None and not isinstance(op.barrier.type, MemDescType):
        yield f"the barrier must be a buffer, not {op.barrier.type}"


def tdm_copy(op: Any) -> Messages:
    """A descriptor and a buffer of as many elements as its block; a hint names a power of two of warps."""
    buffer = op.operands[1].type
    found = [*_described(op, op.desc.type, buffer), *_extras(op)]
    if not found and prod(op.desc.type.block.shape) != prod(buffer.shape):
        found.append(f"a block of {op.desc.type} does not fit to {buffer}")
    hint = op.warp_used_hint if "warp_used_hint" in op.attributes else None
    if hint is not None and (hint <= 0 or (n := bin(hint).count("1")) & (n - 1)):
        found.append(f"warp_used_hint is {hint:#x}, it must name a power of two of warps")
    if hint is not None and not found:
        pieces = getattr(buffer.encoding, "numPartitions", 1) * getattr(buffer.encoding, "numGroups", 1)
        if bin(hint).count("1") % pieces:
            found.append(f"warp_used_hint is {hint:#x}, it must name a multiple of {pieces} warps")
    if hint is not None and hint.bit_length() > (num_warps(op) or 64):
        found.append(f"warp_used_hint is {hint:#x}, there are {num_warps(op)} warps")
    return [*found, *(m for v in op.indices for m in _is(v, i32, "positions"))]


def tdm_fused_copy(op: Any) -> Messages:
    """Two to four descriptors, a buffer and a mask of warps for each."""
    n = len(op.descs)
    if not 2 <= n <= 4 or len(op.results_) != n or len(op.warp_used_hints) != n:
        return ("needs two to four descriptors, with a buffer and a mask for each",)
    return [m for d, b in zip(op.descs, op.results_) for m in _described(op, d.type, b.type)]


def tdm_rows(op: Any) -> Messages:
    """A descriptor of a matrix, a buffer, a tensor of i16 or i32 rows, an i32 column."""
    rows = op.row_indices.type
    found = [*_described(op, op.desc.type, op.operands[2].type), *_extras(op), *_is(op.col_offset, i32, "column")]
    if not isinstance(rows, TensorType) or bit_width(rows) not in (16, 32):
        found.append(f"the rows must be a tensor of i16 or i32, not {rows}")
    elif "gather" in op.name and any(any(basis) for basis in _bases(rows).get("lane", ())):
        found.append(f"all threads of a warp must have the same rows: {rows}")
    if not found and len(op.desc.type.block.shape) != 2:
        found.append(f"needs a descriptor of a matrix, not {op.desc.type}")
    return found


def update_descriptor(op: Any) -> Messages:
    """A descriptor, and i32 numbers for each of its dimensions or none."""
    ty = op.desc.type
    if not isinstance(ty, TensorDescType) or op.result.type is not ty:
        return (f"changes a descriptor, not {ty} to {op.result.type}",)
    found = list(_is(op.pred, i32, "predicate"))
    for name in ("add_offsets", "set_bounds"):
        values = getattr(op, name)
        if len(values) not in (0, len(ty.block.shape)):
            found.append(f"{name} needs {len(ty.block.shape)} entries, not {len(values)}")
        found += [m for v in values for m in _is(v, i32, "entries")]
    if len(op.operands) == 1:
        found.append("changes nothing")
    return found
