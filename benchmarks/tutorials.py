"""Triton's tutorials as modules for either compiler: their functions, classes and settings, without what they run."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType

__all__ = ["tutorial"]

_PACKAGE = re.compile(r"^(\s*)(import|from) triton\b(?!_)", re.M)


def tutorial(folder: Path, number: str, theirs: bool) -> ModuleType:
    """The module of `folder`'s tutorial `number`, such as "06"; for our compiler it imports `tritium` as `triton`."""
    (path,) = [p for p in sorted(folder.glob(f"{number}-*.py")) if "-cpu" not in p.name]
    text = "\n".join(_kept(path.read_text()))
    if not theirs:
        text = re.sub(r"^(\s*)import triton$", r"\1import tritium as triton", text, flags=re.M)
        text = _PACKAGE.sub(r"\1\2 tritium", text)
    copy = Path(tempfile.mkdtemp()) / f"tutorial_{number}_{'theirs' if theirs else 'ours'}.py"
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[copy.stem] = module
    spec.loader.exec_module(module)
    return module


def _kept(text: str) -> list[str]:
    """The lines of imports, definitions, settings and branches around them; calls for their own sake are left out, and
    so is what measures or tests (decorated with a report, or asks pytest)."""
    lines = text.split("\n")
    out: list[str] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Expr) or (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
            continue
        first = node.lineno
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            decorators = " ".join(ast.unparse(d) for d in node.decorator_list)
            if "perf_report" in decorators or "pytest" in decorators or node.name.startswith(("test_", "bench")):
                continue
            first = min([d.lineno for d in node.decorator_list] + [first])
        out += [""] * (first - 1 - len(out))
        out += lines[first - 1 : node.end_lineno]
    return out
