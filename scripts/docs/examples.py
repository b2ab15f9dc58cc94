"""An example of each operation, found in the texts that the tests read, printed as Tritium prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import tritium.dialects.all  # noqa: F401  (whatever the texts name)
from tests.ir.samples import ARGUMENTS, LINES, body
from tritium.ir import Operation, ParseError, VerificationError, parse_module, print_op, verify

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/dialects/examples", "tests/dialects", "tests/filetests")
LONGEST = 14  # lines of an example; of an operation with larger regions only the first line is shown
_ALIAS = re.compile(r"^([#!][\w]+) = (.*)$", re.MULTILINE)


def examples() -> dict[str, str]:
    """The shortest text of each operation that any test's text holds, by the operation's name; texts written as
    examples come before all others."""
    found: dict[str, str] = {}
    for sources in (_texts(FOLDERS[0]), _samples(), _texts(FOLDERS[1]), _texts(FOLDERS[2])):
        here: dict[str, str] = {}
        for text in sources:
            for name, example in _of(text):
                if name not in here or _rank(example) < _rank(here[name]):
                    here[name] = example
        found = here | found
    return found


def _rank(example: str) -> tuple[bool, bool, int, str]:
    """Small is better: whole regions, some operand, few characters."""
    return "{...}" in example, "%" not in example.partition("=")[2], len(example), example


def _samples() -> Iterator[str]:
    for line in LINES:
        yield body(line, ARGUMENTS)


def _texts(folder: str) -> Iterator[str]:
    for path in sorted((ROOT / folder).rglob("*.mlir")):
        yield from re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)


def _of(text: str) -> Iterator[tuple[str, str]]:
    try:
        module = parse_module(text)
        verify(module)
    except (ParseError, VerificationError):  # the tests of errors
        return
    aliases = [m.groups() for m in _ALIAS.finditer(print_op(module))]
    aliases.sort(key=lambda pair: -len(pair[1]))
    for op in module.walk():
        yield op.name, shorten(_show(op), aliases)


def _show(op: Operation) -> str:
    whole = print_op(op)
    if "<<UNKNOWN" in whole and op.parent_op is not None:  # it is isolated and takes values from around it
        return _show(op.parent_op)
    return whole if whole.count("\n") < LONGEST else print_op(op, regions=False)


def shorten(text: str, aliases: list[tuple[str, str]]) -> str:
    """The text with the names of aliases in place of what they stand for."""
    definitions = {name for name, _ in aliases}
    text = "\n".join(line for line in text.split("\n") if line.partition(" = ")[0] not in definitions)
    for name, meaning in aliases:
        text = text.replace(meaning, name)
    return text
