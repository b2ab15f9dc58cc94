"""Child processes import this package however the program found it."""

from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace

from tritium.backends.llvm import run_isolated
from tritium.support.child_environment import child_environment

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_llvm_workers_find_the_package_that_only_sys_path_names(monkeypatch) -> None:
    seen = {}

    def run(command, **keywords):
        seen.update(keywords["env"])
        return SimpleNamespace(returncode=0, stdout=b"answer")

    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(subprocess, "run", run)
    assert run_isolated("tritium.backends.nvidia.llvm_worker", {}, "", 60) == b"answer"
    assert seen["PYTHONPATH"] == ROOT


def test_the_folder_of_the_package_is_named_once(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["elsewhere", ROOT]))
    found = child_environment(EXTRA="1")
    assert found["PYTHONPATH"].split(os.pathsep) == [ROOT, "elsewhere"] and found["EXTRA"] == "1"
