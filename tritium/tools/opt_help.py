"""The help of `tritium opt`: its options, and all passes with one line each."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable

from .. import __version__
from ..ir import OPS, PASSES, registered_dialects
from ..support.lazy import LazyModule
from .arguments import described
from .opt_options import OptOptions

__all__ = ["print_dialects", "print_help", "print_passes", "print_version"]

_console = LazyModule("rich.console")
_table = LazyModule("rich.table")

USAGE = "tritium opt [FILE] [--passes PASSES | -PASS ...] [options]"
ABOUT = "Read MLIR text, run passes on it, print it. FILE may be left out, or -, for standard input."


def _sections() -> list[tuple[str, list[tuple[str, str]]]]:
    out: dict[str, list[tuple[str, str]]] = {}
    for d in described(OptOptions):
        others = [f"-{n}" if len(n) == 1 else f"--{n}" for n in d.names]
        also = f" ({', '.join(others)})" if others else ""
        out.setdefault(d.group, []).append((d.spelling(), d.help + also))
    return list(out.items())


def _pass_rows() -> list[tuple[str, str]]:
    rows = []
    for info in PASSES.all():
        options = f" Options: {', '.join(info.option_names)}." if info.option_names else ""
        also = f" ({', '.join(info.aliases)})" if info.aliases else ""
        rows.append((info.name, f"{info.summary}{also}{options}"))
    return rows


def print_help() -> None:
    """All options and passes: a table where somebody looks, plain lines otherwise."""
    pipelines = [(p.name, p.summary) for p in PASSES.pipelines.values()]
    sections = [*_sections(), ("All passes", _pass_rows()), ("Names for many passes", pipelines)]
    if sys.stdout.isatty():
        _print_tables(sections)
        return
    print(f"usage: {USAGE}\n\n{ABOUT}")
    for title, rows in sections:
        print(f"\n{title}:")
        _print_rows(rows)


def _print_rows(rows: Iterable[tuple[str, str]]) -> None:
    width = max(shutil.get_terminal_size((120, 25)).columns, 80)
    for name, text in rows:
        lines = textwrap.wrap(text, width - 36, break_on_hyphens=False) or [""]
        if len(name) > 32:
            print(f"  {name}")
        else:
            print(f"  {name:<33} {lines.pop(0)}")
        for line in lines:
            print(f"  {'':<33} {line}")


def _print_tables(sections: list[tuple[str, list[tuple[str, str]]]]) -> None:
    console = _console.Console()
    console.print(f"[bold]usage:[/bold] {USAGE.replace('[', chr(92) + '[')}\n\n{ABOUT}")
    for title, rows in sections:
        table = _table.Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
        table.add_column(style="bold cyan", no_wrap=True, max_width=40)
        table.add_column()
        for name, text in rows:
            table.add_row(name.replace("[", "\\["), text.replace("[", "\\["))
        console.print(table)


def print_passes() -> None:
    """All names of passes, a line each: for completion and scripts."""
    for name in sorted(PASSES.known_names()):
        print(name)


def print_dialects() -> None:
    """The registered dialects, one per line."""
    for name in sorted({*registered_dialects(), *(op.partition(".")[0] for op in OPS)}):
        print(name)


def print_version() -> None:
    """The version of all this."""
    print(f"tritium {__version__}")
