"""Options of a pass: a frozen dataclass in Python, `{max-iterations=3 top-down=false}` in a pipeline's text.

A field `max_iterations: int = 10` is the option `max-iterations`, also read as `max_iterations`. Fields are bool, int,
float, str, an enumeration of strings, or a tuple of one of these, whose elements stand between commas, in braces or
not. Each has a default. The class may say in `SAME: ClassVar[dict[str, str]]` which options of MLIR's pass of that name
are read and mean nothing here, and why.

>>> @dataclasses.dataclass(frozen=True)
... class Options:
...     max_iterations: int = 10
...     top_down: bool = True
>>> parse_options(Options, [("max-iterations", "3"), ("top-down", "false")])
Options(max_iterations=3, top_down=False)
>>> options_text(Options(max_iterations=3))
'{max-iterations=3}'
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any, get_args, get_origin, get_type_hints

from ...support import dataclasses
from ...support.suggestions import did_you_mean

__all__ = ["OptionProblem", "option_fields", "options_text", "parse_options"]

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class OptionProblem(ValueError):
    """An option that does not exist, or a value it cannot have; `key` says which, `hint` what would do."""

    def __init__(self, key: str, message: str, hint: str = "", *, at_value: bool = False) -> None:
        super().__init__(message)
        self.key = key
        self.hint = hint
        self.at_value = at_value


def option_fields(options: type | None) -> dict[str, tuple[Any, Any]]:
    """The options of a class by their spelling in text: the field and its type."""
    if options is None:
        return {}
    types = get_type_hints(options)
    return {f.name.replace("_", "-"): (f, types[f.name]) for f in dataclasses.fields(options)}


def parse_options(options: type | None, pairs: Iterable[tuple[str, str | None]]) -> Any:
    """The options that pairs of key and value say; a key alone (None) is true. `OptionProblem` if they cannot be."""
    fields = option_fields(options)
    same = getattr(options, "SAME", {})
    values: dict[str, Any] = {}
    for written, text in pairs:
        key = written if written in fields or written in same else written.replace("_", "-")
        if key in same and key not in fields:
            continue
        if key not in fields:
            hint = did_you_mean(key, fields) or (f"there are {', '.join(fields)}" if fields else "it has no options")
            raise OptionProblem(written, f"there is no option '{written}'", hint)
        field, ty = fields[key]
        values[field.name] = _value(ty, written, text)
    return None if options is None else options(**values)


def _value(ty: Any, key: str, text: str | None) -> Any:
    if text is None:
        if ty is bool:
            return True
        raise OptionProblem(key, f"option '{key}' needs a value: {key}={_kind(ty)}")
    if get_origin(ty) is tuple:
        element = get_args(ty)[0]
        text = text[1:-1] if text[:1] == "{" and text[-1:] == "}" else text
        return tuple(_scalar(element, key, part) for part in text.split(",") if part)
    return _scalar(ty, key, text)


def _scalar(ty: Any, key: str, text: str) -> Any:
    try:
        return _READERS[ty](text) if ty in _READERS else ty(text)
    except (ValueError, KeyError):
        hint = did_you_mean(text, [m.value for m in ty]) if _is_enumeration(ty) else ""
        raise OptionProblem(key, f"option '{key}' is {_kind(ty)}, not '{text}'", hint, at_value=True) from None


_READERS: dict[Any, Callable[[str], Any]] = {bool: lambda text: _BOOLEANS[text.lower()], int: lambda text: int(text, 0)}


def _is_enumeration(ty: Any) -> bool:
    return isinstance(ty, type) and issubclass(ty, enum.Enum)


def _kind(ty: Any) -> str:
    if _is_enumeration(ty):
        return " or ".join(m.value for m in ty)
    if get_origin(ty) is tuple:
        return f"a list of {_kind(get_args(ty)[0])}"
    return {bool: "true or false", int: "an integer", float: "a number"}.get(ty, "a word")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    return str(value)


def options_text(options: Any) -> str:
    """`{key=value …}` with the options that differ from their defaults; nothing if none does."""
    if options is None:
        return ""
    if not dataclasses.is_dataclass(options):
        return f"{{{options}}}"
    made: Any = type(options)
    default = made() if not _required(options) else None
    told = [
        f"{f.name.replace('_', '-')}={_text(getattr(options, f.name))}"
        for f in dataclasses.fields(options)
        if default is None or getattr(options, f.name) != getattr(default, f.name)
    ]
    return f"{{{' '.join(told)}}}" if told else ""


def _required(options: Any) -> bool:
    missing = dataclasses.MISSING
    return any(f.default is missing and f.default_factory is missing for f in dataclasses.fields(options))
