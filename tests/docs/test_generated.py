"""The pages of docs/ that `make docs` writes are those of the sources as they are; `TRITIUM_BLESS=1` writes them."""

from __future__ import annotations

import os

from scripts.docs.dialects import TRAITS, undocumented
from scripts.docs.markdown import escape, first_sentence, table
from scripts.docs.pages import DOCS, ROOT, pages, stale, write
from scripts.docs.passes import without_example
from tritium.ir import traits


def test_pages_are_up_to_date():
    if os.environ.get("TRITIUM_BLESS"):
        write()
    names = [str(path.relative_to(ROOT)) for path in stale()]
    assert not names, f"`make docs` (or TRITIUM_BLESS=1) writes them anew: {', '.join(names)}"


def test_every_operation_has_an_example():
    assert not undocumented(), "a line in tests/dialects/examples/<dialect>.mlir is its example"


def test_every_pass_has_an_example():
    assert not without_example(), "tests/filetests/shown/<pass>.mlir is its example"


def test_every_trait_is_explained():
    assert set(TRAITS) == {name for name in traits.__all__ if name.isupper()}


def test_a_stale_page_is_found(tmp_path, monkeypatch):
    from scripts.docs import pages as module

    made = {tmp_path / path.relative_to(DOCS): text for path, text in pages().items()}
    monkeypatch.setattr(module, "pages", lambda: made)
    monkeypatch.setattr(module, "DOCS", tmp_path)
    assert stale() == sorted(made)
    write()
    assert stale() == []
    page = tmp_path / "dialects" / "arith.md"
    page.write_text(page.read_text() + "edited\n")
    extra = tmp_path / "dialects" / "nothing.md"
    extra.write_text("x")
    assert stale() == [page, extra]


def test_markdown():
    assert first_sentence("a = b. More.\n\nRest") == "a = b."
    assert first_sentence("f(a, b...) = c, e.g. d") == "f(a, b...) = c, e.g. d"
    assert escape("*p = `*q` * 2 <f32> < 3") == "\\*p = `*q` * 2 \\<f32> < 3"
    assert escape("**Warps.** *p") == "**Warps.** \\*p"
    assert table(("a",), []) == "" and table(("a",), [("x|y",)]).endswith("| x\\|y |")
