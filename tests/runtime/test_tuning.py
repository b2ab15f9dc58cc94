"""Searches of the autotuner: in several processes, as a script without `__main__`, with configurations that fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import Config, knobs
from tritium.compiler import KernelCache, workers
from tritium.compiler.cache import cache_folder
from tritium.frontend.errors import CompilationError, CompileTimeAssertionFailure
from tritium.runtime import AutotunerError
from tritium.runtime import tuning as tuning_module
from tritium.runtime.async_compile import FutureKernel
from tritium.runtime.tuning import Search

ROOT = Path(__file__).resolve().parents[2]


@tritium.jit
def double(x, out, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 16, "blocks are too small")
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


SIZES = (16, 32, 64, 128, 256)


def blocks(*sizes, **more):
    return [Config({"BLOCK": b}, **more) for b in sizes]


def grid(meta):
    return (tritium.cdiv(meta["n"], meta["BLOCK"]),)


@pytest.fixture
def parallel(monkeypatch):
    """Configurations compile in two processes, which are this test's own."""
    pool = workers.CompilerPool(2)
    monkeypatch.setattr(tuning_module, "shared_pool", lambda size: pool)
    with knobs.autotuning.scope():
        knobs.autotuning.processes = 2
        yield pool
    pool.close()


def arrays(n=1000):
    return np.arange(n, dtype=np.float32), np.full(n, np.nan, np.float32)


def stored() -> int:
    return len(list((cache_folder() / "kernels").glob("*/*.kernel")))


def test_configurations_compile_in_processes(parallel) -> None:
    double.device_caches.clear()
    tuned = tritium.autotune(blocks(*SIZES), key=["n"], warmup=1, rep=1)(double)
    x, out = arrays()
    tuned[grid](x, out, 1000)
    np.testing.assert_array_equal(out, x * 2)
    assert list(tuned.configs_timings) == tuned.configs and len(parallel._workers) == 2
    assert all(0 < t[0] < 1e4 for t in tuned.configs_timings.values())
    assert stored() == len(SIZES)


def test_processes_are_left_alone_where_all_is_cached(parallel) -> None:
    x, out = arrays()
    double.device_caches.clear()
    with knobs.autotuning.scope():
        knobs.autotuning.processes = 1
        tritium.autotune(blocks(*SIZES), key=["n"], warmup=1, rep=1)(double)[grid](x, out, 1000)
    double.device_caches.clear()
    assert stored() == len(SIZES) and not parallel._workers
    tritium.autotune(blocks(*SIZES), key=["n"], warmup=1, rep=1)(double)[grid](x, out, 1000)
    assert not parallel._workers


def test_without_a_cache(parallel) -> None:
    double.device_caches.clear()
    x, out = arrays()
    with knobs.cache.scope():
        knobs.cache.disable = True
        tritium.autotune(blocks(*SIZES), key=["n"], warmup=1, rep=1)(double)[grid](x, out, 1000)
    np.testing.assert_array_equal(out, x * 2)
    assert stored() == 0


TOO_LARGE = 2**21  # elements of a block, of at most 2**20


@pytest.mark.parametrize("processes", [1, 2])
def test_configurations_that_cannot_be_compiled(parallel, processes) -> None:
    knobs.autotuning.processes = processes
    double.device_caches.clear()
    tuned = tritium.autotune(blocks(TOO_LARGE, 16, 32, 8, 64), key=["n"], warmup=1, rep=1)(double)
    x, out = arrays()
    with pytest.warns(UserWarning) as warned:
        tuned[grid](x, out, 1000)
    np.testing.assert_array_equal(out, x * 2)
    lines = str(warned[0].message).splitlines()
    assert lines[0] == "autotuning double: 2 of 5 configurations cannot be used"
    assert lines[1].startswith(f"  BLOCK: {TOO_LARGE}, num_warps: 4") and "CompilationError" in lines[1]
    assert lines[2].startswith("  BLOCK: 8, ") and "CompileTimeAssertionFailure" in lines[2]
    fit = {c.kwargs["BLOCK"]: t[0] < float("inf") for c, t in tuned.configs_timings.items()}
    assert fit == {TOO_LARGE: False, 16: True, 32: True, 8: False, 64: True}


def test_static_assertions_make_configurations_unfit(parallel, recwarn) -> None:
    double.device_caches.clear()
    tuned = tritium.autotune(blocks(8, 16, 32, 64), key=["n"], warmup=1, rep=1)(double)
    tuned[grid](*arrays(), 1000)
    assert not recwarn.list


@pytest.mark.parametrize("processes", [1, 2])
def test_a_kernel_that_is_wrong_in_every_configuration(parallel, processes, recwarn) -> None:
    knobs.autotuning.processes = processes

    @tritium.jit
    def wrong(x, n, BLOCK: tl.constexpr):
        tl.store(x, nothing)  # noqa: F821

    with pytest.raises(CompilationError, match="nothing"):
        tritium.autotune(blocks(*SIZES), key=[])(wrong)[(1,)](np.zeros(4), 4)
    with pytest.raises(AutotunerError, match="(?s)none of 2 configurations works; the last: .*too small") as caught:
        tritium.autotune(blocks(4, 8), key=[])(double)[(1,)](*arrays(), 4)
    assert isinstance(caught.value.__cause__, CompileTimeAssertionFailure)
    assert not recwarn.list  # one error says it


def test_errors_of_the_launch_are_no_failures_of_configurations(parallel) -> None:
    with pytest.raises(KeyError, match="BLOK"):
        tritium.autotune(blocks(*SIZES), key=[])(double)[(1,)](*arrays(), 4, BLOK=3)


def test_hooks_hear_of_every_compile_in_this_thread(parallel) -> None:
    import threading

    double.device_caches.clear()
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **told: seen.append(("before", threading.get_ident()))
        knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(("after", threading.get_ident()))
        tritium.autotune(blocks(*SIZES), key=[], warmup=1, rep=1)(double)[grid](*arrays(), 1000)
    assert sorted(seen) == sorted([("before", threading.get_ident()), ("after", threading.get_ident())] * len(SIZES))


def test_pre_hook_of_a_configuration_affects_the_compile(parallel) -> None:
    """As hooks do that set the blocks of a descriptor: the promised kernel is the one that is launched."""

    @tritium.jit
    def copy(x, y, BLOCK: tl.constexpr):
        y.store([tl.program_id(0) * BLOCK], x.load([tl.program_id(0) * BLOCK]))

    def set_blocks(args):
        args["x"].block_shape = args["y"].block_shape = [args["BLOCK"]]

    from tritium.tools.tensor_descriptor import TensorDescriptor

    a, b = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    x, y = (TensorDescriptor(t, [256], [1], [16]) for t in (a, b))
    compiled = []
    with knobs.runtime.scope():
        knobs.runtime.jit_post_compile_hook = lambda **told: compiled.append(told["compile"]["signature"]["x"])
        tuned = tritium.autotune(blocks(16, 32, 64, 128, pre_hook=set_blocks), key=[], warmup=1, rep=1)(copy)
        tuned[lambda meta: (256 // meta["BLOCK"],)](x, y)
    np.testing.assert_array_equal(b, a)
    assert len(compiled) == 4 and len(set(compiled)) == 4


SCRIPT = """
import numpy as np, sys
sys.path.insert(0, {root!r})
import tritium, tritium.language as tl
print("the script runs")

@tritium.autotune([tritium.Config({{"BLOCK": b}}) for b in (16, 32, 64, 128, 256)], key=["n"], warmup=1, rep=1)
@tritium.jit
def add(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

tritium.knobs.autotuning.processes = 2
x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
add[lambda meta: (tritium.cdiv(100, meta["BLOCK"]),)](x, out, 100)
from tritium.compiler.workers import shared_pool
print(len(shared_pool(2)._workers), (out == x + 1).all())
"""


def test_a_script_is_not_run_again(tmp_path) -> None:
    """It has no `if __name__ == "__main__"`, and stands beside files that are called like modules of Python."""
    (tmp_path / "json.py").write_text("raise SystemExit('this is not the json you are looking for')\n")
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT.format(root=str(ROOT)))
    env = {**os.environ, "TRITIUM_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(folder / "script.py")], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("the script runs\n2 True\n", "")


def test_what_is_shown() -> None:
    configs = blocks(16, 32, 64)
    search = Search("k", configs)
    assert search.describe() == "autotuning k [....................] 0/3"
    search._promised = dict.fromkeys(configs, FutureKernel(Future()))
    search._running = configs[0]
    assert search.describe().splitlines()[1] == f"  compiling 3, running {configs[0]}"
    search.timings = {configs[0]: [2.0] * 3, configs[1]: [0.123456] * 3, configs[2]: search.fail(configs[2], OSError())}
    assert search.describe().splitlines()[-1] == f"  best so far: 0.1235 ms, {configs[1]}"


@pytest.mark.parametrize(
    ("times", "warned", "chosen"),
    [
        ([2.0, 1.0, 1.004], [], 1),
        ([2.0, 1.0, 1.004], [1], 2),  # as fast, without a warning
        ([2.0, 1.0, 1.006], [1], 1),
        ([1.003, 1.0, 1.002], [1], 2),
        ([1.003, 1.0, 1.002], [0, 1, 2], 1),
        ([float("inf"), 1.0, float("inf")], [1], 1),
    ],
)
def test_the_preferred_configuration_is_as_fast_without_warnings(
    times: list[float], warned: list[int], chosen: int
) -> None:
    configs = [Config({"BLOCK": 1 << i}) for i in range(len(times))]
    search = Search("k", configs)
    search.timings = {c: [t] * 3 for c, t in zip(configs, times)}
    search._caught = {c: [(UserWarning, "slow")] * (i in warned) for i, c in enumerate(configs)}
    assert search.preferred is configs[chosen]


def test_failures_are_printed_with_the_print_setting(capsys) -> None:
    search = Search("k", blocks(16, 32))
    search.failures[search.configs[1]] = RuntimeError("no\nmore")
    with knobs.autotuning.scope():
        knobs.autotuning.print = True
        search._tell()
    told = f"autotuning k: 1 of 2 configurations cannot be used\n  {search.configs[1]}: RuntimeError: no\n"
    assert capsys.readouterr().out == told


def test_a_promise_that_failed_is_made_again(parallel, monkeypatch) -> None:
    """What ended a process once need not be there any more at the next launch."""
    double.device_caches.clear()
    original, broken = workers.Worker.ask, [True]

    def ask(self, job):
        if broken:
            os.kill(self.pid, signal.SIGKILL)
        return original(self, job)

    parallel.expect(9)
    from tritium.compiler import GPUTarget

    parallel._start(GPUTarget("cpu", "", 1))
    with parallel._changed:
        assert parallel._changed.wait_for(lambda: parallel._ready == 2, timeout=60)
    monkeypatch.setattr(workers.Worker, "ask", ask)
    tuned = tritium.autotune(blocks(*SIZES), key=["n"], warmup=1, rep=1)(double)
    with pytest.warns(UserWarning, match="BackendError: the process that compiled double was ended by signal 9"):
        tuned[grid](*arrays(), 1000)
    broken.clear()
    lost = next(c for c, t in tuned.configs_timings.items() if t[0] == float("inf"))
    x, out = arrays()
    double[grid](x, out, 1000, **lost.all_kwargs())
    np.testing.assert_array_equal(out, x * 2)
    assert KernelCache().folder.exists()


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("asked", [False, True])
def test_only_the_winner_is_warned_of(parallel, processes, asked, capsys, monkeypatch) -> None:
    from tritium.backends.cpu.compiler import _stages as stages
    from tritium.support.deferred_warnings import warn

    knobs.autotuning.processes, knobs.autotuning.print = processes, asked
    original = stages.make_obj

    def make_obj(text, *args):
        warn(f"block of {'256' if '256' in text else 'less'}", UserWarning)
        return original(text, *args)

    monkeypatch.setattr(stages, "make_obj", make_obj)
    monkeypatch.setattr(workers, "_is_portable", lambda work: False)  # so that the patch counts
    double.device_caches.clear()

    def bench(call, quantiles):
        call()
        return [float(next(times))] * 3

    times = iter((5, 4, 3, 2, 1))
    tuned = tritium.autotune(blocks(*SIZES), key=[], do_bench=bench)(double)
    with pytest.warns(UserWarning) as warned:
        tuned[grid](*arrays(), 1000)
    assert [str(w.message) for w in warned] == ["block of 256"]
    told = [line for line in capsys.readouterr().out.splitlines() if "block of" in line]
    assert len(told) == (len(SIZES) if asked else 0)


def test_longest_compiles_are_started_first(parallel) -> None:
    begun: list[Config] = []
    few = blocks(16, 64, num_warps=1)  # blocks of which one warp has 16 and 64
    many = blocks(128, 256, num_warps=8)  # 16 and 32
    search = Search("double", [*many, *few])
    search.run(begun.append, lambda config: [1.0] * 3, alone=True)
    assert begun[:2] == [few[1], many[1]]
    assert len(begun) == 4
