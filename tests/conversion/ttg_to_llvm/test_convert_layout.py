"""Layout conversions on the real path: text to LLVM to PTX, executed by the emulator, races and copies looked at."""

from __future__ import annotations

import random

import pytest

from tests.conversion.ttg_to_llvm.moving import check, compiled
from tests.layout.pairs import Machine, Pair, random_pair
from tritium.dialects.ttg_layouts import Blocked


def convert(pair: Pair, capability: int = 90) -> None:
    dims, bits = "x".join(map(str, pair.shape)), pair.machine.bits
    body = f"%z = ttg.convert_layout %x : tensor<{dims}xi{bits}, #a> -> tensor<{dims}xi{bits}, #b>"
    gpu = compiled(pair.shape, [pair.source, pair.target], body, pair.machine, capability)
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("warps", [1, 4])
def test_transposing(bits: int, warps: int) -> None:
    v = 128 // bits
    rows = Blocked((1, v), (4, 8), (warps, 1), (1, 0))
    columns = Blocked((v, 1), (8, 4), (1, warps), (0, 1))
    convert(Pair((32, 64), rows, columns, Machine(warps, 1, bits)))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_within_warps_by_shuffles(bits: int) -> None:
    """A register bit and a lane bit change places: no shared memory, no barrier."""
    rows = Blocked((1, 4), (4, 8), (2, 1), (1, 0))
    columns = Blocked((2, 2), (2, 16), (2, 1), (1, 0))
    pair = Pair((8, 32), rows, columns, Machine(2, 1, bits))
    dims = "8x32"
    body = f"%z = ttg.convert_layout %x : tensor<{dims}xi{bits}, #a> -> tensor<{dims}xi{bits}, #b>"
    gpu = compiled(pair.shape, [pair.source, pair.target], body, pair.machine)
    assert gpu.count(r"shfl\.sync\.bfly") + gpu.count(r"shfl\.sync\.idx") == max(2, bits // 8)
    assert gpu.metadata.shared == 0 and gpu.count("bar") == 0
    check(gpu, pair.shape, pair.machine)


def test_generated_pairs(request: pytest.FixtureRequest) -> None:
    """Compiled and emulated; thousands more are simulated in tests/layout/test_exchange.py."""
    for seed in range(1000 if request.config.getoption("--slow") else 40):
        pair = random_pair(random.Random(seed), 1 << 9)
        try:
            convert(pair, 80)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {pair}") from error
