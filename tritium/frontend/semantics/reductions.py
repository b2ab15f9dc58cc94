"""Dot, reductions, scans, histograms, selection."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import arith, tt
from ...ir import Block, Region
from ..callee import SourceFunction, unwrap_callee
from ..constexpr import unwrap
from ..dtypes import (
    bfloat16,
    block_type,
    dtype,
    float16,
    float32,
    float64,
    int1,
    int8,
    int32,
    uint8,
)
from ..tensor import tensor, value_text
from ..tuples import tuple as tl_tuple
from .errors import OperandError, dtype_spelling, type_error, value_error
from .memory import boolean_mask
from .promotion import binary_operands
from .shape import wrap_shape

if TYPE_CHECKING:
    from .context import Operand, SemanticContext

__all__ = ["accumulate_into", "call_function", "dot", "histogram", "reduce", "scan", "where"]


def _warn(sem: SemanticContext, message: str) -> None:
    """Warn at the source line that is being compiled."""
    place = sem.builder.loc.file_position()
    if place is None:
        warnings.warn(message, stacklevel=3)
    else:
        warnings.warn_explicit(message, UserWarning, place.file, place.line)


def where(sem: SemanticContext, condition: Operand, x: Operand, y: Operand) -> tensor:
    """x where `condition` holds, y elsewhere; the three are broadcast together."""
    condition = sem.to_tensor(condition)
    if condition.dtype is not int1:
        _warn(
            sem,
            "tl.where with a non-boolean condition is deprecated and will error out in a future triton release."
            f" Got {condition.dtype}",
        )
        condition = sem.cast(condition, int1)
    x, y = unwrap(x), unwrap(y)
    if x.__class__ is not tensor and y.__class__ is not tensor:
        x, y = sem.to_tensor(x), sem.to_tensor(y)
    x, y = binary_operands(sem, x, y, True, True)
    condition, x = sem.broadcast_value(condition, x, ("condition", "x"))
    x, y = sem.broadcast_value(x, y)
    op = arith.Select(condition.handle, x.handle, y.handle)
    return tensor(sem.builder.add(op), x.type)


# -- dot ----------------------------------------------------------------------------------------------------------

OPERANDS = (int8, uint8, float16, bfloat16, float32, float64)
PRECISIONS = {p.name: p for p in tt.InputPrecision}


def dot(
    sem: SemanticContext,
    a: tensor,
    b: tensor,
    acc: Any = None,
    input_precision: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
) -> tensor:
    """a @ b + acc: (…, M, K) times (…, K, N), accumulated in fp32 (fp16 on request, int32 for int8, fp64 for fp64)."""
    _check_dot_operands(a, b)
    if len(a.type.shape) > 3:
        return _batched_dot(sem, a, b, acc, input_precision, max_num_imprecise_acc, out_dtype)
    if a.dtype.is_fp8e4b15() or b.dtype.is_fp8e4b15():
        a, b = sem.cast(a, float16), sem.cast(b, float16)
    m, k = a.type.shape[-2:]
    n = b.type.shape[-1]
    smallest = sem.min_dot_size(a.dtype.primitive_bitwidth, b.dtype.primitive_bitwidth)
    if any(1 << (have - 1).bit_length() < least for have, least in zip((m, n, k), smallest)):
        raise value_error(
            f"Input shapes should have M >= {smallest[0]}, N >= {smallest[1]} and K >= {smallest[2]},"
            f" got M = {m}, N = {n}, K = {k}",
            "use larger blocks with masked loads, or multiply and reduce by tl.sum",
        )
    element = _accumulator(a.dtype, acc, out_dtype)
    if a.dtype in (float32, bfloat16) and unwrap(out_dtype) not in (None, element):
        _warn(sem, f"tl.dot of {a.dtype} gives {element}: out_dtype={unwrap(out_dtype)} has no effect, as in Triton")
    result = block_type(element, (*a.type.shape[:-2], m, n))
    acc = accumulate_into(sem, acc, result, "tl.dot")
    precision = _precision(sem, input_precision)
    imprecise = _imprecise(sem, a, b, k, max_num_imprecise_acc)
    op = tt.Dot(a.handle, b.handle, acc.handle, precision, imprecise)
    return tensor(sem.builder.add(op), result)


def _check_dot_operands(a: Any, b: Any) -> None:
    for side, role, x in (("lhs", "input", a), ("rhs", "other", b)):
        if x.__class__ is not tensor or not x.type.is_block():
            kind = x.type if x.__class__ is tensor else type(x).__name__
            raise type_error(f"tl.dot takes blocks, the {side} is {kind}")
        if not x.dtype.is_fp8() and x.dtype not in OPERANDS:
            known = ", ".join(str(t) for t in OPERANDS if t is not uint8)
            raise OperandError(
                f"TypeError: Unsupported {side} dtype {x.dtype}",
                {role: f"has type {x.type}"},
                f"cast it with .to(dtype): to {known} or an fp8",
                role,
            )
    if a.dtype is not b.dtype and not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        raise OperandError(
            f"TypeError: Both operands must be same dtype. Got {a.dtype} and {b.dtype}",
            {"input": f"has type {a.type}", "other": f"has type {b.type}"},
            f"cast one of them: `{{other}}.to({dtype_spelling(a.dtype)})`",
        )
    if a.dtype is uint8:
        raise type_error("only int8 supported!", "cast the operands to tl.int8")
    x, y = a.type.shape, b.type.shape
    if len(x) != len(y) or len(x) < 2:
        summary = f"ValueError: Both inputs must be either 2D or 3D; (lhs: {list(x)} vs rhs: {list(y)})"
        raise OperandError(summary, _shapes(x, y))
    summary = (
        f"ValueError: First input shape ({list(x)}) and second input shape {list(y)} are not compatible for matmul"
    )
    if x[:-2] != y[:-2]:
        raise OperandError(f"{summary} (the batches {list(x[:-2])} and {list(y[:-2])} must be equal)", _shapes(x, y))
    if x[-1] != y[-2]:
        raise OperandError(
            f"{summary} (second index of first shape ({x[-1]}) must be equal to first index of second shape ({y[-2]}))",
            _shapes(x, y),
            "transpose the second: `{other}.T`" if len(x) == 2 and x[-1] == y[-1] else None,
        )


def _shapes(x: Sequence[int], y: Sequence[int]) -> dict[str, str]:
    """What is said of the operands of a dot."""
    return {"input": f"has shape {list(x)}", "other": f"has shape {list(y)}"}


def _accumulator(operand: dtype, acc: Any, out_dtype: Any) -> dtype:
    """The dtype of the result."""
    out_dtype = unwrap(out_dtype)
    if operand is int8:
        return int32
    if operand is float64:
        return float64
    if out_dtype is None:
        out_dtype = acc.dtype if acc is not None and acc.__class__ is tensor else float32
    if out_dtype is bfloat16:
        raise value_error(
            "out_dtype=bfloat16 is unsupported.",
            "Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`",
        )
    if not isinstance(out_dtype, dtype):
        raise type_error(f"out_dtype must be a dtype, got {out_dtype!r}", "tl.float32, without quotes")
    given = acc.__class__ is tensor and acc.dtype is out_dtype
    if operand in (float32, bfloat16) and not given:
        return float32  # whatever out_dtype says, as in Triton: torch's sparse matmul asks for fp64
    if out_dtype not in (float16, float32):
        raise OperandError(
            f"TypeError: tl.dot of {operand} cannot give {out_dtype}",
            {"acc": f"has type {acc.type}"} if given else {},
            "start the accumulator with dtype=tl.float32" if given else "use out_dtype=tl.float32 and cast the result",
            "acc",
        )
    return float32 if operand in (float32, bfloat16) else out_dtype


def accumulate_into(sem: SemanticContext, acc: Any, result: Any, name: str) -> tensor:
    """The accumulator as a block of the type `result`: zeros if none is given."""
    acc = unwrap(acc)
    if acc is None or (acc.__class__ is not tensor and acc == 0):
        return sem.full(result.shape, 0, result.element_ty)
    if acc.__class__ is not tensor or acc.type is not result:
        kind = acc.type if acc.__class__ is tensor else type(acc).__name__
        raise OperandError(
            f"TypeError: the accumulator of {name} is {kind}, it must be {result}",
            {"acc": f"is {kind}"},
            f"start it as `tl.zeros({list(result.shape)}, dtype={dtype_spelling(result.element_ty)})`",
            "acc",
        )
    return acc


def _precision(sem: SemanticContext, input_precision: Any) -> Any:
    text = str(unwrap(input_precision) or sem.default_dot_input_precision).lower()
    if text not in sem.allowed_dot_input_precisions or text not in PRECISIONS:
        raise value_error(f"input_precision must be one of {sem.allowed_dot_input_precisions}. Got {text}")
    return PRECISIONS[text]


def _imprecise(sem: SemanticContext, a: tensor, b: tensor, k: int, wanted: Any) -> int | None:
    """The number of imprecise accumulations (`max_num_imprecise_acc`), for two fp8 operands only."""
    wanted = unwrap(wanted)
    fp8 = a.dtype.is_fp8() and b.dtype.is_fp8()
    if wanted is None:
        return (sem.max_num_imprecise_acc or None) if fp8 else None
    if not isinstance(wanted, int) or wanted < 0:
        raise value_error(
            f"max_num_imprecise_acc must be an integer of 0 or more known at compile time, got {value_text(wanted)}",
            "32 is usual; 0 adds in fp32 after each instruction",
        )
    if fp8 and wanted > k:
        raise value_error(f"max_num_imprecise_acc ({wanted}) must be <= K ({k})")
    return wanted or None


def _batched_dot(sem: SemanticContext, a: tensor, b: tensor, acc: Any, *rest: Any) -> tensor:
    """A dot with several batch dimensions, which are merged into one and restored after it."""
    batch = a.type.shape[:-2]
    count = math.prod(batch)
    a, b = (sem.reshape(x, (count, *x.type.shape[-2:])) for x in (a, b))
    if acc.__class__ is tensor:
        acc = sem.reshape(acc, (count, *acc.type.shape[-2:]))
    result = dot(sem, a, b, acc, *rest)
    return sem.reshape(result, (*batch, *result.type.shape[-2:]))


# -- reductions and scans -----------------------------------------------------------------------------------------


def _combine_region(
    sem: SemanticContext, inputs: Sequence[tensor], combine_fn: Any, generator: Any, terminator: Any
) -> Region:
    """A region that calls `combine_fn` on two elements of each input."""
    types = [x.dtype for x in inputs]
    builder = sem.builder
    block = Block()
    for ty in (*types, *types):
        block.add_argument(ty.to_ir(), builder.loc).hint = getattr(builder, "name", None)
    args = [tensor(v, ty) for v, ty in zip(block.args, (*types, *types))]
    with builder.saved():
        builder.at_end(block)
        results = call_function(sem, combine_fn, args, generator, "the combine function")
        results = list(results.values) if isinstance(results, tl_tuple) else [results]
        if len(results) != len(types):
            raise value_error(
                f"the combine function returns {len(results)} values, {len(types)} were expected: one for each input"
            )
        made = []
        for i, (value, ty) in enumerate(zip(results, types)):
            value = sem.to_tensor(value)
            if value.type is not ty:
                raise type_error(
                    f"the combine function returns {value.type} as value {i}, the elements are {ty}",
                    "cast inside the function, or cast the input first",
                )
            made.append(value.handle)
        builder.insert(terminator(made))
    return Region(block)


def call_function(sem: SemanticContext, fn: Any, args: list[tensor], generator: Any, what: str) -> Any:
    """`fn` of the language, jit function or builtin, on `args`."""
    if getattr(fn, "__tritium_builtin__", False):
        return fn(*args, _semantic=sem)
    inner = unwrap_callee(fn)
    if not isinstance(inner, SourceFunction):
        raise type_error(
            f"{what} must be a function of the language, got {getattr(fn, '__name__', repr(fn))}",
            "decorate it with @triton.jit",
        )
    return generator.call_callee(inner, args, {})


def _check_inputs(inputs: Sequence[tensor], name: str) -> tuple[int, ...]:
    for x in inputs:
        if x.__class__ is not tensor or not x.type.is_block():
            kind = x.type if x.__class__ is tensor else type(x).__name__
            raise type_error(f"{name} takes blocks, got {kind}")
    shape = inputs[0].type.shape
    if any(x.type.shape != shape for x in inputs):
        raise value_error(f"all {name} inputs must have the same shape, got {[list(x.type.shape) for x in inputs]}")
    return shape


def _axis(axis: Any, rank: int, name: str) -> int:
    axis = unwrap(axis)
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise type_error(f"the axis of a {name} must be a compile-time integer, got {value_text(axis)}")
    if not -rank <= axis < rank:
        raise value_error(f"{name} axis {axis} must be < inputs rank ({rank})")
    return axis + rank if axis < 0 else axis


def reduce(
    sem: SemanticContext, inputs: Sequence[tensor], axis: Any, combine_fn: Any, generator: Any, keep_dims: bool = False
) -> list[tensor]:
    """The elements of `inputs` along `axis` (all of them for None) combined by the function `combine_fn`."""
    shape = _check_inputs(inputs, "reduction")
    rank = len(shape)
    everything = unwrap(axis) is None
    if everything:
        if rank > 1:
            inputs = [sem.reshape(x, [x.type.numel]) for x in inputs]
        axis = 0
    at = _axis(axis, len(inputs[0].type.shape), "reduction")
    rest = [d for i, d in enumerate(inputs[0].type.shape) if i != at]
    types = [wrap_shape(x.dtype, rest) for x in inputs]
    region = _combine_region(sem, inputs, combine_fn, generator, tt.ReduceReturn)
    op = tt.Reduce([x.handle for x in inputs], at, region, results_=[ty.to_ir() for ty in types])
    results = sem.emit_all(op, types)
    if not keep_dims:
        return results
    if everything:
        return [sem.splat(x, (1,) * rank) for x in results]
    return [sem.expand_dims(x, at) for x in results]


def scan(
    sem: SemanticContext, inputs: Sequence[tensor], axis: Any, combine_fn: Any, generator: Any, reverse: bool = False
) -> list[tensor]:
    """result[i] = the elements up to i along `axis` combined (from the end with `reverse`)."""
    shape = _check_inputs(inputs, "scan")
    at = _axis(axis, len(shape), "scan")
    region = _combine_region(sem, inputs, combine_fn, generator, tt.ScanReturn)
    op = tt.Scan([x.handle for x in inputs], at, bool(reverse), region, results_=[x.type.to_ir() for x in inputs])
    return sem.emit_all(op, [x.type for x in inputs])


def histogram(sem: SemanticContext, x: tensor, num_bins: Any, mask: Any = None) -> tensor:
    """The number of elements of `x` (where `mask`) equal to 0, 1, …, num_bins - 1."""
    if x.__class__ is not tensor or len(x.type.shape) != 1:
        raise value_error("histogram only supports 1D input", "use tl.ravel(x)")
    if not x.dtype.is_int() or x.dtype.int_bitwidth != 32:
        raise type_error(f"histogram only supports 32-bit integer input, got {x.dtype}", "cast it: x.to(tl.int32)")
    num_bins = unwrap(num_bins)
    if not isinstance(num_bins, int) or num_bins < 1:
        raise value_error(f"num_bins must be a positive number known at compile time, got {value_text(num_bins)}")
    if mask is not None:
        mask = sem.broadcast_like(boolean_mask(sem, mask), x.type).handle
    ty = sem.block(int32, [num_bins])
    return sem.emit(tt.Histogram(x.handle, mask, result=ty.ir), ty)
