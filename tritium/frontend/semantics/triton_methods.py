"""Methods of Triton's `TritonSemantic` by their names, for user-defined builtins:

    @tl.core.builtin
    def is_zero(x, _semantic=None):
        return _semantic.equal(x, _semantic.make_scalar(0, x.dtype))

Each is an alias of a function of this package, or refused with the function of `tl` to use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..constexpr import unwrap
from ..dtypes import dtype
from ..errors import LanguageError
from ..tensor import tensor
from . import arithmetic, atomics, descriptors, promotion, shape
from .errors import type_error

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = [
    "atom_red_typechecking_impl",
    "binary_op_type_checking_impl",
    "bitwise_op_type_checking_impl",
    "check_ptr_type_impl",
    "make_scalar",
    "make_tensor",
    "ternary_op_type_checking_impl",
    "to_tensor_type",
    "validate_store_like",
    "wrap_tensor",
]

equal, not_equal = arithmetic.eq, arithmetic.ne
less_than, less_equal = arithmetic.lt, arithmetic.le
greater_than, greater_equal = arithmetic.gt, arithmetic.ge
plus, minus, shl = arithmetic.pos, arithmetic.neg, arithmetic.lshift
integer_promote_impl, computation_type_impl = promotion.integer_promote, promotion.computation_type
to_inline_asm_operand = promotion.to_tensor
broadcast_impl_shape, broadcast_impl_value = shape.broadcast_to, shape.broadcast_value


def make_tensor(sem: SemanticContext, handle: Any, type: dtype) -> tensor:
    """An IR value as a value of the language."""
    return tensor(handle, type)


def wrap_tensor(sem: SemanticContext, x: Any, scalar_ty: dtype, ret_shape: Sequence[int]) -> tensor:
    """An IR value as a tensor, a scalar without a shape."""
    return tensor(x, shape.wrap_shape(scalar_ty, ret_shape) if ret_shape else scalar_ty)


def to_tensor_type(sem: SemanticContext, x: Any) -> Any:
    """A type unchanged; of a value, its type; of a number, its type as an operand."""
    if isinstance(x, dtype):
        return x
    return x.type if isinstance(x, tensor) else promotion.number_type(unwrap(x))


def make_scalar(sem: SemanticContext, value: Any, ty: dtype) -> tensor:
    """A number or a scalar as a scalar of type `ty`."""
    value = unwrap(value)
    return sem.cast(value, ty) if isinstance(value, tensor) else sem.scalar_constant(value, ty)


def check_ptr_type_impl(sem: SemanticContext, type_a: dtype, type_b: dtype, allow_ptr_a: bool) -> None:
    """Raise TypeError if the first operand is a pointer and must not be."""
    promotion._check_pointer(type_a, type_b, allow_ptr_a)


def binary_op_type_checking_impl(
    sem: SemanticContext,
    lhs: Any,
    rhs: Any,
    allow_lhs_ptr: bool = False,
    allow_rhs_ptr: bool = False,
    arithmetic_check: bool = True,
    div_or_mod: bool = False,
) -> tuple[tensor, tensor]:
    """Both operands in one type and shape."""
    return sem.binary_operands(lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod)  # type: ignore[no-any-return]


def ternary_op_type_checking_impl(sem: SemanticContext, a: Any, b: Any, c: Any) -> tuple[tensor, tensor, tensor]:
    """Three operands in one type and shape."""
    a, b = sem.binary_operands(a, b)
    a, c = sem.binary_operands(a, c)
    a, b = sem.binary_operands(a, b)
    return a, b, c


def bitwise_op_type_checking_impl(sem: SemanticContext, lhs: Any, rhs: Any) -> tuple[tensor, tensor]:
    """Both operands in one integer type and shape; TypeError for others."""
    lhs, rhs = sem.binary_operands(lhs, rhs)
    if not lhs.dtype.is_int():
        raise type_error(f"invalid operands of type {lhs.dtype} and {rhs.dtype}", "bitwise operators take integers")
    return lhs, rhs


def _atomic(name: str) -> Callable[..., tensor]:
    def method(
        sem: SemanticContext, ptr: tensor, val: Any, mask: Any = None, order: Any = None, scope: Any = None
    ) -> tensor:
        return atomics.atomic_rmw(sem, name, ptr, val, mask, order, scope)

    method.__doc__ = f"`tl.atomic_{name}`."
    return method


atomic_add, atomic_and, atomic_or, atomic_xor = map(_atomic, ("add", "and", "or", "xor"))
atomic_max, atomic_min, atomic_xchg = map(_atomic, ("max", "min", "xchg"))


def atom_red_typechecking_impl(
    sem: SemanticContext, ptr: tensor, val: Any, mask: Any, op: str
) -> tuple[tensor, tensor, tensor]:
    """Pointer, value and mask of an atomic operation, cast and broadcast."""
    return (ptr, *atomics._operands(sem, ptr, val, mask, op))


def _reduced(name: str) -> Callable[..., None]:
    def method(sem: SemanticContext, desc: Any, value: Any, offsets: Any) -> None:
        descriptors.descriptor_reduce(sem, name, desc, offsets, value)

    method.__doc__ = f"`desc.atomic_{name}(offsets, value)`."
    return method


descriptor_atomic_add, descriptor_atomic_and, descriptor_atomic_or = map(_reduced, ("add", "and", "or"))
descriptor_atomic_xor, descriptor_atomic_max, descriptor_atomic_min = map(_reduced, ("xor", "max", "min"))


def validate_store_like(sem: SemanticContext, desc: Any, value: Any, offsets: Any) -> None:
    """Raise for a value or offsets that cannot be stored through a descriptor."""
    descriptors._check(desc, offsets, "a descriptor store")
    descriptors._value_of_block(sem, desc, value, "stored")


def _hint(attribute: str, name: str) -> Callable[..., tensor]:
    def method(sem: SemanticContext, x: tensor, values: Any) -> tensor:
        return sem.hint(attribute, name, x, [unwrap(v) for v in values])  # type: ignore[no-any-return]

    method.__doc__ = f"`tl.{name}`."
    return method


multiple_of = _hint("tt.divisibility", "multiple_of")
max_contiguous = _hint("tt.contiguity", "max_contiguous")
max_constancy = _hint("tt.constancy", "max_constancy")


def debug_barrier(sem: SemanticContext) -> None:
    """`tl.debug_barrier`; nothing on CPUs, where a program is one thread."""
    if getattr(sem.options, "backend_name", "cpu") != "cpu":
        sem.barrier()


def _refused(name: str, instead: str) -> Callable[..., Any]:
    def method(sem: SemanticContext, *args: Any, **kwargs: Any) -> Any:
        raise LanguageError(f"NotImplementedError: _semantic.{name} is not supported", instead)

    method.__doc__ = f"Refused: {instead}."
    return method


reduction = _refused("reduction", "call tl.reduce(input, axis, combine_fn, _semantic=_semantic, _generator=_generator)")
associative_scan = _refused(
    "associative_scan", "call tl.associative_scan(input, axis, combine_fn, _semantic=_semantic, _generator=_generator)"
)
deduce_scale_factor = _refused("deduce_scale_factor", "call tl.dot_scaled, which computes the factor")
verify_scaled_shape = _refused("verify_scaled_shape", "call tl.dot_scaled, which checks the shapes")
binary_op_sanitize_overflow_impl = _refused(
    "binary_op_sanitize_overflow_impl", "add, sub and mul check for overflow where the option sanitize_overflow asks"
)
