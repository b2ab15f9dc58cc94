"""Preparation of the fast path: no launch waits for its code, and few launches run without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from tritium.backends.nvidia.toolchain import find_tool
from tritium.runtime.fastpath import preparation as preparing
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.fastpath.preparation import LOAD_AFTER, Preparation
from tritium.support import idle

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")

LAUNCHES = """
import json, os, sys, threading
sys.path.insert(0, sys.argv[1])
import numpy as np
from vector_add import add_kernel
from tritium.runtime.fastpath.preparation import LOAD_AFTER, preparation
x, y, out = np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
def launch(times):
    for _ in range(times):
        add_kernel[(1,)](x, y, out, 64, BLOCK_SIZE=64)
def modules():
    return {name for name in sys.modules if name.startswith(("tritium", "llvmlite"))}
def joined():
    for thread in threading.enumerate():
        if thread.name == "tritium-fastpath":
            thread.join()
    return preparation.ready
launch(1)
"""


def process(body: str, folder: Path) -> Any:
    """What a process prints last that launches a kernel once and then does `body`, with a cache in `folder`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "TRITIUM"))}
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHES + textwrap.dedent(body), str(EXAMPLES)],
        capture_output=True,
        text=True,
        env={**environment, "TRITIUM_CACHE_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_code_is_loaded_beside_other_work(tmp_path: Path) -> None:
    """Neither the second launch nor those after it import or compile anything; LLVM runs once a machine."""
    body = """
    before = modules(); launch(4); few = sorted(modules() - before), joined()
    launch(LOAD_AFTER); print(json.dumps([*few, joined(), 'llvmlite.binding' in sys.modules]))
    """
    assert process(body, tmp_path) == [[], False, True, True]
    assert process(body, tmp_path) == [[], False, True, False]  # kernel and code from the disk
    for entry in tmp_path.iterdir():
        if entry.is_dir() and entry.name != "native":
            shutil.rmtree(entry)
    assert process("print(json.dumps(joined()))", tmp_path) is True  # loaded while LLVM made the kernel


def test_thread_is_no_daemon_when_a_daemon_starts_it() -> None:
    found = []

    def start() -> None:
        prepared = Preparation()
        prepared.begin(compiles=True)
        found.append(prepared._thread)

    starter = threading.Thread(target=start, daemon=True)  # as those that run backward passes
    starter.start()
    starter.join()
    assert not found[0].daemon
    found[0].join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_waits_for_the_thread(tmp_path: Path) -> None:
    body = """
    preparation.begin(compiles=True)
    pid = os.fork()
    if pid == 0:
        launch(8)
        os._exit(0 if preparation.ready and out[0] == 2 else 1)
    print(json.dumps(os.waitpid(pid, 0)[1]))
    """
    assert process(body, tmp_path) == 0


def test_loading_begins_after_enough_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "PLAN_AFTER", 3)
    prepared, begun = Preparation(), []
    assert not prepared.pays(repeats=0) and prepared.missed == 0  # the first launch of a kind compiles anyway
    monkeypatch.setattr(prepared, "begin", lambda compiles=False: begun.append(compiles))
    for _ in range(2 * LOAD_AFTER):
        assert not prepared.pays(repeats=100)
    assert begun == [True] * (LOAD_AFTER + 1)
    prepared.ready = True
    assert [prepared.pays(n) for n in (1, 2, 3, 4)] == [False, False, True, True]


def test_idle_work_is_registered_once() -> None:
    prepared = Preparation()
    waiting = len(idle._pending)
    for _ in range(3):
        prepared.when_idle(gpu=False)
    assert len(idle._pending) == waiting + 1
    assert idle._pending.pop() == prepared._use_wait


def test_code_that_is_not_on_disk_is_compiled_later_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(preparing._native, "native_fastpath", lambda compiles: asked.append(compiles), raising=False)
    prepared = Preparation()
    prepared.begin()
    prepared._before_fork()
    assert not prepared.ready
    prepared.begin(compiles=True)
    prepared._before_fork()
    assert asked == [False, True]


def test_packages_are_imported_before_the_thread_begins() -> None:
    """Imports of a package and of a module in it, by two threads at once, can deadlock."""
    code = """
        import sys, threading
        from tritium.runtime.fastpath.preparation import Preparation
        assert "tritium.backends.cpu" not in sys.modules
        begun = []
        threading.Thread.start = lambda self: begun.append("tritium.backends.cpu" in sys.modules)
        Preparation().begin()
        assert begun == [True], begun
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


GPU_COMPILE = """
import json, sys, threading
from pathlib import Path
from tests.backends.nvidia.fake_cuda import FakeCuda, driver_in_use
from tests.runtime.test_cuda import BASE, Array, kernels
from tritium.runtime import driver
from tritium.runtime.fastpath import preparation as preparing
from tritium.runtime.fastpath.preparation import preparation
from tritium.runtime.jit import JITFunction
kernel = kernels()
preparing.WAIT_S = 30.0  # a busy machine
with driver_in_use(FakeCuda(memory={range(BASE, BASE + 4096): 0})) as fake:
    driver.reset_active()
    def launch(): kernel[(4,)](Array(), Array(BASE + 256), 1000, BLOCK=64)
    launch()
    begun = preparation.ready  # the first launch waited for the code, and has a plan
    launched = []
    JITFunction._launch = lambda *_, **__: launched.append("by Python")
    launch(); launch()
    assert not launched, launched
    stored = list(Path(sys.argv[1]).glob("native/fastpath-*"))
    print(json.dumps([begun, len(fake.launches), "llvmlite.binding" in sys.modules, len(stored)]))
"""


@pytest.mark.skipif(find_tool("ptxas") is None, reason="kernels are compiled to CUBIN: there is no ptxas")
def test_code_is_compiled_while_the_assembler_works(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "TRITIUM"))}
    environment |= {"TRITIUM_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(EXAMPLES.parent)}
    command = [sys.executable, "-c", GPU_COMPILE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    # without llvmlite's binding, and without optimizing the code while the program launches
    assert json.loads(done.stdout.splitlines()[-1]) == [True, 3, False, 0]
    assert list(tmp_path.glob("native/fastpath-*"))  # stored at the end of the process
