"""Triton's tutorials as published, autotuned as they ask, on both compilers by turns: `tensor_cores.py --tutorials`.

GPU time is that of a call's kernels by CUPTI, host time that of a call with an idle GPU; torch's operator, where one
does the same, is timed by events in Triton's process. Ratios are per alternation: above 1 this compiler is faster.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from turns import HERE, SIDES, Engine, Measured, card, clocks, geometric_mean, names_in

__all__ = ["run_tutorials"]

LEAST = 0.985  # 0.99, and half a percent of noise
ALTERNATIONS, REPEATS = 5, 5
PARTS = 4  # processes that share the configurations of one autotuner while compiling


def sums(result: Measured, side: str) -> list[float]:
    """Microseconds of all kernels of a call, per turn."""
    return [sum(times) for times in zip(*(getattr(kernel, side) for kernel in result.kernels))]


def ratios(result: Measured) -> list[float]:
    """Triton's GPU time over ours, per alternation, sorted."""
    return sorted(b / a for a, b in zip(sums(result, "ours"), sums(result, "triton")))


def _row(result: Measured) -> str:
    gpu = {side: statistics.median(sums(result, side)) for side in SIDES}
    host = {side: statistics.median(result.host.get(side) or [float("nan")]) for side in SIDES}
    found = ratios(result)
    middle = statistics.median(found)
    peer = f"{statistics.median(result.peer) / gpu['ours']:.2f}" if result.peer else ""
    mark = "" if middle >= LEAST else " **missed**"
    return (
        f"| {result.name.partition('.')[2]} | {gpu['ours']:.1f} | {gpu['triton']:.1f} | {middle:.3f}{mark} "
        f"| {found[0]:.3f} to {found[-1]:.3f} | {peer} | {host['ours']:.0f} | {host['triton']:.0f} "
        f"| {result.difference or 'agree'} |"
    )


def table(results: list[Measured]) -> str:
    """A row per workload, in order, then the summary."""
    measured = [result for result in results if result.kernels]
    middles = [statistics.median(ratios(result)) for result in measured]
    lines = [
        "| tutorial | ours GPU us | Triton | Triton / ours | spread | torch / ours | ours host us | Triton | outputs |",
        "|---|---:|---:|---:|---|---:|---:|---:|---|",
        *map(_row, measured),
        "",
        f"geometric mean {geometric_mean(middles):.3f} of {len(measured)} rows",
    ]
    lines += [f"not measured: {r.name}: {r.error}" for r in results if r.error]
    for result in measured:
        lines += [f"chosen for {result.name}, {side}: {text}" for side, text in result.chosen.items() if text]
    return "\n".join(lines)


def run_tutorials(clone: Path, only: str, jobs: int, seconds: float, figures: Path | None, without: str = "") -> int:
    """Compile, measure and print; 1 where a row's median is below `LEAST`. `without` names optimizations: this compiler
    without them is measured in Triton's stead."""
    names = names_in(HERE / "public" / "tuned_tutorials.py")
    names = [name for name in names if any(name.partition(".")[2].startswith(word) for word in only.split(","))]
    checkouts = Path(tempfile.mkdtemp())
    (checkouts / "tutorials").symlink_to(clone.resolve())
    engine = Engine(checkouts, 0, seconds, without=without)
    engine.load(["tuned_tutorials"])
    began = time.monotonic()
    ours = max(1, jobs * 3 // 8)
    tasks = [(name, part, PARTS) for name in names if _compiles(name) for part in range(PARTS)]
    engine.compile(tasks, {"ours": ours, "triton": max(1, jobs - ours)}, seconds * 0.5)
    print(f"{card()}; compiled in {time.monotonic() - began:.0f} s", flush=True)
    results: list[Measured] = []
    with clocks() as clock:
        for at in range(0, len(names), 2):
            batch = names[at : at + 2]
            late = engine.left() < 12
            none = [Measured(name, error="no time left") for name in batch]
            found = none if late else engine.measure(batch, ALTERNATIONS, REPEATS, True)
            results += found
            for result in found:
                print(_row(result) if result.kernels else f"{result.name}: {result.error}", flush=True)
            if figures:
                figures.write_text(json.dumps([asdict(r) for r in results]))
    engine.stop()
    print(table(results))
    print(f"{card()}; {clock}; {ALTERNATIONS} alternations of {REPEATS} runs")
    return any(result.kernels and statistics.median(ratios(result)) < LEAST for result in results)


def _compiles(name: str) -> bool:
    """False for a size whose kernels are those of another workload."""
    return not name.endswith(("matmul_2048", "matmul_8192", "1k_keys", "16k_keys", "_both_4096"))
