"""Loads and stores through pointers and block pointers; block pointers themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..constexpr import unwrap
from ..dtypes import block_type, int1, int8, int32, int64, pointer_type
from ..tensor import tensor, value_text
from ..tuples import tuple as tl_tuple
from .errors import OperandError, type_error, value_error

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = [
    "advance",
    "boolean_mask",
    "cache_policy",
    "check_writable",
    "check_one_address",
    "choice",
    "index_values",
    "load",
    "make_block_ptr",
    "store",
]

CACHE_LOAD = {".ca": tt.CacheModifier.ca, ".cg": tt.CacheModifier.cg, ".cs": tt.CacheModifier.cs}
CACHE_LOAD[".cv"] = tt.CacheModifier.cv
CACHE_STORE = {".wb": tt.CacheModifier.wb, ".cg": tt.CacheModifier.cg, ".cs": tt.CacheModifier.cs}
CACHE_STORE[".wt"] = tt.CacheModifier.wt
EVICT = {
    "evict_first": tt.EvictionPolicy.evict_first,
    "evict_last": tt.EvictionPolicy.evict_last,
    "evict_normal": None,
}
PADDING = {"zero": tt.PaddingOption.pad_zero, "nan": tt.PaddingOption.pad_nan}


def choice(table: dict[str, Any], value: Any, what: str) -> Any:
    """The entry `value` of `table`; None for an empty string."""
    value = unwrap(value)
    if not value:
        return None
    if value not in table:
        raise value_error(f"{what} {value!r} not supported", f"one of {', '.join(map(repr, table))}")
    return table[value]


def cache_policy(modifiers: dict[str, Any], modifier: Any, eviction: Any) -> tt.CachePolicy | None:
    """The attribute of both hints, None without any."""
    return tt.CachePolicy.of(choice(modifiers, modifier, "Cache modifier"), choice(EVICT, eviction, "Eviction policy"))


def _is_block_pointer(ptr: tensor) -> bool:
    return ptr.type.is_ptr() and ptr.type.element_ty.is_block()


def load(
    sem: SemanticContext,
    ptr: tensor,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: bool = False,
) -> tensor:
    """The elements at `ptr`; `other` (or undefined) where `mask` is false."""
    attributes: dict[str, Any] = {
        "cachePolicy": cache_policy(CACHE_LOAD, cache_modifier, eviction_policy),
        "isVolatile": True if volatile else None,
    }
    padding = choice(PADDING, padding_option, "Padding option")
    if ptr.__class__ is not tensor:
        raise _no_pointer("load", ptr)
    if _is_block_pointer(ptr):
        return _load_block(sem, ptr, mask, other, boundary_check, padding, attributes)
    if not ptr.dtype.is_ptr():
        raise _no_address("load", ptr)
    if mask is None and other is not None:
        raise OperandError(
            "ValueError: `other` cannot be provided without `mask`",
            {"other": ""},
            "it is loaded where a mask is false",
            "other",
        )
    if padding or _has_checks(boundary_check):
        raise value_error(
            "`padding_option` or `boundary_check` argument is not supported for loading a tensor of pointers or"
            " loading a scalar, because the compiler does not know the boundary",
            "use a mask, or block pointers (defined by `make_block_ptr`)",
        )
    return _load_pointers(sem, ptr, mask, other, attributes)


def _no_address(name: str, ptr: tensor) -> OperandError:
    """The error of an access at a number."""
    if not ptr.dtype.is_int():
        hint = "a parameter that is passed a tensor is a pointer; add offsets: pointer + tl.arange(0, N)"
    elif ptr.dtype.int_bitwidth == 64:
        hint = (
            "a 64-bit address becomes a pointer by {pointer}.to(tl.pointer_type(dtype)); offsets are added to a pointer"
        )
    else:
        hint = "add offsets to a parameter that is passed a tensor: pointer + {pointer}"
    operands = {"pointer": f"has type {ptr.type}"}
    return OperandError(f"ValueError: Unsupported ptr type {ptr.type} in `tl.{name}`", operands, hint, "pointer")


def _no_pointer(name: str, ptr: Any) -> Exception:
    """The error of an access through a value that is no tensor."""
    hint = None
    if isinstance(ptr, tl_tuple):
        hint = "a comma after a value makes it a tuple" if len(ptr) == 1 else "take one of its elements"
    elif hasattr(ptr, "block_type"):
        hint = f"call the descriptor's method: desc.{name}(offsets{', value' * (name == 'store')})"
    elif hasattr(ptr, "data_ptr"):
        hint = "the parameter of a tensor has no annotation tl.constexpr"
    return type_error(f"tl.{name} takes a pointer, got {type(ptr).__name__}", hint)


def check_one_address(**operands: tensor | None) -> None:
    """Raise ValueError for a block of values, or a mask, at a pointer that is one address."""
    for role, value in operands.items():
        if value is None or not value.type.is_block():
            continue
        shape = list(value.type.shape)
        offsets = f"`{{pointer}} + tl.arange(0, {shape[0]})`" if len(shape) == 1 else "one for each element"
        raise OperandError(
            f"ValueError: {role.capitalize()} argument cannot be block type if pointer argument is not a block",
            {"pointer": "is one address", role: f"has shape {shape}"},
            f"the pointer needs offsets: {offsets}",
            "pointer",
        )


def _load_pointers(sem: SemanticContext, ptr: tensor, mask: Any, other: Any, attributes: dict[str, Any]) -> tensor:
    mask = None if mask is None else boolean_mask(sem, mask)
    other = None if other is None else sem.to_tensor(other)
    if not ptr.type.is_block():
        check_one_address(mask=mask, other=other)
    else:
        if mask is not None:
            ptr, mask = sem.broadcast_value(ptr, mask, ("pointer", "mask"))
        if other is not None:
            ptr, other = sem.broadcast_value(ptr, other, ("pointer", "other"))
            if mask is not None:
                ptr, mask = sem.broadcast_value(ptr, mask)
    ptr, element, is_bool = _storage(sem, ptr)
    if other is not None:
        other = sem.cast(other, element)
    result = ptr.type.with_element_ty(element)
    op = tt.Load(
        ptr.handle,
        None if mask is None else mask.handle,
        None if other is None else other.handle,
        **attributes,
        result=result.to_ir(),
    )
    value = tensor(sem.builder.insert(op).results[0], result)
    return sem.cast(value, int1) if is_bool else value


def _storage(sem: SemanticContext, ptr: tensor) -> tuple[tensor, Any, bool]:
    """(pointer, element type, is bool): int1 is stored as a byte."""
    kind = ptr.dtype
    element = kind.element_ty
    if element is not int1:
        return ptr, element, False
    assert isinstance(kind, pointer_type)
    return sem.cast(ptr, pointer_type(int8, kind.address_space, kind.const)), int8, True


def check_writable(ptr: tensor) -> None:
    """Raise ValueError for a pointer that is annotated `tl.const`."""
    if ptr.dtype.is_const():
        raise value_error("Cannot store to a constant pointer", "remove tl.const from the parameter's annotation")


def boolean_mask(sem: SemanticContext, mask: Any) -> tensor:
    """A mask as a tensor. Raises ValueError unless its elements are booleans."""
    mask = sem.to_tensor(mask)
    if not mask.dtype.is_bool():
        raise OperandError(
            f"ValueError: Mask must have boolean scalar type, got {mask.dtype}",
            {"mask": f"has type {mask.type}"},
            "compare it: `{mask} != 0`",
            "mask",
        )
    return mask


def store(
    sem: SemanticContext,
    ptr: tensor,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Store `value`, cast to the element type of `ptr`, where `mask` holds."""
    attributes: dict[str, Any] = {
        "cachePolicy": cache_policy(CACHE_STORE, cache_modifier, eviction_policy),
    }
    if ptr.__class__ is not tensor:
        raise _no_pointer("store", ptr)
    value = sem.to_tensor(value)
    if _is_block_pointer(ptr):
        _store_block(sem, ptr, value, mask, boundary_check, attributes)
        return
    if not ptr.dtype.is_ptr():
        raise _no_address("store", ptr)
    check_writable(ptr)
    if _has_checks(boundary_check):
        raise value_error(
            "`boundary_check` argument is not supported for storing a tensor of pointers or storing a scalar, because"
            " the compiler does not know the boundary",
            "use a mask, or block pointers (defined by `make_block_ptr`)",
        )
    _store_pointers(sem, ptr, value, None if mask is None else boolean_mask(sem, mask), attributes)


def _store_pointers(sem: SemanticContext, ptr: tensor, value: tensor, mask: Any, attributes: dict[str, Any]) -> None:
    if not ptr.type.is_block():
        check_one_address(value=value, mask=mask)
    else:
        before = ptr.type.shape
        if mask is None:
            ptr, value = sem.broadcast_value(ptr, value, ("pointer", "value"))
        else:
            ptr, value, mask = sem.broadcast_tensors(ptr, value, mask, roles=("pointer", "value", "mask"))
        if ptr.type.shape != before:
            raise OperandError(
                f"ValueError: Expected pointer argument to have shape {list(ptr.type.shape)} but got {list(before)}",
                {"pointer": f"has shape {list(before)}"},
                at="pointer",
            )
    ptr, element, _ = _storage(sem, ptr)
    if value.dtype.is_ptr() and not element.is_ptr() and element.primitive_bitwidth != 64:
        raise OperandError(
            f"TypeError: cannot cast {value.type} to {ptr.type.with_element_ty(element)}",
            {"value": "is a pointer"},
            "store what is there: `tl.load({value})`",
            "value",
        )
    value = sem.cast(value, element)
    sem.builder.insert(tt.Store(ptr.handle, value.handle, None if mask is None else mask.handle, **attributes))


# -- block pointers -----------------------------------------------------------------------------------------------


def _has_checks(boundary_check: Any) -> bool:
    boundary_check = unwrap(boundary_check)
    return boundary_check is not None and not (hasattr(boundary_check, "__len__") and len(boundary_check) == 0)


def _boundary(boundary_check: Any, rank: int) -> list[int] | None:
    boundary_check = unwrap(boundary_check)
    if not _has_checks(boundary_check):
        return None
    dims = [unwrap(d) for d in (boundary_check if hasattr(boundary_check, "__iter__") else [boundary_check])]
    for d in dims:
        if not isinstance(d, int) or not 0 <= d < rank:
            raise value_error(f"boundary_check dimension {d} is out of range for a block of rank {rank}")
    if len(set(dims)) != len(dims):
        raise value_error(f"Duplicate dimension in `boundary_check`: {dims}")
    return sorted(dims)


def _load_block(
    sem: SemanticContext,
    ptr: tensor,
    mask: Any,
    other: Any,
    boundary_check: Any,
    padding: Any,
    attributes: dict[str, Any],
) -> tensor:
    if mask is not None or other is not None:
        raise value_error(
            "`mask` and `other` arguments cannot be specified for loading block pointers",
            "use boundary_check and padding_option",
        )
    block = ptr.type.element_ty
    if block.element_ty.is_int() and padding == tt.PaddingOption.pad_nan:
        raise value_error("Padding option `nan` is not supported for integer block pointers")
    dims = _boundary(boundary_check, len(block.shape))
    op = tt.Load(ptr.handle, boundaryCheck=dims, padding=padding, **attributes, result=block.ir)
    return tensor(sem.builder.insert(op).results[0], block)


def _store_block(
    sem: SemanticContext, ptr: tensor, value: tensor, mask: Any, boundary_check: Any, attributes: dict[str, Any]
) -> None:
    if mask is not None:
        raise value_error(
            "`mask` argument cannot be specified for storing through block pointers", "use boundary_check"
        )
    block = ptr.type.element_ty
    if not value.type.is_block():
        value = sem.broadcast_to(value, block.shape)
    if value.type.shape != block.shape:
        raise value_error(f"Block shape({list(block.shape)}) and value shape({list(value.type.shape)}) mismatch")
    value = sem.cast(value, block.element_ty)
    dims = _boundary(boundary_check, len(block.shape))
    sem.builder.insert(tt.Store(ptr.handle, value.handle, boundaryCheck=dims, **attributes))


def index_values(sem: SemanticContext, values: Any, what: str, ty: Any = int32) -> list[tensor]:
    """Scalars of the integer type `ty` from a sequence of numbers and integer scalars."""
    if not isinstance(values, (tl_tuple, list, tuple)):
        values = [values]
    out = []
    for v in values:
        v = unwrap(v)
        if v.__class__ is tensor:
            if v.type.is_block() or not v.dtype.is_int():
                raise type_error(f"Expected an integer scalar in {what}, got {v.type}")
            if v.dtype.int_bitwidth > ty.int_bitwidth:
                raise type_error(f"{what} take {ty.int_bitwidth}-bit integers, got {v.dtype}", f"cast: .to(tl.{ty})")
            out.append(sem.cast(v, ty))
            continue
        if not isinstance(v, int) or isinstance(v, bool):
            raise type_error(f"Expected an integer in {what}, got {value_text(v)}")
        if not ty.get_int_min_value() <= v <= ty.get_int_max_value():
            raise value_error(f"{what} take {ty.int_bitwidth}-bit integers, got {v}")
        out.append(sem.scalar_constant(v, ty))
    return out


def make_block_ptr(
    sem: SemanticContext, base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Sequence[int], order: Any
) -> tensor:
    """A pointer to the block at `offsets` of the strided tensor at `base`."""
    if base.__class__ is not tensor or not base.type.is_ptr() or base.type.element_ty.is_block():
        kind = base.type if base.__class__ is tensor else type(base).__name__
        raise value_error(f"Expected `base` to be a pointer type (but not a block pointer type or others), got {kind}")
    if base.type.element_ty is int1:
        base = sem.cast(base, pointer_type(int8, base.type.address_space))
    sizes = index_values(sem, shape, "`shape` of a block pointer", int64)
    steps = index_values(sem, strides, "`strides` of a block pointer", int64)
    starts = index_values(sem, offsets, "`offsets` of a block pointer", int32)
    order = [unwrap(d) for d in (order if hasattr(order, "__iter__") else [order])]
    if sorted(order) != list(range(len(order))):
        raise value_error(f"Expected a permutation of (0, 1, ..., len(order)-1) in order, got {order}")
    lengths = {len(sizes), len(steps), len(starts), len(block_shape), len(order)}
    if len(lengths) != 1:
        raise value_error("Expected shape/strides/offsets/block_shape/order to have the same length")
    ty = pointer_type(block_type(base.type.element_ty, block_shape), base.type.address_space)
    handles = [[v.handle for v in part] for part in (sizes, steps, starts)]
    return tensor(sem.builder.add(tt.MakeTensorPtr(base.handle, *handles, order, result=ty.ir)), ty)


def advance(sem: SemanticContext, ptr: tensor, offsets: Any) -> tensor:
    """The block pointer moved by `offsets` elements in each dimension."""
    if ptr.__class__ is not tensor or not _is_block_pointer(ptr):
        kind = ptr.type if ptr.__class__ is tensor else type(ptr).__name__
        raise type_error(f"tl.advance takes a block pointer, got {kind}", "plain pointers move by +")
    values = index_values(sem, offsets, "`offsets` of tl.advance", int32)
    rank = len(ptr.type.element_ty.shape)
    if len(values) != rank:
        raise value_error(f"tl.advance takes {rank} offsets for this block pointer, got {len(values)}")
    return tensor(sem.builder.add(tt.Advance(ptr.handle, [v.handle for v in values])), ptr.type)
