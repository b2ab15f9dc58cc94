"""Signatures on a command line: the types, hints and compile-time values of a kernel's parameters, as text.

    *fp32:16, *fp32:16, i32, 1024        in the order of the parameters
    n=i32, x=*fp32:16, BLOCK=1024        or by their names

An entry is a type, or a literal for a value that is known now, or a layout of Gluon. Behind a type, `:16` says that
every value is divisible
by 16, and `:1` that the value is 1, which makes it a constant. What is wrong is shown with a caret in the text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ..frontend.aggregate_types import NAMES, str_to_type
from ..frontend.errors import LanguageError
from ..support import Diagnostic, TritiumError
from ..support.dataclasses import dataclass
from ..support.suggestions import did_you_mean
from .layout_literals import is_layout, layout_value

__all__ = ["Entry", "SignatureError", "literal", "missing", "parse_signature", "read_signature", "split_items"]

#: Numbers that `float` knows and Python has no literal for.
_SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class SignatureError(TritiumError):
    """An invalid signature, or another invalid text on a command line: `what` names the text."""

    def __init__(self, what: str, text: str, at: int, length: int, message: str, hint: str = "") -> None:
        place = Diagnostic(message, what, 1, at + 1, [text], hint, length=max(1, length))
        super().__init__((place if text else Diagnostic(message, hint=hint)).render())


@dataclass(frozen=True)
class Entry:
    """An entry of a signature: the type with a hint (0: none), or its value, where `type` is "".

    `text` is the entry as it was written, without the name; `at` is where it begins in the signature.
    """

    name: str
    text: str
    at: int
    type: str = ""
    hint: int = 0
    value: Any = None

    @property
    def is_constant(self) -> bool:
        """Whether the kernel is compiled for one value of the parameter."""
        return not self.type or self.hint == 1

    @property
    def constant(self) -> Any:
        """That value."""
        return 1 if self.type else self.value


def parse_signature(
    text: str, names: Sequence[str]
) -> tuple[dict[str, str], dict[str, Any], dict[str, list[list[Any]]]]:
    """The types, compile-time values and attributes that a signature gives to the parameters `names`.

    >>> parse_signature("*fp32:16, i32, 1024", ["x", "n", "BLOCK"])
    ({'x': '*fp32', 'n': 'i32'}, {'BLOCK': 1024}, {'x': [['tt.divisibility', 16]]})
    """
    types: dict[str, str] = {}
    values: dict[str, Any] = {}
    attrs: dict[str, list[list[Any]]] = {}
    for name, entry in read_signature(text, names).items():
        if entry.is_constant:
            values[name] = entry.constant
            continue
        types[name] = entry.type
        if entry.hint:
            attrs[name] = [["tt.divisibility", entry.hint]]
    return types, values, attrs


def read_signature(text: str, names: Sequence[str], constants: Sequence[str] = ()) -> dict[str, Entry]:
    """The entries of a signature for the parameters `names`, of which `constants` take values only, in that order.

    SignatureError points at what is wrong. That an entry is missing is no error here.

    >>> read_signature("n=i64:16", ["x", "n"])
    {'n': Entry(name='n', text='i64:16', at=2, type='i64', hint=16, value=None)}
    """
    found: dict[str, Entry] = {}
    for i, (item, at) in enumerate(split_items(text, "signature")):
        name, item, at = _named(text, item, at, i, names)
        if name in found:
            raise SignatureError("signature", text, at, len(item), f"the parameter {name!r} has an entry already")
        found[name] = _entry(text, name, item, at, name in constants)
    return {name: found[name] for name in names if name in found}


def _named(text: str, item: str, at: int, i: int, names: Sequence[str]) -> tuple[str, str, int]:
    """The parameter that an entry is for, the rest of the entry, and where that begins."""
    name, equals, rest = item.partition("=")
    if equals and name.strip().isidentifier():
        name = name.strip()
        if name not in names:
            hint = did_you_mean(name, names) or f"it has: {', '.join(names)}"
            raise SignatureError("signature", text, at, len(name), f"the kernel has no parameter {name!r}", hint)
        return name, rest.strip(), at + len(item) - len(rest.lstrip())
    if i >= len(names):
        count = len(split_items(text, "signature"))
        message = f"the signature has {count} entries, the kernel {len(names)} parameters"
        raise SignatureError("signature", text, at, len(item), message, f"they are: {', '.join(names)}")
    return names[i], item, at


def _entry(text: str, name: str, item: str, at: int, constant_only: bool) -> Entry:
    """One entry; its type is one that the language knows."""

    def wrong(message: str, hint: str = "", start: int = 0, length: int = len(item)) -> SignatureError:
        return SignatureError("signature", text, at + start, length, message, hint)

    if not item:
        raise wrong(f"the entry of {name!r} is empty")
    value = literal(item)
    if value is not None:
        return Entry(name, item, at, value=value[0])
    if is_layout(item):
        try:
            return Entry(name, item, at, value=layout_value(item))
        except (ValueError, LanguageError) as error:
            raise wrong(f"no layout: {error}") from None
    ty, colon, number = _hinted(item)
    if colon and literal(ty) is not None:
        raise wrong("a value has no hint: it is known", "remove what stands behind ':'", len(ty), len(item) - len(ty))
    _check_type(ty, wrong)
    if constant_only:
        message = f"{name} is a compile-time parameter: its entry is a value, not a type"
        raise wrong(message, "write for example 1024")
    start = len(item) - len(number.lstrip())
    if colon and not (number.strip().isdigit() and int(number) > 0):
        message = f"behind ':' stands what the value is divisible by, not {number.strip()!r}"
        raise wrong(message, "':16' says divisible by 16, ':1' that it is 1", start, len(number.strip()))
    hint = int(number) if colon else 0
    if colon and hint not in (1, 16):
        raise wrong(
            f"the hints are 1 and 16, not {hint}",
            "':16' says divisible by 16, ':1' that it is 1",
            start,
            len(number.strip()),
        )
    if hint and ((hint == 1 and ty[0] == "*") or ty[0] not in "*iu"):
        kind = "a pointer is never 1" if ty[0] == "*" else f"{ty} has no hint"
        raise wrong(f"{kind}: hints are for integers, and for pointers ':16'", "", len(ty), len(item) - len(ty))
    return Entry(name, item, at, ty, hint)


def _hinted(item: str) -> tuple[str, str, str]:
    """A type, ':' and a hint; the last ':' outside of brackets counts.

    >>> _hinted("*fp32 : 16"), _hinted("tensordesc<fp16[64]>")
    (('*fp32', ':', ' 16'), ('tensordesc<fp16[64]>', '', ''))
    """
    ty, colon, number = item.rpartition(":")
    if not colon or "]" in number or ">" in number:
        return item, "", ""
    return ty.strip(), colon, number


def _check_type(ty: str, wrong: Any) -> None:
    if ty == "constexpr":
        raise wrong("the entry of a compile-time parameter is its value", "write for example 1024, 0.5, True, None")
    if ty[:1] in ("(", "["):
        raise wrong("tuples have no place in a signature", "pass their members one by one")
    try:
        str_to_type(ty)
    except LanguageError:
        stars = ty[: len(ty) - len(ty.lstrip("*"))]
        close = did_you_mean(ty, [stars + name for name in NAMES])
        hint = close or f"types are {', '.join(NAMES)}, and '*' with one of them"
        raise wrong(f"unknown type {ty!r}", hint, 0, len(ty)) from None
    if ty == "void":
        raise wrong("no parameter is of type void")


def literal(text: str) -> tuple[Any] | None:
    """A literal's value in a tuple; None for anything else (types are no literals)."""
    if text in _SPECIAL:
        return (_SPECIAL[text],)
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError):
        return None


def split_items(text: str, what: str = "", brackets: str = "()[]{}<>") -> list[tuple[str, int]]:
    """The parts of `text` between commas outside of brackets and quotes, stripped, each with where it begins.

    SignatureError, which calls the text `what`, for brackets that do not match. A comma at the end says nothing.

    >>> split_items("*fp32, tensordesc<fp16[64,64]> , 'a,b'")
    [('*fp32', 0), ('tensordesc<fp16[64,64]>', 7), ("'a,b'", 33)]
    """
    items: list[tuple[str, int]] = []
    stack: list[int] = []
    quote, start = "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in brackets[::2]:
            stack.append(i)
        elif c in brackets:
            if not stack or brackets.index(text[stack[-1]]) + 1 != brackets.index(c):
                raise SignatureError(what, text, i, 1, f"'{c}' closes nothing")
            stack.pop()
        elif c == "," and not stack:
            items.append(_stripped(text, start, i))
            start = i + 1
    if stack:
        raise SignatureError(what, text, stack[-1], 1, f"'{text[stack[-1]]}' is never closed")
    if text[start:].strip():
        items.append(_stripped(text, start, len(text)))
    return items


def _stripped(text: str, start: int, end: int) -> tuple[str, int]:
    part = text[start:end]
    return part.strip(), start + len(part) - len(part.lstrip())


def missing(text: str, entries: Mapping[str, Entry], names: Sequence[str], kernel: str) -> SignatureError:
    """The error for parameters without an entry; it points after the end of the signature."""
    left = [name for name in names if name not in entries]
    if not text.strip():
        each = f"a type such as *fp32 or i32, or a constant, for each of {', '.join(left)}"
        return SignatureError("signature", text, 0, 1, f"the kernel {kernel} needs a signature", f"--signature: {each}")
    message = f"no type for parameter {left[0]!r} of {kernel}, and no constant value"
    more = f"{len(left)} are missing: {', '.join(left)}" if len(left) > 1 else ""
    return SignatureError("signature", text, len(text.rstrip()), 1, message, more)
