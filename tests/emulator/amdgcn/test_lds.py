"""LDS: forms of access, atomics, exchanges between lanes, barriers, races."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, dword, run, vector
from tritium.emulator import DataRace, Deadlock, EmulationError, OutOfBounds

START = "\tv_lshlrev_b32_e32 v1, 2, v0\n"


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("bits", [32, 64, 96, 128])
def test_write_and_read_back(chip, bits, seed):
    words = bits // 32
    x = np.random.default_rng(seed).integers(0, 1 << 32, (64, words), np.uint32)
    out = np.zeros_like(x)
    register = "v4" if words == 1 else f"v[4:{3 + words}]"
    write, read = ("ds_write", "ds_read") if chip == "gfx942" else ("ds_store", "ds_load")
    body = f"""\tv_mul_u32_u24_e32 v1, {4 * words}, v0
\tglobal_load_{dword(chip, words)} {register}, v1, s[8:9]
\ts_waitcnt vmcnt(0)
\tv_xor_b32_e32 v2, 63, v0
\tv_mul_u32_u24_e32 v2, {4 * words}, v2
\t{write}_b{bits} v2, {register}
\ts_waitcnt lgkmcnt(0)
\ts_barrier
\t{read}_b{bits} {register}, v1
\ts_waitcnt lgkmcnt(0)
\tglobal_store_{dword(chip, words)} v1, {register}, s[10:11]"""
    run(body, x, out, chip=chip, threads=64, lds=64 * 4 * words)
    np.testing.assert_array_equal(out, x[::-1])


def test_two_places_in_one_instruction():
    out = np.zeros(256, np.uint32)
    body = f"""{START}
\tv_add_u32_e32 v2, 0x100, v0
\tds_write2_b32 v1, v0, v2 offset1:64
\tds_write2st64_b32 v1, v2, v0 offset0:2 offset1:3
\ts_waitcnt lgkmcnt(0)
\tds_read2st64_b32 v[4:5], v1 offset1:1
\tds_read2_b32 v[6:7], v1 offset0:128 offset1:192
\tv_lshlrev_b32_e32 v3, 4, v0
\ts_waitcnt lgkmcnt(0)
\tglobal_store_dwordx4 v3, v[4:7], s[8:9]"""
    run(body, out, lds=1024)
    lane = np.arange(64)
    np.testing.assert_array_equal(out.reshape(64, 4), np.stack([lane, lane + 256, lane + 256, lane], 1))


def test_access_outside_of_lds():
    with pytest.raises(
        OutOfBounds, match="writes 4 bytes at 0xf0: outside the LDS of the workgroup, which has 240 bytes"
    ):
        run(f"{START}\tds_write_b32 v1, v0", np.zeros(1, np.uint32), lds=240)


@pytest.mark.parametrize("chip", CHIPS)
def test_atomics_return_old_values(chip):
    out, total = np.zeros(64, np.uint32), np.zeros(1, np.uint32)
    write, read = ("ds_write", "ds_read") if chip == "gfx942" else ("ds_store", "ds_load")
    body = f"""{START}
\tv_mov_b32_e32 v2, 0
\tv_mov_b32_e32 v3, 1
\t{write}_b32 v2, v2
\ts_waitcnt lgkmcnt(0)
\ts_barrier
\tds_add_rtn_u32 v4, v2, v3
\ts_waitcnt lgkmcnt(0)
\ts_barrier
\t{read}_b32 v5, v2
\ts_waitcnt lgkmcnt(0)
\tglobal_store_{dword(chip)} v1, v4, s[8:9]
\tglobal_store_{dword(chip)} v2, v5, s[10:11]"""
    run(body, out, total, chip=chip, threads=64, lds=16)
    np.testing.assert_array_equal(np.sort(out), np.arange(64))
    assert total[0] == 64


def test_compare_and_store_orders_its_operands():
    for chip, name, order in (("gfx942", "ds_cmpst_rtn_b32", "v4, v5"), ("gfx1100", "ds_cmpstore_rtn_b32", "v5, v4")):
        out = np.zeros(1, np.uint32)
        write, read = ("ds_write", "ds_read") if chip == "gfx942" else ("ds_store", "ds_load")
        body = f"""
\tv_mov_b32_e32 v1, 0
\tv_mov_b32_e32 v4, 7
\tv_mov_b32_e32 v5, 9
\t{write}_b32 v1, v4
\t{name} v6, v1, {order}
\t{read}_b32 v7, v1
\ts_waitcnt lgkmcnt(0)
\tglobal_store_{dword(chip)} v1, v7, s[8:9]"""
        run(body, out, chip=chip, lds=16)
        assert out[0] == 9


EXCHANGE = f"""{START}
\tds_write_b32 v1, v0
\tWAIT
\tv_xor_b32_e32 v2, 0x100, v1
\tds_read_b32 v3, v2
\ts_waitcnt lgkmcnt(0)
\tglobal_store_dword v1, v3, s[8:9]"""


def test_race_without_a_barrier():
    out = np.zeros(128, np.uint32)
    run(EXCHANGE.replace("WAIT", "s_waitcnt lgkmcnt(0)\n\ts_barrier"), out, threads=128, lds=512)
    np.testing.assert_array_equal(out, np.arange(128) ^ 64)
    with pytest.raises(DataRace, match="wave 0 of workgroup 0 reads what was written by wave 1; no barrier") as caught:
        run(EXCHANGE.replace("WAIT", "s_waitcnt lgkmcnt(0)"), out, threads=128, lds=512)
    assert "ds_read_b32 v3, v2" in str(caught.value) and "ds_write_b32 v1, v0" in str(caught.value)
    run(EXCHANGE.replace("WAIT", "s_waitcnt lgkmcnt(0)"), out, threads=128, lds=512, check_races=False)


def test_race_of_a_write_with_an_earlier_read():
    out = np.zeros(128, np.uint32)
    again = "\n\tds_write_b32 v1, v3"
    with pytest.raises(DataRace, match="writes what was read by wave"):
        run(EXCHANGE.replace("WAIT", "s_waitcnt lgkmcnt(0)\n\ts_barrier") + again, out, threads=128, lds=512)


def test_waves_that_write_one_value_do_not_race():
    out = np.zeros(128, np.uint32)
    body = "\tv_mov_b32_e32 v2, 0\n\tv_mov_b32_e32 v3, 5\n\tds_write_b32 v2, v3"
    run(body, out, threads=128, lds=16)
    with pytest.raises(DataRace, match="writes what was written by wave"):
        run(body.replace("v3, 5", "v3, v0"), out, threads=128, lds=16)


def test_load_to_lds_arrives_only_after_its_wait():
    x, out = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    body = f"""{START}
\tv_readfirstlane_b32 s20, v1
\ts_mov_b32 m0, s20
\tglobal_load_lds_dword v1, s[8:9]
\tWAIT
\ts_barrier
\tv_xor_b32_e32 v2, 0x100, v1
\tds_read_b32 v3, v2
\ts_waitcnt lgkmcnt(0)
\tglobal_store_dword v1, v3, s[10:11]"""
    run(body.replace("WAIT", "s_waitcnt vmcnt(0)"), x, out, threads=128, lds=512)
    np.testing.assert_array_equal(out, np.arange(128) ^ 64)
    with pytest.raises(DataRace, match="had not been waited for at the last barrier"):
        run(body.replace("WAIT", "s_nop 0"), x, out, threads=128, lds=512)


def test_barrier_that_a_wave_does_not_reach():
    body = """
\tv_readfirstlane_b32 s20, v0
\ts_cmp_eq_u32 s20, 0
\ts_cbranch_scc1 .Lone
\ts_barrier
\ts_branch .Lend2
.Lone:
\ts_nop 0
\ts_barrier
.Lend2:
\ts_nop 0"""
    with pytest.raises(EmulationError, match="wait at different barriers"):
        run(body, np.zeros(1, np.uint32), threads=128)
    run("\ts_setprio 0\n" + body, np.zeros(1, np.uint32), threads=128)  # a schedule with one wave ahead of another
    early = (
        "\tv_readfirstlane_b32 s20, v0\n\ts_cmp_eq_u32 s20, 0\n\ts_cbranch_scc1 .Lout\n\ts_barrier\n.Lout:\n\ts_nop 0"
    )
    run(early, np.zeros(1, np.uint32), threads=128)  # hardware does not wait for waves that have ended
    assert issubclass(Deadlock, EmulationError)


# -- exchanges between lanes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    "control, source",
    [
        ("quad_perm:[1,0,3,2]", lambda n: n ^ 1),
        ("quad_perm:[3,3,3,3]", lambda n: n | 3),
        ("row_mirror", lambda n: n ^ 15),
        ("row_half_mirror", lambda n: n ^ 7),
        ("row_ror:4", lambda n: (n & ~15) + ((n - 4) & 15)),
    ],
)
def test_dpp_moves_between_lanes(chip, control, source):
    lane = np.arange(64, dtype=np.int32)
    text = f"v_mov_b32_dpp v40, v10 {control} row_mask:0xf bank_mask:0xf"
    np.testing.assert_array_equal(vector(text, lane, chip=chip), source(lane))


def test_dpp_outside_of_a_row():
    lane = np.arange(64, dtype=np.int32)
    text = "v_mov_b32_dpp v40, v10 row_shr:3 row_mask:0xf bank_mask:0xf"
    inside = lane % 16 >= 3
    np.testing.assert_array_equal(vector(text, lane), np.where(inside, lane - 3, 0x12345678))
    np.testing.assert_array_equal(vector(text + " bound_ctrl:1", lane), np.where(inside, lane - 3, 0))
    text = "v_mov_b32_dpp v40, v10 row_bcast:15 row_mask:0xa bank_mask:0xf"
    written = lane // 16 % 2 == 1
    np.testing.assert_array_equal(vector(text, lane), np.where(written, (lane & ~15) - 1, 0x12345678))
    text = "v_add_u32_dpp v40, v10, v10 row_newbcast:5 row_mask:0xf bank_mask:0x3"
    written = lane % 16 < 8
    np.testing.assert_array_equal(vector(text, lane), np.where(written, (lane & ~15) + 5 + lane, 0x12345678))


def test_dpp_of_gfx11():
    lane = np.arange(64, dtype=np.int32)
    text = "v_mov_b32_dpp v40, v10 row_xmask:5 row_mask:0xf bank_mask:0xf"
    np.testing.assert_array_equal(vector(text, lane, chip="gfx1100"), lane ^ 5)
    text = "v_mov_b32_dpp v40, v10 dpp8:[7,6,5,4,3,2,1,0]"
    np.testing.assert_array_equal(vector(text, lane, chip="gfx1100"), lane ^ 7)
    got = vector(
        "v_permlanex16_b32 v40, v10, 0x76543210, 0xfedcba98 op_sel:[1,0]".replace("0x76543210", "s30").replace(
            "0xfedcba98", "s31"
        ),
        lane,
        chip="gfx1100",
        setup="s_mov_b32 s30, 0x76543210\n\ts_mov_b32 s31, 0xfedcba98",
    )
    np.testing.assert_array_equal(got, lane ^ 16)


def test_permutes_through_lds():
    lane = np.arange(64, dtype=np.int32)
    target = (lane * 7 % 64).astype(np.uint32)
    got = vector("ds_bpermute_b32 v40, v14, v10\n\ts_waitcnt lgkmcnt(0)", lane + 100, target * 4)
    np.testing.assert_array_equal(got, target + 100)
    got = vector("ds_permute_b32 v40, v14, v10\n\ts_waitcnt lgkmcnt(0)", lane + 100, target * 4)
    np.testing.assert_array_equal(got[target], lane + 100)


@pytest.mark.parametrize(
    "offset, source",
    [
        ("swizzle(SWAP,16)", lambda n: n ^ 16),
        ("swizzle(REVERSE,8)", lambda n: n ^ 7),
        ("swizzle(BROADCAST,4,1)", lambda n: (n & ~3) + 1),
        ("swizzle(QUAD_PERM,1,2,3,0)", lambda n: (n & ~3) + (n + 1 & 3)),
        ("0x041f", lambda n: n ^ 1),
    ],
)
def test_swizzle(offset, source):
    lane = np.arange(64, dtype=np.int32)
    got = vector(f"ds_swizzle_b32 v40, v10 offset:{offset}\n\ts_waitcnt lgkmcnt(0)", lane)
    np.testing.assert_array_equal(got, source(lane))


def test_lanes_by_number():
    lane = np.arange(64, dtype=np.int32)
    got = vector("v_readlane_b32 s30, v10, 37\n\tv_mov_b32_e32 v40, s30", lane)
    assert (got == 37).all()
    got = vector(
        "s_mov_b64 s[30:31], exec\n\ts_lshl_b64 exec, exec, 9\n\tv_readfirstlane_b32 s32, v10\n"
        "\ts_mov_b64 exec, s[30:31]\n\tv_mov_b32_e32 v40, s32",
        lane,
    )
    assert (got == 9).all()
    got = vector("v_mov_b32_e32 v40, v10\n\tv_writelane_b32 v40, 33, 5", lane)
    np.testing.assert_array_equal(got, np.where(lane == 5, 33, lane))
    got = vector("v_mbcnt_lo_u32_b32 v41, -1, 0\n\tv_mbcnt_hi_u32_b32 v40, -1, v41", lane)
    np.testing.assert_array_equal(got, lane)
