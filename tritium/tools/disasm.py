"""SASS of kernels, under Triton's names: `get_sass(kernel.asm["cubin"])`; `get_listing` has it between the lines of the
source."""

from __future__ import annotations

import re
from pathlib import Path

from ..backends.nvidia.disassembler import control_of, get_listing, get_sass
from ..backends.nvidia.toolchain import require_tool

__all__ = ["extract", "get_listing", "get_sass", "parseCtrl", "path_to_cuobjdump", "processSassLines"]

# lines of cuobjdump: instruction and first half of its encoding, second half, name of a function, branch
FLINE_RE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s*([^;]*;)\s*/\* 0x([0-9a-f]{16}) \*/\s*")
SLINE_RE = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*")
FNAME_RE = re.compile(r"\s*Function : (\w+)\s*")
BRA_RE = re.compile(r"(.*BRA(?:\.U)? )(0x[0-9a-f]+);")


def path_to_cuobjdump() -> str:
    """The program cuobjdump. ToolMissing where there is none; `extract` and `get_sass` need nvdisasm only."""
    return str(require_tool("cuobjdump", "listings of cuobjdump").path)


def parseCtrl(sline: str) -> str:
    """The scheduling fields in the second line of an instruction as cuobjdump prints it: see `get_sass`.

    >>> parseCtrl("    /* 0x000fe200000001ff */")
    '--:-:-:Y:1'
    """
    found = SLINE_RE.match(sline)
    if found is None:
        raise ValueError(f"{sline!r} is not the second line of an instruction")
    return control_of(int(found[1], 16))


def processSassLines(fline: str, sline: str, labels: dict[int, int]) -> tuple[str, str]:
    """(scheduling fields, instruction) of the two lines of cuobjdump. The target of a branch gets the next number in
    `labels`, unless it has one."""
    found = FLINE_RE.match(fline)
    if found is None:
        raise ValueError(f"{fline!r} is not the first line of an instruction")
    text = f"{found[1][:-1].rstrip()};"
    if branch := BRA_RE.match(text):
        labels.setdefault(int(branch[2], 16), len(labels))
    return parseCtrl(sline), text


def extract(file_path: str, fun: str | None = None) -> str:
    """The instructions of the functions in a CUBIN file, or of the one called `fun`: see `get_sass`."""
    return get_sass(Path(file_path).read_bytes(), fun)
