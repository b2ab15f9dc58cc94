"""Results of operations: their types, which a language with explicit layouts chooses differently.

The typing rules say which element type and shape a result has; `block` and `emit` make of that a type of the language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir import Operation
from ..dtypes import block_type, dtype
from ..tensor import tensor

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["block", "broadcast_like", "emit", "emit_all"]


def block(sem: SemanticContext, element: dtype, shape: Sequence[int]) -> dtype:
    """The type of a block whose layout does not follow from an operand."""
    return block_type(element, shape)


def emit(sem: SemanticContext, op: Operation, ty: dtype) -> tensor:
    """Insert `op`; its result, of the type `ty`."""
    sem.builder.insert(op)
    return tensor(op.results[0], ty)


def emit_all(sem: SemanticContext, op: Operation, types: Sequence[dtype]) -> list[tensor]:
    """Insert `op`; its results, of these types."""
    sem.builder.insert(op)
    return [tensor(result, ty) for result, ty in zip(op.results, types)]


def broadcast_like(sem: SemanticContext, x: tensor, like: dtype, roles: tuple[str, str] | None = None) -> tensor:
    """`x` broadcast to the shape of a value of the type `like`; `roles` names both in errors."""
    return sem.broadcast_to(x, like.shape, roles)
