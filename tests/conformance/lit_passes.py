"""Triton's own tests of passes, run with our passes: for each RUN line whose passes we all have, each program of the
file is taken through them in our pass manager, and what comes out is compared with the program's CHECK lines.

    python -m tests.conformance.lit CHECKOUT --passes

Values are printed without names of their own, as MLIR's tools print them. Programs without CHECK lines count as run.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import filecheck.finput
import filecheck.matcher
import filecheck.options
import filecheck.parser

import tritium.transforms  # noqa: F401  (its passes are known from here on)
from tests.conformance.check import read
from tests.conformance.inputs import Program, Run, programs
from tritium.ir import PASSES, Operation, ParseError, PassManager, VerificationError, print_op, verify

MATCHES, RUNS, DIFFERS, UNREAD, FAILS = "matches", "runs", "differs", "does not read", "fails"


@dataclass
class PassOutcome:
    """What became of a program under a RUN line."""

    program: Program
    run: Run
    status: str
    detail: str = ""
    kind: str = ""
    """The class of reasons that explains a difference, if one does."""

    @property
    def pipeline(self) -> str:
        """The passes, as text."""
        return pipeline_of(self.run)


def pipeline_of(run: Run) -> str:
    """The passes of a RUN line as a pipeline's text: `-cse -canonicalize=top-down=false`, `cse,canonicalize{…}`."""
    texts = []
    for option in run.passes:
        name, _, options = option.partition("=")
        texts.append(f"{name}{{{options}}}" if options else name)
    return ",".join(texts)


def has_passes(run: Run) -> bool:
    """True when we have every pass that the RUN line names, and it names one."""
    return bool(run.passes) and all(PASSES.find(o.partition("=")[0]) for o in run.passes)


def pass_outcomes(checkout: Path, folder: str = "") -> Iterator[PassOutcome]:
    """The outcome of every program under every RUN line that we can run."""
    for program in programs(checkout / "test"):
        if program.path.startswith(folder):
            for run in program.runs:
                if has_passes(run) and not program.errors:
                    yield outcome(program, run)


def outcome(program: Program, run: Run) -> PassOutcome:
    """Run the passes of a RUN line, and compare."""
    try:
        module = read(program)
        verify(module)
    except (ParseError, VerificationError) as error:
        return PassOutcome(program, run, UNREAD, str(error).splitlines()[0])
    except Exception as error:
        return PassOutcome(program, run, FAILS, f"{type(error).__name__}: {error}")
    try:
        PassManager(pipeline_of(run)).run(module)
        text = print_op(without_names(module), **form_of(run)) + "\n"
    except Exception as error:
        return PassOutcome(
            program, run, FAILS, f"{type(error).__name__}: {(str(error) or 'without a message').splitlines()[0]}"
        )
    options = filecheck_options(run)
    if options is None or not _checks(program, options):
        return PassOutcome(program, run, RUNS)
    if "cacheModifier" in program.text:
        text = with_former_policies(text)
    wrong = check_text(program, options, text)
    return PassOutcome(program, run, DIFFERS if wrong else MATCHES, wrong)


def form_of(run: Run) -> dict[str, bool]:
    """How the RUN line wants the output printed."""
    form = {"locations": True} if run.has("mlir-print-debuginfo") else {}
    return {**form, "aliases": False} if run.has("mlir-print-local-scope") else form


def without_names(module: Operation) -> Operation:
    """The module with every value named by its number or its constant."""
    for op in module.walk():
        for value in (*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)):
            value.hint = None
    return module


def filecheck_options(run: Run) -> filecheck.options.Options | None:
    """What the RUN line asks of FileCheck; None when it does not call it."""
    if run.filecheck is None:
        return None
    prefixes: list[str] = []
    words = [w for word in run.filecheck for w in word.split("=", 1)]
    for word, value in zip(words, [*words[1:], ""]):
        if word.lstrip("-") in ("check-prefix", "check-prefixes"):
            prefixes += value.split(",")
    return filecheck.options.Options(match_filename="program", check_prefixes=prefixes or ["CHECK"])


_POLICY = re.compile(
    r"( into \S+)? \{cachePolicy = #tt.cache_policy<cache_modifier = (\w+), eviction_policy = (\w+)>\}( into \S+)? :"
)


def with_former_policies(text: str) -> str:
    """Cache policies as they were spelt before they became an attribute, `cacheModifier = cg`."""

    def former(m: re.Match[str]) -> str:
        words = "" if m[2] == "none" else f" cacheModifier = {m[2]}"
        words += "" if m[3] == "evict_normal" else f" evictionPolicy = {m[3]}"
        return words + (m[1] or m[4] or "") + " :"

    return _POLICY.sub(former, text)


def _checks(program: Program, options: filecheck.options.Options) -> bool:
    names = "|".join(map(re.escape, options.check_prefixes))
    return re.search(rf"//\s*(?:{names})(?:-[A-Z]+)*(?:\{{[^}}]*\}})?:", program.text) is not None


def check_text(program: Program, options: filecheck.options.Options, text: str) -> str:
    """What does not match, or nothing."""
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown), contextlib.redirect_stdout(shown):
        try:
            parser = filecheck.parser.Parser(
                options, io.StringIO(program.text), *filecheck.parser.pattern_for_opts(options)
            )
            matcher = filecheck.matcher.Matcher(options, filecheck.finput.FInput("output", text), parser)
            status = matcher.run()
        except Exception as error:  # FileCheck's language is larger than the package's
            return f"{type(error).__name__}: {error}"
    return "" if status == 0 else next((line for line in shown.getvalue().splitlines() if "error" in line), "differs")


def passes_table(outcomes: list[PassOutcome]) -> str:
    """A Markdown table, a row for each pipeline."""
    groups: dict[str, list[PassOutcome]] = defaultdict(list)
    for o in outcomes:
        groups[o.pipeline].append(o)
    lines = ["| passes | programs | as CHECK lines say | run, nothing to compare | other | not read | fail |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for name, group in [*sorted(groups.items()), ("**all**", outcomes)]:
        by = Counter(o.status for o in group)
        cells = [len(group), by[MATCHES], by[RUNS], by[DIFFERS], by[UNREAD], by[FAILS]]
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)
