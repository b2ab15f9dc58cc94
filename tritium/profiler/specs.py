"""Peak rates of GPUs, from the vendors' data sheets: what the viewer's `util` compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..support import OptionError

__all__ = ["amd_bps_by_arch", "amd_fp8_flops_by_arch", "flops_by_device", "max_bps", "max_flops"]

_T = TypeVar("_T")

#: device type -> architecture -> dense operations per second on elements of `width` bits, from 8 bits in inverse ratio
flops_by_device: dict[str, dict[str, Callable[..., float]]] = {
    "CUDA": {
        "80": lambda width, **gpu: 624e12 * 8 / width,  # A100
        "89": lambda width, **gpu: 330.3e12 * 8 / width,  # RTX 4090 and L40, f16 operands with f32 accumulators
        # H100 PCIe: 1513e12 with 114 SMs at 1755 MHz
        "90": lambda width, num_sms, clock_rate, **gpu: num_sms / 114 * clock_rate / 1755e3 * 1513e12 * 8 / width,
        # B200: 16384 a cycle and SM
        "100": lambda width, num_sms, clock_rate, **gpu: num_sms * 16384 * clock_rate * 1e3 * 8 / width,
    }
}
#: operations on 8-bit elements per cycle and compute unit; gfx90a has int8 for them
amd_fp8_flops_by_arch = {"gfx90a": 1024, "gfx942": 4096, "gfx950": 8192}
#: bytes per second of the memory: MI250X, MI300X, MI355X
amd_bps_by_arch = {"gfx90a": 3.2e12, "gfx942": 5.3e12, "gfx950": 8.0e12}


def max_flops(device_type: str, arch: str, width: int, num_sms: float, clock_rate: float) -> float:
    """Peak operations per second on elements of `width` bits; `clock_rate` is in kHz. OptionError if not known.

    >>> max_flops("CUDA", "80", 16, 108, 1410e3) / 1e12
    312.0
    """
    if device_type == "HIP":
        return _known(amd_fp8_flops_by_arch, arch, "flops") * num_sms * clock_rate * 1e3 / (width / 8)
    if device_type not in flops_by_device:
        raise OptionError(f"the peak flops of devices of type {device_type!r} are not known")
    return _known(flops_by_device[device_type], arch, "flops")(width, num_sms=num_sms, clock_rate=clock_rate)


def max_bps(device_type: str, arch: str, bus_width: float, memory_clock_rate: float) -> float:
    """Peak bytes per second of the memory, with two transfers a cycle; the bus is in bits, the clock in kHz."""
    if device_type == "HIP":
        return _known(amd_bps_by_arch, arch, "bandwidth")
    if device_type != "CUDA":
        raise OptionError(f"the peak bandwidth of devices of type {device_type!r} is not known")
    return 2 * bus_width * memory_clock_rate * 1e3 / 8


def _known(table: dict[str, _T], arch: str, what: str) -> _T:
    if arch not in table:
        raise OptionError(f"the peak {what} of {arch!r} are not known, only of {', '.join(map(repr, table))}")
    return table[arch]
