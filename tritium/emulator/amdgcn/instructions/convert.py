"""Conversions (MI300 ISA, sections 12.8 and 12.10; RDNA3 ISA, sections 16.8 and 16.10)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Array
from ..assembly import Instruction
from ..operands import Builder, store
from ..registry import Action, special, vector
from ..small_floats import decode_fnuz, encode_fnuz
from ..state import State

F16, F32, F64 = np.float16, np.float32, np.float64
U16, U32, I32, I64 = np.uint16, np.uint32, np.int32, np.int64


def to_integer(dtype: type[np.generic]) -> Callable[[Array], Array]:
    """Truncate towards zero; saturate; NaN becomes 0."""
    limits = np.iinfo(np.dtype(dtype))

    def convert(a: Array) -> Array:
        wide = np.nan_to_num(np.trunc(a.astype(F64)), nan=0.0, posinf=float(limits.max), neginf=float(limits.min))
        return np.clip(wide, limits.min, limits.max).astype(I64).astype(dtype)

    return convert


for _from in ("f32", "f64"):
    vector(f"v_cvt_i32_{_from}", f"i32 = {_from}")(to_integer(I32))
    vector(f"v_cvt_u32_{_from}", f"u32 = {_from}")(to_integer(U32))
vector("v_cvt_i16_f16", "i16 = f16")(to_integer(np.int16))
vector("v_cvt_u16_f16", "u16 = f16")(to_integer(U16))
vector("v_cvt_f32_i32", "f32 = i32")(lambda a: a.astype(F32))
vector("v_cvt_f32_u32", "f32 = u32")(lambda a: a.astype(F32))
vector("v_cvt_f64_i32", "f64 = i32")(lambda a: a.astype(F64))
vector("v_cvt_f64_u32", "f64 = u32")(lambda a: a.astype(F64))
vector("v_cvt_f16_i16", "f16 = i16")(lambda a: a.astype(F32).astype(F16))
vector("v_cvt_f16_u16", "f16 = u16")(lambda a: a.astype(F32).astype(F16))
vector("v_cvt_f32_f16", "f32 = f16")(lambda a: a.astype(F32))
vector("v_cvt_f64_f32", "f64 = f32")(lambda a: a.astype(F64))
vector("v_cvt_f32_f64", "f32 = f64")(lambda a: a.astype(F32))
vector("v_cvt_i32_i16", "i32 = i16")(lambda a: a.astype(I32))
vector("v_cvt_u32_u16", "u32 = u16")(lambda a: a.astype(U32))
vector("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", "i32 = f32")(lambda a: to_integer(I32)(np.floor(a.astype(F64) + 0.5)))
vector("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", "i32 = f32")(lambda a: to_integer(I32)(np.floor(a)))
for _n in range(4):
    vector(f"v_cvt_f32_ubyte{_n}", "f32 = b32")(
        (lambda shift: lambda a: ((a >> U32(shift)) & U32(255)).astype(F32))(8 * _n)
    )


@vector("v_cvt_f16_f32", "f16 = f32 saturate")
def cvt_f16_f32(a: Array, saturate: Array) -> Array:
    """Round to f16; with FP16_OVFL a finite number stays finite."""
    out = a.astype(F16)
    return np.where(saturate & np.isinf(out) & np.isfinite(a), np.copysign(F16(65504), out), out)


def pack16(low: Array, high: Array) -> Array:
    """Two arrays of 16 bits as the halves of words."""
    low, high = np.broadcast_arrays(low, high)
    low, high = np.ascontiguousarray(low).view(U16), np.ascontiguousarray(high).view(U16)
    return low.astype(U32) | (high.astype(U32) << U32(16))


def towards_zero16(a: Array) -> Array:
    """f32 as f16, rounded towards zero."""
    out = a.astype(F16)
    beyond = np.abs(out.astype(F32)) > np.abs(a)
    return np.where(beyond, (out.view(U16) - U16(1)).view(F16), out)


@vector("v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32", "b32 = f32 f32")
def pkrtz(a: Array, b: Array) -> Array:
    return pack16(towards_zero16(a), towards_zero16(b))


@vector("v_cvt_pk_i16_f32", "b32 = f32 f32")
def pk_i16_f32(a: Array, b: Array) -> Array:
    return pack16(to_integer(np.int16)(a), to_integer(np.int16)(b))


@vector("v_cvt_pk_u16_f32", "b32 = f32 f32")
def pk_u16_f32(a: Array, b: Array) -> Array:
    return pack16(to_integer(U16)(a), to_integer(U16)(b))


@vector("v_pack_b32_f16", "b32 = f16 f16")
def pack_f16(a: Array, b: Array) -> Array:
    return pack16(a, b)


@vector("v_cvt_pk_u16_u32", "b32 = u32 u32")
def pk_u16(a: Array, b: Array) -> Array:
    return pack16(np.minimum(a, U32(65535)).astype(U16), np.minimum(b, U32(65535)).astype(U16))


@vector("v_cvt_pk_i16_i32", "b32 = i32 i32")
def pk_i16(a: Array, b: Array) -> Array:
    return pack16(np.clip(a, -32768, 32767).astype(np.int16), np.clip(b, -32768, 32767).astype(np.int16))


# -- 8-bit floats (gfx942: the FNUZ formats, MI300 ISA, section 7.1) ---------------------------------------------------


def _to_eight_bits(name: str) -> Callable[[Instruction, Builder], Action]:
    """Two f32 as two bytes of one half of the destination; `op_sel` picks the half, the other keeps its value."""

    def build(i: Instruction, b: Builder) -> Action:
        first, second = b.source(1, "f32"), b.source(2, "f32")
        row = b.row(i.operands[0])
        b.use(i.operands[0], 1)
        b.use(i.operands[0], 1, write=True)
        high = bool(i.bits("op_sel", 0, 3)[2])

        def run(s: State) -> None:
            one, two = np.broadcast_arrays(first(s), second(s))
            half = encode_fnuz(name, one, s.saturate).astype(U32) | (
                encode_fnuz(name, two, s.saturate).astype(U32) << U32(8)
            )
            old = s.vectors[row][s.at]
            word = (old & U32(0xFFFF)) | (half << U32(16)) if high else (old & U32(0xFFFF0000)) | half
            store(s, s.vectors[row], word)

        return Action(run)

    return build


def _from_eight_bits(name: str) -> Callable[[Instruction, Builder], Action]:
    """Two bytes of the half that SDWA or `op_sel` selects as two f32."""

    def build(i: Instruction, b: Builder) -> Action:
        plain = Instruction(i.name, i.encoding, i.operands, {}, i.text, i.line, i.loc, i.address)
        inner = Builder(plain, b.limits)
        source = inner.source(1, "b32")
        b.reads |= inner.reads
        write = b.destination(0, "b64")
        high = i.modifiers.get("src0_sel") == "WORD_1" or bool(i.bits("op_sel", 0, 1)[0])

        def run(s: State) -> None:
            word = source(s) >> U32(16) if high else source(s)
            low, upper = decode_fnuz(name, word & U32(255)), decode_fnuz(name, word >> U32(8) & U32(255))
            bits = low.view(U32).astype(np.uint64) | (upper.view(U32).astype(np.uint64) << np.uint64(32))
            write(s, bits)

        return Action(run)

    return build


def _one_from_eight_bits(name: str) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        plain = Instruction(i.name, i.encoding, i.operands, {}, i.text, i.line, i.loc, i.address)
        inner = Builder(plain, b.limits)
        source = inner.source(1, "b32")
        b.reads |= inner.reads
        write = b.destination(0, "f32")
        selected = i.modifiers.get("src0_sel", "BYTE_0")
        shift = U32(8 * int(selected[-1]) if selected.startswith("BYTE") else 0)
        return Action(lambda s: write(s, decode_fnuz(name, (source(s) >> shift) & U32(255))))

    return build


for _name in ("fp8", "bf8"):
    special(f"v_cvt_pk_{_name}_f32")(_to_eight_bits(_name))
    special(f"v_cvt_pk_f32_{_name}")(_from_eight_bits(_name))
    special(f"v_cvt_f32_{_name}")(_one_from_eight_bits(_name))
