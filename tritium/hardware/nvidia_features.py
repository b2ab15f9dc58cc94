"""Instructions that some NVIDIA GPUs have and others lack, by compute capability.

A `Feature` states the first capability with an instruction and, where later ones dropped it, the first without.
Source, where nothing else is stated: the target ISA notes of each instruction in the PTX ISA 8.8.

>>> from tritium.hardware.nvidia import nvidia_gpu
>>> [nvidia_gpu(c).has(WGMMA) for c in (80, 90, 100)]
[False, True, False]
>>> WGMMA.requirement, TMA.requirement
('sm_90', 'sm_90 or later')
"""

from __future__ import annotations

from ..support.dataclasses import dataclass

__all__ = [
    "ASYNC_COPY",
    "BF16_ARITHMETIC",
    "BF16_ATOMICS",
    "CLUSTERS",
    "DEPENDENT_LAUNCH",
    "ELECT",
    "F64_MMA_16X8",
    "FAST_F64_MMA",
    "FP8_CONVERSIONS",
    "FP8_MMA",
    "FP8_MMA_SYNC",
    "INTEGER_TO_BF16",
    "L2_CACHE_POLICY",
    "LAUNCH_CONTROL",
    "LDMATRIX",
    "LONG_VECTORS",
    "MIN_MAX_16_BITS",
    "MMA_SYNC",
    "REDUX",
    "REDUX_F32",
    "STMATRIX",
    "TMA",
    "TMA_GATHER",
    "TRY_WAIT",
    "VECTOR_ATOMICS",
    "WGMMA",
    "Feature",
]


@dataclass(frozen=True, slots=True)
class Feature:
    """An instruction, or a form of one, of the GPUs whose capability lies in one of `ranges` (first, past the last)."""

    name: str
    ranges: tuple[tuple[int, int], ...]

    def on(self, capability: int) -> bool:
        """Whether GPUs of that capability have it."""
        return any(first <= capability < end for first, end in self.ranges)

    @property
    def requirement(self) -> str:
        """The GPUs that have it, for messages: "sm_90 or later"."""
        return ", ".join(_span(first, end) for first, end in self.ranges)


_OPEN = 1000  # no GPU has dropped it


def _span(first: int, end: int) -> str:
    if end == _OPEN:
        return f"sm_{first} or later"
    return f"sm_{first}" if end - first <= 10 else f"sm_{first} to sm_{end - 1}"


def _since(name: str, first: int, end: int = _OPEN) -> Feature:
    return Feature(name, ((first, end),))


# -- arithmetic ---------------------------------------------------------------------------------------------------

BF16_ARITHMETIC = _since("fma.rn.bf16, cvt.bf16.f32", 80)
MIN_MAX_16_BITS = _since("min.f16, max.bf16", 80)
INTEGER_TO_BF16 = _since("cvt.rn.bf16.s32", 90)
FP8_CONVERSIONS = _since("cvt.e4m3x2.f32, cvt.e5m2x2.f32", 89)
REDUX = _since("redux.sync of integers", 80)
REDUX_F32 = _since("redux.sync of f32", 100, 110)

# -- matrices -----------------------------------------------------------------------------------------------------

MMA_SYNC = _since("mma.sync of f16, bf16, tf32, f64 and i8", 80)
F64_MMA_16X8 = _since("mma.sync.m16n8k16 of f64", 90)
FAST_F64_MMA = Feature("f64 tensor cores faster than FMA units", ((80, 81), (90, 91)))
"""CUDA C++ programming guide, throughput of native arithmetic instructions."""
FP8_MMA_SYNC = _since("mma.sync of fp8", 89)
FP8_MMA = Feature("fp8 multiplied by mma.sync", ((89, 90), (120, 130)))
"""sm_90 converts the operands of mma.sync and multiplies fp8 in wgmma only."""
WGMMA = _since("wgmma", 90, 100)
LDMATRIX = _since("ldmatrix", 75)
STMATRIX = _since("stmatrix", 90)

# -- memory -------------------------------------------------------------------------------------------------------

ASYNC_COPY = _since("cp.async", 80)
TMA = _since("cp.async.bulk.tensor", 90)
TMA_GATHER = _since("cp.async.bulk.tensor.tile::gather4", 100, 120)
L2_CACHE_POLICY = _since("createpolicy and .L2::cache_hint", 80)
BF16_ATOMICS = _since("atom.add.noftz.bf16", 90)
LONG_VECTORS = _since("ld.global.v8.b32", 100)
VECTOR_ATOMICS = _since("red.global.add.v4.f32", 90)

# -- threads, barriers, launch ------------------------------------------------------------------------------------

CLUSTERS = _since("clusters of CTAs", 90)
ELECT = _since("elect.sync", 90)
TRY_WAIT = _since("mbarrier.try_wait", 90)
DEPENDENT_LAUNCH = _since("griddepcontrol", 90)
LAUNCH_CONTROL = _since("clusterlaunchcontrol", 100)
