"""The assembly text that LLVM writes for a CPU, as values: instructions with their lines, registers, spills, loops.

    .loc    1 15 23 is_stmt 1
    vmovups (%r14), %zmm24                  # 64-byte Reload

Instructions of x86-64 (in AT&T's syntax) and AArch64 are understood; what LLVM remarks behind `#` or `//` says which
accesses to the stack are spilled registers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...support.text import unescape_assembly

__all__ = ["Line", "Loop", "loops_of", "read_assembly", "stack_of", "vector_bits"]

_FILE = re.compile(r'\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_LABEL = re.compile(r"(\.?L?[\w.$]+):")
_REMARK = re.compile(r"\s*(?:#|//)\s?(.*)$")
_SPILL = re.compile(r"(\d+)-byte (?:Folded )?(Spill|Reload)")
_JUMP = re.compile(r"(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z)$")
_WIDTHS = (("%zmm", 512), ("%ymm", 256), ("%xmm", 128))
_ARM_VECTOR = re.compile(r"\bv\d+\.(?:16b|8h|4s|2d|8b|4h|2s|1d)|\bq\d+\b")
_SCALABLE = re.compile(r"\bz\d+\.")
_SCALAR_FLOAT = re.compile(r"v?\w*s[sdh](?:2s[sd])?$|vfn?m\w+\ds[sdh]$")  # addss, vmulsd, vfmadd213ss, vcvtss2sd
_ARM_FLOAT = re.compile(r"\b[sdh]\d+\b")


class Line(NamedTuple):
    """One instruction: its text, the operation, the labels before it, its place in the source (line 0: unknown), and
    bytes that it spills (`stored` or `loaded`)."""

    text: str
    operation: str
    labels: tuple[str, ...]
    file: str
    line: int
    stored: int
    loaded: int

    @property
    def called(self) -> str:
        """The function that it calls; "" for other instructions."""
        words = self.text.split()
        if words[0] not in ("callq", "call", "bl", "blr") or len(words) < 2:
            return ""
        return words[1].partition("@")[0].lstrip("*") or "a pointer"

    @property
    def target(self) -> str:
        """The label that a jump goes to."""
        return self.text.split()[-1] if _JUMP.match(self.operation) else ""

    @property
    def scalar_float(self) -> bool:
        """Arithmetic on one float, not a move of one."""
        if "mov" in self.operation or "broadcast" in self.operation:
            return False
        if "%" in self.text:
            return "%xmm" in self.text and _SCALAR_FLOAT.match(self.operation) is not None
        return self.operation.startswith("f") and _ARM_FLOAT.search(self.text) is not None and not vector_bits(self)


class Loop(NamedTuple):
    """Instructions [begin, end) between a label and the jump back to it, with no loop inside."""

    begin: int
    end: int


def read_assembly(text: str, function: str = "") -> list[Line]:
    """The instructions of the functions of an assembly text, in order, or of one of them."""
    return list(_lines(text, function))


def _lines(text: str, function: str) -> Iterator[Line]:
    files: dict[str, str] = {}
    file, line, inside = "", 0, not function
    labels: list[str] = []
    for raw in text.split("\n"):
        label = _LABEL.match(raw)
        if label:
            if not label[1].startswith((".L", "L")):
                inside, file, line = not function or label[1] == function, "", 0
            if inside and not label[1].startswith((".Ltmp", ".LCPI", ".Lfunc", "Ltmp", "Lfunc")):
                labels.append(label[1])
            continue
        stripped = raw.strip()
        if stripped.startswith("."):
            if (found := _FILE.match(stripped)) is not None:
                files[found[1]] = os.path.join(*map(unescape_assembly, filter(None, found.groups()[1:])))
            elif (found := _LOC.match(stripped)) is not None:
                file, line = files.get(found[1], ""), int(found[2])
            continue
        told, remark = _split(raw)
        if told and inside:
            spilled = [(int(n), kind) for n, kind in _SPILL.findall(remark)]
            stored = sum(n for n, kind in spilled if kind == "Spill")
            yield Line(told, told.split()[0], tuple(labels), file, line, stored, sum(n for n, _ in spilled) - stored)
            labels = []


def _split(raw: str) -> tuple[str, str]:
    """An instruction and the comment after it."""
    remark = _REMARK.search(raw)
    told = raw[: remark.start()] if remark else raw
    return " ".join(told.split()), remark[1] if remark else ""


def vector_bits(line: Line) -> int:
    """The width of the vectors that an instruction works on; 0 for others. (128 for AArch64's scalable ones.)

    >>> vector_bits(read_assembly("f:\\n\\tvaddps %zmm0, %zmm1, %zmm2")[0])
    512
    """
    for name, bits in _WIDTHS:
        if name in line.text:
            single = bits == 128 and (_SCALAR_FLOAT.match(line.operation) or re.match(r"v?mov[dq]$", line.operation))
            return 0 if single else bits
    return 128 if _ARM_VECTOR.search(line.text) or _SCALABLE.search(line.text) else 0


def loops_of(code: Sequence[Line]) -> tuple[list[bool], list[Loop]]:
    """For each instruction whether it is in a loop, and the innermost loops."""
    labels = {label: i for i, line in enumerate(code) for label in line.labels}
    spans = sorted({(labels[c.target], i + 1) for i, c in enumerate(code) if labels.get(c.target, i + 1) <= i})
    inside = [False] * len(code)
    for begin, end in spans:
        inside[begin:end] = [True] * (end - begin)
    innermost = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    return inside, [Loop(*span) for span in innermost]


_FRAME = re.compile(r"sub[ql]? \$(\d+), %rsp|sub sp, sp, #(\d+)(?:, lsl #(12))?")


def stack_of(code: Sequence[Line]) -> int:
    """The stack size of a function in bytes, without saved registers."""
    total = 0
    for line in code:
        found = _FRAME.fullmatch(line.text)
        if found is not None:
            total += int(found[1] or found[2]) << (12 if found[3] else 0)
    return total
