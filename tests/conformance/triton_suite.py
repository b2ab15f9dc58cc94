"""Triton's own tests on this compiler: how many pass, and why the others do not.

    python -m tests.conformance.triton_suite <checkout of triton-cpu> [--device cpu|cuda] [--only language/test_core.py ...]
        [-k EXPRESSION] [--sample N] [--part K/N] [-n WORKERS] [--json out.json]

runs the files of the checkout's `python/test/unit` as they are, from outside, with `import triton` answered by Tritium.
Each worker is a process of its own that may crash or hang without ending the run. Failures get their names from
`known.toml`; those without a name are listed, and make the command's status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.conformance.known import classify, load
from tests.conformance.triton_processes import Checkout, Worker, collect

Row = dict[str, Any]
FAILED = ("failed", "crashed", "hung")
LANGUAGE = ["language", "cpu"]


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.triton_suite", description=__doc__.split("\n")[0]
    )
    parser.add_argument("checkout", type=Path, help="a checkout of triton-cpu")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="files or folders of python/test/unit (language cpu)")
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="only tests that match, as pytest's -k")
    parser.add_argument("--ids", type=Path, help="only the tests that this file names, one a line")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N cases of each test function, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N parts of the tests")
    parser.add_argument("-n", type=int, default=1, metavar="WORKERS")
    parser.add_argument("--timeout", type=float, default=180, metavar="SECONDS", help="for one test (180)")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for everything; later tests are not run")
    parser.add_argument("--json", type=Path, help="write every test's outcome here")
    parser.add_argument("--markdown", type=Path, help="write the tables here, as Markdown")
    return parser.parse_args(words)


def test_files(checkout: Path, only: Sequence[str]) -> list[str]:
    """Files relative to `python/test`; FileNotFoundError for a name that is none."""
    unit = checkout / "python" / "test" / "unit"
    files: list[Path] = []
    for name in only:
        path = unit / name
        if not path.exists():
            raise FileNotFoundError(f"no {name} in {unit}")
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(path.relative_to(unit.parent)) for path in files]


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


def name_failures(results: dict[str, Row], device: str) -> None:
    """Put the class of each failure into its row, "" where it has no name."""
    classes = load()
    for test, row in results.items():
        row["class"] = classify(classes, test, row["reason"], device) if row["outcome"] in FAILED else ""


def report(tests: list[Row], broken: dict[str, str], results: dict[str, Row]) -> list[tuple[str, list[str], list[Any]]]:
    """The tables: title, headings, rows."""
    return [files_table(tests, broken, results), *reason_tables(results), broken_table(broken)]


def files_table(tests: list[Row], broken: dict[str, str], results: dict[str, Row]) -> tuple[str, list[str], list[Any]]:
    """One row a file."""
    collected = Counter(test["id"].split("::")[0] for test in tests)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for test, row in results.items():
        kind = row["outcome"]
        if kind in FAILED:
            kind = "explained" if row["class"] else "unexplained"
        counts[test.split("::")[0]][kind] += 1
    rows = [line(file, collected[file], counts[file]) for file in collected]
    rows += [[file.removeprefix("unit/"), "cannot be imported", *[""] * 6] for file in broken]
    rows.append(line("all", sum(collected.values()), sum(counts.values(), Counter())))
    shares = weighted(tests, results)
    rows = [[*row, shares.get(row[0], "")] for row in rows]
    headings = [
        "file",
        "collected",
        "run",
        "passed",
        "failed, explained",
        "failed",
        "skipped",
        "share passed",
        "of all",
    ]
    return "By file", headings, rows


def line(name: str, collected: int, count: Counter[str]) -> list[str]:
    """Skipped tests are those that Triton's own marks or skips leave out (or expect to fail)."""
    skipped = count["skipped"] + count["xfailed"]
    judged = sum(count.values()) - skipped
    share = f"{100 * count['passed'] / judged:.1f} %" if judged else ""
    numbers = [collected, sum(count.values()), count["passed"], count["explained"], count["unexplained"], skipped]
    return [name.removeprefix("unit/"), *(f"{number:,}" for number in numbers), share]


def weighted(tests: list[Row], results: dict[str, Row]) -> dict[str, str]:
    """The share passed if each function's cases that did not run were like those that did, by file and of all."""
    size = Counter(test["function"] for test in tests)
    runs = Counter(test.split("[")[0] for test in results)
    passed: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for test, row in results.items():
        function = test.split("[")[0]
        weight = size[function] / runs[function] * (row["outcome"] not in ("skipped", "xfailed"))
        for place in (test.split("::")[0].removeprefix("unit/"), "all"):
            judged[place] += weight
            passed[place] += weight * (row["outcome"] == "passed")
    return {place: f"{100 * passed[place] / judged[place]:.1f} %" for place in judged if judged[place]}


def reason_tables(results: dict[str, Row]) -> list[tuple[str, list[str], list[Any]]]:
    """Failures by class, those without one by message, skipped ones by reason."""
    whys = {known.name: known.why for known in load()}
    classes = Counter(row["class"] for row in results.values() if row["class"])
    unknown: dict[tuple[str, str], int] = Counter(
        (test.split("[")[0].removeprefix("unit/"), row["outcome"] + ": " + brief(row["reason"]))
        for test, row in results.items()
        if row["outcome"] in FAILED and not row["class"]
    )
    skips = Counter(brief(row["reason"]) for row in results.values() if row["outcome"] in ("skipped", "xfailed"))
    return [
        ("Failed, by class", ["class", "tests", "why"], [[n, f"{c:,}", whys[n]] for n, c in classes.most_common()]),
        (
            "Failed without a name",
            ["test", "cases", "message"],
            [[test, f"{count:,}", text] for (test, text), count in sorted(unknown.items())],
        ),
        ("Skipped, by reason", ["reason", "tests"], [[reason, f"{count:,}"] for reason, count in skips.most_common()]),
    ]


def broken_table(broken: dict[str, str]) -> tuple[str, list[str], list[Any]]:
    """Files that fail on import, with the last line of the error."""
    rows = [[file.removeprefix("unit/"), brief(text.strip().split("\n")[-1])] for file, text in broken.items()]
    return "Cannot be imported", ["file", "error"], rows


def brief(reason: str) -> str:
    """A message in one line of at most 160 characters."""
    return " ".join(reason.split())[:160]


def show(console: Console, tables: list[tuple[str, list[str], list[Any]]]) -> None:
    for title, headings, rows in tables:
        if rows:
            table = Table(*headings, title=title, title_justify="left")
            for row in rows:
                table.add_row(*(str(cell).replace("[", "\\[") for cell in row))
            console.print(table)


def markdown(tables: list[tuple[str, list[str], list[Any]]]) -> str:
    """The tables as Markdown, those without rows left out."""
    parts = []
    for title, headings, rows in tables:
        if rows:
            lines = [headings, ["---"] * len(headings), *rows]
            text = "\n".join("| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |" for cells in lines)
            parts.append(f"{title}\n\n{text}\n")
    return "\n".join(parts)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    console = Console(width=None if sys.stdout.isatty() else 200)
    files = test_files(options.checkout.resolve(), options.only or LANGUAGE)
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
        checkout = Checkout(options.checkout.resolve(), options.device, Path(folder))
        checkout.prepare()
        tests, broken = collect(checkout, files, options.k, 600)
        ids = select(tests, options)
        console.print(f"{len(tests):,} tests collected in {len(files)} files, {len(ids):,} chosen")
        results = run(checkout, ids, options, console)
    name_failures(results, options.device)
    tables = report(tests, broken, results)
    show(console, tables)
    if options.json:
        options.json.write_text(json.dumps({"tests": results, "broken": broken}, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(tables))
    nameless = [row for row in results.values() if row["outcome"] in FAILED and not row["class"]]
    return 1 if nameless or broken or len(results) < len(ids) else 0


if __name__ == "__main__":
    sys.exit(main())
