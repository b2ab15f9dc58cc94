"""The language of assembly formats: each construct prints, parses, and says what is wrong with a text or a format."""

from __future__ import annotations

import enum

import pytest

import tritium.dialects  # noqa: F401  (the operations that the texts name)
from tritium.ir import (
    I32,
    Block,
    Flag,
    Op,
    Operand,
    OptionalOperand,
    OptionalResult,
    Result,
    Str,
    VariadicOperand,
    VariadicResult,
    enum_field,
    f32,
    i1,
    i32,
    parse_module,
    print_op,
    verify,
)
from tritium.ir.assembly import custom_syntax, elements
from tritium.ir.parser import ParseError
from tritium.ir.verifier import VerificationError
from tritium.support import InternalError


class Taste(enum.IntEnum):
    sweet = 1
    sour = 2


TasteField = enum_field(Taste)


def _write_after(printer, values, types):
    return " after " + printer.values(values) if values else ""


def _read_after(parser):
    if not parser.accept("after"):
        return [], []
    values = parser.operands()
    return values, [v.type for v in values]


custom_syntax("After", _write_after, _read_after)


def _write_token(printer, value, ty):
    return "" if ty is None else f"[{'' if value is None else printer.names[value]}]"


def _read_token(parser):
    if not parser.accept("["):
        return None, None
    value = parser.optional_operand()
    parser.expect("]")
    return value, i1


custom_syntax("TestToken", _write_token, _read_token)


class Lists(Op, name="test.lists", assembly="$src oilist(`taste` `=` $taste | `with` $extra | `fast` $fast) attr-dict"):
    """Clauses in any order."""

    src: Operand
    extra: OptionalOperand
    taste: TasteField = Taste.sweet
    fast: Flag = None


class Choice(Op, name="test.choice", assembly="(`start` $is_start^):(`end`)? $label attr-dict"):
    """One word or the other."""

    is_start: Flag = None
    label: Str


class Types(Op, name="test.types", assembly="operands attr-dict `:` qualified(type(operands)) `->` type(results)"):
    """All types of operands and results."""

    args: VariadicOperand
    outs: VariadicResult


class Short(Op, name="test.short", assembly="$p attr-dict `:` stripped(`!tt.ptr`, $p)"):
    """A type without its prefix."""

    p: Operand


class Order(Op, name="test.order", assembly="$first `` custom<After>($others, type($others)) `upto` $n attr-dict"):
    """Custom syntax of variadic operands."""

    first: Operand
    others: VariadicOperand
    n: I32


class Segments(
    Op, name="test.segments", assembly="$a `` custom<TestToken>($dep, type($token)) `:` type($main) (`,` type($red)^)?"
):
    """Two optional results."""

    a: Operand
    dep: OptionalOperand
    main: Result
    token: OptionalResult
    red: OptionalResult


HEAD = """\
  %p = ub.poison : !tt.ptr<f32>
  %a = ub.poison : i32
  %b = ub.poison : f32
  %c = ub.poison : i1
"""
LINES = [
    "test.lists %a",
    "test.lists %a taste = sour",
    "test.lists %a with %b",
    "test.lists %a taste = sour with %b fast {k}",
    'test.choice start "x"',
    'test.choice end "x" {k = 1 : i8}',
    "%0 = test.types %a, %b : i32, f32 -> i1",
    "%0:2 = test.types %a : i32 -> i1, f32",
    "test.short %p : <f32>",
    "test.order %a upto 5",
    "test.order %a after %b, %c upto 5",
    "%main = test.segments %a : i32",
    "%main, %red = test.segments %a : i32, f32",
    "%main, %token = test.segments %a[] : i32",
    "%main, %token = test.segments %a[%c] : i32",
    "%main, %token, %red = test.segments %a[%c] : i32, f32",
]


def module_of(line: str) -> str:
    return f"module {{\n{HEAD}  {line}\n}}"


@pytest.mark.parametrize("line", LINES)
def test_what_is_printed_is_read(line):
    module = parse_module(module_of(line))
    verify(module)
    assert print_op(module) == module_of(line)
    generic = print_op(module, generic=True)
    again = parse_module(generic)
    verify(again)
    assert print_op(again) == module_of(line) and print_op(again, generic=True) == generic


@pytest.mark.parametrize(
    "line, printed",
    [
        ("test.lists %a with %b taste = sour", "test.lists %a taste = sour with %b"),
        ("test.lists %a fast taste = sweet", "test.lists %a fast"),
        ("test.short %p : !tt.ptr<f32>", "test.short %p : <f32>"),
    ],
)
def test_other_orders_and_spellings_are_read(line, printed):
    assert print_op(parse_module(module_of(line))) == module_of(printed)


@pytest.mark.parametrize(
    "line, message",
    [
        ("test.lists %a with %b with %b", "'with' is given twice"),
        ("test.lists %a taste = bitter", "'bitter' is no value of 'taste'"),
        ('test.choice "x"', "expected 'end'"),
        ("%0 = test.types %a : f32 -> i1", "has the type i32, but is used as f32"),
        ("%0 = test.types %a, %a : i32 -> i1", "2 operands, but 1 types"),
        ("test.short %a : <f32>", "has the type i32"),
    ],
)
def test_mistakes_in_a_text(line, message):
    with pytest.raises(ParseError, match=message):
        parse_module(module_of(line))


@pytest.mark.parametrize(
    "text, message",
    [
        ("custom<Nobody>($a)", "no function is registered for the syntax custom<Nobody>"),
        ("oilist($a)", "a clause of its oilist does not begin with a literal"),
        ("($dep^):($a", "has '' in place of '\\)'"),
        ("stripped($a)", "in place of ','"),
    ],
)
def test_mistakes_in_a_format(text, message):
    class Fake:
        name = "test.fake"
        fields = Segments.fields
        assembly = text

    with pytest.raises(InternalError, match=message):
        elements(Fake)


def test_custom_syntax_is_registered_once():
    with pytest.raises(InternalError, match="defined twice"):
        custom_syntax("After", _write_after, _read_after)


def test_segments_of_results():
    a, c = Block([i32, i1]).args
    op = Segments(a, c, main=f32, red=i32)
    assert str(op.attributes["resultSegmentSizes"]) == "array<i32: 1, 0, 1>"
    assert op.main is op.results[0] and op.token is None and op.red is op.results[1]
    assert Segments(a, main=f32, token=i1).token.type is i1


def test_wrong_segments_of_results_are_found():
    module = parse_module(module_of(LINES[-1]))
    op = module.body.last
    op.attributes["resultSegmentSizes"] = Segments(op.a, main=f32).attributes["resultSegmentSizes"]
    with pytest.raises(VerificationError, match=r"V7: resultSegmentSizes is array<i32: 1, 0, 0> for 3 results"):
        verify(module)
