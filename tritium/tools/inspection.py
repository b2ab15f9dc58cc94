"""`tritium inspect`: resources, performance findings and machine code of a kernel. Nothing is run.

    tritium inspect matmul.py::matmul_kernel --target cuda:90 --signature '*fp16:16, *fp16:16, *fp16:16, …'
    tritium inspect kernel.ttgir --target cuda:90 --json
    tritium inspect add.py::add_kernel … --grid 1024 --argument x=1048576 --argument n=1048576
    tritium inspect add.py::add_kernel … --listing

The kernel is named as for `tritium compile`. The output depends on the target; see `docs/inspect.md`. With `--grid`
and `--argument` the roofline bound of such a launch is shown, with `--json` everything is one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..backends.errors import BackendError
from ..backends.roofline import Rates
from ..compiler import CompiledKernel
from ..support import TritiumError
from ..support.lazy import LazyModule
from ..support.quantities import amount, counted, rate, seconds
from .compile_command import compile_request
from .kernel_file import CommandError
from .program_output import output_to_stderr
from .request import Request, pairs, value_of

__all__ = ["InspectOptions", "main", "report_of", "show"]

_testing = LazyModule("..testing", __package__)

MAX_ROWS = 12  # instructions of a group in a table
DEFAULT_WIDTH = 140

Row = tuple[Any, ...]
Report = tuple[str, list[tuple[str, tuple[str, ...], list[Row]]]]


@runtime_checkable
class Tabled(Protocol):
    """An inspection that makes its own tables."""

    @property
    def title(self) -> str:
        """The first line of a report."""

    def tables(self) -> list[tuple[str, tuple[str, ...], list[Row]]]:
        """Title, columns and rows of each table."""


@dataclass
class InspectOptions:
    """Output options: a JSON object, machine code by source lines, the roofline bound of a launch."""

    json: bool = False
    listing: bool = False
    grid: str = ""
    arguments: Sequence[str] = ()


def main(request: Request, wanted: InspectOptions | None = None) -> int:
    """Compile, inspect, and show or print it; the exit status."""
    wanted = wanted or InspectOptions()
    try:
        grid, arguments = _launch(wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks are part of what is shown
            kernel = compile_request(request)
            with output_to_stderr():  # stages that are made now may run the kernel's Python code again
                listing = kernel.listing() if wanted.listing else None
                found = None if wanted.listing else kernel.inspect(grid, arguments, _rates(kernel) if grid else None)
    except (TritiumError, BackendError, KeyError, OSError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium inspect: error: {text}", file=sys.stderr)
        return 1
    if found is None:
        print(listing, end="")
    elif wanted.json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        show(found, _console())
    return 0


def _console() -> Console:
    """Standard output; if it is no terminal and COLUMNS is not set, wide enough for every table."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(soft_wrap=True, highlight=False, width=None if known else DEFAULT_WIDTH)


def _launch(wanted: InspectOptions) -> tuple[tuple[int, ...] | None, dict[str, Any]]:
    """The grid and the arguments of a command line."""
    if not wanted.grid:
        if wanted.arguments:
            raise CommandError("--argument is for the roofline bound of a launch, which needs --grid, too")
        return None, {}
    parts = wanted.grid.replace("x", ",").split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise CommandError(f"--grid is one to three numbers such as 1024 or 64,32, not {wanted.grid!r}")
    return tuple(int(part) for part in parts), {name: _size(text) for name, text in pairs(wanted.arguments)}


def _size(text: str) -> Any:
    """4096x4096 as a shape, everything else as a literal."""
    parts = text.split("x")
    return tuple(map(int, parts)) if len(parts) > 1 and all(p.isdigit() for p in parts) else value_of(text)


def _rates(kernel: CompiledKernel) -> Rates | None:
    """The peak rates of this machine, if the kernel is for it; None: those of the target."""
    target = kernel.backend.describe()
    if target.backend != "cpu":
        return None
    if kernel.backend.target != _testing.default_target():
        raise CommandError("the roofline bound of a CPU is known for this machine only: compile for the target cpu")
    peak = _testing.get_max_simd_tflops() * 1e12
    return Rates(
        "this machine (one core's copies, all cores' f32 FMAs)", _testing.get_dram_gbps() * 1e9, {"": peak}, {"": peak}
    )


def report_of(found: object) -> Report:
    """The title of an inspection, and title, columns and rows of each table."""
    if isinstance(found, Tabled):
        return found.title, found.tables()
    return (_cpu if hasattr(found, "widths") else _gpu)(found)


def show(found: Any, console: Console) -> None:
    """Print the tables."""
    title, tables = report_of(found)
    console.print(f"[bold]{escape(title)}[/]")
    for name, columns, rows in tables:
        if rows:
            console.print(_table(name, columns, rows))
    if getattr(found, "no_sass", ""):
        console.print(f"[dim]machine code is not read: {escape(found.no_sass)}[/]")
    if found.roofline is not None:
        _show_roofline(found.roofline, console)
    _show_findings(found.findings, console)


def _table(title: str, columns: Sequence[str], rows: Iterable[Row]) -> Table:
    table = Table(box=box.SIMPLE, title=title or None, title_justify="left", show_header=any(columns))
    rows = list(rows)
    for i, column in enumerate(columns):
        number = all(isinstance(row[i], int) for row in rows)
        table.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else escape(cell) for cell in row))
    return table


def _show_findings(findings: Sequence[Any], console: Console) -> None:
    for found in findings:
        where = f" {found.place}" if found.place else ""
        console.print(f"[bold yellow]{escape(found.kind)}[/][bold]{escape(where)}[/]  {escape(found.message)}")
        if found.source:
            console.print(f"    [cyan]{escape(found.source)}[/]")
        if found.hint:
            console.print(f"    hint: {escape(found.hint)}")


def _show_roofline(roofline: Any, console: Console) -> None:
    """The bound, its parts and its assumptions."""
    work = roofline.workload
    rows: list[Row] = [("memory", amount(work.bytes, "B"), seconds(roofline.parts["memory"]))]
    for part, counts in (("dot", work.dots), ("arithmetic", work.flops)):
        if counts:
            rows.append(
                (
                    part,
                    ", ".join(f"{amount(n, 'FLOP')} {kind}" for kind, n in counts.items()),
                    seconds(roofline.parts[part]),
                )
            )
    grid = "x".join(map(str, work.grid))
    programs = "1 program" if grid == "1" else f"{grid} programs"
    console.print(
        _table(
            f"roofline bound of {programs}: {seconds(roofline.seconds)}, limited by {roofline.limit}",
            ("", "", "time"),
            rows,
        )
    )
    if work.bytes:
        console.print(
            f"  programs request {amount(work.requested, 'B')}, {rate(work.requested, work.bytes)} the argument bytes"
        )
    for text in roofline.assumptions:
        console.print(f"  [dim]assumed: {escape(text)}[/]")


# -- GPUs -------------------------------------------------------------------------------------------------------------


def _gpu(found: Any) -> tuple[str, list[tuple[str, tuple[str, ...], list[Row]]]]:
    title = f"{found.kernel} for {found.target}, {found.warps} warps per CTA"
    traffic = ("op", "line", "instruction", "count", "wavefronts", "conflicts", "in a loop")
    instructions = ("kind", "instruction", "static count", "in loops")
    tables: list[tuple[str, tuple[str, ...], list[Row]]] = [
        ("", ("", "", ""), _budget(found)),
        ("warp-specialized partitions", ("", "warps", "registers"), _partitions(found)),
        ("shared memory", ("op", "line", "tile", "stages", "bytes", "offset"), _buffers(found)),
        ("shared memory accesses per warp", traffic, _accesses(found)),
        ("memory accesses", ("memory", "instruction", "bytes per thread", "static count", "in loops"), _memory(found)),
        ("PTX instructions", instructions, _counts(found.instructions)),
        ("SASS instructions", instructions, _counts(found.mix)),
        ("groups in flight after waits", ("", ""), [(kind, n) for kind, n in found.in_flight.items()]),
    ]
    return title, tables


def _budget(found: Any) -> list[Row]:
    """Registers, shared memory and occupancy with their limits."""
    registers, occupied = found.registers, found.occupancy
    bytes_moved = f"{registers.spill_stores} bytes of stores, {registers.spill_loads} of loads"
    spilled = f"{registers.spilled} spilled: {bytes_moved}" if registers.spilled else "no spills"
    rows = [
        ("registers/thread", f"{registers.each} of {registers.limit}", spilled),
        (
            "shared memory",
            f"{found.shared:,} of {found.shared_limit:,} bytes",
            counted(len(found.buffers), "allocation"),
        ),
        ("stack", f"{registers.stack} bytes per thread", ""),
        ("barriers", f"{found.barriers} of 16", ""),
        (
            "occupancy",
            f"{occupied.warps} of {occupied.max_warps} warps",
            f"{occupied.ctas} CTAs per SM, limited by {occupied.limit}",
        ),
        ("CTAs per SM by", ", ".join(f"{name} {n}" for name, n in found.limits.items()), ""),
        (
            "bank conflicts",
            f"{found.conflicts} wavefronts per warp",
            "none" if not found.conflicts else "see below",
        ),
    ]
    return rows


def _partitions(found: Any) -> list[Row]:
    return [(p.name, p.warps, str(p.registers) if p.registers else "unchanged") for p in found.partitions]


def _buffers(found: Any) -> list[Row]:
    return [(b.name, b.place, b.tile or "scratch", b.stages, b.bytes, b.offset) for b in found.buffers]


def _accesses(found: Any) -> list[Row]:
    return [
        (a.name, a.place, a.instruction, a.instructions, a.wavefronts, a.conflicts, "yes" if a.looped else "")
        for a in found.accesses
    ]


def _memory(found: Any) -> list[Row]:
    return [(m.space, m.name, m.bytes or "a tile", m.number, m.in_loops) for m in found.memory]


def _counts(groups: Any) -> list[Row]:
    rows: list[Row] = []
    for group, counts in groups.items():
        rows += [(group if not i else "", c.name, c.number, c.in_loops) for i, c in enumerate(counts[:MAX_ROWS])]
    return rows


# -- CPUs -------------------------------------------------------------------------------------------------------------


def _cpu(found: Any) -> tuple[str, list[tuple[str, tuple[str, ...], list[Row]]]]:
    title = f"{found.kernel} for {found.target}, {found.vector_bits}-bit vectors"
    spills = found.spills
    accesses = f"{counted(spills.stores, 'store')}, {counted(spills.loads, 'load')}"
    budget: list[Row] = [
        ("instructions", f"{found.instructions:,}", ""),
        ("stack", f"{found.stack:,} bytes", f"{found.scratch:,} bytes of scratch tiles"),
        ("spills", accesses, f"{spills.in_loops} of them in loops"),
    ]
    widths = [(f"{bits} bits" if bits else "none", number) for bits, number in found.widths.items()]
    loops = [
        (loop.place, loop.instructions, f"{loop.bits} bits" if loop.bits else "none", loop.scalar_floats)
        for loop in found.loops
    ]
    calls = [(call.name, call.number, call.in_loops) for call in found.calls]
    return title, [
        ("", ("", "", ""), budget),
        ("instructions by vectors", ("vectors", "instructions"), widths),
        ("innermost loops", ("line", "instructions", "vectors", "scalar floats"), loops),
        ("calls", ("function", "static count", "in loops"), calls),
    ]
