"""What `triton_suite` found, as tables: by file, failures by class and by message, skipped tests by reason."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.conformance.known import classify, load

__all__ = ["FAILED", "Found", "Row", "markdown", "name_failures", "read", "report", "show", "weighted"]

Row = dict[str, Any]
FAILED = ("failed", "crashed", "hung")


@dataclass
class Found:
    """What a run found on a device.

    `sizes` are the cases collected of each test function, `tests` what became of those that ran, `broken` the files that
    cannot be imported with their errors, `peer` the version of Triton that was asked about failures.
    """

    device: str
    sizes: dict[str, int] = field(default_factory=dict)
    tests: dict[str, Row] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    peer: str = ""

    def failures(self) -> dict[str, Row]:
        return {test: row for test, row in self.tests.items() if row["outcome"] in FAILED}

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(vars(self), indent=1))


def read(paths: Iterable[Path]) -> Found:
    """Several runs as one, of parts for example; the last one counts where they meet. ValueError for two devices."""
    parts = [Found(**json.loads(path.read_text())) for path in paths]
    devices = {part.device for part in parts}
    if len(devices) != 1:
        raise ValueError(f"runs of one device make a table, not of {sorted(devices)}")
    whole = Found(devices.pop(), peer=parts[-1].peer)
    for part in parts:
        whole.sizes |= part.sizes
        whole.tests |= part.tests
        whole.broken |= part.broken
    return whole


def name_failures(found: Found) -> None:
    """Put the class of each failure into its row, "" where it has no name."""
    classes = load()
    for test, row in found.tests.items():
        row["class"] = classify(classes, test, row["reason"], found.device) if row["outcome"] in FAILED else ""


def report(found: Found) -> list[tuple[str, list[str], list[Any]]]:
    """The tables: title, headings, rows."""
    return [files_table(found), *reason_tables(found), broken_table(found.broken)]


def files_table(found: Found) -> tuple[str, list[str], list[Any]]:
    """One row a file."""
    collected: Counter[str] = Counter()
    for function, size in found.sizes.items():
        collected[function.split("::")[0]] += size
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for test, row in found.tests.items():
        kind = row["outcome"]
        if kind in FAILED:
            kind = "explained" if row["class"] else "unexplained"
        counts[test.split("::")[0]][kind] += 1
    rows = [line(file, collected[file], counts[file]) for file in collected]
    rows += [[file.removeprefix("unit/"), "cannot be imported", *[""] * 7] for file in found.broken]
    rows.append(line("all", sum(collected.values()), sum(counts.values(), Counter())))
    shares = weighted(found.sizes, found.tests)
    rows = [[*row, shares.get(row[0], "")] for row in rows]
    headings = [
        "file",
        "collected",
        "run",
        "passed",
        "as 3.9 prints",
        "failed, explained",
        "failed",
        "skipped",
        "share passed",
        "of all",
    ]
    return "By file", headings, rows


def line(name: str, collected: int, count: Counter[str]) -> list[str]:
    """Skipped tests are those that Triton's own marks or skips leave out (or expect to fail); `golden` ones, whose text is
    Triton 3.9's where the test quotes another release, have passed."""
    skipped = count["skipped"] + count["xfailed"]
    judged = sum(count.values()) - skipped
    share = f"{100 * (count['passed'] + count['golden']) / judged:.1f} %" if judged else ""
    shown = [count[kind] for kind in ("passed", "golden", "explained", "unexplained")]
    numbers = [collected, sum(count.values()), *shown, skipped]
    return [name.removeprefix("unit/"), *(f"{number:,}" for number in numbers), share]


def weighted(sizes: Mapping[str, int], tests: Mapping[str, Row]) -> dict[str, str]:
    """The share passed if each function's cases that did not run were like those that did, by file and of all."""
    runs = Counter(test.split("[")[0] for test in tests)
    passed: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for test, row in tests.items():
        function = test.split("[")[0]
        weight = sizes[function] / runs[function] * (row["outcome"] not in ("skipped", "xfailed"))
        for place in (test.split("::")[0].removeprefix("unit/"), "all"):
            judged[place] += weight
            passed[place] += weight * (row["outcome"] in ("passed", "golden"))
    return {place: f"{100 * passed[place] / judged[place]:.1f} %" for place in judged if judged[place]}


def reason_tables(found: Found) -> list[tuple[str, list[str], list[Any]]]:
    """Failures by class, those without one by message, skipped ones by reason."""
    unknown: dict[tuple[str, str], int] = Counter(
        (test.split("[")[0].removeprefix("unit/"), row["outcome"] + ": " + brief(row["reason"]))
        for test, row in found.failures().items()
        if not row["class"]
    )
    skips = Counter(brief(row["reason"]) for row in found.tests.values() if row["outcome"] in ("skipped", "xfailed"))
    golden = Counter(row["golden"] for row in found.tests.values() if row["outcome"] == "golden")
    return [
        classes_table(found),
        (
            f"Not as the test quotes it, but as Triton {found.peer} prints it",
            ["class", "tests"],
            [[name, f"{count:,}"] for name, count in golden.most_common()],
        ),
        (
            "Failed without a name",
            ["test", "cases", "message"],
            [[test, f"{count:,}", text] for (test, text), count in sorted(unknown.items())],
        ),
        ("Skipped, by reason", ["reason", "tests"], [[reason, f"{count:,}"] for reason, count in skips.most_common()]),
    ]


def classes_table(found: Found) -> tuple[str, list[str], list[Any]]:
    """One row a class; with a peer, how many of those failures that it was asked about are its own, too."""
    whys = {known.name: known.why for known in load()}
    classes: dict[str, list[Row]] = defaultdict(list)
    for row in found.failures().values():
        classes[row["class"]].append(row)
    classes.pop("", None)
    rows = []
    for name, failures in sorted(classes.items(), key=lambda item: -len(item[1])):
        asked = [row["peer"] for row in failures if row.get("peer") in ("passed", "failed")]
        too = [f"{asked.count('failed')} of {len(asked)}" if asked else ""] if found.peer else []
        rows.append([name, f"{len(failures):,}", *too, whys[name]])
    heading = [f"fails in Triton {found.peer}, too"] if found.peer else []
    return "Failed, by class", ["class", "tests", *heading, "why"], rows


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
