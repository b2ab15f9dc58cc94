"""Peak rates of NVIDIA GPUs: memory bandwidth and dense operations per second, at the clock of the data sheet.

One GPU represents each compute capability; the sources are data sheets (T4 2019, A100 80GB SXM 2021, A10 2021, L40S
2023, H200 SXM 2024, DGX B200 2024 over its eight GPUs) and the architecture paper of the RTX 5090 (2025).
Dots of bf16 run at the rate of f16; dots of f32 without tf32 run on the FMA units.
"""

from __future__ import annotations

from ..roofline import Rates

__all__ = ["peak_rates_of"]

_T = 1e12

# capability -> name, TB/s, TFLOP/s of dots (f16, tf32, 8-bit floats, i8, f64), TFLOP/s otherwise (f32, f64)
_GPUS: dict[int, tuple[str, float, tuple[float, float, float, float, float], tuple[float, float]]] = {
    75: ("T4", 0.320, (65, 8.1, 65, 130, 0.25), (8.1, 0.25)),
    80: ("A100 80GB SXM", 2.039, (312, 156, 312, 624, 19.5), (19.5, 9.7)),
    86: ("A10", 0.600, (125, 62.5, 125, 250, 0.49), (31.2, 0.49)),
    89: ("L40S", 0.864, (362, 183, 733, 733, 1.4), (91.6, 1.4)),
    90: ("H200 SXM", 4.8, (989, 495, 1979, 1979, 67), (67, 34)),
    100: ("B200", 8.0, (2250, 1125, 4500, 4500, 37), (75, 37)),
    120: ("RTX 5090", 1.792, (209.5, 104.8, 419, 838, 1.6), (104.8, 1.6)),
}


def peak_rates_of(capability: int) -> Rates:
    """The rates of the GPU that represents a compute capability.

    >>> peak_rates_of(90).machine, peak_rates_of(90).bandwidth
    ('H200 SXM', 4800000000000.0)
    """
    name, bandwidth, (f16, tf32, f8, i8, f64), (f32, double) = _GPUS[max(c for c in _GPUS if c <= capability)]
    dots = {"": f8, "f16": f16, "bf16": f16, "scaled": f16, "tf32": tf32, "i8": i8, "f64": f64, "f32": f32}
    flops = {"": f32, "f64": double}
    return Rates(name, bandwidth * _T, _scaled(dots), _scaled(flops))


def _scaled(table: dict[str, float]) -> dict[str, float]:
    return {name: rate * _T for name, rate in table.items()}
