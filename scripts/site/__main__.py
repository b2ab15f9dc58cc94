"""python -m scripts.site build | serve: the documentation site in build/site/html."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from .links import broken_links
from .sources import API, BESIDE, DOCS, FORMER, ROOT, navigation, prepare

BUILD = ROOT / "build" / "site"
TEMPLATE = Path(__file__).with_name("zensical.toml")
REDIRECT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title>
<link rel="canonical" href="../{page}/"><meta http-equiv="refresh" content="0; url=../{page}/"></head>
<body><a href="../{page}/">This page has moved.</a></body></html>
"""


def _link(title: str, page: str) -> str:
    return f"{{ {json.dumps(title)} = {json.dumps(page)} }}"


def _section(title: str, entries: list[str]) -> str:
    return f"{{ {json.dumps(title)} = [{', '.join(entries)}] }}"


def _entry(title: str, page: str) -> str:
    """A page in the navigation; the index of a folder is a section with the folder's pages."""
    folder, _, name = page.rpartition("/")
    if name != "index.md":
        return _link(title, page)
    pages = sorted(path.name for path in (DOCS / folder).glob("*.md") if path.name != name)
    return _section(title, [json.dumps(page), *(_link(p.removesuffix(".md"), f"{folder}/{p}") for p in pages)])


def configuration() -> str:
    """The configuration of Zensical: the template with the navigation in its place."""
    entries = [_link("Home", "index.md")]
    for title, pages in navigation():
        inner = [_entry(text, page) for text, page in pages]
        if title == "Reference":
            modules = [_link(text, f"api/{module}.md") for module, text in API.items()]
            inner.append(_section("API reference", [json.dumps("api/index.md"), *modules]))
        entries.append(_section(title, inner))
    project = {name.removesuffix(".md").capitalize(): page for name, page in BESIDE.items()}
    entries.append(_section("Project", [_link(title, page) for title, page in project.items()]))
    return TEMPLATE.read_text(encoding="utf-8").replace('nav = "@NAVIGATION@"', f"nav = [{', '.join(entries)}]")


def _zensical(command: str, *flags: str) -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "zensical.toml").write_text(configuration(), encoding="utf-8")
    prepare(BUILD / "docs")
    program = Path(sys.executable).with_name("zensical")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # for `mlir_extension`
    return subprocess.call(
        [str(program), command, "-f", str(BUILD / "zensical.toml"), *flags], cwd=ROOT, env=environment
    )


def build() -> int:
    """Build the site, strictly, and check its links."""
    status = _zensical("build", "--strict", "--clean")
    if status:
        return status
    html = BUILD / "html"
    for former, page in FORMER.items():
        (html / former).mkdir(exist_ok=True)
        (html / former / "index.html").write_text(REDIRECT.format(page=page), encoding="utf-8")
    broken = broken_links(html)
    print("\n".join(broken) or f"{len(list(html.rglob('*.html')))} pages in {html.relative_to(ROOT)}, no broken link")
    return 1 if broken else 0


def main() -> int:
    """The command line; 1 where a link is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "serve"])
    return build() if parser.parse_args().action == "build" else _zensical("serve")


if __name__ == "__main__":
    sys.exit(main())
