"""What threads do together: shuffles, votes, barriers of every scope, atomics, asynchronous copies, and their races."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.emulator.kernels import load, run, store
from tests.emulator.reference import arithmetic, signed
from tritium.emulator import (
    BarrierError,
    DataRace,
    Deadlock,
    MisalignedAccess,
    OutOfBounds,
    UninitializedRead,
    UnknownInstruction,
)


def shuffle(mode, lane, b, c):
    """The pseudocode of the PTX ISA: the lane that is read, and the predicate."""
    bound, mask = c & 31, c >> 8 & 31
    high, low = (lane & mask) | (bound & ~mask & 31), lane & mask
    if mode == "up":
        j = lane - b
        p = j >= high
    elif mode == "down":
        j = lane + b
        p = j <= high
    elif mode == "bfly":
        j = lane ^ b
        p = j <= high
    else:
        j = low | (b & ~mask & 31)
        p = j <= high
    return (j if p else lane), p


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode, seed):
    rng = random.Random(seed)
    values = np.array([rng.getrandbits(32) for _ in range(64)], np.uint32)
    for width in (32, 16, 8, 4):
        for b in (0, 1, 3, 8, 17, 31):
            c = (32 - width) << 8 | (0 if mode == "up" else 31)
            out, found = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
            body = (
                load("%r1", 0, 32) + f"\nshfl.sync.{mode}.b32 %r2|%p1, %r1, {b}, {c}, -1;\nselp.u32 %r3, 1, 0, %p1;\n"
            )
            run(body + store("%r2", 1, 32) + store("%r3", 2, 32), values, out, found, threads=64, check=b == 1)
            for t in range(64):
                j, p = shuffle(mode, t % 32, b, c)
                assert (out[t], found[t]) == (values[t // 32 * 32 + j], p), (mode, width, b, t)


def test_shuffle_by_a_register_under_divergence():
    """Odd and even lanes shuffle among themselves, by a different distance each."""
    out = np.zeros(32, np.uint32)
    body = """
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra even;
  shfl.sync.idx.b32 %r2, %r0, 5, 31, 0xAAAAAAAA;
  bra done;
even:
  xor.b32 %r3, %r0, 2;
  shfl.sync.idx.b32 %r2, %r0, %r3, 31, 0x55555555;
done:
""" + store("%r2", 0, 32)
    run(body, out)
    assert out.tolist() == [5 if t % 2 else t ^ 2 for t in range(32)]


def test_votes_and_matches():
    names = ["ballot", "any", "all", "uni", "match", "match all", "same", "elected", "leader", "active"]
    out = [np.zeros(64, np.uint32) for _ in names]
    body = """
  and.b32 %r1, %r0, 7;
  setp.lt.u32 %p1, %r1, 3;
  vote.sync.ballot.b32 %r10, %p1, -1;
  vote.sync.any.pred %p2, %p1, -1;
  selp.u32 %r11, 1, 0, %p2;
  vote.sync.all.pred %p2, !%p1, -1;
  selp.u32 %r12, 1, 0, %p2;
  vote.sync.uni.pred %p2, %p1, -1;
  selp.u32 %r13, 1, 0, %p2;
  match.any.sync.b32 %r14, %r1, -1;
  shr.u32 %r2, %r0, 5;
  match.all.sync.b32 %r15|%p3, %r2, -1;
  selp.u32 %r16, 1, 0, %p3;
  mov.u32 %r17, 0;
  mov.u32 %r18, 0;
  mov.u32 %r19, 0;
  @%p1 bra done;
  elect.sync %r18|%p4, 0xF8F8F8F8;
  selp.u32 %r17, 1, 0, %p4;
  activemask.b32 %r19;
done:
""" + "".join(store(f"%r{10 + n}", n, 32) for n in range(len(names)))
    run(body, *out, threads=64)
    got = dict(zip(names, out))
    low = np.arange(64) % 8 < 3
    assert (
        (got["ballot"] == 0x07070707).all()
        and (got["any"] == 1).all()
        and (got["all"] == 0).all()
        and (got["uni"] == 0).all()
    )
    assert (got["match"] == 0x01010101 << np.arange(64) % 8).all()
    assert (got["match all"] == 0xFFFFFFFF).all() and (got["same"] == 1).all()
    assert (got["elected"] == (np.arange(64) % 32 == 3)).all() and (got["leader"] == np.where(low, 0, 3)).all()
    assert (got["active"] == np.where(low, 0, 0xF8F8F8F8)).all()


def test_reductions_of_a_warp(seed):
    rng = random.Random(seed)
    values = np.array([rng.getrandbits(32) for _ in range(64)], np.uint32)
    operations = {
        "add.u32": lambda v: sum(v), "min.u32": min, "max.u32": max,
        "min.s32": lambda v: min(v, key=lambda x: signed(x, 32)), "max.s32": lambda v: max(v, key=lambda x: signed(x, 32)),
        "and.b32": lambda v: np.bitwise_and.reduce(v), "or.b32": lambda v: np.bitwise_or.reduce(v), "xor.b32": lambda v: np.bitwise_xor.reduce(v),
    }  # fmt: skip
    out = [np.zeros(64, np.uint32) for _ in operations]
    body = load("%r1", 0, 32)
    for n, name in enumerate(operations):
        body += f"\nredux.sync.{name} %r2, %r1, -1;" + store("%r2", n + 1, 32)
    run(body, values, *out, threads=64)
    for (name, f), got in zip(operations.items(), out):
        for w in range(2):
            wanted = int(f(values[32 * w : 32 * w + 32].tolist())) & 0xFFFFFFFF
            assert (got[32 * w : 32 * w + 32] == wanted).all(), name


# -- barriers ----------------------------------------------------------------------------------------------------------


PIPELINE = """
  .shared .align 4 .b8 buffer[128];
  mov.u32 %r1, buffer;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra consumer;
  mad.lo.u32 %r2, %r0, 4, %r1;
  mul.lo.u32 %r3, %r0, 7;
  st.shared.u32 [%r2], %r3;
  PRODUCED
  bra done;
consumer:
  bar.sync 3, 64;
  sub.u32 %r4, 63, %r0;
  mad.lo.u32 %r2, %r4, 4, %r1;
  ld.shared.u32 %r5, [%r2];
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d1, %d1, %d0;
  st.global.u32 [%d1], %r5;
done:
"""


def test_producer_arrives_and_consumer_waits():
    out = np.zeros(32, np.uint32)
    run(PIPELINE.replace("PRODUCED", "bar.arrive 3, 64;"), out, threads=64)
    assert out.tolist() == [7 * n for n in range(32)]
    with pytest.raises(Deadlock, match="barrier 3 of CTA 0: 32 of 64"):
        run(PIPELINE.replace("PRODUCED", ""), out, threads=64)
    with pytest.raises(BarrierError, match="one multiple of 32"):
        run(PIPELINE.replace("PRODUCED", "bar.arrive 3, 48;"), out, threads=64, check=False)
    with pytest.raises(BarrierError, match="barrier 3 of CTA 0 has a thread count in some of the instructions"):
        run(PIPELINE.replace("PRODUCED", "bar.arrive 3, 64;").replace("bar.sync 3, 64", "bar.sync 3"), out, threads=64)


def test_barriers_of_several_numbers():
    """Two pairs of warps, each with its own barrier and shared word; a race if they took the wrong one."""
    out = np.zeros(128, np.uint32)
    body = """
  .shared .align 4 .b8 words[8];
  shr.u32 %r1, %r0, 6;
  and.b32 %r2, %r0, 63;
  mov.u32 %r3, words;
  mad.lo.u32 %r3, %r1, 4, %r3;
  add.u32 %r4, %r1, 1;
  setp.eq.u32 %p1, %r2, 5;
  @%p1 st.shared.u32 [%r3], %r4;
  barrier.sync NUMBER, 64;
  ld.shared.u32 %r5, [%r3];
""" + store("%r5", 0, 32)
    run(body.replace("NUMBER", "%r4"), out, threads=128)
    assert out.tolist() == [1] * 64 + [2] * 64


def test_reducing_barriers():
    out = [np.zeros(96, np.uint32) for _ in range(3)]
    body = """
  setp.lt.u32 %p1, %r0, 40;
  bar.red.popc.u32 %r1, 0, %p1;
  bar.red.and.pred %p2, 1, 96, %p1;
  bar.red.or.pred %p3, 0, !%p1;
  selp.u32 %r2, 1, 0, %p2;
  selp.u32 %r3, 1, 0, %p3;
""" + "".join(store(f"%r{n + 1}", n, 32) for n in range(3))
    run(body, *out, threads=96)
    assert [set(o.tolist()) for o in out] == [{40}, {0}, {1}]


def test_a_warp_cannot_come_to_one_barrier_by_two_ways():
    body = "setp.lt.u32 %p1, %r0, 7;\n@%p1 bra a;\nbar.sync 0;\nbra out;\na:\nbar.sync 0;\nout:"
    with pytest.raises(BarrierError, match="different instructions"):
        run(body, np.zeros(1), threads=64)


CLUSTER = (
    """
  .shared .align 8 .b8 words[256];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, words;
  mad.lo.u32 %r3, %r0, 4, %r2;
  mad.lo.u32 %r4, %r1, 100, %r0;
  st.shared.u32 [%r3], %r4;
  barrier.cluster.arrive.release.aligned;
  WAIT
  xor.b32 %r5, %r1, 1;
  mapa.shared::cluster.u32 %r6, %r3, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  cvta.shared.u64 %d5, %r3d;
  mapa.u64 %d5, %d5, %r5;
  ld.u32 %r8, [%d5];
  add.u32 %r7, %r7, %r8;
  getctarank.shared::cluster.u32 %r9, %r6;
  mad.lo.u32 %r7, %r9, 10000, %r7;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r10, %ctaid.x;
  mad.lo.u32 %r0, %r10, 32, %r0;
""".replace("cvta.shared.u64 %d5, %r3d;", "cvt.u64.u32 %d5, %r3;\ncvta.shared.u64 %d5, %d5;")
    + store("%r7", 0, 32)
)


def test_clusters():
    out = np.zeros(128, np.uint32)
    head = ""
    run(CLUSTER.replace("WAIT", "barrier.cluster.wait.acquire.aligned;"), out, grid=4, cluster=2, head=head)
    t = np.arange(128)
    other = 1 - t // 32 % 2
    assert out.tolist() == (2 * (other * 100 + t % 32) + other * 10000).tolist()
    missing = CLUSTER.replace("WAIT", "").replace("  barrier.cluster.arrive;\n", "")
    with pytest.raises(DataRace, match="CTA 1"):
        run(missing, out, grid=4, cluster=2, check=False)
    with pytest.raises(OutOfBounds, match="outside the shared memory of the cluster"):
        run("mov.u32 %r1, 0x5000000;\nld.shared::cluster.u32 %r1, [%r1];", out, grid=2, cluster=2)
    leaves = "mov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p1, %r9, 1;\n@%p1 exit;\n  mov.u32 %r1, %cluster_ctarank;"
    early = CLUSTER.replace("WAIT", "barrier.cluster.wait.acquire.aligned;").replace(
        "  mov.u32 %r1, %cluster_ctarank;", leaves, 1
    )
    with pytest.raises(OutOfBounds, match="in the shared memory of a CTA that has exited"):
        run(early, out, grid=2, cluster=2, check=False)


# -- races -------------------------------------------------------------------------------------------------------------


EXCHANGE = """
  .shared .align 4 .b8 words[256];
  mov.u32 %r1, words;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.u32 [%r2], %r0;
  BARRIER
  xor.b32 %r3, %r0, DISTANCE;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  AGAIN
  st.shared.u32 [%r2], %r5;
"""


@pytest.mark.parametrize(
    "barrier, distance, again, race",
    [
        ("bar.sync 0;", 32, "bar.sync 0;", None),
        ("bar.warp.sync -1;", 1, "bar.warp.sync -1;", None),
        ("", 32, "bar.sync 0;", "no barrier orders"),
        ("bar.warp.sync -1;", 32, "bar.sync 0;", "no barrier orders"),
        ("", 1, "bar.sync 0;", "no bar.warp.sync orders"),
        ("bar.sync 0;", 32, "", "read by"),
        ("bar.sync 0;", 1, "", "no bar.warp.sync orders"),
    ],
)
def test_races_of_reads_and_writes(barrier, distance, again, race):
    body = EXCHANGE.replace("BARRIER", barrier).replace("AGAIN", again).replace("DISTANCE", str(distance))
    if race is None:
        run(body, np.zeros(1), threads=64)
        return
    with pytest.raises(DataRace, match=race):
        run(body, np.zeros(1), threads=64)
    if "warp" in race:
        run(body, np.zeros(1), threads=64, warp_lockstep=True)


def test_races_of_writes():
    body = ".shared .align 4 .b8 word[4];\nmov.u32 %r1, word;\nshr.u32 %r2, %r0, SHIFT;\nst.shared.u32 [%r1], %r2;\n"
    with pytest.raises(DataRace, match="thread .* of CTA 0 writes a byte written by"):
        run(body.replace("SHIFT", "0"), np.zeros(1))
    run(body.replace("SHIFT", "6"), np.zeros(1), threads=64)  # all write the same
    two = body.replace("SHIFT", "6") + "st.shared.u32 [%r1], %r0;\n"
    with pytest.raises(DataRace):
        run(two, np.zeros(1), threads=64)


def test_a_race_names_both_places():
    body = EXCHANGE.replace("BARRIER", "").replace("AGAIN", "bar.sync 0;").replace("DISTANCE", "32")
    with pytest.raises(DataRace) as e:
        run(body, np.zeros(1), threads=64)
    text = str(e.value)
    assert "ld.shared.u32 %r5, [%r4]" in text.partition("the other access")[0]
    assert "st.shared.u32 [%r2], %r0" in text.partition("the other access")[2]
    assert e.value.other.opcode == "st" and e.value.instruction.opcode == "ld"


# -- atomics -----------------------------------------------------------------------------------------------------------


def test_integer_atomics(seed):
    rng = random.Random(seed)
    operations = {
        "add.u32": lambda old, b: old + b,
        "min.s32": lambda old, b: min(signed(old, 32), signed(b, 32)),
        "max.u32": max,
        "and.b32": lambda old, b: old & b,
        "or.b32": lambda old, b: old | b,
        "xor.b32": lambda old, b: old ^ b,
        "exch.b32": lambda old, b: b,
        "inc.u32": lambda old, b: 0 if old >= b else old + 1,
        "dec.u32": lambda old, b: b if old == 0 or old > b else old - 1,
    }
    values = np.array([rng.getrandbits(32) >> rng.choice([0, 28]) for _ in range(64)], np.uint32)
    for name, f in operations.items():
        cells, old = np.array([rng.getrandbits(32) for _ in range(8)], np.uint32), np.zeros(64, np.uint32)
        before = cells.tolist()
        body = (
            load("%r1", 1, 32)
            + f"""
  and.b32 %r2, %r0, 7;
  mul.wide.u32 %d4, %r2, 4;
  add.u64 %d4, %d4, %d0;
  atom.global.gpu.relaxed.{name} %r3, [%d4], %r1;
""".replace("gpu.relaxed", "relaxed.gpu")
            + store("%r3", 2, 32)
        )
        run(body, cells, values, old, threads=64, gpu=False)
        for t in range(64):
            assert old[t] == before[t % 8], (name, t)
            before[t % 8] = f(before[t % 8], int(values[t])) & 0xFFFFFFFF
        assert cells.tolist() == before, name


def test_red_on_shared_memory_does_not_race():
    out = np.zeros(64, np.uint64)
    body = """
  .shared .align 8 .b8 sum[8];
  mov.u32 %r1, sum;
  setp.eq.u32 %p1, %r0, 0;
  mov.u64 %d4, 5;
  @%p1 st.shared.u64 [%r1], %d4;
  bar.sync 0;
  cvt.u64.u32 %d5, %r0;
  red.shared.add.u64 [%r1], %d5;
  BARRIER
  ld.shared.u64 %d6, [%r1];
""" + store("%d6", 0, 64)
    run(body.replace("BARRIER", "bar.sync 0;"), out, threads=64)
    assert (out == 5 + 63 * 32).all()
    with pytest.raises(DataRace):
        run(body.replace("BARRIER", ""), out, threads=64)


def test_float_atomics():
    halves = np.zeros(2, np.float16)
    brains = np.zeros(2, np.uint16)
    singles, doubles, four = np.zeros(1, np.float32), np.zeros(1), np.zeros(4, np.float32)
    body = """
  cvt.rn.f16.u32 %h1, %r0;
  mov.b32 %r1, {%h1, %h1};
  red.global.add.noftz.f16x2 [%d0], %r1;
  cvt.rn.f32.u32 %r2, %r0;
  cvt.rn.bf16.f32 %h2, %r2;
  red.global.add.noftz.bf16 [%d1+2], %h2;
  red.global.add.f32 [%d2], %r2;
  cvt.f64.f32 %d6, %r2;
  atom.global.add.f64 %d7, [%d3], %d6;
  red.global.add.v4.f32 [%d4], {%r2, %r2, %r2, %r2};
"""
    run(body, halves, brains, singles, doubles, four, gpu=False)
    assert halves.tolist() == [496, 496] and singles[0] == 496 and doubles[0] == 496 and (four == 496).all()
    total = 0
    for t in range(32):
        total = arithmetic("bf16", "add", [total, int(np.float32(t).view(np.uint32) >> 16)])
    assert brains.tolist() == [0, total]
    tiny = np.array([1e-40], np.float32)
    run("mov.b32 %r1, 0;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 red.global.add.f32 [%d0], %r1;", tiny)
    assert tiny[0] == 0  # global memory flushes subnormal numbers


def test_compare_and_swap_of_every_width():
    for bits, register in ((16, "%h"), (32, "%r"), (64, "%d")):
        cell = np.array([5], f"u{bits // 8}")
        old = np.zeros(32, f"u{bits // 8}")
        body = f"mov.b{bits} {register}10, 5;\nmov.b{bits} {register}11, 9;\n"
        body += f"atom.global.cas.b{bits} {register}12, [%d0], {register}10, {register}11;" + store(
            f"{register}12", 1, bits
        )
        run(body, cell, old, gpu=False)
        assert cell[0] == 9 and old.tolist() == [5] + [9] * 31
    wide = np.array([1, 2, 0, 0], np.uint64)
    body = """
  .reg .b128 %q<4>;
  mov.u64 %d5, 1;
  mov.u64 %d6, 2;
  mov.u64 %d7, 7;
  mov.b128 %q0, {%d5, %d6};
  mov.b128 %q1, {%d7, %d7};
  atom.global.cas.b128 %q2, [%d0], %q0, %q1;
  setp.eq.u32 %p1, %r0, 31;
  @%p1 st.global.b128 [%d0+16], %q2;
"""
    run(body, wide, gpu=False)
    assert wide.tolist() == [7, 7, 7, 7]


# -- copies and accesses -----------------------------------------------------------------------------------------------


COPY = """
  .shared .align 16 .b8 tile[1024];
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 16, %r1;
  mul.wide.u32 %d4, %r0, 16;
  add.u64 %d5, %d0, %d4;
  setp.lt.u32 %p1, %r0, 20;
  selp.u32 %r3, 16, 6, %p1;
  cp.async.cg.shared.global [%r2], [%d5], 16, %r3;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r2+512], [%d5], 4;
  cp.async.commit_group;
  WAIT
  BARRIER
  xor.b32 %r4, %r0, 1;
  mad.lo.u32 %r4, %r4, 16, %r1;
  ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r4];
  add.u64 %d6, %d1, %d4;
  st.global.v4.b32 [%d6], {%r5, %r6, %r7, %r8};
"""


def test_asynchronous_copies():
    source, out = np.arange(512, dtype=np.uint8), np.zeros(512, np.uint8)
    run(COPY.replace("WAIT", "cp.async.wait_group 1;").replace("BARRIER", "bar.sync 0;"), source, out)
    wanted = source.reshape(32, 16).copy()
    wanted[20:, 6:] = 0
    np.testing.assert_array_equal(out.reshape(32, 16), wanted[np.arange(32) ^ 1])
    run(COPY.replace("WAIT", "cp.async.wait_all;").replace("BARRIER", "bar.sync 0;"), source, out)
    for wait in ("", "cp.async.wait_group 2;"):
        with pytest.raises(DataRace, match="has not been waited for"):
            run(COPY.replace("WAIT", wait).replace("BARRIER", "bar.sync 0;"), source, out)
    with pytest.raises(DataRace, match="no bar.warp.sync"):
        run(COPY.replace("WAIT", "cp.async.wait_group 1;").replace("BARRIER", ""), source, out)
    with pytest.raises(OutOfBounds):
        run(COPY.replace("WAIT", "").replace("BARRIER", ""), source[:300].copy(), out)


def test_vectors_and_generic_addresses():
    """Accesses of 2, 4 and 8 registers, through addresses of which some lead to shared memory and some to an array."""
    source, out = np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32)
    body = """
  .shared .align 16 .b8 tile[1024];
  mov.u64 %d4, tile;
  cvta.shared.u64 %d4, %d4;
  mul.wide.u32 %d5, %r0, 16;
  add.u64 %d6, %d0, %d5;
  add.u64 %d7, %d4, %d5;
  add.u64 %d8, %d1, %d5;
  ld.v4.u32 {%r1, %r2, %r3, %r4}, [%d6];
  and.b32 %r5, %r0, 1;
  setp.eq.u32 %p1, %r5, 0;
  selp.b64 %d9, %d7, %d8, %p1;
  st.v2.b64 [%d9], {%d10, %d11};
  st.v4.b32 [%d9], {%r4, %r3, %r2, %r1};
  ld.v2.b64 {%d10, %d11}, [%d9];
  st.global.v2.b64 [%d8], {%d11, %d10};
  isspacep.shared %p2, %d9;
  isspacep.global %p3, %d9;
  selp.u32 %r6, 1, 0, %p2;
  selp.u32 %r7, 2, 0, %p3;
  or.b32 %r6, %r6, %r7;
"""
    kinds = np.zeros(32, np.uint32)
    run(body + store("%r6", 2, 32), source, out, kinds)
    np.testing.assert_array_equal(
        out[:128].reshape(32, 2, 2)[:, ::-1], source[:128].reshape(32, 4)[:, ::-1].reshape(32, 2, 2)
    )
    assert kinds.tolist() == [1, 2] * 16


def test_small_loads_extend():
    source = np.array([0x80, 0x7F, 0xFF, 0x01] * 8, np.uint8)
    signs, zeros = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    body = (
        """
  cvt.u64.u32 %d4, %r0;
  add.u64 %d4, %d4, %d0;
  ld.global.s8 %r1, [%d4];
  ld.global.u8 %r2, [%d4];
"""
        + store("%r1", 1, 32)
        + store("%r2", 2, 32)
    )
    run(body, source, signs, zeros)
    assert zeros.tolist() == source.tolist()
    assert signs.view(np.int32).tolist() == source.view(np.int8).tolist()


def test_hints_of_caches():
    x, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = """
  createpolicy.fractional.L2::evict_last.b64 %d7, 1.0;
  mul.wide.u32 %d4, %r0, 4;
  add.u64 %d5, %d4, %d0;
  add.u64 %d6, %d4, %d1;
  prefetch.global.L2 [%d5];
  ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %r1, [%d5], %d7;
  ld.relaxed.gpu.global.u32 %r2, [%d5];
  ld.acquire.sys.global.u32 %r3, [%d5];
  ld.volatile.global.u32 %r4, [%d5];
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  st.global.L1::evict_last.b32 [%d6], %r1;
  fence.acq_rel.gpu;
  membar.gl;
  nanosleep.u32 20;
  st.release.gpu.global.u32 [%d6], %r1;
"""
    run(body, x, out)
    assert out.tolist() == (x * 4).tolist()


def test_errors_of_shared_memory():
    body = ".shared .align 4 .b8 words[64];\nmov.u32 %r1, words;\nmad.lo.u32 %r2, %r0, {step}, %r1;\nst.shared.u32 [%r2], %r0;"
    with pytest.raises(
        OutOfBounds, match="thread 16 of CTA 0: writes 4 bytes at 0x40: outside shared memory, which has 64 bytes"
    ):
        run(body.format(step=4), np.zeros(1))
    with pytest.raises(MisalignedAccess, match="thread 1 "):
        run(body.format(step=2), np.zeros(1))


def test_dynamic_shared_memory():
    out = np.zeros(64, np.uint32)
    head = ".extern .shared .align 16 .b8 dynamic[];"
    body = (
        "mov.u32 %r1, dynamic;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], %r0;\nld.shared.u32 %r3, [%r2];"
        + store("%r3", 0, 32)
    )
    run(body, out, threads=64, head=head, shared_bytes=256)
    assert out.tolist() == list(range(64))
    with pytest.raises(OutOfBounds):
        run(body, out, threads=64, head=head, shared_bytes=252)


def test_what_was_not_written_is_not_zero():
    out = np.zeros(32, np.uint32)
    run(".shared .align 4 .b8 w[4];\nmov.u32 %r1, w;\nld.shared.u32 %r2, [%r1];" + store("%r2", 0, 32), out, gpu=False)
    assert np.isnan(out.view(np.float32)).all()
    body = ".shared .align 4 .b8 w[64];\nmov.u32 %r1, w;\nand.b32 %r3, %r0, 7;\nmad.lo.u32 %r1, %r3, 4, %r1;\nsetp.lt.u32 %p1, %r3, {least};\n"
    body += "@%p1 st.shared.b32 [%r1], %r3;\nbar.sync 0;\nld.shared.u32 %r2, [%r1];"
    run(body.format(least=8), out, check_uninitialized=True)
    with pytest.raises(UninitializedRead, match="thread 7 of CTA 0: reads 4 bytes of shared memory at 0x1c"):
        run(body.format(least=7), out, check_uninitialized=True)
    run(body.format(least=7), out, gpu=False)


def test_variants_that_are_not_emulated_are_refused():
    for text in (
        "ld.sideways.global.u32 %r1, [%d0];",
        "shfl.bfly.b32 %r1, %r0, 1, 31;",
        "cp.async.bulk.prefetch.L2.global [%d0], 16;",
    ):
        with pytest.raises(UnknownInstruction):
            run(text, np.zeros(1), check=False)
