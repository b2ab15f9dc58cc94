"""`python -m tritium demo`: one kernel looked at stage by stage, then all five tutorial kernels, in a few seconds."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from .. import __version__
from .timing import by_turns
from .workloads import Workload, tutorials, vector_add

__all__ = ["demo"]

SIZE = 1024
BLOCK = 1024
LARGE = 1 << 24  # elements of the throughput figure: 192 MiB, more than the caches hold
LINES = {"ttir": 24, "ttcir": 24, "asm": 24}  # how much of each stage is shown
LEXERS = {"ttir": "llvm", "ttcir": "llvm", "asm": "gas"}
EXPLANATIONS = {
    "ttir": "tile program: tensors, as Triton spells it",
    "ttcir": "CPU level: loops over vectors of the machine's width",
    "asm": "what the CPU runs",
}


@contextmanager
def _empty_cache() -> Iterator[None]:
    """A cache folder of this run's own, so that every time shown is a compile and none a look-up."""
    before = os.environ.get("TRITIUM_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="tritium-demo-") as folder:
        os.environ["TRITIUM_CACHE_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["TRITIUM_CACHE_DIR"]
            else:
                os.environ["TRITIUM_CACHE_DIR"] = before


def _size(stage: str | bytes) -> str:
    if isinstance(stage, bytes):
        return f"{len(stage)} bytes"
    return f"{len(stage.splitlines())} lines, {len(stage)} characters"


class _Screen:
    """A console, with tables and panels that are plain text where the output is no terminal."""

    def __init__(self) -> None:
        self.console = Console()
        self.plain = not self.console.is_terminal

    def table(self, title: str, *columns: str) -> Table:
        table = Table(title=title, title_justify="left", box=box.MARKDOWN if self.plain else box.ROUNDED)
        for i, column in enumerate(columns):
            table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
        return table

    def code(self, title: str, text: str, lexer: str, lines: int) -> None:
        shown = text.strip("\n").splitlines()
        rest = len(shown) - lines
        body = "\n".join(shown[:lines]) + (f"\n... {rest} more lines" if rest > 0 else "")
        if self.plain:
            self.console.print(f"\n--- {title} ---\n{body}", markup=False, highlight=False, soft_wrap=True)
        else:
            self.console.print(Panel(Syntax(body, lexer, theme="ansi_dark", background_color="default"), title=title))

    def say(self, text: str) -> None:
        self.console.print(text, highlight=not self.plain, soft_wrap=True)


def demo() -> None:
    """Compile and run the tutorial kernels, and show what happened."""
    screen = _Screen()
    rng = np.random.default_rng(0)
    screen.say(f"[bold]Tritium {__version__}[/bold]: Triton kernels, compiled to native code for this CPU")
    with _empty_cache():
        _one_kernel(screen, rng)
        _throughput(screen, rng)
        _all_kernels(screen, rng)


def _one_kernel(screen: _Screen, rng: np.random.Generator) -> None:
    workload = vector_add(SIZE, BLOCK, rng)
    kernel = workload.run()
    screen.say(f"\nadd_kernel of examples/vector_add.py, {SIZE} elements, BLOCK_SIZE={BLOCK}\n")
    table = screen.table("Stages", "stage", "size", "ms")
    times = kernel.times
    for stage, content in kernel.asm.items():
        table.add_row(stage, _size(content), f"{times[stage]:.2f}" if stage in times else "")
    table.add_row("total", "", f"{sum(times.values()):.2f}")
    screen.console.print(table)
    for stage, lines in LINES.items():
        screen.code(f"{stage}: {EXPLANATIONS[stage]}", kernel.asm[stage], LEXERS[stage], lines)
    screen.say(f"\nmaximum error against NumPy in float64: {workload.error():.3g}")


def _throughput(screen: _Screen, rng: np.random.Generator) -> None:
    workload = vector_add(LARGE, 8192, rng)
    times = _measure(workload)
    table = screen.table(f"Throughput of the vector add, {LARGE} elements", "who", "ms", "GB/s")
    for who, taken in times.items():
        table.add_row(who, f"{taken * 1e3:.2f}", f"{workload.work / taken / 1e9:.1f}")
    screen.say("")
    screen.console.print(table)


def _measure(workload: Workload) -> dict[str, float]:
    runners: dict[str, Any] = {"Tritium": workload.run, **workload.peers()}
    return by_turns(runners, rounds=7, slice_s=0.01)


def _all_kernels(screen: _Screen, rng: np.random.Generator) -> None:
    columns = ("kernel", "size", "compile ms", "max error", "ms", "throughput", "x torch", "x NumPy")
    table = screen.table("The five tutorial kernels, float32", *columns)
    for workload in tutorials(rng):
        start = time.perf_counter()
        kernel = workload.run()
        compiled = sum(kernel.times.values()) or (time.perf_counter() - start) * 1e3
        error = workload.error()
        times = _measure(workload)
        mine = times["Tritium"]
        ratios = [f"{times[peer] / mine:.2f}" if peer in times else "-" for peer in ("torch", "NumPy")]
        speed = f"{workload.work / mine / 1e9:.1f} {workload.unit}"
        row = (workload.name, workload.size, f"{compiled:.1f}", f"{error:.2g}", f"{mine * 1e3:.2f}", speed)
        table.add_row(*row, *ratios)
    screen.say("")
    screen.console.print(table)
    screen.say("x torch, x NumPy: how many times as fast as they are, on the same arrays in the same run")
