"""Program ids, hints to the compiler, prints, assertions, inline assembly, external functions, barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import llvm, tt
from ...ir import UNIT, Attribute, DenseElementsAttr, TensorType, Value, i32
from ...support.lazy import LazyModule
from ..constexpr import unwrap
from ..dtypes import dtype, float32, int32
from ..tensor import tensor, value_text
from .errors import type_error, value_error

if TYPE_CHECKING:
    from .context import Operand, SemanticContext

_ttg = LazyModule("...dialects.ttg", __package__)  # not needed by CPU kernels

__all__ = [
    "assume",
    "barrier",
    "device_assert",
    "device_print",
    "extern_elementwise",
    "grid_dependency_launch_dependents",
    "grid_dependency_wait",
    "transfer_hints",
    "hint",
    "inline_asm",
    "num_programs",
    "print_text",
    "program_id",
]


def _axis(axis: Any, name: str) -> int:
    axis = unwrap(axis)
    if not isinstance(axis, int) or isinstance(axis, bool) or axis not in (0, 1, 2):
        raise value_error(f"{name} axis must be 0, 1, or 2 but got {value_text(axis)}")
    return axis


def program_id(sem: SemanticContext, axis: Any) -> tensor:
    """The position of this program along `axis` of the grid."""
    return tensor(sem.builder.add(tt.GetProgramId(_axis(axis, "program_id"))), int32)


def num_programs(sem: SemanticContext, axis: Any) -> tensor:
    """The size of the grid along `axis`."""
    return tensor(sem.builder.add(tt.GetNumPrograms(_axis(axis, "num_programs"))), int32)


def hint(sem: SemanticContext, name: str, function: str, x: Any, values: Sequence[Any]) -> tensor:
    """A hint about `x` (one number a dimension) as attribute `name` on its defining operation."""
    numbers = [unwrap(v) for v in values]
    for v in numbers:
        if not isinstance(v, int) or isinstance(v, bool):
            raise type_error(f"values of {function} must be compile-time integers, got {value_text(v)}")
        if v < 1:
            raise value_error(f"values of {function} must be 1 or more, got {v}")
    if x.__class__ is not tensor:
        return x  # a hint about a constant adds nothing
    if max(1, len(x.type.shape)) != len(numbers):
        raise value_error(f"Shape of input to {function} does not match the length of values")
    attach_hint(sem, x.handle, name, DenseElementsAttr(tuple(numbers), TensorType((len(numbers),), i32)))
    return x


def attach_hint(sem: SemanticContext, value: Value, name: str, attribute: Attribute) -> None:
    """Attach a hint to the defining operation of `value`; a hint about a block argument waits for its loop."""
    op = value.defining_op
    if op is None:
        sem.argument_hints.setdefault(value, {})[name] = attribute
    else:
        op.attributes[name] = attribute


def transfer_hints(sem: SemanticContext, arguments: Sequence[Value], initial: Sequence[Value]) -> None:
    """Transfer hints about loop-carried values to the operations that define their initial values.

    Only to values without other uses: the loop may have no iterations, and then the hint need not hold.
    """
    if not sem.argument_hints:
        return
    for argument, value in zip(arguments, initial):
        hints = sem.argument_hints.pop(argument, None)
        if hints and not value.users:
            for name, attribute in hints.items():
                attach_hint(sem, value, name, attribute)


def assume(sem: SemanticContext, condition: Operand) -> None:
    """Let the compiler assume the scalar `condition`."""
    condition = sem.to_condition(condition)
    sem.builder.insert(llvm.Assume.of(condition.handle))


def device_print(sem: SemanticContext, prefix: str, args: Sequence[tensor], hexadecimal: bool) -> None:
    """Print `prefix` and every element of `args` with the program's id."""
    if args and not prefix.endswith(" "):
        prefix += " "
    if args and not prefix.endswith(": "):
        prefix = prefix[:-1] + ": "
    if len(prefix) > 2 and not prefix.startswith(" "):
        prefix = " " + prefix
    signed = [int(a.dtype.is_int_signed()) for a in args]
    sem.builder.insert(tt.Print(prefix, hexadecimal, [a.handle for a in args], signed))


def print_text(sem: SemanticContext, template: str, args: Sequence[tensor]) -> None:
    """Print a template of Python's `str.format` with the fields `args`: numbers, and NumPy arrays for blocks."""
    signed = [int(a.dtype.is_int_signed()) for a in args]
    shown = [sem.cast(a, float32) if a.dtype.is_floating() and a.dtype.primitive_bitwidth < 32 else a for a in args]
    op = tt.Print(template, False, [a.handle for a in shown], signed)
    op.attributes["tt.format"] = UNIT
    sem.builder.insert(op)


def device_assert(sem: SemanticContext, condition: Operand, message: str, mask: Operand | None = None) -> None:
    """Stop the launch unless every element of `condition` (where `mask`) holds; nothing unless debugging."""
    if not sem.debug:
        return
    condition = sem.to_tensor(condition)
    if not condition.dtype.is_bool():
        condition = sem.ne(condition, 0)
    if mask is not None:
        condition = sem.or_(condition, sem.not_(mask))
    sem.builder.insert(tt.Assert(condition.handle, message))


def inline_asm(
    sem: SemanticContext,
    asm: str,
    constraints: str,
    args: Sequence[Operand],
    types: Sequence[dtype],
    pure: bool,
    pack: int,
) -> list[tensor]:
    """Assembly applied to `pack` elements at a time; the results have the shape of the broadcast arguments."""
    values = [sem.to_tensor(a) for a in args]
    if values:
        values = list(sem.broadcast_tensors(*values))
    shape = values[0].type if values else None
    results = [ty if shape is None else shape.with_element_ty(ty) for ty in types]
    op = tt.InlineAsm(asm, [v.handle for v in values], constraints, pure, pack, results_=[ty.to_ir() for ty in results])
    sem.builder.insert(op)
    return [tensor(v, ty) for v, ty in zip(op.results, results)]


def extern_elementwise(
    sem: SemanticContext, library: str, path: str, symbol: str, args: Sequence[tensor], result: dtype, pure: bool
) -> tensor:
    """The function `symbol` of a bitcode library, per element."""
    ty = args[0].type.with_element_ty(result)
    op = tt.ExternElementwise([a.handle for a in args], library, path, symbol, pure, result=ty.to_ir())
    return tensor(sem.builder.add(op), ty)


# -- programs and threads -----------------------------------------------------------------------------------------


def grid_dependency_wait(sem: SemanticContext) -> None:
    """Wait for the grids that this one depends on."""
    sem.builder.insert(tt.GridDependencyWait())


def grid_dependency_launch_dependents(sem: SemanticContext) -> None:
    """Let dependent grids start."""
    sem.builder.insert(tt.GridDependencyLaunchDependents())


def barrier(sem: SemanticContext) -> None:
    """A barrier of all threads of the CTA, after which memory written before is visible to all."""
    sem.builder.insert(_ttg.Barrier(_ttg.AddrSpace.all))
