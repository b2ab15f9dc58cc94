"""`SemanticContext`: the interface that the functions of this package use of the object they are methods of.

Each file holds one family of operations as functions whose first parameter is the context; `semantic.Semantic` binds
them all. Families call one another through the context (a cast to a boolean is a comparison, a comparison casts its
operands), so none of them imports `semantic`, and they import one another only downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from ...ir import Attribute, Builder, Operation, Value
from ..constexpr import constexpr
from ..dtypes import dtype
from ..tensor import tensor

__all__ = ["Operand", "SemanticContext"]

Operand: TypeAlias = tensor | constexpr | bool | int | float
"""An operand of an operation: a tensor, or a number, which becomes one."""


class SemanticContext(Protocol):
    """The state of one compile, and the operations that several families use."""

    builder: Builder
    options: Any

    debug: bool
    sanitize_overflow: bool
    checks_indices: bool
    checks_conversions: bool

    gathers_rows: bool
    default_dot_input_precision: str
    allowed_dot_input_precisions: Sequence[str]
    max_num_imprecise_acc: int
    supported_fp8_dtypes: Sequence[str]

    argument_hints: dict[Value, dict[str, Attribute]]

    def min_dot_size(self, lhs_bits: int, rhs_bits: int, /) -> tuple[int, int, int]:
        """The minimum M, N and K of a dot of operands of such widths."""

    # -- results

    def block(self, element: dtype, shape: Sequence[int]) -> dtype:
        """The type of a block whose layout does not follow from an operand."""

    def emit(self, op: Operation, ty: dtype) -> tensor:
        """Insert `op`; its result, of the type `ty`."""

    def emit_all(self, op: Operation, types: Sequence[dtype]) -> list[tensor]:
        """Insert `op`; its results, of these types."""

    def broadcast_like(self, x: tensor, like: dtype, roles: tuple[str, str] | None = ...) -> tensor:
        """`x` broadcast to the shape of a value of the type `like`."""

    # -- promotion and constants

    def to_tensor(self, x: Operand) -> tensor:
        """A number as a scalar tensor; tensors unchanged."""

    def to_condition(self, x: Operand) -> tensor:
        """The truth of a scalar as int1."""

    def scalar_constant(self, value: constexpr | bool | int | float, ty: dtype) -> tensor:
        """The number `value` as a scalar of `ty`."""

    def full(self, shape: Any, value: Operand, ty: dtype) -> tensor:
        """A block of `shape` filled with the scalar `value`."""

    def binary_operands(
        self,
        lhs: Operand,
        rhs: Operand,
        lhs_pointer: bool = False,
        rhs_pointer: bool = False,
        arithmetic: bool = True,
        div_or_mod: bool = False,
    ) -> tuple[tensor, tensor]:
        """Both operands in one type and shape."""

    # -- casts

    def cast(self, x: tensor, to: dtype, fp_downcast_rounding: str | None = None) -> tensor:
        """The value of `x` in the scalar type `to`."""

    def bitcast(self, x: tensor, to: dtype) -> tensor:
        """The bits of `x` as another type of the same width."""

    # -- arithmetic

    def add(self, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
        """lhs + rhs"""

    def sub(self, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
        """lhs - rhs"""

    def mul(self, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
        """lhs * rhs"""

    def floordiv(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs // rhs"""

    def mod(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs % rhs"""

    def minimum(self, x: Operand, y: Operand) -> tensor:
        """The smaller of each pair of elements."""

    def and_(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs & rhs"""

    def or_(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs | rhs"""

    def not_(self, x: Operand) -> tensor:
        """not x, per element"""

    def lshift(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs << rhs"""

    def rshift(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs >> rhs"""

    def lshr(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs >> rhs, zeros shifted in"""

    def eq(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs == rhs"""

    def ne(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs != rhs"""

    def lt(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs < rhs"""

    def le(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs <= rhs"""

    def gt(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs > rhs"""

    def ge(self, lhs: Operand, rhs: Operand) -> tensor:
        """lhs >= rhs"""

    def where(self, condition: Operand, x: Operand, y: Operand) -> tensor:
        """`x` where `condition` holds, `y` elsewhere."""

    # -- shapes

    def arange(self, start: Any, end: Any) -> tensor:
        """[start, start + 1, …, end - 1] in int32."""

    def splat(self, x: tensor, shape: Sequence[int]) -> tensor:
        """The scalar `x` in every element of a block of `shape`."""

    def unsplat(self, x: tensor) -> tensor:
        """The only element of a block."""

    def reshape(self, x: tensor, shape: Sequence[int]) -> tensor:
        """The elements of `x` in another shape."""

    def expand_dims(self, x: tensor, axis: int) -> tensor:
        """`x` with a dimension of size 1 at `axis`."""

    def permute(self, x: tensor, dims: Sequence[int]) -> tensor:
        """`x` with its dimensions in another order."""

    def broadcast_to(self, x: tensor, shape: Sequence[int], roles: tuple[str, str] | None = ...) -> tensor:
        """`x` with its dimensions of size 1 repeated to `shape`."""

    def broadcast_value(self, lhs: tensor, rhs: tensor, roles: tuple[str, str] = ...) -> tuple[tensor, tensor]:
        """Both values in one shape."""

    def broadcast_tensors(self, *inputs: tensor, roles: Sequence[str] = ...) -> tuple[tensor, ...]:
        """All values in one shape."""

    def split(self, x: tensor) -> tuple[tensor, tensor]:
        """The two halves of the last dimension."""

    def gather(self, x: tensor, indices: tensor, axis: int) -> tensor:
        """Elements of `x` along `axis` by index."""

    # -- effects

    def hint(self, name: str, function: str, x: Any, values: Sequence[Any]) -> tensor:
        """Attach a hint about `x` as attribute `name`."""

    def device_assert(self, condition: Operand, message: str, mask: Operand | None = None) -> None:
        """Stop the launch unless every element of `condition` holds, where `mask` does."""

    def barrier(self) -> None:
        """A CTA barrier."""
