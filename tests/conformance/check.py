"""What is done to one program: read, verify, print in four forms, read each again."""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.inputs import Program
from tritium.ir import Operation, ParseError, VerificationError, parse_module, print_op, verify

#: the forms a program is printed in, with what each asks of the printer
FORMS = {
    "pretty": {},
    "generic": {"generic": True},
    "pretty, locations": {"locations": True},
    "generic, locations": {"generic": True, "locations": True},
}

GOOD, REJECTED, BY_PASS = "round-trips", "rejected as announced", "error announced of a pass"
UNREAD, UNVERIFIED, CHANGED, ACCEPTED, CRASHED = (
    "does not read",
    "does not verify",
    "does not round-trip",
    "is accepted, should not be",
    "crashes",
)
_UNKNOWN = re.compile("is not a known operation|is not known")  # a refusal for want of the definition is no merit
FINE = (GOOD, REJECTED, BY_PASS)


@dataclass
class Outcome:
    """What became of a program. `reason` groups alike failures, `detail` is the message, `line` is in the file."""

    program: Program
    status: str
    reason: str = ""
    detail: str = ""
    line: int = 0
    seconds: float = 0.0

    @property
    def fine(self) -> bool:
        """True when the program is dealt with as its file says."""
        return self.status in FINE


def check(program: Program) -> Outcome:
    """Read, verify and round-trip a program, or reject it where it announces an error."""
    begin = time.perf_counter()
    try:
        outcome = _check(program)
    except Exception as error:
        outcome = _crash(program, error)
    outcome.seconds = time.perf_counter() - begin
    return outcome


def _check(program: Program) -> Outcome:
    try:
        module = read(program, text_locations=True)
        verify(module)
    except ParseError as error:
        d = error.diagnostic
        line = d.line + program.first_line - 1
        return _rejected(program, UNREAD, {line}, d.message, program.text.split("\n")[d.line - 1] if d.line else "")
    except VerificationError as error:
        places = {f.op.loc.file_position() for f in error.failures}
        lines = {p.line + program.first_line - 1 for p in places if p is not None and p.file == program.path}
        first = error.failures[0]
        return _rejected(program, UNVERIFIED, lines, f"{first.invariant}: {first.message}", first.op.name)
    if program.errors and program.only_read:
        line, message = next(iter(program.errors.items()))
        return Outcome(program, ACCEPTED, message, message, line)
    changed = differences(program)
    if changed:
        return Outcome(program, CHANGED, changed[0], changed[1])
    return Outcome(program, BY_PASS if program.errors else GOOD)


def read(program: Program, text_locations: bool = False) -> Operation:
    """The module of a program."""
    return parse_module(
        program.text,
        program.path,
        allow_unregistered=program.unregistered,
        text_locations=text_locations,
    )


def differences(program: Program) -> tuple[str, str] | None:
    """What a round trip changes: the form and the first line that differs; None when nothing does."""
    allow = program.unregistered
    module = read(program)
    meaning = print_op(module, generic=True, locations=True)
    for form, options in FORMS.items():
        text = print_op(module, **options)
        try:
            again = parse_module(text, f"<{form}>", allow_unregistered=allow)
            verify(again)
        except (ParseError, VerificationError) as error:
            return f"{form}: what was printed does not read", _first_line(error)
        if print_op(again, **options) != text:
            return f"{form}: printed differently the second time", _difference(text, print_op(again, **options))
        if "locations" in form and print_op(again, generic=True, locations=True) != meaning:
            return f"{form}: reads as another program", _difference(
                meaning, print_op(again, generic=True, locations=True)
            )
    return None


def _rejected(program: Program, status: str, lines: set[int], message: str, source: str) -> Outcome:
    """A program that we refuse: as announced, or wrongly."""
    line = min(lines, default=0)
    announced = program.errors.keys()
    if lines & announced and not _UNKNOWN.search(message):
        return Outcome(program, REJECTED, "at the announced line", message, line)
    if program.errors and program.only_read and not _UNKNOWN.search(message):
        return Outcome(program, REJECTED, "at another line", message, line)
    return Outcome(program, status, reason_of(message, source), f"{message} | {source.strip()}", line)


def reason_of(message: str, source: str) -> str:
    """A message without what is particular to one place; followed by the operation it is about."""
    unknown = re.match(r"'([\w.]+)' is not a known operation", message)
    if unknown:
        return f"unknown operation {unknown[1]}"
    names = re.findall(r"\b[a-z_]+\.[a-z_][\w.]*", re.sub(r'"[^"]*"(?!\()', "", source.partition("//")[0]))
    about = f" ({names[0]})" if names else ""
    return re.sub(r"'%[^']*'|\d+", "…", message)[:120] + about


def _crash(program: Program, error: Exception) -> Outcome:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    reason = f"{type(error).__name__} in {Path(frame.filename).name}:{frame.name}"
    return Outcome(program, CRASHED, reason, f"{reason}: {str(error)[:200]}")


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return " | ".join(line.strip() for line in lines[:4])


def _difference(a: str, b: str) -> str:
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x.strip()}  =>  {y.strip()}"
    return "one is longer"
