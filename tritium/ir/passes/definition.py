"""What a pass is, and the rows that pipelines are made of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...support import InternalError
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
    "level_of",
    "pass_on",
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
    return type(defaults[0]) if defaults and hasattr(defaults[0], "__dataclass_fields__") else None


def level_of(fn: PassFunction) -> str:
    """What a pass runs on; a function that does not say runs on the module."""
    return getattr(fn, "level", "module")


@dataclass(frozen=True)
class Pass:
    """A row of a pipeline: the pass, why it stands there, and its options (a frozen dataclass, or None).

    `written` is the text it was read from, if it was, so that it prints as it was written.
    """

    name: str
    fn: PassFunction
    reason: str = ""
    options: Any = None
    written: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.written or self.name + ("" if self.options is None else _options.options_text(self.options))

    def run(self, op: Operation) -> bool:
        """Run on one module or function."""
        changed = self.fn(op) if self.options is None else self.fn(op, self.options)
        return changed is not False


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
    """The passes in rows, those in nests too, in the order they stand."""
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
    return functions_of(op) if level_of(p.fn) == "function" else [op]


def symbol_name(op: Operation) -> str:
    """`@name` of a function, or the name of the operation."""
    name = op.attributes.get("sym_name")
    return f"@{name.value}" if name is not None else op.name  # type: ignore[attr-defined]


def check_order(pipeline: Sequence[Row], order: Iterable[tuple[str, str, str]]) -> None:
    """Hold a pipeline to (earlier, later, reason) constraints: the first `later` stands behind the first `earlier`."""
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
