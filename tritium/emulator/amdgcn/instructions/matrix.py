"""Matrix instructions: MFMA of gfx942 (MI300 ISA, section 7) and WMMA of gfx11 (RDNA3 ISA, section 7.9).

MFMA computes D = A B + C for `blocks` independent blocks. Lane l holds row l mod M of A (M x K), and column l mod N of
B (K x N); further lanes hold further blocks, then further groups of K. Of C and D, lane l holds column l mod N, and
four registers hold four adjacent rows; f64 has one row in a register pair.

WMMA has two copies of A and of B, in lanes 0-15 and 16-31: the hardware requires them to be equal, and so does the
emulator. Lane l holds column l mod 16 of C and D, register r row 2 r + l / 16.

Sums of floats are rounded once; hardware rounds in an order of its own, so that results agree within the usual bounds
of a sum. The wait states that gfx942 needs between an MFMA and an instruction that reads its result (MI300 ISA, section
4.5 "Manually Inserted Wait States") are not modelled: the result is there at once. MFMA and WMMA ignore EXEC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import EmulationError
from ...types import Array
from ..assembly import Instruction, Operand
from ..operands import Builder
from ..registry import Action, special
from ..small_floats import decode_fnuz
from ..state import State

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
F16, F32, F64 = np.float16, np.float32, np.float64


def _f32(words: Array) -> Array:
    return words.view(F32).astype(F64)


def _xf32(words: Array) -> Array:
    """f32 with 10 bits of mantissa kept, rounded to nearest even (MI300 ISA, section 7.1)."""
    rounded = words + U32(0xFFF) + (words >> U32(13) & U32(1))
    kept = np.where(np.isnan(words.view(F32)), words, rounded) & U32(0xFFFFE000)
    return kept.view(F32).astype(F64)


def _bytes_of(words: Array) -> Array:
    """The bytes of words, along the last axis."""
    return np.ascontiguousarray(words).view(U8)


DECODE: dict[str, Callable[[Array], Array]] = {
    "f32": _f32,
    "xf32": _xf32,
    "f16": lambda words: np.ascontiguousarray(words).view(F16).astype(F64),
    "bf16": lambda words: (np.ascontiguousarray(words).view(U16).astype(U32) << U32(16)).view(F32).astype(F64),
    "i8": lambda words: _bytes_of(words).view(np.int8).astype(np.int64),
    "u8": lambda words: _bytes_of(words).astype(np.int64),
    "fp8": lambda words: decode_fnuz("fp8", _bytes_of(words)).astype(F64),
    "bf8": lambda words: decode_fnuz("bf8", _bytes_of(words)).astype(F64),
    "f64": lambda words: np.ascontiguousarray(words).view(F64),
}


class Matrix(NamedTuple):
    """An MFMA: shape, blocks, element types of A and B, whether it sums in i32, f32 or f64."""

    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    accumulator: str

    def elements(self, lanes: int) -> int:
        """Elements of A that a lane holds."""
        return self.m * self.k * self.blocks // lanes


def parse_mfma(name: str) -> Matrix | None:
    """The matrix instruction of a name."""
    found = re.fullmatch(r"v_mfma_(f32|f64|i32)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_?(\w+)", name)
    if not found:
        return None
    accumulator, m, n, k, blocks, kind = found.groups()
    kind = kind.removesuffix("_1k")
    types = {"fp8_fp8": ("fp8", "fp8"), "fp8_bf8": ("fp8", "bf8"), "bf8_fp8": ("bf8", "fp8"), "bf8_bf8": ("bf8", "bf8")}
    a, b = types.get(kind, (kind, kind))
    if a not in DECODE:
        return None
    return Matrix(int(m), int(n), int(k), int(blocks or 1), a, b, accumulator)


def _stack(s: State, rows: list[int]) -> Array:
    """Registers along a new last axis: (waves, lanes, registers)."""
    return np.stack([s.vectors[row][s.at] for row in rows], axis=-1)


def _registers(b: Builder, op: Operand, count: int, what: str) -> list[int]:
    if op.width != count:
        raise b.fail(f"{what} must be {count} registers, not {op.width}")
    b.use(op, count)
    return [b.row(op, n) for n in range(count)]


def build_mfma(matrix: Matrix) -> Callable[[Instruction, Builder], Action]:
    bits = {"f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "f64": 64}.get(matrix.a, 8)
    sums = matrix.m * matrix.n * matrix.blocks // 64
    words = sums * (2 if matrix.accumulator == "f64" else 1)

    def build(i: Instruction, b: Builder) -> Action:
        for modifier in ("cbsz", "abid", "blgp"):
            if i.number(modifier) and matrix.accumulator != "f64":
                raise b.fail(f"{modifier} is not supported")
        d, a, c, addend = i.operands
        count = max(matrix.elements(64) * bits // 32, 1)
        a_rows, b_rows = _registers(b, a, count, "A"), _registers(b, c, count, "B")
        d_rows = [b.row(d, n) for n in range(words)]
        b.use(d, words, write=True)
        start = _accumulator(b, addend, words, matrix.accumulator)
        negate = i.number("blgp") if matrix.accumulator == "f64" else 0

        def run(s: State) -> None:
            left, right = DECODE[matrix.a](_stack(s, a_rows)), DECODE[matrix.b](_stack(s, b_rows))
            if negate:
                left, right = (-left if negate & 1 else left), (-right if negate & 2 else right)
            total = _multiply(matrix, left, right, start(s))
            write_stack(s, d_rows, total, matrix.accumulator)

        return Action(run)

    return build


def _accumulator(b: Builder, op: Operand, words: int, ty: str) -> Callable[[State], Array | float]:
    """C: registers, or a constant for all elements."""
    if op.is_register:
        rows = _registers(b, op, words, "C")
        if ty == "i32":
            return lambda s: _stack(s, rows).view(np.int32).astype(np.int64)
        decode = DECODE[ty]
        return lambda s: decode(_stack(s, rows))
    value = op.value
    return lambda s: value


def _multiply(x: Matrix, left: Array, right: Array, start: Array | float) -> Array:
    """D as (waves, lanes, elements of a lane)."""
    waves = left.shape[0]
    groups = 64 // x.m // x.blocks if x.m * x.blocks <= 64 else 1
    per = left.shape[-1]
    a = left.reshape(waves, groups, x.blocks, x.m, per) if x.blocks > 1 else left.reshape(waves, groups, 1, x.m, per)
    c = right.reshape(waves, groups, x.blocks, x.n, per) if x.blocks > 1 else right.reshape(waves, groups, 1, x.n, per)
    a = a.transpose(0, 2, 3, 1, 4).reshape(waves, x.blocks, x.m, groups * per)
    c = c.transpose(0, 2, 3, 1, 4).reshape(waves, x.blocks, x.n, groups * per)
    dots = a @ c.transpose(0, 1, 3, 2)  # (waves, blocks, m, n)
    block, row, column = _places(x)
    out: Array = dots[:, block, row, column] + start
    return out


def _places(x: Matrix) -> tuple[Array, Array, Array]:
    """(block, row, column) of each element, by lane and element of the lane."""
    lane, element = np.arange(64)[:, None], np.arange(x.m * x.n * x.blocks // 64)[None, :]
    column = lane % x.n
    if x.accumulator == "f64":
        if x.blocks > 1:  # 4x4x4: a lane an element
            return lane // 4 % 4 + element * 0, lane // 16 + element * 0, column + element * 0
        return element * 0 + lane * 0, lane // x.n + element * (64 // x.n), column + element * 0
    # Blocks follow each other in registers where one fills the lanes, and in lanes where it does not.
    per_block = x.m * x.n // 64
    groups = 64 // x.n
    if per_block >= 4:
        block, within = element // per_block, element % per_block
        row = within // 4 * 4 * groups + lane // x.n * 4 + within % 4
        return block + lane * 0, row, column + element * 0
    return lane // x.n + element * 0, element + lane * 0, column + element * 0


def write_stack(s: State, rows: list[int], total: Array, ty: str) -> None:
    """Write D in all lanes."""
    if ty == "f64":
        bits = total.view(U64)
        for n in range(len(rows) // 2):
            s.vectors[rows[2 * n]][s.at] = bits[..., n].astype(U32)
            s.vectors[rows[2 * n + 1]][s.at] = (bits[..., n] >> U64(32)).astype(U32)
        return
    value = total.astype(U32).view(np.int32) if ty == "i32" else total.astype(F32)
    words = value.view(U32)
    for n, row in enumerate(rows):
        s.vectors[row][s.at] = words[..., n]


def _declare_mfma() -> None:
    shapes = {
        "f32": ["32x32x1_2b_f32", "16x16x1_4b_f32", "4x4x1_16b_f32", "32x32x2_f32", "16x16x4_f32", "32x32x4_2b_f16"],
        "i32": ["32x32x4_2b_i8", "16x16x4_4b_i8", "4x4x4_16b_i8", "32x32x16_i8", "16x16x32_i8"],
        "f64": ["16x16x4_f64", "4x4x4_4b_f64"],
    }
    shapes["f32"] += ["16x16x4_4b_f16", "4x4x4_16b_f16", "32x32x8_f16", "16x16x16_f16", "32x32x4_xf32", "16x16x8_xf32"]
    shapes["f32"] += ["32x32x4_2b_bf16", "16x16x4_4b_bf16", "4x4x4_16b_bf16", "32x32x8_bf16", "16x16x16_bf16"]
    for a in ("fp8", "bf8"):
        for c in ("fp8", "bf8"):
            shapes["f32"] += [f"32x32x16_{a}_{c}", f"16x16x32_{a}_{c}"]
    for accumulator, names in shapes.items():
        for shape in names:
            matrix = parse_mfma(f"v_mfma_{accumulator}_{shape}")
            assert matrix is not None, shape
            # LLVM before version 22 also writes `32x32x8f16` and `32x32x8bf16_1k`.
            dense = re.sub(r"(x\d+)(?:_\d+b)?_", r"\1", shape)
            names_of = [f"v_mfma_{accumulator}_{shape}", f"v_mfma_{accumulator}_{dense}"]
            if "bf16" in shape:
                names_of.append(f"v_mfma_{accumulator}_{dense}_1k")
            special(" ".join(names_of))(build_mfma(matrix))


_declare_mfma()


# -- WMMA --------------------------------------------------------------------------------------------------------------


def _replicated(s: State, words: Array, what: str) -> Array:
    """The operand of lanes 0-15, which lanes 16-31 must repeat."""
    if (words[:, :16] != words[:, 16:]).any():
        wave = int(s.waves[np.argmax((words[:, :16] != words[:, 16:]).any(axis=(1, 2)))])
        raise s.error(EmulationError, f"{what} of lanes 16-31 differs from that of lanes 0-15", wave)
    return words[:, :16]


def _wmma(ty: str, result: str) -> Callable[[Instruction, Builder], Action]:
    """D (16 x 16) = A (16 x 16) B + C."""
    count = {"f16": 8, "bf16": 8, "iu8": 4, "iu4": 2}[ty]

    def build(i: Instruction, b: Builder) -> Action:
        d, a, c, addend = i.operands
        signs = i.bits("neg_lo", 0, 3)
        a_rows, b_rows = _registers(b, a, count, "A"), _registers(b, c, count, "B")
        d_rows = [b.row(d, n) for n in range(8)]
        b.use(d, 8, write=True)
        narrow = result in ("f16", "bf16")
        high = narrow and bool(i.bits("op_sel", 0, 3)[2])
        start = _wmma_addend(b, addend, result, high)
        if narrow:
            b.use(d, 8)
        negate = ty in ("f16", "bf16")
        clamp = "clamp" in i.modifiers
        both = [x ^ y for x, y in zip(signs, i.bits("neg_hi", 0, 3))]
        if negate and any(both[:2]):
            raise b.fail("neg_lo and neg_hi of A and B must agree")

        def run(s: State) -> None:
            left = _decoded(ty, _replicated(s, _stack(s, a_rows), "A"), signs[0])
            right = _decoded(ty, _replicated(s, _stack(s, b_rows), "B"), signs[1])
            dots = left @ right.transpose(0, 2, 1)
            lane, register = np.arange(32)[:, None], np.arange(8)[None, :]
            picked = dots[:, 2 * register + lane // 16, lane % 16 + register * 0]
            addend = start(s)
            total = picked + (-addend if negate and signs[2] else addend)
            if clamp and result == "i32":
                total = np.clip(total, -(1 << 31), (1 << 31) - 1)
            if narrow:
                _write_halves(s, d_rows, total, result, high)
            else:
                write_stack(s, d_rows, total, result)

        return Action(run)

    return build


def _decoded(ty: str, words: Array, sign: int) -> Array:
    """The elements of an operand; of floats `sign` negates, of integers it says that they are signed."""
    if ty == "iu4":
        shifts = np.arange(0, 32, 4, dtype=U32)
        parts = ((words[..., None] >> shifts) & U32(15)).reshape(*words.shape[:2], -1).astype(np.int64)
        return np.where(parts > 7, parts - 16, parts) if sign else parts
    if ty == "iu8":
        return DECODE["i8" if sign else "u8"](words)
    values = DECODE[ty](words)
    return -values if sign else values


def _wmma_addend(b: Builder, op: Operand, result: str, high: bool) -> Callable[[State], Array | float]:
    if not op.is_register:
        value = op.value
        return lambda s: value
    rows = _registers(b, op, 8, "C")
    if result == "i32":
        return lambda s: _stack(s, rows).view(np.int32).astype(np.int64)
    if result == "f32":
        return lambda s: _f32(_stack(s, rows))
    decode, shift = DECODE[result], U32(16 if high else 0)
    return lambda s: decode(((_stack(s, rows) >> shift) & U32(0xFFFF)).astype(U16))


def _write_halves(s: State, rows: list[int], total: Array, ty: str, high: bool) -> None:
    """Write one half of each register."""
    if ty == "f16":
        halves = total.astype(F16).view(U16).astype(U32)
    else:
        bits = total.astype(F32).view(U32)
        halves = (bits + U32(0x7FFF) + (bits >> U32(16) & U32(1))) >> U32(16)
        halves = np.where(np.isnan(total), U32(0x7FC0), halves)
    for n, row in enumerate(rows):
        old = s.vectors[row][s.at]
        half = halves[..., n]
        s.vectors[row][s.at] = (old & U32(0xFFFF)) | (half << U32(16)) if high else (old & U32(0xFFFF0000)) | half


for _ty, _result in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("iu8", "i32"), ("iu4", "i32")):
    special(f"v_wmma_{_result}_16x16x16_{_ty}")(_wmma(_ty, _result))
