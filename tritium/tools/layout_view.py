"""Pictures of layouts: which register of which thread, or which offset of shared memory, holds each element.

    tritium layout '#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1],
                                  order = [1, 0]}>' --shape 4x16

An element in registers is written `T5:1`, register 1 of thread 5 (thread 37 is lane 5 of warp 1); `B1 T5:1` where there
are several blocks. An element of shared memory is its offset. `+3` says that three more places hold the element.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..dialects.ttg_maps import holders, linear_layout
from ..ir import ParseError, parse_attribute
from ..layout import LinearLayout
from ..layout.access import BANK_BYTES, BANKS
from ..support.dataclasses import dataclass
from ..support.errors import TritiumError
from ..support.lazy import LazyModule

__all__ = ["Picture", "draw_layout", "summary_of", "svg", "table"]

_all_dialects = LazyModule("..dialects.all", __package__)

#: The widest picture in text: more rows and columns than this are cut, and said to be.
TEXT_LIMIT = 64
#: Elements that a picture or table may have at most; beyond, a browser would choke on it.
LIMIT = 1 << 16


@dataclass(frozen=True)
class Cell:
    """One element: its label, all places as text, and the numbers its colour is made of (of `hues` and `shades`)."""

    label: str
    places: str
    hue: int
    shade: int


class Picture:
    """What stands where in a tensor of `shape`.

    `bits`: width of an element, from which banks follow. `address`: where an offset of shared memory stands, with the
    gaps of padded layouts counted in.
    """

    def __init__(
        self, layout: LinearLayout, shape: Sequence[int], bits: int = 32, address: Callable[[int], int] = int
    ) -> None:
        self.layout, self.shape, self.bits, self.address = layout, tuple(shape), bits, address
        self.in_registers = "lane" in layout.ins
        self.lanes = layout.ins.get("lane", 1)
        self.hues = self.lanes if self.in_registers else BANKS
        self.shades = layout.ins.get("warp", 1)
        self.cells = {at: self._cell(places) for at, places in holders(layout, shape).items()}

    def _place(self, place: dict[str, int]) -> str:
        block = f"B{place['block']} " if self.layout.ins.get("block", 1) > 1 else ""
        if not self.in_registers:
            return f"{block}{self.address(place['offset'])}"
        return f"{block}T{place['warp'] * self.lanes + place['lane']}:{place['register']}"

    def _cell(self, places: list[dict[str, int]]) -> Cell:
        first = places[0]
        more = f"+{len(places) - 1}" if len(places) > 1 else ""
        bank = self._bank(first)
        hue = first["lane"] if self.in_registers else bank
        words = [self._long(place) for place in places]
        return Cell(self._place(first) + more, "\n".join(words), hue, first.get("warp", 0))

    def _long(self, place: dict[str, int]) -> str:
        text = ", ".join(f"{name} {number}" for name, number in place.items() if self.layout.ins[name] > 1)
        if not self.in_registers:
            text += f", bank {self._bank(place)}"
        return text or "the only place"

    def _bank(self, place: dict[str, int]) -> int:
        return self.address(place.get("offset", 0)) * self.bits // (8 * BANK_BYTES) % BANKS

    def planes(self) -> list[tuple[str, int, int, Any]]:
        """The tensor as matrices: a title, rows, columns, and `(row, column) -> cell` for each."""
        *outer, rows, columns = (1, 1, *self.shape)[-max(2, len(self.shape)) :]
        out = []
        for index in itertools.product(*map(range, outer)):
            title = f"[{', '.join(map(str, index))}, :, :]" if index else ""

            def cell(row: int, column: int, index: tuple[int, ...] = index) -> Cell:
                return self.cells[(*index, row, column)[-len(self.shape) :]]

            out.append((title, rows, columns, cell))
        return out

    def summary(self) -> str:
        """The sizes of the layout in one line."""
        return summary_of(self.layout, self.shape)


def summary_of(layout: LinearLayout, shape: Sequence[int]) -> str:
    """The sizes of a layout of a tensor in one line, and the copies of each element if there are several."""
    sizes = " x ".join(f"{size} {name}{'s' if size > 1 else ''}" for name, size in layout.ins.items())
    copies = math.prod(layout.ins.values()) // math.prod(shape)
    return f"{'x'.join(map(str, shape))}: {sizes}" + (f", {copies} copies of each element" if copies > 1 else "")


def _colour(hue: int, hues: int, shade: int, shades: int) -> tuple[int, int, int]:
    """Neighbouring lanes get neighbouring colours, each further warp a darker one."""
    angle = hue / max(hues, 1) * 2 * math.pi
    light = 0.86 - 0.3 * (shade / max(shades, 1))
    parts = [light + 0.14 * math.cos(angle + k * 2 * math.pi / 3) for k in range(3)]
    red, green, blue = (max(0, min(255, round(255 * p))) for p in parts)
    return red, green, blue


def table(picture: Picture, whole: bool = False) -> Text:
    """The picture as text in colours, a line a row. Unless `whole`, only the first rows and columns are shown."""
    out = Text()
    for title, rows, columns, cell in picture.planes():
        shown_rows, shown_columns = (rows, columns) if whole else (min(rows, TEXT_LIMIT), min(columns, TEXT_LIMIT))
        if title:
            out.append(f"{title}\n")
        width = max(len(cell(r, c).label) for r in range(shown_rows) for c in range(shown_columns))
        margin = len(str(shown_rows - 1))
        head = " ".join(f"{c:>{width}}" for c in range(shown_columns))
        out.append(f"{'':>{margin}} {head}\n", style="dim")
        for r in range(shown_rows):
            out.append(f"{r:>{margin}} ", style="dim")
            for c in range(shown_columns):
                one = cell(r, c)
                red, green, blue = _colour(one.hue, picture.hues, one.shade, picture.shades)
                out.append(f"{one.label:>{width}}", style=f"black on rgb({red},{green},{blue})")
                out.append(" " if c + 1 < shown_columns else "\n")
        if (shown_rows, shown_columns) != (rows, columns):
            out.append(f"the first {shown_rows} of {rows} rows and {shown_columns} of {columns} columns (--all: all)\n")
    return out


def svg(picture: Picture, title: str = "") -> str:
    """The picture as SVG; each cell has a tooltip with all locations of its element."""
    label = max(len(cell.label) for cell in picture.cells.values())
    wide, high, left, top = 7 * label + 10, 20, 36, 44
    parts: list[str] = []
    at_y, width = top, 0
    for name, rows, columns, cell in picture.planes():
        if name:
            parts.append(f'<text x="{left}" y="{at_y - 4}" class="t">{escape(name)}</text>')
        at_y += 16
        for c in range(columns):
            parts.append(f'<text x="{left + c * wide + wide // 2}" y="{at_y - 4}" class="i">{c}</text>')
        for r in range(rows):
            y = at_y + r * high
            parts.append(f'<text x="{left - 14}" y="{y + 14}" class="i">{r}</text>')
            for c in range(columns):
                one, x = cell(r, c), left + c * wide
                fill = "#{:02x}{:02x}{:02x}".format(*_colour(one.hue, picture.hues, one.shade, picture.shades))
                box = f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="{fill}"/>'
                words = f'<text x="{x + wide // 2}" y="{y + 14}" class="c">{escape(one.label)}</text>'
                parts.append(f"<g><title>{escape(one.places)}</title>{box}{words}</g>")
        at_y += rows * high + 24
        width = max(width, left + columns * wide + 10)
    style = (
        "rect{stroke:#fff}.b{fill:#fff}text{font-family:monospace;font-size:11px;fill:#222}"
        ".c,.i{text-anchor:middle}.i{fill:#888}.t{font-weight:bold}"
        "@media(prefers-color-scheme:dark){rect{stroke:#0d1117}.b{fill:#0d1117}text{fill:#ddd}.c{fill:#222}.i{fill:#888}}"
    )
    head = f'<text x="{left}" y="16" class="t">{escape(title)}</text>'
    head += f'<text x="{left}" y="32">{escape(picture.summary())}</text>'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{at_y}" viewBox="0 0 {width} {at_y}">\n'
        f'<style>{style}</style>\n<rect width="100%" height="100%" class="b"/>\n{head}\n{body}\n</svg>\n'
    )


def parse_shape(text: str) -> tuple[int, ...]:
    """`16x32` as numbers; `TritiumError` for anything but positive numbers."""
    parts = text.replace(",", "x").split("x")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise TritiumError(f"'{text}' is no shape: write it like 16x32")
    shape = tuple(int(part) for part in parts)
    if math.prod(shape) > LIMIT:
        raise TritiumError(f"a tensor of {math.prod(shape)} elements is too large to draw: at most {LIMIT}")
    return shape


def draw_layout(layout: str, shape: str, bits: int = 32, image: str | None = None, whole: bool = False) -> int:
    """Draw the layout that an attribute's text says, on the terminal or as SVG into the file `image`; exit status.

    What is wrong with the text or the shape is one message on standard error, and status 1.
    """
    assert _all_dialects.MODULES
    try:
        sizes = parse_shape(shape)
        attribute = parse_attribute(layout, "<layout>")
        picture = Picture(linear_layout(attribute, sizes), sizes, bits, getattr(attribute, "address", int))
        if image is not None:
            Path(image).write_text(svg(picture, layout))
            print(f"{image}: {picture.summary()}")
            return 0
    except ParseError as error:
        print(error, file=sys.stderr)
        return 1
    except (TritiumError, ValueError, OSError) as error:
        print(f"tritium layout: error: {error}", file=sys.stderr)
        return 1
    console = Console(soft_wrap=True, highlight=False)
    console.print(picture.summary())
    console.print(table(picture, whole), end="")
    return 0
