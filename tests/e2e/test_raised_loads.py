"""Kernels whose loads were raised to TMA compute the same bits as by pointers, for launches of both versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import settings


@pytest.fixture
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@tt.jit
def tile_of(tile, rows, columns, GROUP: tl.constexpr):
    first = tile // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    return first + tile % (GROUP * columns) % size, tile % (GROUP * columns) // size


@tt.jit
def wrapped(a, b, c, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Pointers that the loop advances, indices modulo M and N (tutorial 03)."""
    m, n = tile_of(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 2)
    rows, columns, ks = (m * BM + tl.arange(0, BM)) % M, (n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    at_a = a + (rows[:, None] * am + ks[None, :] * ak)
    at_b = b + (ks[:, None] * bk + columns[None, :] * bn)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        x = tl.load(at_a, mask=ks[None, :] < K - k * BK, other=0.0)
        y = tl.load(at_b, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        at_a += BK * ak
        at_b += BK * bk
    rows, columns = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + cm * rows[:, None] + columns[None, :], acc, mask=inside)


@tt.jit
def masked(a, b, c, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Addresses computed anew, masks in both dimensions, a loop over elements of K."""
    m, n = tile_of(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 2)
    rows, columns = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * am + ks[None, :] * ak, mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        y = tl.load(
            b + ks[:, None] * bk + columns[None, :] * bn, mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        acc = tl.dot(x, y, acc)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + cm * rows[:, None] + columns[None, :], acc, mask=inside)


@tt.jit
def persistent(a, b, c, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Several tiles a program, with indices replaced where they are out of bounds (tutorial 09)."""
    rows_of, columns_of, steps = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.cdiv(K, BK)
    ks = tl.arange(0, BK)
    before = tl.program_id(0) - 2
    for tile in tl.range(tl.program_id(0), rows_of * columns_of, 2, flatten=True):
        m, n = tile_of(tile, rows_of, columns_of, 2)
        rows, columns = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
        rows, columns = tl.where(rows < M, rows, 0), tl.where(columns < N, columns, 0)
        rows = tl.max_contiguous(tl.multiple_of(rows, BM), BM)
        columns = tl.max_contiguous(tl.multiple_of(columns, BN), BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(steps):
            here = k * BK + ks
            x = tl.load(a + (rows[:, None] * am + here[None, :] * ak), mask=ks[None, :] < K - k * BK, other=0.0)
            y = tl.load(b + (here[:, None] * bk + columns[None, :] * bn), mask=ks[:, None] < K - k * BK, other=0.0)
            acc = tl.dot(x, y, acc)
        before += 2
        m, n = tile_of(before, rows_of, columns_of, 2)
        rows, columns = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c + cm * rows[:, None] + columns[None, :], acc, mask=inside)


def test_flattened_loops_over_large_tiles_are_raised_by_default(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, found = values(rng, 128, 72), values(rng, 72, 512), []
    for raised, options in ((True, {}), (False, {"without": "raise-loads"})):
        c = np.zeros((128, 512), np.float32)
        arguments = (a, b, c, 128, 512, 72, 72, 1, 512, 1, 512, 128, 256, 32)
        ran = persistent[(2,)](*arguments, **{"num_warps": 8, **options})
        assert bool(ran.metadata.launch_predicate) is raised
        found.append(c.view(np.uint32))
    assert (found[0] == found[1]).all() and found[0].any()
    small = persistent.warmup(*arguments[:-3], 128, 128, 32, grid=(2,), num_warps=8)
    assert small.metadata.launch_predicate is None


def values(rng: np.random.Generator, *shape: int) -> np.ndarray:
    x = rng.normal(size=shape).astype(np.float16)
    x.reshape(-1)[rng.integers(0, x.size, 8)] = [np.inf, -np.inf, np.nan, -0.0, 0.0, 6e-8, -6e-8, 65504]
    return x


def bits_of(kernel: Any, a: np.ndarray, b: np.ndarray, expected: bool, **options: Any) -> Any:
    """Launch by pointers and with raised loads, compare, and return the kernel that ran the second time; `expected`:
    whether its loads are raised."""
    (M, K), N = a.shape, b.shape[1]
    size = a.itemsize
    tiles = tt.cdiv(M, 64) * tt.cdiv(N, 64)
    grid = (2,) if kernel is persistent else (tiles,)
    found, ran = [], []
    for raised in (False, True):
        c = np.full((M, N), 7, np.int32 if a.dtype == np.int8 else np.float32)
        strides = [n // size for n in (*a.strides, *b.strides)]
        for _ in range(2):
            ran.append(kernel[grid](a, b, c, M, N, K, *strides, N, 64, 64, 32, raise_loads=raised, **options))
        found.append(c)
    assert [k.metadata.raise_loads for k in ran] == [False, False, expected, expected]
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all()
    assert not (found[0] == 7).any()
    return ran[-1]


@pytest.mark.parametrize("kernel", [wrapped, masked, persistent])
@pytest.mark.parametrize(
    ("M", "N", "K", "whole"),
    [(128, 192, 96, True), (128, 128, 72, True), (128, 64, 16, True), (120, 128, 64, False), (64, 136, 32, False)],
)
def test_bits_are_those_of_pointers(
    emulated: None, seed: int, kernel: Any, M: int, N: int, K: int, whole: bool
) -> None:
    """`whole`: tiles divide M and N, which wrapped indices need; rows of all shapes are multiples of 16 bytes."""
    rng = np.random.default_rng(seed)
    ran = bits_of(kernel, values(rng, M, K), values(rng, K, N), whole or kernel is masked)
    assert ("cp.async.bulk.tensor" in ran.asm["ptx"]) == (whole or kernel is masked)
    assert ran.values["raise_loads"] is bool(ran.values["launch_predicate"])


@pytest.mark.parametrize("kernel", [wrapped, masked])
@pytest.mark.parametrize("transposed", ["a", "b", "ab"])
def test_columns_that_are_contiguous(emulated: None, seed: int, kernel: Any, transposed: str) -> None:
    rng = np.random.default_rng(seed)
    a, b = values(rng, 128, 64), values(rng, 64, 128)
    a = np.ascontiguousarray(a.T).T if "a" in transposed else a
    b = np.ascontiguousarray(b.T).T if "b" in transposed else b
    bits_of(kernel, a, b, True)


@pytest.mark.parametrize("bits", [8, 32])
def test_other_element_types(emulated: None, seed: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    if bits == 32:
        a, b = (rng.normal(size=(64, 64)).astype(np.float32) for _ in range(2))
    else:
        a, b = (rng.integers(0, 100, (64, 64)).astype(np.int8) for _ in range(2))
    bits_of(masked, a, b, True)


def test_launches_that_the_predicate_refuses_run_the_kernel_by_pointers(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = values(rng, 64, 65), values(rng, 65, 64)
    bits_of(masked, a[:, :64], b[:64], False)  # rows of 130 bytes
    wide = np.zeros(64 * 64 + 8, np.float16)
    wide[:] = np.resize(a, wide.size)
    bits_of(masked, wide[1:4097].reshape(64, 64), b[:64], False)  # an address that is no multiple of 16
    bits_of(masked, np.broadcast_to(a[:1, :64], (64, 64)), b[:64], True)  # a stride of 0


@pytest.mark.parametrize("kernel", [wrapped, masked, persistent])
def test_a_result_in_the_memory_of_an_operand(emulated: None, seed: int, kernel: Any) -> None:
    """Where stores may come before loads, the plain version runs; elsewhere programs of one tile read before they write."""
    rng = np.random.default_rng(seed)
    memory = rng.normal(size=(128, 128)).astype(np.float16).view(np.float32)  # c has the rows of a
    a = memory.view(np.float16)[:64, :64]
    b = rng.normal(size=(64, 64)).astype(np.float16)
    found = []
    for raised in (False, True):
        own = memory.copy()
        x = own.view(np.float16)[:64, :64]
        assert x.strides == a.strides
        c = own[:64, :64]
        strides = [n // 2 for n in (*x.strides, *b.strides)]
        ran = kernel[(1,)](x, b, c, 64, 64, 64, *strides, c.strides[0] // 4, 64, 64, 32, raise_loads=raised)
        found.append(own)
    assert ran.metadata.raise_loads is (kernel is not persistent)
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all()


def test_a_grid_beyond_the_tiles(emulated: None, seed: int) -> None:
    """Programs beyond the last tile compute indices that may be negative, so that the plain version runs."""
    rng = np.random.default_rng(seed)
    a, b = values(rng, 64, 32), values(rng, 32, 64)
    c = np.zeros((64, 64), np.float32)
    for grid, raised in ((1, True), (2, True), (3, False), (1, True)):
        ran = masked[(grid,)](a, b, c, 64, 64, 32, 32, 1, 64, 1, 64, 64, 64, 32, raise_loads=True)
        assert ran.metadata.raise_loads is raised


@tt.jit
def batched(a, b, c, M, K, az, am, bz, B: tl.constexpr):
    """A product with a transposed operand for each batch, whose stride is an argument."""
    z, rows, ks = tl.program_id(1), tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, B)
    a += z * az
    b += z * bz
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + rows[:, None] * am + (k + ks)[None, :])
        y = tl.load(b + ks[:, None] * am + (k + ks)[None, :])
        acc = tl.dot(x, y.T, acc)
    tl.store(c + (z * M + rows[:, None]) * B + ks[None, :], acc)


def test_batches_are_a_dimension_of_the_descriptor(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = values(rng, 3, 64, 64), values(rng, 3, 32, 64)
    found = []
    for raised in (False, True):
        c = np.zeros((3, 64, 32), np.float32)
        ran = batched[(2, 3)](a, b, c, 64, 64, 64 * 64, 64, 32 * 64, 32, raise_loads=raised)
        found.append(c)
    assert ran.metadata.raise_loads and "!tt.tensordesc<1x32x32xf16" in ran.asm["ttgir"]
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all()


@tt.jit
def in_place(a, b, M, B: tl.constexpr):
    rows = tl.arange(0, B)
    at = rows[:, None] * B + rows[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for k in range(M):
        acc = tl.dot(tl.load(a + at), tl.load(b + at), acc)
        tl.store(a + at, acc.to(tl.float16))


@tt.jit
def locked(a, b, c, lock, M, B: tl.constexpr):
    rows = tl.arange(0, B)
    at = rows[:, None] * B + rows[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for k in range(M):
        while tl.atomic_cas(lock, k, k + 1) != k:
            pass
        acc = tl.dot(tl.load(a + at), tl.load(b + at), acc)
    tl.store(c + at, acc)


@tt.jit
def hinted(a, b, c, M, B: tl.constexpr, HOW: tl.constexpr):
    rows = tl.arange(0, B)
    at = rows[:, None] * B + rows[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for k in range(M):
        if HOW == "volatile":
            x = tl.load(a + at, volatile=True)
        elif HOW == "cache":
            x = tl.load(a + at, cache_modifier=".cg")
        elif HOW == "other":
            x = tl.load(a + at, mask=rows[:, None] < M, other=1.0)
        elif HOW == "gather":
            x = tl.load(a + tl.load(c + rows).to(tl.int32)[:, None] * B + rows[None, :])
        else:
            x = tl.load(a + rows[:, None] * 2 + rows[None, :] * B)
        acc = tl.dot(x, tl.load(b + at), acc)
    tl.store(c + at, acc)


@pytest.mark.parametrize(
    ("kernel", "arguments", "why"),
    [
        (in_place, (), "writes the array that it loads from"),
        (locked, (np.zeros((32, 32), np.float32), np.zeros(1, np.int32)), "programs may wait for each other"),
        *((hinted, (np.zeros((32, 32), np.float32),), why) for why in ("volatile", "cache", "other", "gather", "stride")),
    ],
)  # fmt: skip
def test_a_remark_says_why_loads_stay(
    emulated: None, kernel: Any, arguments: Any, why: str, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    a, b = (np.zeros((32, 32), np.float16) for _ in range(2))
    how = {"HOW": why} if kernel is hinted else {}
    compiled = kernel.warmup(a, b, *arguments, 3, 32, grid=(1,), raise_loads=True, **how)
    assert compiled.values["launch_predicate"] is None and not compiled.values["argument_maps"]
    text = {
        "volatile": "a load is volatile", "cache": "cache modifier", "other": "not 0", "gather": "computed by arith.fptosi",
        "stride": "stride 1",
    }.get(why, why)  # fmt: skip
    said = capfd.readouterr()
    assert text in said.out + said.err


def test_hooks_see_the_version_that_ran(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = values(rng, 64, 32), values(rng, 32, 64), np.zeros((64, 64), np.float32)
    seen: list[str] = []

    def hook(metadata: Any) -> None:
        seen.append(metadata.get()["name"])

    arguments = (a, b, c, 64, 64, 32, 32, 1, 64, 1, 64, 64, 64, 32)
    kernel = masked.warmup(*arguments, grid=(1,), raise_loads=True)
    assert kernel.metadata.raise_loads and kernel.values["launch_predicate"]
    with settings.runtime.scope():
        settings.runtime.launch_enter_hook = hook
        ran = masked[(1,)](*arguments, raise_loads=True)
        other = masked[(3,)](*arguments, raise_loads=True)
        kernel[(1,)](*arguments)
        kernel[(3,)](*arguments)
    assert len(seen) == 4 and ran is kernel and not other.metadata.raise_loads
    assert ran.hash != other.hash and ran.src.hash() == other.src.hash()


def test_the_compiled_kernel_falls_back_by_itself(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = values(rng, 64, 32), values(rng, 32, 64)
    found = []
    for grid in ((1,), (3,)):
        c = np.zeros((64, 64), np.float32)
        kernel = masked.warmup(a, b, c, 64, 64, 32, 32, 1, 64, 1, 64, 64, 64, 32, grid=grid, raise_loads=True)
        kernel[grid](a, b, c, 64, 64, 32, 32, 1, 64, 1, 64)
        found.append(c)
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all() and found[0].any()


def test_a_kernel_compiled_from_ttgir_says_which_launches_it_is_for(emulated: None, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = values(rng, 64, 32), values(rng, 32, 64), np.zeros((64, 64), np.float32)
    kernel = masked.warmup(a, b, c, 64, 64, 32, 32, 1, 64, 1, 64, 64, 64, 32, grid=(1,), raise_loads=True)
    path = tmp_path / "masked.ttgir"
    path.write_text(kernel.asm["ttgir"])
    again = tt.compile(str(path), target=kernel.metadata.target)
    arguments = a, b, c, 64, 64, 32, 32, 64, 64
    again[(1,)](*arguments)
    assert c.any()
    with pytest.raises(tt.runtime.errors.LaunchError, match="text of a later stage"):
        again[(3,)](*arguments)


@pytest.mark.parametrize("kernel", [wrapped, masked])
@pytest.mark.parametrize(("tiles", "warps"), [((3, 3), 4), ((1, 1), 8), ((2, 4), 8)])
def test_persistent_programs_compute_the_same_bits(
    emulated: None, seed: int, kernel: Any, tiles: tuple[int, int], warps: int
) -> None:
    """The emulated GPU runs four CTAs at once: nine tiles are three, two, two, and two a program."""
    rng = np.random.default_rng(seed)
    M, N, K = 64 * tiles[0], 64 * tiles[1], 72
    a, b = values(rng, M, K), values(rng, K, N)
    found = []
    for persistent_programs in (False, True):
        c = np.full((M, N), 7, np.float32)
        arguments = (a, b, c, M, N, K, K, 1, N, 1, N, 64, 64, 32)
        ran = kernel[(tiles[0] * tiles[1],)](*arguments, num_warps=warps, persistent=persistent_programs)
        found.append(c)
    assert ran.metadata.persistent_grid and "ttg.warp_specialize" in ran.asm["ttgir"]
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all() and not (found[0] == 7).any()


def test_persistent_programs_for_grids_of_one_dimension_and_operands_elsewhere(emulated: None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = values(rng, 128, 32), values(rng, 32, 64)
    expected: Any = None
    for inside, grid, runs in ((False, (2,), True), (False, (2, 2), False), (True, (2,), False)):
        c = np.zeros((128, 64), np.float32)
        x = c.view(np.float16)[:, :32] if inside else a  # A in the memory of C
        x[:] = a
        strides = [n // 2 for n in (*x.strides, *b.strides)]
        ran = masked[grid](x, b, c, 128, 64, 32, *strides, 64, 64, 64, 32, persistent=True)
        assert bool(ran.metadata.persistent_grid) is runs and ran.metadata.raise_loads is runs
        expected = c if expected is None else expected
        assert (c.view(np.uint32) == expected.view(np.uint32)).all()


@tt.jit
def printing(a, b, c, M, B: tl.constexpr):
    rows, columns = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    tl.device_print("rows", rows)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, M, B):
        ks = k + tl.arange(0, B)
        acc = tl.dot(tl.load(a + rows[:, None] * M + ks[None, :]), tl.load(b + ks[:, None] * M + columns[None, :]), acc)
    tl.store(c + rows[:, None] * M + columns[None, :], acc)


@pytest.mark.parametrize(
    ("kernel", "why"), [(printing, "output and failed assertions name"), (in_place, "it does not use the program id")]
)
def test_a_remark_says_why_a_kernel_is_not_made_persistent(
    emulated: None, kernel: Any, why: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    a, b, c = np.zeros((32, 32), np.float16), np.zeros((32, 32), np.float16), np.zeros((32, 32), np.float32)
    compiled = kernel.warmup(a, b, *([c] if kernel is printing else []), 32, 32, grid=(1,), persistent=True)
    assert not compiled.metadata.persistent_grid
    assert f"the kernel is not made persistent: {why}" in capfd.readouterr().err


def test_gpus_without_tma_refuse_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    driver.set_active(EmulatedCUDADriver(80))
    try:
        a, c = np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float32)
        with pytest.raises(tt.errors.OptionError, match=r"raise_loads=True requires TMA \(SM90\+\)"):
            masked[(1,)](a, a, c, 64, 64, 64, 64, 1, 64, 1, 64, 64, 64, 32, raise_loads=True)
    finally:
        driver.reset_active()
