"""Whole kernels, arguments, control flow, barriers and the errors of each."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import tritium.emulator as emulator
from tests.emulator.kernels import accepted, kernel, load, run, store
from tritium.emulator import (
    BarrierError,
    DataRace,
    Deadlock,
    DeviceAssertion,
    DeviceTrap,
    LaunchError,
    Memory,
    MemoryAccessError,
    MisalignedAccess,
    OutOfBounds,
    PTXError,
    RunawayKernel,
    UnknownInstruction,
    launch,
)

VECTOR_ADD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(
  .param .u64 .ptr .global .align 16 x, .param .u64 .ptr .global .align 16 y,
  .param .u64 .ptr .global .align 16 out, .param .u32 n
)
.reqntid 128
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<8>;
  .loc 1 10 4
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u64 %d3, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 128, %r3;
  setp.ge.u32 %p1, %r4, %r1;
  @%p1 bra $L_end;
  mul.wide.u32 %d4, %r4, 4;
  add.u64 %d5, %d1, %d4;
  add.u64 %d6, %d2, %d4;
  add.u64 %d7, %d3, %d4;
  .loc 1 12 8
  ld.global.f32 %f1, [%d5];
  ld.global.f32 %f2, [%d6];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%d7], %f3;
$L_end:
  ret;
}
.file 1 "source.py"
"""

#: The sum of 32 * warps numbers by shuffles, then through shared memory; the maximum by a loop.
REDUCTION = (
    """
  .shared .align 4 .b8 partial[32];
"""
    + load("%r1", 0, 32)
    + """
  mov.u32 %r2, 16;
loop:
  shfl.sync.bfly.b32 %r3, %r1, %r2, 31, -1;
  add.f32 %r1, %r1, %r3;
  shr.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra loop;
  and.b32 %r4, %r0, 31;
  setp.eq.u32 %p2, %r4, 0;
  shr.u32 %r5, %r0, 5;
  shl.b32 %r5, %r5, 2;
  mov.u32 %r6, partial;
  add.u32 %r6, %r6, %r5;
  @%p2 st.shared.b32 [%r6], %r1;
  BARRIER
  setp.lt.u32 %p3, %r0, 4;
  @!%p3 bra done;
  mov.u32 %r6, partial;
  mad.lo.u32 %r6, %r0, 4, %r6;
  ld.shared.b32 %r7, [%r6];
  shfl.sync.down.b32 %r8, %r7, 2, 31, 15;
  add.f32 %r7, %r7, %r8;
  shfl.sync.down.b32 %r8, %r7, 1, 31, 15;
  add.f32 %r7, %r7, %r8;
  setp.ne.u32 %p4, %r0, 0;
  @%p4 bra done;
  st.global.b32 [%d1], %r7;
done:
"""
)


def arrays(n, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32), np.zeros(n, np.float32)


def test_vector_add():
    accepted(VECTOR_ADD, "sm_80")
    x, y, out = arrays(1000)
    report = launch(VECTOR_ADD, 8, [x, y, out, 1000])
    np.testing.assert_array_equal(out, x + y)
    assert (report.kernel, report.blocks, report.threads) == ("add", 8, 1024)


def test_arrays_are_not_kept():
    x, y, out = arrays(128)
    launch(VECTOR_ADD, 1, [x, y, out, 128])
    gone = weakref.ref(x)
    del x
    assert gone() is None


def test_blocks_in_batches_give_the_same():
    x, y, out = arrays(3000)
    launch(VECTOR_ADD, 24, [x, y, out, 3000], batch_threads=256)
    np.testing.assert_array_equal(out, x + y)


def test_an_access_outside_is_named():
    x, y, out = arrays(1000)
    with pytest.raises(OutOfBounds) as e:
        launch(VECTOR_ADD, 8, [x, y, out[:900], 1000])
    text = str(e.value)
    assert "thread 4 of CTA 7" in text and "st.global.f32" in text and "source.py:12:8" in text
    assert "0 bytes after the end of argument 2 of add (3,600 bytes)" in text
    assert e.value.instruction.line == 33


def test_pointers_into_arrays_views_and_tables_of_pointers():
    x, y, out = arrays(256)
    launch(VECTOR_ADD, 1, [(x, 128 * 4), y[::-1][128:][::-1], out[64:192], 128])
    np.testing.assert_array_equal(out[64:192], x[128:] + y[:128])
    assert not out[:64].any() and not out[192:].any()
    memory = Memory()
    table = np.array([memory.place(a) for a in (x, y)], np.uint64)
    body = "ld.global.u64 %d4, [%d0+8];\nld.global.b32 %r1, [%d4+12];\nst.global.b32 [%d1], %r1;"
    result = np.zeros(1, np.float32)
    run(body, table, result, memory=memory)
    assert result[0] == y[3]


def test_read_only_arrays():
    x, y, out = arrays(128)
    out.flags.writeable = False
    with pytest.raises(MemoryAccessError, match="read-only"):
        launch(VECTOR_ADD, 1, [x, y, out, 128])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([1, 2], "has 4 parameters, not 2"),
        ([np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)], "it cannot be a pointer"),
        ([None, None, None, 1 << 32], "does not fit into 4 bytes"),
        ([None, None, None, "x"], "str is neither an array nor a number"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(LaunchError, match=message):
        launch(VECTOR_ADD, 1, arguments)


def test_wrong_shapes():
    x, y, out = arrays(4)
    with pytest.raises(LaunchError, match="requires blocks of"):
        launch(VECTOR_ADD, 1, [x, y, out, 4], block=64)
    with pytest.raises(LaunchError, match="grid"):
        launch(VECTOR_ADD, (0, 1), [x, y, out, 4])
    with pytest.raises(PTXError, match="no kernel 'sub'"):
        launch(VECTOR_ADD, 1, [x, y, out, 4], name="sub")


def test_reduction_with_shuffles_shared_memory_and_divergence():
    x = np.arange(128, dtype=np.float32)
    out = np.zeros(1, np.float32)
    report = run(REDUCTION.replace("BARRIER", "bar.sync 0;"), x, out, threads=128)
    assert out[0] == x.sum() and report.barriers == 1


def test_a_missing_barrier_is_a_race():
    x, out = np.arange(128, dtype=np.float32), np.zeros(1, np.float32)
    with pytest.raises(DataRace) as e:
        run(REDUCTION.replace("BARRIER", ""), x, out, threads=128)
    text = str(e.value)
    assert "ld.shared.b32 %r7" in text and "st.shared.b32" in text and "no barrier orders" in text
    run(REDUCTION.replace("BARRIER", ""), x, out, threads=128, check_races=False)


def test_a_barrier_that_some_do_not_reach_is_a_deadlock():
    body = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra out;\nbar.sync 0;\nout:\n"
    with pytest.raises(Deadlock, match="barrier 0 of CTA 0: 32 of 64 threads have arrived"):
        run(body, np.zeros(1), threads=64)


def test_a_shuffle_without_its_members_is_a_deadlock():
    body = "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra wait;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nbra out;\nwait:\nbar.warp.sync -1;\nout:\n"
    with pytest.raises(Deadlock, match="have not arrived"):
        run(body, np.zeros(1))
    with pytest.raises(BarrierError, match="lane 16 is not in the member mask"):
        run("shfl.sync.idx.b32 %r1, %r0, 0, 31, 65535;\n", np.zeros(1), check=False)


def test_a_spin_lock_between_threads_ends():
    """Those who spin stand before those who hold the lock: they must not starve them."""
    body = """
try:
  atom.global.cas.b32 %r1, [%d0], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra try;
  ld.volatile.global.u32 %r2, [%d0+4];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%d0+4], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%d0], 0;
"""
    state = np.zeros(2, np.uint32)
    run(body, state, threads=64)
    assert state.tolist() == [0, 64]


def test_a_loop_without_end():
    with pytest.raises(RunawayKernel, match="1,000 segments"):
        run("forever:\nbra forever;\n", np.zeros(1), max_steps=1000)


def test_misaligned_and_trap():
    with pytest.raises(MisalignedAccess, match="not a multiple of 4"):
        run("add.u64 %d0, %d0, 2;\nld.global.u32 %r1, [%d0];\nst.global.u32 [%d0], %r1;", np.zeros(4))
    with pytest.raises(DeviceTrap, match="thread 5 of CTA 0"):
        run("setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;\n", np.zeros(4))


def test_unknown_instructions_are_named():
    with pytest.raises(UnknownInstruction, match="swizzle_atomicity"):
        run("tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d0], 1;", np.zeros(128, np.uint8), check=False)
    with pytest.raises(UnknownInstruction, match=r"know \.sideways"):
        run("add.sideways.u32 %r1, %r0, 1;", np.zeros(1), check=False)


def test_broken_text():
    with pytest.raises(PTXError, match=r"no \.version"):
        launch("", 1, [])
    with pytest.raises(PTXError, match="PTX line"):
        launch(kernel("  add.u32 %r1, %r0, ?;"), 1, [])
    with pytest.raises(PTXError, match="%x is not declared|is not declared"):
        launch(kernel("  @%p99 add.u32 %r1, %r0, 1;"), 1, [])


def test_functions_prints_and_assertions():
    head = """
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 list);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 text[14] = {116, 58, 32, 37, 100, 32, 37, 46, 50, 102, 33, 10, 0, 0};
.func (.param .b32 out) triple (.param .b32 x)
{
  .reg .b32 %r<3>;
  .reg .pred %p;
  ld.param.b32 %r1, [x];
  setp.gt.s32 %p, %r1, 1;
  @%p bra big;
  st.param.b32 [out], %r1;
  ret;
big:
  mul.lo.s32 %r2, %r1, 3;
  st.param.b32 [out], %r2;
  ret;
}
"""
    body = """
  .local .align 8 .b8 depot[16];
  .reg .b32 %x;
  {
    .param .b32 param0;
    .param .b32 result;
    st.param.b32 [param0], %r0;
    call.uni (result), triple, (param0);
    ld.param.b32 %x, [result];
  }
  mov.u64 %d5, depot;
  cvta.local.u64 %d6, %d5;
  st.local.u32 [%d5], %x;
  mov.b64 %d7, 0d4004000000000000;
  st.u64 [%d6+8], %d7;
  mov.u64 %d8, text;
  cvta.global.u64 %d8, %d8;
  setp.ge.u32 %p1, %r0, 3;
  @%p1 bra done;
  {
    .param .b64 param0;
    .param .b64 param1;
    .param .b32 status;
    st.param.b64 [param0], %d8;
    st.param.b64 [param1], %d6;
    call.uni (status), vprintf, (param0, param1);
  }
done:
"""
    report = run(body, np.zeros(1), head=head)
    assert report.output == "t: 0 2.50!\nt: 1 2.50!\nt: 6 2.50!\n"
    failing = """
  mov.u64 %d5, text;
  cvta.global.u64 %d5, %d5;
  setp.eq.u32 %p1, %r0, 7;
  @!%p1 bra done;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %d5;
    st.param.b64 [p1], %d5;
    st.param.b32 [p2], 42;
    st.param.b64 [p3], %d5;
    st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
done:
"""
    with pytest.raises(DeviceAssertion) as e:
        run(failing, np.zeros(1), head=head)
    assert e.value.line == 42 and e.value.assertion.startswith("t: ") and "thread 7 of CTA 0" in str(e.value)


def test_special_registers():
    names = [
        "%tid.x",
        "%tid.y",
        "%tid.z",
        "%ntid.y",
        "%ctaid.x",
        "%ctaid.y",
        "%nctaid.x",
        "%laneid",
        "%warpid",
        "%lanemask_lt",
    ]
    body = "mov.u32 %r1, %tid.y;\nmad.lo.u32 %r0, %r1, 8, %r0;\nmov.u32 %r1, %tid.z;\nmad.lo.u32 %r0, %r1, 32, %r0;\n"
    body += (
        "mov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r3, %r2, 3, %r3;\nmad.lo.u32 %r0, %r3, 64, %r0;\n"
    )
    for n, name in enumerate(names):
        body += f"mov.u32 %r5, {name};" + store("%r5", n, 32)
    out = [np.zeros(64 * 6, np.uint32) for _ in names]
    ptx = kernel(body, arrays=len(names)).replace(".reqntid 32", ".reqntid 8, 4, 2")
    accepted(ptx)
    launch(ptx, (3, 2), out)
    t = np.arange(64 * 6)
    linear, block = t % 64, t // 64
    wanted = [
        linear % 8,
        linear // 8 % 4,
        linear // 32,
        4,
        block % 3,
        block // 3,
        3,
        linear % 32,
        linear // 32,
        (1 << linear % 32) - 1,
    ]
    for name, got, value in zip(names, out, wanted):
        np.testing.assert_array_equal(got, np.broadcast_to(value, 384), err_msg=name)


def test_partial_warps():
    """A block of 40 threads: the last warp has eight, and they may shuffle among themselves."""
    body = (
        "shfl.sync.up.b32 %r1, %r0, 1, 0, -1;\nvote.sync.ballot.b32 %r2, 1, -1;\n"
        + store("%r1", 0, 32)
        + store("%r2", 1, 32)
    )
    out, votes = np.zeros(40, np.uint32), np.zeros(40, np.uint32)
    body = body.replace("vote", "setp.ge.u32 %p1, %r0, 0;\nvote").replace("b32 %r2, 1,", "b32 %r2, %p1,")
    run(body, out, votes, threads=40)
    assert out.tolist() == [0, *range(31), 32, *range(32, 39)]  # the first lane of a warp keeps its own
    assert votes[0] == 0xFFFFFFFF and votes[39] == 0xFF


def test_doctest_of_the_module():
    import doctest

    assert doctest.testmod(emulator).failed == 0
