"""The table of tests/reliability says what is there: a row a file, with the issues that the file's own words name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "reliability"
ROW = re.compile(r"^\| `(test_\w+)` \| .*\((.*)\) \|$", re.M)


def issues(text: str) -> set[str]:
    return set(re.findall(r"#(\d+)", text))


def test_every_way_to_fail_has_a_file_with_tests_that_names_its_issues() -> None:
    rows = dict(ROW.findall((FOLDER / "README.md").read_text()))
    assert set(rows) == {path.stem for path in FOLDER.glob("test_*.py")}
    for name, about in rows.items():
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        told = issues(ast.get_docstring(tree) or "")
        assert told == issues(about), f"{name} is about {told}, and its row says {about}"
        tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        assert tests, f"{name} tests nothing"
