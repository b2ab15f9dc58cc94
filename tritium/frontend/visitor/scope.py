"""Lookup of names that are not local to a function, and which globals a kernel may read."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ...support.lazy import LazyModule
from ...support.settings import compilation
from ..callee import BoundCallee, ConstexprFunction, SourceFunction, unwrap_callee
from ..errors import LanguageError, Note
from .builtins import BUILTINS
from .values import constexpr, dtype, is_builtin, is_value, wrap

__all__ = ["Binding", "Poisoned", "lookup"]

_difflib = LazyModule("difflib")

ALLOW_GLOBALS = "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"
_ALLOWED = (
    ModuleType,
    constexpr,
    dtype,
    SourceFunction,
    ConstexprFunction,
    BoundCallee,
    type,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
)


class Binding:
    """An assignment to a local name: `node`, and `typed`, the assignment that gave the name its present type `kind`."""

    __slots__ = ("kind", "node", "typed")

    def __init__(self, node: ast.AST, typed: ast.AST, kind: object) -> None:
        self.node = node
        self.typed = typed
        self.kind = kind


class Poisoned:
    """The value of a name that has no usable value; reading it raises `error`, a LanguageError.

    Where the error has a cause of its own, the read is a note.
    """

    __slots__ = ("error",)

    def __init__(self, message: str, hint: str | None = None, notes: Sequence[Note] = ()) -> None:
        self.error = LanguageError(message, hint, notes=notes)

    @classmethod
    def of(cls, error: LanguageError) -> Poisoned:
        """A name whose assignments are the error."""
        poisoned = cls("")
        poisoned.error = error
        return poisoned

    def read(self, name: str, node: ast.AST | None = None) -> LanguageError:
        """The error of reading the name at `node`."""
        error = self.error
        notes = error.notes
        if error.node is not None and node is not None:
            notes = [*notes, (f"{name} is read here", node)]
        return LanguageError(error.message, error.hint, error.node, notes)


def lookup(callee: SourceFunction, name: str, local: Iterable[str], any_global: bool) -> Any:
    """A name that is not local to `callee`: of an enclosing function, of the module, or a builtin that kernels have.

    `local` names are suggested for one that is not found; `any_global` allows globals that are no constexpr.
    """
    try:
        value = callee.lookup(name)
    except KeyError:
        if name in BUILTINS:
            return BUILTINS[name]
        raise _undefined(callee, name, local) from None
    value = unwrap_callee(value)
    if any_global or _readable(callee, name, value):
        return wrap(value)
    raise LanguageError(
        f"NameError: Cannot access global variable {name} from within @jit'ed function: kernels can only read"
        f" global variables that are constexpr, and this is {_describe(value)}",
        f"write `{name} = tl.constexpr(...)`, or pass it as an argument"
        f" (a tl.constexpr one if it must be known at compile time); {ALLOW_GLOBALS}=1 lifts the restriction",
    )


def _readable(callee: SourceFunction, name: str, value: Any) -> bool:
    if value is None or isinstance(value, _ALLOWED) or is_builtin(value) or is_value(value):
        return True
    if isinstance(value, tuple) and (hasattr(value, "_fields") or all(_readable(callee, name, v) for v in value)):
        return True
    if callable(value) or getattr(type(value), "__module__", "").startswith("tritium."):
        return True
    annotation = callee.fn.__globals__.get("__annotations__", {}).get(name)
    if annotation is not None and "constexpr" in str(annotation):
        return True
    return bool(compilation.allow_non_constexpr_globals)


def _describe(value: Any) -> str:
    text = repr(value)
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" + (f" ({text})" if len(text) < 40 else "")


def _undefined(callee: SourceFunction, name: str, local: Iterable[str]) -> LanguageError:
    if hasattr(builtins, name):
        return LanguageError(f"NameError: {name} is not defined", f"kernels cannot use Python's {name}")
    names = (n for n, v in callee.fn.__globals__.items() if len(n) < 4 or not isinstance(v, ModuleType))
    known = [*local, *names, *BUILTINS]
    close = _difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else None
    return LanguageError(f"NameError: {name} is not defined", hint)
