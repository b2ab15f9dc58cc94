"""Programs of random accesses, shapes and control flow on the CPU store what the evaluator stores, bit for bit.

A few dozen fixed programs run with every test run. The long run, at low priority, from a seed on:

    nice python tests/fuzz/test_accesses.py 0 5000

prints each failing program cut down to what still fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from accesses import SIZE, Program  # noqa: E402

from tests.conversion.kernels import Kernel  # noqa: E402
from tritium.backends.cpu import named_target  # noqa: E402
from tritium.dialects import arith, tt  # noqa: E402
from tritium.interpreter.evaluator import run  # noqa: E402
from tritium.ir import Builder, FloatType, TensorType, element_type, parse_module, run_pipeline, verify  # noqa: E402
from tritium.transforms.ttir import TTIR_PIPELINE  # noqa: E402

MODES = ("plain", "optimized", "avx2", "sanitized")
GUARD = 64
"""Elements around each array that no program may touch."""


TARGETS = {"avx2": "x86-64-v3"}


def prepared(seed: int) -> tuple[list[Any], list[np.ndarray]]:
    """The arguments of a launch, and the memory around each array."""
    arguments, memory = [], []
    for a in Program(seed, 0).arguments():
        if isinstance(a, np.ndarray):
            whole = np.full(SIZE + 2 * GUARD, 113, a.dtype)
            whole[GUARD:-GUARD] = a
            memory.append(whole)
            a = whole[GUARD:-GUARD]
        arguments.append(a)
    return arguments, memory


def difference(text: str, seed: int, mode: str) -> str | None:
    """What the compiled program leaves in memory that the evaluator does not."""
    module = parse_module(text)
    verify(module)
    expected, _ = prepared(seed)
    run(module, 1, expected)
    found, memory = prepared(seed)
    if mode == "optimized":
        module = parse_module(text)
        run_pipeline(module, TTIR_PIPELINE, verifier=verify)
        text = str(module)
    kernel = Kernel(text, sanitize=mode == "sanitized", target=named_target(TARGETS[mode]) if mode in TARGETS else None)
    slots = [(a.ctypes.data, a.ctypes.data + a.nbytes) if isinstance(a, np.ndarray) else (0, 0) for a in found]
    bounds = np.array(slots, np.uint64)
    report = kernel((1,), *found, bounds=bounds.ctypes.data if mode == "sanitized" else 0)
    if report:
        return f"reported {report!r}"
    for whole in memory:
        if (whole[:GUARD] != 113).any() or (whole[-GUARD:] != 113).any():
            return f"wrote around an array of {whole.dtype}"
    for a, b in zip(expected, found):
        if isinstance(a, np.ndarray):
            bits = f"u{a.itemsize}"
            same = a.view(bits) == b.view(bits)
            same |= nans(a) & nans(b)
            if not same.all():
                at = np.flatnonzero(~same)
                return f"{a.dtype}: {len(at)} elements, at {at[:5]} {b[at[:5]]} for {a[at[:5]]}"
    return None


def nans(a: np.ndarray) -> Any:
    """Where a float array (bf16 as bits) has NaN."""
    return np.isnan(a) if a.dtype.kind == "f" else (a & 0x7FFF) > 0x7F80 if a.dtype == np.uint16 else False


@pytest.mark.sample(3, "seed")
@pytest.mark.parametrize("seed", range(40))
def test_program(seed: int) -> None:
    mode = MODES[seed % len(MODES)]
    text = Program(seed).text
    wrong = difference(text, seed, mode)
    assert wrong is None, f"{mode}: {wrong}, program\n{text}"


# -- the long run -----------------------------------------------------------------------------------------------------


def fails(text: str, seed: int, mode: str) -> bool:
    """True when the program still shows a difference (or is refused)."""
    try:
        return difference(text, seed, mode) is not None
    except Exception:
        return False


def reduced(text: str, seed: int, mode: str) -> str:
    """The program with all replaced by zeros or left out that the failure does not need."""
    changed = True
    while changed:
        changed = False
        count = len(list(parse_module(text).walk()))
        for k in reversed(range(count)):
            smaller = without(text, k)
            if smaller is not None and fails(smaller, seed, mode):
                text, changed = smaller, True
    return text


def without(text: str, k: int) -> str | None:
    """The program without operation number k, its results replaced by zeros; and without what nobody uses then."""
    module = parse_module(text)
    ops = list(module.walk())
    if k >= len(ops) or isinstance(ops[k], arith.Constant) or ops[k].parent is None:
        return None
    op = ops[k]
    if op in addressing(ops):
        return None
    b = Builder(op.parent, op)
    if not isinstance(op, tt.Store) and (not op.results or isinstance(op, tt.Func)):
        return None
    for r in op.results:
        element = element_type(r.type)
        if isinstance(element, tt.PointerType) and not isinstance(r.type, TensorType):
            return None
        if isinstance(element, tt.PointerType):
            return None
        r.replace_all_uses_with(b.add(arith.Constant.of(0.0 if isinstance(element, FloatType) else 0, r.type)))
    op.erase()
    again = True
    while again:
        again = False
        for dead in reversed(list(module.walk())):
            if dead.results and not any(r.users for r in dead.results) and not dead.regions and dead.parent is not None:
                dead.erase()
                again = True
    return str(module)


def addressing(ops: list[Any]) -> set[Any]:
    """What the addresses and masks of stores are made of: another store might write an element twice."""
    found: set[Any] = set()
    waiting = [v for op in ops if isinstance(op, tt.Store) for v in (op.ptr, op.mask) if v is not None]
    while waiting:
        op = waiting.pop().defining_op
        if op is not None and op not in found:
            found.add(op)
            waiting += op.operands
    return found


def main(start: int, count: int) -> int:
    """Try `count` programs; the number that failed."""
    failed = 0
    for seed in range(start, start + count):
        mode = MODES[seed % len(MODES)]
        text = Program(seed, 4 + seed % 17).text
        try:
            wrong = difference(text, seed, mode)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
            print(f"-- seed {seed} {mode}: {wrong[:400]}", flush=True)
            failed += 1
            continue
        if wrong:
            failed += 1
            print(f"-- seed {seed} {mode}: {wrong}\n{reduced(text, seed, mode)}", flush=True)
    print(f"{failed} of {count} failed")
    return failed


if __name__ == "__main__":
    os.nice(10)
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
