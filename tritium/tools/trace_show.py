"""`tritium trace show FILE`: compiles by stage and pass; the changes and the rewrites of a pass."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..ir.passes.dump import difference, takes_colours
from ..support.suggestions import did_you_mean
from .resource_summary import resource_summary
from .trace_reader import Compile, Trace, TraceError, read_trace

__all__ = ["ShowRequest", "show"]


@dataclass
class ShowRequest:
    """What of a trace to show: of which kernels, stages and passes (empty: of all)."""

    file: str
    kernel: str = ""
    stage: str = ""
    only_pass: str = ""
    every: bool = False
    rewrites: bool = False
    text: bool = False


def show(request: ShowRequest) -> int:
    """Print it; the exit status. TraceError for files that are no trace, and names that nothing has."""
    trace = read_trace(request.file)
    compiles = [c for c in trace.compiles if request.kernel in ("", c.record["kernel"])]
    if not compiles:
        raise _unknown("kernel", request.kernel, {c.record["kernel"] for c in trace.compiles}, request.file)
    _check_names(request, compiles)
    console = Console(soft_wrap=True, highlight=False)
    for compile in compiles:
        console.print(_headline(compile))
        if request.text or request.only_pass or request.rewrites:
            _details(trace, compile, request, console)
        elif compile.stages or compile.passes:
            console.print(_table(compile, request))
        for error in compile.errors:
            where = f"{error['stage']}, {error['pass']}" if "pass" in error else error["stage"]
            console.print(f"[bold red]{escape(where)}: {escape(error['type'])}[/]: {escape(error['message'])}")
    return 0


def _unknown(what: str, name: str, known: Iterable[str], file: str) -> TraceError:
    names = sorted(filter(None, known))
    hint = did_you_mean(name, names)
    return TraceError(f"{file} has no {what} {name!r}{hint and '; ' + hint}; there are: {', '.join(names) or 'none'}")


def _check_names(request: ShowRequest, compiles: list[Compile]) -> None:
    stages = {name for c in compiles for name in c.stage_names()}
    if request.stage and request.stage not in stages:
        raise _unknown("stage", request.stage, stages, request.file)
    passes = {p["name"] for c in compiles for p in c.passes}
    if request.only_pass and request.only_pass not in passes:
        raise _unknown("pass", request.only_pass, passes, request.file)


def _headline(compile: Compile) -> str:
    end = compile.end
    if end is None:
        how = "not finished"
    elif end["cache"] == "hit":
        how = "from the cache (TRITON_ALWAYS_COMPILE=1 records its compile)"
    else:
        how = f"{_ms(end['us'])} ms" + (f", {_ms(end['imports'])} of them for imports" if end["imports"] else "")
        how += "" if end["fine"] else ", failed"
    figures = resource_summary(compile.found)
    return f"[bold]{escape(compile.name)}[/]: {how}" + (f"; {figures}" if figures else "")


def _ms(us: float) -> str:
    return f"{us / 1000:,.2f}"


def _table(compile: Compile, request: ShowRequest) -> Table:
    """Stages, and below each its passes: those that changed something, or all."""
    table = Table(box=box.SIMPLE)
    for column in ("stage", "pass"):
        table.add_column(column, no_wrap=True)
    for column in ("ms", "operations", "rewrites"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in compile.stage_names():
        if request.stage not in ("", name):
            continue
        stage = compile.stage(name)
        table.add_row(f"[bold]{escape(name)}[/]", "", _ms(stage["us"]) if stage else "failed", "", "")
        for p in compile.passes_of(name):
            if p["changed"] or (request.every and not p["skipped"]):
                operations = str(p["operations"]) if "operations" in p else ""
                table.add_row("", escape(p["name"]), _ms(p["us"]), operations, str(p["rewrites"] or ""))
    return table


def _details(trace: Trace, compile: Compile, request: ShowRequest, console: Console) -> None:
    """The change and the rewrites of passes, or the texts of stages."""
    if request.text:
        for stage in compile.stages:
            if request.stage in ("", stage["stage"]):
                print(trace.text(stage["after"]).rstrip("\n"))
        return
    for p in compile.passes:
        if request.only_pass in ("", p["name"]) and request.stage in ("", p["stage"]) and p["changed"]:
            console.print(f"[cyan]{escape(p['stage'])}, {escape(p['name'])}{escape(p['options'])}[/]: {_did(p)}")
            for rewrite in compile.rewrites[p["stage"], p["index"]] if request.rewrites else []:
                console.print(_rewrite(rewrite))
            if request.only_pass:
                print(difference(trace.text(p["before"]), trace.text(p["after"]), colour=takes_colours(sys.stdout)))


def _did(p: dict[str, Any]) -> str:
    counted = [f"{n} {escape(what)}" for what, n in p["counts"].items()]
    rewrites = p["rewrites"]
    told = [f"{rewrites} rewrite{'s' * (rewrites != 1)}"] if rewrites else []
    return ", ".join([f"{_ms(p['us'])} ms", *told, *counted])


def _rewrite(record: dict[str, Any]) -> str:
    """The rule with its equation; the operation, what it became, and where it comes from."""
    equation = f": {record['equation'].splitlines()[0]}" if record.get("equation") else ""
    place = record.get("place")
    where = f"  ({place['file']}:{place['line']}:{place['column']})" if place else ""
    lines = [f"  [bold]{escape(record['rule'])}[/]{escape(equation + where)}"]
    lines += [
        f"    {sign} {escape(record[key] or '(nothing)')}"
        for sign, key in (("-", "before"), ("+", "after"))
        if key in record
    ]
    return "\n".join(lines)
