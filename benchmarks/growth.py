"""How compile time grows with a kernel: milliseconds of each stage for loops that are written out 10 to 10,000 times.

    python benchmarks/growth.py [--most 10000] [--only chain] [--llvm-most 1000]

Kernels are those of `tests/compiler/test_operation_limit.py`, compiled for `cuda:90`, warm; times are CPU times. After
each stage its slope is printed: the exponent of operations from the line before (1 is linear). `lowering` is the stage
`llir` up to the text for LLVM, which is ours; `LLVM` is what it makes of the text, optimizing and writing PTX, and is
left out above `--llvm-most`. The exit status is 1 where a stage of ours has a slope beyond 1.25 in the last step.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tritium  # noqa: E402
from tests.compiler.test_operation_limit import KERNELS  # noqa: E402
from tritium import knobs  # noqa: E402
from tritium.backends.compiler import GPUTarget  # noqa: E402
from tritium.backends.nvidia import codegen  # noqa: E402
from tritium.compiler import ASTSource  # noqa: E402

STEEPEST = 1.25  # larger programs fall out of the processor's caches: 1.1 is usual for linear work
TYPES = {"x": "*fp32", "out": "*fp32", "n": "i32", "N": "constexpr"}
STAGES = ("source", "ttir", "ttgir", "lowering", "LLVM")


class _Enough(Exception):
    """The text for LLVM is there, and no more is wanted."""


class Clock:
    """Milliseconds of this process by stage, of one compile."""

    def __init__(self, llvm: bool) -> None:
        self.times = dict.fromkeys(STAGES, 0.0)
        self.llvm = llvm
        self.optimized = codegen.optimized_module

    def timed(self, name: str, run: Any) -> Any:
        """`run`, whose time is added to `name`."""

        def timed(*arguments: Any) -> Any:
            start = time.process_time()
            try:
                return run(*arguments)
            finally:
                self.times[name] += (time.process_time() - start) * 1e3

        return timed

    def hook(self, *arguments: Any) -> tuple[str, str]:
        """What the compiler asks to edit its table of stages: each is timed."""
        if arguments:
            stages = arguments[1]
            for name, counted in (("ttir", "ttir"), ("ttgir", "ttgir"), ("llir", "lowering"), ("ptx", "LLVM")):
                if name in stages:
                    stages[name] = self.timed(counted, stages[name])
        return "growth", "growth"

    def optimize(self, *arguments: Any) -> Any:
        """LLVM's part of the stage `llir`."""
        if not self.llvm:
            raise _Enough
        before = self.times["LLVM"]
        made = self.timed("LLVM", self.optimized)(*arguments)
        self.times["lowering"] -= self.times["LLVM"] - before
        return made


def measure(fn: Any, n: int, llvm: bool) -> dict[str, float]:
    """Milliseconds of each stage of `fn` with its loop written out `n` times."""
    divisible = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}
    source = ASTSource(fn, TYPES, constexprs={"N": n}, attrs=divisible)
    clock = Clock(llvm)
    codegen.optimized_module = clock.optimize
    start = time.process_time()
    try:
        with knobs.compilation.scope(), knobs.runtime.scope(), contextlib.suppress(_Enough):
            knobs.compilation.always_compile = True
            knobs.runtime.add_stages_inspection_hook = clock.hook
            tritium.compile(source, target=GPUTarget("cuda", 90, 32), until="ptx")
    finally:
        codegen.optimized_module = clock.optimized
    clock.times["source"] = (time.process_time() - start) * 1e3 - sum(clock.times.values())
    return clock.times


def table(fn: Any, sizes: list[int], llvm_most: int) -> bool:
    """Print a line a size; whether the last step of every stage of ours is no steeper than it may be."""
    print(f"\n| {fn.__name__:<12} | {' | '.join(f'{name:>16}' for name in STAGES)} |")
    print(f"|{'-' * 14}|{('-' * 17 + ':|') * len(STAGES)}")
    measure(fn, 2, True)
    before: dict[str, float] = {}
    for i, n in enumerate(sizes):
        found = min(
            (measure(fn, n, n <= llvm_most) for _ in range(3 if n <= 100 else 1)), key=lambda t: sum(t.values())
        )
        step = math.log(n / sizes[i - 1]) if i else math.nan
        slopes = {k: math.log(found[k] / before[k]) / step for k in STAGES if i and found[k] > 0 < before[k]}
        cells = [f"{found[k]:9.1f} ({slopes.get(k, math.nan):4.2f})" if found[k] else "" for k in STAGES]
        print(f"| {n:<12} | {' | '.join(f'{cell:>16}' for cell in cells)} |", flush=True)
        before = found
    return all(slopes[k] <= STEEPEST for k in STAGES[:-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=10_000, help="iterations of the largest kernel")
    parser.add_argument("--llvm-most", type=int, default=1000, help="and of the largest that LLVM gets")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    arguments = parser.parse_args()
    sizes = [n for n in (10, 100, 1000, 10_000) if n <= arguments.most]
    chosen = [fn for fn in KERNELS if arguments.only in fn.__name__]
    kept = [table(fn, sizes, arguments.llvm_most) for fn in chosen]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
