"""Errors of the f32 math functions over every one of the 2^32 arguments, in ulp.

    python tests/conversion/llvm/ulp_sweep.py exp sin        # these functions
    python tests/conversion/llvm/ulp_sweep.py --all          # all unary ones: 30 to 200 s each on one core
    python tests/conversion/llvm/ulp_sweep.py --stride 64 …  # one pattern in 64
    python tests/conversion/llvm/ulp_sweep.py --sample f64 --all    # not every argument: some millions, f32 or f64

The yardstick is the C library's double function, whose own error is some 2^-29 of an f32 unit; the comparison is
compiled too. NaN results must be NaN exactly where the reference is, zeros must have its sign, and overflow must
happen where rounding says so.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.conversion.llvm import vecmath_harness as harness
from tests.conversion.llvm.test_vecmath import arguments, pairs_of_arguments
from tritium.conversion.llvm.vecmath import MATH_FUNCTIONS

CHUNK = 1 << 20

# max and arg max of |got - exact| / ulp(exact) over a chunk; infinities count as 2^128, a wrong NaN or sign of zero
# as an infinite error.
COMPARE = """
declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.fabs.f64(double)
declare double @llvm.copysign.f64(double, double)

define void @compare(ptr noalias %got, ptr noalias %exact, i64 %n, ptr noalias %worst, ptr noalias %where) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %most = phi double [ 0.0, %entry ], [ %most2, %body ]
  %at = phi i64 [ 0, %entry ], [ %at2, %body ]
  %pg = getelementptr float, ptr %got, i64 %i
  %g32 = load float, ptr %pg
  %g = fpext float %g32 to double
  %pe = getelementptr double, ptr %exact, i64 %i
  %e = load double, ptr %pe
  %g1 = call double @llvm.minnum.f64(double %g, double 0x47F0000000000000)
  %g2 = call double @llvm.maxnum.f64(double %g1, double 0xC7F0000000000000)
  %e1 = call double @llvm.minnum.f64(double %e, double 0x47F0000000000000)
  %e2 = call double @llvm.maxnum.f64(double %e1, double 0xC7F0000000000000)
  %d = fsub double %g2, %e2
  %ad = call double @llvm.fabs.f64(double %d)
  %bits = bitcast double %e2 to i64
  %ex0 = lshr i64 %bits, 52
  %ex1 = and i64 %ex0, 2047
  %low = icmp ult i64 %ex1, 897
  %ex2 = select i1 %low, i64 897, i64 %ex1
  %high = icmp ugt i64 %ex2, 1150
  %ex3 = select i1 %high, i64 1150, i64 %ex2
  %inverse = sub i64 2069, %ex3
  %ibits = shl i64 %inverse, 52
  %scale = bitcast i64 %ibits to double
  %u = fmul double %ad, %scale
  %gn = fcmp uno double %g, %g
  %en = fcmp uno double %e, %e
  %both = and i1 %gn, %en
  %one = xor i1 %gn, %en
  %gz = fcmp oeq double %g, 0.0
  %ez = fcmp oeq double %e, 0.0
  %zz = and i1 %gz, %ez
  %gs = call double @llvm.copysign.f64(double 1.0, double %g)
  %es = call double @llvm.copysign.f64(double 1.0, double %e)
  %sd = fcmp one double %gs, %es
  %wrongzero = and i1 %zz, %sd
  %bad = or i1 %one, %wrongzero
  %u1 = select i1 %both, double 0.0, double %u
  %u2 = select i1 %bad, double 0x7FF0000000000000, double %u1
  %more = fcmp ogt double %u2, %most
  %most2 = select i1 %more, double %u2, double %most
  %at2 = select i1 %more, i64 %i, i64 %at
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %body, label %exit
exit:
  store double %most2, ptr %worst
  store i64 %at2, ptr %where
  ret void
}
"""


def sweep(name: str, stride: int, lanes: int = 16) -> tuple[float, float]:
    """(largest error, its argument) over the bit patterns 0, stride, 2 stride, …"""
    ours = harness.compiled(name, "f32", lanes)
    theirs = harness.double_loop(name, 1)
    compare = harness.jitted(COMPARE, "compare", *[ctypes.c_void_p] * 2, ctypes.c_int64, *[ctypes.c_void_p] * 2)
    worst, where = np.zeros(1), np.zeros(1, np.int64)
    exact = np.empty(CHUNK)
    most, argument = 0.0, 0.0
    for first in range(0, 1 << 32, CHUNK * stride):
        x = (
            (np.arange(CHUNK, dtype=np.uint64) * np.uint64(stride) + np.uint64(first))
            .astype(np.uint32)
            .view(np.float32)
        )
        wide = x.astype(np.float64)
        got = ours(x)
        theirs(harness.pointer(exact), harness.pointer(wide), CHUNK)
        compare(*(harness.pointer(a) for a in (got, exact)), CHUNK, harness.pointer(worst), harness.pointer(where))
        if worst[0] > most:
            most, argument = float(worst[0]), float(x[where[0]])
    return most, argument


def sample(name: str, element: str, rounds: int = 12) -> tuple[float, tuple[float, ...]]:
    """(largest error, its arguments) over `rounds` samples of about a million arguments, against long doubles."""
    most: tuple[float, tuple[float, ...]] = (0.0, ())
    lanes = 16 if element == "f32" else 8
    for seed in range(rounds):
        if MATH_FUNCTIONS[name].arity == 1:
            inputs: tuple[np.ndarray, ...] = (arguments(name, element, 1 << 19, seed),)
        else:
            inputs = pairs_of_arguments(name, element, 1 << 20, seed)
        most = max(most, harness.worst(name, element, lanes, *inputs))
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every unary function")
    parser.add_argument("--stride", type=int, default=1, help="one bit pattern in so many (a power of two)")
    parser.add_argument("--sample", choices=["f32", "f64"], help="a sample of one format in place of all f32")
    options = parser.parse_args()
    every = [n for n, s in MATH_FUNCTIONS.items() if s.body is not None]
    if not options.sample:
        every = [n for n in every if MATH_FUNCTIONS[n].arity == 1 and harness.has_double(n)]
    for name in every if options.all else options.names:
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            error, argument = sample(name, options.sample) if options.sample else sweep(name, options.stride)
        spec = MATH_FUNCTIONS[name]
        stated = spec.ulp_f64 if options.sample == "f64" else spec.ulp_f32
        verdict = "" if error <= stated else f"   more than the {stated} stated"
        print(f"{name:8} {error:.4f} ulp at {argument!r}  ({time.perf_counter() - start:.0f} s){verdict}", flush=True)


if __name__ == "__main__":
    main()
