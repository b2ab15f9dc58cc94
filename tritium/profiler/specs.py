"""Peak rates of GPUs, from the vendors' data sheets: what the viewer's `util` compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..support import OptionError

__all__ = ["max_bps", "max_flops"]

_T = TypeVar("_T")

# dense operations per second of 8-bit elements; rates of wider elements are inverse to their width
_CUDA_FLOPS: dict[str, Callable[[float, float], float]] = {
    "80": lambda sms, khz: 624e12,  # A100
    "89": lambda sms, khz: 330.3e12,  # RTX 4090 and L40 (f16 operands, f32 accumulators)
    "90": lambda sms, khz: sms / 114 * khz / 1755e3 * 1513e12,  # H100 PCIe: 114 SMs at 1755 MHz
    "100": lambda sms, khz: sms * 16384 * khz * 1e3,  # B200: 16384 a cycle and SM
}
_HIP_FLOPS_PER_CYCLE = {"gfx90a": 1024, "gfx942": 4096, "gfx950": 8192}  # of a compute unit; of gfx90a, int8
_HIP_BYTES = {"gfx90a": 3.2e12, "gfx942": 5.3e12, "gfx950": 8.0e12}  # MI250X, MI300X, MI355X


def max_flops(device_type: str, arch: str, width: int, num_sms: float, clock_rate: float) -> float:
    """Peak operations per second on elements of `width` bits; `clock_rate` is in kHz. OptionError if not known.

    >>> max_flops("CUDA", "80", 16, 108, 1410e3) / 1e12
    312.0
    """
    if device_type == "HIP":
        return _known(_HIP_FLOPS_PER_CYCLE, arch, "flops") * num_sms * clock_rate * 1e3 / (width / 8)
    if device_type != "CUDA":
        raise OptionError(f"the peak flops of devices of type {device_type!r} are not known")
    return _known(_CUDA_FLOPS, arch, "flops")(num_sms, clock_rate) / (width / 8)


def max_bps(device_type: str, arch: str, bus_width: float, memory_clock_rate: float) -> float:
    """Peak bytes per second of the memory, with two transfers a cycle; the bus is in bits, the clock in kHz."""
    if device_type == "HIP":
        return _known(_HIP_BYTES, arch, "bandwidth")
    if device_type != "CUDA":
        raise OptionError(f"the peak bandwidth of devices of type {device_type!r} is not known")
    return 2 * bus_width * memory_clock_rate * 1e3 / 8


def _known(table: dict[str, _T], arch: str, what: str) -> _T:
    if arch not in table:
        raise OptionError(f"the peak {what} of {arch!r} are not known, only of {', '.join(map(repr, table))}")
    return table[arch]
