"""Profiles as trees of text: `proton-viewer -m time/ms,tflop16/s matmul.hatchet`.

The functions are those of Triton's viewer. A profile is a `GraphFrame`; no other package is needed, but pandas for
`GraphFrame.dataframe` and for the functions that return tables.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..support import OptionError, TritiumError
from .derived import Devices, derive_metrics, match_available_metrics, min_time_bytes, min_time_flops
from .graph_frame import GraphFrame, has_numbers, is_number, pandas
from .query import matching
from .state import COMPUTE_METADATA_SCOPE_NAME

__all__ = [
    "apply_diff_profile",
    "derive_metrics",
    "emit_warnings",
    "filter_frames",
    "format_frames",
    "get_min_time_bytes",
    "get_min_time_flops",
    "get_raw_metrics",
    "main",
    "match_available_metrics",
    "parse",
    "print_tree",
    "read",
    "remove_frames",
    "show_metrics",
]

Read = tuple[GraphFrame, list[str], list[str], Devices]


# ---- reading ---------------------------------------------------------------------------------------------------------


def remove_frames(database: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The trees without the frames of metadata, frames with neither metrics nor children, and those left without."""
    return [found for node in database for found in [_without_metadata(node)] if found is not None]


def _without_metadata(node: dict[str, Any]) -> dict[str, Any] | None:
    if "frame" not in node:  # the devices
        return node
    name, children = node["frame"]["name"], node.get("children", [])
    if name == COMPUTE_METADATA_SCOPE_NAME or name.startswith(f"{COMPUTE_METADATA_SCOPE_NAME}:"):
        return None
    if not node["metrics"] and not children:
        return None
    kept = remove_frames(children)
    return {**node, "children": kept} if kept or not children else None


def get_raw_metrics(database: Sequence[dict[str, Any]]) -> Read:
    """A profile, its inclusive and exclusive metrics, and its devices, of what a file contains.

    Inclusive are the metrics of the root; all other columns count as exclusive.
    """
    kept = remove_frames(database)
    trees = [node for node in kept if "frame" in node]
    devices = next((node for node in kept if "frame" not in node), {})
    if not trees:
        raise OptionError("the profile is empty: it has no frame with a metric")
    profile = GraphFrame.from_literal(trees)
    inclusive = profile.show_metric_columns()
    return profile, inclusive, [name for name in profile.columns if name not in inclusive], devices


def read(filename: str | Path) -> Read:
    """The same of a file, with inclusive columns. OptionError for one that is no profile."""
    try:
        database = json.loads(Path(filename).read_text())
        found = get_raw_metrics(database)
    except OSError as error:
        raise OptionError(f"{filename} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, TritiumError):
            raise OptionError(f"{filename}: {error}") from error
        raise OptionError(f"{filename} is no profile in the hatchet format: {type(error).__name__}: {error}") from error
    found[0].update_inclusive_columns()
    return found


def parse(
    metrics: Sequence[str],
    filename: str | Path,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> tuple[GraphFrame, list[str]]:
    """The profile of a file with derived metrics, filtered, and the columns of the metrics."""
    profile, inclusive, exclusive, devices = read(filename)
    columns = derive_metrics(profile, metrics, inclusive, exclusive, devices)
    return filter_frames(profile, include, exclude, threshold, columns[0]), columns


# ---- tables ----------------------------------------------------------------------------------------------------------


def get_min_time_flops(df: Any, device_info: Devices) -> Any:
    """A DataFrame of the seconds that the operations of each frame need at the peak rates of its device."""
    return pandas().DataFrame({"min_time": min_time_flops(df, device_info)}, index=df.index)


def get_min_time_bytes(df: Any, device_info: Devices) -> Any:
    """A DataFrame of the seconds that the bytes of each frame need at the peak bandwidth of its device."""
    return pandas().DataFrame({"min_time": min_time_bytes(df, device_info)}, index=df.index)


def format_frames(profile: GraphFrame, format: str | None) -> GraphFrame:
    """Shorten the names of frames of Python: "file_function_line", "function_line" or "file_function"."""

    def short(name: str) -> str:
        file = name.rpartition("/")[2]
        if format == "file_function_line":
            return file
        if format == "function_line":
            return name.rpartition(":")[2]
        return f"{file.partition(':')[0]}@{name.rpartition('@')[2].partition(':')[0]}"

    if format not in (None, "full"):
        profile.set_column("name", [short(name) for name in profile.column("name")])
    return profile


def filter_frames(
    profile: GraphFrame,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
    metric: str | None = None,
) -> GraphFrame:
    """Keep paths through frames whose name begins with a match of `include`, drop frames that match `exclude` with all
    below them, and frames whose `metric` is below `threshold`."""
    if include:
        profile = profile.filter(["*", (".", _named(include)), "*"])
    if exclude:
        rows = {node: profile.row(node.number) for node in profile.nodes}
        dropped = matching([(".", _named(exclude)), "*"], profile.roots, rows)
        profile = profile.keep(node for node in profile.nodes if node not in dropped)
    if threshold:
        profile = profile.filter(["*", {metric: f">= {threshold}"}])
    return profile


def _named(pattern: str) -> Any:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise OptionError(f"{pattern!r} is no regular expression: {error}") from error
    return lambda cells: compiled.match(cells["name"]) is not None


def apply_diff_profile(
    profile: GraphFrame,
    derived_metrics: Sequence[str],
    diff_file: str | Path,
    metrics: Sequence[str],
    include: str | None,
    exclude: str | None,
    threshold: float | None,
) -> GraphFrame:
    """The profile minus that of `diff_file`, in which the same metrics are derived and the same frames filtered."""
    other, _ = parse(metrics, diff_file, include, exclude, threshold)
    for found in (profile, other):
        found.inc_metrics = [name for name in derived_metrics if name.endswith("(inc)")]
        found.exc_metrics = [name for name in derived_metrics if not name.endswith("(inc)")]
    return profile.sub(other)


# ---- showing ---------------------------------------------------------------------------------------------------------


def emit_warnings(profile: GraphFrame, metrics: Iterable[str]) -> None:
    """Warn of sums of bytes that are negative: a metric has overflowed."""
    if "bytes (inc)" in metrics and min(v for v in profile.column("bytes (inc)") if not math.isnan(v)) < 0:
        print("Warning: Negative byte values detected, this is usually the result of a datatype overflow\n")


def print_tree(
    profile: GraphFrame,
    metrics: Sequence[str],
    depth: int = 100,
    format: str | None = None,
    print_sorted: bool = False,
) -> None:
    """Print the tree, and with `print_sorted` its frames by the first metric, largest first."""
    for name in metrics:
        if not all(map(is_number, profile.column(name))):
            raise OptionError(f"the metric {name!r} has no numbers to show")
    profile = format_frames(profile, format)
    print(profile.tree(metric_column=metrics, expand_name=True, depth=depth, render_header=False))
    if print_sorted:
        print(f"Sorted kernels by metric {metrics[0]}")
        for name, value in _sorted(profile, metrics[0])[1:]:
            print(f"{name[:100] + '...' if len(name) > 100 else name:105} {value:.4}")
    emit_warnings(profile, metrics)


def _sorted(profile: GraphFrame, metric: str) -> list[tuple[str, float]]:
    """(name, value) of frames by falling value, those without one last."""
    pairs = [(name, float(value)) for name, value in zip(profile.column("name"), profile.column(metric))]
    return sorted(pairs, key=lambda pair: -math.inf if math.isnan(pair[1]) else pair[1], reverse=True)


def show_metrics(file_name: str | Path) -> None:
    """Print the metrics of a file that can be shown, without units."""
    profile, inclusive, exclusive, _ = read(file_name)
    shown = [name for name in exclusive if has_numbers(profile.column(name))]
    for title, names in (("inclusive", inclusive), ("exclusive", shown)):
        print(f"Available {title} metrics:")
        for name in names:
            print(f"- {name.partition('(')[0].strip().lower()}")


# ---- the command -----------------------------------------------------------------------------------------------------

_METRICS_HELP = """The metrics to show, separated by commas: those of the profile by name, with or without
their unit and in any case, and metrics that are derived from them:
- time/s, time/ms, time/us, time/ns, cpu_time/s, ...: times
- avg_time/s, ..., avg_cpu_time/s, ...: times by count
- flop[<8/16/32/64>]/s, gflop[<8/16/32/64>]/s, tflop[<8/16/32/64>]/s: flops by time
- byte/s, gbyte/s, tbyte/s: bytes by time
- util: max(sum(flops<width> / peak flops), bytes / peak bandwidth) by time
- <metric>/%%: share of the root's, or for exclusive metrics of the sum of all frames
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proton-viewer",
        description="Show profiles of `tritium.profiler` and of Triton's Proton as trees.",
        formatter_class=argparse.RawTextHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("profile", help="Profile in the hatchet format")
    add("-l", "--list", action="store_true", help="List the metrics of the profile")
    add("-m", "--metrics", help=_METRICS_HELP)
    add("-i", "--include", help="Show the paths through frames whose name matches this regular expression")
    add("-e", "--exclude", help="Leave out frames whose name matches this regular expression, and all below them")
    add("-t", "--threshold", type=float, help="Leave out frames whose first metric is below this value")
    add("-d", "--depth", type=int, default=100, help="Show this many levels of the tree")
    add(
        "-f",
        "--format",
        choices=["full", "file_function_line", "function_line", "file_function"],
        default="full",
        help="Set the format of the names of Python frames",
    )
    add("--print-sorted", action="store_true", help="Also list the frames sorted by the first metric")
    add(
        "-diff",
        "--diff-profile",
        metavar="OTHER",
        help="Show the profile minus this one: `proton-viewer -m time/ms -diff before.hatchet after.hatchet`",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """The command `proton-viewer`; exits with status 2 for invalid input."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.include and chosen.exclude:
        parser.error("Cannot specify both include and exclude")
    try:
        _show(vars(chosen))
    except TritiumError as error:
        print(f"proton-viewer: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _show(chosen: Mapping[str, Any]) -> None:
    if chosen["list"] or not chosen["metrics"]:
        show_metrics(chosen["profile"])
        return
    metrics = [name.strip() for name in chosen["metrics"].split(",")]
    filters = chosen["include"], chosen["exclude"], chosen["threshold"]
    profile, columns = parse(metrics, chosen["profile"], *filters)
    if chosen["diff_profile"]:
        profile = apply_diff_profile(profile, columns, chosen["diff_profile"], metrics, *filters)
    print_tree(profile, columns, chosen["depth"], chosen["format"], chosen["print_sorted"])


if __name__ == "__main__":
    main()
