"""The roofline bound of a launch: its bytes over the memory bandwidth, its operations over the peak rates of the GPU.

    bound = roofline_of(Launch((1024,), {"a": (4096, 4096), …, "K": 4096}), kernel.asm, rates)
    bound.seconds, bound.limit                  # 0.000139, "dot"

The three parts (memory, dots, other arithmetic) may overlap completely, so the bound is the largest of them. It is a
lower bound, not an estimate: caches, launches, latencies and other instructions are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects import all as _dialects
from ..ir.parser import parse_module
from ..support.dataclasses import dataclass
from ..support.plain import plain
from ..support.quantities import amount
from .errors import BackendError
from .workload import Workload, workload_of

__all__ = ["Launch", "Rates", "Roofline", "roofline_of"]

_ = _dialects  # registers all operations for the parser


@dataclass(frozen=True)
class Rates:
    """Peak rates of a machine: bytes per second of its memory, operations per second of dots by the kind of their
    operands ("f16", "f8", …; "" for kinds not listed) and of other arithmetic by the width of floats ("f32", …)."""

    machine: str
    bandwidth: float
    dots: Mapping[str, float]
    flops: Mapping[str, float]


@dataclass(frozen=True)
class Launch:
    """The grid (up to three axes) and the arguments by name: numbers for integers; for pointers a number of elements,
    a shape, or an array. `rates` override the rates of the target."""

    grid: tuple[int, ...]
    arguments: Mapping[str, Any]
    rates: Rates | None = None


@dataclass(frozen=True)
class Roofline:
    """`seconds` is the largest of `parts` ("memory", "dot", "arithmetic"), `limit` the name of that part."""

    seconds: float
    limit: str
    parts: dict[str, float]
    workload: Workload
    machine: str
    assumptions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, numbers and strings."""
        return {**plain(self), "workload": {**plain(self.workload), "bytes": self.workload.bytes}}


def roofline_of(launch: Launch, asm: Mapping[str, Any], rates: Rates | None) -> Roofline:
    """The roofline bound of a launch of the kernel with these stages; `rates` where the launch has none.

    Raises BackendError for a kernel without `ttir` and where no rates are known; WorkloadError as `workload_of`.
    """
    rates = launch.rates or rates
    if "ttir" not in asm:
        raise BackendError("a roofline bound needs the ttir of a kernel, and this one was compiled from a later stage")
    if rates is None:
        raise BackendError("a roofline bound needs the peak rates of the machine: bandwidth and operations per second")
    work = workload_of(parse_module(asm["ttir"], "kernel.ttir"), launch.arguments, launch.grid)
    parts = {
        "memory": work.bytes / rates.bandwidth,
        "dot": sum(n / _rate(rates.dots, kind) for kind, n in work.dots.items()),
        "arithmetic": sum(n / _rate(rates.flops, kind) for kind, n in work.flops.items()),
    }
    limit = max(parts, key=lambda name: parts[name])
    return Roofline(parts[limit], limit, parts, work, rates.machine, tuple(_assumptions(work, rates)))


def _rate(table: Mapping[str, float], kind: str) -> float:
    return table.get(kind) or table[""]


def _assumptions(work: Workload, rates: Rates) -> list[str]:
    out = [
        f"{rates.machine}: {amount(rates.bandwidth, 'B/s')}"
        + "".join(f", {amount(_rate(rates.dots, kind), 'FLOP/s')} for {kind} dots" for kind in work.dots)
        + "".join(f", {amount(_rate(rates.flops, kind), 'FLOP/s')} for other {kind} arithmetic" for kind in work.flops),
        "each argument is read once and written once, whatever its strides and masks",
    ]
    if work.sampled < work.programs:
        out.append(f"counts are extrapolated from {work.sampled} of {work.programs} programs")
    return [*out, *work.notes]
