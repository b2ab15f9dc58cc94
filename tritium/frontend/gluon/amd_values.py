"""Operations of AMD GPUs on values in registers: slices, scaled conversions, hints to the scheduler."""

from __future__ import annotations

from ...dialects import amdg, rocdl
from ...dialects.ttg_rules import equivalent
from ...ir import IntegerAttr, StringAttr, i32
from ..constexpr import unwrap
from ..dtypes import bfloat16, float8e4nv, float8e5, float16, int8, int16, uint8
from ..errors import LanguageError
from ..language.builtin import builtin
from ..tensor import tensor
from .layout_base import plain
from .mma import Semantics
from .semantic import GluonSemantic, checked, type_of_pairs
from .shared_memory import integers_of
from .types import distributed_type

__all__ = ["scaled_upcast", "sched_barrier", "slice_tensor", "warp_pipeline_stage"]

_BYTES = (int8, uint8)
_FP8 = (float8e4nv, float8e5)
_BORDER, _PRIORITY = "triton.warp_pipeline.border", "triton.warp_pipeline.priority"
_MANTISSA_BITS = 7  # of bfloat16: an E8M0 scale is its exponent


def _check(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise LanguageError(f"ValueError: {message}", hint or None)


@builtin
def sched_barrier(allow: object = None, _semantic: Semantics = None) -> None:
    """A point that LLVM's scheduler moves no instruction across; `allow` must be None."""
    classes = plain(unwrap(allow))
    for name in classes if isinstance(classes, list) else [classes]:
        _check(name is None, f"sched_barrier: Unsupported instruction class: {name!r}", "only None is supported")
    _semantic.builder.insert(rocdl.SchedBarrier(rocdl.SchedGroupMask(0)))


class _Stage:
    """The body of a `with` statement: a stage of a warp pipeline."""

    def __init__(self, sem: GluonSemantic, label: str, priority: int | None) -> None:
        self.sem, self.label, self.priority = sem, label, priority

    def __enter__(self) -> _Stage:
        return self

    def __exit__(self, *error: object) -> None:
        op = rocdl.SchedBarrier(rocdl.SchedGroupMask(0))
        op.attributes[_BORDER] = StringAttr(self.label)
        if self.priority is not None:
            op.attributes[_PRIORITY] = IntegerAttr(self.priority, i32)
        self.sem.builder.insert(op)


@builtin
def warp_pipeline_stage(label: object = None, *, priority: object = None, _semantic: Semantics = None) -> _Stage:
    """`with warp_pipeline_stage("load"):` a stage of a loop, at whose end LLVM's scheduler moves no instruction.

    `label` names it in IR; `priority`, 0 to 3, is a hint without effect. Stages of several warps are not interleaved.
    """
    name, level = unwrap(label), unwrap(priority)
    _check(level is None or level in range(4), f"priority of warp_pipeline_stage must be 0 to 3, got {level!r}")
    return _Stage(_semantic, name if isinstance(name, str) else "cluster", level)  # type: ignore[arg-type]


@builtin
def slice_tensor(source: object, shape: object, offsets: object, _semantic: Semantics = None) -> tensor:
    """The part of `shape` of a tensor that begins at `offsets`, in its layout: each thread keeps registers it has."""
    x = checked(source, "slice")
    ty: distributed_type = x.type
    sizes, begins = integers_of(shape, "shape"), integers_of(offsets, "offsets")
    rank = len(ty.shape)
    _check(len(sizes) == rank, f"slice: shape must have rank {rank}, got {len(sizes)}")
    _check(len(begins) == rank, f"slice: offsets must have rank {rank}, got {len(begins)}")
    for begin, size, whole in zip(begins, sizes, ty.shape):
        _check(size <= whole, f"slice: result shape {sizes} cannot exceed source shape {list(ty.shape)}")
        fits = begin >= 0 and begin + size <= whole
        _check(fits, f"slice: offset {begins} + shape {sizes} exceeds source shape {list(ty.shape)}")
    result = distributed_type(x.dtype, sizes, ty.layout)
    op = amdg.ExtractSlice(x.handle, begins, result=result.ir)
    sem: GluonSemantic = _semantic
    return sem.emit(op, result)


# -- scaled conversions -------------------------------------------------------------------------------------------


def _scale_values(sem: GluonSemantic, scale: tensor) -> tensor:
    """E8M0 scales as bfloat16: the exponent's bits."""
    wide = sem.cast(sem.bitcast(scale, uint8), int16)
    return sem.bitcast(sem.lshift(wide, sem.cast(sem.to_tensor(_MANTISSA_BITS), int16)), bfloat16)


@builtin
def scaled_upcast(
    src: object, scale: object, elem_type: object, axis: object = None, _semantic: Semantics = None
) -> tensor:
    """src * 2^(scale - 127) as float16 or bfloat16: of 8-bit floats, or of pairs of 4-bit floats along `axis`.

    `scale` has the shape and layout of the result.
    """
    sem: GluonSemantic = _semantic
    x, factor, element = checked(src, "scaled_upcast"), checked(scale, "scaled_upcast"), unwrap(elem_type)
    _check(factor.dtype in _BYTES, f"Expected scale to use raw E8M0 payload in int8/uint8 but got {factor.dtype}")
    _check(element in (float16, bfloat16), f"Expected elem_type to be fp16 or bf16 but got {element}")
    ty: distributed_type = x.type
    if x.dtype in _FP8:
        _check(unwrap(axis) is None, "axis must be None for fp8 scaled_upcast")
        _check(
            factor.type.shape == ty.shape,
            f"Expected scale shape for fp8 scaled_upcast to be {list(ty.shape)} but got {list(factor.type.shape)}",
        )
        _check(
            factor.type.layout == ty.layout,
            f"Expected scale layout for fp8 scaled_upcast to be {ty.layout} but got {factor.type.layout}",
            "gl.convert_layout(scale, layout)",
        )
        result = ty.with_element_ty(element)
        eight = amdg.ScaledUpcastFp8(x.handle, _scale_values(sem, factor).handle, output=result.ir)
        return sem.emit(eight, result)
    _check(x.dtype in _BYTES, f"Expected packed fp4 input in int8/uint8, but got {x.dtype}")
    _check(unwrap(axis) is not None, "axis is required for packed fp4 scaled_upcast")
    along, result = type_of_pairs(x, element, axis, "scaled_upcast")
    _check(
        factor.type.shape == result.shape and equivalent(factor.handle.type, result.ir),
        f"Expected scale for scaled_upcast to have shape {list(result.shape)} and layout {result.layout} but got"
        f" {list(factor.type.shape)} and {factor.type.layout}",
        "gl.convert_layout(scale, layout)",
    )
    op = amdg.ScaledUpcastFp4(x.handle, _scale_values(sem, factor).handle, along, output=result.ir)
    return sem.emit(op, result)
