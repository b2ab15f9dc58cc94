"""Who moves the tiles of a descriptor, seen in the machine code's source: the copy engine, or loads and stores."""

from __future__ import annotations

from typing import Any

import pytest

import tests.gpu.test_descriptors as kernels
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tests.conversion.ttg_to_llvm.harness import Gpu
from tritium.compiler import ASTSource, GPUTarget, compile

pytestmark = needs_ptxas


def made(fn: Any, constants: dict[str, Any], types: dict[str, Any], capability: int = 90, **options: Any) -> Gpu:
    """A kernel of the tests on GPUs; arguments without a type are i32."""
    signature = {n: "constexpr" if n in constants else types.get(n, "i32") for n in fn.arg_names}
    source = ASTSource(fn, signature, constants, {})
    return Gpu(compile(source, target=GPUTarget("cuda", capability, 32), options=options, until="cubin"))


HALVES = {"x": "*fp16", "y": "*fp16", "out": "*fp16"}
SINGLES = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "sizes": "*i32", "values": "*fp32"}
GIVEN = {"a": "tensordesc<fp16[64, 64]>", "b": "tensordesc<fp16[64, 64]>"}
TILE = {"BM": 64, "BN": 64}

CASES = [  # kernel, its constants and types, copies by the engine
    (kernels.copy_made, TILE, HALVES, 2),
    (kernels.copy_given, TILE, GIVEN, 2),
    (kernels.load_at, {**TILE, "EACH": 8, "PADDING": "nan"}, HALVES, 1),
    (kernels.load_at, {**TILE, "EACH": 1, "PADDING": "zero"}, HALVES, 0),
    (kernels.load_bits, {**TILE, "TYPE": tl.float8e5, "PADDING": "nan"}, {"x": "*i8", "out": "*fp32"}, 0),
    (kernels.load_bits, {**TILE, "TYPE": tl.float8e5, "PADDING": "zero"}, {"x": "*i8", "out": "*fp32"}, 1),
    (kernels.one, {"B": 1024}, HALVES, 2),  # the row that is written to may end anywhere: the kernel looks
    (kernels.three, {"B0": 2, "B1": 8, "B2": 64}, HALVES, 2),
    (kernels.sums, {"B": 16}, SINGLES, 1),
    (kernels.groups, {"B": 16}, SINGLES, 2),
    (kernels.carried, {"B": 16}, SINGLES, 0),
    (kernels.calls, {"B": 32}, SINGLES, 2),
]


@pytest.mark.parametrize(("fn", "constants", "types", "copies"), CASES)
def test_who_moves_tiles(fn, constants, types, copies) -> None:
    gpu = made(fn, constants, types)
    found = gpu.count(r"cp(\.reduce)?\.async\.bulk\.tensor")
    # loads that are pipelined stand in front of their loop, too
    assert (found == copies) if fn not in (kernels.sums, kernels.groups, kernels.calls) else (found >= copies)
    assert gpu.metadata.n_spills == 0
    for options in ({"without": "tma"}, {"capability": 80}):
        assert made(fn, constants, types, **options).count(r"cp\.async\.bulk\.tensor") == 0


def test_a_descriptor_of_the_host_is_a_parameter() -> None:
    gpu = made(kernels.copy_given, TILE, GIVEN)
    assert gpu.ptx.count(".param .align 64 .b8") == 2
    row = {
        "swizzle": 3,
        "elem_size": 2,
        "elem_type": 6,
        "block_size": (64, 64),
        "fp4_padded": False,
        "is_im2col": False,
    }
    assert [{**found, "block_size": tuple(found["block_size"])} for found in gpu.metadata.tensordesc_meta] == [row] * 2


@pytest.mark.parametrize(
    ("op", "dtype", "copies"), [("add", "fp32", 1), ("min", "fp16", 1), ("xor", "u64", 1), ("xor", "i64", 0)]
)
def test_reductions(op, dtype, copies) -> None:
    types = {"a": f"tensordesc<{dtype}[16, 32]>", "values": f"*{dtype}"}
    gpu = made(kernels.reduced, {"OP": op, "BM": 16, "BN": 32, "j": 16}, types)
    assert gpu.count(rf"cp\.reduce\.async\.bulk\.tensor\.2d\.global\.shared::cta\.{op}") == copies


def test_the_last_store_is_not_waited_for() -> None:
    """But for what it reads of shared memory: the end of the kernel waits for the rest."""
    assert made(kernels.copy_given, TILE, GIVEN).count(r"cp\.async\.bulk\.wait_group$") == 0
    assert made(kernels.groups, {"B": 16}, SINGLES).count(r"cp\.async\.bulk\.wait_group$") > 0
