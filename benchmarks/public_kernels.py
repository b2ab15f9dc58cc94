"""GPU time of kernels of public repositories, unmodified: this compiler's drop-in beside the installed Triton.

    python benchmarks/public_kernels.py --checkouts FOLDER [--only fla,attorch.conv2d] [--json FILE] [--seconds 230]

FOLDER holds clones of the repositories that `benchmarks/public` names (`workloads.MODULES`), each as `git clone` makes
it; what is not there is left out. `public/checkouts.py` copies only what is needed of them. A row is a kernel in a
workload: the sum of its launches in a run, by CUPTI (torch's profiler), the L2 cache cleared before each run. The two
compilers take turns as processes (`turns.py`); the ratio is Triton's time over ours per alternation. A kernel counts
as slower when the greatest of the alternations' ratios is below 0.95. Inputs and seeds are equal, memory is poisoned in
the first run, and outputs of the two are compared. Autotuners try at most `--configurations` of their configurations,
the same for both, and each compiler keeps its own best.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from turns import HERE, Engine, Figure, Measured, card, clocks, geometric_mean, names_in

SLOWER = 0.95
DRIVERS = HERE / "public"
BATCH = 8  # workloads that are ready at the same time
TUNED = "tuned_tutorials"  # those of `tensor_cores.py --tutorials`


def modules() -> dict[str, str]:
    """The driver modules and their checkouts' folders, as `workloads.MODULES` has them, read without torch."""
    text = (DRIVERS / "workloads.py").read_text()
    return dict(ast.literal_eval(text.partition("MODULES = ")[2].partition("}")[0] + "}"))


def chosen_workloads(checkouts: Path, only: str) -> list[str]:
    """The workloads whose checkout is there, and that begin with one of the comma-separated words; of each repository
    the first, then the second ..., so that a run that ends early has some of all."""
    there = [name for name, folder in modules().items() if (checkouts / folder).is_dir() and name != TUNED]
    each = [names_in(DRIVERS / f"{module}.py") for module in there]
    names = [name for row in itertools.zip_longest(*each) for name in row if name is not None]  # in case time runs out
    return [name for name in names if any(name.startswith(word) for word in only.split(","))]


def rows(results: list[Measured]) -> list[tuple[str, Figure, str]]:
    """All kernels, the slowest ratio first."""
    found = [(result.name, figure, result.difference) for result in results for figure in result.kernels]
    return sorted(found, key=lambda row: row[1].ratio)


def table(results: list[Measured]) -> str:
    """The rows, the worst first, then the summary."""
    lines = ["| kernel | ours us | Triton us | Triton / ours | spread | outputs |", "|---|---:|---:|---:|---|---|"]
    found = rows(results)
    for name, figure, differs in found:
        low, high = figure.ratios[0], figure.ratios[-1]
        mark = " **slower**" if high < SLOWER else ""
        ours, theirs = (sorted(t)[len(t) // 2] for t in (figure.ours, figure.triton))
        lines.append(
            f"| {name} `{figure.name}` | {ours:.1f} | {theirs:.1f} | {figure.ratio:.3f}{mark} "
            f"| {low:.3f} to {high:.3f} | {differs or 'agree'} |"
        )
    ratios = [figure.ratio for _, figure, _ in found]
    slower = [figure for _, figure, _ in found if figure.ratios[-1] < SLOWER]
    repositories = len({name.partition(".")[0] for name, _, _ in found})
    summary = (
        f"{len(found)} kernels of {repositories} repositories: geometric mean {geometric_mean(ratios):.3f}, "
        f"{sum(r > 1.05 for r in ratios)} above 1.05, {len(slower)} slower (greatest ratio below {SLOWER}), "
        f"least {min(ratios, default=1.0):.3f}"
    )
    lines += [
        "",
        summary,
    ]
    lines += [f"not measured: {r.name}: {r.error}" for r in results if r.error]
    lines += [f"outputs differ: {r.name}: {r.difference}" for r in results if r.difference]
    return "\n".join(lines)


def read(files: list[Path]) -> list[Measured]:
    """The results in files written by --json: of each workload the last that has kernels."""
    found: dict[str, Measured] = {}
    for row in (row for file in files for row in json.loads(file.read_text())):
        kernels = [Figure(**kernel) for kernel in row.pop("kernels")]
        if kernels or row["name"] not in found:
            found[row["name"]] = Measured(kernels=kernels, **row)
    return list(found.values())


def _tuned(name: str) -> bool:
    """True for repositories most of whose kernels are autotuned: processes share the configurations."""
    return name.partition(".")[0] in ("fla", "mamba", "attorch", "cross_entropy", "flag_attention")


def _last(name: str) -> bool:
    """False for what takes longest to compile, which begins first."""
    return name.partition(".")[0] not in ("fla", "mamba")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path)
    parser.add_argument(
        "--report", type=Path, nargs="+", help="only print the table of figures written by --json; later files win"
    )
    parser.add_argument("--only", default="", help="workloads that begin with one of these, with commas")
    parser.add_argument("--but", type=Path, help="figures of an earlier run (--json): what it measured is left out")
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=6, help="runs in a turn")
    parser.add_argument("--configurations", type=int, default=3, help="most configurations an autotuner tries")
    parser.add_argument("--jobs", type=int, default=16, help="processes that compile")
    parser.add_argument("--seconds", type=float, default=3600, help="time limit; what was measured by then is printed")
    parser.add_argument("--json", type=Path, help="a file for the figures, written after each workload")
    parser.add_argument(
        "--beside",
        type=Path,
        help="another checkout of this compiler, measured in Triton's stead: its columns say Triton",
    )
    parser.add_argument(
        "--without",
        default="",
        help="measure this compiler without these optimizations in Triton's stead: its columns say Triton",
    )
    parser.add_argument(
        "--rehearse", type=Path, help="only compile, for sm_90 without a GPU; the code goes to a folder"
    )
    chosen = parser.parse_args()
    if chosen.report:
        print(table(read(chosen.report)))
        return 0
    names = chosen_workloads(chosen.checkouts, chosen.only)
    if chosen.but:
        known = {result["name"] for result in json.loads(chosen.but.read_text()) if result["kernels"]}
        names = [name for name in names if name not in known]
    engine = Engine(
        chosen.checkouts, chosen.configurations, chosen.seconds, chosen.rehearse, chosen.beside, chosen.without
    )
    began = time.monotonic()
    ours = max(1, chosen.jobs * 3 // 8)
    engine.load(list(dict.fromkeys(name.partition(".")[0] for name in names)))
    parts = 1 if chosen.rehearse else chosen.configurations  # a rehearsal times nothing: one process compiles all
    tasks = [(name, part, parts) for name in sorted(names, key=_last) for part in range(parts if _tuned(name) else 1)]
    errors = engine.compile(tasks, {"ours": ours, "triton": max(1, chosen.jobs - ours)}, chosen.seconds * 0.4)
    print(f"{card()}; {len(names)} workloads compiled in {time.monotonic() - began:.0f} s", flush=True)
    results = [Measured(name, error=errors[name]) for name in names if name in errors]
    names = [name for name in names if name not in errors]
    with clocks() as clock:
        for at in range(0, len(names), BATCH):
            batch = names[at : at + BATCH]
            late = engine.left() < 10
            none = [Measured(name, error="no time left") for name in batch]
            found = none if late else engine.measure(batch, chosen.alternations, chosen.repeats)
            results += found
            for result in found:
                least = min((f.ratio for f in result.kernels), default=float("nan"))
                print(f"{result.name}: {len(result.kernels)} kernels, least {least:.3f} {result.error}", flush=True)
            if chosen.json:
                chosen.json.write_text(json.dumps([asdict(r) for r in results]))
    engine.stop()
    print(table(results))
    print(f"{card()}; {clock}; {chosen.alternations} alternations of {chosen.repeats} runs")
    return any(f.ratios[-1] < SLOWER for _, f, _ in rows(results))


if __name__ == "__main__":
    sys.exit(main())
