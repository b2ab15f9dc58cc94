"""The parts of an inspection by themselves: instructions of PTX, remarks of the assembler, occupancy."""

from __future__ import annotations

import pytest

from tritium.backends.nvidia.instructions import count_instructions, in_flight, register_moves
from tritium.backends.nvidia.remarks import explain
from tritium.hardware.nvidia import NvidiaGPU, nvidia_gpu
from tritium.hardware.occupancy import occupancy

PTX = """
.visible .entry k()
{
	setmaxnreg.dec.sync.aligned.u32 40;
	cp.async.cg.shared.global [%r1], [%rd1], 16; // cp.async.cg.shared.global in a comment
$L__BB0_1:
	@%p1 cp.async.cg.shared.global [%r1], [%rd1], 16;
	cp.async.commit_group;
	cp.async.wait_group 2;
	{ .reg .pred p; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f1}, %rd2, %rd3, p, 1, 1; }
	wgmma.wait_group.sync.aligned 1;
	@%p2 bra $L__BB0_1;
	cp.async.wait_group 0;
	bar.sync 0;
	@%p2 bra $L__BB0_9;
	st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};
$L__BB0_9:
	ret;
}
"""


def test_instructions_are_counted_in_and_out_of_loops() -> None:
    found = {
        group: {c.name: (c.number, c.in_loops) for c in counts} for group, counts in count_instructions(PTX).items()
    }
    assert found["mma"] == {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16": (1, 1)}
    assert found["copies"] == {"cp.async.cg.shared.global": (2, 1)}
    assert found["barriers"]["cp.async.wait_group"] == (2, 1) and found["barriers"]["bar.sync"] == (1, 0)
    assert found["shared memory"] == {"st.shared.v4.b32": (1, 0)} and found["global memory"] == {}


def test_what_waits_leave_in_flight() -> None:
    assert in_flight(PTX) == {"cp.async groups": 2, "wgmma groups": 1}
    assert in_flight("bar.sync 0;") == {}
    assert register_moves(PTX) == [("dec", 40)]


SERIALIZED = "Potential Performance Loss: wgmma.mma_async instructions are serialized due to "


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (f"(C7511) {SERIALIZED}insufficient register resources for the function 'k'", "serialized-wgmma", "num_warps=8"),
        (f"(C7515) {SERIALIZED}non wgmma instructions defining accumulator registers of a wgmma", "serialized-wgmma",
         "an accumulator is written while WGMMAs are in flight"),
        (f"{SERIALIZED}non wgmma instructions reading accumulator registers of  a wgmma", "serialized-wgmma", "read"),
        (f"{SERIALIZED}reasons of tomorrow in the function 'k'", "serialized-wgmma", "reasons of tomorrow"),
        ("Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.",
         "ignored-setmaxnreg", "needs more registers than setmaxnreg leaves"),
        ("something else", "other", "something else"),
    ],
)  # fmt: skip
def test_remarks_are_explained(text: str, kind: str, words: str) -> None:
    remark = explain(text)
    message = remark.message("my_kernel")
    assert remark.kind == kind and words in message and message.startswith("kernel my_kernel: ")
    assert remark.code in message


@pytest.mark.parametrize(
    ("capability", "registers", "warps", "shared", "expected"),
    [  # as NVIDIA's occupancy calculator has them
        (90, 32, 4, 0, (16, 64, 64, "warps")),
        (90, 128, 8, 0, (2, 16, 64, "registers")),
        (90, 255, 8, 0, (1, 8, 64, "registers")),
        (90, 64, 4, 100 * 1024, (2, 8, 64, "shared memory")),
        (90, 16, 1, 0, (32, 32, 64, "CTAs")),
        (80, 168, 4, 48 * 1024, (3, 12, 64, "registers")),
        (86, 40, 8, 0, (6, 48, 48, "warps")),
        (75, 64, 8, 32 * 1024, (2, 16, 32, "shared memory")),
        (121, 32, 4, 0, (12, 48, 48, "warps")),
    ],
)
def test_occupancy(capability: int, registers: int, warps: int, shared: int, expected: tuple[object, ...]) -> None:
    assert occupancy(nvidia_gpu(capability), registers, warps, shared) == expected


def test_more_warps_are_not_the_advice_for_who_has_them() -> None:
    text = f"(C7510) {SERIALIZED}insufficient register resources for the wgmma pipeline in the function 'k'"
    assert "num_warps=8" in explain(text, 4).message("k")
    eight = explain(text, 8).message("k")
    assert "num_warps" not in eight and "smaller tiles" in eight


def test_the_most_registers_of_a_thread() -> None:
    assert [NvidiaGPU.register_limit(n) for n in (1, 8, 12, 16, 32)] == [255, 255, 168, 128, 64]
