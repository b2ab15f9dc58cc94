"""Take the pictures of docs/explorer.md: the scripts on the page are explored in Chromium, driven by Playwright.

    python -m scripts.explorer_pictures [NAME…]      write docs/images/explorer-*.png, or those of the names

The page's code blocks with a title are the scripts. Needs the extras `explorer` and `browser`, and Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explorer.md"
IMAGES = ROOT / "docs" / "images"
SIZE = (1200, 720)
SETTLE_MS = 600  # for hover and scroll effects to end

Shot = Callable[[str], None]


def write_scripts(folder: Path) -> None:
    """Write the titled code blocks of the page as files."""
    for title, body in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', PAGE.read_text(), re.M | re.S):
        (folder / title).write_text(body)


@contextmanager
def explored(browser: Browser, folder: Path, *arguments: str, theme: str = "light", **env: str) -> Iterator[Page]:
    """A page of a running explorer."""
    command = [sys.executable, "-m", "tritium", "explore", *arguments, "--no-browser"]
    paths = os.pathsep.join([str(ROOT), str(folder)])
    environment = {**os.environ, "PYTHONPATH": paths, "TRITON_DEFAULT_FP_FUSION": "1", **env}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split()[-1]
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=theme)  # type: ignore[arg-type]
        page.goto(address)
        page.locator(".passes .row").first.wait_for()
        again = page.get_by_role("button", name="Run again", exact=True)
        if arguments[0].endswith(".py"):
            again.wait_for()
        yield page
        page.close()
    finally:
        process.terminate()
        process.wait()


def view(page: Page, name: str) -> None:
    """Select a view."""
    page.get_by_role("tab", name=name, exact=True).click()


def line(page: Page, text: str) -> None:
    """Click the source line with a text."""
    page.locator("[aria-label='Source'] .cm-line", has_text=text).first.click(position={"x": 60, "y": 8})


def shooter(page: Page, names: list[str]) -> Shot:
    """What takes a picture of the page, where its name was asked for."""

    def shot(name: str) -> None:
        page.mouse.move(2, SIZE[1] - 2)
        page.wait_for_timeout(SETTLE_MS)
        if not names or name in names:
            page.screenshot(path=str(IMAGES / f"explorer-{name}.png"))

    return shot


def spills(page: Page, shot: Shot) -> None:
    """The walk "why does this kernel spill"."""
    view(page, "Performance")
    page.locator(".finding", has_text="live-registers").first.wait_for()
    shot("spills")
    page.locator(".finding", has_text="spills").locator(".links", has_text="sass").get_by_role("button").nth(1).click()
    page.locator(".cm-line.l-warn", has_text="STL").first.wait_for()
    shot("sass")
    page.get_by_role("button", name="Options").click()
    page.get_by_label("options", exact=True).fill("num_warps=8")
    page.get_by_role("button", name="Compile", exact=True).click()
    page.locator(".kernels .row.selected", has_text="↳").wait_for()
    page.locator(".compile-bar").get_by_role("button", name="close").click()
    view(page, "Compare")
    page.locator("[aria-label='Resources'] tr").first.wait_for()
    page.locator(".cm-mergeView").wait_for()
    shot("compare")


def wrong(page: Page, shot: Shot) -> None:
    """The walk "which pass broke my result"."""
    view(page, "Values")
    page.get_by_role("button", name="Check all stages").click()
    page.get_by_role("button", name="Show the pass").wait_for()
    shot("check")
    page.get_by_role("button", name="Show the pass").click()
    page.locator(".rewrites .math").wait_for()
    shot("rewrite")


def dot(page: Page, shot: Shot) -> None:
    """The walk "what became of this line"."""
    page.locator(".passes .row", has_text="accelerate-matmul").click()
    line(page, "tl.dot")
    page.locator("[aria-label='IR'] .l-here").first.wait_for()
    shot("line")
    page.locator(".path button:enabled", has_text="sass").click()
    page.locator("[aria-label='IR'] .l-here").first.wait_for()
    shot("dot")
    view(page, "Layouts")
    page.locator(".readout", has_text="lane").wait_for()
    shot("layouts")
    view(page, "Stages")
    page.locator(".passes .row", has_text="remove-layout-conversions").first.click()
    view(page, "Layouts")
    page.get_by_role("button", name="Conversions").click()
    page.locator(".split2 .row").last.click()
    page.get_by_label("From the source layout to the result layout").fill("45")
    shot("conversion")
    view(page, "Values")
    page.get_by_role("button", name="Evaluate").click()
    page.locator(".boxed .row").first.wait_for()
    shot("values")


def main(names: list[str]) -> None:
    """Take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    softmax = ("softmax.py::softmax", "--signature", "*fp32:16, *fp32:16, i32, 8192", "--option", "num_warps=1")
    target = ("--target", "cuda:90")
    with tempfile.TemporaryDirectory() as folder_name, sync_playwright() as play:
        folder = Path(folder_name)
        write_scripts(folder)
        cache = {"TRITIUM_CACHE_DIR": str(folder / "cache")}
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with explored(browser, folder, *softmax, *target, **cache) as page:
            spills(page, shooter(page, names))
        with explored(browser, folder, "difference.py", *target, TRITIUM_PLUGINS="mistake", **cache) as page:
            wrong(page, shooter(page, names))
        with explored(browser, folder, "matmul.py", *target, theme="dark", **cache) as page:
            dot(page, shooter(page, names))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
