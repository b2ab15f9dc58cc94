"""Metrics that are computed from those of a profile: times in a unit, means, rates, shares, utilization."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..support import TritiumError
from . import specs
from .graph_frame import NAN, GraphFrame, is_number
from .metric import FLOPS_WIDTHS

__all__ = ["MetricNotFound", "derive_metrics", "match_available_metrics", "min_time_bytes", "min_time_flops"]

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SCALES = {"": 1.0, "g": 1e9, "t": 1e12}

#: metric -> (the metric it is a time of, whether it is the mean of one run, seconds of its unit)
TIMES = {
    f"{mean}{name}/{unit}": (name, bool(mean), seconds)
    for mean in ("", "avg_")
    for name in ("time", "cpu_time")
    for unit, seconds in _SECONDS.items()
}
#: metric -> (the metric it is a rate of, what its unit is of one a second)
RATES = {f"{prefix}byte/s": ("bytes", scale) for prefix, scale in _SCALES.items()} | {
    f"{prefix}flop{width}/s": (f"flops{width}", scale)
    for prefix, scale in _SCALES.items()
    for width in ("", *FLOPS_WIDTHS)
}

Devices = Mapping[str, Mapping[str, Mapping[str, Any]]]


class MetricNotFound(TritiumError, RuntimeError):
    """A profile has no such metric."""


def match_available_metrics(metrics: Any, inclusive: Sequence[str], exclusive: Sequence[str]) -> list[str]:
    """The columns of metrics that are given with their unit or without; MetricNotFound if there is none of them."""
    wanted = [metrics] if isinstance(metrics, str) else list(metrics or ())
    found = []
    for metric in wanted:
        for name in (*inclusive, *exclusive):
            if metric.lower() in (name, _without_unit(name)):
                found.append(f"{name} (inc)" if name in inclusive else name)
                break
    if not found:
        raise MetricNotFound(
            f"Metric {', '.join(wanted)} is not found. Use the --list flag to list available metrics\n"
            f"hint: the profile has {', '.join(map(_without_unit, (*inclusive, *exclusive))) or 'none'}"
        )
    return found


def _without_unit(name: str) -> str:
    return name.partition("(")[0].strip().lower()


class _Deriver:
    """Adds columns to a profile."""

    def __init__(
        self, profile: GraphFrame, inclusive: Sequence[str], exclusive: Sequence[str], devices: Devices
    ) -> None:
        self.profile, self.inclusive, self.exclusive, self.devices = profile, inclusive, exclusive, devices

    def _match(self, metric: str) -> str:
        return match_available_metrics(metric, self.inclusive, self.exclusive)[0]

    def _seconds(self, metric: str) -> list[Any]:
        """A column of times, in seconds."""
        name = self._match(metric)
        unit = name.partition("(")[2].partition(")")[0]
        if unit not in _SECONDS:
            raise MetricNotFound(f"the metric {name!r} has no unit of time; it can be {', '.join(_SECONDS)}")
        return [_times(v, _SECONDS[unit]) for v in self.profile.column(name)]

    def derive(self, metric: str) -> str:
        """The column of a metric, added if the profile has none."""
        if metric == "util":
            return self._add("util", self._utilization())
        if metric in RATES:
            name, scale = RATES[metric]
            amounts, seconds = self.profile.column(self._match(name)), self._seconds("time")
            return self._add(f"{metric} (inc)", [_ratio(a, _times(s, scale)) for a, s in zip(amounts, seconds)])
        if metric in TIMES:
            name, mean, unit = TIMES[metric]
            values = self._seconds(name)
            if mean:
                values = [_ratio(v, n) for v, n in zip(values, self.profile.column(self._match("count")))]
            return self._add(f"{metric} (inc)", [_ratio(v, unit) for v in values])
        name, slash, unit_name = metric.partition("/")
        if not slash:
            return self._match(name)
        if unit_name != "%":
            raise MetricNotFound(f"Unsupported unit {unit_name} of {metric!r}; it can be % or, of times, s, ms, us, ns")
        return self._share(metric, self._match(name))

    def _add(self, name: str, cells: Sequence[Any]) -> str:
        self.profile.set_column(name, cells)
        return name

    def _share(self, metric: str, column: str) -> str:
        cells = self.profile.column(column)
        included = column.endswith("(inc)")
        total = cells[0] if included else sum(v for v in cells if is_number(v) and not math.isnan(v))
        return self._add(metric + " (inc)" * included, [_times(_ratio(v, total), 100.0) for v in cells])

    def _utilization(self) -> list[float]:
        """The time that the peak rates of the device need, by the time taken; of kernels alone."""
        columns = {name: self.profile.column(name) for name in self.profile.columns}
        needed = zip(min_time_flops(columns, self.devices), min_time_bytes(columns, self.devices))
        taken = self._seconds("time")
        ids = columns.get("device_id", [NAN] * len(taken))
        return [_ratio(max(f, b), s) if isinstance(i, str) else NAN for (f, b), s, i in zip(needed, taken, ids)]


def _times(a: Any, b: float) -> Any:
    return a * b if is_number(a) else NAN


def _ratio(a: Any, b: Any) -> Any:
    """a / b, and inf or NaN where b is 0."""
    if not (is_number(a) and is_number(b)):
        return NAN
    if b == 0:
        return NAN if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    return a / b


def derive_metrics(
    profile: GraphFrame, metrics: Iterable[str], inclusive: Sequence[str], exclusive: Sequence[str], devices: Devices
) -> list[str]:
    """The columns of `metrics`, computed where the profile has none; MetricNotFound for what cannot be computed."""
    deriver = _Deriver(profile, inclusive, exclusive, devices)
    found = [deriver.derive(metric) for metric in metrics]
    for name in found:
        (profile.inc_metrics if name.endswith("(inc)") else profile.exc_metrics).append(name)
    return found


def _each(columns: Any, devices: Devices) -> Iterable[tuple[int, str, Mapping[str, Any]]]:
    """(row, device type, device) of the rows of kernels."""
    kinds = {number: (kind, found) for kind, all_of in devices.items() for number, found in all_of.items()}
    for i, number in enumerate(list(columns["device_id"]) if "device_id" in columns else ()):
        if number in kinds:
            yield i, *kinds[number]


def min_time_flops(columns: Any, devices: Devices) -> list[float]:
    """Seconds that the operations of each frame need at the peak rates of its device.

    `columns` is a mapping of columns or a DataFrame.
    """
    found = [0.0] * len(columns["name"])
    widths = [w for w in FLOPS_WIDTHS if f"flops{w}" in columns]
    cells = {w: list(columns[f"flops{w}"]) for w in widths}
    for i, kind, device in _each(columns, devices):
        for width in widths:
            amount = cells[width][i]
            if is_number(amount) and not math.isnan(amount):
                peak = specs.max_flops(kind, device["arch"], width, device["num_sms"], device["clock_rate"])
                found[i] += _ratio(amount, peak)
    return found


def min_time_bytes(columns: Any, devices: Devices) -> list[float]:
    """Seconds that the bytes of each frame need at the peak bandwidth of its device."""
    found = [0.0] * len(columns["name"])
    cells = list(columns["bytes"]) if "bytes" in columns else None
    for i, kind, device in _each(columns, devices) if cells is not None else ():
        peak = specs.max_bps(kind, device["arch"], device["bus_width"], device["memory_clock_rate"])
        amount = cells[i]  # type: ignore[index]
        found[i] += _ratio(amount, peak) if is_number(amount) and not math.isnan(amount) else 0.0
    return found
