"""Integer and bit instructions of the vector ALU (MI300 ISA, sections 6 and 12.7-12.11; RDNA3 ISA, 7 and 16.7-16.10).

Names differ between the generations: GFX9 writes `v_add_u32`, GFX11 `v_add_nc_u32`, for a sum without carry.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Array
from ..bits import bit_count, first_bit_high, first_bit_low, reverse, sign_run
from ..registry import vector

U16, U32, I32, U64, I64 = np.uint16, np.uint32, np.int32, np.uint64, np.int64
M24 = U32(0xFFFFFF)


# -- moves and logic ---------------------------------------------------------------------------------------------------


@vector("v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", "b32 = b32")
@vector("v_mov_b64", "b64 = b64")
@vector("v_mov_b16", "b16 = b16")
def mov(a: Array) -> Array:
    return a


@vector("v_cndmask_b32", "b32 = f32 f32 mask")
@vector("v_cndmask_b16", "b16 = b16 b16 mask")
def cndmask(a: Array, b: Array, mask: Array) -> Array:
    out = np.where(mask, b, a)
    return out.view(U32) if out.dtype == np.float32 else out


LOGIC: dict[str, Callable[[Array, Array], Array]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xnor": lambda a, b: ~(a ^ b),
}
for _name, _function in LOGIC.items():
    vector(f"v_{_name}_b32", "b32 = b32 b32")(_function)
    vector(f"v_{_name}_b16", "b16 = b16 b16")(_function)


@vector("v_not_b32", "b32 = b32")
@vector("v_not_b16", "b16 = b16")
def invert(a: Array) -> Array:
    return ~a


@vector("v_and_or_b32", "b32 = b32 b32 b32")
def and_or(a: Array, b: Array, c: Array) -> Array:
    return (a & b) | c


@vector("v_or3_b32", "b32 = b32 b32 b32")
def or3(a: Array, b: Array, c: Array) -> Array:
    return a | b | c


@vector("v_xor3_b32", "b32 = b32 b32 b32")
def xor3(a: Array, b: Array, c: Array) -> Array:
    return a ^ b ^ c


@vector("v_xad_u32", "u32 = u32 u32 u32")
def xad(a: Array, b: Array, c: Array) -> Array:
    return (a ^ b) + c


@vector("v_add3_u32", "u32 = u32 u32 u32")
def add3(a: Array, b: Array, c: Array) -> Array:
    return a + b + c


@vector("v_lshl_or_b32", "b32 = b32 u32 b32")
def lshl_or(a: Array, n: Array, c: Array) -> Array:
    return (a << (n & U32(31))) | c


@vector("v_lshl_add_u32", "u32 = u32 u32 u32")
def lshl_add(a: Array, n: Array, c: Array) -> Array:
    return (a << (n & U32(31))) + c


@vector("v_add_lshl_u32", "u32 = u32 u32 u32")
def add_lshl(a: Array, b: Array, n: Array) -> Array:
    return (a + b) << (n & U32(31))


@vector("v_lshl_add_u64", "u64 = u64 u32 u64")
def lshl_add_u64(a: Array, n: Array, c: Array) -> Array:
    return (a << (n & U32(7)).astype(U64)) + c


@vector("v_bfi_b32", "b32 = b32 b32 b32")
def bfi(mask: Array, a: Array, b: Array) -> Array:
    return (mask & a) | (~mask & b)


@vector("v_bfm_b32", "b32 = u32 u32")
def bfm(a: Array, b: Array) -> Array:
    return ((U32(1) << (a & U32(31))) - U32(1)) << (b & U32(31))


@vector("v_bfe_u32", "u32 = u32 u32 u32")
def bfe_u32(a: Array, offset: Array, width: Array) -> Array:
    width = width & U32(31)
    return (a >> (offset & U32(31))) & ((U32(1) << width) - U32(1))


@vector("v_bfe_i32", "i32 = i32 u32 u32")
def bfe_i32(a: Array, offset: Array, width: Array) -> Array:
    offset, width = offset & U32(31), width & U32(31)
    field = a.astype(I64) >> offset.astype(I64)
    shift = (U32(64) - width).astype(I64)
    return np.where(width == 0, I32(0), ((field << shift) >> shift).astype(I32))


@vector("v_bfrev_b32", "b32 = b32")
def bfrev(a: Array) -> Array:
    return reverse(a)


@vector("v_bcnt_u32_b32", "u32 = b32 u32")
def bcnt(a: Array, b: Array) -> Array:
    return bit_count(a) + b


@vector("v_ffbh_u32 v_clz_i32_u32", "u32 = b32")
def ffbh(a: Array) -> Array:
    return first_bit_high(a)


@vector("v_ffbl_b32 v_ctz_i32_b32", "u32 = b32")
def ffbl(a: Array) -> Array:
    return first_bit_low(a)


@vector("v_ffbh_i32 v_cls_i32", "u32 = b32")
def ffbh_i32(a: Array) -> Array:
    return sign_run(a)


@vector("v_alignbit_b32", "b32 = b32 b32 u32")
def alignbit(high: Array, low: Array, n: Array) -> Array:
    joined = (high.astype(U64) << U64(32)) | low
    return (joined >> (n & U32(31)).astype(U64)).astype(U32)


@vector("v_alignbyte_b32", "b32 = b32 b32 u32")
def alignbyte(high: Array, low: Array, n: Array) -> Array:
    joined = (high.astype(U64) << U64(32)) | low
    return (joined >> ((n & U32(3)) * U32(8)).astype(U64)).astype(U32)


@vector("v_perm_b32", "b32 = b32 b32 b32")
def perm(high: Array, low: Array, selector: Array) -> Array:
    """Each byte of the selector picks one of eight bytes; 8-11 a sign, 12 zero, above 12 ones."""
    joined = (high.astype(U64) << U64(32)) | low
    out: Array = U32(0)
    for n in range(4):
        which = selector >> U32(8 * n) & U32(255)
        byte = (joined >> ((which & U32(7)) * U32(8)).astype(U64)).astype(U32) & U32(255)
        sign = (joined >> ((which & U32(3)) * U32(16) + U32(15)).astype(U64)).astype(U32) & U32(1)
        byte = np.where(which < 8, byte, np.where(which < 12, sign * U32(255), np.where(which == 12, U32(0), U32(255))))
        out = out | (byte << U32(8 * n))
    return out


@vector("v_lshlrev_b32", "b32 = u32 b32")
def lshlrev(n: Array, a: Array) -> Array:
    return a << (n & U32(31))


@vector("v_lshrrev_b32", "b32 = u32 b32")
def lshrrev(n: Array, a: Array) -> Array:
    return a >> (n & U32(31))


@vector("v_ashrrev_i32", "i32 = u32 i32")
def ashrrev(n: Array, a: Array) -> Array:
    return a >> (n & U32(31)).view(I32)


@vector("v_lshlrev_b64", "b64 = u32 b64")
def lshlrev64(n: Array, a: Array) -> Array:
    return a << (n & U32(63)).astype(U64)


@vector("v_lshrrev_b64", "b64 = u32 b64")
def lshrrev64(n: Array, a: Array) -> Array:
    return a >> (n & U32(63)).astype(U64)


@vector("v_ashrrev_i64", "i64 = u32 i64")
def ashrrev64(n: Array, a: Array) -> Array:
    return a >> (n & U32(63)).astype(I64)


@vector("v_lshlrev_b16", "b16 = u16 b16")
def lshlrev16(n: Array, a: Array) -> Array:
    return a << (n & U16(15))


@vector("v_lshrrev_b16", "b16 = u16 b16")
def lshrrev16(n: Array, a: Array) -> Array:
    return a >> (n & U16(15))


@vector("v_ashrrev_i16", "i16 = u16 i16")
def ashrrev16(n: Array, a: Array) -> Array:
    return a >> (n & U16(15)).view(np.int16)


# -- sums --------------------------------------------------------------------------------------------------------------


def _saturated(ty: type[np.generic], operation: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    limits = np.iinfo(np.dtype(ty))
    return lambda a, b: np.clip(operation(a.astype(I64), b.astype(I64)), limits.min, limits.max).astype(ty)


def _add(a: Array, b: Array) -> Array:
    return a + b


def _sub(a: Array, b: Array) -> Array:
    return a - b


for _ty, _dtype in (("u32", U32), ("i32", I32), ("u16", U16), ("i16", np.int16)):
    for _word, _operation in (("add", _add), ("sub", _sub)):
        _names = f"v_{_word}_{_ty} v_{_word}_nc_{_ty}"
        vector(_names, f"{_ty} = {_ty} {_ty}", clamped=_saturated(_dtype, _operation))(_operation)
    vector(
        f"v_subrev_{_ty} v_subrev_nc_{_ty}",
        f"{_ty} = {_ty} {_ty}",
        clamped=_saturated(_dtype, lambda a, b: b - a),
    )(lambda a, b: b - a)


@vector("v_add_co_u32", "u32 mask = u32 u32")
def add_co(a: Array, b: Array) -> tuple[Array, Array]:
    out = a + b
    return out, out < a


@vector("v_sub_co_u32", "u32 mask = u32 u32")
def sub_co(a: Array, b: Array) -> tuple[Array, Array]:
    return a - b, b > a


@vector("v_subrev_co_u32", "u32 mask = u32 u32")
def subrev_co(a: Array, b: Array) -> tuple[Array, Array]:
    return b - a, a > b


@vector("v_addc_co_u32 v_add_co_ci_u32", "u32 mask = u32 u32 mask")
def addc_co(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    total = a.astype(U64) + b + carry
    return total.astype(U32), total >> U64(32) != 0


@vector("v_subb_co_u32 v_sub_co_ci_u32", "u32 mask = u32 u32 mask")
def subb_co(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    taken = b.astype(U64) + borrow
    return (a.astype(U64) - taken).astype(U32), taken > a


@vector("v_subbrev_co_u32 v_subrev_co_ci_u32", "u32 mask = u32 u32 mask")
def subbrev_co(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    return subb_co(b, a, borrow)


@vector("v_mul_lo_u32", "u32 = u32 u32")
@vector("v_mul_lo_u16", "u16 = u16 u16")
def mul_lo(a: Array, b: Array) -> Array:
    return a * b


@vector("v_mul_hi_u32", "u32 = u32 u32")
def mul_hi_u32(a: Array, b: Array) -> Array:
    return (a.astype(U64) * b >> U64(32)).astype(U32)


@vector("v_mul_hi_i32", "i32 = i32 i32")
def mul_hi_i32(a: Array, b: Array) -> Array:
    return (a.astype(I64) * b >> I64(32)).astype(I32)


def _u24(a: Array) -> Array:
    return (a & M24).astype(U64)


def _i24(a: Array) -> Array:
    return (a.view(I32) << I32(8) >> I32(8)).astype(I64)


@vector("v_mul_u32_u24", "u32 = u32 u32")
def mul_u24(a: Array, b: Array) -> Array:
    return (_u24(a) * _u24(b)).astype(U32)


@vector("v_mul_hi_u32_u24", "u32 = u32 u32")
def mul_hi_u24(a: Array, b: Array) -> Array:
    return (_u24(a) * _u24(b) >> U64(32)).astype(U32)


@vector("v_mul_i32_i24", "u32 = u32 u32")
def mul_i24(a: Array, b: Array) -> Array:
    return (_i24(a) * _i24(b)).astype(U32)


@vector("v_mul_hi_i32_i24", "u32 = u32 u32")
def mul_hi_i24(a: Array, b: Array) -> Array:
    return (_i24(a) * _i24(b) >> I64(32)).astype(U32)


@vector("v_mad_u32_u24", "u32 = u32 u32 u32")
def mad_u24(a: Array, b: Array, c: Array) -> Array:
    return (_u24(a) * _u24(b)).astype(U32) + c


@vector("v_mad_i32_i24", "u32 = u32 u32 u32")
def mad_i24(a: Array, b: Array, c: Array) -> Array:
    return (_i24(a) * _i24(b)).astype(U32) + c


@vector("v_mad_u64_u32", "u64 mask = u32 u32 u64")
def mad_u64(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    out = a.astype(U64) * b + c
    return out, out < c


@vector("v_mad_i64_i32", "i64 mask = i32 i32 i64")
def mad_i64(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    multiplied = a.astype(I64) * b
    out = multiplied + c
    return out, ((multiplied ^ out) & (c ^ out)) < 0


@vector("v_mad_u32_u16", "u32 = u16 u16 u32")
def mad_u32_u16(a: Array, b: Array, c: Array) -> Array:
    return a.astype(U32) * b + c


@vector("v_mad_i32_i16", "i32 = i16 i16 i32")
def mad_i32_i16(a: Array, b: Array, c: Array) -> Array:
    return a.astype(I32) * b + c


@vector("v_mad_u16 v_mad_legacy_u16", "u16 = u16 u16 u16")
@vector("v_mad_i16 v_mad_legacy_i16", "i16 = i16 i16 i16")
def mad16(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


# -- minimum and maximum -----------------------------------------------------------------------------------------------


def _median(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


for _ty in ("u32", "i32", "u16", "i16"):
    vector(f"v_min_{_ty}", f"{_ty} = {_ty} {_ty}")(np.minimum)
    vector(f"v_max_{_ty}", f"{_ty} = {_ty} {_ty}")(np.maximum)
    _three = f"{_ty} = {_ty} {_ty} {_ty}"
    vector(f"v_min3_{_ty}", _three)(lambda a, b, c: np.minimum(np.minimum(a, b), c))
    vector(f"v_max3_{_ty}", _three)(lambda a, b, c: np.maximum(np.maximum(a, b), c))
    vector(f"v_med3_{_ty}", _three)(_median)
    vector(f"v_minmax_{_ty}", _three)(lambda a, b, c: np.maximum(np.minimum(a, b), c))
    vector(f"v_maxmin_{_ty}", _three)(lambda a, b, c: np.minimum(np.maximum(a, b), c))


@vector("v_sad_u32", "u32 = u32 u32 u32")
def sad(a: Array, b: Array, c: Array) -> Array:
    return np.where(a > b, a - b, b - a) + c


# -- dots of packed integers -------------------------------------------------------------------------------------------


def packed_parts(a: Array, bits: int, signed: bool) -> Array:
    """The parts of `bits` bits of 32-bit words, along a new last axis, as i64."""
    shifts = np.arange(0, 32, bits, dtype=U32)
    parts = (a[..., None] >> shifts) & U32((1 << bits) - 1)
    if not signed:
        return parts.astype(I64)
    shift = I32(32 - bits)
    return ((parts.view(I32) << shift) >> shift).astype(I64)


def _dot(bits: int, signed: bool) -> Callable[[Array, Array, Array], Array]:
    def dot(a: Array, b: Array, c: Array) -> Array:
        total = (packed_parts(a, bits, signed) * packed_parts(b, bits, signed)).sum(axis=-1)
        return (total + c.view(I32)).astype(U32)

    return dot


for _bits, _name in ((8, "dot4"), (4, "dot8")):
    vector(f"v_{_name}_u32_u{_bits}", "u32 = u32 u32 u32")(_dot(_bits, False))
    vector(f"v_{_name}_i32_i{_bits}", "u32 = u32 u32 u32")(_dot(_bits, True))
    vector(f"v_{_name}c_i32_i{_bits}", "u32 = u32 u32 d:u32")(_dot(_bits, True))
