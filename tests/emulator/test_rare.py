"""Instructions that compilers seldom write, and those of newer GPUs."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from tests.emulator.kernels import accepted, elementwise, kernel, load, run, store
from tests.emulator.reference import arithmetic, integers, patterns, signed
from tests.emulator.test_floating import extreme
from tritium.emulator import BarrierError, Deadlock, launch


def test_a_table_of_branches():
    out = np.zeros(32, np.uint32)
    body = """
  and.b32 %r1, %r0, 3;
  targets: .branchtargets zero, one, two, zero;
  brx.idx %r1, targets;
zero:
  mov.u32 %r2, 100;
  bra done;
one:
  mov.u32 %r2, 101;
  bra done;
two:
  mov.u32 %r2, 102;
done:
""" + store("%r2", 0, 32)
    run(body, out)
    assert out.tolist() == [100 + (t % 4) % 3 for t in range(32)]


def test_calls_with_registers_and_predicates():
    head = """
.func (.reg .u32 %out) twice (.reg .u32 %x, .reg .u32 %y)
{
  mad.lo.u32 %out, %x, 2, %y;
  ret;
}
"""
    out = np.zeros(32, np.uint32)
    body = """
  mov.u32 %r1, 7;
  setp.lt.u32 %p1, %r0, 8;
  @%p1 call (%r1), twice, (%r0, %r1);
  call (%r2), twice, (%r1, 1);
""" + store("%r2", 0, 32)
    run(body, out, head=head)
    assert out.tolist() == [2 * (2 * t + 7 if t < 8 else 7) + 1 for t in range(32)]


def test_integers(seed):
    rng = random.Random(seed)
    arrays = [np.array(integers(32, 128, rng), np.uint32) for _ in range(3)]

    def nth(mask, base, n):
        at, step = base, 1 if n > 0 else -1
        if n == 0:
            return base if mask >> base & 1 else -1
        left = abs(n)
        while 0 <= at < 32:
            left -= mask >> at & 1
            if not left:
                return at
            at += step
        return -1

    def dp2a(high, a_signed, b_signed):
        def f(a, b, c):
            total = c
            for n in range(2):
                x, y = a >> 16 * n & 0xFFFF, b >> 8 * (n + 2 * high) & 0xFF
                total += (signed(x, 16) if a_signed else x) * (signed(y, 8) if b_signed else y)
            return total

        return f

    def clamp(v, low, high):
        return max(low, min(high, signed(v, 32)))

    instructions = {
        "fns": (
            "and.b32 %r40, {b}, 31;\nand.b32 %r41, {c}, 7;\nsub.s32 %r41, %r41, 3;\nfns.b32 {d}, {a}, %r40, %r41",
            [32] * 3,
            32,
        ),
        "dp2a.lo.u32.u32": ("dp2a.lo.u32.u32 {d}, {a}, {b}, {c}", [32] * 3, 32),
        "dp2a.hi.s32.u32": ("dp2a.hi.s32.u32 {d}, {a}, {b}, {c}", [32] * 3, 32),
        "cvt.pack.sat.s16": ("cvt.pack.sat.s16.s32 {d}, {a}, {b}", [32] * 2, 32),
        "cvt.pack.sat.u8": ("cvt.pack.sat.u8.s32.b32 {d}, {a}, {b}, {c}", [32] * 3, 32),
        "max3": ("max.s32 {d}, {a}, {b}", [32] * 2, 32),
        "lop3.or": (
            "setp.ne.u32 %p3, {c}, 0;\nlop3.or.b32 {d}|%p4, {a}, {b}, {c}, 0x80, %p3;\n@%p4 add.u32 {d}, {d}, 1",
            [32] * 3,
            32,
        ),
    }
    references = {
        "fns": lambda a, b, c: nth(a, b & 31, (c & 7) - 3),
        "dp2a.lo.u32.u32": dp2a(0, False, False),
        "dp2a.hi.s32.u32": dp2a(1, True, False),
        "cvt.pack.sat.s16": lambda a, b: (
            (clamp(a, -(1 << 15), (1 << 15) - 1) & 0xFFFF) << 16 | clamp(b, -(1 << 15), (1 << 15) - 1) & 0xFFFF
        ),
        "cvt.pack.sat.u8": lambda a, b, c: c << 16 | clamp(a, 0, 255) << 8 | clamp(b, 0, 255),
        "max3": lambda a, b: max(signed(a, 32), signed(b, 32)),
        "lop3.or": lambda a, b, c: (a & b & c) + ((a & b & c != 0) or c != 0),
    }
    results = elementwise(instructions, arrays)
    for name, (_, widths, _) in instructions.items():
        for got, *values in zip(results[name].tolist(), *(a.tolist() for a in arrays[: len(widths)])):
            assert got == references[name](*values) & 0xFFFFFFFF, (name, [hex(v) for v in values])


def test_arithmetic_of_blackwell(seed):
    """Pairs of f32, and extremes of three numbers."""
    rng = random.Random(seed)
    arrays = [np.array(patterns("f32", 64, rng), np.uint32) for _ in range(3)]
    pairs = [np.array([a | b << 32 for a, b in zip(x.tolist(), np.roll(x, 1).tolist())], np.uint64) for x in arrays]
    instructions = {f"{op}.rn.f32x2": (f"{op}.rn.f32x2 {{d}}, {{a}}, {{b}}", [64] * 2, 64) for op in ("add", "mul")}
    instructions["fma.rn.f32x2"] = ("fma.rn.f32x2 {d}, {a}, {b}, {c}", [64] * 3, 64)
    results = elementwise(instructions, pairs, target="sm_100", gpu=False)
    for name, (_, widths, _) in instructions.items():
        for got, *values in zip(results[name].tolist(), *(p.tolist() for p in pairs[: len(widths)])):
            halves = [arithmetic("f32", name[:3], [v >> s & 0xFFFFFFFF for v in values]) for s in (0, 32)]
            assert got == halves[0] | halves[1] << 32, name
    three = {op: (f"{op}.f32 {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32) for op in ("min", "max")}
    results = elementwise(three, arrays, target="sm_100", version="8.8", gpu=False)
    for op in three:
        for got, *values in zip(results[op].tolist(), *(a.tolist() for a in arrays)):
            assert got == extreme("f32", op, values, False), op


def test_functions_of_small_formats():
    x = np.linspace(-3, 3, 64).astype(np.float16)
    two = np.stack([x, x[::-1]], axis=1).copy().view(np.uint32)[:, 0]
    instructions = {
        "ex2.approx.f16": ("ex2.approx.f16 {d}, {a}", [16], 16),
        "tanh.approx.f16": ("tanh.approx.f16 {d}, {a}", [16], 16),
    }
    results = elementwise(instructions, [x.view(np.uint16)], gpu=False)
    exact = x.astype(np.float64)
    np.testing.assert_array_equal(results["ex2.approx.f16"].view(np.float16), np.exp2(exact).astype(np.float16))
    np.testing.assert_array_equal(results["tanh.approx.f16"].view(np.float16), np.tanh(exact).astype(np.float16))
    packed = elementwise({"ex2": ("ex2.approx.f16x2 {d}, {a}", [32], 32)}, [two], gpu=False)["ex2"]
    np.testing.assert_array_equal(packed.view(np.float16).reshape(-1, 2)[:, 1], np.exp2(exact[::-1]).astype(np.float16))
    brain = (np.linspace(0.1, 3, 64).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    got = elementwise({"ex2": ("ex2.approx.ftz.bf16 {d}, {a}", [16], 16)}, [brain], gpu=False)["ex2"]
    value = np.exp2((brain.astype(np.uint32) << 16).view(np.float32).astype(np.float64))
    np.testing.assert_allclose((got.astype(np.uint32) << 16).view(np.float32), value, rtol=2.0**-8)


def test_wide_loads_of_blackwell():
    source, out = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)
    names = ", ".join(f"%r{10 + n}" for n in range(8))
    body = f"""
  mul.wide.u32 %d4, %r0, 32;
  add.u64 %d5, %d4, %d0;
  add.u64 %d6, %d4, %d1;
  ld.global.v8.b32 {{{names}}}, [%d5];
  st.global.v8.b32 [%d6], {{{names}}};
"""
    ptx = kernel(body, arrays=2, target="sm_100", version="8.8")
    accepted(ptx, "sm_100")
    if source.ctypes.data % 32 == out.ctypes.data % 32 == 0:
        launch(ptx, 1, [source, out])
        np.testing.assert_array_equal(source, out)


def test_registers_of_a_warp_group_and_dependent_kernels():
    out = np.zeros(128, np.uint32)
    body = "setmaxnreg.inc.sync.aligned.u32 64;\ngriddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n" + load(
        "%r1", 0, 32
    )
    ptx = kernel(body + "\nadd.u32 %r1, %r1, 3;" + store("%r1", 0, 32), arrays=1, threads=128, target="sm_90a")
    launch(ptx, 1, [out])
    assert (out == 3).all()


MOVED = """
  shr.u32 %r1, %r0, 7;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra gives;
  setmaxnreg.inc.sync.aligned.u32 TAKEN;
  bra done;
gives:
  GIVE
done:
"""


def test_registers_move_between_warp_groups():
    def run(taken, give="setmaxnreg.dec.sync.aligned.u32 40;"):
        out = np.zeros(256, np.uint32)
        body = MOVED.replace("TAKEN", str(taken)).replace("GIVE", give) + "mov.u32 %r1, 3;" + store("%r1", 0, 32)
        ptx = kernel(body, arrays=1, threads=256, target="sm_90a")
        launch(re.sub(r"(\.reqntid[^\n]*)", r"\1\n.maxnreg 96", ptx), 1, [out])
        assert (out == 3).all()

    run(152)
    with pytest.raises(Deadlock, match="threads have 96 registers each, and 32 per thread are free"):
        run(160, "setmaxnreg.dec.sync.aligned.u32 40;")
    with pytest.raises(BarrierError, match="dec to 104 registers of a thread that has 96"):
        run(104, "setmaxnreg.dec.sync.aligned.u32 104;")
    with pytest.raises(BarrierError, match="multiple of 8"):
        run(100)
    apart = "setp.lt.u32 %p1, %r0, 160;\n@%p1 setmaxnreg.dec.sync.aligned.u32 32;\n"
    apart += "@!%p1 setmaxnreg.dec.sync.aligned.u32 40;"
    with pytest.raises(BarrierError, match="asks for 40 registers, where another warp of its group asks for 32"):
        run(104, apart)


def test_extended_booleans():
    """Predicates as values: and, or, xor, not, mov, and constants."""
    out = np.zeros(32, np.uint32)
    body = """
  setp.lt.u32 %p1, %r0, 16;
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p2, %r1, 0;
  and.pred %p3, %p1, %p2;
  or.pred %p4, %p1, %p2;
  xor.pred %p5, %p3, %p4;
  not.pred %p6, %p5;
  mov.pred %p7, %p6;
  selp.u32 %r2, 1, 0, %p7;
""" + store("%r2", 0, 32)
    run(body, out)
    assert out.tolist() == [int((t < 16) == (t % 2 == 0)) for t in range(32)]
