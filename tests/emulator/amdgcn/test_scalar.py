"""Scalar instructions against Python's integers: results and SCC."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, SPECIAL_INTEGERS, pairs, run, scalar

M = 0xFFFFFFFF


def signed(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def overflows(x: int) -> bool:
    return not -(1 << 31) <= x < 1 << 31


#: (result, SCC) of two operands.
TWO = {
    "s_add_u32": lambda a, b: (a + b, a + b > M),
    "s_sub_u32": lambda a, b: (a - b, b > a),
    "s_add_i32": lambda a, b: (a + b, overflows(signed(a) + signed(b))),
    "s_sub_i32": lambda a, b: (a - b, overflows(signed(a) - signed(b))),
    "s_and_b32": lambda a, b: (a & b, a & b != 0),
    "s_or_b32": lambda a, b: (a | b, a | b != 0),
    "s_xor_b32": lambda a, b: (a ^ b, a != b),
    "s_lshl_b32": lambda a, b: (a << (b & 31), (a << (b & 31)) & M != 0),
    "s_lshr_b32": lambda a, b: (a >> (b & 31), a >> (b & 31) != 0),
    "s_ashr_i32": lambda a, b: (signed(a) >> (b & 31), signed(a) >> (b & 31) != 0),
    "s_min_i32": lambda a, b: (min(signed(a), signed(b)), signed(a) < signed(b)),
    "s_max_u32": lambda a, b: (max(a, b), a >= b),
    "s_lshl2_add_u32": lambda a, b: ((a << 2) + b, (a << 2) + b > M),
    "s_absdiff_i32": lambda a, b: (abs(signed((signed(a) - signed(b)) & M)), signed(a) != signed(b)),
}
#: Those that leave SCC as it is.
PLAIN = {
    "s_mul_i32": lambda a, b: a * b,
    "s_mul_hi_u32": lambda a, b: a * b >> 32,
    "s_mul_hi_i32": lambda a, b: signed(a) * signed(b) >> 32,
    "s_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "s_pack_ll_b32_b16": lambda a, b: a & 0xFFFF | b << 16,
    "s_pack_hh_b32_b16": lambda a, b: a >> 16 | b & 0xFFFF0000,
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", TWO)
def test_scalar_result_and_scc(name, chip):
    a, b = pairs(SPECIAL_INTEGERS)
    got, scc = scalar(f"{name} s40, s20, s24", a, b, chip=chip)
    want = [TWO[name](int(x), int(y)) for x, y in zip(a, b)]
    np.testing.assert_array_equal(got, [w[0] & M for w in want])
    np.testing.assert_array_equal(scc, [w[1] for w in want])


@pytest.mark.parametrize("name", PLAIN)
def test_scalar_result_that_keeps_scc(name):
    a, b = pairs(SPECIAL_INTEGERS)
    got, scc = scalar(f"{name} s40, s20, s24", a, b, scc=True)
    np.testing.assert_array_equal(got, [PLAIN[name](int(x), int(y)) & M for x, y in zip(a, b)])
    assert scc.all()


def test_carry_in_and_out():
    a, b = pairs(SPECIAL_INTEGERS)
    for carry in (False, True):
        got, scc = scalar("s_addc_u32 s40, s20, s24", a, b, scc=carry)
        total = a.astype(np.uint64) + b + carry
        np.testing.assert_array_equal(got, total.astype(np.uint32))
        np.testing.assert_array_equal(scc, total > M)
        got, scc = scalar("s_subb_u32 s40, s20, s24", a, b, scc=carry)
        np.testing.assert_array_equal(got, (a.astype(np.int64) - b - carry).astype(np.uint32))
        np.testing.assert_array_equal(scc, b.astype(np.int64) + carry > a)


def test_fields(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 1 << 32, 300, np.uint32)
    offset, width = rng.integers(0, 32, 300, np.uint32), rng.integers(0, 33, 300, np.uint32)
    control = offset | width << 16
    got, scc = scalar("s_bfe_u32 s40, s20, s24", a, control)
    want = [int(x) >> int(o) & ((1 << int(w)) - 1) for x, o, w in zip(a, offset, width)]
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(scc, np.array(want) != 0)
    got, _ = scalar("s_bfe_i32 s40, s20, s24", a, control)
    fields = [(signed(int(x)) >> int(o) & ((1 << int(w)) - 1), int(w)) for x, o, w in zip(a, offset, width)]
    np.testing.assert_array_equal(got, [(v - (1 << w) if w and v >> (w - 1) else v) & M for v, w in fields])


def test_words_of_64_bits(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 1 << 64, (2, 200), np.uint64)
    n = rng.integers(0, 100, 200).astype(np.uint32)
    got, _ = scalar("s_lshl_b64 s[40:41], s[20:21], s24", a, n, words=2)
    np.testing.assert_array_equal(got, a << (n & 63).astype(np.uint64))
    got, _ = scalar("s_andn2_b64 s[40:41], s[20:21], s[24:25]", a, b, words=2)
    np.testing.assert_array_equal(got, a & ~b)
    got, scc = scalar("s_bcnt1_i32_b64 s40, s[20:21]", a)
    np.testing.assert_array_equal(got, [bin(int(x)).count("1") for x in a])
    got, _ = scalar("s_ff1_i32_b64 s40, s[20:21]", a)
    np.testing.assert_array_equal(got, [(int(x) & -int(x)).bit_length() - 1 for x in a])
    got, _ = scalar("s_mov_b64 s[40:41], -1", a, words=2)
    assert (got == (1 << 64) - 1).all()


def test_immediates_of_16_bits_have_a_sign():
    a = SPECIAL_INTEGERS
    got, _ = scalar("s_movk_i32 s40, 0x8000", a)
    assert (got == 0xFFFF8000).all()
    got, scc = scalar("s_mov_b32 s40, s20\n\ts_addk_i32 s40, 0xffff", a)
    np.testing.assert_array_equal(got, a - np.uint32(1))
    _, scc = scalar("s_cmpk_lt_i32 s20, 0xfff0", a)
    np.testing.assert_array_equal(scc, a.view(np.int32) < -16)


@pytest.mark.parametrize("name", ["eq", "lg", "gt", "ge", "lt", "le"])
def test_comparison(name):
    a, b = pairs(SPECIAL_INTEGERS)
    compare = {
        "eq": "equal",
        "lg": "not_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "lt": "less",
        "le": "less_equal",
    }
    for ty, dtype in (("u32", np.uint32), ("i32", np.int32)):
        _, scc = scalar(f"s_cmp_{name}_{ty} s20, s24", a, b)
        np.testing.assert_array_equal(scc, getattr(np, compare[name])(a.view(dtype), b.view(dtype)))


@pytest.mark.parametrize("chip", CHIPS)
def test_exec_disables_lanes(chip):
    out = np.zeros(64, np.uint32)
    ty, saved, execute, suffix = (
        ("b64", "s[30:31]", "exec", "dword") if chip == "gfx942" else ("b32", "s30", "exec_lo", "b32")
    )
    vcc = "vcc" if chip == "gfx942" else "vcc_lo"
    body = f"""
\tv_lshlrev_b32_e32 v1, 2, v0
\tv_mov_b32_e32 v2, 7
\tv_cmp_gt_u32_e32 {vcc}, 5, v0
\ts_and_saveexec_{ty} {saved}, {vcc}
\tv_mov_b32_e32 v2, 9
\ts_or_{ty} {execute}, {execute}, {saved}
\tglobal_store_{suffix} v1, v2, s[8:9]"""
    run(body, out, chip=chip, threads=64)
    np.testing.assert_array_equal(out, np.where(np.arange(64) % 64 < 5, 9, 7))


def test_branches_by_wave():
    out = np.zeros(256, np.uint32)
    body = """
\tv_lshlrev_b32_e32 v1, 2, v0
\tv_readfirstlane_b32 s20, v0
\ts_lshr_b32 s20, s20, 6
\tv_mov_b32_e32 v2, 0
.Lloop:
\tv_add_u32_e32 v2, 3, v2
\ts_sub_u32 s20, s20, 1
\ts_cbranch_scc0 .Lloop
\tglobal_store_dword v1, v2, s[8:9]"""
    run(body, out, threads=256)
    np.testing.assert_array_equal(out, 3 * (np.arange(256) // 64 + 1))


def test_call_returns():
    out = np.zeros(64, np.uint32)
    body = """
\tv_lshlrev_b32_e32 v1, 2, v0
\ts_getpc_b64 s[20:21]
\ts_add_u32 s20, s20, .Lfunction@rel32@lo+4
\ts_addc_u32 s21, s21, .Lfunction@rel32@hi+12
\ts_swappc_b64 s[30:31], s[20:21]
\tglobal_store_dword v1, v2, s[8:9]
\ts_endpgm
.Lfunction:
\tv_mov_b32_e32 v2, 42
\ts_setpc_b64 s[30:31]"""
    run(body, out)
    assert (out == 42).all()
