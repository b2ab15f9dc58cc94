"""Registers: kernels keep theirs in the configurations that Triton's tutorials and published attention run them with."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tests.e2e.overlapping import _both_ways
from tests.example_kernels import cases
from tests.gpu_compile.test_examples import build
from tritium.backends.errors import PerformanceWarning
from tritium.compiler import ASTSource, GPUTarget, compile

pytestmark = needs_ptxas

CASES = {case.name: case for case in cases()}
TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
ATTENTION = ("BLOCK_M", "BLOCK_N", "HEAD_DIM")

#: The kernel, its tile, warps, stages, and the capabilities: what fills the registers of sm_80 is in shared memory of
#: sm_90's products.
CONFIGURATIONS = [
    ("matmul-fp16-leaky_relu", dict(zip(TILE, (128, 256, 64))), 8, 3, (80, 90)),
    ("matmul-fp16-leaky_relu", dict(zip(TILE, (64, 256, 32))), 4, 4, (80, 90)),
    ("matmul-fp16-leaky_relu", dict(zip(TILE, (128, 128, 64))), 4, 3, (80, 90)),
    ("matmul-fp16-leaky_relu", dict(zip(TILE, (128, 128, 32))), 4, 4, (80, 90)),
    ("matmul-fp32", dict(zip(TILE, (128, 128, 32))), 4, 3, (80, 90)),
    ("matmul-fp8e5", dict(zip(TILE, (128, 256, 128))), 8, 3, (90,)),
    ("matmul-fp8e5", dict(zip(TILE, (64, 256, 128))), 4, 4, (90,)),
    ("persistent_matmul-pointers", {"BLOCK_N": 256}, 8, 3, (80, 90)),
    ("persistent_matmul-pointers", {}, 4, 3, (80, 90)),
    ("attention-forward", dict(zip(ATTENTION, (128, 64, 64))), 4, 3, (80, 90)),
    ("attention-forward", dict(zip(ATTENTION, (64, 64, 128))), 4, 2, (80, 90)),
    ("attention-forward", dict(zip(ATTENTION, (128, 64, 128))), 8, 3, (80, 90)),
    ("attention-forward", dict(zip(ATTENTION, (64, 64, 128))), 8, 3, (80,)),  # one block has all shared memory
    ("attention-forward-causal", dict(zip(ATTENTION, (64, 64, 128))), 8, 4, (80,)),
    ("attention-forward", dict(zip(ATTENTION, (64, 64, 128))), 4, 3, (80,)),  # operands are read as they are needed
    ("matmul-fp32", dict(zip(TILE, (128, 128, 64))), 4, 3, (80,)),
    ("matmul-fp8e5", dict(zip(TILE, (128, 128, 64))), 4, 3, (80, 90)),  # the assembler is told to use few registers
    ("attention-backward_keys", dict(zip(ATTENTION, (64, 128, 64))), 4, 3, (80, 90)),
    ("persistent_matmul-descriptors", {}, 4, 3, (80, 90)),
]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")  # what comes from the cache warns of nothing


def pairs() -> list[Any]:
    return [
        pytest.param(name, tile, warps, stages, c, id=f"{name}-{'x'.join(map(str, tile.values()))}-{warps}-{c}")
        for name, tile, warps, stages, capabilities in CONFIGURATIONS
        for c in capabilities
    ]


@pytest.mark.sample(3, "name", "tile", "warps", "stages")
@pytest.mark.parametrize(("name", "tile", "warps", "stages", "capability"), pairs())
def test_no_register_is_kept_in_memory(
    name: str, tile: dict[str, int], warps: int, stages: int, capability: int
) -> None:
    case = CASES[name]
    options = {"num_warps": warps, "num_stages": stages}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        kernel = build(replace(case, constants={**case.constants, **tile}, options=options), capability)
    assert kernel.n_spills == kernel.metadata.stack_size == 0, kernel.n_regs


@pytest.mark.parametrize(
    ("name", "tile", "most"),
    [
        ("attention-backward_keys", dict(zip(ATTENTION, (64, 128, 64))), 160),  # room for two blocks: 464 for three
        ("grouped_matmul", {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64}, 300),  # 1,548, and 32 registers, for more
    ],
    ids=["as many as there is shared memory for", "one, as a thread has more in memory than in registers"],
)
def test_registers_are_kept_for_no_more_blocks_than_there_are(name: str, tile: dict[str, int], most: int) -> None:
    case = CASES[name]
    with pytest.warns(PerformanceWarning, match="registers per thread spilled"):
        options = {"num_warps": 4, "without": "ldmatrix-scheduling,register-pressure-scheduling,warps-for-accumulators"}
        kernel = build(replace(case, constants={**case.constants, **tile}, options=options), 80)
    assert kernel.n_regs == 255 and kernel.n_spills <= most


def test_code_for_few_registers_where_there_are_spills() -> None:
    case = CASES["matmul-fp8e5"]
    constants = {**case.constants, **dict(zip(TILE, (128, 128, 64)))}
    with pytest.warns(PerformanceWarning, match="registers per thread spilled"):
        kernel = build(replace(case, constants=constants, options={"without": "register-pressure-scheduling"}), 80)
    assert kernel.n_spills > 10  # 23, and none with them: above


def test_operands_are_read_as_products_need_them() -> None:
    case = CASES["attention-forward"]
    constants = {**case.constants, **dict(zip(ATTENTION, (128, 128, 64)))}
    spills = []
    for without in ("ldmatrix-scheduling", ""):
        with pytest.warns(PerformanceWarning, match="registers per thread spilled"):
            options = {"num_stages": 3, "without": without}
            spills.append(build(replace(case, constants=constants, options=options), 80).n_spills)
    assert spills[1] < 30 and spills[0] > 2 * spills[1]  # 101 and 8


def test_blocks_at_a_time_are_worth_more_than_a_few_spills() -> None:
    """Three blocks of 168 registers; two of 186 would spill nothing. (Where warps store their own rows, neither does.)"""
    case = CASES["attention-forward-causal"]
    constants = {**case.constants, **dict(zip(ATTENTION, (64, 64, 64)))}
    with pytest.warns(PerformanceWarning, match="registers per thread spilled"):
        options = {"num_stages": 2, "without": "store-mma-rows-per-warp"}
        kernel = build(replace(case, constants=constants, options=options), 80)
    assert kernel.n_regs == 168 and kernel.n_spills < 5


def test_a_limit_of_the_user_holds() -> None:
    """Also where a CTA has an SM for itself: without the limit it takes 144 registers. (`--maxrregcount` is no limit
    of kernels with `.reqntid`: ptxas ignores it.)"""
    case = CASES["attention-forward"]
    constants = {**case.constants, **dict(zip(ATTENTION, (64, 64, 128)))}
    options = {"num_warps": 8, "num_stages": 3, "maxnreg": 64}
    with pytest.warns(PerformanceWarning, match="registers per thread spilled"):
        kernel = build(replace(case, constants=constants, options=options), 80)
    assert kernel.n_regs <= 64 and kernel.n_spills


def test_addresses_are_computed_where_products_leave_few_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop keeps one address of a tile that it reads in eight places, and not eight."""
    constants = {"M": 64, "N": 32, "K": 64, "STAGES": 3}
    signature = {"own": "*fp16", "x": "*fp16", "out": "*fp32", "n": "i32"} | dict.fromkeys(constants, "constexpr")
    source = ASTSource(_both_ways, signature, constants, {(i,): [["tt.divisibility", 16]] for i in range(3)})
    registers, kept = [], []
    for few in (1000, 0):
        monkeypatch.setattr("tritium.conversion.ttg_to_llvm.module.HIGH_PRESSURE", few)
        kernel = compile(source, target=GPUTarget("cuda", 80, 32))
        loop = next(text for text in re.findall(_LOOP, kernel.asm["ptx"]) if "mma.sync" in text)
        kept.append(len(set(re.findall(r"%r\d+", loop)) - set(re.findall(r"\t\S+ \t\{?(%r\d+)", loop))))
        registers.append(kernel.n_regs)
    assert kept[1] <= kept[0] - 7 and registers[1] < registers[0]


@pytest.mark.parametrize("capability", [80, 90])
def test_positions_behind_a_loop_are_not_kept_in_it(capability: int) -> None:
    """Of products of 128 x 128 and 128 x 64 by four warps, whose sums take 192 registers of a thread."""
    signature = {"a": "*fp16", "b": "*fp16", "out": "*fp32", "n": "i32"}
    source = ASTSource(_in_two_loops, signature, {}, {(i,): [["tt.divisibility", 16]] for i in range(3)})
    numbers = []
    for without in ("rematerialize-after-loops", ""):
        kernel = compile(source, target=GPUTarget("cuda", capability, 32), options={"without": without})
        assert kernel.n_spills <= (2 if capability == 80 else 0)  # predicates of copies past the end
        numbers.append(kernel.asm["ptx"].count("%tid.x"))
    assert numbers == [1, 2]


@tritium.jit
def _in_two_loops(a, b, out, n):
    i, j, k = tl.arange(0, 128), tl.arange(0, 128), tl.arange(0, 32)
    half = tl.arange(0, 64)
    wide, narrow = tl.zeros((128, 128), tl.float32), tl.zeros((128, 64), tl.float32)
    for step in range(n):
        x = tl.load(a + i[:, None] * 32 + k[None, :] + step * 4096)
        wide = tl.dot(x, tl.load(b + k[:, None] * 128 + j[None, :] + step * 4096), wide)
        narrow = tl.dot(x, tl.load(b + k[:, None] * 64 + half[None, :] + step * 2048), narrow)
    tl.store(out + i[:, None] * 128 + j[None, :], wide)
    for step in range(n):
        x = tl.load(a + i[:, None] * 96 + k[None, :] * 3 + step * 4096)
        narrow = tl.dot(x, tl.load(b + k[:, None] * 192 + half[None, :] + step * 2048), narrow)
    tl.store(out + 16384 + i[:, None] * 64 + half[None, :], narrow)


_LOOP = r"\$L__BB0_\d+:((?:(?!\$L__BB)[^\0])*bra\s+\$L__BB0_\d+;)"
