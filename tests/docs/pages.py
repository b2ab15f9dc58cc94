"""Runs what the pages of docs/ show.

| block | what is done with it |
|---|---|
| ```` ```python ```` | runs; blocks of a page share their names. It must print what the ```` ```output ```` block after it shows |
| ```` ```python title="f.py" ```` | is written to the file f.py; so for any other language |
| ```` ```console ```` | each line behind `$ ` is run by the shell, and must print the lines up to the next; its status is 0, or what a comment `# exit 1` behind the command says |
| ```` ```mlir ```` | is parsed and verified |

Everything of a page happens in one empty folder, in the order of the page. `…` in what is shown stands for any text, a
line of `…` alone for any lines. Blocks of other languages are for the reader. With `TRITIUM_BLESS=1` what is shown is
rewritten, and with it every `…` in a block that no longer fits. A page whose commands call programs that are not
everywhere says so, `<!-- needs: gcc -->`, and is skipped where there is none.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tritium.dialects.all  # noqa: F401  (whatever a page names)
from tritium.ir import OPS, PASSES, parse_module, verify
from tritium.ir.passes import insertion
from tritium.runtime import driver
from tritium.support.settings import GROUPS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = ("dialects", "passes")  # folders of docs/ that a script writes; what they show is checked as it is made

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$", re.M | re.S
)
_EXIT = re.compile(r"\s*# exit (\d+)$")


def needs_of(text: str) -> list[str]:
    """The programs that a page needs and not every machine has: `<!-- needs: gcc -->`."""
    found = re.search(r"^<!-- needs: (.*?) -->$", text, re.M)
    return [name.strip() for name in found[1].split(",")] if found else []


@dataclass
class Block:
    """A fenced block: its language, the rest of its first line, its text, and where its text stands in the page."""

    language: str
    info: str
    body: str
    start: int
    line: int

    @property
    def title(self) -> str | None:
        """The file it is written to."""
        m = re.search(r'title="([^"]+)"', self.info)
        return m[1] if m else None


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    out = []
    for m in _FENCE.finditer(text):
        language, _, info = m["info"].strip().partition(" ")
        out.append(Block(language, info, m["body"], m.start("body"), text.count("\n", 0, m.start("body")) + 1))
    return out


def fits(shown: str, printed: str) -> bool:
    """True when `printed` is what a page shows."""
    lines = [line.rstrip() for line in shown.strip("\n").split("\n")]
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() in ("…", "...") else ".*".join(map(re.escape, line.split("…"))) + "\n"
        for line in lines
    )
    text = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
    return re.fullmatch(pattern, text) is not None


class Page:
    """A page being run in `folder`. `text` is the page as it should be; where it differs from the file, it was wrong."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        self.text = path.read_text()
        self.module = types.ModuleType(f"page_{path.stem.replace('-', '_')}")
        self.names: dict[str, Any] = self.module.__dict__
        self.edits: list[tuple[int, int, str]] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        """Run every block; AssertionError with all that is wrong, or, blessed, the page is rewritten."""
        blocks = blocks_of(self.text)
        with _state_of(self.folder, self.module):
            for block, following in zip(blocks, [*blocks[1:], None]):
                self.block(block, following)
        if os.environ.get("TRITIUM_BLESS") and self.edits:
            text = self.text
            for start, end, new in reversed(self.edits):
                text = text[:start] + new.replace(f"{self.folder}/", "…/") + text[end:]
            self.path.write_text(text)
        else:
            assert not self.wrong, "\n\n".join(self.wrong)

    def block(self, block: Block, following: Block | None) -> None:
        """Run one block."""
        if block.title:
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body)
            sys.modules.pop(target.stem, None)  # a file of tests/ may have the same name
        elif block.language == "python":
            self.python(block, following if following and following.language == "output" else None)
        elif block.language == "console":
            self.console(block)
        if block.language == "mlir":
            verify(parse_module(block.body, f"{self.path.name}:{block.line}"))

    def python(self, block: Block, output: Block | None) -> None:
        """Execute; compare what it prints."""
        name = f"<{self.path.name}:{block.line}>"
        linecache.cache[name] = (len(block.body), None, block.body.splitlines(True), name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.body, name, "exec"), self.names)
        if output is None:
            assert not printed.getvalue(), f"{name} prints what the page does not show:\n{printed.getvalue()}"
        elif not fits(output.body, printed.getvalue()):
            self.differs(output, f"line {block.line}", output.body, printed.getvalue())

    def console(self, block: Block) -> None:
        """Run each command; compare what it prints, errors too."""
        new, same = [], True
        for command, shown in sessions(block.body):
            status = int(m[1]) if (m := _EXIT.search(command)) else 0
            done = subprocess.run(
                _EXIT.sub("", command).replace("\\\n", " "),
                shell=True,
                cwd=self.folder,
                env=environment(self.folder),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
            )
            assert done.returncode == status, f"$ {command}: exit status {done.returncode}\n{done.stdout}"
            good = fits(shown, done.stdout)
            same &= good
            new.append(f"$ {command}\n" + (shown if good else done.stdout.strip("\n") + "\n"))
            if not good:
                self.wrong.append(f"{self.path.name}: $ {command}\nshown:\n{shown}\nprinted:\n{done.stdout}")
        if not same:
            self.edits.append((block.start, block.start + len(block.body), "".join(new)))

    def differs(self, block: Block, where: str, shown: str, printed: str) -> None:
        """Note that a block shows something else than is printed."""
        self.edits.append((block.start, block.start + len(block.body), printed.rstrip("\n") + "\n"))
        self.wrong.append(f"{self.path.name}, {where}\nshown:\n{shown}\nprinted:\n{printed}")


def sessions(body: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the lines shown below it."""
    out: list[tuple[str, str]] = []
    for line in body.splitlines():
        if out and not out[-1][1] and out[-1][0].endswith("\\"):
            out[-1] = (f"{out[-1][0]}\n{line}", "")
        elif line.startswith("$ "):
            out.append((line[2:], ""))
        else:
            assert out, f"a console block must begin with a command: {line}"
            out[-1] = (out[-1][0], f"{out[-1][1]}{line}\n")
    return out


def environment(folder: Path) -> dict[str, str]:
    """The environment of commands: `tritium` and `python` are ours, nothing of the caller's settings."""
    binaries = folder / ".bin"
    if not binaries.exists():
        binaries.mkdir()
        for name, words in (("tritium", f"{sys.executable} -m tritium"), ("python", sys.executable)):
            (binaries / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (binaries / name).chmod(0o755)
    settings = {k: v for k, v in os.environ.items() if not k.startswith(("TRITIUM_", "TRITON_", "MLIR_"))}
    return {
        **settings,
        "TRITON_DEFAULT_FP_FUSION": "1",  # or every program that compiles for a GPU warns
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TRITIUM_HOME": str(folder),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "TERM": "dumb",
    }


@contextlib.contextmanager
def _state_of(folder: Path, module: types.ModuleType) -> Iterator[None]:
    """Be in a folder, with a page's names as a module; what a page imports, defines and sets is forgotten afterwards."""
    before, paths, modules, ops = os.getcwd(), list(sys.path), dict(sys.modules), set(OPS)
    passes, inserted = dict(PASSES._infos), list(insertion._inserted)
    sys.modules[module.__name__] = module
    os.chdir(folder)
    sys.path.insert(0, str(folder))  # as at a prompt: files of the page can be imported
    try:
        with contextlib.ExitStack() as settings:
            for group in GROUPS.values():
                settings.enter_context(group.scope())
            cache: Any = GROUPS["cache"]
            cache.dir, cache.home_dir = None, str(folder / ".home")  # nothing that others have compiled
            yield
    finally:
        driver.reset_active()
        os.chdir(before)
        sys.path[:] = paths
        PASSES._infos = passes
        insertion._inserted[:] = inserted
        insertion._changed()
        for name in OPS.keys() - ops:
            if not OPS[name].__module__.startswith("tritium."):
                del OPS[name]
        for name, found in list(sys.modules.items()):
            if str(getattr(found, "__file__", "") or "").startswith(str(folder)) or name == module.__name__:
                del sys.modules[name]
        for name, found in modules.items():
            sys.modules.setdefault(name, found)
