"""The retry for one more CTA per SM: which kernels are assembled again, and which code is used."""

from __future__ import annotations

import pytest

from tritium.backends.nvidia.assembler import Resources
from tritium.backends.nvidia.occupancy_retry import CTA, for_one_more_cta, is_better
from tritium.hardware.nvidia import nvidia_gpu

PLAIN = ".visible .entry k()\n.reqntid 512\n{\n\tadd.f32 %f1, %f2, %f3;\n}"
HOPPER = CTA(nvidia_gpu(90), 16, 0)


def test_a_kernel_of_one_cta_is_assembled_for_two() -> None:
    text = for_one_more_cta(HOPPER, PLAIN, Resources(registers=69))
    assert text == PLAIN.replace(".reqntid 512", ".reqntid 512 .minnctapersm 2")


@pytest.mark.parametrize(
    ("cta", "found", "why"),
    [
        (HOPPER, Resources(registers=64), "two CTAs, and three take more than a third of the registers"),
        (HOPPER, Resources(registers=128), "two CTAs take half of the registers"),
        (HOPPER, Resources(registers=40), "three CTAs"),
        (HOPPER._replace(shared=120 * 1024), Resources(registers=69), "shared memory has room for one"),
        (HOPPER, Resources(registers=69, shared=120 * 1024), "static shared memory, too"),
        (CTA(nvidia_gpu(86), 32, 0), Resources(registers=40), "warps allow one"),
        (HOPPER, Resources(registers=69, spill_stores=4), "it spills already"),
        (HOPPER, Resources(registers=69, stack=64), "it has an array in local memory"),
        (CTA(nvidia_gpu(90), 4, 0), Resources(registers=72), "seven CTAs"),
    ],
)
def test_a_kernel_that_cannot_gain_is_not_assembled_again(cta: CTA, found: Resources, why: str) -> None:
    assert for_one_more_cta(cta, PLAIN, found) is None, why


@pytest.mark.parametrize(
    "line",
    [
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 0;",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
        "setmaxnreg.dec.sync.aligned.u32 40;",
    ],
)
def test_kernels_tuned_to_their_registers_are_left_alone(line: str) -> None:
    assert for_one_more_cta(HOPPER, PLAIN.replace("add.f32 %f1, %f2, %f3;", line), Resources(registers=69)) is None


@pytest.mark.parametrize("limit", [".maxnreg 80", ".minnctapersm 1"])
def test_limits_of_the_ptx_are_kept(limit: str) -> None:
    text = PLAIN.replace(".reqntid 512", f".reqntid 512\n{limit}")
    assert for_one_more_cta(HOPPER, text, Resources(registers=69)) is None


def test_code_is_used_if_it_allows_more_ctas_without_spills() -> None:
    old = Resources(registers=69)
    assert is_better(HOPPER, Resources(registers=64), old)
    assert not is_better(HOPPER, Resources(registers=66), old)
    assert not is_better(HOPPER, Resources(registers=64, spill_loads=4), old)
    assert not is_better(HOPPER, Resources(registers=64, stack=8), old)
