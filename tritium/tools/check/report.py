"""The text of a report: a line per step; for the first difference the element, the rewrite, the op and its line."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.passes.dump import difference
from ...support.files import source_line
from ...support.quantities import counted
from .oracle import Finding, Report

__all__ = ["headline", "render"]

_MAX_LINES = 40


def render(report: Report, verbose: bool = False) -> str:
    """The report as text: the headline, every step if `verbose` or one differs, and the finding."""
    lines = [headline(report)]
    if verbose or report.finding is not None:
        width = max(len(v.step) for v in report.verdicts)
        for v in report.verdicts:
            lines.append(f"  {v.step:<{width}}  {v.seconds:7.3f} s  {v.verdict}{v.detail and ': ' + v.detail}")
    if report.finding is not None:
        lines += _finding(report.finding)
    return "\n".join(lines)


def headline(report: Report) -> str:
    """`add_kernel for cuda:90, 4 programs: 6 steps agree, 1 not run (0.5 s)`."""
    x, y, z = report.grid
    counts = {v: sum(1 for one in report.verdicts if one.verdict == v) for v in ("same", "within tolerance")}
    agreeing = sum(counts.values())
    summary = f"{counted(agreeing, 'step')} {'agrees' if agreeing == 1 else 'agree'}"
    if counts["within tolerance"]:
        summary += f" ({counts['within tolerance']} within tolerance)"
    left = [v for v in report.verdicts if v.verdict in ("not run", "not compared")]
    if left:
        summary += f", {len(left)} not run ({left[0].detail})"
    if report.finding is not None:
        summary = f"DIFFERENT from {report.finding.step}"
    return f"{report.kernel} for {report.target}, {counted(x * y * z, 'program')}: {summary} ({report.seconds:.1f} s)"


def _finding(found: Finding) -> Iterator[str]:
    yield ""
    rewrite = found.rewrite
    where = found.step
    if rewrite is not None and rewrite.rewrite:
        where += f", rewrite {rewrite.rewrite} of {rewrite.rewrites} ({rewrite.rule})"
    yield f"first difference: {where}"
    yield f"  {found.message}"
    if rewrite is not None and rewrite.change:
        yield from (f"  {line}" for line in rewrite.change.split("\n"))
    suspect = found.suspect
    if suspect is not None:
        yield f"operation:     {suspect.operation}"
        if suspect.before:
            yield f"  was:         {suspect.before}"
        if suspect.element:
            yield f"  in program {suspect.program}: {suspect.element}"
        if suspect.place is not None:
            file, line, column = suspect.place
            yield f"  source: {file}:{line}:{column}"
            source = source_line(file, line).rstrip()
            if source:
                yield f"  {line:5} | {source}"
    yield from (f"note: {note}" for note in found.notes)
    if rewrite is not None:
        change = difference(rewrite.before, rewrite.after).split("\n")
        yield from change[:_MAX_LINES]
        if len(change) > _MAX_LINES:
            yield f"… {counted(len(change) - _MAX_LINES, 'more line')}"
