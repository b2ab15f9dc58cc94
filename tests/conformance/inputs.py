"""The programs in a folder of lit tests: files cut where lit's tools cut them, with what their RUN lines ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_CUT = re.compile(r"^// ?-----.*$|^//--- *(\S+).*$", re.MULTILINE)  # mlir-opt's -split-input-file; LLVM's split-file
_RUN = re.compile(r"//\s*RUN:\s*(.*)")
_EXPECTED = re.compile(r"//.*?expected-error(?:-re)?\s*(?:@([a-z]+|[+-]\d+))?\s*\{\{(.*?)\}\}")
_DESIGNATOR = re.compile(r"^\s*//\s*expected-")
_COMMENT = re.compile(r"//.*")
_OPTION = re.compile(r"^--?([A-Za-z][\w\-]*)")
#: options of triton-opt that are no passes
_PLAIN = re.compile(
    r"split-input-file|verify-diagnostics|allow-unregistered-dialect|o|mlir-.*|debug.*|dump-.*|run-reproducer"
    r"|enable-line-info|extract-variable-info|pass-pipeline-crash-reproducer"
)


@dataclass(frozen=True)
class Run:
    """A RUN line: the options of triton-opt in order, those of FileCheck (None: it is not called), and the section of
    the file that it reads (split-file makes a file of each; "" for the whole)."""

    options: tuple[str, ...]
    filecheck: tuple[str, ...] | None
    section: str = ""

    @property
    def passes(self) -> tuple[str, ...]:
        """The options that name passes, dashes stripped."""
        return tuple(o for o in self.options if not _PLAIN.fullmatch(o.partition("=")[0]))

    def has(self, option: str) -> bool:
        """True when the option is given, with or without a value."""
        return any(o.partition("=")[0] == option for o in self.options)


@dataclass(frozen=True)
class Program:
    """One program of a file: where it stands, its text, the file's RUN lines, the errors it announces by line."""

    path: str
    number: int
    first_line: int
    text: str
    runs: tuple[Run, ...]
    errors: dict[int, str] = field(default_factory=dict)  # line in the file -> message; line 0: anywhere

    @property
    def name(self) -> str:
        """`folder/file.mlir#2`."""
        return f"{self.path}#{self.number}"

    @property
    def unregistered(self) -> bool:
        """True when the RUN lines allow operations of unknown dialects."""
        return any(run.has("allow-unregistered-dialect") for run in self.runs)

    @property
    def only_read(self) -> bool:
        """True when no RUN line names a pass: an announced error must come from reading or verifying."""
        return not any(run.passes for run in self.runs)


def programs(root: Path) -> Iterator[Program]:
    """Every program of every `.mlir` file below `root` that holds more than comments."""
    for path in sorted(root.rglob("*.mlir")):
        yield from programs_of(path.read_text(errors="replace"), str(path.relative_to(root)))


def programs_of(text: str, path: str) -> Iterator[Program]:
    """The programs of one file."""
    runs = tuple(run_lines(text))
    cuts = list(_CUT.finditer(text))
    ends = [*(m.start() for m in cuts), len(text)]
    number, section = 0, ""
    for cut, end in zip([None, *cuts], ends):
        start = cut.end() if cut is not None else 0
        section = (cut[1] if cut is not None else None) or section
        part = text[start:end]
        if not _COMMENT.sub("", part).strip():
            continue
        number += 1
        first_line = text.count("\n", 0, start) + 1
        mine = tuple(run for run in runs if run.section in ("", section))
        yield Program(path, number, first_line, part, mine, announced(part, first_line))


def run_lines(text: str) -> Iterator[Run]:
    """The calls of triton-opt in RUN lines; a backslash at the end continues a line."""
    joined = ""
    for m in _RUN.finditer(text):
        line = m[1].rstrip()
        if line.endswith("\\"):
            joined += line[:-1] + " "
            continue
        command, joined = joined + line, ""
        if "triton-opt" in command:
            yield _run(command)


def _run(command: str) -> Run:
    first, *rest = command.split("|")
    words = _words(first.partition("triton-opt")[2])
    options = [word.lstrip("-") for word in words if _OPTION.match(word)]
    checks = [r for r in rest if r.split()[:1] == ["FileCheck"]]
    filecheck = tuple(_words(checks[0])[1:]) if checks and len(rest) == 1 else None
    sections = [word.removeprefix("%t/") for word in words if word.startswith("%t/")]
    return Run(tuple(options), filecheck, sections[0] if sections else "")


def _words(text: str) -> list[str]:
    """Words as a shell sees them: quotes keep spaces together and go away."""
    return [re.sub(r"['\"]", "", w) for w in re.findall(r"(?:[^\s'\"]|'[^']*'|\"[^\"]*\")+", text)]


def announced(part: str, first_line: int) -> dict[int, str]:
    """`expected-error` comments by the line they speak of."""
    lines = part.split("\n")
    found: dict[int, str] = {}
    for i, line in enumerate(lines):
        for m in _EXPECTED.finditer(line):
            found[target_line(lines, i, m[1], first_line)] = m[2]
    return found


def target_line(lines: list[str], at: int, where: str | None, first_line: int) -> int:
    """The line of the file that a comment in line `at` of a program speaks of: `@below`, `@+2`; 0 for anywhere."""
    if where is None:
        return first_line + at
    if where == "unknown":
        return 0
    if where in ("below", "above"):
        step = 1 if where == "below" else -1
        at += step
        while 0 <= at < len(lines) and _DESIGNATOR.match(lines[at]):
            at += step
        return first_line + at
    return first_line + at + int(where)
