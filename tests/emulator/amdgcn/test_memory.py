"""Vector and scalar memory: forms of loads and stores, buffers, scratch, flat addresses, atomics, and their checks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import CHIPS, dword, kernel, run
from tritium.emulator import (
    AssemblyError,
    LaunchError,
    MemoryAccessError,
    MisalignedAccess,
    OutOfBounds,
    UnknownInstruction,
)
from tritium.emulator.amdgcn import launch

START = "\tv_lshlrev_b32_e32 v1, 2, v0\n"


def test_access_outside_of_an_array_names_lane_and_array():
    x = np.zeros(60, np.uint32)
    with pytest.raises(
        OutOfBounds, match=r"lane 60 of wave 0 of workgroup 0: reads 4 bytes .* 0 bytes after the end of"
    ):
        run(f"{START}\tglobal_load_dword v2, v1, s[8:9]", x)


def test_lanes_that_exec_disables_access_nothing():
    x, out = np.arange(60, dtype=np.uint32), np.zeros(64, np.uint32)
    body = f"""{START}
\tv_mov_b32_e32 v2, 5
\tv_cmp_gt_u32_e32 vcc, 60, v0
\ts_and_saveexec_b64 s[20:21], vcc
\tglobal_load_dword v2, v1, s[8:9]
\ts_mov_b64 exec, s[20:21]
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v1, v2, s[10:11]"""
    run(body, x, out)
    np.testing.assert_array_equal(out, [*range(60), 5, 5, 5, 5])


def test_misaligned_access():
    x = np.zeros(64, np.uint32)
    with pytest.raises(MisalignedAccess, match="no multiple of 4"):
        run("\tv_mov_b32_e32 v2, 1\n\tglobal_atomic_add v0, v2, s[8:9]", x)
    text = kernel("\tglobal_load_ushort v2, v0, s[8:9]", arrays=1)
    launch(text, 1, [x])
    with pytest.raises(MisalignedAccess, match="no multiple of 2"):
        launch(text, 1, [x], check_alignment=True)
    with pytest.raises(MisalignedAccess, match="no multiple of 4"):
        run("\ts_load_dword s20, s[8:9], 0x2", x)


def test_write_to_a_read_only_array():
    x = np.zeros(64, np.uint32)
    x.flags.writeable = False
    with pytest.raises(MemoryAccessError, match="read-only"):
        run(f"{START}\tglobal_store_dword v1, v1, s[8:9]", x)


@pytest.mark.parametrize(
    "name, size, want",
    [
        ("ubyte", 1, lambda x: x & 255),
        ("sbyte", 1, lambda x: x.astype(np.int8)),
        ("ushort", 2, lambda x: x & 0xFFFF),
        ("sshort", 2, lambda x: x.astype(np.int16)),
        ("short_d16", 2, lambda x: 0x12340000 | x & 0xFFFF),
        ("short_d16_hi", 2, lambda x: 0x5678 | x << 16),
        ("ubyte_d16", 1, lambda x: 0x12340000 | x & 255),
        ("sbyte_d16_hi", 1, lambda x: 0x5678 | x.astype(np.int8).astype(np.int32).view(np.uint32) << 16),
    ],
)
def test_load_of_small_elements(name, size, want, seed):
    raw = np.random.default_rng(seed).integers(0, 256, 64 * size, np.uint8)
    out = np.zeros(64, np.uint32)
    body = f"""{START}\tv_mul_u32_u24_e32 v3, {size}, v0
\tv_mov_b32_e32 v2, 0x12345678
\tglobal_load_{name} v2, v3, s[8:9]
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v1, v2, s[10:11]"""
    run(body, raw, out)
    values = raw.view(np.uint8 if size == 1 else np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(out, np.asarray(want(values)).astype(np.int64).astype(np.uint32))


def test_store_of_small_elements():
    out = np.zeros(64, np.uint16)
    run(
        "\tv_lshlrev_b32_e32 v1, 1, v0\n\tv_lshlrev_b32_e32 v2, 17, v0\n\tglobal_store_short_d16_hi v1, v2, s[8:9]", out
    )
    np.testing.assert_array_equal(out, np.arange(64) * 2)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_several_dwords(chip, count):
    x = np.arange(64 * count, dtype=np.uint32)
    out = np.zeros_like(x)
    register = f"v[4:{3 + count}]"
    body = f"""\tv_mul_u32_u24_e32 v1, {4 * count}, v0
\tglobal_load_{dword(chip, count)} {register}, v1, s[8:9]
\ts_waitcnt vmcnt(0)
\tglobal_store_{dword(chip, count)} v1, {register}, s[10:11]"""
    run(body, x, out, chip=chip, threads=64)
    np.testing.assert_array_equal(out, x)


def resource(first: int, records: str, flags: int) -> str:
    """A buffer resource in s[first:first+3] for the array in s[8:9]."""
    return f"""\ts_mov_b32 s{first}, s8
\ts_and_b32 s{first + 1}, s9, 0xffff
\ts_mov_b32 s{first + 2}, {records}
\ts_mov_b32 s{first + 3}, {flags:#x}
"""


@pytest.mark.parametrize("chip, flags", [("gfx942", 0x27000), ("gfx1100", 0x31027000)])
def test_buffer_out_of_range_reads_zero_and_drops_stores(chip, flags):
    x, out = np.arange(1, 65, dtype=np.uint32), np.full(64, 77, np.uint32)
    body = f"""{START}{resource(20, "160", flags)}
\tbuffer_load_{dword(chip)} v2, v1, s[20:23], 0 offen
\ts_waitcnt vmcnt(0)
\tglobal_store_{dword(chip)} v1, v2, s[10:11]
\tv_mov_b32_e32 v3, 0
\tbuffer_store_{dword(chip)} v3, v1, s[20:23], 0 offen"""
    run(body, x, out, chip=chip, threads=64)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 40, np.arange(1, 65), 0))
    np.testing.assert_array_equal(x, np.where(np.arange(64) < 40, 0, np.arange(1, 65)))


def test_buffer_checks_each_dword_and_adds_scalar_offsets():
    x, out = np.arange(64, dtype=np.uint32), np.full(256, 77, np.uint32)
    body = f"""{START}{resource(20, "200", 0x27000)}
\ts_movk_i32 s30, 0x20
\tbuffer_load_dwordx4 v[4:7], v1, s[20:23], s30 offen offset:16
\tv_lshlrev_b32_e32 v2, 4, v0
\ts_waitcnt vmcnt(0)
\tglobal_store_dwordx4 v2, v[4:7], s[10:11]"""
    run(body, x, out)
    at = np.arange(64)[:, None] + 12 + np.arange(4)
    np.testing.assert_array_equal(out.reshape(64, 4), np.where(at < 50, at, 0))


def test_buffer_in_range_but_outside_of_the_array():
    with pytest.raises(OutOfBounds):
        run(
            f"{START}{resource(20, '0x7ffffffe', 0x27000)}\tbuffer_load_dword v2, v1, s[20:23], 0 offen",
            np.zeros(10, np.uint32),
        )


def test_scratch_is_private_to_lanes():
    out = np.zeros(64, np.uint32)
    body = f"""{START}
\tscratch_store_dword off, v0, off offset:4
\ts_waitcnt vmcnt(0)
\tscratch_load_dword v2, off, off offset:4
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v1, v2, s[8:9]"""
    run(body, out, scratch=16)
    np.testing.assert_array_equal(out, np.arange(64))
    with pytest.raises(OutOfBounds, match="outside scratch memory, which has 8 bytes"):
        run("\tscratch_store_dword off, v0, off offset:8", out, scratch=8)


def test_flat_addresses_reach_global_memory_and_lds():
    out = np.zeros(64, np.uint32)
    body = f"""{START}
\tds_write_b32 v1, v0
\ts_waitcnt lgkmcnt(0)
\ts_barrier
\ts_mov_b64 s[20:21], src_shared_base
\tv_mov_b32_e32 v2, v1
\tv_mov_b32_e32 v3, s21
\tflat_load_dword v4, v[2:3]
\tv_mov_b32_e32 v6, s8
\tv_mov_b32_e32 v7, s9
\tv_lshl_add_u64 v[6:7], v[0:1], 0, v[6:7]
\ts_waitcnt vmcnt(0) lgkmcnt(0)
\tglobal_store_dword v1, v4, s[8:9]"""
    run(body, out, lds=256)
    np.testing.assert_array_equal(out, np.arange(64))


def test_scalar_load_outside_of_an_array():
    with pytest.raises(OutOfBounds, match="wave 0 of workgroup 0: reads 8 bytes"):
        run("\ts_load_dwordx2 s[20:21], s[8:9], 0x100", np.zeros(64, np.uint32))


ATOMICS = {
    "add": ("add_u32", lambda old, x: old + x),
    "umax": ("max_u32", max),
    "smin": ("min_i32", min),
    "or": ("or_b32", lambda old, x: old | x),
    "xor": ("xor_b32", lambda old, x: old ^ x),
    "swap": ("swap_b32", lambda old, x: x),
    "inc": ("inc_u32", lambda old, x: 0 if old >= x else old + 1),
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", ATOMICS)
def test_atomic_returns_the_old_values(name, chip, seed):
    x = np.random.default_rng(seed).integers(0, 1000, 64).astype(np.uint32)
    total, out = np.array([17, 3], np.uint32), np.zeros(64, np.uint32)
    spelled, glc = (name, "sc0") if chip == "gfx942" else (ATOMICS[name][0], "glc")
    body = f"""{START}
\tglobal_load_{dword(chip)} v2, v1, s[8:9]
\tv_and_b32_e32 v3, 4, v1
\ts_waitcnt vmcnt(0)
\tglobal_atomic_{spelled} v4, v3, v2, s[10:11] {glc}
\ts_waitcnt vmcnt(0)
\tglobal_store_{dword(chip)} v1, v4, s[12:13]"""
    run(body, x, total, out, chip=chip, threads=64)
    state, old = [17, 3], []
    for lane, value in enumerate(map(int, x)):
        old.append(state[lane & 1])
        state[lane & 1] = ATOMICS[name][1](state[lane & 1], value) & 0xFFFFFFFF
    np.testing.assert_array_equal(out, old)
    np.testing.assert_array_equal(total, state)


def test_atomics_of_floats_and_compare_and_swap():
    f, d, lock = np.zeros(1, np.float32), np.zeros(1, np.float64), np.zeros(1, np.uint32)
    body = """
\tv_mov_b32_e32 v1, 0
\tv_cvt_f32_u32_e32 v2, v0
\tv_cvt_f64_u32_e32 v[4:5], v0
\tglobal_atomic_add_f32 v1, v2, s[8:9]
\tglobal_atomic_add_f64 v1, v[4:5], s[10:11]
\tv_add_u32_e32 v6, 1, v0
\tv_mov_b32_e32 v7, v0
\tglobal_atomic_cmpswap v1, v[6:7], s[12:13]"""
    run(body, f, d, lock)
    assert f[0] == d[0] == 2016 and lock[0] == 64


def test_constants_of_the_module_are_read_only_data():
    out = np.zeros(64, np.uint32)
    body = f"""{START}
\ts_getpc_b64 s[20:21]
\ts_add_u32 s20, s20, table@rel32@lo+4
\ts_addc_u32 s21, s21, table@rel32@hi+12
\tv_and_b32_e32 v2, 12, v1
\tglobal_load_dword v3, v2, s[20:21]
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v1, v3, s[8:9]"""
    data = '\t.section .rodata,"a",@progbits\n\t.p2align 2\ntable:\n\t.long 5\n\t.long 6, 7\n\t.byte 8, 0, 0, 0\n'
    run(body, out, directives=data)
    np.testing.assert_array_equal(out, np.tile([5, 6, 7, 8], 16))


def test_unknown_instruction_is_an_error_before_the_kernel_runs():
    out = np.zeros(64, np.uint32)
    with pytest.raises(UnknownInstruction, match="no v_frobnicate_b32"):
        run(f"{START}\tglobal_store_dword v1, v0, s[8:9]\n\tv_frobnicate_b32 v1, v2", out, assemble=False)
    assert not out.any()


def test_register_beyond_the_allocation():
    with pytest.raises(AssemblyError, match="v200 is beyond the 128 registers"):
        run("\tv_mov_b32_e32 v200, 0", np.zeros(1, np.uint32))


def test_launch_errors():
    text = kernel("\ts_nop 0", arrays=1)
    with pytest.raises(LaunchError, match="has 1 arguments, not 2"):
        launch(text, 1, [None, None])
    with pytest.raises(LaunchError, match="at most 64 threads"):
        launch(text, 1, [None], block=65)
    with pytest.raises(LaunchError, match="at most 65536"):
        launch(text, 1, [None], shared_bytes=70000)
    with pytest.raises(LaunchError, match="not gfx1250"):
        launch(text.replace("gfx942", "gfx1250"), 1, [None])
    with pytest.raises(LaunchError, match="has no kernel other: it has k"):
        launch(text, 1, [None], name="other")


def test_unaligned_accesses_and_negative_lds_addresses(seed):
    x = np.random.default_rng(seed).integers(0, 256, 300, np.uint8)
    out, back = np.zeros(64 * 8 + 3, np.uint8), np.zeros(64, np.uint32)
    body = """
\tv_lshlrev_b32_e32 v1, 2, v0
\tv_lshlrev_b32_e32 v2, 3, v0
\tglobal_load_dwordx2 v[4:5], v1, s[8:9] offset:3
\ts_waitcnt vmcnt(0)
\tglobal_store_dwordx2 v2, v[4:5], s[10:11] offset:3
\tv_subrev_u32_e32 v3, 16, v1
\tds_write_b32 v3, v4 offset:16
\tds_read_b32 v6, v1
\ts_waitcnt lgkmcnt(0)
\tglobal_store_dword v1, v6, s[12:13]"""
    run(body, x, out, back, lds=256)
    want = np.stack([x[4 * n + 3 : 4 * n + 11] for n in range(64)])
    np.testing.assert_array_equal(out[3:], want.ravel())
    np.testing.assert_array_equal(back.view(np.uint8).reshape(64, 4), want[:, :4])
