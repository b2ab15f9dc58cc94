"""Output of the user's code never gets into a result on standard output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """import os
import subprocess
import tritium
import tritium.language as tl

print("printed by the script")
os.write(1, b"written by the script\\n")
subprocess.run(["echo", "printed by a process"])

@tritium.jit
def kernel(p):
    tl.static_print("printed by the kernel")
    tl.store(p, 1)
"""

PASSES = """from tritium.ir import pass_on

print("printed by the plugin")

@pass_on("module", name="loud")
def loud(module):
    print("printed by the pass")
    return False
"""


def tritium(folder: Path, *arguments: str) -> tuple[str, str]:
    environment = {**os.environ, "TRITIUM_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", *arguments], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("command", [["compile", "--stage", "ttir"], ["inspect", "--json"]], ids=lambda c: c[0])
def test_output_of_a_kernels_file_goes_to_stderr(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    name, *options = command
    out, err = tritium(tmp_path, name, f"{path}::kernel", "--target", "cpu", "--signature", "*i32", *options)
    assert "printed" not in out and "written" not in out and out.lstrip()[0] in "{m#"
    for line in ("printed by the script", "written by the script", "printed by a process", "printed by the kernel"):
        assert line in err


def test_output_of_passes_goes_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "passes.py"
    path.write_text(PASSES)
    text = tmp_path / "empty.mlir"
    text.write_text("module {\n}\n")
    out, err = tritium(tmp_path, "opt", "--load", str(path), "--passes", "loud", str(text))
    assert out == "module {\n}\n" and "printed by the plugin" in err and "printed by the pass" in err
