"""Screenshots of the built site at desktop and phone width, light and dark, to be looked at after changes of style.

    python -m scripts.site.screenshots FOLDER [PAGE ...]

Needs Chromium on PATH. The site is served on a free port of this machine meanwhile.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from .__main__ import BUILD

PAGES = (
    "",
    "common-tasks/",
    "matmul/",
    "errors/",
    "passes/async-dots/",
    "layouts/",
    "api/tritium.language/",
    "supported-features/",
)
WIDTHS = {"desktop": (1440, 1800), "phone": (390, 1600)}
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--virtual-time-budget=4000")  # fmt: skip


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def take(browser: str, address: str, file: Path, size: tuple[int, int], dark: bool) -> None:
    """Write a picture of one page."""
    with tempfile.TemporaryDirectory() as profile:
        scheme = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0") if dark else ()
        command = [browser, *FLAGS, *scheme, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        subprocess.run([*command, f"--screenshot={file}", address], check=True, capture_output=True, timeout=120)


def main() -> int:
    """The command line; 1 where there is no browser or no site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", nargs="*", default=PAGES)
    chosen = parser.parse_args()
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not browser or not (BUILD / "html" / "index.html").exists():
        print("Chromium is not on PATH" if not browser else "there is no site: run make docs first")
        return 1
    chosen.folder.mkdir(parents=True, exist_ok=True)
    handler = functools.partial(_Quiet, directory=str(BUILD / "html"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for page in chosen.pages:
            for width, size in WIDTHS.items():
                for dark in (False, True):
                    name = f"{page.strip('/').replace('/', '-') or 'index'}-{width}{'-dark' if dark else ''}.png"
                    address = f"http://127.0.0.1:{server.server_port}/{page}"
                    take(browser, address, chosen.folder.resolve() / name, size, dark)
                    print(name)
        server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
