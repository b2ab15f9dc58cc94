"""Inspections and autotuning as tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..backends.amd.inspection import Inspection as AMDInspection
from ..backends.cpu.inspection import Inspection as CPUInspection
from ..backends.nvidia.inspection import Inspection as NVIDIAInspection
from ..runtime.autotuner import Autotuner
from ..support.display import formats
from ..tools.inspection import report_of
from .html import Markup, framed, table

__all__: list[str] = []

WIDTH = 160  # pixels of the longest bar


@formats(AMDInspection, CPUInspection, NVIDIAInspection)
def _inspection(found: AMDInspection | CPUInspection | NVIDIAInspection) -> str:
    title, tables = report_of(found)
    parts = [f"<div><i>{escape(name)}</i></div>{table(columns, rows)}" for name, columns, rows in tables if rows]
    findings = [(f.kind, f.place, f.message, f.hint) for f in found.findings]
    if findings:
        parts.append(table(("finding", "line", "", "hint"), findings))
    return framed(title, *parts)


@formats(Autotuner)
def _autotuner(tuner: Autotuner) -> str:
    """The configurations of the last tuning, the fastest first; a bar is the time."""
    timed = sorted(((_median(t), config) for config, t in tuner.configs_timings.items()), key=lambda row: row[0])
    if not timed:
        return framed(f"{tuner.__name__}: {len(tuner.configs)} configurations, not tuned yet")
    finite = [time for time, _ in timed if time < float("inf")]
    longest = max(finite, default=1.0)
    rows = []
    for time, config in timed:
        fails = time == float("inf")
        bar = (
            ""
            if fails
            else Markup(f'<span class="bar" style="width:{max(1, round(WIDTH * time / longest))}px"></span>')
        )
        chosen = "best" if config == tuner.best_config else ""
        rows.append((str(config), "does not fit" if fails else f"{1000 * time:.1f}", bar, chosen))
    took = f" in {tuner.bench_time:.2f} s" if tuner.bench_time else ""
    title = f"{tuner.__name__}: {len(timed)} configurations timed{took}"
    return framed(title, table(("configuration", "us", "", ""), rows))


def _median(timing: float | Sequence[float]) -> float:
    return timing if isinstance(timing, (int, float)) else timing[0]
