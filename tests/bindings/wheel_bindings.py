"""Run by an interpreter that has Triton: prints the names of its bindings' submodules as JSON, and where its files are."""

from __future__ import annotations

import json
import types

import triton
from triton._C import libtriton

found: dict[str, list[str]] = {}


def visit(module: types.ModuleType, path: str) -> None:
    found[path] = [name for name in dir(module) if not name.startswith("_")]
    for name in found[path]:
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            visit(value, f"{path}.{name}".lstrip("."))


visit(libtriton, "")
print(json.dumps({"names": found, "home": triton.__path__[0]}))
