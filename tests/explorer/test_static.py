"""The built page that is committed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "explorer"
STATIC = ROOT / "tritium" / "explorer" / "static"
FILES = ("index.html", "package-lock.json", "package.json", "sources.ts", "tsconfig.json", "vite.config.ts")


def _digest() -> str:
    paths = {name: SOURCES / name for name in FILES}
    paths |= {p.relative_to(SOURCES).as_posix(): p for p in (SOURCES / "src").rglob("*") if p.is_file()}
    digest = hashlib.sha256()
    for name, path in sorted(paths.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources of the page are not here")
def test_page_is_built_from_the_current_sources():
    page = (STATIC / "index.html").read_text()
    assert f'name="sources" content="{_digest()}"' in page, "build it again: make explorer"


def test_page_fetches_nothing_from_the_network():
    page = (STATIC / "index.html").read_text()
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(address.startswith(("./", "data:")) for address in addresses)
    style = (STATIC / "explorer.css").read_text()
    assert "url(http" not in style and "@import" not in style


def test_page_takes_at_most_three_megabytes():
    assert sum(path.stat().st_size for path in STATIC.iterdir()) <= 3_000_000
