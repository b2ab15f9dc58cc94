"""`tritium opt --compare`: each pass that changed something, with what it changed, as differences of lines.

A value that was there before a pass keeps its name in the text behind it, so that lines differ where the program does,
and not because all numbers behind a change moved on. A new value whose name is taken gets a prime.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TextIO

from ..ir import Operation, Pass, Value
from ..ir.aliases import Aliases
from ..ir.naming import Naming, naming_root
from ..ir.passes.definition import symbol_name
from ..ir.passes.dump import Dumper, DumpSettings, difference, takes_colours
from ..ir.printer import Printer

__all__ = ["CompareSettings", "Tally"]

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


@dataclass
class Tally:
    """How many passes ran, how many of them changed something, and where that is printed."""

    ran: int = 0
    changed: int = 0
    out: TextIO = field(default_factory=lambda: sys.stdout)

    def __str__(self) -> str:
        return f"{self.changed} of {self.ran} passes changed something"


@dataclass(frozen=True)
class CompareSettings(DumpSettings):
    """Dumps that are comparisons, on standard output; `tally` counts over all runs."""

    tally: Tally = field(default_factory=Tally)

    def __bool__(self) -> bool:
        return True

    def dumper(self, module: Operation) -> Dumper:
        """What the loop that runs passes tells of each."""
        return _Comparer(module, self)


def _shown(op: Operation, known: dict[Value, str]) -> tuple[str, dict[Value, str]]:
    """The text of an operation, values that are known named as there; and the names."""
    printer = Printer(Naming(naming_root(op)), aliases=Aliases())
    names = printer.names
    taken = {known[value] for value in names if value in known}
    for value in names:
        if value in known:
            names[value] = known[value]
        else:
            while names[value] in taken:
                names[value] += "'"
            taken.add(names[value])
    printer.operation(op)
    assert printer.aliases is not None
    return printer.aliases.finish("".join(printer.out)), names


class _Comparer(Dumper):
    """Prints what each pass of one run changed."""

    settings: CompareSettings

    def __init__(self, module: Operation, settings: CompareSettings) -> None:
        super().__init__(module, settings)
        self.names: dict[Value, str] = {}
        self.kinds: Counter[str] = Counter()

    def before(self, p: Pass, op: Operation) -> None:
        """Remember the text."""
        self.last, self.names = _shown(op, {})
        self.kinds = _kinds(op)
        self.settings.tally.ran += 1

    def after(self, p: Pass, op: Operation) -> None:
        """Print the differences."""
        self._compare(p, op, "")

    def failed(self, p: Pass, op: Operation) -> None:
        """Show what it had done by then, where that has a text."""
        try:
            self._compare(p, op, " failed; until then")
        except Exception:  # half-made IR may have no text
            print(f"{p} failed, and what it left cannot be printed", file=self.settings.tally.out)

    def _compare(self, p: Pass, op: Operation, how: str) -> None:
        text, _ = _shown(op, self.names)
        if text == self.last:
            return
        self.settings.tally.changed += 1
        out = self.settings.tally.out
        colour = takes_colours(out)
        head = f"{self.settings.tally.ran}. {p}, {symbol_name(op)}:{how} {_told(self.kinds, _kinds(op))}"
        print(f"{_BOLD}{head}{_PLAIN}" if colour else head, file=out)
        print(difference(self.last, text, colour=colour), file=out)
        print(file=out, flush=True)


def _kinds(op: Operation) -> Counter[str]:
    return Counter(inner.name for inner in op.walk())


def _told(before: Counter[str], after: Counter[str]) -> str:
    """`2 tt.load more, 1 arith.addi fewer`, or that there are as many of each."""
    more: Any = after - before
    fewer: Any = before - after
    parts = [f"{n} {name} more" for name, n in sorted(more.items())]
    parts += [f"{n} {name} fewer" for name, n in sorted(fewer.items())]
    return ", ".join(parts) or "operation counts unchanged"
