"""Resources of kernels for AMD GPUs: occupancy, instructions by unit, listing, and errors where they do not suffice."""

from __future__ import annotations

import pytest

import tritium
import tritium.language as tl
from tests.backends.amd import kernels
from tritium.backends.amd.inspection import Inspection, instructions_of
from tritium.backends.errors import BackendError, OutOfResources
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.hardware.amd import amd_gpu
from tritium.hardware.amd_occupancy import Occupancy, occupancy

MI300 = GPUTarget("hip", "gfx942", 64)
LOOP = """
	.text
	.file	1 "/src" "kernel.py"
k:
	.loc	1 7 3
	s_mov_b32 s0, 0
.LBB0_1:
	.loc	1 9 5
	global_load_dword v0, v1, s[2:3] ; comment
	v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]
	s_cbranch_scc1 .LBB0_1
	s_endpgm
	.section	.rodata
"""


@tritium.jit
def large_transpose(x, y, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at[:, None] * B + at[None, :])
    tl.store(y + at[:, None] * B + at[None, :], tl.dot(v, v))


def test_occupancy_is_limited_by_registers_lds_or_waves() -> None:
    assert occupancy(amd_gpu("gfx942"), 256, 0, 4) == Occupancy(2, 8, 2, "VGPRs")
    assert occupancy(amd_gpu("gfx942"), 32, 40000, 4) == Occupancy(1, 8, 1, "LDS")
    assert occupancy(amd_gpu("gfx1100"), 20, 0, 4) == Occupancy(16, 16, 16, "waves")
    assert occupancy(amd_gpu("gfx1100"), 256, 0, 8).waves == 4


def test_instructions_have_lines_and_loops() -> None:
    code = list(instructions_of(LOOP))
    assert [i.name for i in code][:2] == ["s_mov_b32", "global_load_dword"]
    assert [(i.line, i.in_loop) for i in code] == [(7, False), (9, True), (9, True), (9, True), (9, False)]
    assert [i.unit for i in code][1:4] == ["global memory", "matrix", "branches"]


def test_inspection_of_a_kernel() -> None:
    kernel = compile(ASTSource(kernels.softmax, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"B": 1024}), target=MI300)
    found = kernel.inspect()
    assert isinstance(found, Inspection)
    assert found.vgprs == kernel.metadata.vgprs and found.occupancy.waves == 8
    assert found.units["barriers"][0] > 0 and "global_load_dword" in found.instructions
    assert "kernels.py:" in kernel.listing() and "s_barrier" in kernel.listing()
    with pytest.raises(BackendError, match="the roofline bound of hip:gfx942 is not known"):
        kernel.inspect((1,), {"x": 1, "o": 1, "n": 1})


def test_too_much_lds_names_kernel_need_and_limit() -> None:
    source = ASTSource(large_transpose, {"x": "*fp32", "y": "*fp32"}, {"B": 256})
    with pytest.raises(
        OutOfResources, match="kernel large_transpose: .*shared memory, Required: .*, Hardware limit: 65536"
    ):
        compile(source, target=MI300, options={"num_warps": 8})
