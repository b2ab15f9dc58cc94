"""Which inline assembly LLVM is sure to accept.

A constraint that no register of its operand's type fits makes LLVM end the process, and so does a `$7` where there are
three operands; and kernels bring assembly of their own (`tl.inline_asm_elementwise`). Plain are operands by number, as
`$0`, and the constraints of the PTX guide on registers whose width is the operand's:

    b: i1    h: 16 bits    r: 32 bits    l: 64 bits, global and generic pointers    q: 128 bits    f: float    d: double
    n: an immediate integer    0, 1, …: the same as that output    ~{…}: what is overwritten
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["asm_is_plain"]

_CALL = pattern(
    r"call\s+(?P<result>[^\n]*?)\s+asm\b[^\n\"]*\"(?P<text>(?:[^\"\\]|\\.)*)\",\s*\"(?P<constraints>[^\"]*)\"\s*\((?P<rest>[^\n]*)"
)

_FITS = {
    "b": {"i1"},
    "h": {"i16", "half", "bfloat", "<2 x i8>"},
    "r": {"i32", "<2 x half>", "<2 x bfloat>", "<2 x i16>", "<4 x i8>", "ptr addrspace(3)", "float"},
    "l": {"i64", "ptr", "ptr addrspace(1)"},
    "q": {"i128"},
    "f": {"float"},
    "d": {"double"},
    "n": {"i8", "i16", "i32", "i64"},
}


def asm_is_plain(text: str) -> bool:
    """Whether all inline assembly in LLVM text has operands that its constraints fit.

    >>> asm_is_plain('call i32 asm "add.u32 $0, $1, 1;", "=r,r"(i32 %x)')
    True
    >>> asm_is_plain('call i32 asm "add.u32 $0, $1, 1;", "=r,r"(i64 %x)')
    False
    >>> asm_is_plain('call i32 asm "add.u32 $0, $1, $2;", "=r,r"(i32 %x)')
    False
    """
    if " asm " not in text:
        return True
    calls = {(m["result"], m["text"], m["constraints"], _types(m["rest"])) for m in _CALL.finditer(text)}
    return (
        "module asm" not in text and text.count(" asm ") == len(_CALL.findall(text)) and all(_fits(*c) for c in calls)
    )


_DOLLAR = pattern(r"\$(\$|\d+)?")


def _names_operands(text: str, count: int) -> bool:
    """Whether every `$` of the assembly is escaped, or precedes the index of one of `count` operands."""
    return all(m[1] is not None and (m[1] == "$" or int(m[1]) < count) for m in _DOLLAR.finditer(text))


def _fits(result: str, text: str, constraints: str, operands: tuple[str, ...]) -> bool:
    letters = [c for c in constraints.split(",") if c and not c.startswith("~")]
    outputs = [c.lstrip("=&") for c in letters if c.startswith("=")]
    inputs = [c for c in letters if not c.startswith("=")]
    results = _results(result)
    if len(outputs) != len(results) or len(inputs) != len(operands) or not _names_operands(text, len(letters)):
        return False
    for letter, ty in zip(inputs, operands):
        if letter.isdigit():
            if int(letter) >= len(results) or results[int(letter)] != ty:
                return False
        elif ty not in _FITS.get(letter, ()):
            return False
    return all(ty in _FITS.get(letter, ()) and letter != "n" for letter, ty in zip(outputs, results))


def _results(text: str) -> tuple[str, ...]:
    """The types of what a call gives: none, one, or the fields of a structure."""
    text = re.sub(r"^(?:(?:fastcc|ccc|noundef)\s+)*", "", text.strip())
    if text == "void":
        return ()
    return _split(text[1:-1]) if text.startswith("{") else (text,)


def _types(rest: str) -> tuple[str, ...]:
    """The types of the operands in `i32 %x, ptr addrspace(1) %p) #2, !dbg !3`."""
    depth, end = 1, 0
    while depth and end < len(rest):
        depth += {"(": 1, ")": -1}.get(rest[end], 0)
        end += 1
    return tuple(_type_of(part) for part in _split(rest[: end - 1]))


def _type_of(operand: str) -> str:
    vector = re.match(r"<[^>]*>", operand)
    if vector:
        return vector[0]
    pointer = re.match(r"ptr(?: addrspace\(\d+\))?", operand)
    return pointer[0] if pointer else operand.split(" ", 1)[0]


def _split(text: str) -> tuple[str, ...]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "(<{[") - (c in ")>}]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return tuple(parts + [last] if last else parts)
