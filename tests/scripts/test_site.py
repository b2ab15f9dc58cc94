"""The pages of the site: links stay inside it, code is left alone, and broken links are found."""

from __future__ import annotations

from pathlib import Path

from scripts.site.__main__ import configuration
from scripts.site.links import broken_links
from scripts.site.sources import DOCS, FORMER, ROOT, _outside_code, _Site, navigation, prepare


def test_links_lead_to_pages_of_the_site() -> None:
    site = _Site(ROOT / "unused")
    change = site.links(DOCS / "index.md", Path("index.md"))
    assert change("[a](../README.md#x) [b](ir.md) [c](https://example.org/a.md)") == (
        "[a](readme.md#x) [b](ir.md) [c](https://example.org/a.md)"
    )
    assert change("[t](../tests/conftest.py)") == "[t](source/tests/conftest.py.md)"
    assert site.shown == {ROOT / "tests" / "conftest.py": Path("source/tests/conftest.py.md")}
    assert change("![speed](images/speed.svg)") == "![speed](images/speed.svg)"
    assert change("[gone](no-such-page.md)") == "[gone](no-such-page.md)"


def test_code_is_not_searched_for_links() -> None:
    text = "[a](b)\n```python\nx[0](y)\n```\n`z[1](w)` [c](d)\n"
    assert _outside_code(text, lambda part: part.replace("](", "](/")) == (
        "[a](/b)\n```python\nx[0](y)\n```\n`z[1](w)` [c](/d)\n"
    )


def test_navigation_has_every_hand_written_page() -> None:
    pages = [page for _, entries in navigation() for _, page in entries]
    assert len(pages) == len(set(pages))
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} == {page for page in pages if "/" not in page}


def test_former_names_redirect_to_pages() -> None:
    for former, page in FORMER.items():
        assert not (DOCS / f"{former}.md").exists() and (DOCS / f"{page}.md").exists()


def test_pages_that_no_longer_exist_are_removed(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("old")
    prepare(tmp_path)
    assert not (tmp_path / "old.md").exists()
    assert (tmp_path / "readme.md").exists() and (tmp_path / "api" / "tritium.language.md").exists()


def test_broken_links_and_anchors_are_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="top">A</h1><a href="../b/">b</a><a href="#top">t</a>')
    (tmp_path / "index.html").write_text('<a href="a/#top">ok</a><a href="a/#gone">no</a><a href="c.html">no</a>')
    assert broken_links(tmp_path) == ["a/index.html: ../b/", "index.html: a/#gone", "index.html: c.html"]


def test_navigation_has_the_pages_of_passes_dialects_and_the_api() -> None:
    text = configuration()
    for page in ("passes/async-dots.md", "dialects/tt.md", "api/tritium.language.md", "readme.md", "common-tasks.md"):
        assert text.count(f'"{page}"') == 1
    assert '{ "Passes" = ["passes/index.md", {' in text
