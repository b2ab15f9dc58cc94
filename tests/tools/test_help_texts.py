"""Help texts of the command lines: one style for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tritium

ROOT = Path(tritium.__file__).parent
FILES = ["tools/cli.py", "tools/cache_cli.py", "tools/build_extern.py", "tools/opt_options.py", "tools/reduce.py",
         "profiler/proton.py", "profiler/viewer.py"]  # fmt: skip


def helps(tree: ast.AST) -> Iterator[str]:
    """The help of every option and argument; the summaries of whole commands are sentences."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if name in ("Typer", "ArgumentParser"):
            continue
        texts = [k.value for k in call.keywords if k.arg == "help"] + (call.args[:1] if name == "option" else [])
        yield from (t.value for t in texts if isinstance(t, ast.Constant) and isinstance(t.value, str))


@pytest.mark.parametrize("file", FILES)
def test_help_of_options_begins_with_a_capital_and_ends_without_a_period(file: str) -> None:
    texts = list(helps(ast.parse((ROOT / file).read_text())))
    assert texts
    assert [t for t in texts if not t[0].isupper() or t.rstrip().endswith(".")] == []
