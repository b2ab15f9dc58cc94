"""A compile that lasts shows the stage that is being made."""

from __future__ import annotations

import subprocess
import sys
import time

import tritium
import tritium.language as tl
from tests.support.test_progress import Recorder
from tritium import knobs
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import progress


@tritium.jit
def slow(x):
    tl.store(x, 1)


def test_the_stage_is_shown(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(progress, "_place", lambda: Recorder)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(progress, "PERIOD_SECONDS", 0.005)
    monkeypatch.setattr(Recorder, "made", [], raising=False)

    def hook(*args):
        if not args:
            return "slow", "slow"
        stages = args[1]
        for name in ("ttir", "llir"):
            original = stages[name]
            stages[name] = lambda value, metadata, original=original: (time.sleep(0.2), original(value, metadata))[1]
        return None

    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        compile(ASTSource(slow, {"x": "*i32"}), GPUTarget("cpu", "", 1))
        [shown] = Recorder.made
        assert shown.closed
        stages = list(dict.fromkeys(text.split("  ")[0] for text in shown.texts))
        assert [s for s in stages if s.endswith((": ttir", ": llir"))] == [
            "compiling slow: ttir",
            "compiling slow: llir",
        ]
        compile(ASTSource(slow, {"x": "*i32"}), GPUTarget("cpu", "", 1))
        assert len(Recorder.made) == 1  # what is in the cache takes no time


def test_compile_does_not_import_its_viewer(tmp_path) -> None:
    (tmp_path / "kernels.py").write_text(
        "import sys, tritium, tritium.language as tl\n"
        "from tritium.compiler import *\n"
        "@tritium.jit\n"
        "def one(x):\n    tl.store(x, 1)\n"
        "compile(ASTSource(one, {'x': '*i32'}), GPUTarget('cpu', '', 1))\n"
        "print('rich' in sys.modules, 'tritium.compiler.workers' in sys.modules, 'tritium.plugins' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "kernels.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "TRITIUM_CACHE_DIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "False False False\n", done.stderr
