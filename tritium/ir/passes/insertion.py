"""Passes of a user's own at named places of the compiler's pipelines.

    insert_pass(count_loads, "ttgir", after="coalesce")
    insert_pass(lower_ring, "ttir", before="canonicalize", options=LowerOptions(modulus=7681))

A place is a stage and a pass in it: after the last of its name, or before the first. Without one the
pass runs at the end of the stage. What is inserted is part of the keys of compiled kernels, with the text of the file
of the pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...support import TritiumError, settings
from ...support.dataclasses import dataclass
from ...support.files import read_regular
from ...support.hashing import sha256
from ...support.suggestions import did_you_mean
from .definition import Nest, Pass, PassFunction, Row, rows_of
from .registry import PASSES

__all__ = [
    "STAGES",
    "Insertion",
    "PluginError",
    "insert_pass",
    "insertions",
    "remove_pass",
    "with_insertions",
    "Replacement",
    "replace_pass",
    "replacements",
    "with_replacements",
]

STAGES = ("ttir", "ttgir", "llir")
"""The stages that are made by a pipeline of passes; `llir`: those before the lowering to LLVM, on GPUs."""


class PluginError(TritiumError):
    """What a plugin, or a pass of the user's own, asks for cannot be done; the message names it."""


@dataclass(frozen=True)
class Insertion:
    """A row and its place: in which stage, after or before which pass. `by` is the module that inserted
    it, `version` changes with the code of that and of the pass."""

    row: Pass
    stage: str
    after: str | None
    before: str | None
    by: str
    version: str

    @property
    def owner(self) -> str:
        """The module of the pass."""
        return self.row.function.__module__

    @property
    def place(self) -> tuple[str, ...]:
        """What there is only one of."""
        return self.row.name, self.stage, self.after or "", self.before or ""

    @property
    def key(self) -> str:
        """Text that is equal where the same is done."""
        return f"{self.row} of {self.owner}, {self.version}: {self.stage}, after {self.after}, before {self.before}"


_inserted: list[Insertion] = []


def insert_pass(
    fn: PassFunction,
    stage: str,
    *,
    after: str | None = None,
    before: str | None = None,
    options: Any = None,
    reason: str = "",
) -> Insertion:
    """Run the pass `fn` (made by `pass_on`) in every compile from now on. Inserted at the same place again, it is there
    once.

    `stage` is one of `STAGES`, `after` or `before` the name of a pass in it, `options` an object of the dataclass of
    the pass. PluginError for a function that is no pass, an unknown stage or an unknown name of a pass.
    """
    what = f"insert_pass: {getattr(fn, '__module__', '?')}.{getattr(fn, '__name__', fn)}"
    if not getattr(fn, "pass_name", ""):
        raise PluginError(f"{what} is no pass: it has no @pass_on")
    if stage not in STAGES:
        raise PluginError(f"{what}: the stage {stage!r} has no pipeline; there are {', '.join(STAGES)}")
    if after is not None and before is not None:
        raise PluginError(f"{what}: a place is either `after` or `before` a pass")
    for name in filter(None, (after, before)):
        if PASSES.find(name) is None:
            hint = did_you_mean(name, PASSES.known_names())
            raise PluginError(f"{what}: there is no pass {name!r}" + (f"; {hint}" if hint else ""))
    PASSES.add(fn)
    after, before = (PASSES.canonical(name) if name else None for name in (after, before))
    row = Pass(fn.pass_name, fn, reason, options)  # type: ignore[attr-defined]
    by = sys._getframe(1).f_globals.get("__name__", "")
    found = Insertion(row, stage, after, before, by, _version(fn.__module__) + _version(by))
    _inserted[:] = [i for i in _inserted if i.place != found.place]
    _inserted.append(found)
    _changed()
    return found


def _changed() -> None:
    settings.generation.value += 1
    settings.insertions.value += 1


def remove_pass(fn: PassFunction) -> None:
    """Run it no more."""
    _inserted[:] = [i for i in _inserted if i.row.function is not fn]
    _changed()


def insertions() -> tuple[Insertion, ...]:
    """What was inserted, in order."""
    return tuple(_inserted)


class Replacement(NamedTuple):
    """What runs in the place of a pass: `rows(row)` for its row, and what changes where they do."""

    rows: Callable[[Pass], Sequence[Row]]
    version: str


_replaced: dict[str, Replacement] = {}


def replace_pass(name: str, replacement: Replacement | None) -> None:
    """Run other rows where the compiler's own pipelines have the pass `name`, from now on; None: the pass again."""
    if replacement is None:
        _replaced.pop(name, None)
    else:
        _replaced[name] = replacement
    _changed()


def replacements() -> dict[str, Replacement]:
    """What was replaced, by the name of the pass."""
    return dict(_replaced)


def with_replacements(rows: Sequence[Row]) -> Sequence[Row]:
    """The pipeline with what runs in the place of passes."""
    if not _replaced:
        return rows
    out: list[Row] = []
    for row in rows:
        if isinstance(row, Nest):
            out.append(Nest(row.anchor, with_replacements(row.rows), row.reason))
        else:
            found = _replaced.get(row.name)
            out += [row] if found is None else found.rows(row)
    return out


def _version(module: str) -> str:
    """A hash of a module's file; empty where it has none, as what is typed at a prompt."""
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    try:
        return sha256(read_regular(path)).hexdigest()[:16]
    except OSError:
        return ""


def with_insertions(rows: Sequence[Row], stage: str) -> Sequence[Row]:
    """The pipeline of a stage with what was inserted; PluginError where the pass that should be beside is not in it."""
    mine = [i for i in _inserted if i.stage == stage]
    if not mine:
        return rows
    out = list(rows)
    for insertion in mine:
        out.insert(_place(out, insertion), insertion.row)
    return out


def _place(rows: Sequence[Row], insertion: Insertion) -> int:
    wanted = insertion.after or insertion.before
    if wanted is None:
        return len(rows)
    places = [i for i, row in enumerate(rows) if _has(row, wanted)]
    if not places:
        there = ", ".join(dict.fromkeys(p.name for p in rows_of(rows)))
        side = "after" if insertion.after else "before"
        raise PluginError(
            f"{insertion.owner} inserts the pass {insertion.row.name} {side} {wanted} in the stage {insertion.stage}, "
            f"which has no such pass for this target; it has: {there}"
        )
    return places[-1] + 1 if insertion.after else places[0]


def _has(row: Row, name: str) -> bool:
    return any(_has(r, name) for r in row.rows) if isinstance(row, Nest) else row.name == name
