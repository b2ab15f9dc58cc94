"""Layout conversions on the real path: text to LLVM to PTX, executed by the emulator, races and copies looked at."""

from __future__ import annotations

import random

import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu
from tests.conversion.ttg_to_llvm.moving import check, compiled
from tests.layout.pairs import Machine, Pair, random_pair
from tritium.dialects.ttg_layouts import Blocked, DotOperand, NvidiaMma


def converted(pair: Pair, capability: int = 90) -> Gpu:
    """The kernel that converts."""
    dims, bits = "x".join(map(str, pair.shape)), pair.machine.bits
    body = f"%z = ttg.convert_layout %x : tensor<{dims}xi{bits}, #a> -> tensor<{dims}xi{bits}, #b>"
    return compiled(pair.shape, [pair.source, pair.target], body, pair.machine, capability)


def convert(pair: Pair, capability: int = 90) -> None:
    check(converted(pair, capability), pair.shape, pair.machine)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("warps", [2, 4])
def test_transposing(bits: int, warps: int) -> None:
    v = 128 // bits
    rows = Blocked((1, v), (4, 8), (warps, 1), (1, 0))
    columns = Blocked((v, 1), (8, 4), (1, warps), (0, 1))
    convert(Pair((32, 32), rows, columns, Machine(warps, 1, bits)))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_within_warps_by_shuffles(bits: int) -> None:
    """A register bit and a lane bit change places: no shared memory, no barrier."""
    rows = Blocked((1, 4), (4, 8), (2, 1), (1, 0))
    columns = Blocked((2, 2), (2, 16), (2, 1), (1, 0))
    pair = Pair((8, 32), rows, columns, Machine(2, 1, bits))
    gpu = converted(pair)
    assert gpu.count(r"shfl\.sync\.bfly") + gpu.count(r"shfl\.sync\.idx") == max(2, bits // 8)
    assert gpu.metadata.shared == 0 and gpu.count(r"(ld|st)\.shared") == 0
    check(gpu, pair.shape, pair.machine)


def test_lanes_that_become_copies() -> None:
    """The operand of a product without tensor cores: all lanes of a column hold all of it."""
    parent = Blocked((4, 4), (2, 16), (1, 1), (1, 0))
    pair = Pair((16, 64), Blocked((1, 4), (2, 16), (1, 1), (1, 0)), DotOperand(1, parent, 0), Machine(1, 1, 32))
    gpu = converted(pair)
    assert gpu.count(r"shfl\.sync") > 0
    check(gpu, pair.shape, pair.machine)


def test_mma_operands_by_ldmatrix() -> None:
    """16 rows of 16 elements: one instruction moves the four matrices of a warp."""
    parent = NvidiaMma(versionMajor=2, warpsPerCTA=(2, 1), CGALayout=(), instrShape=(16, 8))
    rows = Blocked((1, 8), (16, 2), (2, 1), (1, 0))
    pair = Pair((32, 32), rows, DotOperand(0, parent, 2), Machine(2, 1, 16))
    gpu = converted(pair)
    assert gpu.count(r"ldmatrix\.sync\.aligned\.m8n8\.x4") == 2 and gpu.count(r"st\.shared\.v4") == 2
    check(gpu, pair.shape, pair.machine)


def test_mma_results_by_matrices() -> None:
    """Stored by vectors and loaded by ldmatrix, so that the order of memory is the other layout's: sm_80 does it too."""
    parent = NvidiaMma(versionMajor=2, warpsPerCTA=(2, 1), CGALayout=(), instrShape=(16, 8))
    pair = Pair((32, 32), parent, Blocked((1, 8), (8, 4), (2, 1), (1, 0)), Machine(2, 1, 16))
    for capability in (80, 90):
        gpu = converted(pair, capability)
        assert gpu.count(r"(ldmatrix|stmatrix)\.sync\.aligned\.m8n8\.x4") == 2
        assert gpu.count(r"(ld|st)\.shared\.v4") == 2 and gpu.count(r"(ld|st)\.shared") == 2
        check(gpu, pair.shape, pair.machine)


def test_generated_pairs(request: pytest.FixtureRequest) -> None:
    """Compiled and emulated; thousands more are simulated in tests/layout/test_exchange.py."""
    for seed in range(1000 if request.config.getoption("--slow") else 24):
        rng = random.Random(seed)
        pair = random_pair(rng, 1 << 8)
        try:
            convert(pair, rng.choice([80, 90]))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {pair}") from error
