"""Asynchronous operations: what is right runs, and without any one of its waits, fences or barriers is an error."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.emulator.kernels import accepted, kernel
from tests.emulator.test_tensor_copies import aligned, map_of
from tritium.emulator import AsynchronyError, BarrierError, DataRace, Deadlock, EmulationError, launch

ROWS, COLUMNS, DEPTH, STEPS = 64, 16, 16, 5
#: A row of a 32-byte swizzled atom is 16 halves: the descriptor says so, and that 8 rows take 256 bytes.
DESCRIPTOR = (3 << 62) | (256 // 16) << 32 | 1 << 16

#: C = A * B.T by a warp group: TMA fills two buffers ahead of the WGMMAs and stores C.
#: A line with a mark at its end is one that nothing else makes up for.
PIPELINE = """
  .shared .align 1024 .b8 a_tiles[4096];
  .shared .align 1024 .b8 b_tiles[1024];
  .shared .align 1024 .b8 c_tile[4096];
  .shared .align 8 .b8 full[16];
  mov.u32 %r1, a_tiles;
  mov.u32 %r2, b_tiles;
  mov.u32 %r3, full;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r3], 1; //!
  @%p1 mbarrier.init.shared.b64 [%r3+8], 1; //!
  bar.sync 0; //!
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 2560; //!
  @%p1 LOAD [%r1], [%d0, {0, 0}], [%r3];
  @%p1 LOAD [%r2], [%d1, {0, 0}], [%r3];
  mov.u32 %r4, 0;                                  // step
  setp.eq.u32 %p3, %r4, 0;
  mov.b32 %r40, 0;
  mov.b32 %r41, 0;
  mov.b32 %r42, 0;
  mov.b32 %r43, 0;
  mov.b32 %r44, 0;
  mov.b32 %r45, 0;
  mov.b32 %r46, 0;
  mov.b32 %r47, 0;
step:
  add.u32 %r5, %r4, 1;
  and.b32 %r6, %r5, 1;                             // the buffer of the next step
  setp.lt.u32 %p2, %r5, STEPS;
  and.pred %p2, %p1, %p2;
  mad.lo.u32 %r7, %r6, 2048, %r1;
  mad.lo.u32 %r8, %r6, 512, %r2;
  mad.lo.u32 %r9, %r6, 8, %r3;
  mul.lo.u32 %r10, %r5, 16;
  @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 2560; //!
  @%p2 LOAD [%r7], [%d0, {%r10, 0}], [%r9];
  @%p2 LOAD [%r8], [%d1, {%r10, 0}], [%r9];
  and.b32 %r11, %r4, 1;
  shr.u32 %r12, %r4, 1;
  and.b32 %r12, %r12, 1;
  mad.lo.u32 %r13, %r11, 8, %r3;
wait:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r13], %r12; //!
  @!%p3 bra wait;
  mad.lo.u32 %r14, %r11, 2048, %r1;
  mad.lo.u32 %r15, %r11, 512, %r2;
  shr.u32 %r14, %r14, 4;
  shr.u32 %r15, %r15, 4;
  cvt.u64.u32 %d10, %r14;
  cvt.u64.u32 %d11, %r15;
  or.b64 %d10, %d10, DESCRIPTOR;
  or.b64 %d11, %d11, DESCRIPTOR;
  setp.ne.u32 %p4, %r4, 99;
  wgmma.fence.sync.aligned; //!
  wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
    {%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47}, %d10, %d11, %p4, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; //!
  wgmma.wait_group.sync.aligned 0; //!
  bar.sync 0; //!
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p5, %r4, STEPS;
  @%p5 bra step;
  mov.u32 %r16, c_tile;
  shr.u32 %r17, %r0, 5;
  and.b32 %r18, %r0, 31;
  shr.u32 %r19, %r18, 2;
  mad.lo.u32 %r19, %r17, 16, %r19;                 // row
  and.b32 %r20, %r18, 3;
  mul.lo.u32 %r20, %r20, 8;                        // byte of the column
  mad.lo.u32 %r21, %r19, 64, %r20;
  add.u32 %r21, %r21, %r16;
  st.shared.v2.b32 [%r21], {%r40, %r41};
  st.shared.v2.b32 [%r21+512], {%r42, %r43};
  st.shared.v2.b32 [%r21+32], {%r44, %r45};
  st.shared.v2.b32 [%r21+544], {%r46, %r47};
  fence.proxy.async.shared::cta; //!
  bar.sync 0; //!
  @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {0, 0}], [%r16];
  cp.async.bulk.commit_group; //!
  cp.async.bulk.wait_group.read 0; //!
  bar.sync 0; //!
  st.shared.v2.b32 [%r21], {%r46, %r47};
"""
LOAD = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"


def pipeline(without: int | None = None, text: str = PIPELINE) -> None:
    """Run the kernel without one of its lines; the result must be right."""
    rng = np.random.default_rng(1)
    a = aligned(rng.integers(-4, 5, (ROWS, DEPTH * STEPS)).astype(np.float16))
    b = aligned(rng.integers(-4, 5, (COLUMNS, DEPTH * STEPS)).astype(np.float16))
    c = aligned(np.zeros((ROWS, COLUMNS), np.float32))
    maps = map_of(a, (64, 16), swizzle=1), map_of(b, (16, 16), swizzle=1), map_of(c, (64, 16))
    text = text.replace("LOAD", LOAD).replace("STEPS", str(STEPS)).replace("DESCRIPTOR", str(DESCRIPTOR))
    lines = text.splitlines()
    if without is not None:
        lines[without] = ""
    ptx = kernel("\n".join(lines), arrays=6, threads=128, target="sm_90a")
    if without is None:
        accepted(ptx, "sm_90a")
    launch(ptx, 1, [*maps, a, b, c], max_steps=2000)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


def test_a_pipeline() -> None:
    pipeline()


@pytest.mark.parametrize("line", [n for n, line in enumerate(PIPELINE.splitlines()) if line.endswith("//!")])
def test_nothing_can_be_left_out(line: int) -> None:
    with pytest.raises((AsynchronyError, DataRace, BarrierError, Deadlock)) as caught:
        pipeline(without=line)
    assert "PTX line" in str(caught.value)


def fails(change: tuple[str, str], error: type[EmulationError], text: str) -> None:
    old, new = change
    assert PIPELINE.count(old) == 1, old
    with pytest.raises(error, match=re.compile(text, re.S)):
        pipeline(text=PIPELINE.replace(old, new))


def test_messages_name_both_instructions() -> None:
    fails(
        ("  wgmma.wait_group.sync.aligned 0; //!\n", ""),
        AsynchronyError,
        "multiplies with %r40|operation of .* reads that has not been waited for.*the other access.*wgmma",
    )
    fails(
        ("  bar.sync 0; //!\n  add.u32 %r4", "  mov.b32 %r40, %r40;\n  add.u32 %r4"),
        DataRace,
        "race in shared memory .*writes a byte read by",
    )
    fails(
        (
            "  wgmma.commit_group.sync.aligned; //!\n",
            "  wgmma.commit_group.sync.aligned;\n  add.f32 %r41, %r41, %r41;\n",
        ),
        AsynchronyError,
        "uses %r41, an accumulator of a wgmma that has not been waited for.*PTX line .*add.f32.*wgmma.mma_async",
    )
    fails(
        ("  wgmma.fence.sync.aligned; //!\n", "  wgmma.fence.sync.aligned;\n  mov.b32 %r45, 0;\n"),
        AsynchronyError,
        "executes wgmma on %r45, which another instruction has accessed since the last wgmma.fence",
    )
    fails(
        ("  fence.proxy.async.shared::cta; //!\n", ""),
        AsynchronyError,
        "reads asynchronously byte .* no fence.proxy.async orders the two.*the other access.*st.shared",
    )
    fails(
        ("  cp.async.bulk.wait_group.read 0; //!\n", ""),
        AsynchronyError,
        r"writes byte .* reads that has not been waited for.*cp.async.bulk.tensor.2d.global",
    )
    fails(("[%r13], %r12; //!", "[%r3], %r12; //!"), EmulationError, "the mbarrier at byte|has not ended")


def test_a_result_that_takes_the_place_of_operands() -> None:
    """Other warps may still multiply with what the first to be done writes its result to."""
    text = PIPELINE.replace("mov.u32 %r16, c_tile;", "mov.u32 %r16, a_tiles;")
    pipeline(text=text)
    barrier = "  bar.sync 0; //!\n  add.u32 %r4"
    assert text.count(barrier) == 1
    but_last = "  setp.lt.u32 %p6, %r5, STEPS;\n  @%p6 bar.sync 0;\n  add.u32 %r4"
    with pytest.raises(DataRace, match="writes a byte read by .* no barrier orders the two"):
        pipeline(text=text.replace(barrier, but_last))


def test_a_fence_behind_the_barrier_serves_too() -> None:
    fence, barrier = "  fence.proxy.async.shared::cta; //!\n", "  bar.sync 0; //!\n  @%p1 cp.async.bulk.tensor"
    text = PIPELINE.replace(fence, "").replace(barrier, barrier.replace("\n", "\n  fence.proxy.async;\n", 1))
    pipeline(text=text)


def test_a_block_that_leaves_copies_behind() -> None:
    last = "  st.shared.v2.b32 [%r21], {%r46, %r47};\n"
    text = PIPELINE.replace("  cp.async.bulk.wait_group.read 0; //!\n", "")
    text = text[: text.rindex(last)]
    with pytest.raises(AsynchronyError, match="exits without having waited"):
        pipeline(text=text)
    extra = "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 512;\n  @%p1 LOAD [%r2], [%d1, {0, 0}], [%r3];\n"
    fence = "  fence.proxy.async.shared::cta;\n"
    with pytest.raises(AsynchronyError, match="all threads of CTA 0 exit without having waited for the mbarrier at"):
        pipeline(text=PIPELINE[: PIPELINE.rindex(last)] + fence + extra)
