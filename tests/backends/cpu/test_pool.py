import ctypes
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritium.backends.cpu import BackendError, compile_llvm, get_num_threads, host_target, load_object, set_num_threads
from tritium.backends.cpu.launch import _State, ctypes_launcher, make_launcher
from tritium.backends.cpu.pool import load_pool, load_quickly, load_text, pool, store_optimized, stored_text
from tritium.conversion.llvm.abi import RECORD_ERROR, ErrorRecord, pack_arguments

# Each program adds 1 to its counter (racy on purpose: running twice or in two threads would show), after
# `work[id]` turns of a loop that cannot be optimized away. Arguments: counters, work, or null for none.
COUNTING = f"""{RECORD_ERROR}
define void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end) {{
entry:
  %counters = load ptr, ptr %args
  %work_at = getelementptr i8, ptr %args, i64 8
  %work = load ptr, ptr %work_at
  %fail_at = getelementptr i8, ptr %args, i64 16
  %fail = load i64, ptr %fail_at
  br label %programs
programs:
  %id = phi i64 [ %begin, %entry ], [ %next, %count ]
  %none = icmp eq ptr %work, null
  br i1 %none, label %count, label %spin_begin
spin_begin:
  %turns_at = getelementptr i64, ptr %work, i64 %id
  %turns = load i64, ptr %turns_at
  br label %spin
spin:
  %k = phi i64 [ 0, %spin_begin ], [ %k_next, %spin ]
  %k_next = add i64 %k, 1
  %seen = load volatile i64, ptr %turns_at
  %busy = icmp slt i64 %k_next, %turns
  br i1 %busy, label %spin, label %count
count:
  %p = getelementptr i64, ptr %counters, i64 %id
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  %bad = icmp eq i64 %id, %fail
  %x = trunc i64 %id to i32
  %index = select i1 %bad, i64 %id, i64 -1
  %next = add i64 %id, 1
  br i1 %bad, label %error, label %continue
error:
  call void @tt.record_error(ptr %ctx, i32 1, i32 9, i32 %x, i32 0, i32 0, i64 0, i64 %index, i64 0, i64 0)
  ret void
continue:
  %more = icmp slt i64 %next, %end
  br i1 %more, label %programs, label %exit
exit:
  ret void
}}""".replace("%next, %count ]", "%next, %continue ]")


@pytest.fixture(scope="module")
def code():
    return load_object(compile_llvm(COUNTING, host_target()).object)


@pytest.fixture(scope="module", params=["futex", "condition"])
def crew(request):
    if request.param == "futex" and sys.platform != "linux":
        pytest.skip("futexes are Linux's")
    crew = load_pool(futex=request.param == "futex")
    crew.set_threads(4)
    return crew


@pytest.fixture(params=["built-in", "ctypes"])
def launch(request, crew, code):
    if request.param == "built-in":
        return make_launcher(code.address("kernel"), code, threads=crew)
    return ctypes_launcher(crew, _State(kernel=code.address("kernel")), code)


class Arguments:
    def __init__(self, programs, work=None, fail=-1):
        self.counters = np.zeros(programs, np.int64)
        self.work = work
        self.slots = pack_arguments(self.counters.ctypes.data, 0 if work is None else work.ctypes.data, fail)
        self.address = ctypes.addressof((ctypes.c_char * len(self.slots)).from_buffer(self.slots))


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 1), (3, 5, 7), (1000, 1, 1), (1, 1, 4097)])
@pytest.mark.parametrize("threads", [0, 1, 2, 4, 100])
def test_every_program_runs_once(launch, grid, threads):
    programs = int(np.prod(grid))
    for work in (None, np.full(programs, 2000, np.int64)):
        args = Arguments(programs, work)
        for turn in range(1, 6):
            assert launch(args.address, *grid, threads) is None
            assert (args.counters == turn).all()


def test_unbalanced_programs(launch, rng):
    work = (rng.pareto(1.0, 500) * 300).clip(0, 200_000).astype(np.int64)
    args = Arguments(500, work)
    for turn in range(1, 20):
        assert launch(args.address, 500, 1, 1, 0) is None
        assert (args.counters == turn).all()


def test_cost_that_changes(launch):
    """After launches so cheap that the caller runs them alone, an expensive one is still right."""
    work = np.ones(64, np.int64)
    args = Arguments(64, work)
    for turn in range(1, 60):
        work[:] = 1 if turn % 7 else 30_000
        assert launch(args.address, 64, 1, 1, 0) is None
        assert (args.counters == turn).all()


def test_first_error_stops_the_rest(launch):
    work = np.full(10_000, 3000, np.int64)
    args = Arguments(10_000, work, fail=3)
    record = ErrorRecord.from_bytes(launch(args.address, 10_000, 1, 1, 0))
    assert (record.site, record.program, record.index) == (9, (3, 0, 0), 3)
    assert args.counters.sum() < 10_000
    healthy = Arguments(10_000)
    assert launch(healthy.address, 10_000, 1, 1, 0) is None  # the next launch starts clean
    assert (healthy.counters == 1).all()


def test_concurrent_launches(crew, code):
    """More Python threads than slots, each with a launcher of its own or a shared one."""
    shared = make_launcher(code.address("kernel"), code, threads=crew)
    problems = []

    def work(index):
        launch = shared if index % 2 else make_launcher(code.address("kernel"), code, threads=crew)
        args = Arguments(200, np.full(200, 500, np.int64))
        for turn in range(1, 40):
            if launch(args.address, 200, 1, 1, 0) is not None or not (args.counters == turn).all():
                problems.append((index, turn))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(24)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not problems and not any(t.is_alive() for t in threads)


def test_the_gil_is_released(launch):
    args = Arguments(4, np.full(4, 100_000_000, np.int64))
    ticks = 0
    thread = threading.Thread(target=lambda: launch(args.address, 4, 1, 1, 2))
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 5 and (args.counters == 1).all()


def test_wrong_arguments_are_type_errors(code):
    launch = make_launcher(code.address("kernel"), code)
    for bad in ((), (1, 2, 3), (1, 2, 3, 4, 5, 6, 7), ("a", 1, 1, 1), (0, 1, 1.5, 1), (0, 1, 1, None)):
        with pytest.raises(TypeError):
            launch(*bad)
    with pytest.raises(OverflowError):
        launch(0, 1 << 70, 1, 1)
    assert launch(0, 0, 1, 1) is None


def test_the_number_of_threads_is_checked():
    before = get_num_threads()
    try:
        set_num_threads(3)
        assert get_num_threads() == 3
        for bad in (0, -1, 5000):
            with pytest.raises(ValueError, match="number of threads"):
                set_num_threads(bad)
    finally:
        set_num_threads(before)
    if hasattr(os, "sched_getaffinity"):
        assert 1 <= before <= len(os.sched_getaffinity(0)) or os.environ.get("TRITIUM_NUM_THREADS")


def test_the_setting_decides(tmp_path):
    done = _run(tmp_path, "", "import tritium.backends.cpu as c; print(c.get_num_threads())", TRITIUM_NUM_THREADS="3")
    assert done.stdout == "3\n", done.stderr


def test_a_launcher_keeps_its_code_alive():
    import gc
    import weakref

    loaded = load_object(compile_llvm(COUNTING, host_target()).object)
    seen = weakref.ref(loaded)
    launch = make_launcher(loaded.address("kernel"), loaded)
    del loaded
    gc.collect()
    args = Arguments(10)
    assert seen() is not None and launch(args.address, 10, 1, 1) is None
    del launch
    gc.collect()
    assert seen() is None


PROGRAM = """
import ctypes, os, sys, threading, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads are not ours to count
import numpy as np
from tritium.backends.cpu import *
from tritium.conversion.llvm.abi import pack_arguments
loaded = load_object(open(sys.argv[1], "rb").read())
set_num_threads(4)
launch = make_launcher(loaded.address("kernel"), loaded)
counters, work = np.zeros(1000, np.int64), np.full(1000, 3000, np.int64)
slots = pack_arguments(counters.ctypes.data, work.ctypes.data, -1)
address = ctypes.addressof((ctypes.c_char * len(slots)).from_buffer(slots))
def check(turn):
    assert launch(address, 1000, 1, 1) is None
    assert (counters == turn).all()
def threads():
    return sum(1 for _ in os.listdir("/proc/self/task"))
"""


def _run(tmp_path, body, program=PROGRAM, **environment):
    path = tmp_path / "kernel.o"
    path.write_bytes(compile_llvm(COUNTING, host_target()).object)
    return subprocess.run(
        [sys.executable, "-c", program + textwrap.dedent(body), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork(tmp_path):
    done = _run(
        tmp_path,
        """
        for turn in range(1, 4): check(turn)
        assert threads() == 4
        for depth in range(3):
            pid = os.fork()
            if pid:
                _, status = os.waitpid(pid, 0)
                check(4 + depth)
                os._exit(0 if status == 0 else 1)
            assert threads() == 1
            check(4 + depth)
            assert threads() == 4
        print("done", flush=True)
        """,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_fork_during_a_launch(tmp_path):
    done = _run(
        tmp_path,
        """
        other_counters = np.zeros(1000, np.int64)
        others = pack_arguments(other_counters.ctypes.data, work.ctypes.data, -1)
        other = ctypes.addressof((ctypes.c_char * len(others)).from_buffer(others))
        stop = False
        def background():
            while not stop: launch(other, 1000, 1, 1)
        thread = threading.Thread(target=background, daemon=True); thread.start()
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                check(1); check(2)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        stop = True
        thread.join()
        print("done")
        """,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("ending", ["", "sys.exit(3)", "threading.Thread(target=forever, daemon=True).start()"])
def test_exit_is_clean(tmp_path, ending):
    body = f"""
        def forever():
            while True: launch(address, 1000, 1, 1)
        check(1); check(2)
        {ending}
        """
    for _ in range(3):
        done = _run(tmp_path, body)
        assert done.returncode == (3 if "exit" in ending else 0) and done.stderr == ""


def test_idle_workers_burn_no_time(tmp_path):
    done = _run(
        tmp_path,
        """
        check(1); check(2)
        time.sleep(0.05)
        before = time.process_time()
        time.sleep(0.5)
        print(time.process_time() - before)
        """,
    )
    assert float(done.stdout) < 0.05, done.stderr


def test_the_pool_is_fetched_without_llvm(records):
    code = "import sys; from tritium.backends.cpu.pool import pool; pool(); print('llvmlite' in sys.modules)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)]
    assert runs == ["True\n", "False\n"]
    (record,) = records.iterdir()
    record.write_bytes(record.read_bytes()[:100])
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_the_pool_compiles_for_every_architecture():
    from tritium.backends.cpu import named_target
    from tritium.backends.cpu.pool_ir import pool_text

    for name in ("x86-64", "aarch64", "apple-m1"):
        target = named_target(name)
        for futex in (True, False):
            assert compile_llvm(pool_text(target.arch, futex, 1, 2, True), target).object


def test_one_pool_in_a_process():
    assert pool() is pool()
    assert issubclass(BackendError, RuntimeError)


# Each program stores the thread that ran it, after `turns` iterations of a loop. Arguments: threads, turns.
OWNERS = f"""{RECORD_ERROR}
declare i64 @pthread_self()
define void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end) {{
entry:
  %threads = load ptr, ptr %args
  %turns_at = getelementptr i8, ptr %args, i64 8
  %self = call i64 @pthread_self()
  br label %programs
programs:
  %id = phi i64 [ %begin, %entry ], [ %next, %store ]
  br label %spin
spin:
  %k = phi i64 [ 0, %programs ], [ %k_next, %spin ]
  %k_next = add i64 %k, 1
  %turns = load volatile i64, ptr %turns_at
  %busy = icmp slt i64 %k_next, %turns
  br i1 %busy, label %spin, label %store
store:
  %p = getelementptr i64, ptr %threads, i64 %id
  store i64 %self, ptr %p
  %next = add i64 %id, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %programs, label %exit
exit:
  ret void
}}"""

ONE_CORE = """
import ctypes, os, subprocess, sys, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # inherited by workers and competitors
from tritium.backends.cpu import *
from tritium.conversion.llvm.abi import pack_arguments
loaded = load_object(open(sys.argv[1], "rb").read())
set_num_threads(2)
caller = threading.get_ident()

def launches(programs, turns, count):
    '''In how many launches of unknown cost another thread than the caller ran a program.'''
    threads = (ctypes.c_int64 * programs)()
    slots = pack_arguments(ctypes.addressof(threads), turns)
    address = ctypes.addressof((ctypes.c_char * len(slots)).from_buffer(slots))
    helped = 0
    for _ in range(count):
        time.sleep(0.0005)  # the worker falls asleep
        make_launcher(loaded.address("kernel"), loaded)(address, programs, 1, 1)
        helped += any(t != caller for t in threads)
    return helped
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the core of a thread is known on Linux")
def test_worker_on_the_callers_core_does_not_preempt_a_short_launch(tmp_path):
    path = tmp_path / "kernel.o"
    path.write_bytes(compile_llvm(OWNERS, host_target()).object)
    body = """
        launches(4, 1, 1)  # makes the worker
        competitor = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            print(launches(4, 1, 100), launches(40, 1_000_000, 3))
        finally:
            competitor.kill()
        """
    program = [sys.executable, "-c", ONE_CORE + textwrap.dedent(body), path]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    short, long = map(int, done.stdout.split())
    assert short <= 30, "a worker preempted its launch"  # of 100; nearly all where workers join at once
    assert long == 3, "no worker helped with a launch of many milliseconds"


def test_code_is_loaded_before_it_is_optimized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The optimized code is stored for the next process; without text if a key stands for it."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    text = "define i32 @tt.answer(i32 %a) {\n  %b = add i32 %a, 20\n  %c = add i32 %b, 20\n  ret i32 %c\n}\n"
    asked: list[bool] = []

    def make() -> str:
        asked.append(True)
        return text

    def answer(loaded: Any) -> int:
        return int(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(loaded.address("tt.answer"))(2))

    assert stored_text("answer", "key") is None
    assert answer(load_quickly("answer", make, "key")) == 42 and stored_text("answer", "key") is None
    store_optimized()
    found = stored_text("answer", "key")
    assert found is not None and answer(found) == 42
    assert answer(load_quickly("answer", make, "key")) == 42 and asked == [True]
    store_optimized()
    assert answer(load_quickly("answer", lambda: text)) == 42  # the key is a hash of the text
    store_optimized()
    assert answer(load_text("answer", text, 2)) == 42
    assert len(list((tmp_path / "native").iterdir())) == 2


def test_optimized_code_is_stored_in_the_cache_of_the_load_unless_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "define i32 @tt.answer(i32 %a) {\n  ret i32 %a\n}\n"
    for name in ("kept", "removed"):
        monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / name))
        load_quickly(name, lambda: text)
    shutil.rmtree(tmp_path / "removed")
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "other"))
    store_optimized()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert [path.name.partition("-")[0] for path in (tmp_path / "kept" / "native").iterdir()] == ["kept"]
