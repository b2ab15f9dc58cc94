"""Run by an interpreter that has Triton: prints its modules and their public names as JSON.

A function or class stands for its parameters, `name` or `name=` where a call may leave it out, `*name` and `**name` for
the rest, keyword-only ones after `*`; other values are null. Names are those a module defines, has from other modules of
Triton's, or that are data; what a module imports from elsewhere is none of its own. Of a module that cannot be imported
(its own imports are missing) the definitions are read.
"""

from __future__ import annotations

import ast
import enum
import importlib
import importlib.util
import inspect
import json
import pkgutil
import types
import typing

#: other languages, other hardware, and Triton's compiled parts
SKIPPED = (
    "triton._C",
    "triton.backends.amd",
    "triton.backends.nvidia",
    "triton.experimental",
    "triton.plugins",
    "triton.tools.triton_to_gluon_translator",
)
#: parameters that the compiler fills in
HIDDEN = ("_semantic", "_builder", "_generator", "_env_vars")


def public_names(module: types.ModuleType) -> dict[str, list[str] | None]:
    found = {name: value for name, value in vars(module).items() if not name.startswith("_") and is_own(value)}
    return {name: parameters(value) for name, value in found.items()}


def is_own(value: object) -> bool:
    if isinstance(value, (types.ModuleType, typing.TypeVar, typing.ParamSpec)) or value is typing.TYPE_CHECKING:
        return False
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] in ("triton", "tritium")


def parameters(value: object) -> list[str] | None:
    """The parameters of what can be called; None where they are not known."""
    fn = getattr(value, "fn", value) if type(value).__name__ in ("JITFunction", "LanguageFunction") else value
    if not callable(fn) or isinstance(fn, enum.EnumMeta):  # calls of enums are Python's own: 3.12 changed them
        return None
    try:
        found = [p for p in inspect.signature(fn).parameters.values() if p.name not in HIDDEN]
    except (TypeError, ValueError):
        return None
    shown, keyword_only = [], False
    for p in found:
        if p.kind is p.KEYWORD_ONLY and not keyword_only and "*" not in [s[:1] for s in shown]:
            shown.append("*")
        keyword_only = keyword_only or p.kind is p.KEYWORD_ONLY
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        shown.append(f"{prefix}{p.name}{'' if p.default is p.empty else '='}")
    return shown


def defined_names(name: str) -> dict[str, None]:
    found = importlib.util.find_spec(name)
    with open(found.origin, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    names = [n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    names += [t.id for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    return {n: None for n in names if not n.startswith("_")}


def names_of(name: str) -> dict[str, list[str] | None]:
    try:
        return public_names(importlib.import_module(name))
    except ImportError:
        return dict(defined_names(name))


if __name__ == "__main__":
    triton = importlib.import_module("triton")
    modules = ["triton", *(found.name for found in pkgutil.walk_packages(triton.__path__, "triton."))]
    print(json.dumps({name: names_of(name) for name in modules if not name.startswith(SKIPPED)}))
