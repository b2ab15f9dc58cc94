"""The failures that have a name: classes of `known.toml`, each with one sentence that says why."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10; pytest brings it there
    import tomli as tomllib

__all__ = ["KNOWN", "Class", "classify", "load"]

KNOWN = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class Class:
    """A class of failures: whose test id matches one of `tests` (as file names are matched) and whose reason contains
    `says`, a regular expression; `devices` where it can occur; `golden` which text is compared with Triton 3.9's
    (see `golden`)."""

    name: str
    why: str
    tests: tuple[str, ...]
    says: str = ""
    devices: tuple[str, ...] = ("cpu", "cuda", "emulated:90", "emulated:gfx942", "emulated:gfx1100")
    golden: str = ""

    def explains(self, test: str, reason: str, device: str) -> bool:
        plain = test.replace("[", "{").replace(
            "]", "}"
        )  # brackets are a test's parameters here, not sets of characters
        patterns = (pattern.replace("[", "{").replace("]", "}") for pattern in self.tests)
        return (
            device in self.devices
            and any(fnmatch.fnmatchcase(plain, pattern) for pattern in patterns)
            and re.search(self.says, reason) is not None
        )


def load(path: Path = KNOWN) -> list[Class]:
    """The classes of a file, in its order; KeyError or TypeError for a table with a field too few or too many."""
    tables: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Class(name, **{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()})
        for name, fields in tables.items()
    ]


def classify(classes: list[Class], test: str, reason: str, device: str) -> str:
    """The first class that explains a failure, "" if none does."""
    return next((known.name for known in classes if known.explains(test, reason, device)), "")
