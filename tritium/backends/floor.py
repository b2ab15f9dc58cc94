"""The least time that a launch can take: its bytes over the memory's bandwidth, its operations over the chip's peak.

    floor = floor_of(Launch((1024,), {"a": (4096, 4096), …, "K": 4096}), kernel.asm, rates)
    floor.seconds, floor.limit                  # 0.000139, "products"

The three parts (memory, products, other arithmetic) may all overlap, so the floor is the largest of them. It is a
floor, not an estimate: caches, launches, latencies and what instructions cost beside these three are left out.
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
from .work import Work, work_of

__all__ = ["Floor", "Launch", "Rates", "floor_of"]

_ = _dialects  # whatever the text names


@dataclass(frozen=True)
class Rates:
    """What a machine does at most: bytes a second of its memory, operations a second of products by the kind of their
    operands ("f16", "f8", …; "" for those not named) and of other arithmetic by the width of floats ("f32", …)."""

    machine: str
    bandwidth: float
    products: Mapping[str, float]
    flops: Mapping[str, float]


@dataclass(frozen=True)
class Launch:
    """What is launched: programs along up to three axes, and arguments by name: numbers for integers; for pointers a
    number of elements, a shape, or an array. `rates` are those of the machine, where it is not the usual one."""

    grid: tuple[int, ...]
    arguments: Mapping[str, Any]
    rates: Rates | None = None


@dataclass(frozen=True)
class Floor:
    """`seconds` is the largest of `parts` ("memory", "products", "arithmetic"), `limit` the name of that part."""

    seconds: float
    limit: str
    parts: dict[str, float]
    work: Work
    machine: str
    assumptions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, numbers and texts."""
        return {**plain(self), "work": {**plain(self.work), "bytes": self.work.bytes}}


def floor_of(launch: Launch, asm: Mapping[str, Any], rates: Rates | None) -> Floor:
    """The floor of a launch of the kernel with these stages; `rates` where the launch does not say.

    Raises BackendError for a kernel without `ttir`, or where nobody knows rates; WorkError as `work_of`.
    """
    rates = launch.rates or rates
    if "ttir" not in asm:
        raise BackendError("a floor needs the ttir of a kernel, and this one was compiled from a later stage")
    if rates is None:
        raise BackendError("a floor needs what the machine does at most: its bandwidth and operations a second")
    work = work_of(parse_module(asm["ttir"], "kernel.ttir"), launch.arguments, launch.grid)
    parts = {
        "memory": work.bytes / rates.bandwidth,
        "products": sum(n / _rate(rates.products, kind) for kind, n in work.products.items()),
        "arithmetic": sum(n / _rate(rates.flops, kind) for kind, n in work.flops.items()),
    }
    limit = max(parts, key=lambda name: parts[name])
    return Floor(parts[limit], limit, parts, work, rates.machine, tuple(_assumptions(work, rates)))


def _rate(table: Mapping[str, float], kind: str) -> float:
    return table.get(kind) or table[""]


def _assumptions(work: Work, rates: Rates) -> list[str]:
    out = [
        f"{rates.machine}: {amount(rates.bandwidth, 'B/s')}"
        + "".join(f", {amount(_rate(rates.products, kind), 'FLOP/s')} for products of {kind}" for kind in work.products)
        + "".join(
            f", {amount(_rate(rates.flops, kind), 'FLOP/s')} for other arithmetic in {kind}" for kind in work.flops
        ),
        "each argument is read once and written once, whatever its strides and masks",
    ]
    if work.followed < work.programs:
        out.append(f"{work.followed} of {work.programs} programs stand for all")
    return [*out, *work.notes]
