"""Registers that are accessed before the wait for the memory operation that writes them are errors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import run
from tritium.emulator import MissingWait

START = "\tv_lshlrev_b32_e32 v1, 2, v0"


def arrays(count: int = 2):
    return [np.arange(64, dtype=np.uint32) for _ in range(count)]


def fails(body: str, *values: np.ndarray, chip: str = "gfx942", **options) -> str:
    with pytest.raises(MissingWait) as caught:
        run(f"{START}\n{body}", *(values or arrays()), chip=chip, **options)
    return str(caught.value)


def test_read_before_wait_names_both_instructions():
    text = fails("\tglobal_load_dword v2, v1, s[8:9]\n\tv_add_u32_e32 v3, v2, v2")
    assert "reads v2 before the wait (vm)" in text
    assert "v_add_u32_e32 v3, v2, v2" in text and "global_load_dword v2, v1, s[8:9]" in text


def test_source_line_is_named():
    lines = '\t.file 1 "/src" "kernel.py"\n\t.loc 1 7 3\n\tglobal_load_dword v2, v1, s[8:9]\n\t.loc 1 9 5'
    text = fails(f"{lines}\n\tv_mov_b32_e32 v3, v2")
    assert "from /src/kernel.py:9:5" in text and "from /src/kernel.py:7:3" in text


def test_write_before_wait():
    assert "writes v2" in fails("\tglobal_load_dword v2, v1, s[8:9]\n\tv_mov_b32_e32 v2, 0")


def test_store_of_a_loaded_value_before_wait():
    fails("\tglobal_load_dword v2, v1, s[8:9]\n\tglobal_store_dword v1, v2, s[10:11]")


def test_loads_arrive_in_order():
    two = "\tglobal_load_dword v2, v1, s[8:9]\n\tglobal_load_dword v3, v1, s[10:11]\n\ts_waitcnt vmcnt(1)\n"
    run(f"{START}\n{two}\tv_mov_b32_e32 v4, v2", *arrays())
    assert "reads v3" in fails(f"{two}\tv_mov_b32_e32 v4, v3")


def test_stores_count_on_gfx9_and_not_on_gfx11():
    body = "\tglobal_load_{0} v2, v1, s[8:9]\n\tglobal_store_{0} v1, v1, s[10:11]\n\ts_waitcnt vmcnt(1)\n\tv_mov_b32_e32 v4, v2"
    run(f"{START}\n{body.format('dword')}", *arrays())
    fails(body.format("b32"), chip="gfx1100")


def test_two_loads_into_one_register_may_follow_each_other():
    body = "\tglobal_load_dword v2, v1, s[8:9]\n\tglobal_load_dword v2, v1, s[10:11]\n\ts_waitcnt vmcnt(0)"
    run(f"{START}\n{body}", *arrays())
    fails("\tglobal_load_dword v2, v1, s[8:9]\n\tds_read_b32 v2, v1\n", lds=256)


def test_scalar_loads_complete_in_any_order():
    two = "\ts_load_dword s20, s[8:9], 0x0\n\ts_load_dword s21, s[8:9], 0x4\n"
    run(f"{two}\ts_waitcnt lgkmcnt(0)\n\ts_add_u32 s22, s20, s21", *arrays())
    assert "reads s20 before the wait (lgkm)" in fails(f"{two}\ts_waitcnt lgkmcnt(1)\n\ts_mov_b32 s22, s20")


def test_lds_completes_in_order_beside_scalar_loads():
    loads = (
        "\tds_read_b32 v2, v1\n\tds_read_b32 v3, v1 offset:4\n\ts_load_dword s20, s[8:9], 0x0\n\ts_waitcnt lgkmcnt(1)\n"
    )
    run(f"{START}\n{loads}\tv_mov_b32_e32 v4, v2", *arrays(), lds=512)
    fails(f"{loads}\tv_mov_b32_e32 v4, v3", lds=512)
    fails(f"{loads}\ts_mov_b32 s21, s20", lds=512)


def test_full_counter_means_that_older_loads_are_complete():
    """The 16th access in flight is not issued before the first one is complete: LGKM_CNT of GFX9 has four bits."""
    loads = [f"\tds_read_b32 v{10 + i}, v1 offset:{4 * i}\n" for i in range(16)]
    use = "\tv_mov_b32_e32 v4, v10"
    run(f"{START}\n{''.join(loads)}{use}", *arrays(), lds=512)
    fails(f"{''.join(loads[:15])}{use}", lds=512)
    fails(f"{''.join(loads)}\tv_mov_b32_e32 v4, v11", lds=512)
    loads = [line.replace("ds_read_b32", "ds_load_b32") for line in loads]
    fails(f"{''.join(loads)}{use}", lds=512, chip="gfx1100")


def test_counts_as_a_number():
    load = "\tglobal_load_dword v2, v1, s[8:9]\n"
    run(f"{START}\n{load}\ts_waitcnt 0x0f70\n\tv_mov_b32_e32 v4, v2", *arrays())  # vmcnt(0)
    fails(f"{load}\ts_waitcnt 0xc07f\n\tv_mov_b32_e32 v4, v2")  # lgkmcnt(0)
    load = "\tglobal_load_b32 v2, v1, s[8:9]\n"
    run(f"{START}\n{load}\ts_waitcnt 0x03f7\n\tv_mov_b32_e32 v4, v2", *arrays(), chip="gfx1100")


def test_wait_in_one_branch_is_none_in_the_other():
    body = """
\tglobal_load_dword v2, v1, s[8:9]
\tv_readfirstlane_b32 s20, v0
\ts_cmp_eq_u32 s20, 0
\ts_cbranch_scc1 .Lskip
\ts_waitcnt vmcnt(0)
.Lskip:
\tv_mov_b32_e32 v3, v2"""
    run(f"{START}\n{body.replace('s20, 0', 's20, 64')}", *arrays())
    fails(body, threads=64)


def test_permutes_are_waited_for_like_lds():
    assert "lgkm" in fails("\tds_bpermute_b32 v2, v1, v0\n\tv_mov_b32_e32 v3, v2")


def test_atomics_that_return_are_waited_for():
    fails("\tv_mov_b32_e32 v2, 1\n\tglobal_atomic_add v3, v1, v2, s[8:9] sc0\n\tv_mov_b32_e32 v4, v3")
