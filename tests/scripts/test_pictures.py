"""The chart of the README shows its table."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.pictures import ROOT, bars, chart, main


def test_picture_of_the_readme_is_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_stale_picture_is_found_and_drawn_anew(tmp_path: Path, capsys) -> None:
    (tmp_path / "README.md").write_text("| what | times | by |\n|---|---:|---|\n| a `b` | 2.5 | x |\n| c | 1 | y |\n")
    assert main(["--check"], tmp_path) == 1 and "stale" in capsys.readouterr().out
    assert main([], tmp_path) == 0 and main(["--check"], tmp_path) == 0
    text = (tmp_path / "docs" / "images" / "speed.svg").read_text()
    assert ">a b</text>" in text and ">2.5x</text>" in text


def test_bars_are_as_long_as_their_factors() -> None:
    rows = bars((ROOT / "README.md").read_text())
    assert len(rows) >= 8 and all(row.factor > 0 for row in rows)
    widths = [float(part.split('"')[0]) for part in chart(rows, "t").split('" width="')[1:]]
    assert len(widths) == len(rows)
    assert widths == pytest.approx([row.factor / rows[0].factor * widths[0] for row in rows], abs=0.1)
