"""Run by an interpreter that has Triton: prints its modules and their public names as JSON.

Names are those a module defines, has from other modules of Triton's, or that are data; what a module imports from
elsewhere is none of its own. Of a module that cannot be imported (its own imports are missing) the definitions are read.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import pkgutil
import types
import typing

import triton

#: other languages, other hardware, and Triton's compiled parts
SKIPPED = (
    "triton._C",
    "triton.backends.amd",
    "triton.backends.nvidia",
    "triton.experimental",
    "triton.language.extra.hip",
    "triton.plugins",
    "triton.tools.triton_to_gluon_translator",
)


def public_names(module: types.ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if not name.startswith("_") and is_own(value)]


def is_own(value: object) -> bool:
    if isinstance(value, (types.ModuleType, typing.TypeVar, typing.ParamSpec)) or value is typing.TYPE_CHECKING:
        return False
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] == "triton"


def defined_names(name: str) -> list[str]:
    found = importlib.util.find_spec(name)
    with open(found.origin, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    names = [n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    names += [t.id for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    return [n for n in names if not n.startswith("_")]


def names_of(name: str) -> list[str]:
    try:
        return public_names(importlib.import_module(name))
    except ImportError:
        return defined_names(name)


modules = ["triton", *(found.name for found in pkgutil.walk_packages(triton.__path__, "triton."))]
print(json.dumps({name: names_of(name) for name in modules if not name.startswith(SKIPPED)}))
