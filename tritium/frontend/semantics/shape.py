"""Shapes: broadcasting, adding and permuting dimensions, joining and splitting blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..constexpr import unwrap
from ..dtypes import block_type, dtype, int32
from ..tensor import tensor, unwrap_literal
from .errors import OperandError, type_error, value_error

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = [
    "arange",
    "broadcast_tensors",
    "broadcast_to",
    "broadcast_value",
    "cat",
    "expand_dims",
    "gather",
    "join",
    "permute",
    "reshape",
    "splat",
    "split",
    "unsplat",
    "wrap_shape",
]


def wrap_shape(element: dtype, shape: Sequence[int]) -> dtype:
    """A block type, or the element type for an empty shape."""
    return block_type(element, shape) if len(shape) else element


def arange(sem: SemanticContext, start: Any, end: Any) -> tensor:
    """[start, start + 1, …, end - 1] in int32."""
    start, end = unwrap_literal(start), unwrap_literal(end)
    wrong = next((x for x in (start, end) if not isinstance(x, int)), None)
    if wrong is not None and not isinstance(wrong, tensor):
        raise value_error(
            f"arange's arguments must be integers, got {wrong!r} of type {type(wrong).__name__}",
            "// divides integers" if isinstance(wrong, float) else "pass a number: x.item() of a tensor",
        )
    if wrong is not None:
        raise value_error(
            "arange's arguments must be of type tl.constexpr",
            "pass the block size as a tl.constexpr parameter, and add a run-time start: start + tl.arange(0, N)",
        )
    if not (-(1 << 31) <= start < 1 << 31 and -(1 << 31) <= end < 1 << 31):
        raise value_error("arange must fit in int32")
    size = end - start
    if size <= 0:
        raise value_error(f"arange's end argument must be greater than the start argument: {start} to {end}")
    return sem.emit(tt.MakeRange(start, end), sem.block(int32, (size,)))


def splat(sem: SemanticContext, x: tensor, shape: Sequence[int]) -> tensor:
    """The scalar `x` in every element of a block of `shape`."""
    if not len(shape):
        return x
    assert not x.type.is_block(), "a block cannot be splat"
    ty = sem.block(x.dtype, shape)
    return sem.emit(tt.Splat(x.handle, result=ty.ir), ty)


def unsplat(sem: SemanticContext, x: tensor) -> tensor:
    """The only element of a block."""
    if not x.type.is_block():
        return x
    if x.type.numel != 1:
        raise value_error(f"a block of shape {list(x.type.shape)} has more than one element", "reduce it: tl.sum(x)")
    return tensor(sem.builder.add(tt.Unsplat(x.handle)), x.dtype)


def reshape(sem: SemanticContext, x: tensor, shape: Sequence[int], can_reorder: bool = False) -> tensor:
    """The elements of `x` in another shape, in row-major order unless they may be reordered."""
    numel = 1
    for d in shape:
        numel *= d
    if not x.type.is_block():
        if numel == 1:
            return splat(sem, x, shape)
        raise value_error(f"a scalar cannot be reshaped to {list(shape)}", "use tl.full or tl.broadcast_to")
    if x.type.numel != numel:
        raise value_error(
            f"reshape() cannot change total number of elements in tensor: {list(x.type.shape)} to {list(shape)}"
        )
    if not len(shape):
        return unsplat(sem, x)
    if tuple(shape) == x.type.shape:
        return x
    ty = block_type(x.dtype, shape)
    return sem.emit(tt.Reshape(x.handle, can_reorder, result=ty.ir), ty)


def expand_dims(sem: SemanticContext, x: tensor, axis: int) -> tensor:
    """`x` with a dimension of size 1 at `axis` of the result."""
    shape = x.type.shape
    if not x.type.is_block():
        return splat(sem, x, (1,))
    ty = block_type(x.dtype, (*shape[:axis], 1, *shape[axis:]))
    return sem.emit(tt.ExpandDims(x.handle, axis), ty)


def permute(sem: SemanticContext, x: tensor, dims: Sequence[int]) -> tensor:
    """`x` with dimension k of the result being dimension dims[k] of `x`."""
    rank = len(x.type.shape)
    if len(dims) != rank:
        raise value_error(
            f"permute dims must have the same length as input shape: {list(dims)} for {list(x.type.shape)}"
        )
    dims = [d + rank if isinstance(d, int) and d < 0 else d for d in dims]
    if sorted(dims) != list(range(rank)):
        raise value_error(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {dims}")
    ty = block_type(x.dtype, [x.type.shape[d] for d in dims])
    return sem.emit(tt.Trans(x.handle, dims), ty)


def broadcast_to(sem: SemanticContext, x: tensor, shape: Sequence[int], roles: tuple[str, str] | None = None) -> tensor:
    """`x` with its dimensions of size 1 repeated to `shape`, which has its rank; scalars fill it.

    `roles` names `x`, and the operand that has the shape, in errors.
    """
    if not x.type.is_block():
        return splat(sem, x, shape)
    have = x.type.shape
    if len(have) != len(shape):
        raise _not_broadcast(f"rank mismatch: {list(have)}, {list(shape)}", have, shape, roles)
    if tuple(shape) == have:
        return x
    for i, size in enumerate(have):
        if shape[i] != size and size != 1:
            raise _not_broadcast(
                f"the expanded size of the tensor ({shape[i]}) must match the existing size ({size})"
                f" at non-singleton dimension {i}: {list(have)}, {list(shape)}",
                have,
                shape,
                roles,
            )
    ty = block_type(x.dtype, shape)
    return sem.emit(tt.Broadcast(x.handle, result=ty.ir), ty)


def _not_broadcast(why: str, have: Sequence[int], shape: Sequence[int], roles: tuple[str, str] | None) -> OperandError:
    what, like = roles or ("input", "")
    operands = {what: f"has shape {list(have)}"}
    if like:
        operands[like] = f"has shape {list(shape)}"
    return OperandError(f"ValueError: Cannot broadcast, {why}", operands, _axes_hint(what, have, shape), what)


def _axes_hint(role: str, small: Sequence[int], large: Sequence[int]) -> str | None:
    """The index that gives a block of one dimension the rank of `large`, in which it has the dimension of its size."""
    if len(small) != 1 or len(large) == 1 or small[0] not in large[:-1]:
        return None
    axis = large.index(small[0])
    index = ", ".join(":" if i == axis else "None" for i in range(len(large)))
    return f"write `{{{role}}}[{index}]` for a dimension of size 1 that broadcasts"


def broadcast_value(
    sem: SemanticContext, lhs: tensor, rhs: tensor, roles: tuple[str, str] = ("lhs", "rhs")
) -> tuple[tensor, tensor]:
    """Both values broadcast by NumPy's rules; `roles` names them in errors."""
    a, b = lhs.type, rhs.type
    if not a.is_block() and not b.is_block():
        return lhs, rhs
    if not b.is_block():
        return lhs, splat(sem, rhs, a.shape)
    if not a.is_block():
        return splat(sem, lhs, b.shape), rhs
    if a.shape == b.shape:
        return lhs, rhs
    while len(lhs.type.shape) < len(rhs.type.shape):
        lhs = expand_dims(sem, lhs, 0)
    while len(rhs.type.shape) < len(lhs.type.shape):
        rhs = expand_dims(sem, rhs, 0)
    shape = []
    for i, (left, right) in enumerate(zip(lhs.type.shape, rhs.type.shape)):
        if left not in (right, 1) and right != 1:
            raise _incompatible(f"index {i}: {left} and {right}", a.shape, b.shape, roles)
        shape.append(right if left == 1 else left)
    return broadcast_to(sem, lhs, shape), broadcast_to(sem, rhs, shape)


def _incompatible(dimensions: str, a: Sequence[int], b: Sequence[int], roles: tuple[str, str]) -> OperandError:
    """The error of two shapes that do not broadcast; the hint has the index that makes them fit, where there is one."""
    first, second = roles
    small, large, role = (a, b, first) if len(a) < len(b) else (b, a, second)
    hint = _axes_hint(role, small, large)
    if len(a) == len(b) == 1 and roles == ("lhs", "rhs"):
        hint = "`{lhs}[:, None]` combines each element of one with each of the other"
    shapes = {first: f"has shape {list(a)}", second: f"has shape {list(b)}"}
    summary = f"ValueError: Cannot make_shape_compatible: incompatible dimensions at {dimensions}"
    return OperandError(summary, shapes, hint, None if roles == ("lhs", "rhs") else second)


def broadcast_tensors(sem: SemanticContext, *inputs: tensor, roles: Sequence[str] = ()) -> tuple[tensor, ...]:
    """All values in one common shape; `roles` names them in errors."""
    if not inputs:
        return ()
    head, *tail = inputs
    names = [(roles[0], role) for role in roles[1:]] or [("lhs", "rhs")] * len(tail)
    for _ in range(2):  # the first pass finds the common shape, the second broadcasts the earlier inputs to it
        for i, x in enumerate(tail):
            head, tail[i] = sem.broadcast_value(head, x, names[i])
    return (head, *tail)


# -- together and apart -------------------------------------------------------------------------------------------


def cat(sem: SemanticContext, lhs: tensor, rhs: tensor, can_reorder: bool, dim: int = 0) -> tensor:
    """`lhs` followed by `rhs` along `dim`; with `can_reorder` the elements come in any order."""
    if not lhs.type.is_block() or lhs.type.shape != rhs.type.shape or lhs.dtype is not rhs.dtype:
        raise value_error(f"tl.cat takes two blocks of one type, got {lhs.type} and {rhs.type}")
    shape = list(lhs.type.shape)
    rank = len(shape)
    dim = _axis(dim, rank, "cat")
    if can_reorder and rank == 1:
        ty = block_type(lhs.dtype, [2 * shape[0]])
        return sem.emit(tt.Cat(lhs.handle, rhs.handle, result=ty.ir), ty)
    # [a; b] along dim = the pair dimension of join moved before dim, then both merged
    both = permute(sem, join(sem, lhs, rhs), [*range(dim), rank, *range(dim, rank)])
    shape[dim] *= 2
    return reshape(sem, both, shape)


def join(sem: SemanticContext, lhs: tensor, rhs: tensor) -> tensor:
    """A block with a new last dimension of size 2: [..., 0] is `lhs`, [..., 1] is `rhs`."""
    lhs, rhs = broadcast_value(sem, lhs, rhs, ("a", "b"))
    if lhs.dtype is not rhs.dtype:
        raise type_error(f"tl.join takes two values of one dtype, got {lhs.dtype} and {rhs.dtype}")
    scalar = not lhs.type.is_block()
    if scalar:
        lhs, rhs = expand_dims(sem, lhs, 0), expand_dims(sem, rhs, 0)
    ty = block_type(lhs.dtype, [*lhs.type.shape, 2])
    joined = sem.emit(tt.Join(lhs.handle, rhs.handle, result=ty.ir), ty)
    return reshape(sem, joined, [2]) if scalar else joined


def split(sem: SemanticContext, x: tensor) -> tuple[tensor, tensor]:
    """The two halves of the last dimension, which has size 2."""
    if not x.type.is_block() or x.type.shape[-1] != 2:
        raise value_error(
            f"tl.split takes a block whose last dimension is 2, got shape {list(x.type.shape)}",
            "reshape it to (..., 2) first",
        )
    scalar = len(x.type.shape) == 1
    if scalar:
        x = expand_dims(sem, x, 0)
    ty = block_type(x.dtype, x.type.shape[:-1])
    left, right = sem.emit_all(tt.Split(x.handle), [ty, ty])
    return (unsplat(sem, left), unsplat(sem, right)) if scalar else (left, right)


def gather(sem: SemanticContext, x: tensor, indices: tensor, axis: int) -> tensor:
    """result[i…] = x[i… with the coordinate at `axis` replaced by indices[i…]]"""
    if not x.type.is_block() or not indices.type.is_block():
        raise type_error(f"tl.gather takes blocks, got {x.type} and {indices.type}")
    if not indices.dtype.is_int():
        raise type_error(f"tl.gather takes integer indices, got {indices.dtype}")
    rank = len(x.type.shape)
    if len(indices.type.shape) != rank:
        raise value_error(f"source and index tensors must have the same rank: {x.type} and {indices.type}")
    axis = _axis(axis, rank, "gather")
    for d in range(rank):
        if d != axis and indices.type.shape[d] != x.type.shape[d]:
            raise value_error(
                f"index dim {d} must match the corresponding source dim: {list(indices.type.shape)},"
                f" {list(x.type.shape)}"
            )
    ty = block_type(x.dtype, indices.type.shape)
    return sem.emit(tt.Gather(x.handle, indices.handle, axis, result=ty.ir), ty)


def _axis(axis: Any, rank: int, name: str) -> int:
    axis = unwrap(axis)
    if not isinstance(axis, int) or isinstance(axis, bool) or not -rank <= axis < rank:
        raise value_error(f"{name} axis {axis} must be < source rank ({rank})")
    return axis + rank if axis < 0 else axis
