"""What Triton 3.9 makes of its own older test programs, beside what we make of them.

    TRITIUM_TEST_TRITON=… python -m tests.conformance.lit CHECKOUT --triton

A program that both read must be printed alike, character for character; values are named by number, as MLIR's tools
do. Triton 3.9 refuses programs whose spelling has changed since; those count as read by one alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.check import read
from tests.conformance.inputs import Program, programs
from tests.conformance.lit_passes import without_names
from tests.triton_oracle import TritonError, TritonOracle, find_interpreter
from tritium.ir import ParseError, VerificationError, print_op, verify

ALIKE, DIFFERENT, OURS_ALONE, THEIRS_ALONE, NEITHER = "alike", "different", "only we", "only Triton", "neither"
OUTCOMES = (ALIKE, DIFFERENT, OURS_ALONE, THEIRS_ALONE, NEITHER)


@dataclass
class Comparison:
    """What became of a program here and there."""

    program: Program
    status: str
    detail: str = ""


def comparisons(checkout: Path, folder: str = "") -> Iterator[Comparison]:
    """Every program, read by both."""
    interpreter = find_interpreter()
    if interpreter is None:
        raise SystemExit("TRITIUM_TEST_TRITON must name an interpreter that has Triton 3.9")
    oracle = TritonOracle(interpreter)
    try:
        for program in programs(checkout / "test"):
            if program.path.startswith(folder):
                yield compare(program, oracle)
    finally:
        oracle.close()


def compare(program: Program, oracle: TritonOracle) -> Comparison:
    """One program, read by both."""
    theirs = ours = reason = refusal = ""
    try:
        theirs = oracle.read(program.text).strip()
    except TritonError as error:
        refusal = next((line for line in str(error).splitlines() if "error:" in line), str(error)[:200])
    try:
        module = read(program)
        verify(module)
        ours = print_op(without_names(module)).strip()
    except (ParseError, VerificationError) as error:
        reason = next((line.strip() for line in str(error).splitlines() if "error" in line), str(error))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    if ours and theirs:
        return Comparison(program, ALIKE) if ours == theirs else Comparison(program, DIFFERENT, _first(ours, theirs))
    if ours:
        return Comparison(program, OURS_ALONE, refusal)
    return Comparison(program, THEIRS_ALONE, reason) if theirs else Comparison(program, NEITHER)


def _first(ours: str, theirs: str) -> str:
    for a, b in zip(ours.splitlines(), theirs.splitlines()):
        if a != b:
            return f"ours: {a.strip()}\n    Triton's: {b.strip()}"
    return "one is longer"


def triton_table(found: list[Comparison]) -> str:
    """A Markdown table, a row for each folder."""
    folders: dict[str, list[Comparison]] = defaultdict(list)
    for c in found:
        folders[str(Path(c.program.path).parent)].append(c)
    lines = [
        "| folder | programs | both read, printed alike | printed differently | only we read | only Triton | neither |"
    ]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for folder, group in [*sorted(folders.items()), ("**all**", found)]:
        by = Counter(c.status for c in group)
        lines.append(f"| {folder} | {len(group)} | " + " | ".join(str(by[s]) for s in OUTCOMES) + " |")
    return "\n".join(lines)
