"""Which layouts the operands and results of an operation may have together: `rule_of` has the rule of an op class.

Each returns what is wrong, or None. A layout that cannot be seen as a linear layout yet (`ttg_maps`) is not judged
where equality of layouts would have to be; what is left to do is the same then: nothing is refused that Triton takes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

from ..ir import (
    ELEMENTWISE,
    Attribute,
    BlockArgument,
    IntegerAttr,
    Operation,
    OpResult,
    PointerAccess,
    RegionBranch,
    TensorType,
    Type,
    Value,
    ViewLike,
    constant_of,
    f32,
)
from ..layout import LinearLayout
from ..layout.tiling import shrink
from ..layout.views import renamed_dims, reshaped, unique_registers, without_pairs
from . import ttg_maps
from .ttg_layouts import AmdWmma, DotOperand, Layout, NvidiaMma, Slice
from .ttg_memory import MMA_SHARED, MemDescType

__all__ = ["bits_from", "buffer_bits", "equivalent", "rule_of", "unpacked"]

Rule = Callable[[Any], "str | None"]


def _map(shape: tuple[int, ...], layout: Attribute) -> LinearLayout | None:
    """What the layout means for a shape; None where that cannot be said."""
    try:
        return ttg_maps.linear_layout(layout, shape)
    except (ValueError, IndexError, ZeroDivisionError):  # the attribute may hold what no instruction has
        return None


def _encoding(ty: Type) -> Any:
    return ty.encoding if isinstance(ty, TensorType) else None


def _same(shape: tuple[int, ...], wanted: LinearLayout | None, layout: Attribute) -> bool:
    """Whether `layout` means `wanted` for `shape`, copies in registers aside; True where that cannot be said."""
    found = _map(shape, layout)
    if wanted is None or found is None or wanted is found:
        return True
    if "register" not in found.ins or "register" not in wanted.ins:
        return False
    return wanted.without_zeros("register") is found.without_zeros("register")


def same_layout(op: Operation) -> str | None:
    """All tensors have one layout."""
    first: Any = op
    for v in (*op.operands, *op.results):
        ty = v.type
        if ty.__class__ is TensorType:
            layout = ty.encoding
            if first is op:
                first = layout
            elif layout is not first:
                return f"all layouts must be equal, but there are {first} and {layout}"
    return None


def _stays(a: Type, b: Type) -> str | None:
    """What is wrong where not both types have a layout that has a meaning."""
    x, y = _encoding(a), _encoding(b)
    if (x is None) != (y is None):
        return f"both must have a layout, or none: {a} and {b}"
    if isinstance(x, Layout) and isinstance(y, Layout):
        return None
    return None if x is y else f"the layout must stay: {a} and {b}"


@functools.lru_cache(4096)
def _transposed(a: Any, b: Any, order: tuple[int, ...]) -> bool:
    """Whether `b` is `a` with its dimensions in the given order, no element moved."""
    whole = _map(a.shape, a.encoding)
    return whole is None or _same(b.shape, renamed_dims(whole, order), b.encoding)


@functools.lru_cache(4096)
def _reshaped(a: Any, b: Any) -> bool:
    """Whether `b` is `a` in another shape, no element moved."""
    whole = _map(a.shape, a.encoding)
    return whole is None or _same(b.shape, reshaped(whole, b.shape), b.encoding)


@functools.lru_cache(4096)
def _as_many(a: Any, b: Any) -> bool:
    """Whether a thread holds as many elements of `b` as of `a`."""
    x, y = _map(a.shape, a.encoding), _map(b.shape, b.encoding)
    return x is None or y is None or x.ins["register"] == y.ins["register"]


def trans(op: Any) -> str | None:
    """The result's layout is the operand's with its dimensions in the new order."""
    a, b = op.operands[0].type, op.results[0].type
    if not isinstance(_encoding(a), Layout) or not isinstance(_encoding(b), Layout):
        return _stays(a, b)
    return None if _transposed(a, b, op.order) else f"the layout of {b} does not follow from that of {a}"


def reshape(op: Any) -> str | None:
    """No element moves, unless any order of them is allowed."""
    a, b = op.operands[0].type, op.results[0].type
    if not isinstance(_encoding(a), Layout) or not isinstance(_encoding(b), Layout):
        return _stays(a, b)
    good = (op.allow_reorder and _as_many(a, b)) or _reshaped(a, b)
    return None if good else f"the layout of {b} does not follow from that of {a}"


def expand_dims(op: Any) -> str | None:
    """From a slice along the new dimension to its parent."""
    a, b = _encoding(op.operands[0].type), _encoding(op.results[0].type)
    if not isinstance(a, Layout):
        return None if a is b else f"the layout must stay: {a} and {b}"
    if not isinstance(a, Slice) or a.dim != op.axis:
        return f"the operand's layout must be a slice along {op.axis}, not {a}"
    return None if a.parent is b else f"the result must have the layout {a.parent}, not {b}"


def reduce(op: Any) -> str | None:
    """All operands have one layout, the results that without the dimension reduced."""
    layouts = {_encoding(v.type) for v in op.operands}
    if len(layouts) > 1:
        return f"all operands must have one layout, there are {', '.join(map(str, layouts))}"
    layout = layouts.pop() if layouts else None
    wanted = Slice(op.axis, layout) if isinstance(layout, Layout) and layout.rank > 1 else layout
    wrong = next((r.type for r in op.results if isinstance(r.type, TensorType) and r.type.encoding is not wanted), None)
    return None if wrong is None else f"a result must have the layout {wanted}, not {wrong}"


def broadcast(op: Any) -> str | None:
    """What a thread holds of the result's first row, it holds of the operand."""
    a, b = op.operands[0].type, op.results[0].type
    if not isinstance(_encoding(a), Layout) or not isinstance(_encoding(b), Layout):
        return _stays(a, b)
    return None if a.encoding is b.encoding or _projects(b, a) else f"the layout of {b} is not that of {a} repeated"


@functools.lru_cache(2048)
def _projects(whole: Any, part: Any) -> bool:
    """Whether the layout of `whole`, cut to the shape of `part`, is that of `part`."""
    layout = _map(whole.shape, whole.encoding)
    if layout is None:
        return True
    return _same(part.shape, shrink(layout, dict(zip(layout.outs, part.shape))), part.encoding)


def _pairs(joined: Type, part: Type) -> str | None:
    """`part` is what is left of `joined` without its last dimension, whose two elements one thread holds."""
    if not isinstance(_encoding(joined), Layout) or not isinstance(_encoding(part), Layout):
        return _stays(joined, part)
    return None if _halves(joined, part, len(joined.shape) - 1) else f"{part} is not a half of {joined}"  # type: ignore[attr-defined]


@functools.lru_cache(2048)
def _halves(whole: Any, part: Any, axis: int) -> bool:
    """Whether a thread's element i of `part` holds its elements 2i and 2i + 1 along `axis` of `whole`."""
    layout = _map(whole.shape, whole.encoding)
    if layout is None:
        return True
    half = without_pairs(layout, axis)
    if half is None:
        return False
    if len(part.shape) < len(whole.shape):
        half = reshaped(half, part.shape)
    return _same(part.shape, half, part.encoding)


def join(op: Any) -> str | None:
    """The operands' layout is that of the halves of the result."""
    return same_operands(op) or _pairs(op.results[0].type, op.operands[0].type)


def split(op: Any) -> str | None:
    """The results' layout is that of the halves of the operand."""
    return _pairs(op.operands[0].type, op.results[0].type)


def same_operands(op: Any) -> str | None:
    """The operands have one layout."""
    layouts = [_encoding(v.type) for v in op.operands]
    good = all(layout is layouts[0] for layout in layouts)
    return None if good else f"all operands must have one layout, there are {', '.join(map(str, layouts))}"


def convert_layout(op: Any) -> str | None:
    """With `force_warp_shuffle` each warp keeps its elements."""
    if not op.force_warp_shuffle:
        return None
    a, b = op.operands[0].type, op.results[0].type
    if not isinstance(a.encoding, Layout) or not isinstance(b.encoding, Layout):
        return None
    return f"moves elements between warps: {a} to {b}" if _leaves_warp(a, b) else None


@functools.lru_cache(2048)
def _leaves_warp(a: Any, b: Any) -> bool:
    """Whether an element is in another warp (or block) in `b` than it is in `a`."""
    before, after = _map(a.shape, a.encoding), _map(b.shape, b.encoding)
    if before is None or after is None or not after.is_surjective():
        return False
    moves = before.invert_and_compose(after)
    for name, size in moves.ins.items():
        for bit in range(size.bit_length() - 1):
            goes = moves.apply(**{name: 1 << bit})
            if any(goes[n] != (1 << bit if n == name else 0) for n in ("warp", "block")):
                return True
    return False


def fp4_to_fp(op: Any) -> str | None:
    """Two neighbours along `axis` of the result are in the thread that holds their pair."""
    return unpacked(op.operands[0].type, op.results[0].type, op.axis)


@functools.lru_cache(2048)
def unpacked(a: Any, b: Any, axis: int) -> str | None:
    """What is wrong with the layouts where elements of `a` are pairs of neighbours along `axis` of `b`."""
    if not isinstance(a.encoding, Layout) or not isinstance(b.encoding, Layout):
        return None
    first = (_map(b.shape, b.encoding) or LinearLayout.empty()).bases.get("register") or [()]
    if first[0] and first[0][axis] != 1:
        return f"registers must count along {axis} first in {b}"
    return None if _halves(b, a, axis) else f"the layout of {a} is not that of pairs of {b}"


def equivalent(a: Any, b: Any) -> bool:
    """Whether two tensors of one shape have their elements in the same places, as far as that can be said."""
    known = isinstance(a.encoding, Layout) and isinstance(b.encoding, Layout)
    return _same(b.shape, _map(a.shape, a.encoding), b.encoding) if known else a.encoding is b.encoding


def cat(op: Any) -> str | None:
    """A thread has as many elements afterwards as before."""
    a, c = op.operands[0].type, op.results[0].type
    if not isinstance(a, TensorType) or not isinstance(c, TensorType):
        return None
    if (a.encoding is None) != (c.encoding is None):
        return f"all must have a layout, or none: {a} and {c}"
    parts, whole = (_map(ty.shape, ty.encoding) if ty.encoding is not None else None for ty in (a, c))
    if parts is None or whole is None or 2 * unique_registers(parts) == unique_registers(whole):
        return None
    return f"a thread has twice {unique_registers(parts)} elements of {a}, and {unique_registers(whole)} of {c}"


def gather(op: Any) -> str | None:
    """Indices and result have one layout."""
    a, b = _encoding(op.operands[1].type), _encoding(op.results[0].type)
    return None if a is b else f"indices and result must have one layout, there are {a} and {b}"


# -- dots ---------------------------------------------------------------------------------------------------------


def dot(op: Any) -> str | None:
    """Operands have `dot_op` layouts for the result's; on Hopper shared memory will do."""
    a, b, c = (_encoding(v.type) for v in op.operands[:3])
    if a is None and b is None:
        return None
    if a is None or b is None or c is None:
        return "operands and result must all have a layout, or none"
    if not isinstance(c, Layout):
        return None
    for i, layout in enumerate((a, b)):
        wrong = _operand(i, layout, c)
        if wrong is not None:
            return wrong
    if not isinstance(a, DotOperand) or not isinstance(b, DotOperand):
        return None
    if a.kWidth != b.kWidth:
        return f"kWidth is {a.kWidth} for the first operand, {b.kWidth} for the second"
    if isinstance(c, NvidiaMma):
        elements = {v.type.element for v in op.operands[:2]}
        if elements == {f32} and int(op.inputPrecision) != 0:
            return "tensor cores take f32 as tf32 only, inputPrecision says otherwise"
    return _wmma_blocks(a, b, c)


def _operand(i: int, layout: Any, result: Any) -> str | None:
    if isinstance(result, NvidiaMma) and result.versionMajor == 3:
        if isinstance(layout, MMA_SHARED):
            return None
        good = i == 0 and isinstance(layout, DotOperand) and layout.opIdx == 0
        return None if good and isinstance(layout.parent, NvidiaMma) else f"operand {i} cannot have the layout {layout}"
    if not isinstance(layout, DotOperand):
        return f"operand {i} must have a layout ttg.dot_op, not {layout}"
    if layout.opIdx != i:
        return f"operand {i} has the layout of operand {layout.opIdx}"
    parent = layout.parent
    if isinstance(parent, AmdWmma) and isinstance(result, AmdWmma):
        parent, result = (w.with_(CGALayout=()) for w in (parent, result))
    return None if parent is result else f"operand {i} has a layout for the result {parent}, not {result}"


def _wmma_blocks(a: DotOperand, b: DotOperand, result: Any) -> str | None:
    """Blocks of a cluster divide the result's rows among the first operand's, its columns among the second's."""
    if not isinstance(result, AmdWmma):
        return None
    for i, layout in enumerate((a, b)):
        parent: Any = layout.parent
        kept = result.rank - 2 + i  # rows of the first operand, columns of the second
        k = result.rank - 1 - i
        have = tuple(tuple(0 if d == k else n for d, n in enumerate(v)) for v in parent.CGALayout)
        want = tuple(tuple(n if d == kept or d < result.rank - 2 else 0 for d, n in enumerate(v))
                     for v in result.CGALayout)  # fmt: skip
        if have != want:
            return f"operand {i} has the CTA layout {have}, the result has {want}"
    return None


# -- buffers ------------------------------------------------------------------------------------------------------


def memdesc_trans(op: Any) -> str | None:
    """The result's layout is the operand's with its dimensions in the new order."""
    a, b = op.operands[0].type, op.results[0].type
    if a.encoding.rank != len(a.shape):
        return None
    return None if _transposed(a, b, op.order) else f"the layout of {b} does not follow from that of {a}"


def memdesc_reshape(op: Any) -> str | None:
    """No byte moves."""
    a, b = op.operands[0].type, op.results[0].type
    if a.encoding.rank != len(a.shape) or b.encoding.rank != len(b.shape):
        return None
    return None if _reshaped(a, b) else f"the layout of {b} does not follow from that of {a}"


def memdesc_subslice(op: Any) -> str | None:
    """A part is cut where elements do not trade places across the cut, and inside one block's memory."""
    a, b = op.operands[0].type, op.results[0].type
    if a.encoding.rank != len(a.shape) or not isinstance(a.encoding, Layout):
        return None
    return _cut(a, b.shape)


@functools.lru_cache(2048)
def _cut(a: MemDescType, part: tuple[int, ...]) -> str | None:
    layout = _map(a.shape, a.encoding)
    if layout is None or not layout.is_surjective():
        return None
    where = layout.pseudoinvert()
    for d, (n, m) in enumerate(zip(a.shape, part)):
        while m < n:
            found = where.apply(**{f"dim{d}": m})
            if found["offset"] & (found["offset"] - 1):
                return f"dimension {d} is cut to {part[d]}, through the swizzle of {a}"
            m *= 2
    return None


def buffer_bits(ty: MemDescType) -> int | None:
    """Bits of one block's part of a buffer."""
    layout: Any = ty.encoding
    shape = ty.allocShape[len(ty.allocShape) - layout.rank :]
    linear = _map(shape, layout)
    if linear is None or "offset" not in linear.ins:
        return None
    return prod(ty.allocShape[: len(ty.allocShape) - layout.rank]) * linear.ins["offset"] * ty.element.width  # type: ignore[attr-defined]


_UNBOUNDED = 1 << 62


def bits_from(value: Value, open_values: frozenset[Value] = frozenset()) -> int | None:
    """Bits from the beginning of a buffer to the end of its allocation; None where that is not known.

    An index that is not constant counts as 0; of several buffers that a value may be, the smallest counts.
    """
    if not isinstance(value, (OpResult, BlockArgument)):
        return None  # of the interpreter, which executes operations as they are built
    ty, maker = value.type, value.defining_op
    if value in open_values:  # a loop passes the value on to itself
        return _UNBOUNDED
    if not isinstance(ty, MemDescType):
        return None
    open_values |= {value}
    branch = maker if isinstance(value, OpResult) else value.owner.parent_op
    if maker is None or isinstance(maker, RegionBranch):
        uses = branch.predecessor_operands(value) if isinstance(branch, RegionBranch) else None
        found = [bits_from(source.operands[i], open_values) for source, i in uses or ()]
        known = [bits for bits in found if bits is not None]
        return min(known) if known and len(known) == len(found) else None
    if maker.name == "ttg.local_alloc":
        return buffer_bits(ty)
    if not isinstance(maker, ViewLike) or maker.name == "ttg.memdesc_subslice" or not maker.operands:
        return None
    whole = bits_from(maker.view_source, open_values)
    if whole is None or maker.name != "ttg.memdesc_index":
        return whole
    index = constant_of(maker.operands[1])
    return whole - index.value * (buffer_bits(ty) or 0) if isinstance(index, IntegerAttr) else whole


def memdesc_reinterpret(op: Any) -> str | None:
    """The result ends where the source does, or where the allocation does that the source is a buffer of."""
    a, b = op.operands[0].type, op.results[0].type
    have, want = buffer_bits(a), buffer_bits(b)
    if have is None or want is None or want <= have:
        return None
    whole = bits_from(op.operands[0]) or have
    if want <= whole:
        return None
    rest = f", {whole} with those after it in its allocation" if whole > have else ""
    return f"{a} has {have} bits{rest}, {b} has {want}"


RULES: dict[str, Rule] = {
    "tt.splat": same_layout,
    "tt.scan": same_layout,
    "tt.map_elementwise": same_layout,
    "tt.broadcast": broadcast,
    "tt.trans": trans,
    "tt.reshape": reshape,
    "tt.expand_dims": expand_dims,
    "tt.reduce": reduce,
    "tt.join": join,
    "tt.split": split,
    "tt.cat": cat,
    "tt.gather": gather,
    "tt.dot": dot,
    "ttg.convert_layout": convert_layout,
    "ttg.fp4_to_fp": fp4_to_fp,
    "ttg.memdesc_subslice": memdesc_subslice,
    "ttg.memdesc_trans": memdesc_trans,
    "ttg.memdesc_reshape": memdesc_reshape,
    "ttg.memdesc_reinterpret": memdesc_reinterpret,
}


def rule_of(cls: type[Operation]) -> Rule | None:
    """The rule of an op class: its own, or that of all elementwise ops and accesses by pointers; None without one."""
    own = RULES.get(cls.name)
    if own is None and (cls.traits & ELEMENTWISE or issubclass(cls, PointerAccess)):
        return same_layout
    return own
