"""Packages and tools that use Triton, as they are installed, on this compiler: a table of clients.

    make ecosystem                                                    what is on PyPI, in an environment of its own
    python -m tests.conformance.ecosystem [CLIENT ...] [--folder F] [--device cuda] [--compiler triton] [--json FILE]

A client is a driver of cases: one of `clients/`, one of `wild/`, or `inductor`. Those of CLIENTS are installed packages
(`ecosystem.txt`); with `--folder F`, projects of `third_party` whose checkouts lie in F are run as well. Each driver runs
in a process with an empty cache of kernels, and each of its cases twice. `--compiler triton` runs the same drivers with
the Triton of the environment, for comparison. The exit status is 1 where a case fails that is not in EXPECTED.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path

from tests.conformance.third_party import found_in

__all__ = ["CLIENTS", "EXPECTED", "Client", "Result", "main", "run_client", "table"]

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
    """The cases of a client: names of those that passed, errors of the others, seconds of first and second runs."""

    client: str
    version: str
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    first: float = 0.0
    second: float = 0.0

    @property
    def unexpected(self) -> list[str]:
        """Cases that fail and should not."""
        return [case for case in self.failed if f"{self.client}.{case}" not in EXPECTED]


def _site(package: str) -> Path:
    """A folder in which an installed package is where a checkout has it: below `src`."""
    folder = Path(tempfile.mkdtemp(prefix="ecosystem-"))
    (folder / "src").symlink_to(Path(str(metadata.distribution(package).locate_file(""))).resolve())
    return folder


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _command(driver: Path, cases: tuple[str, ...], how: Conditions) -> list[str]:
    start = [sys.executable, "-W", "ignore"]
    if driver.name == "inductor.py":
        return [*start, "-m", "tests.conformance.inductor", "--device", how.device]
    run = [] if how.compiler == "triton" else ["-m", "tritium", "run"]
    return [*start, *run, str(driver), *cases]


@dataclass(frozen=True)
class Conditions:
    """How drivers are run: where, by which compiler, and for how many seconds at most."""

    device: str = "cpu"
    compiler: str = "tritium"
    limit: float = 900


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
        result.passed.append(case)
        result.first += float(str(row["seconds"]))
        result.second += float(str(row.get("again", 0)))
    else:
        result.failed[case] = str(row.get("error", ""))
    print(f"  {result.client}.{case}: {result.failed.get(case, 'passed')}", file=sys.stderr, flush=True)


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
    parser.add_argument("--jobs", type=int, default=1, help="clients that run at the same time")
    parser.add_argument("--limit", type=float, default=900, help="seconds for a client")
    parser.add_argument("--json", type=Path, help="write the results there, too")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Run what is asked for, print the table; 1 where something unexpected happened."""
    arguments = _arguments(given)
    work = [
        (name, HERE / client.driver, _site(client.package), _version(client.package), client.cases)
        for name, client in CLIENTS.items()
        if _version(client.package)
    ]
    absent = [name for name, client in CLIENTS.items() if not _version(client.package)]
    for name, checkout in (found_in(arguments.folder) if arguments.folder else {}).items():
        work.append((name, HERE / "wild" / f"{name}.py", checkout.resolve(), "checkout", ()))
    work = [row for row in work if not arguments.clients or row[0] in arguments.clients]
    how = Conditions(arguments.device, arguments.compiler, arguments.limit)
    done = itertools.count(1)

    def run(row: tuple[str, Path, Path, str, tuple[str, ...]]) -> Result:
        began = time.perf_counter()
        result = run_client(*row, how)
        seconds = time.perf_counter() - began
        print(f"[{next(done)}/{len(work)}] {row[0]} {row[3]}: {seconds:.0f} s", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(run, work))
    print(table(results))
    if absent and not arguments.clients:
        print(f"not installed here: {', '.join(absent)}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    return int(not results or any(result.unexpected for result in results))


if __name__ == "__main__":
    sys.exit(main())
