"""Compiling in other processes: the same code, errors and warnings as here, whatever happens to the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.example_kernels import CASES, load
from tritium import knobs
from tritium.backends.errors import BackendError, OutOfResources, PTXASError
from tritium.backends.nvidia.toolchain import find_tool
from tritium.compiler import ASTSource, GPUTarget, compile, worker_processes, workers
from tritium.compiler.entry import Entry
from tritium.compiler.messages import describe_error, error_of, settings_as, stated_settings
from tritium.compiler.workers import CompilerPool
from tritium.frontend.errors import CompilationError
from tritium.support import TritiumError, UnsupportedStage, settings
from tritium.support.location import FileLineColLoc

CPU = GPUTarget("cpu", "", 1)
H100 = GPUTarget("cuda", 90, 32)
ROOT = Path(__file__).resolve().parents[2]
needs_ptxas = pytest.mark.skipif(find_tool("ptxas") is None, reason="there is no ptxas")


@pytest.fixture
def pool():
    made = CompilerPool(2)
    made.expect(100)
    yield made
    made.close()


@pytest.fixture
def ready(pool):
    """The pool with all of its processes started, so that none of the test's compiles is done here."""
    pool._start(CPU)
    with pool._changed:
        assert pool._changed.wait_for(lambda: pool._ready == 2, timeout=60)
    return pool


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    with knobs.cache.scope(), knobs.compilation.scope(), knobs.nvidia.scope():
        knobs.cache.disable = True
        yield


def source(name: str, **constants):
    case = next(c for c in CASES if c.name == name)
    fn = getattr(load(case.example), case.kernel)
    values = {**case.constants, **constants}
    types = {n: "constexpr" if n in values else case.signature[n] for n in fn.arg_names}
    return ASTSource(fn, types, constexprs=values, attrs=case.attrs)


def stages(kernel):
    return {name: kernel.asm[name] for name in kernel.asm}


def counted(pool):
    """Who worked: names of the stages' running by whom, as the pool noted."""
    done = []
    original = CompilerPool._take

    def take(self, portable):
        worker = original(self, portable)
        done.append("here" if worker is None else "there")
        return worker

    return done, take


@pytest.mark.parametrize("name", ["vector_add", "layer_norm-forward", "attention-forward"])
def test_the_same_code_for_the_cpu(ready, name, monkeypatch):
    done, take = counted(ready)
    monkeypatch.setattr(CompilerPool, "_take", take)
    there, here = compile(source(name), CPU, elsewhere=ready), compile(source(name), CPU)
    assert done == ["there"]
    assert there.kernel == here.kernel and there.asm["llir"] == here.asm["llir"]
    assert there.metadata == here.metadata
    assert list(there.asm) == list(here.asm) and list(there.times) == list(here.times)


@needs_ptxas
@pytest.mark.parametrize("name", ["matmul-fp16-leaky_relu", "persistent_matmul-descriptors", "layer_norm-forward"])
def test_the_same_code_for_gpus(ready, name):
    there, here = compile(source(name), H100, elsewhere=ready), compile(source(name), H100)
    assert stages(there) == stages(here)
    assert there.metadata == here.metadata


def test_fetched_entries_are_stored(ready):
    knobs.cache.disable = False
    heard = []
    knobs.compilation.listener = lambda **told: heard.append((told["cache_hit"], dict(told["times"].lowering_stages)))
    first = compile(source("vector_add"), CPU, elsewhere=ready)
    again = compile(source("vector_add"), CPU)
    assert [hit for hit, _ in heard] == [False, True]
    assert set(heard[0][1]) == {"ttir", "ttcir", "llir", "obj"} and all(heard[0][1].values())
    assert again.kernel == first.kernel


@needs_ptxas
def test_errors_come_back(ready):
    with pytest.raises(OutOfResources) as caught:
        compile(source("matmul-fp16-leaky_relu"), H100, {"num_stages": 9}, elsewhere=ready)
    with pytest.raises(OutOfResources) as here:
        compile(source("matmul-fp16-leaky_relu"), H100, {"num_stages": 9})
    assert str(caught.value) == str(here.value)
    assert (caught.value.required, caught.value.limit) == (here.value.required, here.value.limit)
    with pytest.raises(PTXASError, match="no-such-option"):
        compile(source("vector_add"), H100, {"ptx_options": "--no-such-option"}, elsewhere=ready)
    assert ready._ready == 2


@needs_ptxas
def test_warnings_come_back(ready):
    from tritium.backends.errors import PerformanceWarning

    with pytest.warns(PerformanceWarning, match="spill"):
        compile(source("attention-backward_keys"), H100, {"maxnreg": 64}, elsewhere=ready)


def test_settings_go_along(ready):
    knobs.compilation.disable_llvm_opt = True
    plain = compile(source("vector_add"), CPU, elsewhere=ready)
    assert plain.kernel == compile(source("vector_add"), CPU).kernel
    knobs.compilation.disable_llvm_opt = False
    assert plain.asm["llir"] != compile(source("vector_add"), CPU, elsewhere=ready).asm["llir"]


def test_a_process_that_is_killed_costs_one_compile(ready, monkeypatch):
    original = workers.Worker.ask

    def ask(self, job):
        os.kill(self.pid, signal.SIGKILL)
        return original(self, job)

    with monkeypatch.context() as patch:
        patch.setattr(workers.Worker, "ask", ask)
        with pytest.raises(BackendError, match="the process that compiled add_kernel was ended by signal 9"):
            compile(source("vector_add"), CPU, elsewhere=ready)
    assert compile(source("vector_add"), CPU, elsewhere=ready).kernel
    for worker in [w for w in ready._workers if w.pid]:  # all of them, while there is nothing to do
        os.kill(worker.pid, signal.SIGKILL)
        worker.fork_server.ending(worker.pid)
    assert compile(source("vector_add"), CPU, elsewhere=ready).kernel


def test_processes_that_cannot_start(pool, monkeypatch, capfd):
    monkeypatch.setattr(worker_processes, "_START", "raise SystemExit(3)")
    assert compile(source("vector_add"), CPU, elsewhere=pool).kernel


def test_without_further_processes_compiles_run_here(pool, monkeypatch):
    def fails(count, target):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(workers, "start_workers", fails)
    assert compile(source("vector_add"), CPU, elsewhere=pool).kernel and not pool._workers


@pytest.mark.parametrize("program", ["", "/usr/bin/blender"])
def test_programs_with_python_in_them_are_not_started_again(monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    pool = CompilerPool(2)
    pool.expect(100)
    assert compile(source("vector_add"), CPU, elsewhere=pool).kernel and not pool._workers


def test_few_jobs_start_no_process():
    pool = CompilerPool(4)
    pool.expect(workers.FEW)
    assert compile(source("vector_add"), CPU, elsewhere=pool).kernel and not pool._workers


def test_many_at_once(pool):
    """Threads that compile while processes start, and all processes end in the middle."""
    sizes = [2**n for n in range(4, 12)]
    with ThreadPoolExecutor(8) as executor:
        futures = [executor.submit(compile, source("vector_add", BLOCK_SIZE=n), CPU, elsewhere=pool) for n in sizes]
        killer = threading.Timer(0.3, lambda: [os.kill(w.pid, signal.SIGKILL) for w in list(pool._workers) if w.pid])
        killer.start()
        for n, future in zip(sizes, futures):
            try:
                kernel = future.result(timeout=60)
            except BackendError as error:
                assert "the process that compiled add_kernel" in str(error)
            else:
                assert kernel.kernel == compile(source("vector_add", BLOCK_SIZE=n), CPU).kernel
        killer.join()


def test_compiles_that_print_run_in_this_process(ready, monkeypatch, capfd):
    done, take = counted(ready)
    monkeypatch.setattr(CompilerPool, "_take", take)
    knobs.compilation.timing = True
    compile(source("vector_add"), CPU, elsewhere=ready)
    assert done == ["here"]


def test_hooks_and_backends_of_the_user_are_served_here(ready, monkeypatch):
    done, take = counted(ready)
    monkeypatch.setattr(CompilerPool, "_take", take)
    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = lambda *args: ("key", "key")
        compile(source("vector_add"), CPU, elsewhere=ready)
    assert done == ["here"]


def test_operation_unknown_to_workers_is_compiled_here(ready, monkeypatch):
    """The text cannot be read there; the kernel is compiled here."""
    done, take = counted(ready)
    monkeypatch.setattr(CompilerPool, "_take", take)
    monkeypatch.setattr(
        workers, "_job", lambda work, job=workers._job: Entry(job(work).metadata, {"text": "mine.op\n"})
    )
    assert compile(source("vector_add"), CPU, elsewhere=ready).kernel
    assert done == ["there", "here"]


def test_worker_ends_with_its_parent():
    script = (
        "from tritium.compiler import GPUTarget\n"
        "from tritium.compiler.workers import CompilerPool\n"
        "import os, signal\n"
        "pool = CompilerPool(2); pool.expect(9); pool._start(GPUTarget('cpu', '', 1))\n"
        "with pool._changed: pool._changed.wait_for(lambda: pool._ready == 2, timeout=60)\n"
        "print(*(p for w in pool._workers for p in (w.pid, w.fork_server.process.pid)), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, text=True, timeout=60)
    pids = [int(p) for p in done.stdout.split()]
    assert len(pids) == 4 and len(set(pids)) == 3  # two workers, and the process that they are forks of
    until = time.monotonic() + 20
    while any(_lives(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(_lives(pid) for pid in pids)


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_nothing_is_left_of_a_worker(ready):
    (process,) = {worker.fork_server.process for worker in ready._workers}
    pids, fork_server = [worker.pid for worker in ready._workers], ready._workers[0].fork_server
    ready.close()
    until = time.monotonic() + 20
    while process.returncode is None and time.monotonic() < until:
        time.sleep(0.05)
    assert process.returncode == 0 and not any(_lives(pid) for pid in pids)
    assert set(fork_server._endings.values()) == {0}


class _Odd(CompilationError):
    def __init__(self, one, two):
        super().__init__(one, [])
        self.two = two


@pytest.mark.parametrize(
    "error",
    [
        OutOfResources(3, 2, "shared memory", "k", "there"),
        PTXASError("no"),
        BackendError("no"),
        KeyError("name"),
        UnsupportedStage("ptx", "cpu", "obj"),
        CompilationError("wrong", []),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "why"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_errors_as_text(error):
    found = error_of(describe_error(error))
    assert str(found) == str(error)
    assert isinstance(found, type(error)) or isinstance(found, TritiumError)


def test_errors_of_others_are_ours():
    found = error_of(describe_error(_Odd("wrong", FileLineColLoc("f", 1, 1))))
    assert type(found) is TritiumError and str(found) == "error: wrong"


def test_stated_settings_come_and_go(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    with settings.runtime.scope():
        settings.runtime.__dict__["debug"] = True
        stated = stated_settings()
    monkeypatch.delenv("TRITON_ALWAYS_COMPILE")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "3")
    with settings_as(stated):
        assert settings.runtime.debug and settings.compilation.always_compile and settings.runtime.num_threads == 0
    assert not settings.runtime.debug and not settings.compilation.always_compile
    assert settings.runtime.num_threads == 3 and os.environ["TRITIUM_NUM_THREADS"] == "3"


def test_nothing_is_compiled_here_while_the_pool_is_held():
    """Timed launches beside a compile of this process begin late: the two must exclude each other."""
    pool, seen = CompilerPool(1), []
    running = threading.Event()

    class Work:
        """Stages that take 30 ms each, only here."""

        def begin(self):
            return self.run()

        def run(self):
            running.set()
            time.sleep(0.03)
            running.clear()
            return {}

    work = Work()

    def compile_here():
        for _ in range(3):
            with pool._turn:
                work.begin()
            assert pool._take(portable=False) is None
            try:
                work.run()
            finally:
                pool._release(None)

    threads = [threading.Thread(target=compile_here) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        with pool.held():
            seen += [running.is_set() for _ in range(20) if not time.sleep(0.001)]
    for thread in threads:
        thread.join()
    assert seen and not any(seen)
    with pool.held():
        pass
    pool.close()
