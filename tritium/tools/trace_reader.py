"""A trace file (`support.traces`) as compiles with their stages, passes and rewrites."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..support import TritiumError
from ..support.traces import VERSION, problems

__all__ = ["Compile", "Trace", "TraceError", "read_trace"]

Record = dict[str, Any]


class TraceError(TritiumError):
    """A file that is no trace, or one of a version that is not read here."""


@dataclass
class Compile:
    """One compile: its record, and those that belong to it, in the order they were written."""

    record: Record
    stages: list[Record] = field(default_factory=list)
    passes: list[Record] = field(default_factory=list)
    rewrites: dict[tuple[str, int], list[Record]] = field(default_factory=lambda: defaultdict(list))
    errors: list[Record] = field(default_factory=list)
    end: Record | None = None

    @property
    def name(self) -> str:
        """`add_kernel for cuda:90`, or the tool that ran passes outside of a compile."""
        kernel, target = self.record["kernel"], self.record["target"]
        return f"{kernel} for {target}" if kernel else f"passes of {self.record['first']}"

    @property
    def found(self) -> dict[str, Any]:
        """What all stages found out for the launch."""
        return {name: value for stage in self.stages for name, value in stage["found"].items()}

    def stage_names(self) -> list[str]:
        """The stages that ran or began, in order."""
        return list(dict.fromkeys(r["stage"] for r in sorted([*self.stages, *self.passes], key=lambda r: r["at"])))

    def passes_of(self, stage: str) -> list[Record]:
        """The passes of a stage, in order."""
        return [p for p in self.passes if p["stage"] == stage]

    def stage(self, name: str) -> Record | None:
        """The record of a stage that came to its end."""
        return next((s for s in self.stages if s["stage"] == name), None)

    def add(self, record: Record) -> None:
        """Take in a record that belongs to this compile; kinds that are not known here are left out."""
        kind = record["kind"]
        if kind == "rewrite":
            self.rewrites[record["stage"], record["pass"]].append(record)
        elif kind == "end":
            self.end = record
        else:
            known = {"stage": self.stages, "pass": self.passes, "error": self.errors}.get(kind)
            if known is not None:
                known.append(record)


@dataclass
class Trace:
    """All compiles of a file, and its texts by hash."""

    path: str
    compiles: list[Compile] = field(default_factory=list)
    texts: dict[str, Record] = field(default_factory=dict)

    def text(self, digest: str) -> str:
        """The text of a hash; of machine code how much it is. TraceError where the file does not have it."""
        if digest not in self.texts:
            raise TraceError(f"{self.path} has no text {digest}")
        record = self.texts[digest]
        return str(record.get("text", f"({record.get('bytes', 0):,} bytes)"))


def read_trace(path: str) -> Trace:
    """The trace in a file. TraceError where there is none, where a line is none of a trace, or of another version.

    An incomplete last line is dropped: the writer was killed.
    """
    trace = Trace(path)
    compiles: dict[str, Compile] = {}
    for number, record in _records(path):
        wrong = problems(record)
        if wrong:
            raise TraceError(f"{path}:{number}: error: {wrong[0]}")
        kind = record["kind"]
        if kind == "trace" and record["version"] != VERSION:
            raise TraceError(f"{path}:{number}: error: a trace of version {record['version']}; {VERSION} is read here")
        if kind == "ir":
            trace.texts.setdefault(record["hash"], record)
        elif kind == "compile":
            compiles[record["id"]] = Compile(record)
            trace.compiles.append(compiles[record["id"]])
        elif record.get("compile") in compiles:
            compiles[record["compile"]].add(record)
    return trace


def _records(path: str) -> Iterator[tuple[int, Any]]:
    """The records with the numbers of their lines."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except (OSError, UnicodeDecodeError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise TraceError(f"cannot read '{os.fspath(path)}': {why}") from None
    if not lines or '"kind"' not in lines[0]:
        raise TraceError(f"{path} is no trace: its first line is no record")
    for number, line in enumerate(lines, 1):
        try:
            yield number, json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines) and not line.endswith("\n"):
                return
            raise TraceError(f"{path}:{number}:{error.colno}: error: {error.msg}") from None
