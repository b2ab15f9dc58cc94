"""Errors about one argument of a launch, shown at its parameter in the kernel's source."""

from __future__ import annotations

from ..frontend.callee import SourceFunction
from ..support import TritiumError
from ..support.diagnostics import Diagnostic
from .errors import ArgumentError

__all__ = ["at_parameter"]

_HINT = "\nhint: "


def at_parameter(kernel: SourceFunction, name: str, error: ArgumentError) -> ArgumentError:
    """`error`, of the same class, with the kernel's name, and the line of its parameter if the source is known."""
    message, _, hint = str(error).partition(_HINT)
    message = f"{kernel.__name__}: {message}"  # type: ignore[attr-defined]
    place = _place(kernel, name)
    if place is None:
        return type(error)(message + (_HINT + hint if hint else ""))
    line, column = place
    source = kernel.source
    shown = Diagnostic(message, source.file, line, column, source.lines, hint, length=len(name), context=0)
    return type(error)(shown.render())


def _place(kernel: SourceFunction, name: str) -> tuple[int, int] | None:
    """Line and column (from 1) of a parameter; None if the source cannot be read."""
    try:
        parameters = kernel.parse().args
    except TritiumError:
        return None
    rest = [parameters.vararg] if parameters.vararg else []
    for found in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs, *rest):
        if found.arg == name:
            return found.lineno, found.col_offset + 1
    return None
