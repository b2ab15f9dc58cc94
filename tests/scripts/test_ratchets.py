"""Each ratchet counts a planted violation, and the project is within its limits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "scripts/ratchets.py", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


PLANTED = {
    "import cycles": ({"a/x.py": "from . import y\n", "a/y.py": "from .x import z\n"}, "import cycles: 1, at most 0"),
    "modules in import cycles": (
        {
            "a/x.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .y import Y\n",
            "a/y.py": "from ..lazy import LazyModule\n_x = LazyModule('..b.z', __package__)\n",
            "b/z.py": "import tritium.a.x\n",
        },
        "modules in import cycles: 3, at most 0",
    ),
    "scf class uses": (
        {"dialects/scf.py": "class For: ...\n", "a/x.py": "from ..dialects import scf as s\nisinstance(1, s.For)\n"},
        "scf class uses: 1, at most 0",
    ),
    "an imported scf class": (
        {"dialects/scf.py": "class If: ...\n", "a/x.py": "from ..dialects.scf import If as Branch\nBranch()\n"},
        "scf class uses: 1, at most 0",
    ),
    "capability comparisons": ({"a/x.py": "def f(c):\n    return c.capability >= 90\n"}, "comparisons: 1, at most 0"),
    "overlapping op lists": (
        {
            "dialects/tt.py": "",
            "a/x.py": "from ..dialects import tt\nA = (tt.Load, tt.Store, tt.Dot)\n",
            "b/x.py": "from tritium.dialects.tt import Dot, Gather, Load\nB = {Load, Dot, Gather}\n",
        },
        "overlapping op lists: 1, at most 0",
    ),
    "Any": ({"a/x.py": "from typing import Any\nx: list[Any] = []\n"}, "Any in a: 1, at most 0"),
    "type: ignore": ({"a/x.py": "x: int = ''  # type: ignore[assignment]\n"}, "type: ignore in a: 1, at most 0"),
    "a private term in a docstring": ({"a/x.py": '"""Loads of the copy engine."""\n'}, "private terms in a: 1"),
    "a private term in a name": ({"a/x.py": "def find_products(x): ...\n"}, "private terms in a: 1"),
    "a private term on a page": (
        {"../docs/a.md": "Two products.\n```\nproducts\n```\n`product`\n"},
        "terms in docs: 1,",
    ),
    "a private term in a comment": ({"a/x.py": "x = 1  # behind the loop\n"}, "private terms in a: 1"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_violation_exceeds_a_limit_of_zero(name: str, tmp_path: Path) -> None:
    files, wanted = PLANTED[name]
    for path, text in files.items():
        file = tmp_path / "tritium" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "tritium").mkdir(exist_ok=True)
    limits = tmp_path / "limits.json"
    limits.write_text("{}")
    status, output = run("--root", str(tmp_path), "--limits", str(limits))
    assert status == 1 and wanted in output, output


def test_standard_uses_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "tritium" / "a").mkdir(parents=True)
    (tmp_path / "tritium" / "a" / "x.py").write_text(
        "import itertools\nx = itertools.product()  # itertools.product, a cartesian product\nassert x == 90\n"
    )
    (tmp_path / "limits.json").write_text("{}")
    status, output = run("--root", str(tmp_path), "--limits", str(tmp_path / "limits.json"))
    assert status == 0, output


def test_lower_writes_smaller_limits_only(tmp_path: Path) -> None:
    (tmp_path / "tritium" / "a").mkdir(parents=True)
    (tmp_path / "tritium" / "a" / "x.py").write_text("from typing import Any\nx: Any\ny: Any\n")
    limits = tmp_path / "limits.json"
    limits.write_text(json.dumps({"Any": {"a": 1, "b": 3}, "type: ignore": {"a": 2}}))
    status, _ = run("--root", str(tmp_path), "--limits", str(limits), "--lower")
    lowered = json.loads(limits.read_text())
    assert status == 1 and lowered["Any"] == {"a": 1} and lowered["type: ignore"] == {}


def test_project_is_within_its_limits() -> None:
    status, output = run()
    assert status == 0, output
