"""Prepare the pages of the site: a copy of docs/ whose links stay inside the site, and pages made from the sources.

- README, ARCHITECTURE, CONTRIBUTING, CHANGELOG and SECURITY become pages.
- A file of the project that a page links to (a test, an example) becomes a page that shows it.
- `api/` has a page for each public module, filled from docstrings by mkdocstrings.
- The navigation is that of docs/index.md: its sections and their links, in their order.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

__all__ = ["API", "BESIDE", "DOCS", "FORMER", "ROOT", "navigation", "prepare"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STYLE = Path(__file__).with_name("extra.css")

BESIDE = {
    "README.md": "readme.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Pages outside of docs/ -> their names on the site."""

API = {
    "tritium": "Kernels and launches",
    "tritium.language": "The language",
    "tritium.testing": "Benchmarks and comparisons",
    "tritium.compiler": "The compiler",
    "tritium.runtime": "The runtime",
    "tritium.ir": "The IR",
    "tritium.ir.interfaces": "Interfaces of operations",
    "tritium.ir.passes": "Passes and pipelines",
    "tritium.layout": "Linear layouts",
    "tritium.emulator": "The emulator",
    "tritium.interpreter": "The interpreter",
    "tritium.plugins": "Plugins",
    "tritium.profiler": "The profiler",
}
"""Modules with a page of their own in the API reference -> title."""

FORMER = {
    "products": "matmul",
    "descriptors": "tensor-descriptors-and-tma",
    "pipelining": "software-pipelining",
    "loads-by-warps": "warp-specialization",
    "threads-alone": "elementwise-and-memory-access",
    "threads-together": "reductions-scans-atomics",
    "how-we-know": "verification",
    "names-of-triton": "triton-names",
    "coming-from-triton": "migrate-from-triton",
    "own-dialect": "define-a-dialect",
    "what-works": "supported-features",
    "trace": "compile-traces",
    "gpus": "nvidia-gpus",
    "stages": "compile-from-any-stage",
    "hooks": "hooks-and-knobs",
    "mlir-compat": "mlir-compatibility",
}
"""Former names of pages, which redirect -> current names."""

_LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash", ".json": "json", ".mlir": "mlir"}
_TARGET = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^([ \t]*)(`{3,})(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """`text` with `change` applied to what stands outside of fenced and inline code."""
    parts, at = [], 0
    for match in re.finditer(rf"{_FENCE.pattern}|`[^`\n]+`", text, _FENCE.flags):
        parts += [change(text[at : match.start()]), match.group()]
        at = match.end()
    return "".join(parts) + change(text[at:])


class _Site:
    """The folder of prepared pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = {path: path.relative_to(DOCS) for path in DOCS.rglob("*.md")}
        self.pages |= {ROOT / name: Path(page) for name, page in BESIDE.items() if (ROOT / name).exists()}
        self.shown: dict[Path, Path] = {}

    def place_of(self, file: Path) -> Path | None:
        """The page of a file of the project, made if need be; None for a file that does not exist."""
        if file in self.pages:
            return self.pages[file]
        if file.is_dir():
            readme, index = file / "README.md", file / "index.md"
            found = next((path for path in (readme, index) if path.exists()), None)
            return self.place_of(found) if found else None
        if not file.exists() or ROOT not in file.parents:
            return None
        if DOCS / "images" in file.parents:
            return file.relative_to(DOCS)
        relative = file.relative_to(ROOT)
        return self.shown.setdefault(file, Path("source") / relative.parent / f"{relative.name}.md")

    def links(self, file: Path, page: Path) -> Callable[[str], str]:
        """Rewrites the links of a page that stands in `file` and becomes `page`."""

        def one(match: re.Match[str]) -> str:
            target = match.group(1)
            if re.match(r"\w+:|#", target):
                return match.group()
            name, _, anchor = target.partition("#")
            place = self.place_of((file.parent / name).resolve())
            if place is None:
                return match.group()  # which the strict build reports
            return f"]({os.path.relpath(place, page.parent)}{'#' if anchor else ''}{anchor})"

        return lambda text: _TARGET.sub(one, text)

    def write(self, page: Path, text: str) -> None:
        """Write a page, unless it is as it was: the server looks for changes."""
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def copy(self) -> None:
        """All pages, and those for the files that they link to."""
        for file, page in self.pages.items():
            self.write(page, _outside_code(file.read_text(encoding="utf-8"), self.links(file, page)))
        for file, page in self.shown.items():
            language = _LANGUAGES.get(file.suffix, "text")
            code = f"# {file.relative_to(ROOT)}\n\n``````{language}\n{file.read_text(encoding='utf-8')}\n``````\n"
            self.write(page, f"---\nsearch:\n  exclude: true\n---\n\n{code}")
        for picture in (DOCS / "images").glob("*") if (DOCS / "images").exists() else ():
            (self.folder / "images").mkdir(exist_ok=True)
            shutil.copy(picture, self.folder / "images" / picture.name)
        (self.folder / "stylesheets").mkdir(exist_ok=True)
        shutil.copy(STYLE, self.folder / "stylesheets" / STYLE.name)

    def api(self) -> None:
        """A page for each module of the API reference, and their index."""
        rows = "".join(f"- [{title}]({module}.md): `{module}`\n" for module, title in API.items())
        self.write(Path("api/index.md"), f"# API reference\n\nFrom the docstrings of the sources.\n\n{rows}")
        for module, title in API.items():
            self.write(Path(f"api/{module}.md"), f"# {title}: `{module}`\n\n::: {module}\n")


def navigation() -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of docs/index.md, each with titles and pages in the order of its links."""
    out: list[tuple[str, list[tuple[str, str]]]] = []
    for part in re.split(r"^## ", (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        links = re.findall(r"^- \[([^\]]+)\]\(([^)#]+\.md)\)", body, flags=re.MULTILINE)
        out.append((title.strip(), [(text.replace("`", ""), page) for text, page in links]))
    return out


def prepare(folder: Path) -> None:
    """Write the pages of the site into `folder`; pages that no longer exist go."""
    site = _Site(folder)
    site.copy()
    site.api()
    known = {*site.pages.values(), *site.shown.values(), *(Path(f"api/{m}.md") for m in (*API, "index"))}
    for path in folder.rglob("*.md"):
        if path.relative_to(folder) not in known:
            path.unlink()
