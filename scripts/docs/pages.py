"""All generated pages, and which of those in docs/ differ from them."""

from __future__ import annotations

from pathlib import Path

from .dialects import dialect_pages
from .gluon_names import gluon_names_page
from .names import names_page
from .options import options_page
from .passes import pass_pages
from .settings import settings_page
from .works import works_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("dialects", "passes")


def pages() -> dict[Path, str]:
    """The text of every generated page."""
    made = dialect_pages() | pass_pages() | options_page() | settings_page() | works_page() | names_page()
    made |= gluon_names_page()
    return {DOCS / name: text for name, text in made.items()}


def stale() -> list[Path]:
    """Pages that are missing, differ from what would be written, or come from nothing any more."""
    made = pages()
    there = {p for folder in FOLDERS for p in (DOCS / folder).glob("*.md")}
    wrong = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    return sorted([*wrong, *(there - made.keys())])


def write() -> list[Path]:
    """Write what is stale; its paths."""
    made = pages()
    changed = stale()
    for path in changed:
        if path in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path])
        else:
            path.unlink()
    return changed
