"""The script that records what a program would launch on an H100, and counts its registers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.conformance import recorded
from tests.conformance.tutorial_registers import Usage

pytestmark = needs_ptxas

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """\
import sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def doubled(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, N)) * 2)

x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
for n in map(int, sys.argv[1:]):
    doubled[(1,)](x, out, N=n, num_warps=2)
    doubled[(1,)](x, out, N=n, num_warps=2)
assert not out.any(), "nothing runs"
sys.exit(3)
"""


def test_kernels_are_recorded_and_compared(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    file = tmp_path / "kernels.jsonl"
    words = [sys.executable, "-m", "tests.conformance.recorded", "record", file, tmp_path / "script.py", "32", "64"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "2 kernels recorded" in done.stdout, done.stderr
    monkeypatch.setattr(recorded, "find_interpreter", lambda: None)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["name"] for row in rows] == ["doubled"] * 2 and rows[0]["options"]["num_warps"] == 2
    assert "tensor<32xf32>" in rows[0]["ttir"] and "tensor<64xf32>" in rows[1]["ttir"]
    found = list(recorded.compare(rows, None))
    assert [ours.error for _, ours, _ in found] == ["", ""] and all(ours.registers > 0 for _, ours, _ in found)
    rows[0]["ttir"] = rows[0]["ttir"].replace("tt.store", "tt.keep")
    file.write_text("\n".join(map(json.dumps, rows)))
    assert recorded.main(["compare", str(file)]) == 1
    assert "1 do not compile" in capsys.readouterr().out


def test_what_needs_more() -> None:
    theirs = Usage(registers=100, shared=10_000)
    assert not recorded.needs_more(Usage(registers=110, shared=10_500), theirs)
    assert recorded.needs_more(Usage(registers=140, shared=10_000), theirs)
    assert recorded.needs_more(Usage(registers=100, stores=20, shared=10_000), theirs)
    assert recorded.needs_more(Usage(registers=100, shared=16_000), theirs)
    assert recorded.needs_more(Usage(error="no room"), theirs) and not recorded.needs_more(theirs, None)
