"""Run by an interpreter that has Triton: prints the names of its bindings' submodules as JSON, and where its files are."""

from __future__ import annotations

import importlib
import json
import sys
import types

import triton
from triton._C import libtriton
from triton.language.semantic import TritonSemantic

found: dict[str, list[str]] = {}


def visit(module: types.ModuleType, path: str) -> None:
    found[path] = [name for name in dir(module) if not name.startswith("_")]
    for name in found[path]:
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            visit(value, f"{path}.{name}".lstrip("."))


def own_names(module: types.ModuleType) -> list[str]:
    """The public names that a module defines, or has from other modules of Triton's."""
    names = []
    for name, value in vars(module).items():
        home = getattr(value, "__module__", "triton")
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            names += [name] if not isinstance(home, str) or home.startswith("triton") else []
    return names


visit(libtriton, "")
modules = {name: own_names(importlib.import_module(name)) for name in sys.argv[1:]}
semantic = [name for name in dir(TritonSemantic) if not name.startswith("_")]
builder = [name for name in dir(libtriton.ir.builder) if not name.startswith("_")]
print(
    json.dumps(
        {"names": found, "modules": modules, "home": triton.__path__[0], "semantic": semantic, "builder": builder}
    )
)
