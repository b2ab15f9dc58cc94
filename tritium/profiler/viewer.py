"""Profiles as trees: `python -m tritium.profiler.viewer -m time/ms matmul.hatchet`.

A metric is a sum of the profile (`time/ms`, `count`, `bytes`), a mean (`avg_time/us`), or a rate (`tflop16/s`,
`gbyte/s`), which is a sum over the time. Sums of a scope include those of all below it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..support import OptionError
from .tree import COUNT, TIME

__all__ = ["main", "parse", "print_tree"]

_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_SCALES = {"": 1.0, "g": 1e9, "t": 1e12}
_TIME = re.compile(r"(avg_)?time/(s|ms|us|ns)$")
_RATE = re.compile(r"([gt]?)(flop|byte)(8|16|32|64)?/s$")

Sums = dict[str, float]


def _sums(node: dict[str, Any]) -> Sums:
    """What a node and all below it add up to; kept in the node."""
    total = dict(node["metrics"])
    for child in node["children"]:
        for name, value in _sums(child).items():
            total[name] = total.get(name, 0) + value
    node["sums"] = total
    return total


def _rule(metric: str) -> Callable[[Sums], float | None]:
    """How a metric is computed from sums; None where they do not say."""
    if found := _TIME.match(metric):
        per = _UNITS[found[2]]
        if found[1]:
            return lambda s: s[TIME] / s[COUNT] / per if s.get(COUNT) else None
        return lambda s: s[TIME] / per if TIME in s else None
    if found := _RATE.match(metric):
        name = f"{found[2]}s{found[3] or ''}"
        scale = _SCALES[found[1]]
        return lambda s: s[name] / s[TIME] * 1e9 / scale if name in s and s.get(TIME) else None
    return lambda s: s.get(metric)


def parse(metrics: Sequence[str], filename: str | Path) -> tuple[dict[str, Any], list[str]]:
    """The tree of a profile with the sums of each node, and the metrics that it has; OptionError if it lacks one."""
    root = json.loads(Path(filename).read_text())[0]
    known = _sums(root)
    for metric in metrics:
        if _rule(metric)(known) is None:
            raise OptionError(
                f"{filename} has no metric {metric!r}; it adds up {', '.join(sorted(known)) or 'nothing'}"
            )
    return root, list(metrics)


def print_tree(root: dict[str, Any], metrics: Sequence[str]) -> None:
    """Print each scope and kernel behind its metrics."""
    rules = [_rule(m) for m in metrics]

    def label(node: dict[str, Any]) -> Text:
        values = [rule(node["sums"]) for rule in rules]
        shown = " ".join("-" if v is None else f"{v:.3f}" for v in values)
        return Text.assemble((shown, "green"), " ", node["frame"]["name"])

    def grow(tree: Tree, node: dict[str, Any]) -> None:
        for child in node["children"]:
            grow(tree.add(label(child)), child)

    tree = Tree(label(root))
    grow(tree, root)
    console = Console()
    console.print(", ".join(metrics), style="bold")
    console.print(tree)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile")
    parser.add_argument("-m", "--metrics", default="time/ms", help="with commas")
    parser.add_argument("-l", "--list", action="store_true", help="what the profile adds up")
    chosen = parser.parse_args(arguments)
    root, metrics = parse([] if chosen.list else chosen.metrics.split(","), chosen.profile)
    if chosen.list:
        print("\n".join(sorted(root["sums"])))
    else:
        print_tree(root, metrics)


if __name__ == "__main__":
    main()
