"""`python -m tritium demo`: one kernel looked at stage by stage, then all five tutorial kernels, in a few seconds."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from .. import __version__
from ..ir import parse_module
from ..support.quantities import counted
from .timing import by_turns
from .workloads import Workload, tutorials, vector_add

__all__ = ["demo"]

SIZE = 1024
BLOCK = 1024
LARGE = 1 << 24  # elements of the throughput figure: 192 MiB, more than the caches hold
LINES = {"ttir": 24, "ttcir": 24, "asm": 24}  # how much of each stage is shown
EXPLANATIONS = {
    "ttir": "operations on tensors, in Triton's spelling",
    "ttcir": "loops over vectors of the machine's width",
    "asm": "machine code of the kernel, from its entry",
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
    return f"{counted(len(stage.splitlines()), 'line')}, {len(stage)} characters"


#: Colours for IR and assembly alike: values and registers, operations, types, numbers, comments.
PATTERNS = [
    re.compile(pattern, re.M)
    for pattern in (
        r"(?P<value>[%$][\w.#]+)",
        r"(?P<operation>\b(?:tt|ttc|arith|math|scf|cf)\.[a-z_.]+)|^\s+(?P<mnemonic>[a-z]\w*)",
        r"(?P<type>!?\b(?:tensor|vector|tt\.ptr|ttc\.buf)<[^>]*>+|\b(?:i|f|bf)(?:1|8|16|32|64)\b)",
        r"(?P<number>(?<![\w%.])-?\d[\w.]*)",
        r"(?P<comment>//.*$|^\.\.\. .*$)",
    )
]
COLOURS = {
    "code.value": "cyan",
    "code.operation": "bold",
    "code.mnemonic": "bold",
    "code.type": "green",
    "code.number": "yellow",
    "code.comment": "dim",
}


class _Screen:
    """A console, with tables and panels that are plain text where the output is no terminal."""

    def __init__(self) -> None:
        self.console = Console(theme=Theme(COLOURS))
        self.plain = not self.console.is_terminal
        if self.plain:
            self.console = Console(width=160)  # not a window: nothing is cut

    def table(self, title: str, *columns: str) -> Table:
        """A titled table: the first column to the left, figures to the right. Keep it to 80 characters a line."""
        self.console.print(f"\n[bold]{title}[/bold]", highlight=False)
        table = Table(
            box=box.MARKDOWN if self.plain else box.SIMPLE_HEAD, padding=(0, 1) if self.plain else (0, 1, 0, 0)
        )
        for i, column in enumerate(columns):
            table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True, header_style="cyan")
        return table

    def code(self, title: str, text: str, lines: int) -> None:
        shown = text.strip("\n").expandtabs(4).splitlines()
        rest = len(shown) - lines
        body = "\n".join(shown[:lines]) + (f"\n... {counted(rest, 'more line')}" if rest > 0 else "")
        if self.plain:
            self.console.print(f"\n--- {title} ---\n{body}", markup=False, highlight=False, soft_wrap=True)
        else:
            code = Text(body, no_wrap=True, overflow="ellipsis")
            for pattern in PATTERNS:
                code.highlight_regex(pattern, style_prefix="code.")
            self.console.print(Panel(code, title=title))

    def say(self, text: str) -> None:
        self.console.print(text, highlight=not self.plain, soft_wrap=True)


def demo() -> None:
    """Compile and run the tutorial kernels, and show the results."""
    screen = _Screen()
    rng = np.random.default_rng(0)
    screen.say(f"[bold]Tritium {__version__}[/bold]: Triton kernels, compiled to native code for this CPU")
    with _empty_cache():
        _one_kernel(screen, rng)
        _throughput(screen, rng)
        _all_kernels(screen, rng)


def _one_kernel(screen: _Screen, rng: np.random.Generator) -> None:
    first = _first_compile(rng)
    workload = vector_add(SIZE, BLOCK, rng)
    kernel = workload.run()
    title = f"add_kernel of examples/vector_add.py, {SIZE} elements, BLOCK_SIZE={BLOCK}, by stage"
    table = screen.table(title, "stage", "size", "ms")
    times = kernel.times
    for stage, content in kernel.asm.items():
        table.add_row(stage, _size(content), f"{times[stage]:.2f}" if stage in times else "")
    table.add_row("total", "", f"{sum(times.values()):.2f}")
    screen.console.print(table)
    screen.say(f"(the first kernel of a process took {first:.0f} ms: it also imports the compiler and starts LLVM)\n")
    for stage, lines in LINES.items():
        text = kernel.asm[stage]
        text = _instructions(text, kernel.name) if stage == "asm" else str(parse_module(text))  # without locations
        screen.code(f"{stage}: {EXPLANATIONS[stage]}", text, lines)
    screen.say(f"\nmaximum error against NumPy in float64: {workload.error():.3g}")


def _instructions(asm: str, name: str) -> str:
    """The assembly from the kernel's entry on, without what only the assembler reads."""
    entry = asm.find(f"\n{name}:")
    return "\n".join(
        line for line in asm[entry + 1 :].splitlines() if not line.lstrip().startswith((".cfi", ".p2align"))
    )


def _first_compile(rng: np.random.Generator) -> float:
    """Milliseconds of the process's first compile, of a kernel that is not shown; later ones are the steady state."""
    workload = vector_add(SIZE, BLOCK // 2, rng)
    start = time.perf_counter()
    workload.run()
    return (time.perf_counter() - start) * 1e3


def _throughput(screen: _Screen, rng: np.random.Generator) -> None:
    workload = vector_add(LARGE, 8192, rng)
    times = _measure(workload)
    table = screen.table(f"Throughput of the vector add, 2^{LARGE.bit_length() - 1} elements", "who", "ms", "GB/s")
    for who, taken in times.items():
        table.add_row(who, f"{taken * 1e3:.2f}", f"{workload.work / taken / 1e9:.1f}")
    screen.console.print(table)


def _measure(workload: Workload) -> dict[str, float]:
    runners: dict[str, Any] = {"Tritium": workload.run, **workload.peers()}
    return by_turns(runners, rounds=7, slice_s=0.01)


def _all_kernels(screen: _Screen, rng: np.random.Generator) -> None:
    title = "The five tutorial kernels, float32; last: times as fast as torch, as NumPy"
    table = screen.table(title, "kernel", "size", "compile\nms", "max\nerror", "ms", "speed", "torch", "NumPy")
    for workload in tutorials(rng):
        start = time.perf_counter()
        kernel = workload.run()
        compiled = sum(kernel.times.values()) or (time.perf_counter() - start) * 1e3
        error = workload.error()
        times = _measure(workload)
        mine = times["Tritium"]
        ratios = [f"{times[peer] / mine:.2f}" if peer in times else "-" for peer in ("torch", "NumPy")]
        speed = f"{workload.work / mine / 1e9:.3g} {workload.unit}"
        row = (workload.name, workload.size, f"{compiled:.1f}", f"{error:.1e}", f"{mine * 1e3:.2f}", speed)
        table.add_row(*row, *ratios)
    screen.console.print(table)
