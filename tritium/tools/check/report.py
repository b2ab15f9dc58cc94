"""What a check tells: a line a step; for the first that differs the element, the rewrite, the operation, its line."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.passes.dump import difference
from ...support.files import source_line
from .oracle import Finding, Report

__all__ = ["headline", "render"]

_MOST_LINES = 40


def render(report: Report, verbose: bool = False) -> str:
    """The report as text: the headline, every step if it is wanted or one differs, and the finding."""
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
    counts = {v: sum(1 for one in report.verdicts if one.verdict == v) for v in ("same", "rounded")}
    told = f"{sum(counts.values())} steps agree"
    if counts["rounded"]:
        told += f" ({counts['rounded']} of them but for rounding)"
    left = [v for v in report.verdicts if v.verdict in ("not run", "not compared")]
    if left:
        told += f", {len(left)} not run ({left[0].detail})"
    if report.finding is not None:
        told = f"DIFFERENT since {report.finding.step}"
    programs = f"{x * y * z} program{'s' if x * y * z != 1 else ''}"
    return f"{report.kernel} for {report.target}, {programs}: {told} ({report.seconds:.1f} s)"


def _finding(found: Finding) -> Iterator[str]:
    yield ""
    rewrite = found.rewrite
    where = found.step
    if rewrite is not None and rewrite.rewrite:
        where += f", rewrite {rewrite.rewrite} of {rewrite.rewrites} ({rewrite.rule})"
    yield f"the first difference: {where}"
    yield f"  {found.message}"
    if rewrite is not None and rewrite.change:
        yield from (f"  {line}" for line in rewrite.change.split("\n"))
    suspect = found.suspect
    if suspect is not None:
        yield f"the operation:   {suspect.operation}"
        if suspect.before:
            yield f"  stands for:    {suspect.before}"
        if suspect.element:
            yield f"  in program {suspect.program}: {suspect.element}"
        if suspect.place is not None:
            file, line, column = suspect.place
            yield f"  made of {file}:{line}:{column}"
            source = source_line(file, line).rstrip()
            if source:
                yield f"  {line:5} | {source}"
    yield from (f"note: {note}" for note in found.notes)
    if rewrite is not None:
        change = difference(rewrite.before, rewrite.after).split("\n")
        yield from change[:_MOST_LINES]
        if len(change) > _MOST_LINES:
            yield f"… {len(change) - _MOST_LINES} more lines"
