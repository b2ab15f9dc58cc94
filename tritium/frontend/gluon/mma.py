"""Matrix multiply-accumulate instructions of NVIDIA GPUs: `mma.sync` and `wgmma`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...dialects import tt, ttng
from ...ir import Type, Value
from ..constexpr import unwrap
from ..errors import LanguageError
from ..language.builtin import builtin, flag, static_int
from ..scalar_types import BaseType, dtype
from ..semantics.reductions import PRECISIONS
from ..tensor import tensor
from ..tuples import tuple as tl_tuple
from .layouts import DotOperandLayout, NVMMADistributedLayout
from .semantic import checked
from .shared_memory import shared_memory_descriptor

__all__ = [
    "Semantics",
    "check_shapes",
    "fence_async_shared",
    "mma_v2",
    "precision_of",
    "warpgroup_mma",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_accumulator_type",
    "warpgroup_mma_init",
    "warpgroup_mma_wait",
]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""


def precision_of(sem: Semantics, precision: object) -> Any:
    """The input precision of this name; None: the default of the options. LanguageError for an unsupported one."""
    text = str(unwrap(precision) or sem.default_dot_input_precision).lower()
    if text not in PRECISIONS or text not in sem.allowed_dot_input_precisions:
        raise LanguageError(f"ValueError: precision must be one of {sem.allowed_dot_input_precisions}, got {text}")
    return PRECISIONS[text]


@builtin
def mma_v2(a: object, b: object, acc: object, input_precision: object = None, _semantic: Semantics = None) -> tensor:
    """a @ b + acc by `mma.sync`: operands in DotOperandLayout of the accumulator's NVMMADistributedLayout of [2, 0]."""
    acc = checked(acc, "mma_v2")
    parent = acc.type.layout
    if not isinstance(parent, NVMMADistributedLayout) or parent.version != [2, 0]:
        raise LanguageError(
            f"ValueError: the accumulator of mma_v2 must have an NVMMADistributedLayout of version [2, 0], not {parent}"
        )
    operands = [checked(x, "mma_v2") for x in (a, b)]
    for number, x in enumerate(operands):
        layout = x.type.layout
        if not isinstance(layout, DotOperandLayout) or layout.operand_index != number or layout.parent != parent:
            raise LanguageError(
                f"ValueError: operand {number} of mma_v2 must have the layout gl.DotOperandLayout({number}, parent,"
                f" k_width) of the accumulator's layout, not {layout}"
            )
    left, right = operands
    check_shapes(left.type.shape, right.type.shape, acc.type.shape, "mma_v2")
    op = tt.Dot(left.handle, right.handle, acc.handle, precision_of(_semantic, input_precision), None)
    return _semantic.emit(op, acc.type)  # type: ignore[no-any-return]


def check_shapes(a: Sequence[int], b: Sequence[int], acc: Sequence[int], name: str) -> None:
    """Raise LanguageError unless (…, M, K) times (…, K, N) gives (…, M, N)."""
    a, b, acc = list(a), list(b), list(acc)
    if a[-1] != b[-2] or a[:-1] != acc[:-1] or b[-1] != acc[-1]:
        raise LanguageError(f"ValueError: {name}: operands of shapes {a} and {b} do not give an accumulator of {acc}")


# -- wgmma --------------------------------------------------------------------------------------------------------


class warpgroup_mma_accumulator_type(BaseType):
    """The type of an accumulator that WGMMAs may still be writing."""

    __slots__ = ("tensor_type",)

    def __init__(self, tensor_type: dtype) -> None:
        self.tensor_type = tensor_type

    def _flatten_ir_types(self, out: list[Type]) -> None:
        self.tensor_type._flatten_ir_types(out)

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        return warpgroup_mma_accumulator(handles[at], self.tensor_type), at + 1

    def mangle(self) -> str:
        """`FT`, the tensor's type, `FT`"""
        return f"FT{self.tensor_type.mangle()}FT"

    def merges_with(self, other: BaseType) -> bool:
        """Also with the tensor that the accumulator was, or becomes after a wait."""
        return other in (self, self.tensor_type)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, warpgroup_mma_accumulator_type) and self.tensor_type == other.tensor_type

    def __hash__(self) -> int:
        return hash((warpgroup_mma_accumulator_type, self.tensor_type))

    def __repr__(self) -> str:
        return f"warpgroup_mma_accumulator<{self.tensor_type}>"


class warpgroup_mma_accumulator:
    """An accumulator that WGMMAs may still be writing: `warpgroup_mma_wait` makes a tensor of it."""

    __slots__ = ("handle", "type")
    operand_hint = "wait for it first: acc = warpgroup_mma_wait(0, deps=(acc,))"

    def __init__(self, handle: Value, tensor_type: dtype) -> None:
        self.handle = handle
        self.type = warpgroup_mma_accumulator_type(tensor_type)

    def _flatten_ir(self, out: list[Any]) -> None:
        out.append(self.handle)


@builtin
def warpgroup_mma_init(value: object, _semantic: Semantics = None) -> warpgroup_mma_accumulator:
    """A tensor as the accumulator of asynchronous WGMMAs."""
    value = checked(value, "warpgroup_mma_init")
    return warpgroup_mma_accumulator(value.handle, value.type)


@builtin
def warpgroup_mma(
    a: object,
    b: object,
    acc: object,
    *,
    use_acc: object = True,
    precision: object = None,
    max_num_imprecise_acc: object = None,
    is_async: object = False,
    _semantic: Semantics = None,
) -> tensor | warpgroup_mma_accumulator:
    """a @ b + (acc if use_acc else 0) by `wgmma`; `b`, and `a` unless it is a tensor, are buffers in shared memory.

    With `is_async` the result is an accumulator to wait for. Of 8-bit floats, at most `max_num_imprecise_acc` elements
    along K are accumulated with fewer bits.
    """
    if not isinstance(a, (tensor, shared_memory_descriptor)):
        raise LanguageError("TypeError: operand a of warpgroup_mma must be a tensor or a buffer in shared memory")
    if not isinstance(b, shared_memory_descriptor):
        raise LanguageError(
            "TypeError: operand b of warpgroup_mma must be a buffer in shared memory",
            "gl.allocate_shared_memory(dtype, shape, gl.NVMMASharedLayout.get_default_for(shape, dtype), value)",
        )
    ty: Any = acc.type.tensor_type if isinstance(acc, warpgroup_mma_accumulator) else checked(acc, "warpgroup_mma").type
    assert isinstance(acc, (tensor, warpgroup_mma_accumulator))
    if not isinstance(ty.layout, NVMMADistributedLayout) or ty.layout.version[0] != 3:
        raise LanguageError(
            f"ValueError: the accumulator of warpgroup_mma must have an NVMMADistributedLayout of version [3, 0], not"
            f" {ty.layout}"
        )
    check_shapes(a.type.shape, b.type.shape, ty.shape, "warpgroup_mma")
    if a.dtype is not b.dtype and not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        raise LanguageError(
            f"ValueError: the operands of warpgroup_mma have the element types {a.dtype} and {b.dtype}",
            "both must have one type, or types of 8-bit floats",
        )
    op = ttng.WarpGroupDot(
        a.handle,
        b.handle,
        acc.handle,
        _semantic.to_condition(use_acc).handle,
        precision_of(_semantic, precision),
        _imprecise(_semantic, a, b, max_num_imprecise_acc),
        flag(is_async),
    )
    _semantic.builder.insert(op)
    result = op.results[0]
    return warpgroup_mma_accumulator(result, ty) if flag(is_async) else tensor(result, ty)


def _imprecise(sem: Semantics, a: Any, b: Any, wanted: object) -> int:
    fp8 = a.dtype.is_fp8() and b.dtype.is_fp8()
    if unwrap(wanted) is None:
        return int(sem.max_num_imprecise_acc or 0) if fp8 else 0
    count = static_int(wanted, "max_num_imprecise_acc")
    if fp8 and count > a.type.shape[-1]:
        raise LanguageError(f"ValueError: max_num_imprecise_acc ({count}) must be <= K ({a.type.shape[-1]})")
    return count


@builtin
def warpgroup_mma_wait(num_outstanding: object = 0, deps: Any = None, _semantic: Semantics = None) -> Any:
    """Wait until at most `num_outstanding` WGMMAs are pending; `deps` as tensors, of accumulators among them."""
    if unwrap(deps) is None or not len(deps):
        raise LanguageError("ValueError: warpgroup_mma_wait deps must be given", "deps=(acc,)")
    values = list(deps)
    op = ttng.WarpGroupDotWait([x.handle for x in values], static_int(num_outstanding, "num_outstanding"))
    _semantic.builder.insert(op)
    types = [x.type.tensor_type if isinstance(x, warpgroup_mma_accumulator) else x.type for x in values]
    results = [ty._unflatten_ir([handle], 0)[0] for ty, handle in zip(types, op.results)]
    return results[0] if len(results) == 1 else tl_tuple(results)


@builtin
def fence_async_shared(cluster: object = False, _semantic: Semantics = None) -> None:
    """Make writes to shared memory by threads visible to WGMMAs and TMA copies; with `cluster`, of all its CTAs."""
    _semantic.builder.insert(ttng.FenceAsyncShared(flag(cluster)))
