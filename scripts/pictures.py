"""Draw the pictures of the documentation from tables and layouts.

    python -m scripts.pictures            write docs/images/*.svg
    python -m scripts.pictures --check    exit with 1 where one is stale

`speed.svg` is the chart in the README: how many times as fast as Triton, from the table in README.md. `pipelines.svg`
has the stages for an H100 with their passes, from the tables that the compiler runs; `layout-*.svg` are drawn by the
code of `tritium layout --svg`.
"""

from __future__ import annotations

import argparse
import re
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from tritium.dialects.all import MODULES
from tritium.dialects.ttg_maps import linear_layout
from tritium.hardware.nvidia import nvidia_gpu
from tritium.ir.parser import parse_attribute
from tritium.tools.layout_view import Picture, svg
from tritium.transforms.ttgir.pipelines import LOWERING, nvidia_ttgir_pipeline
from tritium.transforms.ttir import gpu_ttir_pipeline

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^\| (?P<what>[^|]+) \| (?P<factor>[\d.]+) \|", re.MULTILINE)
WIDTH, ROW, LABEL, END = 760, 30, 370, 60  # pixels

_STYLE = """text{font:14px system-ui,sans-serif;fill:#24292f}.bar{fill:#3b6fd4}
.one{stroke:#8c959f;stroke-width:1;stroke-dasharray:4 3}.small{font-size:12px;fill:#57606a}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b3}.bar{fill:#6ea0ff}}"""


class Bar(NamedTuple):
    """A bar of a chart: a label, and a factor of which 1 is as fast as the peer."""

    label: str
    factor: float


def bars(text: str) -> list[Bar]:
    """The rows of the table whose second column is a factor; ValueError if there is none."""
    found = [Bar(re.sub(r"[`*]", "", row["what"]).strip(), float(row["factor"])) for row in TABLE.finditer(text)]
    if not found:
        raise ValueError("no table whose second column is a factor")
    return found


def chart(rows: list[Bar], title: str) -> str:
    """An SVG of horizontal bars with a line at 1; it follows the reader's light or dark scheme."""
    height = ROW * len(rows) + 58
    scale = (WIDTH - LABEL - END) / max(row.factor for row in rows)
    one = LABEL + scale
    box = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f"<style>{_STYLE}</style>",
        f'<text x="{LABEL}" y="18" font-weight="600">{escape(title)}</text>',
    ]
    for i, row in enumerate(rows):
        y = 34 + i * ROW
        parts.append(f'<text x="{LABEL - 10}" y="{y + 15}" text-anchor="end">{escape(row.label)}</text>')
        parts.append(f'<rect class="bar" x="{LABEL}" y="{y}" width="{row.factor * scale:.1f}" height="20" rx="3"/>')
        parts.append(f'<text x="{LABEL + row.factor * scale + 8:.1f}" y="{y + 15}">{row.factor:g}x</text>')
    bottom = 34 + len(rows) * ROW
    parts.append(f'<line class="one" x1="{one:.1f}" y1="28" x2="{one:.1f}" y2="{bottom}"/>')
    parts.append(f'<text class="small" x="{one + 6:.1f}" y="{bottom + 12}">1x: as fast as Triton</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def pipelines() -> str:
    """An SVG of the stages for sm_90: a column for each pipeline, a box for each pass, with its reason as a tooltip."""
    columns = {
        "ttir": gpu_ttir_pipeline(descriptors=True),
        "ttgir": nvidia_ttgir_pipeline(nvidia_gpu(90)),
        "before llir": LOWERING,
    }
    most = max(map(len, columns.values()))
    width, row, step = 290, 24, 310
    height = 70 + most * row
    box = f'viewBox="0 0 {step * len(columns)} {height}" role="img" aria-label="The passes for an H100"'
    boxes = """.box{fill:#eef2fb;stroke:#b6c2dd}.when{stroke-dasharray:4 3}
@media(prefers-color-scheme:dark){.box{fill:#1b2333;stroke:#44526e}}"""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f"<style>{_STYLE}{boxes}</style>",
        '<text class="small" x="4" y="14">dashed: runs only where there is work for it</text>',
    ]
    for i, (title, passes) in enumerate(columns.items()):
        x = 4 + i * step
        parts.append(f'<text x="{x}" y="40" font-weight="600">{escape(title)}</text>')
        for k, one in enumerate(passes):
            y = 50 + k * row
            condition = " when" if one.when is not None else ""
            parts.append(
                f"<g><title>{escape(one.reason)}</title>"
                f'<rect class="box{condition}" x="{x}" y="{y}" width="{width}" height="{row - 4}" rx="3"/>'
                f'<text class="small" x="{x + 8}" y="{y + 14}">{escape(one.name)}</text></g>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


LAYOUTS = {
    "blocked": (
        "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>",
        (8, 16),
    ),
    "swizzled": ("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>", (8, 16)),
    "mma": (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>",
        (16, 8),
    ),
}
"""Pictures of layouts: name -> the attribute's text, and a shape."""


def layout_picture(name: str) -> str:
    """An SVG of a layout: which register of which thread, or which offset, holds each element."""
    assert MODULES  # the attributes of all dialects can be read
    text, shape = LAYOUTS[name]
    return svg(Picture(linear_layout(parse_attribute(text), shape), shape, 16), text.partition("<")[0])


def pictures(root: Path = ROOT) -> dict[Path, str]:
    """The path and the text of each picture."""
    folder = root / "docs" / "images"
    table = (root / "README.md").read_text(encoding="utf-8")
    out = {folder / "speed.svg": chart(bars(table), "Times as fast as Triton"), folder / "pipelines.svg": pipelines()}
    return out | {folder / f"layout-{name}.svg": layout_picture(name) for name in LAYOUTS}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """The command line; with --check 1 where a picture is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, say what is stale")
    chosen = parser.parse_args(arguments)
    stale = 0
    for path, text in pictures(root).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'stale' if chosen.check else 'written'}: {path.relative_to(root)}")
        if not chosen.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(chosen.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
