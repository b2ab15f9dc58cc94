"""Check the built site: every link and every anchor inside it leads somewhere."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

__all__ = ["broken_links"]


class _Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect `href`, `src`, `id` and `name`."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("href", "src") and tag in ("a", "img", "script", "link"):
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken_links(site: Path) -> list[str]:
    """A line for each link to a file or heading that is not there: `page: link`."""
    out = []
    for path in sorted(site.rglob("*.html")):
        if path.name == "404.html":
            continue
        for link in _read(path).links:
            address, anchor = urldefrag(link)
            parsed = urlparse(address)
            if parsed.scheme or parsed.netloc:
                continue
            name = unquote(parsed.path)
            goal = path if not name else (site / name.lstrip("/") if name.startswith("/") else path.parent / name)
            if goal.is_dir():
                goal = goal / "index.html"
            is_there = goal.exists()
            if not is_there or (anchor and goal.suffix == ".html" and unquote(anchor) not in _read(goal).anchors):
                if not (is_there and anchor.startswith("__")):
                    out.append(f"{path.relative_to(site)}: {link}")
    return sorted(set(out))
