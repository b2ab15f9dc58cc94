"""How much of Triton's own test programs we read: a table for a checkout of Triton (or of triton-cpu).

    python -m tests.conformance.lit CHECKOUT

Every `.mlir` file under CHECKOUT/test is cut at its `// -----` lines. Each program is read, verified, printed in the
pretty and the generic form, with and without locations, and each of the four texts is read again, verified, compared
with what was read first, and printed once more, which must give the same text. A program that announces an error with
`expected-error` must be refused if its file runs no pass; where it runs one, the error may be the pass's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

if __package__ in (None, ""):  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import tritium.dialects.all  # noqa: F401  (whatever the files name)
from tests.conformance.check import ACCEPTED, BY_PASS, GOOD, REJECTED, Outcome, check
from tests.conformance.inputs import programs
from tests.conformance.lit_amd import amd_outcomes, amd_report
from tests.conformance.lit_passes import DIFFERS, FAILS, PassOutcome, pass_outcomes, passes_table
from tests.conformance.lit_triton import DIFFERENT, OURS_ALONE, THEIRS_ALONE, Comparison, comparisons, triton_table
from tests.triton_oracle import find_interpreter


def outcomes_of(checkout: Path, folder: str = "") -> list[Outcome]:
    """The outcome of every program in `checkout`/test whose path starts with `folder`."""
    root = checkout / "test"
    if not root.is_dir():
        raise SystemExit(f"there is no folder {root}")
    return [check(p) for p in programs(root) if p.path.startswith(folder)]


def table(outcomes: list[Outcome]) -> str:
    """A Markdown table, a row for each folder."""
    folders: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        folders[str(Path(o.program.path).parent)].append(o)
    lines = [
        "| folder | files | programs | round-trip | rejected as announced | error announced of a pass | fail |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for folder, group in [*sorted(folders.items()), ("**all**", outcomes)]:
        files = len({o.program.path for o in group})
        by = Counter(o.status for o in group)
        fail = sum(not o.fine for o in group)
        cells = [files, len(group), by[GOOD], by[REJECTED], by[BY_PASS], fail]
        lines.append(f"| {folder} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def reasons(outcomes: list[Outcome], most: int) -> str:
    """Why the others fail, most frequent reason first, with a place for each."""
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for o in outcomes:
        if not o.fine:
            groups[o.status, o.reason].append(o)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = [f"{sum(map(len, groups.values()))} programs fail, for {len(groups)} reasons"]
    for (status, reason), group in ranked[:most]:
        first = group[0]
        lines.append(f"{len(group):4}  {status}: {reason}")
        lines.append(f"        {first.program.name}:{first.line}: {first.detail[:220]}")
    return "\n".join(lines)


def as_json(outcomes: list[Outcome]) -> str:
    """One record a program."""
    return json.dumps(
        [
            {
                "program": o.program.name,
                "status": o.status,
                "fine": o.fine,
                "reason": o.reason,
                "detail": o.detail,
                "line": o.line,
                "seconds": round(o.seconds, 4),
            }
            for o in outcomes
        ],
        indent=1,
    )


def show_passes(outcomes: list[PassOutcome], most: int) -> int:
    """Print the table of passes, and what differs."""
    print(passes_table(outcomes), end="\n\n")
    wrong = [o for o in outcomes if o.status in (DIFFERS, FAILS)]
    for o in wrong[:most]:
        print(f"{o.status}: {o.program.name}:{o.program.first_line} {o.pipeline}: {o.detail}")
    return int(bool(wrong))


def show_amd(checkout: Path, folder: str, most: int, page: Path | None) -> int:
    """Print the tables of the tests for AMD GPUs, and what differs without a reason."""
    report = amd_report(list(amd_outcomes(checkout, folder)))
    print(report.text, end="\n\n")
    for o in report.unexplained[:most]:
        print(f"{o.status}: {o.program.name}:{o.program.first_line} {o.pipeline}: {o.detail}")
    if page:
        put_on_page(page, "lit --amd", report.text)
    return int(bool(report.unexplained))


def show_comparisons(found: list[Comparison], most: int) -> int:
    """Print the table of both readers, and what differs."""
    print(triton_table(found), end="\n\n")
    wrong = [c for c in found if c.status in (DIFFERENT, OURS_ALONE, THEIRS_ALONE)]
    for c in wrong[:most]:
        print(f"{c.status}: {c.program.name}:{c.program.first_line}\n    {c.detail}")
    return int(any(c.status == DIFFERENT for c in wrong))


def rejections(outcomes: list[Outcome]) -> str:
    """The number of programs rejected at the line that they announce."""
    by = Counter(o.reason for o in outcomes if o.status == REJECTED)
    return f"Of the {sum(by.values())} programs rejected as announced, {by['at the announced line']} are rejected at that line."


def short_reasons(outcomes: list[Outcome]) -> str:
    """A Markdown table of the causes of failures, unknown operations and types by dialect."""
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        if o.fine:
            continue
        unknown = re.match(r"unknown operation (\w+)\.|the type '!(\w+)\.", o.reason)
        reason = o.status if o.status == ACCEPTED else f"{o.status}: {o.reason}"
        kinds[f"unknown operation or type of the dialect {unknown[1] or unknown[2]}" if unknown else reason].append(o)
    rows = [
        f"| {what.replace('|', chr(92) + '|')} | {len(found)} | {', '.join(o.program.name for o in found[:3])}{', …' * (len(found) > 3)} |"
        for what, found in sorted(kinds.items(), key=lambda item: -len(item[1]))
    ]
    return "\n".join(["| cause of failure | programs | examples |", "|---|---:|---|", *rows]) if rows else ""


def put_on_page(page: Path, mark: str, text: str) -> None:
    """Replace what stands between `<!-- mark -->` and `<!-- end of mark -->`."""
    before, start, rest = page.read_text().partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    if not start or not end:
        raise SystemExit(f"{page} has no mark {mark}")
    page.write_text(f"{before}{start}{text.rstrip()}\n{end}{after}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status is 1 when a program fails."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="\n".join(__doc__.splitlines()[4:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, help="a checkout of triton; its folder test/ is read")
    parser.add_argument("--folder", default="", help="only files whose path in test/ starts with this")
    parser.add_argument("--json", action="store_true", help="one record a program, as JSON")
    parser.add_argument("--passes", action="store_true", help="run the files' passes too, those we have")
    parser.add_argument("--amd", action="store_true", help="run the tests for AMD GPUs, with reasons for differences")
    parser.add_argument("--triton", action="store_true", help="compare with what Triton 3.9 prints of each program")
    parser.add_argument("--page", type=Path, help="also put the tables between their marks on this page")
    parser.add_argument("--most", type=int, default=40, help="show so many reasons (default 40)")
    options = parser.parse_args(arguments)
    if options.passes:
        return show_passes(list(pass_outcomes(options.checkout, options.folder)), options.most)
    if options.amd:
        return show_amd(options.checkout, options.folder, options.most, options.page)
    if options.triton:
        return show_comparisons(list(comparisons(options.checkout, options.folder)), options.most)
    found = outcomes_of(options.checkout, options.folder)
    print(as_json(found) if options.json else f"{table(found)}\n\n{reasons(found, options.most)}")
    if options.page:
        put_on_page(options.page, "lit", f"{table(found)}\n\n{rejections(found)}\n\n{short_reasons(found)}")
        put_on_page(options.page, "lit --passes", passes_table(list(pass_outcomes(options.checkout))))
        if find_interpreter():
            put_on_page(options.page, "lit --triton", triton_table(list(comparisons(options.checkout))))
    return int(not all(o.fine for o in found))


if __name__ == "__main__":
    sys.exit(main())
