"""The metadata of kernels: the part of YAML that `.amdgpu_metadata` uses.

Its fields are those of "Code Object V5 Metadata" in LLVM's "User Guide for AMDGPU Backend".
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Argument", "Metadata", "read_list", "read_metadata"]


class Argument(NamedTuple):
    """A kernel argument: its place in the kernarg segment, and what it is ("global_buffer", "by_value", "hidden_…")."""

    name: str
    offset: int
    size: int
    kind: str
    type: str = ""

    @property
    def pointer(self) -> bool:
        return self.kind in ("global_buffer", "dynamic_shared_pointer")

    @property
    def hidden(self) -> bool:
        return self.kind.startswith("hidden_")


class Metadata(NamedTuple):
    """What the metadata of a kernel says."""

    arguments: tuple[Argument, ...]
    fields: dict[str, str]

    def number(self, field: str, default: int = 0) -> int:
        return int(self.fields.get(field, default))


def read_metadata(lines: list[str]) -> dict[str, Metadata]:
    """The kernels of a metadata document, by name."""
    kernels: dict[str, Metadata] = {}
    fields: dict[str, str] = {}
    arguments: list[dict[str, str]] = []
    inside, in_arguments, argument_indent = False, False, 0

    def finish() -> None:
        if ".name" in fields:
            kernels[fields[".name"]] = Metadata(tuple(map(_argument, arguments)), dict(fields))

    for line in lines:
        indent = len(line) - len(line.lstrip())
        text = line.strip()
        if not text or text in ("---", "..."):
            continue
        if indent == 0:
            if inside:
                finish()
                fields, arguments = {}, []
            inside = text.startswith("amdhsa.kernels")
            in_arguments = False
            continue
        if not inside:
            continue
        item = text.startswith("- ")
        if item and indent <= 2:  # another kernel
            finish()
            fields, arguments, in_arguments = {}, [], False
        elif item and in_arguments:
            arguments.append({})
            argument_indent = indent
        if item:
            text = text[2:].strip()
        elif in_arguments and indent <= argument_indent:
            in_arguments = False
        key, _, value = text.partition(":")
        value = value.strip().strip("'\"")
        if key == ".args":
            in_arguments, argument_indent = True, indent
        elif in_arguments and arguments and (item or indent > argument_indent):
            arguments[-1][key] = value
        else:
            fields[key] = value
    finish()
    return kernels


def read_list(lines: list[str], name: str) -> list[str]:
    """The texts of a list of the document, `amdhsa.printf` for example."""
    out: list[str] = []
    inside = False
    for line in lines:
        text = line.strip()
        if not line.startswith(" "):
            inside = text.partition(":")[0] == name
        elif inside and text.startswith("- "):
            out.append(_scalar(text[2:].strip()))
    return out


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)


def _scalar(text: str) -> str:
    """A scalar of YAML: plain, or in quotes of either kind."""
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] != '"':
        return text
    return _ESCAPE.sub(
        lambda m: _ESCAPES.get(m[4], m[4]) if m[4] else chr(int(m[1] or m[2] or m[3], 16)),
        text[1:-1],
    )


def _argument(raw: dict[str, str]) -> Argument:
    return Argument(
        raw.get(".name", ""),
        int(raw.get(".offset", "0")),
        int(raw.get(".size", "0")),
        raw.get(".value_kind", "by_value"),
        raw.get(".value_type", ""),
    )
