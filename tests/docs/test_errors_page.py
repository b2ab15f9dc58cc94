"""The page of errors names every kind of error that is raised to users."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import tritium._filecheck
import tritium._utils  # noqa: F401  (errors of names that scripts take from there)

import tritium
from tritium.support import TritiumError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"

#: raised inside, and shown as another one; or a part of another class's making
INTERNAL = {
    "LanguageError",
    "IncompatibleTypes",
    "OperandError",
    "UnsupportedUse",
    "FieldError",
    "FrozenError",
    "OptionProblem",
    "OtherVersion",
}
ROOMS = (
    "support",
    "frontend",
    "runtime",
    "compiler",
    "backends",
    "ir",
    "transforms",
    "interpreter",
    "emulator",
    "tools",
    "profiler",
    "_C",
)


def kinds() -> set[str]:
    """The public subclasses of TritiumError in all modules that can be imported here."""
    for room in ROOMS:
        package = importlib.import_module(f"tritium.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                try:
                    importlib.import_module(found.name)
                except ImportError:  # of a library that is not installed
                    continue
    waiting, seen = [TritiumError], set()
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind not in seen:
                seen.add(kind)
                waiting.append(kind)
    return {k.__name__ for k in seen if k.__module__.startswith("tritium.") and not k.__name__.startswith("_")}


def test_every_kind_of_error_is_on_the_page() -> None:
    text = PAGE.read_text()
    assert tritium.TritonError is TritiumError
    missing = {name for name in kinds() - INTERNAL if not re.search(rf"\b{name}\b", text)}
    assert missing == set(), "docs/errors.md: an example, or a row of its last table"
