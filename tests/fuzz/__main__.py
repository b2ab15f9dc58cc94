"""Random kernels on several targets: the long run.

    python -m tests.fuzz --programs 20000 --targets interpreter,numpy,cpu --workers 2 --seed 0 --time 10m

tries the programs of seeds 0 to 19999, prints each seed that fails, and writes what came of it to `--out`: a summary as
JSON, and the first failing programs (`--reduce`) as tests cut down to what fails, in two minutes each behind the `--time`
of the run. A run that was cut short goes on from the seed that the summary calls "next" (`--seed`). Targets are
interpreter, numpy (for kernels that keep to what `kernels/reference.py` has), cpu, cuda, emulated:80, emulated:90,
emulated:gfx942, emulated:gfx1100.
`--often loop_of_loads,drawn_function` draws these kinds of statements more often; their programs are others than without.
`--types f16,bf16` loads elements of these types alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from tests.fuzz.kernels.accesses import STORED
from tests.fuzz.kernels.generate import KINDS, generate
from tests.fuzz.kernels.reduce import reproducer
from tests.fuzz.kernels.runner import Summary, run
from tests.fuzz.kernels.writer import Wishes

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """ "90", "90s", "10m", "2h" in seconds."""
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float(text)


def kinds_of(text: str) -> tuple[str, ...]:
    """ "A,B" as names of kinds of statements that there are."""
    return names_of(text, KINDS, "kind of statement")


def types_of(text: str) -> tuple[str, ...]:
    """ "f16,bf16" as names of types that are loaded."""
    return names_of(text, sorted(set(STORED)), "type of elements")


def names_of(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names in a text, all of which are known."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no {what} is called {', '.join(unknown)}; known: {', '.join(known)}")
    return names


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--targets", default="interpreter,numpy,cpu")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time", type=seconds_of, default=float("inf"), help="stop after 90s, 10m, 2h")
    parser.add_argument("--out", type=Path, default=Path("fuzz-results"))
    parser.add_argument("--reduce", type=int, default=5, help="so many failing programs are cut down")
    parser.add_argument("--often", type=kinds_of, default=(), help="kinds of statements to draw more often: A,B,C")
    parser.add_argument("--types", type=types_of, default=(), help="types of the elements that are loaded: f16,bf16,i8")
    parser.add_argument("--show", type=int, help="print the program of a seed and end")
    return parser.parse_args()


def main() -> int:
    """1 if a program failed."""
    options = arguments()
    wishes = Wishes(options.often, options.types)
    if options.show is not None:
        print(case := generate(options.show, wishes).text, file=sys.stdout)
        return 0
    targets = options.targets.split(",")
    options.out.mkdir(parents=True, exist_ok=True)
    summary = Summary(options.seed)
    seeds = range(options.seed, options.seed + options.programs)
    print(f"seeds {seeds.start} to {seeds.stop - 1} on {', '.join(targets)}", flush=True)
    columns = "programs", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, disable=not sys.stdout.isatty()) as bar:
        task = bar.add_task("", total=options.programs)
        for result in run(seeds, targets, options.workers, options.time, summary, wishes):
            bar.advance(task)
            if "error" in result:
                first = result["message"].splitlines()[0] if result["message"] else ""
                bar.console.print(
                    f"seed {result['seed']}: {result['error']}: {first[:200]}", markup=False, soft_wrap=True
                )
    summary.write(options.out / "summary.json")
    print(
        f"{summary.tried} programs in {summary.seconds:.0f} s, {len(summary.failures)} failed; "
        f"compared on: {dict(summary.compared)}; next: {summary.next}",
        flush=True,
    )
    for failure in summary.failures[: options.reduce]:
        path = options.out / f"test_seed_{failure['seed']}.py"
        path.write_text(reproducer(failure, targets, wishes))
        print(f"reduced to {path}", flush=True)
    return bool(summary.failures)


if __name__ == "__main__":
    sys.exit(main())
