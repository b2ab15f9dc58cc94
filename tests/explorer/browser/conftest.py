"""A Chromium that Playwright drives, and pages opened from an exported file. Without them the tests are skipped."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

STATIC = Path(__file__).parents[3] / "tritium" / "explorer" / "static"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium (Debian: apt install chromium)")
    with api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    pages = []

    def open_page(got: dict[str, Any], width: int = 1280) -> Any:
        packed = base64.b64encode(gzip.compress(json.dumps({"version": 1, "answers": got}).encode())).decode()
        html = (STATIC / "index.html").read_text()
        script = (STATIC / "explorer.js").read_text().replace("</script", "<\\/script")
        inline = f'<script id="tritium-export" type="application/octet-stream">{packed}</script><script type="module">{script}</script>'
        html = re.sub(r"<script [^>]*explorer\.js\"></script>", lambda _: inline, html)
        html = re.sub(
            r"<link rel=\"stylesheet\"[^>]*>", lambda _: f"<style>{(STATIC / 'explorer.css').read_text()}</style>", html
        )
        (tmp_path / "page.html").write_text(html)
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(5000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto(f"file://{tmp_path}/page.html")
        page.wait_for_selector("main")
        pages.append((page, errors))
        return page

    yield open_page
    for page, errors in pages:
        page.close()
        assert errors == []
