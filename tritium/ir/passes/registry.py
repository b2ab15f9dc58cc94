"""Passes by name.

`PASSES` knows the passes of the packages that were added to it: a pass is in a file of its own, `cse` in `cse.py`,
and is imported when it is asked for. A table of spellings says what MLIR and Triton call them.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...support import InternalError, TritiumError
from ...support.dataclasses import dataclass
from ...support.lazy import LazyModule
from ...support.suggestions import did_you_mean
from .definition import Pass, PassFunction, Row, level_of

__all__ = ["PASSES", "NamedPipeline", "PassInfo", "PassRegistry", "Spelling", "UnknownPass"]


_options = LazyModule(".options", __package__)
_pkgutil = LazyModule("pkgutil")


class UnknownPass(TritiumError):
    """There is no pass of that name; `hint` says what may have been meant."""

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__(f"there is no pass '{name}'" + (f"; {hint}" if hint else ""))
        self.message = f"there is no pass '{name}'"
        self.hint = hint


@dataclass(frozen=True)
class Spelling:
    """Other names of a pass: the class in dumps of MLIR and Triton, and their names on command lines.

    `former` are names of earlier releases, accepted for one more.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    former: tuple[str, ...] = ()


@dataclass(frozen=True)
class PassInfo:
    """All that is known of a pass before it runs."""

    name: str
    fn: PassFunction
    title: str
    aliases: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """What it runs on: "module", "function" or "any"."""
        return level_of(self.fn)

    @property
    def options(self) -> type | None:
        """The dataclass of its options."""
        return getattr(self.fn, "options_type", None)

    @property
    def statistics(self) -> dict[str, str]:
        """What it counts."""
        return getattr(self.fn, "statistics", {})

    @property
    def summary(self) -> str:
        """One line on what it does: `name: …` at the head of its file, or the function's own."""
        doc = getattr(sys.modules.get(self.fn.__module__), "__doc__", None) or ""
        name, colon, text = doc.strip().partition(": ")
        if not colon or name not in (self.name, *self.aliases):
            text = (self.fn.__doc__ or "").strip()
        line = " ".join(text.split("\n\n")[0].split())
        line = re.sub(r" \(see [^)]*\)", "", line)
        return line[:1].upper() + line[1:].rstrip(":")

    @property
    def option_names(self) -> list[str]:
        """The options as text spells them."""
        return list(_options.option_fields(self.options))

    def row(self, pairs: Iterable[tuple[str, str | None]] = (), reason: str = "", written: str = "") -> Pass:
        """The pass as a row of a pipeline, with the options of `pairs`; `OptionProblem` where they cannot be."""
        return Pass(self.name, self.fn, reason, _options.parse_options(self.options, pairs), written)


@dataclass(frozen=True)
class NamedPipeline:
    """A pipeline that another's text may name; `rows` makes it."""

    name: str
    summary: str
    rows: Callable[[], Sequence[Row]]


class PassRegistry:
    """Passes by name and alias, imported when asked for; and pipelines by name."""

    def __init__(self) -> None:
        self._infos: dict[str, PassInfo] = {}
        self._packages: list[str] = []
        self._scanned = 0  # so many packages are in `_files`
        self._files: dict[str, str] = {}  # name of a pass as its file says -> module
        self._spellings: dict[str, Spelling] = {}
        self._aliases: dict[str, str] = {}
        self.pipelines: dict[str, NamedPipeline] = {}

    def add_pipeline(self, name: str, summary: str, rows: Callable[[], Sequence[Row]]) -> None:
        """Register a pipeline by `name`, which a text may use for its passes."""
        self.pipelines[name] = NamedPipeline(name, summary, rows)

    def add_package(self, package: str, spellings: Iterable[Spelling] = ()) -> None:
        """Know the passes in the files of `package`, under the names and `spellings` of others too."""
        if package in self._packages:
            return
        self._packages.append(package)
        self.add_spellings(spellings)

    def add_spellings(self, spellings: Iterable[Spelling]) -> None:
        """Accept other names for passes."""
        for spelling in spellings:
            self._spellings[spelling.name] = spelling
            for alias in (*spelling.aliases, *spelling.former):
                self._aliases[alias] = spelling.name

    def add_file(self, name: str, module: str) -> None:
        """Register that the pass `name` is in a module, which is imported when the pass is asked for."""
        self._files[name] = module

    def add(self, fn: PassFunction) -> PassInfo:
        """Know the pass `fn`; it may take the place of one from the same file, not of another."""
        name = getattr(fn, "pass_name", "")
        if not name:
            raise InternalError(f"{fn.__name__} is no pass: it has no @pass_on")
        known = self._infos.get(name)
        if known is not None and known.fn is fn:
            return known
        owner = known.fn.__module__ if known is not None else self._scan().get(name, fn.__module__)
        if owner != fn.__module__:
            raise InternalError(f"there is a pass '{name}' already, in {owner}")
        spelling = self._spellings.get(name)
        aliases, former = (spelling.aliases, spelling.former) if spelling is not None else ((), ())
        info = self._infos[name] = PassInfo(name, fn, self.title(name), aliases, former)
        return info

    def title(self, name: str) -> str:
        """How dumps call the pass: MLIR's name for it where it has one."""
        spelling = self._spellings.get(name)
        return spelling.title if spelling is not None else _title(name)

    def add_module(self, module: Any) -> list[PassInfo]:
        """Register all passes of a Python module."""
        return [
            self.add(value)
            for value in vars(module).values()
            if hasattr(value, "pass_name") and getattr(value, "__module__", "") == module.__name__
        ]

    def _scan(self) -> dict[str, str]:
        for package in self._packages[self._scanned :]:
            for info in _pkgutil.iter_modules(importlib.import_module(package).__path__):
                if not info.ispkg:
                    self._files.setdefault(info.name.replace("_", "-"), f"{package}.{info.name}")
        self._scanned = len(self._packages)
        return self._files

    def find(self, name: str) -> PassInfo | None:
        """The pass of that name or alias."""
        name = self._aliases.get(name, name)
        if name not in self._infos:
            module = self._scan().get(name)
            if module is not None:
                self.add_module(importlib.import_module(module))
        return self._infos.get(name)

    def canonical(self, name: str) -> str:
        """Our name for a pass that may be called by an alias."""
        return self._aliases.get(name, name)

    def lookup(self, name: str) -> PassInfo:
        """The pass of that name or alias; `UnknownPass`, which may say what was meant."""
        found = self.find(name)
        if found is None:
            if not self._packages:
                raise UnknownPass(name, "the compiler's own passes come with `import tritium.transforms`")
            raise UnknownPass(name, did_you_mean(name, self.known_names()))
        return found

    def all(self) -> list[PassInfo]:
        """All passes, by name."""
        for module in list(self._scan().values()):
            self.add_module(importlib.import_module(module))
        return sorted(self._infos.values(), key=lambda info: info.name)

    def known_names(self) -> list[str]:
        """All names that a pipeline's text may have."""
        return [*self.spellings(), *self.pipelines]

    def spellings(self) -> list[str]:
        """All names of passes, with aliases and former names."""
        return [name for info in self.all() for name in (info.name, *info.aliases, *info.former)]


def _title(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("-")) + "Pass"


PASSES = PassRegistry()
"""The passes that pipelines written as text may name."""
