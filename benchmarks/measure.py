"""How the benchmarks measure, so that their figures can be compared: peers by turns in one run, medians, one table.

Each script has a function `measure() -> list[Row]` and calls `main(measure)`; `run_all.py` runs every script in a
process of its own and prints the table of docs/performance.md.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

from tritium.tools.timing import by_turns

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


def example(name: str) -> ModuleType:
    """A script of examples/ as a module, loaded anew: its JIT functions have compiled nothing yet."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def keep_pages() -> None:
    """Let the C library keep freed memory, so that no peer pays for fresh pages at every call (glibc; else nothing).

    torch's operators without an `out` argument, and its chains of them, allocate their results; above 32 MiB glibc
    maps and unmaps those each time, which costs several times what the operator itself does.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        m_trim_threshold, m_mmap_threshold = -1, -3
        libc.mallopt(m_mmap_threshold, 1 << 30)
        libc.mallopt(m_trim_threshold, (1 << 31) - 1)


keep_pages()


@dataclass(frozen=True)
class Row:
    """One line of the table. `value` is what was measured in `unit`; `bound` what it must reach.

    Units of time ("s", "ms", "us") must stay at or below the bound; "x" is a ratio of a peer's time to ours and must
    reach it. A `bound` of None is a figure without a promise. `note` says against what, and the times behind a ratio.
    """

    what: str
    value: float
    unit: str
    bound: float | None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.unit == "x" else self.value <= self.bound


def against(
    what: str, ours: Callable[[], object], peers: dict[str, tuple[Callable[[], object], float]], **how
) -> list[Row]:
    """Rows for one workload: our speed as a ratio to each peer's, given as name -> (function, the ratio to reach).

    Slices are long: OpenMP's threads (torch's) spin on their cores for milliseconds after their work, and whoever comes
    next has one core less for as long. In slices of 20 ms that was a fifth of our time.
    """
    how.setdefault("slice_s", 0.15)
    times = by_turns({"tritium": ours, **{name: function for name, (function, _) in peers.items()}}, **how)
    mine = times["tritium"]
    return [
        Row(
            f"{what}, against {name}",
            times[name] / mine,
            "x",
            bound,
            f"{mine * 1e3:.3g} ms, {name} {times[name] * 1e3:.3g} ms",
        )
        for name, (_, bound) in peers.items()
    ]


def show(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | measured | at least / at most | |", "|---|---:|---:|---|"]
    for row in rows:
        bound = "" if row.bound is None else f"{'>=' if row.unit == 'x' else '<='} {row.bound:g} {row.unit}"
        mark = "" if row.holds else " **missed**"
        lines.append(f"| {row.what} | {row.value:.3g} {row.unit}{mark} | {bound} | {row.note} |")
    return "\n".join(lines)


def main(measure: Callable[[], list[Row]]) -> None:
    """Run one script: print its table, or with --json its rows for `run_all.py`."""
    rows = measure()
    print(json.dumps([asdict(row) for row in rows]) if "--json" in sys.argv else show(rows))
