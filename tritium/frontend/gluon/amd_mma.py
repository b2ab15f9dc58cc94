"""Matrix instructions of AMD GPUs: MFMA of CDNA and WMMA of RDNA."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects import tt
from ...ir import StringAttr
from ..constexpr import unwrap
from ..errors import LanguageError
from ..language.builtin import builtin
from ..tensor import tensor
from .amd_layouts import AMDMFMALayout, AMDWMMALayout
from .layouts import DotOperandLayout
from .mma import Semantics, check_shapes, precision_of
from .semantic import GluonSemantic, checked

__all__ = ["mfma", "wmma_of"]

_REGISTERS = "amdg.cd_regclass"
"""The attribute of a dot that names the registers of its accumulator."""


def _check_warps(sem: GluonSemantic, name: str, lanes: int, other: str) -> None:
    """Raise LanguageError on a target whose warps do not have `lanes` threads."""
    found = sem.options.warp_size
    if found not in (1, lanes):  # CPUs have warps of one thread, and no layouts
        raise LanguageError(
            f"ValueError: {name} needs warps of {lanes} threads, those of the target have {found}",
            f"{other} is for AMD GPUs with warps of {96 - lanes}",
        )


def _dot(sem: GluonSemantic, name: str, a: object, b: object, acc: tensor) -> tensor:
    """a @ b + acc, operands in DotOperandLayout of the accumulator's layout."""
    parent = acc.type.layout
    operands = [checked(x, name) for x in (a, b)]
    for number, x in enumerate(operands):
        layout = x.type.layout
        if not isinstance(layout, DotOperandLayout) or layout.operand_index != number or layout.parent != parent:
            raise LanguageError(
                f"ValueError: operand {number} of {name} must have the layout gl.DotOperandLayout({number}, parent,"
                f" k_width) of the accumulator's layout {parent}, not {layout}",
                f"gl.convert_layout(x, gl.DotOperandLayout({number}, {type(parent).__name__}(…), k_width))",
            )
    left, right = operands
    check_shapes(left.type.shape, right.type.shape, acc.type.shape, name)
    if left.dtype is not right.dtype and not (left.dtype.is_fp8() and right.dtype.is_fp8()):
        raise LanguageError(
            f"ValueError: the operands of {name} have the element types {left.dtype} and {right.dtype}",
            "both must have one type, or types of 8-bit floats",
        )
    op = tt.Dot(left.handle, right.handle, acc.handle, precision_of(sem, None), None)
    return sem.emit(op, acc.type)


@builtin
def mfma(a: object, b: object, acc: object, cd_regclass: object = None, _semantic: Semantics = None) -> tensor:
    """a @ b + acc by MFMA instructions: operands in DotOperandLayout of the accumulator's AMDMFMALayout.

    `cd_regclass` is a hint for the accumulator's registers, "a" (AGPRs) or "v" (VGPRs).
    """
    into = checked(acc, "mfma")
    if not isinstance(into.type.layout, AMDMFMALayout):
        raise LanguageError(
            f"ValueError: the accumulator of mfma must have an AMDMFMALayout, not {into.type.layout}",
            "such as gl.amd.AMDMFMALayout(version=3, instr_shape=[32, 32, 8], transposed=True, warps_per_cta=[2, 2])",
        )
    _check_warps(_semantic, "mfma", 64, "gl.amd.rdna3.wmma")
    registers = unwrap(cd_regclass)
    if registers not in (None, "a", "v"):
        raise LanguageError(f"ValueError: cd_regclass must be None, 'a' or 'v', got {registers!r}")
    result = _dot(_semantic, "mfma", a, b, into)
    if registers is not None:
        result.handle.defining_op.attributes[_REGISTERS] = StringAttr(registers)
    return result


def wmma_of(version: int, family: str) -> Callable[..., tensor]:
    """The function `wmma` of a family of GPUs, whose layouts have this version."""

    def wmma(a: object, b: object, acc: object, _semantic: Semantics = None) -> tensor:
        into = checked(acc, "wmma")
        layout = into.type.layout
        if not isinstance(layout, AMDWMMALayout) or layout.version != version:
            raise LanguageError(
                f"ValueError: the accumulator of wmma of {family} must have an AMDWMMALayout of version {version}, not"
                f" {layout}",
                f"such as gl.amd.AMDWMMALayout(version={version}, transposed=True, warp_bases=[[0, 1], [1, 0]])",
            )
        _check_warps(_semantic, "wmma", 32, "gl.amd.cdna3.mfma")
        return _dot(_semantic, "wmma", a, b, into)

    wmma.__doc__ = f"""a @ b + acc by WMMA instructions of {family}, in AMDWMMALayout of version {version}.

    The operands are in DotOperandLayout of the accumulator's layout."""
    return builtin(wmma)
