"""What a pass is, and the rows that pipelines are made of."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ...support import InternalError
from ...support.dataclasses import dataclass, field, is_dataclass
from ...support.lazy import LazyModule
from ..operation import Operation
from ..traits import ISOLATED, SYMBOL

__all__ = [
    "ANY",
    "LEVELS",
    "Nest",
    "Pass",
    "PassFunction",
    "Row",
    "check_order",
    "count",
    "counting",
    "functions_of",
    "has_any",
    "has_interface",
    "level_of",
    "pass_on",
    "rows_from",
    "rows_of",
    "symbol_name",
    "targets_of",
]

_options = LazyModule(".options", __package__)

PassFunction = Callable[..., "bool | None"]
F = TypeVar("F", bound=PassFunction)

LEVELS = ("module", "function", "any")
ANY = "any"  # the anchor of a nest that takes every operation


def pass_on(
    level: str, *, name: str = "", options: type | None = None, statistics: dict[str, str] | None = None
) -> Callable[[F], F]:
    """Make a function a pass on the "module", on each "function", or on "any" operation.

    Its name is the function's, with dashes, unless `name` says otherwise; its docstring is the line that lists of
    passes show. A pass with `options`, a frozen dataclass whose fields have defaults, is called with one as second
    argument; where the function has a default for it (`options=CSEOptions()`), that says it.
    `statistics` says of the names it gives to `count` what they count.
    """
    if level not in LEVELS:
        raise ValueError(f"a pass runs on {', '.join(LEVELS)}, not on {level!r}")

    def mark(fn: F) -> F:
        fn.level = level  # type: ignore[attr-defined]
        fn.pass_name = name or fn.__name__.replace("_", "-")  # type: ignore[attr-defined]
        fn.options_type = options or _options_of(fn)  # type: ignore[attr-defined]
        fn.statistics = statistics or {}  # type: ignore[attr-defined]
        return fn

    return mark


def _options_of(fn: PassFunction) -> type | None:
    """The class of the second parameter's default, where that is a dataclass."""
    defaults = getattr(fn, "__defaults__", None) or ()
    return type(defaults[0]) if defaults and is_dataclass(defaults[0]) else None


def level_of(fn: PassFunction) -> str:
    """What a pass runs on; a function that does not say runs on the module."""
    return getattr(fn, "level", "module")


@dataclass(frozen=True)
class Pass:
    """A row of a pipeline: the pass, its reason, and its options (an object of its dataclass, a dict of the
    fields that differ from the defaults, or None).

    `fn` is the function, or the module that defines it under the name of the file: that is imported when the pass runs.
    `when` says of a module whether there is anything for the pass in it; where there is not, it does not run. `written`
    is the text it was read from, if it was, so that it prints as it was written.
    """

    name: str
    fn: PassFunction | str
    reason: str = ""
    options: Any = None
    written: str = field(default="", compare=False)
    when: Callable[[Operation], bool] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        options = self.chosen
        return self.written or self.name + ("" if options is None else _options.options_text(options))

    @property
    def function(self) -> PassFunction:
        """The pass itself, imported if need be."""
        fn = self.fn
        return _imported(self.name, fn) if isinstance(fn, str) else fn

    @property
    def chosen(self) -> Any:
        """The options as an object of their dataclass; None where the pass has none, or only defaults."""
        options = self.options
        return self.function.options_type(**options) if isinstance(options, dict) else options  # type: ignore[attr-defined]

    def run(self, op: Operation) -> bool:
        """Run on one module or function."""
        options = self.chosen
        changed = self.function(op) if options is None else self.function(op, options)
        return changed is not False


def _imported(name: str, module: str) -> PassFunction:
    """The pass `name` of a module."""
    found = vars(importlib.import_module(module))
    fn = found.get(module.rpartition(".")[2])
    if getattr(fn, "pass_name", None) != name:
        fn = next((f for f in found.values() if getattr(f, "pass_name", None) == name), None)
    if fn is None:
        raise InternalError(f"there is no pass '{name}' in {module}")
    return fn  # type: ignore[no-any-return]


def rows_from(package: str) -> Callable[..., Pass]:
    """What makes rows of the passes in the files of a package, each imported when it runs:

    `row("symbol-dce", reason, options={...}, when=has_any("tt.call"))` is `symbol_dce` of `symbol_dce.py`; a pass whose
    file has another name says so (`file="x"`).
    """

    def row(
        name: str,
        reason: str,
        options: Any = None,
        when: Callable[[Operation], bool] | None = None,
        file: str = "",
    ) -> Pass:
        return Pass(name, f"{package}.{file or name.replace('-', '_')}", reason, options, when=when)

    return row


def has_interface(interface: type[Operation]) -> Callable[[Operation], bool]:
    """For `when` of a row: there is an operation that implements `interface`."""
    return lambda module: any(isinstance(op, interface) for op in module.walk())


def has_any(*names: str, argument: str = "") -> Callable[[Operation], bool]:
    """For `when` of a row: there is an operation of one of these names ("ttng.": of that dialect), or a function with
    an argument whose type begins with the text `argument`."""
    exact = frozenset(name for name in names if name[-1] != ".")
    dialects = tuple(name for name in names if name[-1] == ".")

    def found(module: Operation) -> bool:
        if argument and any(
            str(arg.type).startswith(argument) for f in functions_of(module) for arg in f.regions[0].blocks[0].args
        ):
            return True
        if dialects:
            return any(op.name in exact or op.name.startswith(dialects) for op in module.walk())
        return any(op.name in exact for op in module.walk())

    return found


@dataclass(frozen=True)
class Nest:
    """A row of a pipeline: rows to run, all on the first, then all on the second, of the operations `anchor` in here.

    `anchor` is the name of an operation, or "any" for every operation that is isolated from above.
    """

    anchor: str
    rows: tuple[Row, ...]
    reason: str = ""

    def __init__(self, anchor: str, rows: Iterable[Row], reason: str = "") -> None:
        object.__setattr__(self, "anchor", anchor)
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "reason", reason)

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.rows))})"

    def targets(self, op: Operation) -> list[Operation]:
        """The operations right inside `op` that the rows run on."""
        inside = [child for region in op.regions for block in region.blocks for child in block]
        if self.anchor == ANY:
            return [child for child in inside if child.traits & ISOLATED and child.regions and child.regions[0].blocks]
        return [child for child in inside if child.name == self.anchor and child.regions and child.regions[0].blocks]


Row = Pass | Nest


def rows_of(rows: Iterable[Row]) -> Iterator[Pass]:
    """The passes in rows, those in nests too, in textual order."""
    for row in rows:
        if isinstance(row, Nest):
            yield from rows_of(row.rows)
        else:
            yield row


def functions_of(op: Operation) -> list[Operation]:
    """The functions with a body in a module; a function is its own."""
    if op.traits & SYMBOL:
        return [op]
    kind = ISOLATED | SYMBOL
    return [f for r in op.regions for b in r.blocks for f in b if f.traits & kind == kind and f.regions[0].blocks]


def targets_of(p: Pass, op: Operation) -> list[Operation]:
    """What a pass in a pipeline on `op` is called with: a pass on functions with each of them."""
    return functions_of(op) if level_of(p.function) == "function" else [op]


def symbol_name(op: Operation) -> str:
    """`@name` of a function, or the name of the operation."""
    name = op.attributes.get("sym_name")
    return f"@{name.value}" if name is not None else op.name  # type: ignore[attr-defined]


def check_order(pipeline: Sequence[Row], order: Iterable[tuple[str, str, str]]) -> None:
    """Hold a pipeline to (earlier, later, reason) constraints: the first `later` comes after the first `earlier`."""
    names = [p.name for p in rows_of(pipeline)]
    for earlier, later, reason in order:
        if earlier in names and later in names and names.index(earlier) > names.index(later):
            raise InternalError(f"pass {earlier} must come before {later}: {reason}")


class _Counts(threading.local):
    """Where a thread's passes count."""

    here: dict[str, int] | None = None


_counts = _Counts()


def count(what: str, n: int = 1) -> None:
    """Add `n` to a statistic of the pass that runs, such as "loads merged"."""
    counts = _counts.here
    if counts is not None and n:
        counts[what] = counts.get(what, 0) + n


@contextmanager
def counting(counts: dict[str, int]) -> Iterator[None]:
    """What passes inside count goes to `counts`."""
    saved, _counts.here = _counts.here, counts
    try:
        yield
    finally:
        _counts.here = saved
