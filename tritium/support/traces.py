"""The trace of compiles as lines of JSON: format and writer.

Every line is a record: an object with a "kind", whose other fields are defined in `RECORDS`. Texts are written once a
file, as records of the kind "ir", and referred to by hash. Several processes may write to one file: each appends whole
lines, and identifies itself in its record of the kind "trace".

A reader skips unknown kinds and fields; the version is incremented when the meaning of a known one changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

from .lazy import LazyModule, loaded

__all__ = [
    "RECORDS",
    "VERSION",
    "Field",
    "Recording",
    "TraceWarning",
    "TraceWriter",
    "now",
    "problems",
    "writer_for",
]

_package = LazyModule(__name__.partition(".")[0])

VERSION = 1
HASH_DIGITS = 16


class TraceWarning(UserWarning):
    """A trace could not be written: kernels are still compiled."""


class Field(NamedTuple):
    """A field of a record: its type (a key of `_TYPES`), its meaning, and whether it is optional."""

    type: str
    meaning: str
    optional: bool = False


def _is_place(value: Any) -> bool:
    whole = {"line", "column"}
    return (
        isinstance(value, dict) and isinstance(value.get("file"), str) and all(type(value.get(k)) is int for k in whole)
    )


_TYPES: dict[str, Any] = {
    "text": lambda v: isinstance(v, str),
    "whole": lambda v: type(v) is int,
    "number": lambda v: type(v) in (int, float),
    "truth": lambda v: isinstance(v, bool),
    "hash": lambda v: isinstance(v, str) and len(v) == HASH_DIGITS and set(v) <= set("0123456789abcdef"),
    "object": lambda v: isinstance(v, dict) and all(isinstance(k, str) for k in v),
    "list": lambda v: isinstance(v, list),
    "place": _is_place,
}

_COMPILE = Field("text", "the compile it belongs to: `id` of its record")
_STAGE = Field("text", "the stage it belongs to")
_AT = Field("number", "microseconds since the compile began")
_US = Field("number", "microseconds that it took, without those of writing the trace")
_BEFORE = Field("hash", "the IR before: `hash` of a record of the kind `ir`")
_AFTER = Field("hash", "the IR after", optional=True)

#: All kinds of records with their fields.
RECORDS: dict[str, dict[str, Field]] = {
    "trace": {
        "version": Field("whole", "of this format"),
        "process": Field("text", "the unique id of the writing process, with which the `id` of its compiles begins"),
        "tritium": Field("text", "the compiler's version"),
        "python": Field("text", "the version of Python"),
        "platform": Field("text", "the machine and its system"),
        "started": Field("text", "when, in UTC, as ISO 8601 writes it"),
    },
    "compile": {
        "id": Field("text", "unique"),
        "kernel": Field("text", "the kernel's name; empty for passes that run outside of a compile"),
        "target": Field("text", "such as `cuda:90`; empty where there is none"),
        "first": Field("text", "what is compiled: `source` for a Python function, otherwise the stage of its text"),
        "started": Field("text", "when, in UTC"),
        "key": Field("text", "under which the kernel is cached: equal keys, equal code", optional=True),
        "compiler": Field("text", "a hash of the compiler's own sources", optional=True),
        "source": Field("text", "a hash of the source", optional=True),
        "place": Field("place", "where the kernel stands", optional=True),
        "signature": Field("object", "the types of the parameters by name", optional=True),
        "constants": Field("object", "the compile-time values by name, as text", optional=True),
        "options": Field("object", "all options of the target with their values", optional=True),
        "settings": Field("object", "settings that change code and are not as by default", optional=True),
    },
    "ir": {
        "hash": Field("hash", "the first 16 digits of the SHA-256 of the text"),
        "language": Field("text", "`mlir`, or the name of the stage: `llir`, `ptx`, `cubin`, `obj`"),
        "text": Field("text", "the text, without locations; there is none for machine code", optional=True),
        "bytes": Field("whole", "the size of machine code", optional=True),
        "files": Field("list", "the files that `lines` are about", optional=True),
        "lines": Field("list", "`[line, file, line, column]` for operations: line of the text, from 1; number of the "
                       "file, from 0; line and column there", optional=True),
    },
    "stage": {
        "compile": _COMPILE,
        "stage": Field("text", "its name"),
        "at": _AT,
        "us": _US,
        "before": Field("hash", "the IR that it is made of; the first stage has none", optional=True),
        "after": _AFTER._replace(optional=False),
        "replaced": Field("truth", "its IR is that of a file of the user's", optional=True),
        "found": Field("object", "what it found out for the launch, such as `shared`, `n_regs`, `n_spills`"),
    },
    "pass": {
        "compile": _COMPILE,
        "stage": _STAGE,
        "index": Field("whole", "its place among the passes of the stage that ran, from 0"),
        "name": Field("text", "the pass"),
        "options": Field("text", "as a pipeline's text has them, with braces; empty for none"),
        "on": Field("text", "what it ran on: `@kernel`, or the name of an operation"),
        "skipped": Field("truth", "there was nothing for it, and it did not run"),
        "at": _AT,
        "us": _US,
        "before": _BEFORE,
        "after": _AFTER,
        "changed": Field("truth", "the IR differs"),
        "operations": Field("whole", "how many there are after it; no field where the IR is no MLIR", optional=True),
        "counts": Field("object", "what the pass counted"),
        "rewrites": Field("whole", "how many rewrites it did, each a record of the kind `rewrite`"),
    },
    "rewrite": {
        "compile": _COMPILE,
        "stage": _STAGE,
        "pass": Field("whole", "`index` of the pass"),
        "index": Field("whole", "its place among the rewrites of the pass, from 0"),
        "rule": Field("text", "the rule, or what a pass without rules calls what it does"),
        "equation": Field("text", "of the rule", optional=True),
        "at": _AT,
        "before": Field("text", "the operation in one line, its values named as in the IR before the pass, those that "
                        "were made since with a prime and a number; none where a rule changed it in place",
                        optional=True),
        "after": Field("text", "what stands in its place, in one line, empty for nothing; none where a pass without "
                       "rules did it", optional=True),
        "place": Field("place", "the source of the operation", optional=True),
    },
    "error": {
        "compile": _COMPILE,
        "stage": _STAGE,
        "pass": Field("text", "the pass that failed", optional=True),
        "type": Field("text", "the class of the exception"),
        "message": Field("text", "what it says"),
        "at": _AT,
    },
    "end": {
        "compile": _COMPILE,
        "us": _US,
        "imports": Field("number", "microseconds of loading the compiler, for the first compile of a process"),
        "store": Field("number", "microseconds of storing the result in the cache"),
        "cache": Field("text", "`hit`, `miss`, or `off` where the cache was not asked"),
        "fine": Field("truth", "it came to its end"),
    },
}  # fmt: skip


def problems(record: Any) -> list[str]:
    """The problems of a record of a known kind; none for other kinds.

    >>> problems({"kind": "trace", "version": "1"})[0]
    "'version' of a record 'trace' is no whole: '1'"
    """
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        return ["a record is an object with a 'kind'"]
    kind = record["kind"]
    out = []
    for name, field in RECORDS.get(kind, {}).items():
        if name not in record:
            out += [] if field.optional else [f"a record {kind!r} lacks {name!r}"]
        elif not _TYPES[field.type](record[name]):
            out.append(f"{name!r} of a record {kind!r} is no {field.type}: {record[name]!r}")
    return out


def now() -> str:
    """The time in UTC: `2026-11-22T19:05:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class TraceWriter:
    """A file to which this process adds records; a file that is not writable is reported once, by a TraceWarning."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._pid = 0
        self._headed = False
        self.process = ""
        self._compiles = 0

    def new_id(self) -> str:
        """An id for a compile."""
        with self._lock:
            self._begin()
            self._compiles += 1
            return f"{self.process}-{self._compiles}"

    def write(self, records: Iterable[dict[str, Any]]) -> None:
        """Add records, each a line, in one write; texts that this process has written are omitted."""
        with self._lock:
            lines = []
            if self._begin():
                lines.append(self._header())
            for record in records:
                if record["kind"] == "ir":
                    if record["hash"] in self._known:
                        continue
                    self._known.add(record["hash"])
                lines.append(record)
            data = "".join(json.dumps(line, separators=(",", ":"), default=str) + "\n" for line in lines)
            self._append(data.encode())

    def _begin(self) -> bool:
        """Whether this process has not written to the file; a fork is a new process."""
        if not os.path.isfile(self.path) or not os.path.getsize(self.path):
            self._known.clear()
            self._headed = False
        if self._pid != os.getpid():
            self._pid, self._compiles, self.process = os.getpid(), 0, secrets.token_hex(4)
            self._known.clear()
            self._headed = False
        return not self._headed

    def _header(self) -> dict[str, Any]:
        self._headed = True
        return {
            "kind": "trace",
            "version": VERSION,
            "process": self.process,
            "tritium": loaded(_package).__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "started": now(),
        }

    def _append(self, data: bytes) -> None:
        try:
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o666
            )
            os.set_blocking(descriptor, True)  # block on a pipe with a reader, not on one without
            with open(descriptor, "ab") as file:
                file.write(data)
        except OSError as error:
            if self.path not in _warned:
                _warned.add(self.path)
                warnings.warn(f"the trace cannot be written to {self.path}: {error}", TraceWarning, stacklevel=2)


_warned: set[str] = set()
_writers: dict[str, TraceWriter] = {}


def writer_for(path: str) -> TraceWriter:
    """The writer of this process for a file."""
    path = os.path.abspath(path)
    found = _writers.get(path)
    if found is None:
        found = _writers[path] = TraceWriter(path)
    return found


class Recording:
    """The records of one compile, which are written stage by stage.

    `stage` is the running one; `overhead` the nanoseconds spent on recording.
    """

    def __init__(self, writer: TraceWriter) -> None:
        self.writer = writer
        self.id = writer.new_id()
        self.start = time.perf_counter_ns()
        self.overhead = 0
        self.stage = ""
        self.passes = 0  # of the stage
        self.last = ""  # the hash of the current IR
        self._waiting: list[dict[str, Any]] = []

    def begin(self, **fields: Any) -> None:
        """The record of the compile itself; fields that are None are omitted."""
        given = {name: value for name, value in fields.items() if value is not None}
        self._waiting.append({"kind": "compile", "id": self.id, "started": now(), **given})

    def end(self, imports: float, store: float, cache: str, fine: bool) -> None:
        """Add the last record, and write everything."""
        self.add("end", us=self.at(), imports=imports, store=store, cache=cache, fine=fine)
        self.flush()

    def fail(self, error: BaseException, at_pass: str | None = None) -> None:
        """Record an error once: an error raised from a recorded one is not recorded."""
        if self.id in (getattr(e, "recorded_in", None) for e in (error, error.__cause__)):
            return
        fields = {"type": type(error).__name__, "message": str(error), "at": self.at()}
        self.add("error", stage=self.stage, **{"pass": at_pass}, **fields)
        with contextlib.suppress(AttributeError):
            error.recorded_in = self.id  # type: ignore[attr-defined]

    def add(self, kind: str, **fields: Any) -> None:
        """A record of this compile; fields that are None are omitted."""
        given = {name: value for name, value in fields.items() if value is not None}
        self._waiting.append({"kind": kind, "compile": self.id, **given})

    def text(self, text: str | bytes, language: str, **fields: Any) -> str:
        """The hash of a text (or machine code), which is recorded once."""
        data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
        digest = sha256(data).hexdigest()[:HASH_DIGITS]
        content = {"bytes": len(data)} if isinstance(text, bytes) else {"text": text}
        self._waiting.append({"kind": "ir", "hash": digest, "language": language, **content, **fields})
        return digest

    def at(self) -> float:
        """Microseconds since the compile began, without those of recording."""
        return round((time.perf_counter_ns() - self.start - self.overhead) / 1000, 1)

    def flush(self) -> None:
        """Write the pending records."""
        waiting, self._waiting = self._waiting, []
        self.writer.write(waiting)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Time inside is overhead of recording, and not counted as the compile's."""
        begin = time.perf_counter_ns()
        try:
            yield
        finally:
            self.overhead += time.perf_counter_ns() - begin
