"""Attributes and types declared by their parameters."""

import enum
from typing import Annotated

import pytest

import tritium.dialects  # noqa: F401  (registers what the parser needs)
from tritium.ir import ParseError, i32, parse_attribute, parse_type
from tritium.ir.attributes import DIALECT_ATTRIBUTES
from tritium.ir.parameters import (
    Attr,
    Bases,
    Boolean,
    DialectAttribute,
    DialectType,
    Int,
    Ints,
    Text,
    Typ,
    keyword_kind,
)


class Colour(enum.IntEnum):
    red = 0
    _and = 1


ColourParameter = Annotated[Colour, keyword_kind(Colour)]


class Tile(DialectAttribute, name="test.tile", alias="tile"):
    """A struct with a default."""

    order: Ints
    flipped: Boolean = False
    bases: Bases = ()

    def check(self):
        return None if sorted(self.order) == list(range(len(self.order))) else f"{list(self.order)} is no permutation"


class Part(DialectAttribute, name="test.part", form="keyed"):
    dim: Int
    parent: Attr
    colour: ColourParameter = Colour.red


class Both(DialectType, name="test.both", form="list"):
    element: Typ
    note: Text
    count: Int = 1


class Bare(DialectType, name="test.bare.token"):
    """No parameters."""


tile = Tile((1, 0))


@pytest.mark.parametrize(
    "value, text",
    [
        (tile, "#test.tile<{order = [1, 0]}>"),
        (Tile((0,), True, ((1, 0), (0, 1))), "#test.tile<{order = [0], flipped = true, bases = [[1, 0], [0, 1]]}>"),
        (Part(1, tile), "#test.part<dim = 1, parent = #test.tile<{order = [1, 0]}>>"),
        (Part(1, Part(0, tile, Colour._and)),
         "#test.part<dim = 1, parent = #test.part<dim = 0, parent = #test.tile<{order = [1, 0]}>, colour = and>>"),
    ],
)  # fmt: skip
def test_attributes_print_and_parse(value, text):
    assert str(value) == text
    assert parse_attribute(text) is value


@pytest.mark.parametrize(
    "value, text",
    [(Both(i32, 'a"b'), '!test.both<i32, "a\\22b">'), (Both(i32, "", 2), '!test.both<i32, "", 2>'),
     (Bare(), "!test.bare.token")],
)  # fmt: skip
def test_types_print_and_parse(value, text):
    assert str(value) == text
    assert parse_type(text) is value


def test_one_instance_for_all_ways_to_say_a_content():
    assert Tile([1, 0]) is tile
    assert Tile(order=(1, 0), flipped=False) is tile
    assert Tile((1, 0), 0, []) is tile
    assert parse_attribute("#test.tile<{bases = [], flipped = false, order = [1 : i32, 0]}>") is tile
    assert tile.with_(flipped=True) is Tile((1, 0), True)
    assert type(Tile((1, 0), 1).flipped) is bool


def test_nested_aliases():
    assert Part(1, tile).spelled(lambda a: "#" + a.alias_name) == "#test.part<dim = 1, parent = #tile>"
    assert Part(1, tile).alias_name is None


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Tile((1, 1)), r"#test.tile: \[1, 1\] is no permutation"),
        (lambda: Tile((1.5, 0)), "#test.tile: order: 1.5 is no integer"),
        (lambda: Tile((1, 0), 2), "#test.tile: flipped: 2 is neither true nor false"),
        (lambda: Part(-1, tile), "#test.part: dim: -1 is out of range"),
        (lambda: Part(0, 3), "#test.part: parent: 3 is no attribute"),
        (lambda: Part(0, tile, 7), "#test.part: colour: 7 is not a valid Colour"),
    ],
)
def test_constructors_reject(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "text, message, column",
    [
        ("#test.tile<{order = [1, 1]}>", "is no permutation", 11),
        ("#test.part<parent = unit>", "needs the parameter 'dim'", 11),
        ("#test.part<dim = 1, dim = 2>", "given twice", 21),
        ("#test.part<dim = 1, size = 2>", "no parameter 'size'", 21),
        ("#test.part<dim = 1, parent = unit, colour = blue>", "'blue' is none of red, and", 45),
        ("#test.tile<{order = [1, x]}>", "expected a number, found 'x'", 25),
        ("#test.tile<{flipped = 1}>", "expected true or false", 23),
        ("#test.tile<{order = [1, 0]", "expected ',', found the end of the text", 27),
    ],
)  # fmt: skip
def test_errors_have_a_position(text, message, column):
    with pytest.raises(ParseError) as caught:
        parse_attribute(text)
    assert message in caught.value.diagnostic.message
    assert (caught.value.diagnostic.line, caught.value.diagnostic.column) == (1, column)


def test_registration():
    assert {"test.tile", "test.part"} <= DIALECT_ATTRIBUTES.keys()
