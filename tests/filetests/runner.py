"""Runs the files of this folder in process; their form is in README.md."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import filecheck.finput
import filecheck.matcher
import filecheck.options
import filecheck.parser

import tritium.conversion  # noqa: F401  (the passes that files name)
import tritium.dialects
import tritium.tools.opt  # noqa: F401  (and those of backends)
import tritium.transforms  # noqa: F401  (these too)
from tritium.ir import (
    PASSES,
    Operation,
    ParseError,
    PassError,
    PassManager,
    VerificationError,
    parse_module,
    print_op,
    verify,
)

_RUN = re.compile(r"// RUN: (.*)")
_ERROR = re.compile(r"//\s*error: (.*)$")
_CHECK = re.compile(r"^\s*// CHECK", re.MULTILINE)
_OUTPUT = "// OUTPUT\n"
FORMS = ("generic", "locations")


def passes() -> dict[str, Callable[[Operation], object]]:
    """All passes by name."""
    return {info.name: info.fn for info in PASSES.all()}


def output_of(text: str, filename: str, steps: list[str]) -> str:
    """What the steps make of the program; it is verified after each."""
    module = parse_module(text, filename, text_locations="locations" not in steps)
    verify(module)
    form = {step: True for step in steps if step in FORMS}
    pipeline = ",".join(step for step in steps if step not in FORMS and step != "print")
    try:
        PassManager(pipeline, verify_each=True).run(module)
    except PassError as error:  # where the program does not verify after a pass, the failures count
        raise error.__cause__ if isinstance(error.__cause__, VerificationError) else error from None
    again = print_op(module, **form)
    assert print_op(parse_module(again), **form) == again, "what was printed does not read as the same"
    return again + "\n"


def run_file(path: Path) -> None:
    """Run one file; AssertionError where it does not do what it says."""
    text = path.read_text()
    first = _RUN.match(text)
    assert first, f"{path}: the first line must be '// RUN: ...'"
    steps = [step.strip() for step in first[1].split(",")]
    errors = {i: m[1] for i, line in enumerate(text.split("\n"), 1) if (m := _ERROR.search(line))}
    if errors:
        check_errors(text, path, steps, errors)
        return
    program, marker, expected = text.partition(_OUTPUT)
    if marker:
        refuse_what_is_not_run(path, program, expected)
    output = output_of(program, str(path), steps)
    if marker:
        check_output(path, program, expected, output)
    else:
        check_directives(path, text, output)


def check_errors(text: str, path: Path, steps: list[str], errors: dict[int, str]) -> None:
    """The errors raised are those the comments announce, line by line."""
    try:
        output_of(text, str(path), steps)
    except ParseError as error:
        found = {error.diagnostic.line: error.diagnostic.message}
    except VerificationError as error:
        found = {f.op.loc.line: f"{f.invariant}: {f.message}" for f in error.failures}
    else:
        raise AssertionError(f"{path}: no error, expected {errors}")
    assert found.keys() == errors.keys(), f"{path}: errors on other lines: {found}"
    for line, message in errors.items():
        assert message in found[line], f"{path}:{line}: {found[line]}"


def refuse_what_is_not_run(path: Path, program: str, expected: str) -> None:
    """Code after `// OUTPUT` would not be run, and `// CHECK` lines beside it would not be compared."""
    for number, line in enumerate(expected.split("\n"), program.count("\n") + 2):
        assert not line.strip() or line.startswith("//"), (
            f"{path}:{number}: this line stands after '// OUTPUT', where only the expected output belongs: it would not "
            f"be run; move it before '// OUTPUT': {line.strip()}"
        )
    assert not _CHECK.search(program + expected), (
        f"{path}: '// CHECK' lines are not compared in a file with '// OUTPUT'"
    )


def check_output(path: Path, program: str, expected: str, output: str) -> None:
    """The output is the commented text at the end of the file; with TRITIUM_BLESS it becomes it."""
    commented = "".join(f"// {line}".rstrip() + "\n" for line in output.rstrip("\n").split("\n"))
    if os.environ.get("TRITIUM_BLESS"):
        path.write_text(program + _OUTPUT + commented)
    else:
        assert expected == commented


def check_directives(path: Path, text: str, output: str) -> None:
    """The CHECK lines match the output."""
    assert _CHECK.search(text), f"{path}: nothing is checked"
    options = filecheck.options.Options(match_filename=str(path))
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown), contextlib.redirect_stdout(shown):
        content = filecheck.finput.FInput("output", output)
        matcher = filecheck.matcher.Matcher(options, content, filecheck.parser.Parser.from_opts(options))
        status = matcher.run()
    assert status == 0, f"{shown.getvalue()}\n{output}"
