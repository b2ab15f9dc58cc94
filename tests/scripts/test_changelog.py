"""Fragments become a section of the changelog, once."""

from __future__ import annotations

from pathlib import Path

from scripts.changelog import KINDS, ROOT, fragments, main, section


def project(root: Path) -> Path:
    (root / "changes").mkdir()
    (root / "changes" / "README.md").write_text("about fragments\n")
    (root / "changes" / "new-thing.added.md").write_text("A new thing\nof two lines.\n")
    (root / "changes" / "quick.speed.md").write_text("Quicker.\n")
    (root / "CHANGELOG.md").write_text("# Changelog\n\nWords.\n\n## [0.1.0] - 2026-01-01\n\nFirst.\n")
    return root


def test_release_inserts_the_section_and_deletes_the_fragments(tmp_path: Path, capsys) -> None:
    root = project(tmp_path)
    assert main(["--release", "0.2.0"], root) == 0
    text = (root / "CHANGELOG.md").read_text()
    assert text.index("Words.") < text.index("## [0.2.0]") < text.index("## [0.1.0]")
    assert "### Added\n\n- A new thing of two lines.\n\n### Performance\n\n- Quicker.\n" in text
    assert [path.name for path in (root / "changes").iterdir()] == ["README.md"]
    assert main(["--release", "0.2.0"], root) == 1
    assert "0.2.0" in capsys.readouterr().err


def test_unknown_kind_and_empty_fragment_are_refused(tmp_path: Path, capsys) -> None:
    root = project(tmp_path)
    (root / "changes" / "odd.mended.md").write_text("Mended.\n")
    assert main([], root) == 1 and "odd.mended.md" in capsys.readouterr().err
    (root / "changes" / "odd.mended.md").unlink()
    (root / "changes" / "empty.fixed.md").write_text("\n")
    assert main([], root) == 1 and "empty.fixed.md" in capsys.readouterr().err
    assert (root / "CHANGELOG.md").read_text().count("## [") == 1


def test_fragments_of_the_project_are_well_formed() -> None:
    found = fragments(ROOT / "changes")
    assert set(found) == set(KINDS)
    assert section(found).count("\n- ") <= sum(map(len, found.values()))
