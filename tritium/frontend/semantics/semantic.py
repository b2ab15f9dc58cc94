"""`Semantic`: the typing rules bound to a builder and the options of one compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import Attribute, Builder, Value
from ...support.lazy import LazyMethod, LazyModule
from ..dtypes import dtype
from ..tensor import tensor
from . import (
    arithmetic,
    casts,
    intrinsics,
    memory,
    promotion,
    reductions,
    results,
    shape,
)

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["Semantic"]


def _any_size(lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
    """The minimum M, N and K of a dot on targets without limits."""
    return 1, 1, 1


class Semantic:
    """The operations of the language: check operands, promote and broadcast them, emit IR.

    The methods are the functions of this package's files, one family a file; those that few kernels use are imported
    on first use. `options` may lack any of the fields read here; `debug` turns assertions on, `sanitize_overflow` (with
    `debug`) checks integer arithmetic, `check_conversions` (or `sanitize`) conversions of floats to integers.
    """

    def __init__(self, builder: Builder, options: Any = None) -> None:
        self.builder = builder
        self.options = options
        self.debug = bool(getattr(options, "debug", False))
        self.sanitize_overflow = self.debug and bool(getattr(options, "sanitize_overflow", True))
        sanitize = bool(getattr(options, "sanitize", False))
        self.checks_indices = self.debug or sanitize
        self.checks_conversions = sanitize or bool(getattr(options, "check_conversions", False))
        self.gathers_rows = getattr(options, "backend_name", "cpu") != "cpu"
        self.default_dot_input_precision = getattr(options, "default_dot_input_precision", "ieee")
        self.allowed_dot_input_precisions = getattr(
            options, "allowed_dot_input_precisions", ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
        )
        self.max_num_imprecise_acc = getattr(options, "max_num_imprecise_acc_default", 0)
        self.supported_fp8_dtypes = getattr(options, "supported_fp8_dtypes", None) or dtype.FP_TYPES
        self.min_dot_size = getattr(options, "min_dot_size", _any_size)

        self.knows_warps = False
        """True if the program depends on the number of warps."""

        self.argument_hints: dict[Value, dict[str, Attribute]] = {}
        """Hints about loop-carried values of loops under construction."""

    def binary(self, name: str, lhs: Any, rhs: Any) -> Any:
        """The operator `name` (a method of this class: add, sub, eq, …) on two operands."""
        return getattr(self, name)(lhs, rhs)

    block = results.block
    emit = results.emit
    emit_all = results.emit_all
    broadcast_like = results.broadcast_like

    integer_promote = promotion.integer_promote
    computation_type = promotion.computation_type
    scalar_constant = promotion.scalar_constant
    to_tensor = promotion.to_tensor
    to_condition = promotion.to_condition
    binary_operands = promotion.binary_operands
    full = promotion.full

    add = arithmetic.add
    sub = arithmetic.sub
    mul = arithmetic.mul
    truediv = arithmetic.truediv
    floordiv = arithmetic.floordiv
    mod = arithmetic.mod
    fdiv = arithmetic.fdiv
    minimum = arithmetic.minimum
    maximum = arithmetic.maximum
    clamp = arithmetic.clamp
    and_ = arithmetic.and_
    or_ = arithmetic.or_
    xor_ = arithmetic.xor_
    lshift = arithmetic.lshift
    rshift = arithmetic.rshift
    lshr = arithmetic.lshr
    ashr = arithmetic.ashr
    logical_and = arithmetic.logical_and
    logical_or = arithmetic.logical_or
    not_ = arithmetic.not_
    pos = arithmetic.pos
    neg = arithmetic.neg
    invert = arithmetic.invert
    eq = arithmetic.eq
    ne = arithmetic.ne
    lt = arithmetic.lt
    le = arithmetic.le
    gt = arithmetic.gt
    ge = arithmetic.ge

    cast = casts.cast
    bitcast = casts.bitcast

    arange = shape.arange
    splat = shape.splat
    unsplat = shape.unsplat
    reshape = shape.reshape
    expand_dims = shape.expand_dims
    permute = shape.permute
    broadcast_to = shape.broadcast_to
    broadcast_value = shape.broadcast_value
    broadcast_tensors = shape.broadcast_tensors
    cat = shape.cat
    join = shape.join
    split = shape.split
    gather = shape.gather

    index = LazyMethod(".indexing", __package__)
    replaced = LazyMethod(".indexing", __package__)
    updated = LazyMethod(".indexing", __package__)

    load = memory.load
    store = memory.store
    make_block_ptr = memory.make_block_ptr
    advance = memory.advance
    atomic_cas = LazyMethod(".atomics", __package__)
    atomic_rmw = LazyMethod(".atomics", __package__)
    atomic_load = LazyMethod(".atomics", __package__)
    atomic_store = LazyMethod(".atomics", __package__)
    atomic_poll = LazyMethod(".atomics", __package__)
    make_tensor_descriptor = LazyMethod(".descriptors", __package__)
    descriptor_load = LazyMethod(".descriptors", __package__)
    descriptor_store = LazyMethod(".descriptors", __package__)
    descriptor_reduce = LazyMethod(".descriptors", __package__)
    descriptor_gather = LazyMethod(".descriptors", __package__)
    descriptor_scatter = LazyMethod(".descriptors", __package__)

    where = reductions.where
    dot = reductions.dot
    dot_scaled = LazyMethod(".scaled", __package__)
    reduce = reductions.reduce
    scan = reductions.scan
    histogram = reductions.histogram

    program_id = intrinsics.program_id
    num_programs = intrinsics.num_programs
    hint = intrinsics.hint
    transfer_hints = intrinsics.transfer_hints
    assume = intrinsics.assume
    device_print = intrinsics.device_print
    print_text = intrinsics.print_text
    device_assert = intrinsics.device_assert
    inline_asm = intrinsics.inline_asm
    extern_elementwise = intrinsics.extern_elementwise
    grid_dependency_wait = intrinsics.grid_dependency_wait
    grid_dependency_launch_dependents = intrinsics.grid_dependency_launch_dependents
    barrier = intrinsics.barrier
    map_elementwise = LazyMethod(".elementwise", __package__)

    tensor = tensor
    lang = LazyModule("..language.core", __package__)


#: Methods of Triton's class: aliases of ours, or refused (`triton_methods`).
_TRITON_METHODS = (
    "associative_scan atom_red_typechecking_impl atomic_add atomic_and atomic_max atomic_min atomic_or "
    "atomic_xchg atomic_xor binary_op_sanitize_overflow_impl binary_op_type_checking_impl "
    "bitwise_op_type_checking_impl broadcast_impl_shape broadcast_impl_value check_ptr_type_impl "
    "computation_type_impl debug_barrier deduce_scale_factor descriptor_atomic_add descriptor_atomic_and "
    "descriptor_atomic_max descriptor_atomic_min descriptor_atomic_or descriptor_atomic_xor equal greater_equal "
    "greater_than integer_promote_impl less_equal less_than make_scalar make_tensor max_constancy max_contiguous "
    "minus multiple_of not_equal plus reduction shl ternary_op_type_checking_impl to_inline_asm_operand "
    "to_tensor_type validate_store_like verify_scaled_shape wrap_tensor"
)

for _name in _TRITON_METHODS.split():
    LazyMethod.add_to(Semantic, _name, ".triton_methods", __package__)


if TYPE_CHECKING:
    _: type[SemanticContext] = Semantic  # mypy checks that all operations of the context are bound
