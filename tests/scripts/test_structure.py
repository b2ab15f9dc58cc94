"""The structure check finds what it is there to find, and the project itself passes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "structure.py"


def check(root: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_project_holds() -> None:
    status, output = check(ROOT)
    assert status == 0, output


BROKEN = {
    "long file": ({"tritium/ir/a.py": "x = 1\n" * 601}, "tritium/ir/a.py: 601 lines"),
    "long function": ({"tests/a.py": "def f():\n" + "    x = 1\n" * 100}, "tests/a.py:1 f: 101 lines"),
    "function-level import": (
        {"tritium/ir/a.py": "def f():\n    from ..support import b\n    return b\n"},
        "tritium/ir/a.py:1 f: imports a tritium module",
    ),
    "mutual imports": (
        {"tritium/ir/a.py": "from ..dialects import b\n", "tritium/dialects/b.py": "import tritium.ir.a\n"},
        "packages import in a cycle: dialects -> ir -> dialects",
    ),
    "a circle of three": (
        {
            "tritium/a/x.py": "from tritium import b\n",
            "tritium/b/x.py": "from ..c.x import y\n",
            "tritium/c/x.py": "from .. import a\n",
        },
        "packages import in a cycle: a -> b -> c -> a",
    ),
    "a circle through an import put off": (
        {
            "tritium/a/x.py": "from ..support.lazy import LazyModule\n_y = LazyModule('..b.y', __package__)\n",
            "tritium/b/y.py": "from ..a import x\n",
        },
        "packages import in a cycle: a -> b -> a",
    ),
    "long functions everywhere": (
        {"tritium/ir/a.py": "".join(f"def f{i}():\n" + "    x = 1\n" * 30 for i in range(10))},
        "nine functions of ten have 31 lines",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_limit_is_named(case: str, tmp_path: Path) -> None:
    files, expected = BROKEN[case]
    write(tmp_path, {"tritium/__init__.py": "", **files})
    status, output = check(tmp_path)
    assert status == 1
    assert expected in output


def test_imports_downwards_are_fine(tmp_path: Path) -> None:
    write(tmp_path, {"tritium/ir/a.py": "from ..support import b\n\n\ndef f():\n    import os\n\n    return os, b\n"})
    assert check(tmp_path)[0] == 0
