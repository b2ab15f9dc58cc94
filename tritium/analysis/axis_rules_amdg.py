"""Axis info of operations of the amdg dialect; `axis_info` includes these rules once the dialect is loaded."""

from __future__ import annotations

from math import gcd

from ..dialects import amdg
from ..ir import shape_of
from .axis_facts import AxisInfo
from .axis_rules import Rule

__all__ = ["AMDG_RULES"]


def _extract_slice(op: amdg.ExtractSlice, a: AxisInfo) -> AxisInfo:
    contiguity, divisibility, constancy = [], [], []
    for axis, (start, n) in enumerate(zip(op.static_offsets, shape_of(op.results[0].type))):
        size = gcd(start, a.contiguity[axis], n)
        contiguity.append(size)
        divisibility.append(a.divisor(axis, start if size == n else size))
        constancy.append(gcd(start, a.constancy[axis], n))
    return a.arranged(contiguity, divisibility, constancy)


AMDG_RULES: dict[type, Rule] = {amdg.ExtractSlice: _extract_slice}
