"""Triton's own text tests for AMD GPUs: how many programs come out as their CHECK lines say.

    python -m tests.conformance.lit CHECKOUT --amd [--page docs/conformance.md]

Counted is each program under each RUN line, of the files for AMD GPUs and of others whose RUN lines name one of its
passes. Programs whose CHECK lines quote `llvm.` or `rocdl.` operations are left out (our lowering goes to LLVM IR
without these dialects), and those that announce errors. `lit_amd.toml` gives reasons for programs that differ and for
passes that are missing; a program that differs without a reason is a failure of this count.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import tomllib

from tests.conformance.check import read
from tests.conformance.inputs import Program, Run, programs
from tests.conformance.lit_passes import DIFFERS, FAILS, MATCHES, RUNS, UNREAD, PassOutcome, has_passes, outcome
from tests.conformance.lit_remarks import REMARKS, missing_remarks

__all__ = ["AmdReport", "amd_outcomes", "amd_report"]

EXPLAINED, MISSING = "differs for a reason", "pass missing"
ORDER = (MATCHES, RUNS, EXPLAINED, DIFFERS, UNREAD, FAILS, MISSING)

_LOW_LEVEL = re.compile(r"//\s*[A-Z0-9_-]+(?:\{[^}]*\})?:.*\b(?:llvm|rocdl)\.")


@cache
def reasons() -> dict[str, dict[str, object]]:
    """The classes of `lit_amd.toml`, by name."""
    return tomllib.loads(Path(__file__).with_name("lit_amd.toml").read_text())


def amd_outcomes(checkout: Path, folder: str = "") -> Iterator[PassOutcome]:
    """The outcome of every program that counts, under every RUN line."""
    for program in programs(checkout / "test"):
        if program.path.startswith(folder) and not program.errors and not _LOW_LEVEL.search(program.text):
            for number, run in enumerate(program.runs):
                if _is_for_amd(program, run):
                    yield _explained(_outcome(program, run), number)


def _is_for_amd(program: Program, run: Run) -> bool:
    named = any("amd" in option for option in run.passes)
    return bool(run.passes) and (named or "amd" in program.path.lower()) and not any("llvm" in o for o in run.passes)


def _outcome(program: Program, run: Run) -> PassOutcome:
    names = [option.partition("=")[0] for option in run.passes]
    if len(names) == 1 and names[0] in REMARKS:
        missing = missing_remarks(program, read(program, text_locations=True), names[0])
        return PassOutcome(program, run, DIFFERS if missing else MATCHES, missing)
    return outcome(program, run) if has_passes(run) else PassOutcome(program, run, MISSING)


def _explained(found: PassOutcome, number: int) -> PassOutcome:
    """`found` with the class that explains it, where one does."""
    if found.status not in (DIFFERS, MISSING, FAILS, UNREAD):
        return found
    name = f"{found.program.name}@{number}"
    for kind, entry in reasons().items():
        patterns = [*entry.get("programs", ()), *(f"*|{p}" for p in entry.get("passes", ()))]  # type: ignore[misc, attr-defined]
        texts = [name, found.program.name, *(f"*|{o.partition('=')[0]}" for o in found.run.passes)]
        if any(fnmatch.fnmatchcase(text, pattern) for text in texts for pattern in patterns):
            return replace(found, status=EXPLAINED if found.status == DIFFERS else found.status, kind=kind)
    return found


@dataclass
class AmdReport:
    """The tables, and the outcomes without a reason."""

    text: str
    unexplained: list[PassOutcome]


def amd_report(found: list[PassOutcome]) -> AmdReport:
    """Markdown tables by pipeline and by reason."""
    by = Counter(o.status for o in found)
    available = [o for o in found if o.status != MISSING]
    good = by[MATCHES] + by[RUNS]
    groups: dict[str, list[PassOutcome]] = defaultdict(list)
    for o in found:
        groups[", ".join(option.partition("=")[0] for option in o.run.passes)].append(o)
    lines = [
        (
            "| passes | programs | as CHECK lines say | run, nothing to compare | differ, explained | differ | fail |"
            " pass missing |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    for name, group in [*ranked, ("**all**", found)]:
        n = Counter(o.status for o in group)
        cells = [len(group), n[MATCHES], n[RUNS], n[EXPLAINED], n[DIFFERS], n[UNREAD] + n[FAILS], n[MISSING]]
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    share = f"{100 * good / len(found):.1f} %" if found else ""
    ours = f"{100 * good / len(available):.1f} %" if available else ""
    now = len(found) - sum(1 for o in found if o.kind and reasons()[o.kind].get("waits"))
    lines += [
        "",
        (
            f"So {good} of {len(found)} programs ({share}) do; of the {len(available)} whose passes exist, {ours}; of the"
            f" {now} that do not wait for another target, {100 * good / max(1, now):.1f} %."
        ),
    ]
    kinds: dict[str, list[PassOutcome]] = defaultdict(list)
    for o in found:
        if o.kind:
            kinds[o.kind].append(o)
    lines += ["", "| class | programs | reason |", "|---|---:|---|"]
    for kind, group in sorted(kinds.items(), key=lambda item: -len(item[1])):
        lines.append(f"| `{kind}` | {len(group)} | {reasons()[kind]['why']} |")
    unexplained = [o for o in found if o.status in (DIFFERS, FAILS, UNREAD, MISSING) and not o.kind]
    return AmdReport("\n".join(lines), unexplained)
