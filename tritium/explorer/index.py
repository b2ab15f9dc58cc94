"""An index of a trace file that is read by offset: texts and rewrites stay in the file until they are asked for.

A line that begins as the writer's do is recognized by its first bytes, so that indexing 100 MB takes a fraction of a
second; other lines are parsed. `update` continues where the last call ended, for files that are still written.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field

from ..support.traces import VERSION, problems
from .json_types import Record
from .model import Place, Problem

__all__ = ["CompileRecords", "TraceIndex"]


_IR = re.compile(rb'\{"kind":"ir","hash":"([0-9a-f]{16})"')
_REWRITE = re.compile(rb'\{"kind":"rewrite","compile":"([^"\\]+)","stage":"([^"\\]+)","pass":(\d+),')
MAX_PROBLEMS = 20


@dataclass
class CompileRecords:
    """The records of one compile, except rewrites, of which only the offsets are kept."""

    record: Record
    stages: list[Record] = field(default_factory=list)
    passes: list[Record] = field(default_factory=list)
    errors: list[Record] = field(default_factory=list)
    rewrites: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    end: Record | None = None

    def facts(self) -> Record:
        """The metadata that all stages found."""
        return {name: value for stage in self.stages for name, value in stage["found"].items()}


class TraceIndex:
    """The compiles of a trace file by id, in order, and where its texts are.

    The ids of texts are their hashes after `prefix`: the places of equal texts differ between traces of edited sources.
    """

    def __init__(self, path: str, prefix: str = "") -> None:
        self.path = path
        self.prefix = prefix
        self.compiles: dict[str, CompileRecords] = {}
        self.texts: dict[str, tuple[int, int]] = {}
        self.problems: list[Problem] = []
        self.tritium = ""
        self._offset = 0
        self._line = 0
        self.update()

    def update(self) -> list[str]:
        """Read the lines added since the last call; the ids of the compiles that changed."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._offset)
                changed: dict[str, None] = {}
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # incomplete: being written, or its writer was killed
                    self._line += 1
                    self._add(line, self._offset, changed)
                    self._offset += len(line)
        except OSError as error:
            self._problem(f"cannot read '{self.path}': {(error.strerror or str(error)).lower()}", 0)
            return []
        return list(changed)

    def finish(self) -> None:
        """Report a file without a single record: it is no trace."""
        if not self.compiles and not self.problems and not self._line:
            size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            why = "its first line is incomplete" if size else "it is empty"
            self._problem(f"{self.path} is no trace: {why}", 1)

    def text(self, digest: str) -> Record | None:
        """The record of a text; None if the file does not have it."""
        if not digest.startswith(self.prefix):
            return None
        at = self.texts.get(digest[len(self.prefix) :])
        return None if at is None else self._read(*at)

    def rewrites(self, compile_id: str, stage: str, index: int) -> list[Record]:
        """The rewrites of one run of a pass."""
        found = self.compiles.get(compile_id)
        rows = [] if found is None else found.rewrites.get((stage, index), [])
        return [record for at in rows if (record := self._read(*at)) is not None]

    def _read(self, offset: int, size: int) -> Record | None:
        try:
            with open(self.path, "rb") as file:
                file.seek(offset)
                record = json.loads(file.read(size))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and not problems(record) else None

    def _add(self, line: bytes, offset: int, changed: dict[str, None]) -> None:
        ir = _IR.match(line)
        if ir is not None:
            self.texts.setdefault(ir[1].decode(), (offset, len(line)))
            return
        rewrite = _REWRITE.match(line)
        if rewrite is not None:
            found = self.compiles.get(rewrite[1].decode(errors="replace"))
            if found is not None:
                key = rewrite[2].decode(errors="replace"), int(rewrite[3])
                found.rewrites.setdefault(key, []).append((offset, len(line)))
            return
        try:
            record = json.loads(line)
        except ValueError as error:
            self._problem(f"{self.path}:{self._line}: error: {getattr(error, 'msg', error)}", self._line)
            return
        wrong = problems(record)
        if wrong:
            self._problem(f"{self.path}:{self._line}: error: {wrong[0]}", self._line)
            return
        self._record(record, offset, len(line), changed)

    def _record(self, record: Record, offset: int, size: int, changed: dict[str, None]) -> None:
        kind = record["kind"]
        if kind == "trace":
            self.tritium = record["tritium"]
            if record["version"] != VERSION:
                text = f"a trace of version {record['version']}; {VERSION} is read here"
                self._problem(f"{self.path}:{self._line}: error: {text}", self._line)
        elif kind == "ir":
            self.texts.setdefault(record["hash"], (offset, size))
        elif kind == "compile":
            self.compiles[record["id"]] = CompileRecords(record)
            changed[record["id"]] = None
        elif (found := self.compiles.get(record.get("compile", ""))) is not None:
            changed[record["compile"]] = None
            for name in ("before", "after"):
                if self.prefix and kind in ("stage", "pass") and record.get(name):
                    record[name] = self.prefix + record[name]
            if kind == "rewrite":
                found.rewrites.setdefault((record["stage"], record["pass"]), []).append((offset, size))
            elif kind == "end":
                found.end = record
            elif kind in ("stage", "pass", "error"):
                {"stage": found.stages, "pass": found.passes, "error": found.errors}[kind].append(record)

    def _problem(self, message: str, line: int) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem("error", message, place=Place(self.path, line) if line else None))
