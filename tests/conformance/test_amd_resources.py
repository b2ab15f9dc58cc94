"""The script that compares kernels for AMD GPUs with Triton's, on assembly text."""

from __future__ import annotations

import dataclasses

from tests.conformance.amd_resources import CORPUS, KERNELS, needs_more, resources

ASSEMBLY = """
kernel:
\ts_load_dwordx2 s[0:1], s[2:3], 0x0
.LBB0_1:
\tv_mov_b32_e32 v0, 0
.LBB0_2:                                ; Loop
\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
\tv_add_u32_e32 v0, 1, v0
\ts_cbranch_scc1 .LBB0_2
\ts_cbranch_scc1 .LBB0_1
.LBB0_3:
\tv_add_u32_e32 v0, 1, v0
\tv_add_u32_e32 v0, 1, v0
\tv_add_u32_e32 v0, 1, v0
\ts_cbranch_scc1 .LBB0_3
\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
    .private_segment_fixed_size: 8
    .vgpr_count:     40
"""


def test_innermost_loop_with_matrix_instructions_is_counted() -> None:
    found = resources(ASSEMBLY, 1024)
    assert (found.vgprs, found.lds, found.scratch, found.loop) == (40, 1024, 8, 3)
    assert found.matrix == (("v_mfma_f32_32x32x8_f16", 2),)


def test_a_tenth_more_or_scratch_is_marked() -> None:
    found = resources(ASSEMBLY, 1024)
    assert not needs_more(found, found)
    assert not needs_more(dataclasses.replace(found, vgprs=44), found)
    assert needs_more(dataclasses.replace(found, vgprs=45), found)
    assert needs_more(found, dataclasses.replace(found, scratch=0))


def test_all_kernels_are_in_the_corpus() -> None:
    assert all((CORPUS / f"{text}.ttir.mlir").exists() for text in KERNELS.values())
