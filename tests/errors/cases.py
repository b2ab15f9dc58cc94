"""Kernels as text: the position of their error, its notes, and the code that its hint suggests, which must compile."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor import ast_to_ttir

HEADER = "import tritium.language as tl\nfrom tritium.frontend.callee import SourceFunction as jit\n"


class Case(NamedTuple):
    """A kernel `k` and what is said of it.

    `at` is the text at which the caret begins, `notes` those of the notes with a part of what they say. Each of `fixes`
    is the text that a suggestion of the hint replaces: the part in ‹ › where it is longer, to occur only once.
    """

    body: str
    at: str
    message: str
    notes: dict[str, str] = {}
    hint: str = ""
    fixes: tuple[str, ...] = ()
    parameters: str = "p, n"
    signature: str = "*fp32, i32"
    constants: dict[str, object] = {}
    helpers: str = ""

    def source(self) -> str:
        """The module that defines the kernel."""
        lines = "\n".join("    " + line for line in self.body.strip("\n").split("\n"))
        names = ", ".join([self.parameters, *(f"{name}: tl.constexpr" for name in self.constants)])
        return f"{HEADER}\n{self.helpers}\n@jit\ndef k({names}):\n{lines}\n"


def compiled(case: Case, source: str, folder: Path) -> None:
    """Compile the kernel of a module with this text."""
    path = folder / f"module_{len(list(folder.iterdir()))}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = case.parameters.split(", ")
    ast_to_ttir(module.k, dict(zip(names, case.signature.split(", "))), case.constants)


def place(source: str, part: str) -> str:
    """`line:column` of the only occurrence of `part`, from 1."""
    assert source.count(part) == 1, (part, source.count(part))
    before = source[: source.index(part)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def check(case: Case, folder: Path) -> str:
    """Assert what `case` says; the text of the error."""
    source = case.source()
    with pytest.raises(CompilationError) as info:
        compiled(case, source, folder)
    text = str(info.value)
    assert re.match(rf"\S+\.py:{place(source, case.at)}: error: ", text), text
    assert case.message in text.splitlines()[0], text
    for part, note in case.notes.items():
        assert f".py:{place(source, part)}: note: {note}" in text, text
    hint = info.value.hint or ""
    assert case.hint in hint, text
    suggested = re.findall(r"`([^`]+)`", hint)
    assert len(suggested) == len(case.fixes), text
    for fix, code in zip(case.fixes, suggested):
        before, old, after = re.fullmatch(r"(?s)(.*)‹(.*)›(.*)", fix if "‹" in fix else f"‹{fix}›").groups()
        assert source.count(before + old + after) == 1, fix
        compiled(case, source.replace(before + old + after, before + code + after), folder)
    return text
