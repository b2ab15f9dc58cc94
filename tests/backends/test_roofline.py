"""What a launch must do, counted from the tile program, against the formulas of the textbook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.example_kernels import cases, load
from tritium.backends.errors import BackendError
from tritium.backends.roofline import Launch, Rates, roofline_of
from tritium.backends.workload import WorkloadError, workload_of
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.ir.parser import parse_module

CASES = {c.name: c for c in cases()}


def module_of(fn: Any, types: dict[str, str], values: dict[str, Any], **attrs: Any) -> Any:
    kernel = compile(ASTSource(fn, types, values, **attrs), target=GPUTarget("cuda", 90, 32), until="ttir")
    return parse_module(kernel.asm["ttir"], "kernel.ttir")


def example(name: str) -> Any:
    case = CASES[name]
    return module_of(getattr(load(case.example), case.kernel), case.signature, case.constants, attrs=case.attrs)


@pytest.mark.parametrize("name", ["matmul-fp16-leaky_relu", "persistent_matmul-pointers"])
@pytest.mark.parametrize(("m", "n", "k"), [(1024, 512, 2048), (384, 640, 128)])
def test_products_are_two_m_n_k(name: str, m: int, n: int, k: int) -> None:
    """One program a tile, or a few programs that take tiles in turn: the same work."""
    sizes = {"a_ptr": (m, k), "b_ptr": (k, n), "c_ptr": (m, n), "M": m, "N": n, "K": k}
    grid = 132 if name.startswith("persistent") else (m // 128) * (n // 128)
    work = workload_of(example(name), sizes, (grid,))
    assert work.dots == {"f16": 2 * m * n * k} and work.sampled == work.programs == grid
    assert work.read == {"a_ptr": 2 * m * k, "b_ptr": 2 * k * n} and work.written == {"c_ptr": 2 * m * n}
    assert work.requested == 2 * (m * n + (m // 128) * (n // 128) * 2 * 128 * k) and work.notes == ()


FLAGS = """
tt.func public @flags(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %z: !tt.ptr<i32>) {
  %v = tt.atomic_load acquire, gpu, %x : (!tt.ptr<i32>) -> i32
  tt.atomic_store release, gpu, %y, %v : !tt.ptr<i32>
  %seen = tt.atomic_poll acquire, gpu, %z, %v : !tt.ptr<i32>, i32 -> i1
  tt.return
}
"""


def test_atomic_loads_stores_and_polls_access_their_arrays() -> None:
    sizes = dict.fromkeys(("x", "y", "z"), (1,))
    work = workload_of(parse_module(FLAGS), sizes, (1,))
    assert work.read == {"x": 4, "z": 4} and work.written == {"y": 4}


def test_a_sample_of_many_programs_stands_for_all() -> None:
    """Causal attention: programs do different work, along an axis that a careless sample would miss."""
    n, heads = 4096, 64
    sizes = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), (heads, n, 64))
    work = workload_of(
        example("attention-forward-causal"), {**sizes, "logsum_ptr": (heads, n), "N_CTX": n}, (n // 64, heads)
    )
    exact = heads * sum(4 * 64 * 64 * 64 * (i + 1) for i in range(n // 64))
    assert work.sampled == 256 < work.programs == 4096
    assert work.dots["f16"] == pytest.approx(exact, rel=0.01)


@triton.jit
def branches(x, n, table, DEPTH: tl.constexpr):
    if tl.program_id(0) >= n:
        return
    i = 0
    total = tl.zeros([64], tl.float32)
    while i < DEPTH:
        total += 1.0
        i += 1
    for _ in range(tl.load(table)):
        total *= 2.0
    tl.store(x + tl.arange(0, 64), total)


def test_conditions_loops_and_what_is_not_known() -> None:
    module = module_of(branches, {"x": "*fp32", "n": "i32", "table": "*i32"}, {"DEPTH": 5})
    work = workload_of(module, {"n": 3, "x": 64, "table": 1}, (8,))
    assert work.flops == {"f32": 3 * 5 * 64} and work.read == {"table": 4} and work.written == {"x": 256}
    assert any("the number of iterations is not known" in note and "test_roofline.py:" in note for note in work.notes)
    blind = workload_of(module, {"x": 64}, (8,))
    assert any("a condition is not known" in note for note in blind.notes)
    assert "the size of table is not given: its bytes are left out" in blind.notes


@triton.jit
def reduced(x, y, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, N))
    tl.store(y, tl.sum(values * values))


def test_reductions_and_arrays() -> None:
    module = module_of(reduced, {"x": "*fp32", "y": "*fp32"}, {"N": 256})
    work = workload_of(module, {"x": np.zeros(256, np.float32), "y": np.zeros(1, np.float32)}, (1,))
    assert work.flops == {"f32": 256 + 255} and work.bytes == 4 * 257


def test_roofline_is_the_largest_part() -> None:
    kernel = compile(ASTSource(reduced, {"x": "*fp32", "y": "*fp32"}, {"N": 256}), target=GPUTarget("cuda", 90, 32))
    launch = Launch((10,), {"x": 256, "y": 1}, Rates("a machine", 1e3, {"": 1.0}, {"": 1e3}))
    bound = roofline_of(launch, kernel.asm, None)
    assert bound.parts == {"memory": 4 * 257 / 1e3, "dot": 0, "arithmetic": 5.11} and bound.limit == "arithmetic"
    assert bound.seconds == 5.11 and bound.assumptions[0].startswith("a machine: 1 kB/s, 1 kFLOP/s")
    with pytest.raises(BackendError, match="needs the peak rates of the machine"):
        roofline_of(Launch((10,), {}), kernel.asm, None)
    with pytest.raises(WorkloadError, match="the kernel has no parameter 'z'"):
        kernel.inspect(grid=(10,), arguments={"z": 1})
