"""A command line in MLIR's manner, read into a dataclass.

Names of many letters stand behind one dash or two; a value stands behind `=` or is the next argument; options and file
names come in any order. Each field of the dataclass is an option, described by `option(...)`. What is neither an option
nor a file name is offered to the caller: `-canonicalize` names a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..support import TritiumError, dataclasses
from ..support.suggestions import did_you_mean

__all__ = ["Described", "UsageError", "described", "option", "read_arguments"]

T = TypeVar("T")

_BOOLEANS = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


class UsageError(TritiumError):
    """A command line that means nothing."""


@dataclasses.dataclass(frozen=True)
class Described:
    """What is known of an option: `kind` is "flag", "value", or "list" (values of several add up).

    `bare` is the value of an option of another kind than "flag" that stands alone. `shown` is False for spellings kept
    for others' command lines.
    """

    name: str
    help: str
    kind: str
    names: tuple[str, ...]
    value: str
    bare: Any
    group: str

    def spelling(self) -> str:
        """How help shows it."""
        dashes = "-" if len(self.name) == 1 else "--"
        value = f"[={self.value}]" if self.bare is not None else f"={self.value}"
        return dashes + self.name + (value if self.kind != "flag" else "")


def option(
    help: str, *names: str, kind: str = "flag", value: str = "", bare: Any = None, group: str = "", default: Any = None
) -> Any:
    """A field that is an option: the field's name with dashes, and `names`."""
    if default is None and kind == "flag":
        default = False
    told = {"help": help, "kind": kind, "names": names, "value": value, "bare": bare, "group": group}
    if kind == "list":
        return dataclasses.field(default_factory=list, metadata=told)
    return dataclasses.field(default=default, metadata=told)


def described(options: Any) -> list[Described]:
    """The options of a dataclass, in order."""
    return [Described(f.name.replace("_", "-"), **f.metadata) for f in dataclasses.fields(options) if f.metadata]


def read_arguments(
    options: Callable[[], T],
    arguments: Sequence[str],
    other: Callable[[str], bool],
    known: Callable[[], list[str]] = list,
) -> tuple[T, list[str], list[tuple[str, str | None]]]:
    """The options that `arguments` say, the file names among them, and all names with their values as they came.

    `other(name)` says whether a name that is no option means something all the same; `known()` are the names that do.
    `UsageError` for everything else.
    """
    made = options()
    table = {name: d for d in described(made) for name in (d.name, *d.names)}
    files: list[str] = []
    came: list[tuple[str, str | None]] = []
    rest = list(arguments)
    rest.reverse()
    while rest:
        argument = rest.pop()
        if argument == "--":
            files.extend(reversed(rest))
            break
        if argument == "-" or not argument.startswith("-"):
            files.append(argument)
            continue
        name, equals, text = argument.lstrip("-").partition("=")
        value = text if equals else None
        found = table.get(name)
        if found is not None:
            came.append((found.name, _assign(made, found, name, value, rest)))
        elif other(name):
            came.append((name, value))
        else:
            hint = did_you_mean(name, [*table, *known()])
            raise UsageError(f"there is no option '{argument.partition('=')[0]}'" + (f"; {hint}" if hint else ""))
    return made, files, came


def _assign(options: Any, d: Described, name: str, value: str | None, rest: list[str]) -> str | None:
    field = d.name.replace("-", "_")
    if d.kind == "flag":
        if value is not None and value.lower() not in _BOOLEANS:
            raise UsageError(f"option '--{name}' is true or false, not '{value}'")
        setattr(options, field, True if value is None else _BOOLEANS[value.lower()])
        return value
    if value is None:
        if d.bare is None and not rest:
            raise UsageError(f"option '--{name}' needs a value: {d.spelling()}")
        value = d.bare if d.bare is not None else rest.pop()
    if d.kind == "list":
        getattr(options, field).append(value)
    else:
        setattr(options, field, value)
    return value
