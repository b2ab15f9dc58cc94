"""CUBIN -> SASS, the machine instructions, by NVIDIA's disassembler.

    Function:add_kernel
    --:-:-:-:1      LDC R1, c[0x0][0x28];
    LBB0:
    --:-:-:Y:5      BRA LBB0;

An instruction is written as Triton writes it: what it waits for (a mask of six barriers; the barrier it sets for its
reads, and for its writes), whether the scheduler may turn to another warp (Y), for how many cycles it stalls, then the
instruction. Targets of branches have labels. The fields stand in bits 41 to 58 of the second word of the encoding.

`instructions_of` has the same as values, each with the line of the source that the CUBIN's line table gives it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ...support.lazy import LazyModule
from ...support.text import unescape_assembly
from ..errors import BackendError
from ..listing import Coded, calls_of, interleave
from .toolchain import require_tool

__all__ = ["Instruction", "control_of", "disassemble", "get_listing", "get_sass", "instructions_of"]

_subprocess = LazyModule("subprocess")

_FUNCTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),", re.M)
_INSTRUCTION = re.compile(
    r"/\*(?P<at>[0-9a-f]{4,})\*/\s+(?P<text>[^;]*;)\s*/\*\s*0x(?P<low>[0-9a-f]{16})\s*\*/\s*/\*\s*0x(?P<high>[0-9a-f]{16})\s*\*/"
)
_LABEL = re.compile(r"^\s*(\.L_x_\d+):", re.M)
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_LINE = re.compile(r"^\s*//## File \"(.*?)\", line (\d+)", re.M)


class Instruction(NamedTuple):
    """One line of SASS: what it does, how it is scheduled, the labels before it, and its place in the source (no file
    and line 0 where the CUBIN does not say)."""

    text: str
    control: str
    labels: tuple[str, ...]
    file: str
    line: int

    @property
    def opcode(self) -> str:
        """`LDG.E.128` of `@P0 LDG.E.128 R4, [R2]`."""
        words = self.text.split(None, 2)
        return (words[1] if words[0].startswith("@") else words[0]).rstrip(";,")

    @property
    def target(self) -> str:
        """The label that a branch goes to."""
        found = re.search(r"\bLBB\d+", self.text) if "BRA" in self.text else None
        return found[0] if found else ""


@lru_cache(maxsize=32)
def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The instructions of a CUBIN's functions, or of the one called `fun`.

    Raises ToolMissing where nvdisasm is not installed, BackendError for bytes that are no CUBIN, or have no `fun`.
    """
    functions = _functions(disassemble(cubin_asm))
    _must_have(functions, fun)
    return "".join(_write(name, text) for name, text in functions.items() if fun in (None, name))


def disassemble(cubin: bytes, *options: str) -> str:
    """The output of nvdisasm for a CUBIN; `options` follow `-c -hex`."""
    tool = require_tool("nvdisasm", "SASS")
    handle, path = tempfile.mkstemp(suffix=".cubin")
    try:
        with open(handle, "wb") as f:
            f.write(cubin)
        command = [tool.path, "-c", "-hex", *options, path]
        done = _subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise BackendError(f"{tool.path} ({tool.origin}) cannot be run: {error}") from None
    finally:
        os.unlink(path)
    if done.returncode != 0:
        raise BackendError(f"nvdisasm: {(done.stderr or done.stdout).strip().replace(path, 'the CUBIN')}")
    return str(done.stdout)


def _functions(text: str) -> dict[str, str]:
    """Function -> what was printed of it."""
    marks = list(_FUNCTION.finditer(text))
    ends = [m.start() for m in marks[1:]] + [len(text)]
    return {m[1]: text[m.end() : end] for m, end in zip(marks, ends)}


def instructions_of(cubin: bytes, fun: str | None = None) -> dict[str, list[Instruction]]:
    """Function -> its instructions with their lines, of all functions of a CUBIN or of the one called `fun`.

    Raises as `get_sass` does.
    """
    functions = _functions(disassemble(cubin, "-g"))
    _must_have(functions, fun)
    return {name: list(_instructions(text)) for name, text in functions.items() if fun in (None, name)}


def get_listing(cubin: bytes, fun: str | None = None, llir: str = "") -> str:
    """The instructions of `get_sass` with a line of the source above what comes from it; `llir` is the LLVM text that
    the code was made from, which knows from where inlined functions were called. Raises as `get_sass` does."""
    calls = calls_of(llir)
    parts = []
    for name, code in instructions_of(cubin, fun).items():
        rows = [
            Coded("".join(f"{label}:\n" for label in i.labels) + f"{i.control}\t{i.text}", i.file, i.line) for i in code
        ]
        parts.append(f"Function:{name}\n{interleave(rows, calls)}\n")
    return "".join(parts)


def _must_have(functions: dict[str, str], fun: str | None) -> None:
    if fun is not None and fun not in functions:
        raise BackendError(f"the CUBIN has no function {fun!r}; it has: {', '.join(functions)}")


def _instructions(text: str) -> Iterator[Instruction]:
    """The instructions of one function's text. Labels are numbered in the order in which branches name them."""
    named = {label: f"LBB{i}" for i, label in enumerate(dict.fromkeys(_TARGET.findall(text)))}
    file, line, labels = "", 0, []
    for match in re.finditer(f"{_LABEL.pattern}|{_LINE.pattern}|{_INSTRUCTION.pattern}", text, re.M):
        if match[1]:
            labels += [named[match[1]]] if match[1] in named else []
        elif match[2]:
            file, line = unescape_assembly(match[2]), int(match[3])
        else:
            told = _TARGET.sub(lambda m: named[m[1]], re.sub(r"\s*;$", ";", match["text"]))
            yield Instruction(told, control_of(int(match["high"], 16)), tuple(labels), file, line)
            labels = []


def _write(name: str, text: str) -> str:
    """One function in the form above."""
    lines = [f"Function:{name}"]
    for instruction in _instructions(text):
        lines += [f"{label}:" for label in instruction.labels]
        lines.append(f"{instruction.control}\t{instruction.text}")
    return "\n".join(lines) + "\n\n"


def control_of(word: int) -> str:
    stall, may_yield = word >> 41 & 15, word >> 45 & 1
    writes, reads, waits = word >> 46 & 7, word >> 49 & 7, word >> 52 & 63
    barriers = [f"{waits:02d}" if waits else "--", *("-" if n == 7 else str(n) for n in (reads, writes))]
    return ":".join([*barriers, "Y" if may_yield == 0 else "-", f"{stall:x}"])
