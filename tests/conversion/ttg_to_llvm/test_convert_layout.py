"""Layout conversions on the real path: text to LLVM to PTX, executed by the emulator, races and copies looked at."""

from __future__ import annotations

import random
import re

import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu
from tests.conversion.ttg_to_llvm.moving import check, compiled
from tests.layout.pairs import Machine, Pair, random_pair
from tritium.dialects.ttg_layouts import Blocked, DotOperand, NvidiaMma
from tritium.dialects.ttg_memory import SwizzledShared
from tritium.emulator import DataRace
from tritium.ir import VerificationError


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


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_rounds_use_the_same_memory(bits: int) -> None:
    """What both layouts have in registers moves in rounds, with a barrier before each but the first."""
    wide = Blocked((1, 2), (1, 32), (2, 1), (1, 0))
    pair = Pair((32, 64), wide, Blocked((1, 2), (4, 8), (2, 1), (1, 0)), Machine(2, 1, bits))
    gpu = converted(pair)
    rounds = 32 * 64 * bits // 8 // gpu.metadata.shared
    assert rounds >= 4
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


def test_generated_pairs_across_a_cluster(request: pytest.FixtureRequest) -> None:
    """Elements are loaded from where they are, in the memory of the other block."""
    remote = 0
    for seed in range(300 if request.config.getoption("--slow") else 10):
        pair = random_pair(random.Random(seed), 1 << 8, ctas=2)
        gpu = converted(pair)
        remote += gpu.count(r"ld\.shared::cluster") > 0
        try:
            check(gpu, pair.shape, pair.machine)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {pair}") from error
    assert remote > 2


BARRIER = re.compile(r"\tbar(rier)?\.\S*sync")


def test_without_a_barrier_something_races() -> None:
    """Three buffers and a conversion in a loop: no barrier of it may go, nor may those inside of the conversion."""
    rows, columns = Blocked((1, 4), (4, 8), (4, 1), (1, 0)), Blocked((4, 1), (8, 4), (1, 4), (0, 1))
    shared = SwizzledShared(4, 1, 8, (1, 0))
    body = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x32xi32, #c, #smem, mutable>
    %z = scf.for %i = %zero to %three step %one iter_args(%v = %wanted) -> (tensor<32x32xi32, #b>) : i32 {
      ttg.local_store %v, %m : tensor<32x32xi32, #b> -> !ttg.memdesc<32x32xi32, #c, #smem, mutable>
      %w = ttg.local_load %m : !ttg.memdesc<32x32xi32, #c, #smem, mutable> -> tensor<32x32xi32, #a>
      %t = ttg.convert_layout %w : tensor<32x32xi32, #a> -> tensor<32x32xi32, #b>
      scf.yield %t : tensor<32x32xi32, #b>
    }
    """
    machine = Machine(4, 1, 32)
    gpu = compiled((32, 32), [rows, columns, shared], body, machine)
    check(gpu, (32, 32), machine)
    lines = gpu.ptx.splitlines()
    end = next(i for i, line in enumerate(lines) if "st.global" in line)  # what follows is that of the assertion
    found = [i for i, line in enumerate(lines[:end]) if BARRIER.match(line)]
    assert len(found) >= 2
    for i in found:
        gpu.ptx = "\n".join([*lines[:i], *lines[i + 1 :]])
        with pytest.raises(DataRace):
            check(gpu, (32, 32), machine)


def cast(bits: int, element: str, there: str, back: str) -> str:
    """Elements become of another type, are moved as such, and come back."""
    return f"""
    %t = {there} %x : tensor<32x32xi{bits}, #a> -> tensor<32x32x{element}, #a>
    %u = ttg.convert_layout %t : tensor<32x32x{element}, #a> -> tensor<32x32x{element}, #b>
    %z = {back} %u : tensor<32x32x{element}, #b> -> tensor<32x32xi{bits}, #b>
    """


TYPES = [(64, "f64"), (32, "f32"), (16, "f16"), (16, "bf16"), (8, "f8E5M2"), (8, "f8E4M3FN")]
ROWS, COLUMNS = Blocked((1, 4), (4, 8), (2, 1), (1, 0)), Blocked((4, 1), (8, 4), (1, 2), (0, 1))
NEAR = Blocked((2, 2), (2, 16), (2, 1), (1, 0))


@pytest.mark.parametrize("target", [COLUMNS, NEAR])
@pytest.mark.parametrize("bits,element", TYPES)
def test_floats(bits: int, element: str, target: Blocked) -> None:
    machine = Machine(2, 1, bits)
    body = cast(bits, element, "tt.bitcast", "tt.bitcast")
    check(compiled((32, 32), [ROWS, target], body, machine), (32, 32), machine)


@pytest.mark.parametrize("target", [COLUMNS, NEAR])
def test_addresses(target: Blocked) -> None:
    machine = Machine(2, 1, 64)
    body = cast(64, "!tt.ptr<f32>", "tt.int_to_ptr", "tt.ptr_to_int")
    check(compiled((32, 32), [ROWS, target], body, machine), (32, 32), machine)


@pytest.mark.parametrize("target", [COLUMNS, NEAR])
def test_truth_values(target: Blocked) -> None:
    """The low bit of each element, moved by itself, is what the element says."""
    machine = Machine(2, 1, 32)
    body = """
    %t = arith.trunci %x : tensor<32x32xi32, #a> to tensor<32x32xi1, #a>
    %u = ttg.convert_layout %t : tensor<32x32xi1, #a> -> tensor<32x32xi1, #b>
    %v = arith.extui %u : tensor<32x32xi1, #b> to tensor<32x32xi32, #b>
    %low = arith.constant dense<-2> : tensor<32x32xi32, #b>
    %rest = arith.andi %wanted, %low : tensor<32x32xi32, #b>
    %z = arith.ori %rest, %v : tensor<32x32xi32, #b>
    """
    check(compiled((32, 32), [ROWS, target], body, machine), (32, 32), machine)


def test_shuffles_alone_where_that_is_asked_for() -> None:
    machine = Machine(2, 1, 32)
    dims = "tensor<32x32xi32"
    wish = "{force_warp_shuffle}"
    body = f"%z = ttg.convert_layout %x {wish} : {dims}, #a> -> {dims}, #b>"
    gpu = compiled((32, 32), [ROWS, Blocked((4, 1), (1, 32), (2, 1), (1, 0))], body, machine)
    assert gpu.count(r"shfl\.sync") > 0 and gpu.metadata.shared == 0
    check(gpu, (32, 32), machine)
    with pytest.raises(VerificationError, match="between warps"):
        compiled((32, 32), [ROWS, COLUMNS], body, machine)


def test_functions_that_are_called_have_shared_memory_of_their_own() -> None:
    """The buffer of the caller lives on while the function converts in scratch, behind it."""
    machine = Machine(2, 1, 32)
    tile, turned = "tensor<32x32xi32, #a>", "tensor<32x32xi32, #b>"
    buffer = "!ttg.memdesc<32x32xi32, #c, #smem>"
    function = f"""
  tt.func private @turn(%v: {tile}) -> {turned} attributes {{noinline = true}} {{
    %w = ttg.convert_layout %v : {tile} -> {turned}
    tt.return %w : {turned}
  }}"""
    body = f"""
    %m = ttg.local_alloc %x : ({tile}) -> {buffer}
    %one = tt.call @turn(%x) : ({tile}) -> {turned}
    %two = ttg.local_load %m : {buffer} -> {turned}
    %three = tt.call @turn(%x) : ({tile}) -> {turned}
    %both = arith.andi %one, %two : {turned}
    %z = arith.andi %both, %three : {turned}
    """
    gpu = compiled((32, 32), [ROWS, COLUMNS, SwizzledShared(4, 1, 8, (1, 0))], body, machine, functions=function)
    assert gpu.metadata.shared == 8192
    check(gpu, (32, 32), machine)
