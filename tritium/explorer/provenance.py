"""The way of source positions and rewrites through the texts of a compile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .documents import place_of
from .errors import RequestError
from .json_types import Json
from .model import Document, Provenance, ProvenanceLine, Rewrite, Rewrites, Step, Text
from .store import DocumentStore
from .texts import operations_at

__all__ = ["line_of", "provenance", "rewrites", "steps_of"]


def steps_of(document: Document) -> list[Step]:
    """Every different text in order: the IR of the source, after each changing pass, of later stages, listings."""
    out: list[Step] = []

    def add(step: Step) -> None:
        if not out or out[-1].text != step.text:
            out.append(step)

    for stage in document.stages:
        for p in stage.passes:
            if p.changed and p.after is not None:
                add(Step(stage.name, p.index, p.after, f"{stage.name}: {p.name}"))
        if stage.after is not None and stage.language not in ("cubin", "hsaco", "obj"):
            add(Step(stage.name, None, stage.after, stage.name))
    for listing in document.listings:
        if listing.available:
            add(Step(listing.name, None, listing.text, listing.name))
    return out


def provenance(document: Document, store: DocumentStore) -> Provenance:
    """Which lines of every step come from each source position."""
    steps = [(step, placed) for step in steps_of(document) if (placed := _placed(step.text, store)) is not None]
    found: dict[tuple[str, int, int], list[list[int]]] = {}
    for number, (_, placed) in enumerate(steps):
        for file, line, column, at in placed:
            rows = found.setdefault((file, line, column), [[] for _ in steps])[number]
            if not rows or rows[-1] != at:
                rows.append(at)
    files = list(dict.fromkeys(file for file, _, _ in found))
    lines = [ProvenanceLine(files.index(f), line, column, at) for (f, line, column), at in sorted(found.items())]
    return Provenance(files, [step for step, _ in steps], lines)


def _placed(id: str, store: DocumentStore) -> list[tuple[str, int, int, int]] | None:
    """(file, line, column, line of the text) of the operations of a text; IR is not parsed for it."""
    try:
        if not id.startswith(("sass-", "asm-")):
            record = store.record(id)
            if record.get("language") == "mlir":
                files = record.get("files", ())
                return [(files[f], row, column, line) for line, f, row, column in record.get("lines", ())]
        return list(operations_at(store.text(id)))
    except RequestError:
        return None  # a listing without its tool


def rewrites(
    before: Text, after: Text | None, records: Iterable[Mapping[str, Json]], steppable: bool = False
) -> Rewrites:
    """The rewrites of a pass with the lines of their operations."""
    rows_before = _lines_by_result(before)
    rows_after = {} if after is None else _lines_by_result(after)
    out = []
    for r in records:
        old, new = r.get("before"), r.get("after")
        out.append(
            Rewrite(
                r["index"],
                r["rule"],
                r.get("equation", ""),
                old,
                new,
                place_of(r.get("place")),
                _line(rows_before, old if old is not None else new, before),
                None if after is None or new == "" else _line(rows_after, new or old, after),
            )
        )
    return Rewrites(before.id, None if after is None else after.id, steppable, out)


def line_of(text: Text, operation: str) -> int | None:
    """The line of an operation in a text."""
    return _line(_lines_by_result(text), operation, text)


def _lines_by_result(text: Text) -> dict[str, int]:
    return {text.values[i].name: op.line for op in reversed(text.ops) for i in op.results}


def _line(rows: Mapping[str, int], operation: str | None, text: Text) -> int | None:
    """The line of an operation in one line of text: by its result, or by its name and operands."""
    if not operation:
        return None
    result = re.match(r"(%[\w.$-]+)(?::\d+)?(?:, %[\w.$:-]+)* = ", operation)
    if result is not None:
        return rows.get(result[1])
    bare = operation.split(" : ")[0].strip()
    return next((n for n, line in enumerate(text.text.split("\n"), 1) if bare and line.strip().startswith(bare)), None)
