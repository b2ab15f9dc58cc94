"""The file of evidence, `shown.json`: {name: {target: test}}, a test as `tests/file.py::function`.

Targets are `cpu`, `interpreter`, `emulated` and `hardware` (NVIDIA's, by the emulator or by a GPU), `compiled` (to
machine code for NVIDIA, not run), `gfx942` and `gfx1100` (AMD's, by the emulator), and `host`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["Evidence", "ROOT", "exists", "functions_of", "merge", "read", "write"]

Evidence = dict[str, dict[str, str]]
ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).parent / "shown.json"


def read() -> Evidence:
    """What is recorded."""
    found: Evidence = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def write(evidence: Evidence) -> None:
    """Record it."""
    FILE.write_text(json.dumps(evidence, indent=0, sort_keys=True) + "\n")


@cache
def functions_of(file: str) -> frozenset[str]:
    """The tests of a file, with those that it takes from another one by `import *`, without those that it deletes."""
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests"):
            theirs = functions_of(node.module.replace(".", "/") + ".py")
            for alias in node.names:
                found |= theirs if alias.name == "*" else {alias.asname or alias.name} & theirs
        elif isinstance(node, ast.Delete):
            found -= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def exists(test: str) -> bool:
    """Is there such a test?"""
    file, _, function = test.partition("::")
    return function in functions_of(file)


def merge(old: Evidence, recorded: Mapping[str, Mapping[str, Mapping[str, int]]], names: set[str]) -> Evidence:
    """`old` with what was recorded: the test that is most about a name. What is not seen stays if its test does."""
    merged: Evidence = {}
    for name in sorted(names):
        kept = {target: test for target, test in old.get(name, {}).items() if exists(test)}
        for target, tests in recorded.get(name, {}).items():
            kept[target] = min(tests, key=lambda test: _distance(name, test, tests[test]))
        if kept:
            merged[name] = kept
    return merged


def _distance(name: str, test: str, shows: int) -> tuple[int, int, str]:
    """How far a test is from being about a name: tests called after it first, then those that show little else."""
    words = test.partition("::")[2].split("_")
    wanted = name.rpartition(".")[2].lower().split("_")
    named = any(words[i : i + len(wanted)] == wanted for i in range(len(words)))
    return (0 if named else 1, shows, test)
