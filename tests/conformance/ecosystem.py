"""Packages and tools that use Triton, as they are installed, on this compiler: a table of clients.

    make ecosystem                                                    what is on PyPI, in an environment of its own
    python -m tests.conformance.ecosystem [CLIENT ...] [--folder F] [--device cuda] [--compiler triton] [--json FILE]
    python -m tests.conformance.ecosystem --both --device cuda …      with each compiler, and their ratios

A client is a driver of cases: one of `clients/`, one of `wild/`, or `inductor`. Those of CLIENTS are installed packages
(`ecosystem.txt`); with `--folder F`, projects of `third_party` whose checkouts lie in F are run as well. Each driver runs
in a process with an empty cache of kernels, and each of its cases twice. `--compiler triton` runs the same drivers with
the Triton of the environment, for comparison; `--both` runs each client with both compilers, one after the other, and
prints the ratios of the times of cases that pass with both. `--parts N` divides the cases of a client among N processes.
The exit status is 1 where a case fails that is not in EXPECTED.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path

from tests.conformance.third_party import found_in

__all__ = ["CLIENTS", "EXPECTED", "Client", "Result", "compared", "main", "merged", "run_client", "table"]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Client:
    """A package of PyPI, the driver of its cases below this folder, and which of them are run (none: all)."""

    package: str
    driver: str
    cases: tuple[str, ...] = ()


CLIENTS = {
    "FlagGems": Client("flag-gems", "wild/flaggems.py"),
    "Liger-Kernel": Client("liger-kernel", "wild/liger.py"),
    # its other cases tune over hundreds of configurations
    "flash-linear-attention": Client("fla-core", "wild/fla.py", ("activations", "norms", "rotary", "cumulative_sums")),
    "cut-cross-entropy": Client("cut-cross-entropy", "wild/cross_entropy.py"),
    "Conch": Client("conch-triton-kernels", "wild/conch.py"),
    "Helion": Client("helion", "clients/helion_client.py"),
    "torch.compile": Client("torch", "inductor.py"),
    "tritonparse": Client("tritonparse", "clients/tritonparse_client.py"),
    "triton-viz": Client("triton-viz", "clients/triton_viz_client.py"),
    "jax-triton": Client("jax-triton", "clients/jax_triton_client.py"),
    "quack": Client("quack-kernels", "clients/quack_client.py"),
}

# "client.case" -> why it cannot pass, where the cause is not ours
EXPECTED: dict[str, str] = {}


@dataclass
class Result:
    """The cases of a client: seconds of the first and the second run of those that passed, errors of the others."""

    client: str
    version: str
    passed: dict[str, tuple[float, float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def first(self) -> float:
        """Seconds that the first runs took."""
        return sum(first for first, _ in self.passed.values())

    @property
    def second(self) -> float:
        """Seconds that the second runs took."""
        return sum(second for _, second in self.passed.values())

    @property
    def unexpected(self) -> list[str]:
        """Cases that fail and should not."""
        return [case for case in self.failed if f"{self.client}.{case}" not in EXPECTED]


def _site(package: str) -> Path:
    """A folder in which an installed package is where a checkout has it: below `src`."""
    folder = Path(tempfile.mkdtemp(prefix="ecosystem-"))
    (folder / "src").symlink_to(Path(str(metadata.distribution(package).locate_file(""))).resolve())
    return folder


def _cases_of(driver: Path) -> tuple[str, ...]:
    return tuple(re.findall(r"^ *@case\n *def (\w+)", driver.read_text(), re.MULTILINE))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _command(driver: Path, cases: tuple[str, ...], how: Conditions) -> list[str]:
    start = [sys.executable, "-W", "ignore"]
    if driver.name == "inductor.py":
        return [*start, "-m", "tests.conformance.inductor", "--device", how.device, *cases]
    run = [] if how.compiler == "triton" else ["-m", "tritium", "run"]
    return [*start, *run, str(driver), *cases]


@dataclass(frozen=True)
class Conditions:
    """How drivers are run: where, by which compiler, and for how many seconds at most."""

    device: str = "cpu"
    compiler: str = "tritium"
    limit: float = 900


@dataclass(frozen=True)
class Work:
    """A process to run: cases of a client's driver, all without any named, on what is at `root`."""

    name: str
    driver: Path
    root: Path
    version: str
    cases: tuple[str, ...]


def run_client(
    name: str, driver: Path, root: Path, version: str, cases: tuple[str, ...] = (), how: Conditions | None = None
) -> Result:
    """Run the cases of a driver, all without any given, in a process that is ended when its time is over."""
    how = how or Conditions()
    result = Result(name, version)
    beside = (
        [str(HERE / "wild")] if driver.parent.name == "clients" else []
    )  # where the harness is, and names of packages
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "THIRD_PARTY_ROOT": str(root),
            "THIRD_PARTY_DEVICE": how.device,
            "THIRD_PARTY_AGAIN": "1",
            "THIRD_PARTY_COMPILER": how.compiler,
            **({"THIRD_PARTY_SITE": str(root.parent / "site")} if (root.parent / "site").is_dir() else {}),
            "TRITIUM_CACHE_DIR": cache,
            "TRITON_CACHE_DIR": cache,
            "PYTHONPATH": os.pathsep.join(filter(None, (*beside, str(ROOT), os.environ.get("PYTHONPATH")))),
        }
        process = subprocess.Popen(
            _command(driver, cases, how),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
        )
        timer = threading.Timer(how.limit, process.kill)
        timer.start()
        running, tail = "import", ""
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("BEGIN "):
                running = line.split()[1]
            elif line.startswith("END "):
                _note(json.loads(line[4:]), result)
                running = ""
            else:
                tail = line.strip() or tail
        timer.cancel()
        if process.wait() and running:
            result.failed[running] = f"exit status {process.returncode}: {tail}"
    return result


def _note(row: dict[str, object], result: Result) -> None:
    case = str(row["case"])
    if row["ok"]:
        result.passed[case] = (float(str(row["seconds"])), float(str(row.get("again", 0))))
    else:
        result.failed[case] = str(row.get("error", ""))
    print(f"  {result.client}.{case}: {result.failed.get(case, 'passed')}", file=sys.stderr, flush=True)


def merged(parts: list[Result]) -> list[Result]:
    """One result a client of results of parts of its cases, in order."""
    whole: dict[str, Result] = {}
    for part in parts:
        result = whole.setdefault(part.client, Result(part.client, part.version))
        result.passed.update(part.passed)
        result.failed.update(part.failed)
    return list(whole.values())


def _ratio(ours: float, theirs: float) -> float:
    return max(ours, 1e-4) / max(theirs, 1e-4)


def compared(ours: list[Result], theirs: list[Result]) -> str:
    """A line a client with both compilers, then the ratios of cases that pass with both.

    A first run without the second is the time to compile: its ratio is given for cases where Triton's exceeds 10 ms.
    """
    by_client = {result.client: result for result in theirs}
    lines = [
        f"{'client':<24} {'tritium':>8} {'first s':>9} {'second s':>9}   {'triton':>8} {'first s':>9} {'second s':>9}"
    ]
    first, second, compiles = {}, {}, {}
    for r in ours:
        other = by_client.get(r.client, Result(r.client, r.version))
        both = [case for case in r.passed if case in other.passed]
        cells = [
            f"{f'{len(x.passed)}/{len(x.passed) + len(x.failed)}':>8} {sum(x.passed[case][0] for case in both):>9.2f} "
            f"{sum(x.passed[case][1] for case in both):>9.3f}"
            for x in (r, other)
        ]
        lines.append(f"{r.client:<24} {'   '.join(cells)}")
        for case in both:
            (a, b), (c, d) = r.passed[case], other.passed[case]
            first[f"{r.client}.{case}"] = _ratio(a, c)
            second[f"{r.client}.{case}"] = _ratio(b, d)
            if c - d > 0.01:
                compiles[f"{r.client}.{case}"] = _ratio(a - b, c - d)
    for what, ratios in (("first run", first), ("first less second run", compiles), ("second run", second)):
        if ratios:
            mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
            over = {case: ratio for case, ratio in ratios.items() if ratio > 1.3}
            lines.append(
                f"{what}: {mean:.3f} of Triton's (geometric mean of {len(ratios)} cases), {len(over)} above 1.3"
            )
            lines += [f"  {ratio:.2f} {case}" for case, ratio in sorted(over.items(), key=lambda item: -item[1])]
    return "\n".join(lines)


def table(results: list[Result]) -> str:
    """A line a client, then one for each case that failed."""
    lines = [f"{'client':<24} {'version':<12} {'passed':>8} {'first s':>9} {'second s':>9}"]
    for r in results:
        count = f"{len(r.passed)}/{len(r.passed) + len(r.failed)}"
        lines.append(f"{r.client:<24} {r.version:<12} {count:>8} {r.first:>9.1f} {r.second:>9.2f}")
    for r in results:
        for case, error in r.failed.items():
            known = EXPECTED.get(f"{r.client}.{case}")
            lines.append(f"{r.client}.{case}: {error}" + (f"  (expected: {known})" if known else ""))
    return "\n".join(lines)


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.ecosystem")
    parser.add_argument(
        "clients", nargs="*", help=f"some of {', '.join(CLIENTS)}, or projects of --folder; default: all"
    )
    parser.add_argument("--folder", type=Path, help="a folder with checkouts, under the names that clones get")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--compiler", default="tritium", choices=("tritium", "triton"))
    parser.add_argument(
        "--both", action="store_true", help="run each client with Tritium and with Triton; compare them"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that run at the same time")
    parser.add_argument("--parts", type=int, default=1, help="processes that share the cases of a client")
    parser.add_argument("--limit", type=float, default=900, help="seconds for a client")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="seconds in all, after which nothing is started"
    )
    parser.add_argument("--json", type=Path, help="write the results there, too")
    return parser.parse_args(given)


def _work(arguments: argparse.Namespace) -> list[Work]:
    work = [
        Work(name, HERE / client.driver, _site(client.package), _version(client.package), client.cases)
        for name, client in CLIENTS.items()
        if _version(client.package)
    ]
    for name, checkout in (found_in(arguments.folder) if arguments.folder else {}).items():
        work.append(Work(name, HERE / "wild" / f"{name}.py", checkout.resolve(), "checkout", ()))
    work = [row for row in work if not arguments.clients or row.name in arguments.clients]
    if arguments.parts == 1:
        return work
    return [
        replace(row, cases=part)
        for row in work
        for cases in [row.cases or _cases_of(row.driver)]
        for part in (cases[first :: arguments.parts] for first in range(arguments.parts))
        if part
    ]


def main(given: list[str] | None = None) -> int:
    """Run what is asked for, print the table; 1 where something unexpected happened."""
    arguments = _arguments(given)
    absent = [name for name, client in CLIENTS.items() if not _version(client.package)]
    work = _work(arguments)
    compilers = ("tritium", "triton") if arguments.both else (arguments.compiler,)
    runs = [(row, compiler) for row in work for compiler in compilers]
    done, end = itertools.count(1), time.perf_counter() + arguments.seconds

    def run(item: tuple[Work, str]) -> Result:
        row, compiler = item
        began = time.perf_counter()
        if began > end:
            return Result(row.name, row.version)
        how = Conditions(arguments.device, compiler, min(arguments.limit, end - began))
        result = run_client(row.name, row.driver, row.root, row.version, row.cases, how)
        seconds = time.perf_counter() - began
        print(f"[{next(done)}/{len(runs)}] {row.name} {row.version}: {seconds:.0f} s", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(arguments.jobs) as pool:
        flat = list(pool.map(run, runs))
    by_compiler = {compiler: merged(flat[at :: len(compilers)]) for at, compiler in enumerate(compilers)}
    for compiler, results in by_compiler.items():
        print(*([f"with {compiler}"] if arguments.both else []), table(results), sep="\n")
    if arguments.both:
        print(compared(by_compiler["tritium"], by_compiler["triton"]))
    if absent and not arguments.clients:
        print(f"not installed here: {', '.join(absent)}")
    if arguments.json:
        rows = [{"compiler": name, **asdict(result)} for name, results in by_compiler.items() for result in results]
        arguments.json.write_text(json.dumps(rows, indent=1))
    ours = by_compiler.get("tritium", flat)
    return int(not ours or any(result.unexpected for result in ours))


if __name__ == "__main__":
    sys.exit(main())
