"""A Chromium that Playwright drives, on exported files and on running explorers. Without one the tests are skipped."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "tritium" / "explorer" / "static"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
MILLISECONDS = 60_000  # that an element may take to appear: a script and its compiles on a busy machine


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try a test of the page again, once: Chromium, the server and other tests share the cores, and what takes
    longer than a limit on a busy machine is no fault of the page. A fault fails twice."""
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent):
                item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))


def slowdown() -> float:
    """By how much a limit in wall time is stretched here: 1 on an idle machine, more where others wait for its cores."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return 1.0 if load < 0.5 else 1.0 + 2.0 * load


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium (Debian: apt install chromium)")
    with api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


def new_page(browser: Any, errors: list[str], width: int = 1280, theme: str = "light") -> Any:
    """A page that notes errors of its scripts."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.set_default_timeout(MILLISECONDS)
    page.on("pageerror", lambda error: errors.append(str(error)))
    # A request that the server refuses is shown on the page, and is no error of it.
    page.on(
        "console",
        lambda line: errors.append(line.text) if line.type == "error" and "Failed to load" not in line.text else None,
    )
    return page


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open a page with the given answers embedded, as an exported file."""
    pages, errors = [], list[str]()

    def open_page(got: dict[str, Any], width: int = 1280, theme: str = "light") -> Any:
        packed = base64.b64encode(gzip.compress(json.dumps({"version": 1, "answers": got}).encode(), 1)).decode()
        html = (STATIC / "index.html").read_text()
        script = (STATIC / "explorer.js").read_text().replace("</script", "<\\/script")
        inline = f'<script id="tritium-export" type="application/octet-stream">{packed}</script><script type="module">{script}</script>'
        html = re.sub(r"<script [^>]*explorer\.js\"></script>", lambda _: inline, html)
        html = re.sub(
            r"<link rel=\"stylesheet\"[^>]*>", lambda _: f"<style>{(STATIC / 'explorer.css').read_text()}</style>", html
        )
        (tmp_path / "page.html").write_text(html)
        page = new_page(browser, errors, width, theme)
        page.goto(f"file://{tmp_path}/page.html")
        page.wait_for_selector("main")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert errors == []


class Explorer:
    """A running `tritium explore`: its process and its address."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        command = [sys.executable, "-m", "tritium", "explore", *arguments, "--no-browser"]
        self.process = subprocess.Popen(
            command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        found = re.search(r"http://\S+", self.said)
        assert found, self.said + self.process.stdout.read()
        self.address = found[0]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def environment(**more: str) -> dict[str, str]:
    """The environment of an explorer: this checkout, and what a test adds."""
    paths = [str(ROOT), more.pop("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


@pytest.fixture
def explore(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Explore a script, given by its text or path, and open the page."""
    pytest.importorskip("uvicorn", reason="the extra 'explorer' is not installed")
    running, pages, errors = list[Explorer](), list[Any](), list[str]()

    def start(script: str | Path, *arguments: str, width: int = 1280, **env: str) -> Any:
        path = script if isinstance(script, Path) else tmp_path / "script.py"
        if isinstance(script, str):
            path.write_text(script)
        found = Explorer([str(path), *arguments], environment(**env))
        running.append(found)
        page = new_page(browser, errors, width)
        page.explorer = found
        pages.append(page)
        page.goto(found.address)
        page.wait_for_selector("main")
        return page

    yield start
    for page in pages:
        page.close()
    for found in running:
        found.end()
    assert errors == []
