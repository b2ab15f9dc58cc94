"""`tritium cache`: what is in the folder of compiled kernels, whether it is whole, why a kernel was not found there.

    tritium cache ls
    tritium cache show 5761025b --stage ptx
    tritium cache prune --max-size 500M --unused-for 30d
    tritium cache why vector_add.py::add_kernel --target cuda:90 --signature '*fp32:16, *fp32:16, *fp32:16, i32, 1024'

Entries are named by the first digits of their keys, or by the kernel. With `--json`, one JSON value is printed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..compiler import KernelCache, default_target
from ..compiler.entry import Entry
from ..compiler.inventory import ABANDONED_AFTER, Item, Pruned, clear, items, load, matching, prune, verify
from ..compiler.why import explain, nearest
from ..support import settings
from ..support.quantities import counted
from .kernel_file import CommandError
from .request import Request, options_of, parse_target, source_of

__all__ = ["clear_entries", "list_entries", "prune_entries", "show_entry", "verify_entries", "why"]

_ORDERS = {
    "used": lambda item: -item.used,
    "made": lambda item: -item.made,
    "size": lambda item: -item.size,
    "name": lambda item: (item.name, item.target),
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def list_entries(wanted: str = "", target: str = "", order: str = "used", as_json: bool = False) -> int:
    """A table of the entries, or those of one kernel or target."""
    if order not in _ORDERS:
        raise CommandError(f"entries are sorted by {', '.join(_ORDERS)}, not by {order!r}")
    folder = KernelCache().folder
    found = [i for i in matching(items(folder), wanted) if not target or i.target == target]
    found.sort(key=_ORDERS[order])
    if as_json:
        _print_json([_described(item) for item in found])
        return 0
    table = Table(box=box.SIMPLE)
    for name, justify in (("key", "left"), ("kernel", "left"), ("target", "left"), ("stages", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name in ("size", "made", "used"):
        table.add_column(name, justify="right")
    for item in found:
        stages = (item.problem and f"no entry: {item.problem}") or " ".join(item.stages) or "-"
        ages = [_age(item.made), _age(item.used)]
        texts = (item.name or "?", item.target or "-", stages)
        table.add_row(item.key[:12], *(escape(_printable(t)) for t in texts), size_text(item.size), *ages)
    console = _console()
    if found:
        console.print(table)
    limit = settings.cache.max_size
    most = f" of at most {size_text(limit)}" if limit else ""
    console.print(f"{counted(len(found), 'entry')}, {size_text(sum(i.size for i in found))}{most}, in {folder}")
    return 0


def show_entry(wanted: str, stage: str = "", as_json: bool = False) -> int:
    """All that is known of one entry, or the text of one of its stages."""
    item = _the_one(wanted)
    try:
        entry = load(item)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{item.path} is no entry: {error}") from None
    if stage:
        return _show_stage(entry, stage)
    if as_json:
        _print_json({**_described(item), "metadata": entry.metadata, "depends on": entry.description()})
        return 0
    console = _console()
    console.print(_printable(item.name), style="bold", markup=False, end="")
    console.print(
        f" for {_printable(item.target)}, made {_age(item.made)} ago, used {_age(item.used)} ago", markup=False
    )
    console.print(str(item.path), markup=False)
    for name, size in item.stages.items():
        console.print(f"  {_printable(name):<8}{size_text(size):>12}", markup=False)
    for kind, parts in entry.description().items():
        if parts:
            console.print(_printable(kind), style="bold", markup=False)
            for name, value in parts.items():
                console.print(_printable(f"  {name}: {value}"), markup=False)
    return 0


def _show_stage(entry: Entry, stage: str) -> int:
    if stage not in entry.stages:
        raise CommandError(f"the entry has no stage {stage!r}; it has: {', '.join(entry.stages)}")
    found = entry.stages[stage]
    if isinstance(found, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(found)
    else:
        print(found, end="" if found.endswith("\n") else "\n")
    return 0


def verify_entries(delete: bool = False, as_json: bool = False) -> int:
    """Read every byte of every entry; the exit status is 1 where some are damaged and stay."""
    folder = KernelCache().folder
    checked = list(verify(folder))
    bad = [(item, problem) for item, problem in checked if problem]
    keys = {item.key for item, _ in bad}
    gone = clear(folder, lambda item: item.key in keys) if delete and bad else Pruned(0, 0, 0)
    if as_json:
        problems = [{"key": item.key, "path": str(item.path), "problem": problem} for item, problem in bad]
        _print_json({"entries": len(checked), "damaged": problems, "removed": gone.entries})
    else:
        for item, problem in bad:
            print(f"{item.path}: {problem}{' (removed)' if delete else ''}")
        print(f"{counted(len(checked), 'entry')}, {len(bad)} damaged")
    return 1 if len(bad) > gone.entries else 0


def clear_entries(wanted: str = "", as_json: bool = False) -> int:
    """Remove the entries of one kernel or key, or all."""
    folder = KernelCache().folder
    found = {item.key for item in matching(items(folder), wanted)}
    if wanted and not found:
        raise CommandError(_nothing(wanted))
    return _removed(clear(folder, (lambda item: item.key in found) if wanted else None), as_json)


def prune_entries(max_size: str = "", unused_for: str = "", abandoned: str = "", as_json: bool = False) -> int:
    """Remove damaged entries, entries unused for so long, then the least recently used ones beyond the size."""
    limit = settings.cache.max_size or None
    if max_size:
        try:
            limit = type(settings.cache).settings()["max_size"].parse(max_size)
        except ValueError:
            raise CommandError(f"--max-size is a size such as 500M or 4G, not {max_size!r}") from None
    seconds = _seconds("--unused-for", unused_for) if unused_for else None
    after = _seconds("--abandoned", abandoned) if abandoned else ABANDONED_AFTER
    return _removed(prune(KernelCache().folder, limit, seconds, after), as_json)


def why(wanted: str, request: Request | None = None, as_json: bool = False) -> int:
    """What of the key of a compile, or of an entry, differs from the entry most like it."""
    if ".py" in wanted or Path(wanted).is_file():
        assert request is not None
        key, name, reasons, beside = _why_compile(request)
    else:
        key, name, reasons, beside = _why_entry(wanted)
    if as_json:
        _print_json({"key": key, "kernel": name, "nearest": beside and beside.key, "differs": reasons})
        return 0
    if not reasons:
        print(f"{key[:12]} ({name}) is in the cache")
    elif beside is None:
        print(f"{key[:12]} ({name}): {reasons[0]}")
    else:
        print(f"{key[:12]} ({name}) differs from {beside.key[:12]}, made {_age(beside.made)} ago:")
        for reason in reasons:
            print(f"  {_printable(reason)}")
    return 0


def _why_compile(request: Request) -> tuple[str, str, list[str], Item | None]:
    target = parse_target(request.target) if request.target else default_target()
    until = request.stages[0] if len(request.stages) == 1 else None
    key, name, miss = explain(source_of(request), target, options_of(request), until)
    return (key, name, [], None) if miss is None else (key, name, miss.reasons, miss.nearest)


def _why_entry(wanted: str) -> tuple[str, str, list[str], Item | None]:
    """Explain why the newest of these entries was compiled, compared with earlier ones."""
    found = items(KernelCache().folder)
    chosen = matching(found, wanted)
    if not chosen:
        raise CommandError(_nothing(wanted))
    item = max(chosen, key=lambda i: (i.made, i.key))
    older = [i for i in found if (i.made, i.key) < (item.made, item.key)]
    best = nearest(item.described(), older, item.name)
    if best is None:
        return item.key, item.name, [f"no kernel called {item.name} was there before it"], None
    return item.key, item.name, best[1] or ["what its functions refer to differs"], best[0]


def _the_one(wanted: str) -> Item:
    found = matching(items(KernelCache().folder), wanted)
    if not found:
        raise CommandError(_nothing(wanted))
    if len(found) > 1:
        keys = ", ".join(item.key[:12] for item in found[:8]) + (", …" if len(found) > 8 else "")
        raise CommandError(f"{len(found)} entries are called {wanted!r}: {keys}")
    return found[0]


def _nothing(wanted: str) -> str:
    return f"no entry's key begins with {wanted!r}, and no kernel is called so; `tritium cache ls` shows what there is"


def _removed(gone: Pruned, as_json: bool) -> int:
    if as_json:
        _print_json({"removed": gone.entries, "bytes": gone.size, "abandoned": gone.abandoned})
    else:
        files = f", {counted(gone.abandoned, 'file')} of writers that ended" if gone.abandoned else ""
        print(f"removed {counted(gone.entries, 'entry')}, {size_text(gone.size)}{files}")
    return 0


def _described(item: Item) -> dict[str, Any]:
    return {
        "key": item.key,
        "kernel": item.name,
        "target": item.target,
        "stages": item.stages,
        "size": item.size,
        "made": item.made,
        "used": item.used,
        "path": str(item.path),
        "problem": item.problem,
    }


def _print_json(value: dict[str, Any] | Sequence[Any]) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _printable(text: str) -> str:
    """Remove terminal escape sequences: entries may come from other machines."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _console() -> Console:
    return Console(soft_wrap=True, highlight=False)


def size_text(size: int) -> str:
    """Bytes for people.

    >>> size_text(900), size_text(4 << 30)
    ('900 B', '4.0 GiB')
    """
    if size < 1024:
        return f"{size} B"
    value, unit = size / 1024, 0
    while value >= 1024 and unit < 3:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {'KMGT'[unit]}iB"


def _age(then: float) -> str:
    """How long ago, in the largest unit of which there is one."""
    seconds = max(0.0, time.time() - then)
    for unit in ("w", "d", "h", "m"):
        if seconds >= _SECONDS[unit]:
            return f"{int(seconds // _SECONDS[unit])} {unit}"
    return f"{int(seconds)} s"


def _seconds(option: str, text: str) -> float:
    number, unit = (text[:-1], text[-1]) if text[-1:] in _SECONDS else (text, "s")
    try:
        return float(number) * _SECONDS[unit]
    except ValueError:
        raise CommandError(f"{option} is a time such as 12h or 30d, not {text!r}") from None
