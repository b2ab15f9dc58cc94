"""What machine code does wrong is named: lowerings with a mistake are planted behind the last program of tiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.tools.check.kernels import by_descriptors, distance, product, row_max
from tritium.conversion.ttc_to_llvm.context import LOWERINGS as CPU
from tritium.conversion.ttc_to_llvm.types import llvm_type
from tritium.conversion.ttg_to_llvm.context import LOWERINGS as GPU
from tritium.dialects import arith, tt, ttc, ttg
from tritium.runtime import TensorDescriptor
from tritium.tools.check.report import render
from tritium.tools.request import parse_target

TARGETS = {"cpu": None, "cuda:80": parse_target("cuda:80"), "cuda:90": parse_target("cuda:90")}
LAST = {"cpu": "machine code", "cuda:80": "ptx, emulated", "cuda:90": "ptx, emulated"}
GPUS = ["cuda:80", "cuda:90"]


@pytest.fixture(params=TARGETS)
def target(request: Any) -> str:
    return str(request.param)


def plant(monkeypatch: pytest.MonkeyPatch, target: str, cls: Any, make: Callable[[Any], Any]) -> None:
    """Lower operations of a class as `make(lowering)` does."""
    table = CPU if target == "cpu" else GPU
    right = table.find(cls)
    assert right is not None
    monkeypatch.setitem(table, cls, make(right))


def as_another(cls: Any) -> Callable[[Any], Any]:
    """Lower an operation as if it were of another class."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            own = op.__class__
            op.__class__ = cls
            try:
                right(e, op)
            finally:
                op.__class__ = own

        return wrong

    return make


def checked(target: str, kernel: Any, *args: Any, **given: Any) -> Any:
    report = tritium.check(kernel, *args, target=TARGETS[target], **given)
    assert not report and report.finding.step == LAST[target], render(report, verbose=True)
    return report.finding


def vectors(n: int = 300) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    return [rng.random(n, np.float32) + 1, rng.random(n, np.float32), np.zeros(n, np.float32)]


def test_a_difference_that_is_lowered_as_a_sum(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, target, arith.SubF, as_another(arith.AddF))
    x, y, o = vectors()
    found = checked(target, distance, x, y, o, 300, B=128, grid=(3,))
    assert re.search(r"arith.subf %a\w*, %b", found.suspect.operation)
    assert found.suspect.place[:2] == (__file__.replace("test_lowered", "kernels"), 16)
    numbers = re.fullmatch(r"element \[0\] is (\S+), and the evaluator's is (\S+)", found.suspect.element)
    assert numbers and np.float32(numbers[1]) == x[0] + y[0] and np.float32(numbers[2]) == x[0] - y[0]
    assert found.suspect.program == (0, 0, 0)


@tritium.jit
def steps(x, o, n, B: tl.constexpr):
    """Differences of integers in a loop: what the last iteration has depends on all of them."""
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for i in range(n):
        total = (total ^ tl.load(x + i * B + at)) - at
    tl.store(o + at, total)


def test_in_a_loop_the_first_iteration_tells(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, target, arith.XOrI, as_another(arith.OrI))
    x = np.arange(256, dtype=np.int32)[::-1].copy()
    found = checked(target, steps, x, np.zeros(64, np.int32), 4, B=64, grid=1)
    assert "arith.xori" in found.suspect.operation and "in iteration 1" in found.suspect.element, found


@tritium.jit
def late(x, y, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for i in range(n):
        total += tl.load(x + i * B + at) ^ tl.load(y + at)
    tl.store(o + at, total)


def test_in_a_loop_late_iterations_are_looked_at_too(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is so in iteration 20 for the first time: until then there is a zero on one side."""
    plant(monkeypatch, target, arith.XOrI, as_another(arith.OrI))
    x, y = np.zeros((24, 64), np.int32), np.arange(1, 65, dtype=np.int32)
    x[20:] = 7
    found = checked(target, late, x, y, np.zeros(64, np.int32), 24, B=64, grid=1)
    assert "arith.xori" in found.suspect.operation and "in iteration 20" in found.suspect.element, found


def test_a_reduction_with_another_combination(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, target, arith.MaxNumF, as_another(arith.MinNumF))
    x = np.random.default_rng(4).random((3, 20), np.float32)
    found = checked(target, row_max, x + 1, np.zeros(3, np.float32), 20, B=32, grid=3)
    assert "tt.reduce" in found.suspect.operation
    assert found.suspect.element.startswith("the result is -inf, and the evaluator's is 1.")


@tritium.jit
def front(x, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=7)
    tl.store(o + at, v * 3)


def test_a_load_whose_mask_is_lost(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays are long enough, so that nothing outside of them is read."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            if op.mask is None:
                right(e, op)
            elif target == "cpu":
                e.bind(op.result, e.op(f"load {llvm_type(op.result.type)}, ptr {e(op.ptr)}, align 4"))
            else:
                bare = tt.Load(op.ptr)
                right(e, bare)
                e.bind(op.result, e(bare.result))

        return wrong

    plant(monkeypatch, target, ttc.Load if target == "cpu" else tt.Load, make)
    found = checked(target, front, np.arange(64, dtype=np.int32), np.zeros(64, np.int32), 40, B=64, grid=1)
    assert "tt.load" in found.suspect.operation
    assert found.suspect.element == "element [40] is 40, and the evaluator's is 7"


@pytest.mark.parametrize("target", GPUS)
def test_a_wrong_conversion_of_layouts(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two registers of each thread change places."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            right(e, op)
            parts = list(e(op.result))
            if len(parts) > 1:
                parts[:2] = parts[1::-1]
                e.names[op.result] = parts

        return wrong

    plant(monkeypatch, target, ttg.ConvertLayout, make)
    x = np.random.default_rng(5).random((32, 32), np.float32)
    found = checked(target, turned, x, np.zeros((32, 32), np.float32), N=32, grid=1)
    assert "ttg.convert_layout" in found.suspect.operation
    assert found.suspect.place[1] == turned.fn.__code__.co_firstlineno + 4


@tritium.jit
def turned(x, o, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(o + i * N + j, v.T)


@pytest.mark.parametrize("target", GPUS)
def test_a_product_of_a_pipelined_loop(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding is told from mistakes: the product is computed with one operand's registers in another order."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            right(e, op)
            e.names[op.result] = list(e.names[op.result])[::-1]

        return wrong

    plant(monkeypatch, target, tt.Dot, make)
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 64), (64, 32)))
    found = checked(target, product, a, b, np.zeros((32, 32), np.float32), 64, N=32, BK=16, grid=1)
    assert "tt.dot" in found.suspect.operation and "in iteration 0" in found.suspect.element


@pytest.mark.sample(2)
@pytest.mark.parametrize("specialize", [False, True])
def test_descriptors_and_warps_of_their_own(target: str, specialize: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy engine writes when somebody waits for it; what is in flight in tensor cores is not looked at."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            right(e, op)
            e.bind_parts(op.out, [e.op(f"fneg {e.types_of(op.out.type)[0]} {part}") for part in e.parts(op.out)])

        return wrong

    plant(monkeypatch, target, arith.TruncF, make)
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal((64, k)).astype(np.float16) for k in (128, 128, 64))
    maps = [TensorDescriptor(x, list(x.shape), [x.shape[1], 1], [64, k]) for x, k in ((a, 32), (b, 32), (c, 64))]
    found = checked(target, by_descriptors, *maps, 128, grid=1, N=64, BK=32, SPECIALIZE=specialize)
    assert "arith.truncf" in found.suspect.operation, found


@pytest.mark.parametrize("target", GPUS)
def test_a_race_that_wrong_values_make(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that should store equal sums store different ones: the race is told, and what is wrong without it."""
    plant(monkeypatch, target, arith.AddF, as_another(arith.SubF))
    x = np.random.default_rng(3).random(128, np.float32)
    found = checked(target, total_of, x, np.zeros(1, np.float32), B=128, grid=1)
    assert "race in shared memory" in found.message and "without looking for races, o[0] is" in found.message
    assert "tt.reduce" in found.suspect.operation


@tritium.jit
def total_of(x, o, B: tl.constexpr):
    tl.store(o, tl.sum(tl.load(x + tl.arange(0, B))))


@pytest.mark.parametrize("target", GPUS)
def test_a_store_whose_mask_is_lost(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the store is given differs, so that it is the store; in the evaluator its mask keeps it from there."""
    plant(monkeypatch, target, tt.Store, lambda right: lambda e, op: right(e, tt.Store(op.ptr, op.value)))
    found = checked(target, first_of, np.arange(64, dtype=np.int32), np.zeros(64, np.int32), 40, B=64, grid=1)
    assert found.difference.element == "o[40]" and "tt.store" in found.suspect.operation
    assert found.suspect.element == "what it is given is as the evaluator's, and what it writes is not"


@pytest.mark.parametrize("target", GPUS)
def test_where_the_emulator_stops_the_operation_is_named(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, target, tt.Store, lambda right: lambda e, op: right(e, tt.Store(op.ptr, op.value, loc=op.loc)))
    found = checked(target, first_of, np.arange(64, dtype=np.int32), np.zeros(40, np.int32), 40, B=64, grid=1)
    assert found.difference is None and "after the end of o" in found.message
    assert found.suspect.operation.startswith("tt.store ") and found.suspect.place[0] == __file__


def test_copies_that_nobody_waits_for_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "cuda:80", ttg.AsyncWait, lambda right: lambda e, op: e.bind(op.retToken, []))
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((32, 128), (128, 32)))
    found = checked("cuda:80", product, a, b, np.zeros((32, 32), np.float32), 128, N=32, BK=32, grid=1)
    assert found.difference is None and "ttg.local_load" in found.suspect.operation, found
    assert any("the other access is of" in note and "ttg.async_copy_global_to_local" in note for note in found.notes)


@tritium.jit
def first_of(x, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.load(x + at) * 3, mask=at < n)


def test_what_vanishes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowered wrongly only where no copy is: what is stored is right, and so is the result."""

    def make(right: Any) -> Any:
        def wrong(e: Any, op: Any) -> None:
            copied = any("i8" in str(arg.type) for arg in op.parent.args)
            return right(e, op) if copied else as_another(arith.AddF)(right)(e, op)

        return wrong

    plant(monkeypatch, "cuda:80", arith.SubF, make)
    found = checked("cuda:80", distance, *vectors(), 300, B=128, grid=(3,))
    assert found.suspect is None
    assert found.notes[0].startswith("the difference vanishes where values are stored too")
