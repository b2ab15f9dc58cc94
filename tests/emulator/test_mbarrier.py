"""mbarrier objects, and the copies that report to them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.kernels import run, store
from tritium.emulator import BarrierError, DataRace, Deadlock, UnknownInstruction

#: The first warp fills a buffer twice; the second takes each filling, and says that it has.
PIPELINE = """
  .shared .align 8 .b8 full[8];
  .shared .align 8 .b8 empty[8];
  .shared .align 4 .b8 buffer[128];
  mov.u32 %r1, full;
  mov.u32 %r2, empty;
  mov.u32 %r3, buffer;
  setp.eq.u32 %p1, %r0, 0;
  @!%p1 bra begun;
  mbarrier.init.shared.b64 [%r1], 32;
  mbarrier.init.shared.b64 [%r2], 32;
begun:
  bar.sync 0;
  and.b32 %r4, %r0, 31;
  mad.lo.u32 %r5, %r4, 4, %r3;
  mov.u32 %r6, 0;
  mov.u32 %r10, 0;
  setp.ge.u32 %p2, %r0, 32;
  @%p2 bra take;
fill:
  xor.b32 %r7, %r6, 1;
wait_empty:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], %r7;
  @!%p3 bra wait_empty;
  mad.lo.u32 %r8, %r6, 100, %r4;
  st.shared.u32 [%r5], %r8;
  FILLED
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p4, %r6, 2;
  @%p4 bra fill;
  bra done;
take:
  TEST
wait_full:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r6;
  @!%p3 bra wait_full;
  sub.u32 %r9, 31, %r4;
  mad.lo.u32 %r9, %r9, 4, %r3;
  ld.shared.u32 %r9, [%r9];
  add.u32 %r10, %r10, %r9;
  TAKEN
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p4, %r6, 2;
  @%p4 bra take;
done:
""" + store("%r10", 0, 32)

FILLED = "mbarrier.arrive.shared.b64 _, [%r1];"
TAKEN = "mbarrier.arrive.release.cta.shared::cta.b64 %d9, [%r2];"


def pipeline(filled=FILLED, taken=TAKEN, test=""):
    return PIPELINE.replace("FILLED", filled).replace("TAKEN", taken).replace("TEST", test)


def test_a_pipeline_of_two_warps():
    out = np.zeros(64, np.uint32)
    run(pipeline(test="mbarrier.test_wait.parity.shared.b64 %p5, [%r1], %r6;"), out, threads=64)
    assert out[32:].tolist() == [100 + 2 * (31 - t) for t in range(32)] and not out[:32].any()


def test_what_goes_wrong_in_one():
    out = np.zeros(64, np.uint32)
    with pytest.raises(Deadlock, match="the phase of this mbarrier has not ended"):
        run(pipeline(filled=""), out, threads=64)
    with pytest.raises(BarrierError, match="20 arrive where 12 of 32 are pending"):
        run(pipeline(filled="mbarrier.arrive.shared.b64 _, [%r1], 20;"), out, threads=64)
    late = "mbarrier.arrive.shared.b64 _, [%r1];\nst.shared.u32 [%r5], %r8;"
    with pytest.raises(DataRace):
        run(pipeline(filled=late), out, threads=64)
    start = pipeline().replace("bar.sync 0;", "", 1)
    with pytest.raises((DataRace, BarrierError)):
        run(start, out, threads=64)


def test_tokens_and_counts():
    out = [np.zeros(32, np.uint32) for _ in range(3)]
    body = """
  .shared .align 8 .b8 object[8];
  mov.u32 %r1, object;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r1], 33;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %d5, [%r1];
  bar.sync 0;
  mbarrier.test_wait.shared.b64 %p2, [%r1], %d5;
  selp.u32 %r2, 1, 0, %p2;
  bar.sync 0;
  @%p1 mbarrier.arrive_drop.shared.b64 %d6, [%r1];
  bar.sync 0;
  mbarrier.test_wait.shared.b64 %p2, [%r1], %d5;
  selp.u32 %r3, 1, 0, %p2;
  mbarrier.pending_count.b64 %r4, %d6;
  @!%p1 mov.u32 %r4, 0;
""" + "".join(store(f"%r{n + 2}", n, 32) for n in range(3))
    run(body, *out)
    assert not out[0].any() and out[1].all() and out[2][0] == 1


BULK = """
  .shared .align 16 .b8 tile[512];
  .shared .align 8 .b8 object[8];
  mov.u32 %r1, tile;
  mov.u32 %r2, object;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%p1 bra wait;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], BYTES, [%r2];
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra wait;
  mad.lo.u32 %r3, %r0, 16, %r1;
  ld.shared.u32 %r4, [%r3];
  add.u32 %r4, %r4, 1;
  st.shared.u32 [%r3], %r4;
  bar.sync 0;
  fence.proxy.async.shared::cta;
  @!%p1 bra done;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:
"""


def test_bulk_copies():
    source, out = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    run(BULK.replace("BYTES", "512"), source, out)
    wanted = source.copy()
    wanted[::4] += 1
    np.testing.assert_array_equal(out, wanted)
    with pytest.raises(Deadlock, match="has not ended"):
        run(BULK.replace("BYTES", "496"), source, out)
    with pytest.raises(UnknownInstruction, match="im2col"):
        run("cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%d0, {0, 0, 0}], [%r1];", out, check=False)


def test_asynchronous_copies_arrive():
    source, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = """
  .shared .align 4 .b8 tile[128];
  .shared .align 8 .b8 object[8];
  mov.u32 %r1, tile;
  mov.u32 %r2, object;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r2], 32;
  bar.sync 0;
  mul.wide.u32 %d4, %r0, 4;
  add.u64 %d4, %d4, %d0;
  mad.lo.u32 %r3, %r0, 4, %r1;
  cp.async.ca.shared.global [%r3], [%d4], 4;
  ARRIVE
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra wait;
  sub.u32 %r4, 31, %r0;
  mad.lo.u32 %r4, %r4, 4, %r1;
  ld.shared.u32 %r5, [%r4];
""" + store("%r5", 1, 32)
    run(body.replace("ARRIVE", "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];"), source, out)
    np.testing.assert_array_equal(out, source[::-1])
    with pytest.raises(DataRace, match="has not been waited for"):
        run(body.replace("ARRIVE", "mbarrier.arrive.shared.b64 _, [%r2];"), source, out)
