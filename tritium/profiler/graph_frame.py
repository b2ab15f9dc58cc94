"""A profile as a tree with a table: a row for each frame, a column for each metric.

What programs for Triton do with hatchet's GraphFrame works here without it: `dataframe` (needs pandas), `filter` with
queries, `sub`, `tree`. Metrics of the root are exclusive values that are summed up the tree into columns `NAME (inc)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..support import TritiumError
from ..support.lazy import load
from .query import Query, matching
from .tree_text import Row, tree_text

__all__ = ["EmptyProfile", "FrameNode", "GraphFrame", "has_numbers", "is_number", "pandas"]

NAN = float("nan")
_MISSING = "_missing_node"  # after a subtraction: 1 for frames of the left profile only, 2 of the right one


class EmptyProfile(TritiumError):
    """Nothing of a profile is left."""


def pandas() -> Any:
    """The module pandas; TritiumError where it is not installed."""
    try:
        return load("pandas")
    except ModuleNotFoundError as error:
        raise TritiumError(
            "the table of a profile is a DataFrame of pandas, which is not installed\n"
            "hint: pip install pandas; the command proton-viewer does without it"
        ) from error


def is_number(value: Any) -> bool:
    """Whether a cell can be computed with: numbers of Python and of NumPy, no texts, lists or truth values."""
    return hasattr(value, "__float__") and hasattr(value, "__add__") and not isinstance(value, (bool, str))


def has_numbers(cells: Iterable[Any]) -> bool:
    """Whether a column has a cell that can be computed with and is not NaN."""
    return any(is_number(v) and not _is_nan(v) for v in cells)


class FrameNode:
    """A frame of the tree; frames of one parent are in the order of their names."""

    __slots__ = ("children", "depth", "frame", "number")

    def __init__(self, frame: dict[str, Any]) -> None:
        self.frame = frame
        self.children: list[FrameNode] = []
        self.depth = self.number = 0

    def __repr__(self) -> str:
        return f"FrameNode({self.frame})"

    def __lt__(self, other: FrameNode) -> bool:
        return self.number < other.number

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The key of a frame among the children of its parent, and their order."""
        return tuple(sorted((k, str(v)) for k, v in self.frame.items()))

    def walk(self) -> Iterator[FrameNode]:
        """This frame and all below it, in preorder."""
        yield self
        for child in self.children:
            yield from child.walk()


Cells = dict[str, Any]


class GraphFrame:
    """Frames in preorder, the metrics of each, and which metrics are exclusive and inclusive."""

    def __init__(self, roots: Sequence[FrameNode], rows: dict[FrameNode, Cells]) -> None:
        self.roots = sorted(roots, key=lambda n: n.key)
        self.exc_metrics: list[str] = []
        self.inc_metrics: list[str] = []
        self.nodes: list[FrameNode] = []
        for root in self.roots:
            self._enumerate(root, 0)
        names = dict.fromkeys(name for node in self.nodes for name in rows[node])
        self._columns: dict[str, list[Any]] = {
            name: [rows[node].get(name, NAN) for node in self.nodes] for name in names
        }
        self._table: Any = None

    def _enumerate(self, node: FrameNode, depth: int) -> None:
        node.depth, node.number = depth, len(self.nodes)
        self.nodes.append(node)
        node.children.sort(key=lambda n: n.key)
        for child in node.children:
            self._enumerate(child, depth + 1)

    @classmethod
    def from_literal(cls, database: Sequence[dict[str, Any]]) -> GraphFrame:
        """The profile of a hatchet file's trees."""
        rows: dict[FrameNode, Cells] = {}

        def node_of(literal: dict[str, Any]) -> FrameNode:
            node = FrameNode(literal["frame"])
            rows[node] = {"name": literal["frame"].get("name") or literal["name"], **literal["metrics"]}
            node.children = [node_of(child) for child in literal.get("children", ())]
            return node

        found = cls([node_of(root) for root in database], rows)
        metrics = database[-1]["metrics"]
        found.inc_metrics = [name for name in metrics if "(inc)" in name]
        found.exc_metrics = [name for name in metrics if "(inc)" not in name]
        return found

    # ---- the table ---------------------------------------------------------------------------------------------------

    @property
    def dataframe(self) -> Any:
        """The table as a DataFrame of pandas, whose index are the frames. Changes of it are changes of the profile."""
        if self._table is None:
            index = pandas().Index(self.nodes, name="node", dtype=object, tupleize_cols=False)
            self._table = pandas().DataFrame(self._columns, index=index)
        return self._table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns if self._table is None else self._table.columns)

    def column(self, name: str) -> list[Any]:
        """The cells of a column in the order of `nodes`; NaN where a frame has no value."""
        return self._columns[name] if self._table is None else self._table[name].tolist()

    def set_column(self, name: str, cells: Sequence[Any]) -> None:
        """Add or replace a column."""
        if self._table is None:
            self._columns[name] = list(cells)
        else:
            self._table[name] = list(cells)

    def row(self, index: int) -> Cells:
        """The cells of a frame."""
        return {name: self.column(name)[index] for name in self.columns}

    def _rows(self) -> dict[FrameNode, Cells]:
        columns = {name: self.column(name) for name in self.columns}
        return {node: {name: cells[i] for name, cells in columns.items()} for i, node in enumerate(self.nodes)}

    def show_metric_columns(self) -> list[str]:
        """The exclusive and the inclusive metrics."""
        return [*self.exc_metrics, *self.inc_metrics]

    def update_inclusive_columns(self) -> None:
        """Sum the exclusive metrics up the tree."""
        if not self.exc_metrics:
            return
        self.inc_metrics = [f"{name} (inc)" for name in self.exc_metrics]
        for own, total in zip(self.exc_metrics, self.inc_metrics):
            sums = list(self.column(own))
            for node in reversed(self.nodes):
                known = [v for v in (sums[node.number], *(sums[c.number] for c in node.children)) if not _is_nan(v)]
                sums[node.number] = sum(known) if known else NAN
            self.set_column(total, sums)

    # ---- other profiles from this one --------------------------------------------------------------------------------

    def _with(self, roots: Sequence[FrameNode], rows: dict[FrameNode, Cells]) -> GraphFrame:
        found = GraphFrame(roots, rows)
        found.exc_metrics, found.inc_metrics = list(self.exc_metrics), list(self.inc_metrics)
        return found

    def filter(self, wanted: Query | Callable[[Cells], bool], squash: bool = True) -> GraphFrame:
        """The frames on paths that a query matches, or whose cells a function accepts. EmptyProfile if there are none.

        A query is a text, `MATCH ("*", p) WHERE p."name" =~ "matmul.*" AND p IS LEAF`, or a list of quantifiers and
        conditions (see `query`). Frames whose parent is left out become children of the next frame above. `squash` is
        hatchet's; profiles here are always squashed.
        """
        rows = self._rows()
        if callable(wanted):
            kept = {node for node in self.nodes if wanted(rows[node])}
        else:
            kept = matching(wanted, self.roots, rows)
        return self.keep(kept)

    def keep(self, kept: Iterable[FrameNode]) -> GraphFrame:
        """The same profile with these frames only: its own metrics are summed anew, those derived from them are not."""
        kept = set(kept)
        if not kept:
            raise EmptyProfile("no frame of the profile is left by the filters")
        old = self._rows()
        rows: dict[FrameNode, Cells] = {}

        def below(node: FrameNode) -> list[FrameNode]:
            children = [found for child in node.children for found in below(child)]
            if node not in kept:
                return children
            twin = FrameNode(node.frame)
            rows[twin] = old[node]
            twin.children = _merged(children, rows)
            return [twin]

        roots = _merged([found for root in self.roots for found in below(root)], rows)
        profile = self._with(roots, rows)
        profile.update_inclusive_columns()
        return profile

    def sub(self, other: GraphFrame) -> GraphFrame:
        """This profile minus `other`, by frame. Frames that one of them has alone are marked."""
        mine, theirs = self._rows(), other._rows()
        rows: dict[FrameNode, Cells] = {}

        def union(left: Sequence[FrameNode], right: Sequence[FrameNode]) -> list[FrameNode]:
            found = []
            others = {node.key: node for node in right}
            pairs = [(node, others.pop(node.key, None)) for node in left]
            for a, b in [*pairs, *((None, node) for node in others.values())]:
                some = a or b
                assert some is not None
                twin = FrameNode(some.frame)
                rows[twin] = _difference(mine.get(a), theirs.get(b))  # type: ignore[arg-type]
                twin.children = union(a.children if a else (), b.children if b else ())
                found.append(twin)
            return found

        return self._with(union(self.roots, other.roots), rows)

    def tree(
        self,
        metric_column: str | Sequence[str],
        expand_name: bool = True,
        depth: int = 10000,
        render_header: bool = False,
        precision: int = 3,
    ) -> str:
        """The tree as text: the metrics of each frame, and its name.

        `expand_name=False` shortens long names. There is no header; `render_header` is hatchet's.
        """
        metrics = [metric_column] if isinstance(metric_column, str) else list(metric_column)
        cells = [self.column(name) for name in ("name", *metrics)]
        missing = self.column(_MISSING) if _MISSING in self.columns else [0] * len(self.nodes)
        rows = {}
        for node, mark, (name, *values) in zip(self.nodes, missing, zip(*cells)):
            short = f"{name[:18]}...{name[-18:]}" if not expand_name and len(name) > 39 else name
            rows[node] = Row(short, values, int(mark))
        return tree_text(self.roots, rows, depth, precision)


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _merged(nodes: Sequence[FrameNode], rows: dict[FrameNode, Cells]) -> list[FrameNode]:
    """Siblings of the same frame as one, their numbers added."""
    found: dict[Any, FrameNode] = {}
    for node in nodes:
        first = found.setdefault(node.key, node)
        if first is node:
            continue
        other = rows.pop(node)
        rows[first] = {k: _added(rows[first].get(k, NAN), other.get(k, NAN)) for k in {**rows[first], **other}}
        first.children = _merged([*first.children, *node.children], rows)
    return list(found.values())


def _added(a: Any, b: Any) -> Any:
    if _is_nan(a) or _is_nan(b):
        return b if _is_nan(a) else a
    return a + b if is_number(a) and is_number(b) else a


def _difference(left: Cells | None, right: Cells | None) -> Cells:
    """The cells of a frame in a difference of profiles, NaN where the left one has no number."""
    if left is None or right is None:
        found = dict(left or right or {})
        if left is None:
            found = {name: value if isinstance(value, str) else NAN for name, value in found.items()}
        return {**found, _MISSING: 1 if right is None else 2}
    found = {}
    for name in {**left, **right}:
        a, b = left.get(name, NAN), right.get(name, NAN)
        found[name] = a - b if is_number(a) and is_number(b) and not _is_nan(b) else a
    return {**found, _MISSING: 0}
