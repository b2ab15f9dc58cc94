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


@pytest.mark.parametrize("file", ["tools/cli.py", "tools/cache_cli.py"])
def test_every_option_has_a_help_text_and_arguments_are_named_in_capitals(file: str) -> None:
    calls = [n for n in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(n, ast.Call)]
    for call in calls:
        kind = getattr(call.func, "attr", "")
        if kind in ("Option", "Argument"):
            given = {k.arg: k.value for k in call.keywords}
            assert "help" in given, ast.unparse(call)
            if kind == "Argument":
                assert ast.literal_eval(given["metavar"]).isupper(), ast.unparse(call)
