"""`tritium analyse`: what a kernel for an NVIDIA GPU needs and does, without a GPU.

    tritium analyse matmul.py::matmul_kernel --target cuda:90 --signature '*fp16:16, *fp16:16, *fp16:16, …'
    tritium analyse kernel.ttgir --target cuda:90 --json

The kernel is named as for `tritium compile`. Shown are shared memory by its buffers, registers, occupancy, products,
copies, accesses to shared memory with their bank conflicts, barriers, specialized warps, and what the assembler
remarked with what can be done about it. `--json` prints the same as one JSON object, for scripts.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..backends.errors import BackendError
from ..support import TritiumError
from .compile import Request, compile_request

__all__ = ["main", "show"]

MOST_ROWS = 12  # instructions of a group that a table shows


def main(request: Request, as_json: bool = False) -> int:
    """Compile, and show or print the analysis; the exit status."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks are part of what is shown
            analysis = compile_request(request).analysis()
    except (TritiumError, BackendError, KeyError, OSError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium analyse: error: {text}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(analysis.as_json(), indent=2))
    else:
        show(analysis, Console(soft_wrap=True, highlight=False))
    return 0


def show(analysis: Any, console: Console) -> None:
    """The tables for people."""
    console.print(f"[bold]{escape(analysis.kernel)}[/] for {analysis.target}, {analysis.warps} warps a block")
    console.print(_budget(analysis))
    tables = [
        ("warps with programs of their own", ("", "warps", "registers"), _partitions(analysis)),
        ("shared memory", ("what", "where", "tile", "stages", "bytes", "from"), _buffers(analysis)),
        (
            "accesses of a warp to shared memory",
            ("for", "where", "instruction", "times", "wavefronts", "conflicts", "in a loop"),
            _accesses(analysis),
        ),
        ("instructions", ("group", "name", "in the text", "in loops"), _instructions(analysis)),
    ]
    for title, columns, rows in tables:
        if rows:
            console.print(_table(title, columns, rows))
    flying = ", ".join(f"{n} {kind}" for kind, n in analysis.in_flight.items())
    if flying:
        console.print(f"in flight behind waits: {flying}")
    for remark in analysis.remarks:
        console.print(f"[bold red]{escape(remark.message(analysis.kernel))}[/]")


def _table(title: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Table:
    table = Table(box=box.SIMPLE, title=title or None, title_justify="left", show_header=any(columns))
    rows = list(rows)
    for i, column in enumerate(columns):
        number = all(isinstance(row[i], int) for row in rows)
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else escape(cell) for cell in row))
    return table


def _budget(analysis: Any) -> Table:
    """Registers, shared memory and occupancy with their limits."""
    registers, occupied = analysis.registers, analysis.occupancy
    spilled = f"{registers.spilled} of them in memory" if registers.spilled else "none spilled"
    rows = [
        ("registers a thread", f"{registers.each} of {registers.limit}", spilled),
        ("shared memory", f"{analysis.shared:,} of {analysis.shared_limit:,} bytes", f"{len(analysis.buffers)} pieces"),
        (
            "occupancy",
            f"{occupied.warps} of {occupied.most} warps",
            f"{occupied.blocks} blocks; more would need {_more(occupied.limit)}",
        ),
        (
            "bank conflicts",
            f"{analysis.conflicts} wavefronts a warp",
            "none" if not analysis.conflicts else "see below",
        ),
    ]
    if registers.stack:
        rows.append(("stack", f"{registers.stack} bytes a thread", ""))
    return _table("", ("", "", ""), rows)


def _more(limit: str) -> str:
    return {"registers": "fewer registers", "shared memory": "less shared memory"}.get(
        limit, f"a chip with more {limit}"
    )


def _partitions(analysis: Any) -> list[tuple[Any, ...]]:
    return [(p.name, p.warps, str(p.registers) if p.registers else "as started") for p in analysis.partitions]


def _buffers(analysis: Any) -> list[tuple[Any, ...]]:
    return [(b.name, b.place, b.tile or "scratch", b.stages, b.bytes, b.offset) for b in analysis.buffers]


def _accesses(analysis: Any) -> list[tuple[Any, ...]]:
    return [
        (a.name, a.place, a.instruction, a.instructions, a.wavefronts, a.conflicts, "yes" if a.looped else "")
        for a in analysis.accesses
    ]


def _instructions(analysis: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for group, counts in analysis.instructions.items():
        rows += [(group if not i else "", c.name, c.number, c.in_loops) for i, c in enumerate(counts[:MOST_ROWS])]
    return rows
