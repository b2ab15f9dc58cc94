"""Integer and bit instructions of the vector ALU against NumPy and Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, SPECIAL_INTEGERS, pairs, vector

M = 0xFFFFFFFF


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def reversed_bits(x: int) -> int:
    return int(f"{x:032b}"[::-1], 2)


def high_zeros(x: int) -> int:
    return 32 - x.bit_length() if x else M


def field(x: int, offset: int, width: int) -> int:
    return x >> (offset & 31) & ((1 << (width & 31)) - 1)


TWO = {
    "v_and_b32_e32": lambda a, b: a & b,
    "v_or_b32_e32": lambda a, b: a | b,
    "v_xor_b32_e32": lambda a, b: a ^ b,
    "v_xnor_b32_e32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32_e32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32_e32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32_e32": lambda a, b: signed(b) >> (a & 31),
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: signed(a) * signed(b) >> 32,
    "v_mul_u32_u24_e32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24_e32": lambda a, b: signed(a, 24) * signed(b, 24),
    "v_mul_hi_u32_u24_e32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_min_u32_e32": min,
    "v_max_u32_e32": max,
    "v_min_i32_e32": lambda a, b: min(signed(a), signed(b)),
    "v_max_i32_e32": lambda a, b: max(signed(a), signed(b)),
    "v_bcnt_u32_b32": lambda a, b: bin(a).count("1") + b,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
}
RENAMED = {
    "v_add_u32_e32": ("v_add_nc_u32_e32", lambda a, b: a + b),
    "v_sub_u32_e32": ("v_sub_nc_u32_e32", lambda a, b: a - b),
    "v_subrev_u32_e32": ("v_subrev_nc_u32_e32", lambda a, b: b - a),
}
ONE = {
    "v_mov_b32_e32": lambda a: a,
    "v_not_b32_e32": lambda a: ~a,
    "v_bfrev_b32_e32": reversed_bits,
}
COUNTS = {
    "v_ffbh_u32_e32": ("v_clz_i32_u32_e32", high_zeros),
    "v_ffbl_b32_e32": ("v_ctz_i32_b32_e32", lambda a: high_zeros(reversed_bits(a))),
    "v_ffbh_i32_e32": ("v_cls_i32_e32", lambda a: high_zeros(a ^ (signed(a) >> 31 & M))),
}
THREE = {
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & 31),
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_bfe_u32": field,
    "v_bfe_i32": lambda a, b, c: field(signed(a), b, c) - ((field(signed(a), b, c) << 1) & (1 << (c & 31))),
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: signed(a, 24) * signed(b, 24) + c,
    "v_min3_u32": min,
    "v_max3_i32": lambda a, b, c: max(map(signed, (a, b, c))),
    "v_med3_i32": lambda a, b, c: sorted(map(signed, (a, b, c)))[1],
    "v_med3_u32": lambda a, b, c: sorted((a, b, c))[1],
    "v_mad_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_perm_b32": lambda a, b, c: sum(permuted(a << 32 | b, c >> 8 * n & 255) << 8 * n for n in range(4)),
}


def permuted(pair: int, which: int) -> int:
    if which < 8:
        return pair >> 8 * which & 255
    if which < 12:
        return 255 * (pair >> (16 * (which - 8) + 15) & 1)
    return 0 if which == 12 else 255


def expected(function, *columns) -> np.ndarray:
    return np.array([function(*map(int, row)) & M for row in zip(*columns)], np.uint32)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [*TWO, *RENAMED])
def test_instruction_of_two_integers(name, chip):
    spelled, function = (name, TWO[name]) if name in TWO else RENAMED[name]
    if chip == "gfx942":
        spelled = name
    a, b = pairs(SPECIAL_INTEGERS)
    got = vector(f"{spelled} v40, v10, v14", a, b, chip=chip)
    np.testing.assert_array_equal(got, expected(function, a, b))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [*ONE, *COUNTS])
def test_instruction_of_one_integer(name, chip):
    renamed, function = (name, ONE[name]) if name in ONE else COUNTS[name]
    got = vector(f"{name if chip == 'gfx942' else renamed} v40, v10", SPECIAL_INTEGERS, chip=chip)
    np.testing.assert_array_equal(got, expected(function, SPECIAL_INTEGERS))


@pytest.mark.parametrize("name", THREE)
def test_instruction_of_three_integers(name, seed):
    a, b, c = np.random.default_rng(seed).choice(SPECIAL_INTEGERS, (3, 512))
    if name == "v_perm_b32":
        c = np.random.default_rng(seed).integers(0, 15, (512, 4), np.uint8).view(np.uint32)[:, 0]
    got = vector(f"{name} v40, v10, v14, v18", a, b, c)
    np.testing.assert_array_equal(got, expected(THREE[name], a, b, c))


@pytest.mark.parametrize("chip", CHIPS)
def test_carries_go_from_sum_to_sum(chip, seed):
    a, b = np.random.default_rng(seed).integers(0, 1 << 64, (2, 128), np.uint64)
    words = [x.view(np.uint32).reshape(-1, 2) for x in (a, b)]
    columns = [words[0][:, 0], words[0][:, 1], words[1][:, 0], words[1][:, 1]]
    add, addc, vcc = ("v_add_co_u32", "v_addc_co_u32_e64", "s[30:31]")
    if chip == "gfx1100":
        addc, vcc = "v_add_co_ci_u32_e64", "s30"
    text = f"{add} v40, {vcc}, v10, v18\n\t{addc} v41, {vcc}, v14, v22, {vcc}"
    got = vector(text, *map(np.ascontiguousarray, columns), chip=chip, words=2)
    np.testing.assert_array_equal(got.copy().view(np.uint64)[:, 0], a + b)


def test_wide_multiply_and_shift(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.choice(SPECIAL_INTEGERS, (2, 256))
    c = rng.integers(0, 1 << 64, 256, np.uint64)
    got = vector("v_mad_u64_u32 v[40:41], vcc, v10, v14, v[18:19]", a, b, c, words=2).copy().view(np.uint64)[:, 0]
    np.testing.assert_array_equal(got, a.astype(np.uint64) * b + c)
    got = vector("v_lshlrev_b64 v[40:41], v10, v[14:15]", a, c, words=2).copy().view(np.uint64)[:, 0]
    np.testing.assert_array_equal(got, c << (a.astype(np.uint64) & np.uint64(63)))
    got = vector("v_ashrrev_i64 v[40:41], v10, v[14:15]", a, c, words=2).copy().view(np.int64)[:, 0]
    np.testing.assert_array_equal(got, c.view(np.int64) >> (a & 63).astype(np.int64))
    got = vector("v_lshl_add_u64 v[40:41], v[14:15], 3, v[14:15]", a, c, words=2).copy().view(np.uint64)[:, 0]
    np.testing.assert_array_equal(got, (c << np.uint64(3)) + c)


def test_compare_writes_a_bit_a_lane():
    a, b = pairs(SPECIAL_INTEGERS)
    for name, compare in {"lt": np.less, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}.items():
        for ty, dtype in (("u32", np.uint32), ("i32", np.int32)):
            got = vector(f"v_cmp_{name}_{ty}_e32 vcc, v10, v14\n\tv_cndmask_b32_e64 v40, 0, 1, vcc", a, b)
            np.testing.assert_array_equal(got, compare(a.view(dtype), b.view(dtype)))


def test_sdwa_selects_and_extends_bytes():
    a, b = pairs(SPECIAL_INTEGERS)
    got = vector(
        "v_add_u32_sdwa v40, v10, v14 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", a, b
    )
    np.testing.assert_array_equal(got, (a >> 8 & 255) + (b >> 16))
    got = vector(
        "v_or_b32_sdwa v40, sext(v10), v14 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_3", a, b
    )
    np.testing.assert_array_equal(got, a.astype(np.int8).astype(np.int32).view(np.uint32) | b >> 24)
    got = vector("v_mov_b32_sdwa v40, v10 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", a, b)
    np.testing.assert_array_equal(got, 0x12005678 | (a & 255) << 16)


def test_clamp_saturates_integers():
    a, b = pairs(SPECIAL_INTEGERS)
    got = vector("v_add_u32_e64 v40, v10, v14 clamp", a, b)
    np.testing.assert_array_equal(got, np.minimum(a.astype(np.int64) + b, M).astype(np.uint32))
    got = vector("v_sub_i32 v40, v10, v14 clamp", a, b).view(np.int32)
    exact = a.view(np.int32).astype(np.int64) - b.view(np.int32)
    np.testing.assert_array_equal(got, np.clip(exact, -(1 << 31), (1 << 31) - 1))


def test_halves_of_registers_on_gfx11():
    a, b = pairs(SPECIAL_INTEGERS)
    got = vector("v_mov_b16_e32 v40.h, v10.l", a, b, chip="gfx1100")
    np.testing.assert_array_equal(got, 0x5678 | a << 16)
    got = vector("v_add_nc_u16 v40.l, v10.h, v14.l", a, b, chip="gfx1100")
    np.testing.assert_array_equal(got, 0x12340000 | (a >> 16) + b & 0xFFFF)


def test_dual_issue_reads_before_it_writes():
    a, b = pairs(SPECIAL_INTEGERS)
    text = "v_mov_b32_e32 v17, v14\n\tv_dual_mov_b32 v10, v17 :: v_dual_mov_b32 v15, v10\n\tv_xor_b32_e32 v40, v10, v15"
    got = vector(text, a, b, chip="gfx1100")
    np.testing.assert_array_equal(got, a ^ b)


def test_dots_of_packed_integers(seed):
    a, b, c = np.random.default_rng(seed).integers(0, 1 << 32, (3, 256), np.uint32)
    got = vector("v_dot4_i32_i8 v40, v10, v14, v18", a, b, c).view(np.int32)
    parts = a.view(np.int8).reshape(-1, 4).astype(np.int64) * b.view(np.int8).reshape(-1, 4)
    np.testing.assert_array_equal(got, (parts.sum(axis=1) + c.view(np.int32)).astype(np.int32))
    got = vector("v_dot4_i32_iu8 v40, v10, v14, v18 neg_lo:[1,0,0]", a, b, c, chip="gfx1100").view(np.int32)
    parts = a.view(np.int8).reshape(-1, 4).astype(np.int64) * b.view(np.uint8).reshape(-1, 4)
    np.testing.assert_array_equal(got, (parts.sum(axis=1) + c.view(np.int32)).astype(np.int32))


def test_float_constants_of_packed_integers_are_words_whose_half_op_sel_picks(seed):
    a = np.random.default_rng(seed).integers(0, 2**32, 256, dtype=np.uint32)
    halves = a.view(np.uint16)
    got = vector("v_pk_mul_lo_u16 v40, v10, 0.5 op_sel:[0,1]", a).view(np.uint16)
    np.testing.assert_array_equal(got, halves * np.uint16(0x3F00))
    got = vector("v_pk_add_u16 v40, v10, 1.0", a).view(np.uint16).reshape(-1, 2)
    np.testing.assert_array_equal(got, halves.reshape(-1, 2) + np.array([0, 0x3F80], np.uint16))
