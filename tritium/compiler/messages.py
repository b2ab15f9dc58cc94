"""Messages between a process and its compiler workers.

A message is its length (8 bytes, little-endian) and an `Entry`, as in the cache: a job is the text of a kernel's first
stage with everything else its compile depends on; an answer has the later stages, or an error. Errors are restored from
class, text, and those attributes that JSON can represent. Nothing is pickled.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..support import TritiumError, settings
from .entry import Entry
from .kernel import frozen

__all__ = ["describe_error", "error_of", "options_of", "receive", "send", "settings_as", "stated_settings"]

_KEY = "message"  # an entry contains its key
_ROOT = __name__.partition(".")[0]
_PLAIN = (str, int, float, bool, type(None))


def send(pipe: BinaryIO, entry: Entry) -> None:
    """Write a message; OSError if the other end is closed."""
    data = entry.to_bytes(_KEY)
    pipe.write(len(data).to_bytes(8, "little"))
    pipe.write(data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Entry | None:
    """The next message; None when the other end is closed, also in the middle of a message."""
    head = _exactly(pipe, 8)
    data = _exactly(pipe, int.from_bytes(head, "little")) if head else b""
    return Entry.from_bytes(data, _KEY) if data else None


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    """Exactly `size` bytes; none if the stream ends before."""
    parts = []
    while size:
        part = pipe.read(size)
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def options_of(stated: dict[str, Any]) -> dict[str, Any]:
    """Options as they were before JSON made lists of tuples."""
    return {name: frozen(value) for name, value in stated.items()}


# ---- settings -------------------------------------------------------------------------------------------------------


def _variables() -> list[str]:
    return [v for group in settings.GROUPS.values() for s in group.settings().values() for v in s.env]


def stated_settings() -> dict[str, Any]:
    """The settings of this process that can be sent to another: assigned plain values, and environment variables."""
    assigned = {
        name: {n: v for n, v in vars(group).items() if isinstance(v, _PLAIN)} for name, group in settings.GROUPS.items()
    }
    return {"assigned": assigned, "environment": {v: os.environ[v] for v in _variables() if v in os.environ}}


@contextmanager
def settings_as(stated: dict[str, Any]) -> Iterator[None]:
    """Apply the settings of another process inside."""
    kept = {v: os.environ.pop(v) for v in _variables() if v in os.environ}
    values = {name: dict(vars(group)) for name, group in settings.GROUPS.items()}
    os.environ.update(stated["environment"])
    for name, group in settings.GROUPS.items():
        vars(group).update(stated["assigned"].get(name, {}))
    settings.refresh_knobs()
    try:
        yield
    finally:
        for variable in stated["environment"]:
            os.environ.pop(variable, None)
        os.environ.update(kept)
        for name, group in settings.GROUPS.items():
            vars(group).clear()
            vars(group).update(values[name])
        settings.refresh_knobs()


# ---- errors ---------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> bool:
    """Whether a value survives a round trip through JSON."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and _plain(v) for k, v in value.items())
    return all(map(_plain, value)) if isinstance(value, list) else isinstance(value, _PLAIN)


def describe_error(error: Exception) -> dict[str, Any]:
    """An error as JSON; attributes other than numbers, texts, and lists and dicts of them are omitted."""
    state = {name: value if _plain(value) else None for name, value in vars(error).items()}
    args = [value if _plain(value) else str(value) for value in error.args]
    cls = type(error)
    return {"class": f"{cls.__module__}:{cls.__qualname__}", "args": args, "state": state, "text": str(error)}


def error_of(described: dict[str, Any]) -> Exception:
    """The described error: of its class if that is one of ours or Python's and has the same text then."""
    text = described["text"]
    module, _, name = described["class"].partition(":")
    if module == "builtins" or module.partition(".")[0] == _ROOT:
        cls = getattr(importlib.import_module(module), name, None)
        if isinstance(cls, type) and issubclass(cls, Exception):
            for args in (described["args"], [text]):
                error = cls.__new__(cls, *args)
                error.args = tuple(args)
                vars(error).update(described["state"])
                if _says(error, text):
                    return error
    return TritiumError(text)


def _says(error: Exception, text: str) -> bool:
    try:
        return str(error) == text
    except Exception:  # its text needs an omitted attribute
        return False
