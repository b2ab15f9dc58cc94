"""File names of the interpreter's frames, for tools that look for the user's line on the stack.

Sanitizers and tracers for Triton take the innermost frame whose file is in none of Triton's folders (`triton/runtime/`,
`triton/language/`). While `import triton` means this package, the code between a kernel and the methods that such tools
replace is therefore named by a path through a folder `triton/runtime`, which leads to the same file.
"""

from __future__ import annotations

import functools
import os
import sys
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from ..interpreter.rewriting import names as rewriting

__all__ = ["name_frames"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_THROUGH = os.path.join(_PACKAGE, "dropin", "children", "triton", "runtime", *[os.pardir] * 4)
_FOLDERS = ("dialects", "frontend", "interpreter", "ir", "language", "support")
_FILES = tuple(os.path.join("runtime", name) for name in ("interpreter.py", "interpreter_rewriting.py", "jit.py"))
_named: set[str] = set()


def name_frames() -> None:
    """Name the code of all modules that are imported by now; nothing unless this package answers for `triton`."""
    triton = sys.modules.get("triton")
    if triton is None or not str(getattr(triton, "__file__", "")).startswith(_PACKAGE):
        return
    rewriting.frame_file = _shown  # type: ignore[method-assign]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name in _named or _shown(file) == file:
            continue
        _named.add(name)
        for value in list(vars(module).values()):
            _name(value)
            if isinstance(value, type) and value.__module__ == name:
                for member in list(vars(value).values()):
                    _name(member)


@functools.cache
def _shown(file: str) -> str:
    """The name of a file in frames."""
    if not file.startswith(_PACKAGE + os.sep):
        return file
    inner = os.path.relpath(file, _PACKAGE)
    return os.path.join(_THROUGH, inner) if inner.split(os.sep)[0] in _FOLDERS or inner in _FILES else file


def _name(value: Any) -> None:
    """Rename the code of a function, of those it wraps and closes over, of a property, a method or a table."""
    waiting = [value]
    if isinstance(value, (property, staticmethod, classmethod, functools.cached_property)):
        waiting = [getattr(value, name, None) for name in ("fget", "__func__", "func")]
    while waiting:
        function = waiting.pop()
        if function.__class__ is dict:
            waiting += [v for v in function.values() if isinstance(v, FunctionType)]
        if not isinstance(function, FunctionType):
            continue
        code = function.__code__
        path = _shown(code.co_filename)
        if path == code.co_filename:
            continue
        function.__code__ = _renamed(code, path)
        waiting.append(getattr(function, "__wrapped__", None))
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # a variable that has no value yet
                waiting.append(cell.cell_contents)


def _renamed(code: CodeType, path: str) -> CodeType:
    constants = tuple(_renamed(c, path) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=path, co_consts=constants)
