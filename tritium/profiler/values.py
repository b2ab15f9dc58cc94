"""User metrics of a scope or a kernel: typed values that are summed, or replaced if they are properties.

The suffix of a metric's name says how it is aggregated: `bytes` is inclusive (a viewer adds the values of children),
`cpu_time (ns)(exc)` is exclusive (it belongs to its frame alone), `width (pty)` is a property (the last value counts).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from ..support import OptionError

__all__ = ["MetricTypeError", "MetricValue", "Metrics", "Scalar", "formatted"]

Scalar = int | float

_EXCLUSIVE, _PROPERTY = "(exc)", "(pty)"


class MetricTypeError(OptionError):
    """A metric got a value of another type or length than before, or one that is no number."""


class MetricValue:
    """One metric of one frame: a number or a list of numbers of one type."""

    __slots__ = ("exclusive", "is_property", "kind", "name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.exclusive = name.endswith(_EXCLUSIVE)
        self.is_property = name.endswith(_PROPERTY)
        self.name = name.replace(_EXCLUSIVE, "").replace(_PROPERTY, "").strip()
        self.kind, self.value = _typed(self.name, value)

    @property
    def is_inclusive(self) -> bool:
        """Whether a viewer adds the value to those of the frames above."""
        return not (self.exclusive or self.is_property or isinstance(self.value, list))

    def update(self, other: MetricValue) -> None:
        """Add `other`, or take its value for a property; MetricTypeError if the types differ."""
        if self.kind != other.kind:
            raise MetricTypeError(
                f"Metric value type mismatch for valueId 0 ({self.name}): current={self.kind}, new={other.kind}\n"
                "hint: give a metric of a scope a value of one type, int or float, every time"
            )
        if self.is_property:
            self.value = other.value
        elif isinstance(self.value, list):
            if len(self.value) != len(other.value):
                raise MetricTypeError(
                    f"Vector metric size mismatch for valueId 0 ({self.name}): current={len(self.value)}, "
                    f"new={len(other.value)}"
                )
            self.value = [a + b for a, b in zip(self.value, other.value)]
        else:
            self.value += other.value


class Metrics(dict[str, MetricValue]):
    """The user metrics of a frame, by name without the suffix."""

    def add(self, metrics: Mapping[str, Any]) -> None:
        """Aggregate the values of `metrics` into those that are there."""
        for name, value in metrics.items():
            new = MetricValue(name, value)
            old = self.get(new.name)
            if old is None:
                self[new.name] = new
            else:
                old.update(new)


def _typed(name: str, value: Any) -> tuple[str, Any]:
    """The type of a value, by the names that profiles use, and the value as plain Python numbers."""
    if isinstance(value, numbers.Integral):
        return "int64_t", int(value)
    if isinstance(value, numbers.Real):
        return "double", float(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        items = list(value)
        if all(isinstance(v, numbers.Integral) for v in items):
            return "std::vector<int64_t>", [int(v) for v in items]
        if all(isinstance(v, numbers.Real) for v in items):
            return "std::vector<double>", [float(v) for v in items]
    raise MetricTypeError(
        f"metric {name!r} has a value of type {type(value).__name__}\n"
        "hint: a metric is an int, a float, a list of these, or a tensor"
    )


def formatted(value: Any) -> str:
    """A value as traces show it.

    >>> formatted(1.0), formatted(3), formatted([1, 2])
    ('1.000000', '3', '[1,2]')
    """
    if isinstance(value, list):
        return f"[{','.join(f'{v:g}' for v in value)}]"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
