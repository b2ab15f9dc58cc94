"""What the operations of the tt dialect require; each function is the `verify_op` of a definition.

Layouts of tensors are not compared here: shapes and elements are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..ir import (
    OVERSIZED_TENSORS,
    RETURN_LIKE,
    WRITE,
    FunctionType,
    IntegerType,
    Operation,
    Region,
    ShapedType,
    TensorType,
    Type,
    Value,
    element_type,
    f32,
    i1,
    i32,
    i64,
    memory_effects,
    shape_of,
    with_element,
)
from ..support.limits import MAX_TENSOR_ELEMENTS
from .constraints import GOOD, all_floats, bit_width, is_float, is_integer, listed
from .tt_types import CacheModifier, CachePolicy, PointerType

POINTER_BITS = 64


def _is_pointer(ty: Type) -> bool:
    return isinstance(element_type(ty), PointerType)


def _block(ty: Type) -> TensorType | None:
    """The tile that a block pointer points to."""
    return ty.pointee if isinstance(ty, PointerType) and isinstance(ty.pointee, TensorType) else None


def alike(a: Type, b: Type) -> bool:
    """One shape and one element type."""
    return a is b or (shape_of(a) == shape_of(b) and element_type(a) is element_type(b))


def _tensor(shape: Sequence[int], element: Type) -> str:
    return str(TensorType(tuple(shape), element)) if shape else str(element)


# -- functions ----------------------------------------------------------------------------------------------------


def func(op: Any) -> Sequence[str]:
    """The entry block has the arguments of the type; attribute lists have one entry each."""
    ty = op.function_type
    if not isinstance(ty, FunctionType):
        return (f"function_type is {ty}, no function type",)
    out = []
    if not op.is_declaration and tuple(a.type for a in op.entry.args) != ty.inputs:
        out.append(f"the entry block has the arguments {listed(op.entry.args)}, the type has {listed(ty.inputs)}")
    for name, types in (("arg_attrs", ty.inputs), ("res_attrs", ty.results)):
        entries = getattr(op.attributes.get(name), "elements", None)
        if entries is not None and len(entries) != len(types):
            out.append(f"{name} has {len(entries)} entries for {len(types)} types")
        bare = [key for entry in entries or () for key, _ in entry.entries if "." not in key]
        if bare:
            out.append(f"the attribute '{bare[0]}' in {name} belongs to no dialect: its name must begin with one")
    return out


def return_op(op: Operation) -> Sequence[str]:
    """The function around it returns these types."""
    parent: Any = op.parent_op
    if parent is None or parent.name != "tt.func":
        return ("is in no tt.func",) if parent is not None else GOOD
    if tuple(v.type for v in op.operands) != parent.function_type.results:
        return (f"returns {listed(op.operands)}, the function says {listed(parent.function_type.results)}",)
    return GOOD


def call(op: Any) -> Sequence[str]:
    """Operands and results have the types of the function called, where it is in reach."""
    table: Any = op.parent_op
    while table is not None and table.name != "builtin.module":
        table = table.parent_op
    target = next((f for f in table.body if f.name == "tt.func" and f.sym_name == op.callee), None) if table else None
    if target is None:
        return GOOD
    ty = target.function_type
    if tuple(v.type for v in op.operands) != ty.inputs or tuple(v.type for v in op.results) != ty.results:
        return (f"@{op.callee} has the type {ty}, it is called as {listed(op.operands)} -> {listed(op.results)}",)
    return GOOD


# -- casts and pointers -------------------------------------------------------------------------------------------


def result_i32(op: Operation) -> Sequence[str]:
    """The result is i32."""
    return GOOD if op.results[0].type is i32 else (f"the result must be i32, not {op.results[0].type}",)


def int_to_ptr(op: Operation) -> Sequence[str]:
    """From i64 to a pointer."""
    a, b = op.operands[0].type, op.results[0].type
    return GOOD if element_type(a) is i64 and _is_pointer(b) else (f"converts i64 to a pointer, not {a} to {b}",)


def ptr_to_int(op: Operation) -> Sequence[str]:
    """From a pointer to i64."""
    a, b = op.operands[0].type, op.results[0].type
    return GOOD if _is_pointer(a) and element_type(b) is i64 else (f"converts a pointer to i64, not {a} to {b}",)


def bitcast(op: Operation) -> Sequence[str]:
    """As many bits on both sides."""
    a, b = op.operands[0].type, op.results[0].type
    bits = [POINTER_BITS if _is_pointer(ty) else bit_width(ty) for ty in (a, b)]
    return GOOD if bits[0] == bits[1] else (f"{a} has {bits[0]} bits, {b} has {bits[1]}",)


def fp_to_fp(op: Any) -> Sequence[str]:
    """Between floats; a rounding is said where bits are lost."""
    a, b = op.operands[0].type, op.results[0].type
    if not is_float[a] or not is_float[b]:
        return (f"converts floats, not {a} to {b}",)
    if op.rounding is None and bit_width(b) < bit_width(a):
        return ("a conversion to fewer bits needs a rounding mode",)
    return GOOD


def inline_asm(op: Any) -> Sequence[str]:
    """Whole groups of `packed_element` elements."""
    if op.packed_element < 1:
        return (f"packed_element is {op.packed_element}, it must be 1 or more",)
    odd = next((v for v in op.args if getattr(v.type, "numel", 0) % op.packed_element), None)
    if odd is not None:
        return (f"the elements of {odd.type} do not make whole groups of {op.packed_element}",)
    return GOOD


def floats_32(op: Operation) -> Sequence[str]:
    """All are f32, or tensors of it, of one type."""
    wrong = next((v.type for v in (*op.operands, *op.results) if element_type(v.type) is not f32), None)
    return all_floats(op) if wrong is None else (f"works on f32, not {wrong}",)


def addptr(op: Operation) -> Sequence[str]:
    """A pointer and an integer; the result has the pointer's type."""
    ptr, offset = op.operands[0].type, op.operands[1].type
    if not _is_pointer(ptr) or not is_integer[offset]:
        return (f"adds an integer to a pointer, not {offset} to {ptr}",)
    return GOOD if op.results[0].type is ptr else (f"the result must be {ptr}, not {op.results[0].type}",)


# -- shapes -------------------------------------------------------------------------------------------------------


def make_range(op: Any) -> Sequence[str]:
    """start < end, and a result of that many i32."""
    ty = op.results[0].type
    if op.start >= op.end:
        return (f"start {op.start} is not below end {op.end}",)
    if not alike(ty, TensorType((op.end - op.start,), i32)):
        return (f"the result must be {_tensor([op.end - op.start], i32)}, not {ty}",)
    return GOOD


def splat(op: Operation) -> Sequence[str]:
    """The scalar's type is the result's element type; it may be a tensor without dimensions."""
    a, b = op.operands[0].type, op.results[0].type
    scalar = a.element if isinstance(a, TensorType) and not a.shape else a
    return GOOD if isinstance(b, ShapedType) and b.element is scalar else (f"repeats {a}, the result is {b}",)


def unsplat(op: Operation) -> Sequence[str]:
    """One element, of the result's type."""
    a, b = op.operands[0].type, op.results[0].type
    good = isinstance(a, ShapedType) and a.numel == 1 and a.element is b
    return GOOD if good else (f"takes the only element of a tensor, not {b} of {a}",)


def expand_dims(op: Any) -> Sequence[str]:
    """A 1 at `axis`."""
    shape, ty = shape_of(op.operands[0].type), op.results[0].type
    if not 0 <= op.axis <= len(shape):
        return (f"axis {op.axis} is out of range for {op.operands[0].type}",)
    want = (*shape[: op.axis], 1, *shape[op.axis :])
    if shape_of(ty) != want or element_type(ty) is not element_type(op.operands[0].type):
        return (f"the result must be {_tensor(want, element_type(op.operands[0].type))}, not {ty}",)
    return GOOD


def broadcast(op: Operation) -> Sequence[str]:
    """Each dimension is kept, or is 1 and grows."""
    a, b = op.operands[0].type, op.results[0].type
    sa, sb = shape_of(a), shape_of(b)
    good = len(sa) == len(sb) and all(m in (n, 1) for m, n in zip(sa, sb)) and element_type(a) is element_type(b)
    return GOOD if good else (f"{a} cannot be broadcast to {b}",)


def reshape(op: Operation) -> Sequence[str]:
    """As many elements of one type."""
    a, b = op.operands[0].type, op.results[0].type
    good = isinstance(a, ShapedType) and isinstance(b, ShapedType) and a.numel == b.numel and a.element is b.element
    return GOOD if good else (f"{a} and {b} do not hold the same elements",)


def cat(op: Operation) -> Sequence[str]:
    """The sizes of dimension 0 add up, all else is equal."""
    a, b, c = (*(v.type for v in op.operands), op.results[0].type)
    sa, sb = shape_of(a), shape_of(b)
    good = bool(sa and sb) and sa[1:] == sb[1:] and shape_of(c) == (sa[0] + sb[0], *sa[1:])
    good = good and element_type(a) is element_type(b) is element_type(c)
    return GOOD if good else (f"{a} and {b} do not make {c}",)


def join(op: Operation) -> Sequence[str]:
    """Two tensors of one type; a dimension of 2 at the end."""
    a, b, c = (*(v.type for v in op.operands), op.results[0].type)
    good = (
        isinstance(a, TensorType)
        and alike(a, b)
        and shape_of(c) == (*shape_of(a), 2)
        and element_type(c) is element_type(a)
    )
    return GOOD if good else (f"{a} and {b} do not join to {c}",)


def split(op: Operation) -> Sequence[str]:
    """The last dimension is 2; the results are alike without it."""
    ty = op.operands[0].type
    shape = shape_of(ty)
    if not shape or shape[-1] != 2:
        return (f"the last dimension must be 2, the operand is {ty}",)
    for r in op.results:
        if shape_of(r.type) != shape[:-1] or element_type(r.type) is not element_type(ty):
            return (f"the results must be {_tensor(shape[:-1], element_type(ty))}, not {r.type}",)
    return GOOD


def trans(op: Any) -> Sequence[str]:
    """`order` is a permutation of the dimensions, and the result has them in that order."""
    a, b, order = op.operands[0].type, op.results[0].type, op.order
    shape = shape_of(a)
    if sorted(order) != list(range(len(shape))):
        return (f"order {list(order)} is no permutation of the {len(shape)} dimensions",)
    want = tuple(shape[k] for k in order)
    good = shape_of(b) == want and element_type(a) is element_type(b)
    return GOOD if good else (f"the result must be {_tensor(want, element_type(a))}, not {b}",)


def gather(op: Any) -> Sequence[str]:
    """Indices have the source's shape but along `axis`; the result has theirs."""
    src, indices, result = op.src.type, op.indices.type, op.results[0].type
    a, b = shape_of(src), shape_of(indices)
    if not 0 <= op.axis < len(a):
        return (f"axis {op.axis} is out of range for {src}",)
    if len(a) != len(b) or any(m != n for k, (m, n) in enumerate(zip(a, b)) if k != op.axis):
        return (f"{indices} must have the shape of {src} but along axis {op.axis}",)
    if not is_integer[indices]:
        return (f"indices must be integers, not {indices}",)
    good = shape_of(result) == b and element_type(result) is element_type(src)
    return GOOD if good else (f"the result must be {_tensor(b, element_type(src))}, not {result}",)


# -- memory -------------------------------------------------------------------------------------------------------


def pointed(ty: Type) -> Type | None:
    """What a load through `ty` gives, layouts aside; None if it is no pointer."""
    if _block(ty) is not None:
        return _block(ty)
    element = element_type(ty)
    if not isinstance(element, PointerType):
        return None
    return TensorType(ty.shape, element.pointee) if isinstance(ty, TensorType) else element.pointee


@functools.lru_cache(4096)
def _access(ptr: Type, value: Type, mask: Type | None, checked: tuple[int, ...]) -> list[str]:
    """What loads, stores and atomics share: pointer, value and mask fit together."""
    target = pointed(ptr)
    if target is None:
        return [f"needs a pointer, not {ptr}"]
    if not alike(value, target):
        return [f"{ptr} points to {target}, not {value}"]
    out = []
    block = _block(ptr)
    if mask is not None and (block is not None or element_type(mask) is not i1 or shape_of(mask) != shape_of(ptr)):
        out.append(f"a mask of type {mask} does not fit to {ptr}")
    if checked:
        if block is None:
            out.append("boundaryCheck needs a block pointer")
        elif len(set(checked)) != len(checked) or not all(0 <= d < block.rank for d in checked):
            out.append(f"boundaryCheck {list(checked)} does not name dimensions of {block}")
    return out


_LOADS = (CacheModifier.none, CacheModifier.ca, CacheModifier.cg, CacheModifier.cs, CacheModifier.cv)
_STORES = (CacheModifier.none, CacheModifier.wb, CacheModifier.cg, CacheModifier.cs, CacheModifier.wt)


def _caches(op: Any, known: tuple[CacheModifier, ...], what: str) -> list[str]:
    """A cache policy of this dialect says how this kind of access may be cached; others are up to their target."""
    policy = op.cachePolicy
    if policy is None or policy.__class__ is not CachePolicy or policy.cache_modifier in known:
        return []
    return [f"a {what} is not cached as {policy.cache_modifier.name}, but as {', '.join(m.name for m in known)}"]


def load(op: Any) -> Sequence[str]:
    """Pointer, mask, other and result fit together; `other` needs a mask."""
    ty, operands = op.results[0].type, op.operands
    mask = operands[1].type if op.attributes["operandSegmentSizes"].values[1] else None
    out = [*_access(operands[0].type, ty, mask, op.boundaryCheck), *_caches(op, _LOADS, "load")]
    if len(operands) > 1:
        if mask is None:
            return [*out, "'other' needs a mask"]
        if len(operands) > 2 and not alike(operands[2].type, ty):
            return [*out, f"'other' must be {ty}, not {operands[2].type}"]
    return out


def store(op: Any) -> Sequence[str]:
    """Pointer, value and mask fit together."""
    operands = op.operands
    out = _access(operands[0].type, operands[1].type, _mask(op), op.boundaryCheck)
    return [*out, *_caches(op, _STORES, "store")]


def _mask(op: Any) -> Type | None:
    return op.operands[2].type if len(op.operands) > 2 else None


def atomic_rmw(op: Any) -> Sequence[str]:
    """Pointer, value, mask and result fit together."""
    out = list(_access(op.ptr.type, op.val.type, _mask(op), ()))
    if not out and op.results[0].type is not op.val.type:
        out.append(f"the result must be {op.val.type}, not {op.results[0].type}")
    return out


def atomic_load(op: Any) -> Sequence[str]:
    """Pointer, mask and result fit together; the order is relaxed or acquire."""
    mask = op.operands[1].type if len(op.operands) > 1 else None
    return [*_access(op.ptr.type, op.results[0].type, mask, ()), *_ordered(op, "a load", "relaxed", "acquire")]


def atomic_store(op: Any) -> Sequence[str]:
    """Pointer, value and mask fit together; the order is relaxed or release."""
    return [*_access(op.ptr.type, op.value.type, _mask(op), ()), *_ordered(op, "a store", "relaxed", "release")]


def atomic_poll(op: Any) -> Sequence[str]:
    """Pointer and expected value fit together; one i1 an element; the order is relaxed or acquire."""
    out = list(_access(op.ptr.type, op.expected.type, None, ()))
    if not alike(op.results[0].type, with_element(op.expected.type, i1)):
        out.append(f"the result must be {with_element(op.expected.type, i1)}, not {op.results[0].type}")
    if op.timeout is not None and op.timeout.type is not i64:
        out.append(f"the timeout must be i64, not {op.timeout.type}")
    return [*out, *_ordered(op, "polling", "relaxed", "acquire")]


def _ordered(op: Any, what: str, *orders: str) -> list[str]:
    return [] if op.sem.name in orders else [f"{what} is {' or '.join(orders)}, not {op.sem.name}"]


def atomic_cas(op: Any) -> Sequence[str]:
    """Pointer, values and result fit together."""
    out = list(_access(op.ptr.type, op.val.type, None, ()))
    if not out and not (op.cmp.type is op.val.type is op.results[0].type):
        out.append(f"cmp, val and result must have one type: {listed([op.cmp, op.val, op.results[0]])}")
    return out


def all_of(values: Sequence[Value], types: tuple[Type, ...], what: str) -> list[str]:
    wrong = next((v for v in values if v.type not in types), None)
    return [] if wrong is None else [f"{what} must be {' or '.join(map(str, types))}, not {wrong.type}"]


def make_tensor_ptr(op: Any) -> Sequence[str]:
    """As many sizes, strides, offsets and numbers in `order` as the tile has dimensions."""
    block = _block(op.results[0].type)
    base = op.base.type
    if block is None or not isinstance(base, PointerType) or base.pointee is not block.element:
        return (f"makes a pointer to a tile from a pointer to its elements, not {op.results[0].type} from {base}",)
    out = all_of([*op.shape, *op.strides], (i64,), "shape and strides") + all_of(op.offsets, (i32,), "offsets")
    counts = [len(op.shape), len(op.strides), len(op.offsets)]
    if counts != [block.rank] * 3 or sorted(op.order) != list(range(block.rank)):
        out.append(f"{counts} sizes, strides, offsets and order {list(op.order)} for {block.rank} dimensions")
    return out


def advance(op: Any) -> Sequence[str]:
    """One offset a dimension; the type stays."""
    block = _block(op.ptr.type)
    if block is None or op.results[0].type is not op.ptr.type:
        return (f"moves a block pointer, not {op.ptr.type} to {op.results[0].type}",)
    if len(op.offsets) != block.rank:
        return (f"{len(op.offsets)} offsets for {block.rank} dimensions",)
    return all_of(op.offsets, (i32,), "offsets")


# -- tiles as a whole ---------------------------------------------------------------------------------------------


def _combine(op: Any, region: Region, sources: Sequence[Value]) -> list[str]:
    """The region of a reduction or scan: (a…, b…) to as many values, of the sources' element types."""
    elements = [element_type(v.type) for v in sources]
    if not region.blocks:
        return ["the combine region is empty"]
    out = []
    args = [a.type for a in region.entry.args]
    if args != elements * 2:
        out.append(f"the combine region takes {listed(args)}, it must take {listed(elements * 2)}")
    last = region.entry.last
    if last is not None and last.traits & RETURN_LIKE and [v.type for v in last.operands] != elements:
        out.append(f"the combine region returns {listed(last.operands)}, it must return {listed(elements)}")
    return out


def _sources(op: Any) -> list[str]:
    if not op.srcs:
        return ["needs an operand"]
    shape = shape_of(op.srcs[0].type)
    if any(shape_of(v.type) != shape for v in op.srcs):
        return [f"the operands have different shapes: {listed(op.srcs)}"]
    if not 0 <= op.axis < len(shape):
        return [f"axis {op.axis} is out of range for {op.srcs[0].type}"]
    if len(op.results) != len(op.srcs):
        return [f"{len(op.results)} results for {len(op.srcs)} operands"]
    return []


def reduce(op: Any) -> Sequence[str]:
    """Results are the operands without `axis`; the region combines their elements."""
    out = _sources(op)
    if out:
        return out
    for v, r in zip(op.srcs, op.results):
        shape = shape_of(v.type)
        want = (*shape[: op.axis], *shape[op.axis + 1 :])
        if shape_of(r.type) != want or element_type(r.type) is not element_type(v.type):
            out.append(f"the result of reducing {v.type} must be {_tensor(want, element_type(v.type))}, not {r.type}")
    return out + _combine(op, op.regions[0], op.srcs)


def scan(op: Any) -> Sequence[str]:
    """Results are like the operands; the region combines their elements."""
    out = _sources(op)
    if out:
        return out
    for v, r in zip(op.srcs, op.results):
        if not alike(v.type, r.type):
            out.append(f"the result of scanning {v.type} must be the same, not {r.type}")
    return out + _combine(op, op.regions[0], op.srcs)


def map_elementwise(op: Any) -> Sequence[str]:
    """`pack` arguments a source and `pack` values a result, of their element types; nothing is written inside."""
    region, pack = op.regions[0], op.pack
    if not op.srcs or pack < 1 or pack & (pack - 1):
        return (f"needs an operand and a power of two as pack, not {len(op.srcs)} and {pack}",)
    if not region.blocks:
        return ("the region is empty",)
    shape = shape_of(op.srcs[0].type)
    if any(shape_of(v.type) != shape for v in (*op.srcs, *op.results)):
        return (f"operands and results have different shapes: {listed([*op.srcs, *op.results])}",)
    takes, gives = ([element_type(v.type) for v in vs for _ in range(pack)] for vs in (op.srcs, op.results))
    out = []
    if [a.type for a in region.entry.args] != takes:
        out.append(f"the region takes {listed(region.entry.args)}, it must take {listed(takes)}")
    for inner in op.walk():
        if inner is op:
            continue
        if inner.name == "tt.map_elementwise.return" and [v.type for v in inner.operands] != gives:
            out.append(f"the region returns {listed(inner.operands)}, it must return {listed(gives)}")
        if not inner.regions and memory_effects(inner) & WRITE:
            out.append(f"{inner.name} writes to memory, inside of a region applied element by element")
    return out


def histogram(op: Any) -> Sequence[str]:
    """From integers in one dimension to counts in one dimension; the mask is like the source."""
    a, b = op.src.type, op.results[0].type
    if (
        len(shape_of(a)) != 1
        or len(shape_of(b)) != 1
        or not isinstance(element_type(a), IntegerType)
        or not is_integer[b]
    ):
        return (f"counts integers in one dimension, not {a} to {b}",)
    if op.mask is not None and not alike(op.mask.type, TensorType(shape_of(a), i1)):
        return (f"a mask of type {op.mask.type} does not fit to {a}",)
    return GOOD


def print_op(op: Any) -> Sequence[str]:
    """An entry of `isSigned` for each argument."""
    if len(op.isSigned) < len(op.args):
        return (f"{len(op.isSigned)} entries of isSigned for {len(op.args)} arguments",)
    return GOOD


def assert_op(op: Any) -> Sequence[str]:
    """The condition is i1, or a tensor of it."""
    ty = op.condition.type
    return GOOD if element_type(ty) is i1 else (f"the condition must be i1, not {ty}",)


def tensor_sizes(root: Operation) -> Iterator[tuple[Operation, str]]:
    """Operations whose results have too many elements, and the message."""
    if not OVERSIZED_TENSORS:  # no such type has been made, so that there is nothing to look for
        return
    for op in root.walk():
        ty = next((result.type for result in op.results if result.type in OVERSIZED_TENSORS), None)
        if ty is not None:
            yield op, f"a result has {math.prod(shape_of(ty)):,} elements, more than {MAX_TENSOR_ELEMENTS:,}"
