"""Kernels that launches make persistent: the same bits as with one tile a program, and kernels that stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tests.e2e.test_raised_loads import in_place, values, wrapped
from tritium.analysis.persistence import Profit
from tritium.backends.nvidia import stages
from tritium.backends.nvidia.assembler import Resources
from tritium.ir import CountedLoop
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import settings
from tritium.transforms import make_persistent as module


class NoAssembler:
    """The emulator runs PTX."""

    spilled = 0

    def finish(self, ptx: str, kernel: str) -> tuple[bytes, Resources]:
        return b"", Resources(registers=32, spill_stores=self.spilled)

    def close(self) -> None:
        pass


@pytest.fixture
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GPU that runs four CTAs at once, and on which persistence pays for every kernel and launch."""

    def always(kernel: Any, *_: object) -> Profit:
        return Profit({op: 1 << 20 for op in kernel.entry if isinstance(op, CountedLoop)}, 1)

    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "profit", always)
    monkeypatch.setattr(stages.Build, "_begin", lambda self: NoAssembler())
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@tt.jit
def tile(a, b, m, n, N, K, B: tl.constexpr):
    """The tile (m, n) of a @ b, row-major."""
    rows, columns, ks = m * B + tl.arange(0, B), n * B + tl.arange(0, B), tl.arange(0, 32)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, 32):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :], mask=(k + ks)[None, :] < K, other=0.0)
        y = tl.load(b + (k + ks)[:, None] * N + columns[None, :], mask=(k + ks)[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    return acc, rows[:, None] * N + columns[None, :]


@tt.jit
def rows_and_columns(a, b, c, s, N, K, B: tl.constexpr):
    tl.assume(K > 0)
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    tl.store(c + at, acc)


@tt.jit
def second_dimension(a, b, c, s, N, K, B: tl.constexpr):
    acc, at = tile(a, b, tl.program_id(1) // (N // B), tl.program_id(1) % (N // B), N, K, B)
    tl.store(c + at, acc)


@tt.jit
def three_dimensions(a, b, c, s, N, K, B: tl.constexpr):
    """Rows are along z, since the arrays of all programs are one."""
    acc, at = tile(a, b, tl.program_id(2), tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), N, K, B)
    tl.store(c + at, acc * tl.num_programs(2))


@tt.jit
def split_sums(a, b, c, s, N, K, B: tl.constexpr):
    """Parts of K by program: sums of atomics whose results are not used."""
    m, n, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows, columns, ks = m * B + tl.arange(0, B), n * B + tl.arange(0, B), tl.arange(0, 32)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, 64):
        at = k + part * 32 + ks
        x = tl.load(a + rows[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
        y = tl.load(b + at[:, None] * N + columns[None, :], mask=at[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + rows[:, None] * N + columns[None, :], acc)


@tt.jit
def in_place_epilogue(a, b, c, s, N, K, B: tl.constexpr):
    """A scalar of the program, and a result that is added to what is there."""
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    scale = tl.load(s + tl.program_id(0))
    tl.store(c + at, tl.load(c + at) + acc * scale)


@tt.jit
def through_memory(a, b, c, s, N, K, B: tl.constexpr):
    """The tile is stored, and loaded by other threads of the program."""
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    tl.store(c + at, acc)
    tl.debug_barrier()
    tl.store(c + at, tl.trans(tl.load(c + tl.trans(at))) + 1.0)


@tt.jit
def masked_programs(a, b, c, s, N, K, B: tl.constexpr):
    """Programs are in a mask only, and in a quotient by zero whose result is not used."""
    acc, at = tile(a, b, 0, tl.program_id(0), N, K, B)
    other = 7 // (tl.program_id(1) - 1) if tl.program_id(1) != 1 else 3
    tl.store(c + at + tl.program_id(1) * B * N, acc + other, mask=at + tl.program_id(1) < 1 << 20)


@tt.jit
def triangular(a, b, c, s, N, K, B: tl.constexpr):
    """Trip counts differ, and are 0 for the first row."""
    m = tl.program_id(1)
    rows, columns, ks = m * B + tl.arange(0, B), tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, 32)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, tl.minimum(m * 32, K), 32):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :], mask=(k + ks)[None, :] < K, other=0.0)
        y = tl.load(b + (k + ks)[:, None] * N + columns[None, :], mask=(k + ks)[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc)


@tt.jit
def two_loops(a, b, c, s, N, K, B: tl.constexpr):
    one, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    two, at = tile(a, b, tl.program_id(1), 0, N, K, B)
    tl.store(c + at + tl.program_id(0) * B, one + two)


def name_of(value: Any) -> str:
    """For a kernel, a grid, or the options of a launch."""
    if isinstance(value, (tuple, dict)):
        return "-".join(map(str, value)) or "none"
    return str(value.__name__)


Grid = tuple[int, ...]
M, N, K, B = 192, 192, 72, 64
EVERY: Grid = (3, 3)


@pytest.mark.parametrize(
    ("kernel", "grid"),
    [
        (rows_and_columns, (3, 3)),
        (rows_and_columns, (1, 1, 1)),
        (second_dimension, (1, 9)),
        (three_dimensions, (1, 3, 3)),
        (three_dimensions, (3, 1, 2)),
        (split_sums, (3, 3, 2)),
        (in_place_epilogue, EVERY),
        (masked_programs, EVERY),
        (triangular, EVERY),
        (two_loops, EVERY),
    ],
    ids=name_of,
)
def test_persistent_programs_compute_the_same_bits(emulated: None, seed: int, kernel: Any, grid: Grid) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((M, K), (K, N)))
    start, scales = rng.normal(size=(M, N)).astype(np.float32).round(2), rng.normal(size=16).astype(np.float32)
    start = start.round() if kernel is split_sums else start
    found = []
    for options in ({"persistent": False}, {}, {}):
        c = start.copy()
        ran = kernel[grid](a, b, c, scales, N, K, B, **options)
        assert bool(ran.metadata.persistent_grid) is (not options)
        found.append(c.view(np.uint32))
    assert (found[0] == found[1]).all() and (found[1] == found[2]).all()
    assert (found[0] != start.view(np.uint32)).any()


@tt.jit
def returns_early(a, b, c, s, N, K, B: tl.constexpr):
    if tl.program_id(1) > 1:
        return
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    tl.store(c + at, acc)


@tt.jit
def breaks(a, b, c, s, N, K, B: tl.constexpr):
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    n = 0
    while n < 3:
        acc += n
        n += 2
        if tl.load(s + n) > 0:
            break
    tl.store(c + at, acc)


@tt.jit
def asks_for_the_cta(a, b, c, s, N, K, B: tl.constexpr):
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    x = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r,r", [at], tl.int32, True, 1)
    tl.store(c + at, acc + x)


@tt.jit
def loads_by_assembly(a, b, c, s, N, K, B: tl.constexpr):
    """Declared pure, though it reads memory."""
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    x = tl.inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [c + at], tl.float32, True, 1)
    tl.store(c + at, acc + x)


@tt.jit
def orders_programs(a, b, c, s, N, K, B: tl.constexpr):
    """The last program of a column adds a number: it knows by an atomic that it is the last."""
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    before = tl.atomic_add(s + tl.program_id(0), 1.0)
    tl.store(c + at, acc + before * 0)


@tt.jit
def asserts(a, b, c, s, N, K, B: tl.constexpr):
    acc, at = tile(a, b, tl.program_id(1), tl.program_id(0), N, K, B)
    tl.device_assert(at >= 0)
    tl.store(c + at, acc)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (returns_early, {}),
        (breaks, {}),
        (asks_for_the_cta, {}),
        (loads_by_assembly, {}),
        (orders_programs, {}),
        (through_memory, {}),
        (asserts, {"debug": True}),
        (rows_and_columns, {"without": "persistent"}),
        (rows_and_columns, {"without": "warp-specialization"}),
        (rows_and_columns, {"launch_cooperative_grid": True}),
        (rows_and_columns, {"maxnreg": 128}),
        (rows_and_columns, {"num_ctas": 2}),
        (rows_and_columns, {"raise_loads": True}),
    ],
    ids=name_of,
)
def test_kernels_that_are_not_made_persistent(emulated: None, kernel: Any, options: dict[str, Any]) -> None:
    a, b, c = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16), np.zeros((M, N), np.float32)
    compiled = kernel.warmup(a, b, c, np.zeros(16, np.float32), N, K, B, grid=EVERY, **options)
    assert not compiled.metadata.persistent_grid


def test_an_empty_grid_runs_nothing(emulated: None) -> None:
    a, b, c = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16), np.full((M, N), 7, np.float32)
    for grid in ((0, 3), (3, 0), (3, 3, 0)):
        rows_and_columns[grid](a, b, c, np.zeros(16, np.float32), N, K, B)
    assert (c == 7).all()


def test_a_cooperative_grid_excludes_the_option() -> None:
    driver.set_active(EmulatedCUDADriver(90))
    try:
        a, c = np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float32)
        with pytest.raises(tt.errors.OptionError, match="starts fewer CTAs than the programs of a cooperative grid"):
            in_place.warmup(a, a, c, 64, grid=(1,), persistent=True, launch_cooperative_grid=True)
    finally:
        driver.reset_active()


def test_launch_metadata_has_the_grid_of_the_launch(emulated: None) -> None:
    a, b, c = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16), np.zeros((M, N), np.float32)
    seen: list[Any] = []
    kernel = tt.jit(rows_and_columns.fn, launch_metadata=lambda grid, *_: {"seen": seen.append(grid)})
    with settings.runtime.scope():
        settings.runtime.launch_enter_hook = lambda metadata: metadata.get()
        ran = kernel[EVERY](a, b, c, np.zeros(16, np.float32), N, K, B)
    assert ran.metadata.persistent_grid and seen == [EVERY]


# -- the version of a launch ------------------------------------------------------------------------------------------


@pytest.fixture
def made(emulated: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions whose machine code is made: "persistent" or "plain"."""
    found: list[str] = []
    original: Callable[..., Any] = stages.Build.make_cubin

    def make_cubin(self: Any, ptx: str, metadata: dict[str, Any]) -> Any:
        found.append("persistent" if metadata["persistent_grid"] else "plain")
        return original(self, ptx, metadata)

    monkeypatch.setattr(stages.Build, "make_cubin", make_cubin)
    return found


def launched(kernel: Any, rows: int, rng: np.random.Generator, **options: Any) -> str:
    """Launch on a matrix of so many rows; the version that ran."""
    a, b, c = values(rng, rows, 64), values(rng, 64, 128), np.zeros((rows, 128), np.float32)
    grid = (tt.cdiv(rows, 64) * 2,)
    ran = kernel[grid](a, b, c, rows, 128, 64, 64, 1, 128, 1, 128, 64, 64, 32, **options)
    assert np.isfinite(c).any()
    return "persistent" if ran.metadata.persistent_grid else "plain"


def test_a_launch_compiles_only_the_version_that_it_runs(made: list[str], seed: int) -> None:
    """Tiles of 64 rows do not divide 208 and 272, so that the persistent kernel cannot run."""
    rng, kernel = np.random.default_rng(seed), tt.jit(wrapped.fn)
    for rows, version, compiled in (
        (208, "plain", ["plain"]),
        (272, "plain", ["plain"]),
        (128, "persistent", ["plain", "persistent"]),
        (208, "plain", ["plain", "persistent"]),
        (192, "persistent", ["plain", "persistent"]),
    ):
        assert launched(kernel, rows, rng) == version
        assert made == compiled
    again = tt.jit(wrapped.fn)  # another process finds both in the cache
    assert [launched(again, rows, rng) for rows in (272, 128, 208)] == ["plain", "persistent", "plain"]
    assert len(made) == 2


def test_the_cache_knows_which_version_was_not_compiled(made: list[str], monkeypatch: Any, seed: int) -> None:
    """So that a process whose launches cannot run it does not find that out again."""
    rng = np.random.default_rng(seed)
    assert launched(tt.jit(wrapped.fn), 208, rng) == "plain"
    with monkeypatch.context() as patched:
        patched.setattr(stages, "ttgir_pipeline", None)
        assert launched(tt.jit(wrapped.fn), 272, rng) == "plain"
    assert launched(tt.jit(wrapped.fn), 192, rng) == "persistent"
    assert made == ["plain", "persistent"]


def test_warmup_compiles_the_persistent_kernel(made: list[str], seed: int) -> None:
    rng, kernel = np.random.default_rng(seed), tt.jit(wrapped.fn)
    a, b, c = values(rng, 128, 64), values(rng, 64, 128), np.zeros((128, 128), np.float32)
    kernel.warmup(a, b, c, 128, 128, 64, 64, 1, 128, 1, 128, 64, 64, 32, grid=(1,))
    assert launched(kernel, 128, rng) == "persistent" and made == ["persistent"]


def test_an_autotuner_times_the_version_that_launches_run(made: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    tuned = tt.autotune(
        [tt.Config({"BK": 32}), tt.Config({"BK": 64})], key=["M"], do_bench=lambda call, **_: call() or 1.0
    )(tt.jit(wrapped.fn))
    for rows, version in ((208, "plain"), (192, "persistent")):
        made.clear()
        a, b, c = values(rng, rows, 64), values(rng, 64, 128), np.zeros((rows, 128), np.float32)
        tuned[(tt.cdiv(rows, 64) * 2,)](a, b, c, rows, 128, 64, 64, 1, 128, 1, 128, BM=64, BN=64)
        assert made == [version] * 2


def test_a_kernel_that_spills_stays_plain(made: list[str], monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng, kernel = np.random.default_rng(seed), tt.jit(wrapped.fn)
    monkeypatch.setattr(NoAssembler, "spilled", 4)
    for rows in (128, 192):
        assert launched(kernel, rows, rng) == "plain" and made == ["persistent", "plain"]


def test_a_kernel_that_is_not_specialized_stays_plain(
    made: list[str], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    original = stages.ttgir_pipeline

    def without_specialization(*args: Any) -> Any:
        return [row for row in original(*args) if getattr(row, "name", "") != "nvgpu-warp-specialization"]

    monkeypatch.setattr(stages, "ttgir_pipeline", without_specialization)
    kernel = tt.jit(wrapped.fn)
    assert launched(kernel, 128, rng) == "plain" and made == ["plain"]
    assert launched(kernel, 192, rng) == "plain" and made == ["plain"]
