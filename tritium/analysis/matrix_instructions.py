"""Matrix instructions of AMD GPUs: MFMA of CDNA and WMMA of RDNA, by architecture and element types.

An instruction computes d = a @ b + c for a of M x K and b of K x N elements, all of a wave together. `width` is the
number of elements of a and b that a lane passes to one instruction; `layout.amd` says which ones. `intrinsic` is the
name of LLVM's intrinsic after `llvm.amdgcn.`, in full: overloads included; `operand` the LLVM type of its a and b.

Sources: the instruction set references of CDNA 1 to 4 (chapter "Matrix arithmetic instructions") and RDNA 3 and 4
(chapter "WMMA"); names and operand types of intrinsics from LLVM 22, `IntrinsicsAMDGPU.td`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MFMA", "WMMA", "MatrixInstruction", "mfma_for", "mfma_named", "shapes_of", "wmma_for"]


class MatrixInstruction(NamedTuple):
    """One instruction; see above."""

    m: int
    n: int
    k: int
    width: int
    intrinsic: str
    operand: str


Types = tuple[str, str]
"""Element types of a and b, as MLIR names them; `tf32` stands for f32 with that input precision."""


def _square(result: str, k: tuple[int, int], suffix: str, width: int, operand: str) -> list[MatrixInstruction]:
    """The instructions of 32 x 32 and of 16 x 16 results, with the depths `k`."""
    return [
        MatrixInstruction(side, side, depth, width, f"mfma.{result}.{side}x{side}x{depth}{suffix}", operand)
        for side, depth in zip((32, 16), k)
    ]


_F32 = _square("f32", (2, 4), "f32", 1, "float")
_F64 = [MatrixInstruction(16, 16, 4, 1, "mfma.f64.16x16x4f64", "double")]
_F16 = _square("f32", (8, 16), "f16", 4, "<4 x half>")
_BF16 = _square("f32", (8, 16), "bf16.1k", 4, "<4 x i16>")
_BF16_SHORT = _square("f32", (4, 8), "bf16", 2, "<2 x i16>")
_I8 = _square("i32", (16, 32), ".i8", 8, "i64")
_I8_SHORT = _square("i32", (8, 16), "i8", 4, "i32")
_XF32 = _square("f32", (4, 8), ".xf32", 2, "<2 x float>")


def _fp8(fp8: str, bf8: str) -> dict[Types, list[MatrixInstruction]]:
    """8-bit floats in all pairs; `fp8` has more bits of mantissa, `bf8` of exponent."""
    names = {fp8: "fp8", bf8: "bf8"}
    return {(a, b): _square("f32", (16, 32), f".{names[a]}.{names[b]}", 8, "i64") for a in names for b in names}


_CDNA3: dict[Types, list[MatrixInstruction]] = {
    ("f64", "f64"): _F64,
    ("f32", "f32"): _F32,
    ("tf32", "tf32"): _XF32,
    ("f16", "f16"): _F16,
    ("bf16", "bf16"): _BF16,
    ("i8", "i8"): _I8,
    **_fp8("f8E4M3FNUZ", "f8E5M2FNUZ"),
}

#: Version (`AmdGPU.mfma_version`) -> types -> instructions, those of a longer K first.
MFMA: dict[int, dict[Types, list[MatrixInstruction]]] = {
    1: {("f32", "f32"): _F32, ("f16", "f16"): _F16, ("bf16", "bf16"): _BF16_SHORT, ("i8", "i8"): _I8_SHORT},
    2: {
        ("f64", "f64"): _F64,
        ("f32", "f32"): _F32,
        ("f16", "f16"): _F16,
        ("bf16", "bf16"): [*_BF16, *_BF16_SHORT],
        ("i8", "i8"): _I8_SHORT,
    },
    3: _CDNA3,
    4: {
        ("f64", "f64"): _F64,
        ("f32", "f32"): _F32,
        ("f16", "f16"): [*_square("f32", (16, 32), ".f16", 8, "<8 x half>"), *_F16],
        ("bf16", "bf16"): [*_square("f32", (16, 32), ".bf16", 8, "<8 x bfloat>"), *_BF16],
        ("i8", "i8"): [*_square("i32", (32, 64), ".i8", 16, "<4 x i32>"), *_I8],
        **_fp8("f8E4M3FN", "f8E5M2"),
    },
}


def _wmma(result: str, types: str, width: int, operand: str, mangled: str) -> MatrixInstruction:
    """`mangled`: LLVM's names of the types of the result and the operands."""
    return MatrixInstruction(16, 16, 16, width, f"wmma.{result}.16x16x16.{types}.{mangled}", operand)


_OCP_FP8 = {"f8E4M3FN": "fp8", "f8E5M2": "bf8"}

#: Version (`AmdGPU.wmma_version`) -> types -> instruction. Accumulators are f32 or i32.
WMMA: dict[int, dict[Types, MatrixInstruction]] = {
    1: {
        ("f16", "f16"): _wmma("f32", "f16", 16, "<16 x half>", "v8f32.v16f16"),
        ("bf16", "bf16"): _wmma("f32", "bf16", 16, "<16 x i16>", "v8f32.v16i16"),
        ("i8", "i8"): _wmma("i32", "iu8", 16, "<4 x i32>", "v8i32.v4i32"),
    },
    2: {
        ("f16", "f16"): _wmma("f32", "f16", 8, "<8 x half>", "v8f32.v8f16"),
        ("bf16", "bf16"): _wmma("f32", "bf16", 8, "<8 x i16>", "v8f32.v8i16"),
        ("i8", "i8"): _wmma("i32", "iu8", 8, "<2 x i32>", "v8i32.v2i32"),
    }
    | {
        (a, b): _wmma("f32", f"{_OCP_FP8[a]}.{_OCP_FP8[b]}", 8, "<2 x i32>", "v8f32.v2i32")
        for a in _OCP_FP8
        for b in _OCP_FP8
    },
}


def shapes_of(version: int, types: Types) -> list[str]:
    """The shapes of the MFMA instructions for these types, such as "32x32x8"."""
    return [f"{found.m}x{found.n}x{found.k}" for found in MFMA[version].get(types, [])]


def mfma_for(version: int, types: Types, side: int, depth: int) -> MatrixInstruction | None:
    """The instruction for results of `side` rows and columns and operands of `depth` elements along K.

    That with the longest K up to `depth`, or the shortest; None where there is none for these types.
    """
    found = [i for i in MFMA.get(version, {}).get(types, []) if i.m == side]
    return next((i for i in found if i.k <= depth), found[-1] if found else None)


def mfma_named(version: int, types: Types, shape: tuple[int, ...]) -> MatrixInstruction | None:
    """The instruction of exactly this M, N and K; None where there is none."""
    return next((i for i in MFMA.get(version, {}).get(types, []) if i[:3] == shape), None)


def wmma_for(version: int, types: Types) -> MatrixInstruction | None:
    """The instruction for these types; None where there is none."""
    return WMMA.get(version, {}).get(types)
