"""Postponed work: in a thread after a delay, at the end of the process, once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from tritium.support.later import Postponed


def run(body: str) -> str:
    code = "from tritium.support.later import Postponed\n" + textwrap.dedent(body)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_work_runs_once_after_the_delay() -> None:
    done, ended = [], threading.Event()

    def work() -> None:
        done.append(threading.current_thread().name)
        ended.set()

    postponed = Postponed("store", 0.0, work)
    assert ended.wait(10)
    postponed.run()
    assert done == ["store"]


def test_work_runs_at_the_end_of_a_process_that_ends_first() -> None:
    assert run("Postponed('store', 600.0, lambda: print('stored'))") == "stored\n"


def test_the_end_of_a_process_waits_for_work_that_has_begun() -> None:
    body = """
    import threading, time
    begun = threading.Event()
    def work():
        begun.set()
        time.sleep(0.1)
        print("stored")
    Postponed("store", 0.0, work)
    begun.wait()
    """
    assert run(body) == "stored\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_the_work_to_its_parent() -> None:
    body = """
    import os
    Postponed("store", 600.0, lambda: print(os.getpid() == parent))
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    """
    assert run(body) == "True\n"
