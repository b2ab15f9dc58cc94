"""`tritium layout`: what it draws is what the layout says, as text and as a picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tritium.dialects.ttg  # noqa: F401  (its attributes are read here)
from tritium.dialects.ttg_maps import linear_layout
from tritium.ir import parse_attribute
from tritium.tools.cli import app
from tritium.tools.layout_view import LIMIT, TEXT_LIMIT, Picture, parse_shape

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>"
SWIZZLED = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["layout", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_threads_and_registers() -> None:
    rows = drawn(BLOCKED, "--shape", "8x16").splitlines()
    assert rows[0] == "8x16: 2 registers x 32 lanes x 2 warps x 1 block"
    for r in range(8):
        expected = [f"T{r * 8 + c // 2}:{c % 2}" for c in range(16)]
        assert rows[2 + r].split() == [str(r), *expected]


def test_offsets() -> None:
    rows = drawn(SWIZZLED, "--shape", "8x8", "--bits", "16").splitlines()[2:]
    for r, line in enumerate(rows):
        expected = [r * 8 + ((c // 2) ^ (r % 4)) * 2 + c % 2 for c in range(8)]
        assert [int(word) for word in line.split()] == [r, *expected]


def test_gaps_of_padded_layouts_are_seen() -> None:
    rows = drawn("#ttg.padded_shared<[16:+4] {order = [1, 0], shape = [4, 16]}>", "--shape", "4x16").splitlines()[2:]
    for r, line in enumerate(rows):
        assert [int(word) for word in line.split()] == [r, *(r * 20 + c for c in range(16))]


def test_copies_are_counted() -> None:
    text = drawn(f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>", "--shape", "16")
    assert "8 copies of each element" in text and "T0:0+7" in text and "T7:1+7" in text


def test_more_dimensions_are_planes() -> None:
    layout = "#ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [2, 4, 4], warpsPerCTA = [1, 1, 1], order = [2, 1, 0]}>"
    text = drawn(layout, "--shape", "2x4x4")
    assert "[0, :, :]" in text and "[1, :, :]" in text and "T31:0" in text


def test_large_tensors_are_cut_and_say_so() -> None:
    text = drawn(BLOCKED, "--shape", "128x128")
    assert f"the first {TEXT_LIMIT} of 128 rows and {TEXT_LIMIT} of 128 columns" in text
    assert "the first" not in drawn(BLOCKED, "--shape", "128x128", "--all")


@pytest.mark.parametrize(("text", "shape"), [(BLOCKED, "16x32"), (SWIZZLED, "16x16"), (BLOCKED, "1x1")])
def test_pictures(text: str, shape: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.svg"
    assert str(path) in drawn(text, "--shape", shape, "--svg", str(path))
    root = ET.fromstring(path.read_text())
    sizes = parse_shape(shape)
    cells = root.findall(f"{SVG}g")
    assert len(cells) == sizes[0] * sizes[1]
    picture = Picture(linear_layout(parse_attribute(text), sizes), sizes)
    labels = [cell.find(f"{SVG}text").text for cell in cells]  # type: ignore[union-attr]
    assert labels == [picture.cells[r, c].label for r in range(sizes[0]) for c in range(sizes[1])]
    wide, high = float(root.attrib["width"]), float(root.attrib["height"])
    for box in root.iter(f"{SVG}rect"):
        if box.attrib["width"] != "100%":
            assert float(box.attrib["x"]) + float(box.attrib["width"]) <= wide
            assert float(box.attrib["y"]) + float(box.attrib["height"]) <= high


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        ("#ttg.nope<{}>", "8", "tritium layout: error: the map of the layout #ttg.nope<{}> is not known"),
        ("#ttg.blocked<{sizePerThread = [3]", "8", "<layout>:1:"),
        (BLOCKED, "8", "a layout of 2 dimensions for a tensor of 1"),
        (BLOCKED, "6x8", "the size of dim0 is 6, which is not a power of two"),
        (BLOCKED, "8x", "'8x' is no shape: write it like 16x32"),
        (BLOCKED, f"2x{LIMIT}", f"is too large to draw: at most {LIMIT}"),
        ("i32", "8", "the map of the layout i32 is not known"),
    ],
)
def test_mistakes_are_one_message(text: str, shape: str, message: str) -> None:
    result = CliRunner().invoke(app, ["layout", text, "--shape", shape])
    assert result.exit_code == 1
    assert message in result.stderr and "Traceback" not in result.stderr
    assert result.stdout == ""


def test_unwritable_picture() -> None:
    result = CliRunner().invoke(app, ["layout", BLOCKED, "--shape", "8x8", "--svg", "/nowhere/x.svg"])
    assert result.exit_code == 1 and re.search("No such file", result.stderr)
