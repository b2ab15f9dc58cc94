"""What is predicted for accesses to global memory, against the addresses that the lanes of a warp really have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.analysis.global_access import SECTOR, GlobalAccess, global_accesses
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.dialects.ttg_maps import linear_layout_of
from tritium.ir import functions_of
from tritium.ir.parser import parse_module


@triton.jit
def strided(x, y, A: tl.constexpr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * A + columns[None, :] * B)
    tl.store(y + rows[:, None] * N + columns[None, :], values)


@triton.jit
def masked(x, y, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n))


@triton.jit
def unknown_stride(x, y, stride, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(y + offsets, tl.load(x + offsets * stride))


def accesses(
    fn: Any, types: dict[str, str], values: dict[str, Any], divisible: tuple[int, ...] = (0, 1)
) -> dict[str, GlobalAccess]:
    attrs = {(i,): [["tt.divisibility", 16]] for i in divisible}
    kernel = compile(ASTSource(fn, types, values, attrs), target=GPUTarget("cuda", 90, 32), until="ttgir")
    module = parse_module(kernel.asm["ttgir"], "kernel")
    return {a.action: a for func in functions_of(module) for a in global_accesses(func)}


def touched(op: Any, strides: tuple[int, int], size: int) -> tuple[int, int]:
    """Sectors of the first warp's addresses, and sectors that its bytes would fill."""
    layout = linear_layout_of(op.ptr.type)
    addresses = set()
    for register in range(layout.ins["register"]):
        for lane in range(32):
            i, j = layout.apply(register=register, lane=lane, warp=0, block=0).values()
            addresses.add(size * (i * strides[0] + j * strides[1]))
    sectors = {(a + b) // SECTOR for a in addresses for b in range(size)}
    return len(sectors), -(-len(addresses) * size // SECTOR)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8", "fp64"])
@pytest.mark.parametrize("strides", [(1024, 1), (1, 1024), (16, 1), (0, 1), (3, 200), (1024, 64)])
@pytest.mark.parametrize("shape", [(64, 64), (16, 128), (128, 16)])
def test_sectors_are_those_of_the_addresses(dtype: str, strides: tuple[int, int], shape: tuple[int, int]) -> None:
    values = {"A": strides[0], "B": strides[1], "M": shape[0], "N": shape[1]}
    found = accesses(strided, {"x": f"*{dtype}", "y": f"*{dtype}"}, values)
    size = {"fp32": 4, "fp16": 2, "i8": 1, "fp64": 8}[dtype]
    for action, steps in (("load", strides), ("store", (shape[1], 1))):
        sectors, needed = touched(found[action].op, steps, size)
        assert (found[action].sectors, found[action].needed) == (sectors, needed), action


def test_the_reason_of_narrow_instructions() -> None:
    types = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    assert accesses(masked, types, {"N": 1024})["load"].narrow == "mask"
    wide = accesses(masked, types, {"N": 1024}, (0, 1, 2))["load"]
    assert (wide.bits, wide.possible, wide.narrow, wide.instructions) == (128, 128, "", 2)
    loose = accesses(masked, types, {"N": 1024}, (1, 2))["load"]
    assert (loose.bits, loose.narrow) == (32, "alignment")


def test_of_unknown_strides_the_worst_is_taken() -> None:
    found = accesses(unknown_stride, {"x": "*fp32", "y": "*fp32", "stride": "i32"}, {"N": 1024})
    load, store = found["load"], found["store"]
    assert load.sectors == 32 * load.instructions and load.narrow == "contiguity"
    assert store.sectors == store.needed == np.prod([1024, 4]) // 4 // SECTOR
