"""`print` in kernels: Triton's form, which is `tl.device_print`, and Python's, with run-time values.

Triton's form is a string followed by values. All else is Python's: f-strings of run-time values, `sep` and `end`,
strings between values. A kernel for a CPU then prints what Python prints, by a template whose fields are filled at run
time; on GPUs the values are printed after a string that names them.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LanguageError
from ..language import core
from .builtins import items_of
from .values import constexpr, has_handles, tensor, type_text, unwrap, unwrap_deep

if TYPE_CHECKING:
    from .core import Visitor

__all__ = ["is_print", "print_call"]

_CONVERSIONS = {-1: "", 115: "!s", 114: "!r", 97: "!a"}


class _Field(NamedTuple):
    """A run-time value in a text: its format, and its expression in the source."""

    value: tensor
    form: str
    name: str


class _Text(NamedTuple):
    """The text of one argument of `print`."""

    parts: list[str | _Field]


def is_print(fn: Any) -> bool:
    """Is this Python's `print`?"""
    return unwrap(fn) is builtins.print


def print_call(visitor: Visitor, node: ast.Call) -> None:
    """Compile `print(…)`."""
    given = [one for arg in node.args for one in _arguments(visitor, arg)]
    options = {str(k.arg): visitor.visit(k.value) for k in node.keywords}
    visitor.node = node
    if _is_device_print([value for value, _ in given], options):
        core.device_print(*(value for value, _ in given), **options, _semantic=visitor.semantic)
        return
    sep, end = _options(options)
    parts: list[str | _Field] = []
    for i, (value, name) in enumerate(given):
        parts += [sep] if i else []
        parts += value.parts if isinstance(value, _Text) else [_part(value, name)]
    _emit(visitor, parts, end)


def _arguments(visitor: Visitor, arg: ast.expr) -> list[tuple[Any, str]]:
    """The values of one argument, each with its expression in the source."""
    name = ast.unparse(arg)
    if isinstance(arg, ast.Starred):
        return [(value, name) for value in items_of(visitor.visit(arg.value))]
    return [(_formatted(visitor, arg) if isinstance(arg, ast.JoinedStr) else visitor.visit(arg), name)]


def _formatted(visitor: Visitor, node: ast.JoinedStr) -> Any:
    """An f-string: a constant if it holds no run-time value."""
    parts: list[str | _Field] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = visitor.visit(part.value)
        spec = "" if part.format_spec is None else str(unwrap(visitor.visit(part.format_spec)))
        conversion = _CONVERSIONS[part.conversion]
        if value.__class__ is tensor:
            form = f"{conversion}:{spec}" if spec else conversion
            _check(value, conversion, spec)
            parts.append(_Field(value, form, f"{{{ast.unparse(part.value)}}}"))
        else:
            parts.append(f"{{0{conversion}:{spec}}}".format(_constant(value)))
    return _Text(parts) if any(isinstance(p, _Field) for p in parts) else constexpr("".join(map(str, parts)))


def _check(value: tensor, conversion: str, spec: str) -> None:
    """Refuse a format that the value does not have, before the kernel runs."""
    if not spec:
        return
    if value.type.is_block() and not conversion:
        raise LanguageError(
            f"TypeError: a block has no format {spec!r}", "print it without one, or its elements one by one"
        )
    try:
        format("" if conversion else 1.0 if value.dtype.is_floating() else 1, spec)
    except ValueError as e:
        raise LanguageError(f"ValueError: {e}: {spec!r} for a value of type {value.type}") from None


def _constant(value: Any) -> Any:
    if has_handles(value):
        raise LanguageError(
            f"TypeError: a value of type {type_text(value)} cannot be printed", "print its elements one by one"
        )
    return unwrap_deep(value)


def _is_device_print(args: list[Any], options: dict[str, Any]) -> bool:
    """Is it Triton's form: a string, then values?"""
    first = unwrap(args[0]) if args else None
    if any(name not in ("sep", "end", "flush") for name in options):
        return True  # which knows the other options, or refuses them
    if options or not isinstance(first, str):
        return False
    return not any(isinstance(unwrap(a), (str, _Text)) for a in args[1:])


def _options(options: dict[str, Any]) -> tuple[str, str]:
    texts = {"sep": " ", "end": "\n"}
    for name, given in options.items():
        value = unwrap(given)
        if name == "flush":
            continue
        if value is not None and not isinstance(value, str):
            raise LanguageError(f"TypeError: {name} must be None or a string known at compile time")
        texts[name] = texts[name] if value is None else value
    return texts["sep"], texts["end"]


def _part(value: Any, name: str) -> str | _Field:
    return _Field(value, "", f"{{{name}}}") if value.__class__ is tensor else str(_constant(value))


def _emit(visitor: Visitor, parts: list[str | _Field], end: str) -> None:
    fields = [p for p in parts if isinstance(p, _Field)]
    semantic = visitor.semantic
    if getattr(semantic.options, "backend_name", "cpu") == "cpu":
        numbers = iter(range(len(fields)))
        template = "".join(
            f"{{{next(numbers)}{p.form}}}" if isinstance(p, _Field) else p.replace("{", "{{").replace("}", "}}")
            for p in [*parts, end]
        )
        semantic.print_text(template, [p.value for p in fields])
        return
    if end != "\n":
        raise LanguageError("ValueError: print() in a kernel for a GPU always ends the line", "omit `end`")
    text = "".join(p.name if isinstance(p, _Field) else p for p in parts)
    core.device_print(constexpr(text), *(p.value for p in fields), _semantic=semantic)
