"""Packed math: VOP3P (MI300 ISA, sections 6.7 and 12.12; RDNA3 ISA, sections 7.5 and 16.11).

`op_sel` picks, for each source, the half that the low result is made of, `op_sel_hi` that of the high result; `neg_lo`
and `neg_hi` negate them. Of packed f32 the halves are the registers of a pair.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...floats import fma32
from ...types import Array
from ..assembly import Instruction, Operand
from ..operands import DTYPES, Builder, Reader, store
from ..registry import Action, special
from ..state import State
from .convert import pack16
from .floating import fma16, fmax, fmin
from .integer import packed_parts

F16, F32, F64 = np.float16, np.float32, np.float64
U16, U32 = np.uint16, np.uint32


def _half(b: Builder, n: int, ty: str, high: int, negate: int) -> Reader:
    """One half of a packed 16-bit operand."""
    op = b.i.operands[n]
    plain = Operand(op.kind, op.number, op.width, op.value, op.name)
    b.use(plain, 1)
    raw = b.raw(plain, ty, 16, True, n)
    shift, dtype = U32(16 if high else 0), DTYPES[ty]
    sign = U16(0x8000 if negate else 0)
    return lambda s: ((raw(s) >> shift).astype(U16) ^ sign).view(dtype)


def _packed16(ty: str, count: int, function: Callable[..., Array]) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        low, high = i.bits("op_sel", 0, count), i.bits("op_sel_hi", 1, count)
        negate_low, negate_high = i.bits("neg_lo", 0, count), i.bits("neg_hi", 0, count)
        lows = [_half(b, n + 1, ty, low[n], negate_low[n]) for n in range(count)]
        highs = [_half(b, n + 1, ty, high[n], negate_high[n]) for n in range(count)]
        write = b.destination(0, "b32")
        dtype = DTYPES[ty]
        clamp = "clamp" in i.modifiers and ty == "f16"

        def run(s: State) -> None:
            parts = [function(*[r(s) for r in readers]).astype(dtype) for readers in (lows, highs)]
            if clamp:
                parts = [np.nan_to_num(np.clip(p, 0, 1), nan=0.0) for p in parts]
            write(s, pack16(*parts))

        return Action(run)

    return build


_FLOAT16: dict[str, tuple[int, Callable[..., Array]]] = {
    "add": (2, lambda a, b: a + b),
    "mul": (2, lambda a, b: a * b),
    "min": (2, fmin),
    "max": (2, fmax),
    "fma": (3, fma16),
}
_INTEGER16: dict[str, tuple[int, Callable[..., Array], tuple[str, ...]]] = {
    "add": (2, lambda a, b: a + b, ("i16", "u16")),
    "sub": (2, lambda a, b: a - b, ("i16", "u16")),
    "min": (2, np.minimum, ("i16", "u16")),
    "max": (2, np.maximum, ("i16", "u16")),
    "mul_lo": (2, lambda a, b: a * b, ("u16",)),
    "mad": (3, lambda a, b, c: a * b + c, ("i16", "u16")),
    "lshlrev": (2, lambda n, a: a << (n & U16(15)), ("b16",)),
    "lshrrev": (2, lambda n, a: a >> (n & U16(15)), ("b16",)),
    "ashrrev": (2, lambda n, a: a >> (n & np.int16(15)), ("i16",)),
}
for _name, (_count, _function) in _FLOAT16.items():
    special(f"v_pk_{_name}_f16")(_packed16("f16", _count, _function))
for _name, (_count, _function, _types) in _INTEGER16.items():
    for _ty in _types:
        special(f"v_pk_{_name}_{_ty}")(_packed16(_ty, _count, _function))


# -- packed f32 --------------------------------------------------------------------------------------------------------


def _word(b: Builder, n: int, high: int, negate: int) -> Reader:
    """One register of a packed f32 operand; both halves of a constant are the constant."""
    op = b.i.operands[n]
    number = op.number + (high if op.is_register else 0)
    part = Operand(op.kind, number, 1, op.value, op.name)
    b.use(part, 1)
    raw = b.raw(part, "f32", 32, True, n)
    sign = U32(0x80000000 if negate else 0)
    return lambda s: (raw(s) ^ sign).view(F32)


def _packed32(count: int, function: Callable[..., Array]) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        low, high = i.bits("op_sel", 0, count), i.bits("op_sel_hi", 1, count)
        negate_low, negate_high = i.bits("neg_lo", 0, count), i.bits("neg_hi", 0, count)
        lows = [_word(b, n + 1, low[n], negate_low[n]) for n in range(count)]
        highs = [_word(b, n + 1, high[n], negate_high[n]) for n in range(count)]
        op = i.operands[0]
        b.use(op, 2, write=True)
        rows = (b.row(op), b.row(op, 1))

        def run(s: State) -> None:
            one = np.array(function(*[r(s) for r in lows]))
            two = function(*[r(s) for r in highs])
            store(s, s.floats[rows[0]], one)
            store(s, s.floats[rows[1]], two)

        return Action(run)

    return build


special("v_pk_add_f32")(_packed32(2, lambda a, b: a + b))
special("v_pk_mul_f32")(_packed32(2, lambda a, b: a * b))
special("v_pk_fma_f32")(_packed32(3, fma32))


@special("v_pk_mov_b32")
def pk_mov(i: Instruction, b: Builder) -> Action:
    """D.low = a register of the first pair, D.high = one of the second."""
    select = i.bits("op_sel", 0, 2)
    first, second = _word(b, 1, select[0], 0), _word(b, 2, select[1], 0)
    op = i.operands[0]
    b.use(op, 2, write=True)
    rows = (b.row(op), b.row(op, 1))

    def run(s: State) -> None:
        one, two = np.array(first(s)), np.array(second(s))
        store(s, s.floats[rows[0]], one)
        store(s, s.floats[rows[1]], two)

    return Action(run)


# -- mixed precision ---------------------------------------------------------------------------------------------------


def _mixed(b: Builder, n: int, half: int, high: int, negate: int) -> Reader:
    """An operand of V_FMA_MIX: f32, or (op_sel_hi) the half of a register that op_sel picks, as f32."""
    op = b.i.operands[n]
    plain = Operand(op.kind, op.number, op.width, op.value, op.name)
    b.use(plain, 1)
    raw = b.raw(plain, "f16" if half else "f32", 16 if half else 32, True, n)
    shift = U32(16 if high and op.is_register else 0)

    def read(s: State) -> Array:
        value = (raw(s) >> shift).astype(U16).view(F16).astype(F32) if half else raw(s).view(F32)
        if op.absolute:
            value = np.abs(value)
        return -value if op.negate or negate else value

    return read


@special("v_fma_mix_f32 v_mad_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16 v_mad_mixlo_f16 v_mad_mixhi_f16")
def fma_mix(i: Instruction, b: Builder) -> Action:
    """D = fma(S0, S1, S2) of operands in f32 or f16, rounded once to f32, or further to one half of D."""
    high, half, negate = i.bits("op_sel", 0, 3), i.bits("op_sel_hi", 0, 3), i.bits("neg_lo", 0, 3)
    readers = [_mixed(b, n + 1, half[n], high[n], negate[n]) for n in range(3)]
    op = i.operands[0]
    row = b.row(op)
    b.use(op, 1, write=True)
    to_half = "_mix_" not in i.name
    shift = U32(16 if "mixhi" in i.name else 0)
    if to_half:
        b.use(op, 1)
    keep = U32(0xFFFF if shift else 0xFFFF0000)
    clamp = "clamp" in i.modifiers

    def run(s: State) -> None:
        value = fma32(*[r(s) for r in readers])
        if clamp:
            value = np.nan_to_num(np.clip(value, F32(0), F32(1)), nan=0.0)
        if not to_half:
            store(s, s.floats[row], value)
            return
        word = value.astype(F16).view(U16).astype(U32) << shift
        store(s, s.vectors[row], (s.vectors[row][s.at] & keep) | word)

    return Action(run)


# -- dots of packed integers with signs (GFX11) ------------------------------------------------------------------------


def _signed_dot(bits: int) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        from_signs = i.bits("neg_lo", 0, 2)
        a, c, d = (_bits32(b, n) for n in (1, 2, 3))
        write = b.destination(0, "i32")

        def run(s: State) -> None:
            parts = packed_parts(a(s), bits, bool(from_signs[0])) * packed_parts(c(s), bits, bool(from_signs[1]))
            write(s, (parts.sum(axis=-1) + d(s).view(np.int32)).astype(U32).view(np.int32))

        return Action(run)

    return build


def _bits32(b: Builder, n: int) -> Reader:
    op = b.i.operands[n]
    b.use(op, 1)
    return b.raw(op, "b32", 32, True, n)


special("v_dot4_i32_iu8")(_signed_dot(8))
special("v_dot8_i32_iu4")(_signed_dot(4))
