"""Triton's own tests on this compiler: how many pass, and why the others do not.

    python -m tests.conformance.triton_suite <checkout of triton-cpu> [--device cpu|cuda] [--only language/test_core.py ...]
        [-k EXPRESSION] [--sample N] [--part K/N] [-n WORKERS] [--json out.json]
    python -m tests.conformance.triton_suite <checkout of triton-cpu> --kernels --device emulated:90 [...]
    python -m tests.conformance.triton_suite <checkout of Triton> --gluon [--device emulated:90|gfx942|gfx1100] [--only test_frontend.py ...]
    python -m tests.conformance.triton_suite <checkout of triton-cpu> --from one.json two.json [--peer PYTHON]

runs the files of the checkout's `python/test/unit` as they are, from outside, with `import triton` answered by Tritium.
`--kernels` takes the tests of `python/triton_kernels` instead, the library of matrix products, routing and number formats
that comes with Triton, `--gluon` those of `python/test/gluon` (they need the package expecttest): on a GPU, an emulated one, or the CPU in its place. Each worker is a process of its own that may crash or hang without ending the run. Failures get their names from
`known.toml`; those without a name are listed, and make the command's status 1. `--from` makes tables of runs recorded by
`--json`. `--peer` runs what failed by another interpreter with its own Triton, whose tests may be of another release, and
compares texts that tests quote from another release with those of that Triton (`golden`).
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.conformance.golden import judge
from tests.conformance.triton_processes import Checkout, Worker, collect
from tests.conformance.triton_report import Found, Row, markdown, name_failures, read, report, show

LANGUAGE = ["language", "cpu"]
ASKED = 20  # failures of one test function that a peer is asked about
NO_DRIVER = "active drivers|Found no NVIDIA driver|not compiled with CUDA|No CUDA GPUs are available|no pinned memory"
NO_TORCH = r"No module named 'torch'|CompletedProcess|subprocess failed|err\.log"  # processes that a peer's test starts


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.triton_suite", description=__doc__.split("\n")[0]
    )
    parser.add_argument("checkout", type=Path, help="a checkout of triton-cpu")
    parser.add_argument(
        "--device", choices=["cpu", "cuda", "emulated:90", "emulated:gfx942", "emulated:gfx1100"], default="cpu"
    )
    parser.add_argument("--kernels", action="store_true", help="the tests of the library triton_kernels")
    parser.add_argument("--gluon", action="store_true", help="the tests of Gluon, of a checkout of Triton since 3.8")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="files or folders of python/test/unit (language cpu)")
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="only tests that match, as pytest's -k")
    parser.add_argument("--ids", type=Path, help="only the tests that this file names, one a line")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N cases of each test function, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N parts of the tests")
    parser.add_argument("-n", type=int, default=1, metavar="WORKERS")
    parser.add_argument("--timeout", type=float, default=180, metavar="SECONDS", help="for one test (180)")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for everything; later tests are not run")
    parser.add_argument("--from", dest="recorded", nargs="+", type=Path, metavar="JSON", help="no run but these")
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter with Triton: which failures are its own, too?")
    parser.add_argument("--json", type=Path, help="write every test's outcome here")
    parser.add_argument("--markdown", type=Path, help="write the tables here, as Markdown")
    options = parser.parse_args(words)
    folder = _folder(options)
    missing = [name for name in options.only or [""] if not (folder / name).exists()]
    if missing and not options.recorded:
        parser.error(
            f"there is no {folder / missing[0]}: the checkout is a clone of triton-cpu, {options.checkout} is none"
        )
    return options


def _folder(options: argparse.Namespace) -> Path:
    """What `--only` names files of."""
    place = "triton_kernels/tests" if options.kernels else "test/gluon" if options.gluon else "test/unit"
    return options.checkout / "python" / place


def test_files(folder: Path, only: Sequence[str]) -> list[str]:
    """Files of `folder` that `only` names, relative to the folder that it is in."""
    files: list[Path] = []
    for name in only:
        path = folder / name
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(path.relative_to(folder.parent)) for path in files]


def select(tests: list[Row], options: argparse.Namespace) -> list[str]:
    """The ids to run: a sample of each function's cases, then one part of these; in the order of the files."""
    functions: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        functions[test["function"]].append(test["id"])
    chosen: set[str] = set()
    for name, ids in functions.items():
        few = options.sample is not None and options.sample < len(ids)
        chosen |= set(random.Random(f"{options.seed} {name}").sample(ids, options.sample) if few else ids)
    if options.ids:
        chosen &= set(options.ids.read_text().split("\n"))
    k, n = (int(number) for number in options.part.split("/"))
    return [test["id"] for test in tests if test["id"] in chosen][k - 1 :: n]


def run(checkout: Checkout, ids: list[str], options: argparse.Namespace, console: Console) -> dict[str, Row]:
    """What became of each test; those that the limit left out are missing."""
    workers = [Worker(checkout, ids[i :: options.n], options.timeout) for i in range(options.n)]
    started = time.monotonic()
    told = started
    try:
        while sum(worker.poll() for worker in workers):  # not any(): every worker is asked
            time.sleep(0.5)
            now = time.monotonic()
            if now - told > 60:
                told = now
                console.print(f"{now - started:.0f} s …")
            if options.limit and now - started > options.limit:
                console.print(f"stopped after {options.limit:g} s")
                break
    finally:
        for worker in workers:
            worker.stop()
    late = [worker for worker in workers if worker.process is not None and worker.rest()]
    for worker in late:
        worker.gather_finished()
    return {test: row for worker in workers for test, row in worker.done.items()}


def ask_peer(found: Found, options: argparse.Namespace, folder: Path) -> None:
    """Run what failed here with the Triton of another interpreter and note "passed", "failed", or "" if it cannot.

    It cannot where it has no driver for the device: on a machine without a GPU it only compiles.
    """
    words = [options.peer, "-c", "import importlib.metadata as m; print(m.version('triton'))"]
    found.peer = ".".join(subprocess.check_output(words, text=True).strip().split(".")[:2])
    checkout = Checkout(options.checkout.resolve(), found.device, folder, options.peer, options.kernels, options.gluon)
    checkout.prepare()
    few: dict[str, list[str]] = defaultdict(list)
    for test in found.failures():
        few[test.split("[")[0]].append(test)
    asked = [test for tests in few.values() for test in tests[:ASKED]]
    for test, row in run(checkout, asked, options, Console(quiet=True)).items():
        cannot = row["outcome"] not in ("failed", "passed") or re.search(f"{NO_DRIVER}|{NO_TORCH}", row["reason"])
        found.tests[test]["peer"] = "" if cannot else "passed" if row["outcome"] == "passed" else "failed"
        found.tests[test]["peer_reason"] = row["reason"]
        found.tests[test]["peer_texts"] = row.get("texts", {})


def try_tests(options: argparse.Namespace, folder: Path, console: Console) -> tuple[Found, bool]:
    """Collect and run; also whether all that was chosen has run."""
    checkout = Checkout(options.checkout.resolve(), options.device, folder, None, options.kernels, options.gluon)
    checkout.prepare()
    files = test_files(_folder(options), options.only or ([""] if options.kernels or options.gluon else LANGUAGE))
    tests, broken = collect(checkout, files, options.k, 600)
    ids = select(tests, options)
    console.print(f"{len(tests):,} tests collected in {len(files)} files, {len(ids):,} chosen")
    results = run(checkout, ids, options, console)
    sizes = dict(Counter(test["function"] for test in tests))
    return Found(options.device, sizes, results, broken), len(results) == len(ids)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    console = Console(width=None if sys.stdout.isatty() else 200)
    complete = True
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
        if options.recorded:
            found = read(options.recorded)
        else:
            found, complete = try_tests(options, Path(folder, "ours"), console)
        if options.peer:
            ask_peer(found, options, Path(folder, "peer"))
    name_failures(found)
    judge(found, options.peer)
    tables = report(found)
    show(console, tables)
    if options.json:
        found.write(options.json)
    if options.markdown:
        options.markdown.write_text(markdown(tables))
    nameless = [row for row in found.failures().values() if not row["class"]]
    return 1 if nameless or found.broken or not complete else 0


if __name__ == "__main__":
    sys.exit(main())
