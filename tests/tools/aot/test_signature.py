"""Signatures and grids as text: whatever is wrong is an error that points into the text."""

from __future__ import annotations

import random
import re

import pytest

from tritium.support import TritiumError
from tritium.tools.aot.grid import read_grid
from tritium.tools.signature import SignatureError, read_signature

NAMES = ["x", "y", "n", "m", "BLOCK"]


@pytest.mark.parametrize(
    ("text", "message", "pointed"),
    [
        ("*fp33:16, i32", "unknown type '*fp33'", "*fp33"),
        ("*fp32,,i32", "the entry of 'y' is empty", ","),
        ("i32:x", "behind ':' stands what the value is divisible by, not 'x'", "x"),
        ("i32:-16", "not '-16'", "-16"),
        ("i32:0", "not '0'", "0"),
        ("i32:", "not ''", " "),
        ("i32:16:16", "unknown type 'i32:16'", "i32:16"),
        ("x=*fp32, x=i32", "the parameter 'x' has an entry already", "i32"),
        ("*fp32, x=i32", "the parameter 'x' has an entry already", "i32"),
        ("z=i32", "the kernel has no parameter 'z'", "z"),
        ("1, 2, 3, 4, 5, 6", "the signature has 6 entries, the kernel 5 parameters", "6"),
        ("*fp32:1", "a pointer is never 1", ":1"),
        ("fp32:16", "fp32 has no hint", ":16"),
        ("tensordesc<fp16[64,64]>:16", "has no hint", ":16"),
        ("64:16", "a value has no hint", ":16"),
        ("constexpr", "the entry of a compile-time parameter is its value", "constexpr"),
        ("(i32, i32)", "tuples have no place in a signature", "(i32, i32)"),
        ("void", "no parameter is of type void", "void"),
        ("BLOCK=i32", "BLOCK is a compile-time parameter", "i32"),
        ("i32, tensordesc<fp16[2", "'[' is never closed", "["),
        ("i32)", "')' closes nothing", ")"),
        ("tensordesc<fp16[2>]", "'>' closes nothing", ">"),
    ],
)
def test_mistakes(text: str, message: str, pointed: str) -> None:
    with pytest.raises(SignatureError) as caught:
        read_signature(text, NAMES, ["BLOCK"])
    told = str(caught.value)
    assert message in told
    assert _pointed(told) == pointed


def _pointed(told: str) -> str:
    """The part of the text above the carets."""
    lines = told.splitlines()
    at = next(i for i, line in enumerate(lines) if re.fullmatch(r" +\| *\^+", line))
    return lines[at - 1].ljust(len(lines[at]))[lines[at].index("^") : lines[at].rindex("^") + 1]


PIECES = [
    "*",
    "fp32",
    "i32",
    ":16",
    ":1",
    ",",
    " ",
    "x=",
    "64",
    "-1.5",
    "'a'",
    '"',
    "<",
    "[",
    "]",
    ">",
    "(",
    ")",
    "None",
    "é",
]
OPERATORS = [
    "n",
    "m",
    "4",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "(",
    ")",
    ",",
    "cdiv(",
    "min(",
    ">>",
    "<<",
    "**",
    ".",
    "é",
    "'",
    " ",
]


def test_any_text_is_read_or_pointed_at(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = {"read": 0, "wrong": 0}
    for _ in range(4000):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9)))
        outcomes["read" if _is_read(lambda: read_signature(text, NAMES, ["BLOCK"])) else "wrong"] += 1
        grid = "".join(rng.choice(OPERATORS) for _ in range(rng.randrange(1, 9)))
        outcomes["read" if _is_read(lambda: read_grid(grid, {"n": None, "m": 0}, {})) else "wrong"] += 1
    assert min(outcomes.values()) > 100


def _is_read(read: object) -> bool:
    try:
        read()  # type: ignore[operator]
    except TritiumError as error:
        assert re.search(r"^ +\| *\^+$", str(error), re.M), str(error)
        return False
    return True


@pytest.mark.parametrize(
    "text", ["n", "n + 3 * 2", "cdiv(n, 7) - min(n, 3)", "-n % 5 + 9 // 2", "(n << 2) >> 1", "max(n, -n) / 3"]
)
def test_what_is_known_is_computed_as_c_does(text: str) -> None:
    for n in (-13, -1, 0, 1, 12, 1000):
        c = re.sub(r"cdiv\((\w+), (\w+)\)", r"div(\1 + \2 - 1, \2)", text)
        c = (
            re.sub(r"-n % 5", "(-n - div(-n, 5) * 5)", c)
            .replace("9 // 2", "div(9, 2)")
            .replace("max(n, -n) / 3", "div(max(n, -n), 3)")
        )
        expected = eval(c, {"n": n, "div": lambda a, b: int(a / b)})
        try:
            found = read_grid(text, {"n": n}, {}).sizes[0].constant
        except SignatureError:
            assert expected < 0
        else:
            assert found == expected
