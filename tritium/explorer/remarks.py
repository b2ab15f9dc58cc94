"""Remarks of the assembler at the instructions that they are about."""

from __future__ import annotations

from collections.abc import Iterable

from ..backends.nvidia.remarks import explain
from ..support.dataclasses import replace
from .model import Text

__all__ = ["lines_of", "with_remarks"]

#: kind of a remark -> how the mnemonics of its instructions begin
_INSTRUCTIONS = {"serialized-wgmma": "wgmma", "ignored-setmaxnreg": "setmaxnreg"}


def lines_of(kind: str, text: Text) -> list[int]:
    """The lines of the instructions that a kind of remark is about."""
    start = _INSTRUCTIONS.get(kind)
    return [op.line for op in text.ops if start is not None and op.name.startswith(start)]


def with_remarks(text: Text, remarks: Iterable[str]) -> Text:
    """The PTX with a note at each instruction that a remark is about."""
    notes: dict[int, str] = {}
    for remark in remarks:
        for line in lines_of(explain(remark).kind, text):
            notes[line] = f"{notes[line]}; {remark}" if line in notes else remark
    if not notes:
        return text
    return replace(text, ops=[replace(op, note=notes.get(op.line, op.note)) for op in text.ops])
