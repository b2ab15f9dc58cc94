"""Specialized loops in the machine code's source: who has how many registers, and that they are enough."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.conversion.ttg_to_llvm.harness import Gpu
from tests.e2e.kernels import module_from
from tests.gpu.test_specialized_loops import ATTENTION, PERSISTENT, PRODUCT
from tritium.compiler import ASTSource, GPUTarget, compile

pytestmark = needs_ptxas


def made(text: str, folder: Any, tiles: dict[str, tuple[int, int]], constants: dict[str, int], **options: Any) -> Gpu:
    kernel = module_from(text, folder).kernel
    signature = {n: "constexpr" if n in constants else "i32" for n in kernel.arg_names}
    signature |= {n: f"tensordesc<fp16[{r},{c}]>" for n, (r, c) in tiles.items()}
    if "scale" in signature:
        signature["scale"] = "fp32"
    source = ASTSource(kernel, signature, constants, {})
    return Gpu(compile(source, target=GPUTarget("cuda", 90, 32), options=options, until="cubin"))


def registers(gpu: Gpu) -> list[str]:
    """What a thread begins with, and what is given out anew."""
    begin = re.findall(r"\.maxnreg (\d+)", gpu.ptx)
    return [*begin, *dict.fromkeys(re.findall(r"setmaxnreg\.\w+\.sync\.aligned\.u32\s+(\d+)", gpu.ptx))]


@pytest.mark.parametrize(
    ("shape", "warps", "stages", "given"),
    [
        ((128, 128, 64), 4, 3, ["128", "216", "40"]),  # two blocks share a multiprocessor
        ((128, 128, 64), 4, 4, ["128", "216", "40"]),  # with three slots
        ((128, 64, 64), 4, 3, ["80", "136", "24"]),  # three blocks
        ((64, 256, 64), 4, 3, []),  # one instruction adds to 128 registers: ptxas wants more to begin with
        ((128, 128, 64), 8, 3, ["168", "232", "40"]),
        ((128, 256, 64), 8, 4, ["168", "232", "40"]),
    ],
    ids=str,
)
def test_dots(shape, warps, stages, given, tmp_path):
    m, n, k = shape
    tiles = {"a": (m, k), "b": (n, k), "c": (m, n)}
    gpu = made(PRODUCT, tmp_path, tiles, {"M": m, "N": n, "BLOCK": k}, num_warps=warps, num_stages=stages)
    assert registers(gpu) == given
    assert gpu.metadata.n_spills == 0


@pytest.mark.parametrize("shape", [(128, 256, 64), (256, 128, 64), (128, 128, 64)], ids=str)
def test_persistent_dots(shape, tmp_path):
    m, n, k = shape
    tiles = {"a": (m, k), "b": (n, k), "c": (m, n)}
    constants = {"M": m, "N": n, "BLOCK": k, "FLATTEN": 1}
    gpu = made(PERSISTENT, tmp_path, tiles, constants, num_warps=8, num_stages=3)
    assert registers(gpu) == ["168", "232", "40"]
    assert gpu.metadata.n_spills == 0


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(
    ("shape", "warps", "given"),
    [
        ((128, 128, 128), 8, ["168", "232", "40"]),
        ((128, 128, 64), 8, ["168", "232", "40"]),
        ((128, 64, 64), 4, ["128", "216", "40"]),
        ((64, 64, 64), 4, ["80", "136", "24"]),
        ((64, 32, 128), 4, ["128", "216", "40"]),
    ],
    ids=str,
)
def test_attention(shape, warps, given, causal, tmp_path):
    m, n, d = shape
    tiles = {"q_of": (m, d), "k": (n, d), "v": (n, d), "o": (m, d)}
    constants = {"M": m, "N": n, "D": d, "CAUSAL": causal}
    gpu = made(ATTENTION, tmp_path, tiles, constants, num_warps=warps, num_stages=2)
    assert registers(gpu) == given
    assert gpu.metadata.n_spills == 0
