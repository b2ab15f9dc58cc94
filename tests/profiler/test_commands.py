"""The commands `proton` and `proton-viewer`, as scripts for Triton call them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tritium
from tests.profiler.example_profile import read
from tritium.dropin.alias import FOR_CHILDREN
from tritium.profiler import proton as command
from tritium.profiler.flags import flags

SCRIPT = """\
import sys
import numpy as np
import triton, triton.language as tl, triton.profiler as proton
import triton.profiler.hooks.launch, triton.profiler.metric, triton.profiler.specs, triton.profiler.viewer

@triton.jit(launch_metadata=lambda grid, kernel, args: {"name": "named", "bytes": 8})
def store(x):
    tl.store(x, 1.0)

assert proton.start("not a session of the command") is None
with proton.scope("test"):
    store[(1,)](np.zeros(1, np.float32))
assert sys.argv[1:] == ["--flag", "value"], sys.argv
raise SystemExit(3)
"""


def test_script_is_profiled_and_its_status_is_the_commands(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = [sys.executable, "-m", "tritium.profiler.proton", "-n", "named", "-k", "triton", "-c", "shadow", "-d", "tree"]
    done = subprocess.run([*run, str(script), "--flag", "value"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, "")
    [scope] = read(tmp_path / "named.hatchet")[0]["children"]
    assert scope["frame"]["name"] == "test"
    assert [(c["frame"]["name"], c["metrics"]["bytes"]) for c in scope["children"]] == [("named", 8)]
    assert not list(tmp_path.glob("not a*"))


def test_modules_of_triton_run_as_programs(tmp_path: Path) -> None:
    """As children of a script under `tritium run` are started."""
    (tmp_path / "script.py").write_text("import triton.profiler as proton; assert proton.start() is None")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([FOR_CHILDREN, str(Path(tritium.__file__).parents[1])])}
    for module, *arguments in (["proton", "-n", "p", "script.py"], ["viewer", "--list", "p.hatchet"]):
        run = [sys.executable, "-m", f"triton.profiler.{module}", *arguments]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, env=env)
        assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert "the profile is empty" in done.stderr


def test_tritium_profile_is_proton(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys; assert sys.argv[1:] == ['-n', '3']")
    run = [sys.executable, "-m", "tritium", "profile", "-n", "p", "script.py", "-n", "3"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "p.hatchet").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "there is no script to profile"),
        (["missing.py"], "there is no script 'missing.py'"),
        (["-b", "instrumentation", "pytest"], "instrumentation inside of kernels is not supported"),
        (["-m", "pcsampling", "pytest"], "need CUPTI"),
        (["-d", "table", "pytest"], "invalid choice: 'table'"),
    ],
)
def test_mistakes_are_usage_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not flags.command_line
    assert not flags.profiling_on
