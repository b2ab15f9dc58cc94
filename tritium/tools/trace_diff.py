"""`tritium trace diff A B`: compare two compiles of a kernel: of two versions, with two options, for two targets.

Compiles are paired by kernel, target and types. The report has the inputs that differ, the first pass whose output
differs, the times of stages, and the resources of the code. The exit status is 0 where all outputs are the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..ir.passes.dump import difference, takes_colours
from ..support.quantities import counted
from .resource_summary import LABELS
from .trace_reader import Compile, Trace, TraceError, read_trace

__all__ = ["DiffRequest", "diff", "first_difference"]

LONGEST = 40  # lines of a difference, unless all are asked for


@dataclass
class DiffRequest:
    """Two files, and what to compare: one kernel (empty: all), with the whole difference of the texts or its head."""

    old: str
    new: str
    kernel: str = ""
    whole: bool = False


@dataclass
class Difference:
    """The first difference of two compiles: a sentence, and the hashes of the differing texts (or empty)."""

    what: str
    old: str = ""
    new: str = ""


def diff(request: DiffRequest) -> int:
    """Print it; the exit status. TraceError for files that are no trace, or have no compile in common."""
    old, new = read_trace(request.old), read_trace(request.new)
    console = Console(soft_wrap=True, highlight=False)
    pairs = list(_pairs(old, new, request.kernel))
    if not pairs:
        raise TraceError(f"{request.old} and {request.new} have no compile of the same kernel")
    differ = False
    for a, b in pairs:
        differ |= _compare(old, new, a, b, request, console)
    return 1 if differ else 0


def _pairs(old: Trace, new: Trace, kernel: str) -> Iterator[tuple[Compile, Compile]]:
    """Pair the compiles of one kernel: by target and types first, then the others in order."""
    keys: tuple[Callable[[Compile], Any], ...] = (
        lambda c: (c.record["kernel"], c.record["target"], json.dumps(c.record.get("signature"))),
        lambda c: c.record["kernel"],
    )
    left = [c for c in old.compiles if kernel in ("", c.record["kernel"])]
    others = list(new.compiles)
    for key in keys:
        for compile in list(left):
            match = next((c for c in others if key(c) == key(compile)), None)
            if match is not None:
                left.remove(compile)
                others.remove(match)
                yield compile, match


def _compare(old: Trace, new: Trace, a: Compile, b: Compile, request: DiffRequest, console: Console) -> bool:
    console.print(f"[bold]{escape(a.name)}[/]" + (f" and {escape(b.name)}" if b.name != a.name else ""))
    for line in _given(a, b):
        console.print(f"  {escape(line)}")
    found = first_difference(a, b)
    console.print(escape(found.what) if found else "all outputs are the same")
    if found and found.old and found.new:
        shown = difference(old.text(found.old), new.text(found.new), colour=takes_colours(sys.stdout)).split("\n")
        cut = len(shown) - LONGEST if not request.whole else 0
        print(
            "\n".join(shown if cut <= 0 else [*shown[:LONGEST], f"… {counted(cut, 'more line')} (--whole shows them)"])
        )
    console.print(_times(a, b))
    for line in _needs(a, b):
        console.print(escape(line))
    return found is not None


def _given(a: Compile, b: Compile) -> Iterator[str]:
    """What the compiles were given, where it differs."""
    for group in ("target", "compiler", "source", "signature", "constants", "options", "settings"):
        x, y = a.record.get(group), b.record.get(group)
        if isinstance(x, dict) and isinstance(y, dict):
            yield from (f"{k}: {x.get(k)} -> {y.get(k)}" for k in [*x, *(y.keys() - x.keys())] if x.get(k) != y.get(k))
        elif x != y:
            yield "another version of the compiler" if group == "compiler" else f"{group}: {_short(x)} -> {_short(y)}"


def _short(value: Any) -> str:
    return value[:16] if isinstance(value, str) else str(value)


def first_difference(a: Compile, b: Compile) -> Difference | None:
    """The first pass, or stage, after which two compiles no longer have the same IR; None: there is none."""
    for name in dict.fromkeys([*a.stage_names(), *b.stage_names()]):
        ours, theirs = a.stage(name), b.stage(name)
        found = _first_pass(a, b, name)
        if found is not None:
            return found
        if ours is None or theirs is None:
            return Difference(f"only the {'second' if ours is None else 'first'} has the stage {name}")
        if ours["after"] != theirs["after"]:
            return Difference(f"the stage {name} differs", ours["after"], theirs["after"])
    return None


def _first_pass(a: Compile, b: Compile, stage: str) -> Difference | None:
    """The first pass of a stage with another output, or that only one of them has and that changed something."""
    ours, theirs = a.passes_of(stage), b.passes_of(stage)
    matcher = SequenceMatcher(None, [p["name"] for p in ours], [p["name"] for p in theirs], autojunk=False)
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag == "equal":
            for x, y in zip(ours[i:j], theirs[k:n]):
                if x["after"] != y["after"]:
                    return Difference(_pass_differs(x, y), x["after"], y["after"])
            continue
        for which, alone in (("first", ours[i:j]), ("second", theirs[k:n])):
            changing = next((p for p in alone if p["changed"]), None)
            if changing is not None:
                what = f"only the {which} has the pass {changing['name']} of {stage}, which changes the IR"
                return Difference(what, changing["before"], changing["after"])
    return None


def _pass_differs(x: dict[str, Any], y: dict[str, Any]) -> str:
    options = (
        "" if x["options"] == y["options"] else f" (options {x['options'] or 'none'} and {y['options'] or 'none'})"
    )
    same = "of the same input" if x["before"] == y["before"] else "of inputs that differ already"
    return f"first difference: {x['stage']}, pass {x['index']}, {x['name']}{options}, {same}"


def _times(a: Compile, b: Compile) -> Table:
    """Milliseconds of stages, and of the passes that differ most."""
    table = Table(box=box.SIMPLE)
    table.add_column("ms", no_wrap=True)
    for column in ("first", "second", "second/first"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in dict.fromkeys([*a.stage_names(), *b.stage_names()]):
        ours, theirs = a.stage(name), b.stage(name)
        _time_row(table, name, ours and ours["us"], theirs and theirs["us"])
    for name, x, y in _slowest_changes(a, b):
        _time_row(table, f"  {name}", x, y)
    return table


def _slowest_changes(a: Compile, b: Compile, most: int = 5) -> list[tuple[str, float, float]]:
    """The passes with the largest differences in time, summed over their runs."""
    totals: dict[str, list[float]] = {}
    for i, compile in enumerate((a, b)):
        for p in compile.passes:
            totals.setdefault(p["name"], [0.0, 0.0])[i] += p["us"]
    rows = [(name, x, y) for name, (x, y) in totals.items()]
    return sorted(rows, key=lambda row: -abs(row[2] - row[1]))[:most]


def _time_row(table: Table, name: str, x: float | None, y: float | None) -> None:
    cells = ["" if v is None else f"{v / 1000:.2f}" for v in (x, y)]
    table.add_row(escape(name), *cells, f"{y / x:.2f}" if x and y else "")


def _needs(a: Compile, b: Compile) -> Iterator[str]:
    """The differences in metadata of stages, resources first."""
    x, y = a.found, b.found
    names = [*LABELS, *sorted((x.keys() | y.keys()) - LABELS.keys() - {"name"})]
    for name in names:
        if x.get(name) != y.get(name):
            label = LABELS[name][1] if name in LABELS else name
            yield f"{label}: {_short(x.get(name, 'none'))} -> {_short(y.get(name, 'none'))}"
