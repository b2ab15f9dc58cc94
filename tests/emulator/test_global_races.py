"""Races between CTAs in global memory, which `instrumentation_mode="gsan"` has the emulator find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.emulator import DataRace
from tritium.emulator.launch import BATCH_THREADS
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import OptionError
from tritium.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@tritium.jit
def copy(x, y, B: tl.constexpr, STEP: tl.constexpr):
    at = tl.program_id(0) * STEP + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at))


@tritium.jit
def all_to_one(y, B: tl.constexpr, FIRST: tl.constexpr):
    pid = tl.program_id(0)
    if (pid == 0) | (pid >= FIRST):
        tl.store(y + tl.arange(0, B), tl.zeros([B], tl.float32) + pid)


@tritium.jit
def shift(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    following = tl.load(x + (at + B) % n)
    tl.store(x + at, following)


@tritium.jit
def split_sum(x, partial, count, out, B: tl.constexpr, N: tl.constexpr, SYNCHRONIZE: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(partial + pid, tl.sum(tl.load(x + pid * B + tl.arange(0, B))))
    tl.debug_barrier()
    done = tl.atomic_add(count, 1) if SYNCHRONIZE else pid
    if done == N - 1:
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, N))))


@tritium.jit
def locked_increment(lock, x, B: tl.constexpr, LOCK: tl.constexpr):
    if LOCK:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    at = tl.arange(0, B)
    tl.store(x + at, tl.load(x + at) + 1)
    tl.debug_barrier()
    if LOCK:
        tl.atomic_xchg(lock, 0)


@tritium.jit
def grid_barrier(x, y, count, B: tl.constexpr, N: tl.constexpr):
    """Every program reads what another wrote before the barrier."""
    pid = tl.program_id(0)
    at = tl.arange(0, B)
    tl.store(x + pid * B + at, tl.zeros([B], tl.float32) + pid)
    tl.debug_barrier()
    tl.atomic_add(count, 1)
    while tl.atomic_add(count, 0) < N:
        pass
    tl.debug_barrier()
    tl.store(y + pid * B + at, tl.load(x + (pid + 1) % N * B + at))


@tritium.jit
def histogram(x, bins, B: tl.constexpr):
    tl.atomic_add(bins + tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 1)


@tritium.jit
def tile_store(tiles, STEP: tl.constexpr):
    tiles.store([tl.program_id(0) * STEP, 0], tl.zeros([16, 16], tl.float32))


def floats(n: int) -> Any:
    return np.arange(n, dtype=np.float32)


CHECK: dict[str, Any] = {"instrumentation_mode": "gsan"}


def test_programs_with_elements_of_their_own_do_not_race() -> None:
    y = np.zeros(1024, np.float32)
    copy[(8,)](floats(1024), y, B=128, STEP=128, **CHECK)
    np.testing.assert_array_equal(y, floats(1024))


def test_two_programs_that_write_one_element_race() -> None:
    with pytest.raises(
        DataRace, match="byte 480 of y: thread 120 of CTA 0 writes a byte that CTA 1 has written"
    ) as caught:
        copy[(8,)](floats(1024), np.zeros(1024, np.float32), B=128, STEP=120, **CHECK)
    assert "test_global_races.py" in str(caught.value) and caught.value.other is not None
    copy[(8,)](floats(1024), np.zeros(1024, np.float32), B=128, STEP=120)  # unless nobody asks


def test_a_race_of_programs_that_do_not_run_at_once() -> None:
    """200 programs of 128 threads are more than the emulator runs at once."""
    assert 200 * 128 > BATCH_THREADS
    y = np.zeros(128 * 200, np.float32)
    copy[(200,)](floats(128 * 200), y, B=128, STEP=128, **CHECK)
    with pytest.raises(DataRace, match="of y: thread . of CTA 64 writes a byte that CTA 0 has written"):
        all_to_one[(200,)](y, B=128, FIRST=64, **CHECK)


def test_a_write_of_what_another_program_reads_races() -> None:
    with pytest.raises(DataRace, match="of x: .* writes a byte that CTA 7 has read"):
        shift[(8,)](floats(1024), 1024, B=128, **CHECK)


def test_what_is_only_changed_atomically_does_not_race() -> None:
    bins = np.zeros(64, np.int32)
    histogram[(8,)]((np.arange(1024) % 64).astype(np.int32), bins, B=128, **CHECK)
    assert (bins == 16).all()


def test_an_atomic_counter_orders_programs() -> None:
    def run(synchronize: bool) -> Any:
        out = np.zeros(1, np.float32)
        partial, count = np.zeros(8, np.float32), np.zeros(1, np.int32)
        split_sum[(8,)](floats(1024), partial, count, out, B=128, N=8, SYNCHRONIZE=synchronize, **CHECK)
        return out[0]

    assert run(True) == floats(1024).sum()
    with pytest.raises(DataRace, match="of partial: .* reads a byte that CTA 0 has written"):
        run(False)


def test_a_lock_orders_programs() -> None:
    x, lock = np.zeros(128, np.float32), np.zeros(1, np.int32)
    locked_increment[(8,)](lock, x, B=128, LOCK=True, **CHECK)
    assert (x == 8).all()
    with pytest.raises(DataRace):
        locked_increment[(8,)](lock, x, B=128, LOCK=False, **CHECK)


def test_a_barrier_of_the_grid_orders_programs() -> None:
    """All programs of a cooperative launch run at once: 100 of them are more than the emulator runs otherwise."""
    n = 100
    x, y, count = np.zeros(128 * n, np.float32), np.zeros(128 * n, np.float32), np.zeros(1, np.int32)
    grid_barrier[(n,)](x, y, count, B=128, N=n, launch_cooperative_grid=True, **CHECK)
    np.testing.assert_array_equal(y, np.repeat((np.arange(n) + 1) % n, 128))


@pytest.mark.parametrize("step", [16, 8])
def test_stores_of_tiles(step: int) -> None:
    tiles = TensorDescriptor(np.ones((64, 16), np.float32), [64, 16], [16, 1], [16, 16])
    if step == 16:
        tile_store[(4,)](tiles, STEP=step, **CHECK)
    else:
        with pytest.raises(DataRace, match="of tiles: .* writes a byte that CTA . has written"):
            tile_store[(4,)](tiles, STEP=step, **CHECK)


def test_a_gpu_does_not_check_it() -> None:
    target = tritium.compiler.GPUTarget("cuda", 90, 32)
    source = tritium.compiler.ASTSource(histogram, {"x": "*i32", "bins": "*i32", "B": "constexpr"}, {"B": 64})
    with pytest.raises(OptionError, match="instrumentation_mode='gsan' is not supported"):
        tritium.compile(source, target=target, options=CHECK)
