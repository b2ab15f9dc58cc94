"""What an inspection warns of: each kernel here has one fault, and the finding names its line."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import tritium as triton
import tritium.language as tl
from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tests.example_kernels import cases, load
from tritium.backends.findings import Finding
from tritium.backends.nvidia.findings import findings_of_resources
from tritium.backends.nvidia.inspection import Registers
from tritium.backends.nvidia.remarks import explain
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.hardware.occupancy import Occupancy
from tritium.ir.parser import parse_module


@triton.jit
def column(x, y, stride, N: tl.constexpr):
    offsets = tl.arange(0, N)
    values = tl.load(x + offsets * stride)  # the column
    tl.store(y + offsets, values)


@triton.jit
def padded(x, y, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    values = tl.load(x + offsets, mask=offsets < n)  # masked
    tl.store(y + offsets, values)


@triton.jit
def crowded(x, y, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    a = tl.load(x + offsets)
    for _ in range(n):
        a = tl.cumsum(a, 0) + tl.flip(a, 0)  # crowded here
    tl.store(y + offsets, a)


def inspect(
    fn: Any, integer: str, divisible: tuple[int, ...] = (0, 1), capability: int = 90, n: int = 1024, **options: Any
) -> Any:
    attrs = {(i,): [["tt.divisibility", 16]] for i in divisible}
    source = ASTSource(fn, {"x": "*fp32", "y": "*fp32", integer: "i32"}, {"N": n}, attrs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, target=GPUTarget("cuda", capability, 32), options=options).inspect()


def of_kind(found: Any, kind: str) -> list[Finding]:
    return [f for f in found.findings if f.kind == kind]


@needs_ptxas
def test_uncoalesced_accesses_name_their_line() -> None:
    found = inspect(column, "stride")
    (slow,) = of_kind(found, "uncoalesced-access")
    assert slow.source.endswith("# the column") and slow.place.startswith("test_findings.py:")
    assert "256 sectors of 32 bytes; its bytes would fit in 32" in slow.message and "tl.constexpr" in slow.hint
    attrs = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}
    known = ASTSource(column, {"x": "*fp32", "y": "*fp32"}, {"N": 1024, "stride": 1}, attrs)
    assert compile(known, target=GPUTarget("cuda", 90, 32)).inspect().findings == ()


@needs_ptxas
def test_narrow_accesses_say_why() -> None:
    (slow,) = of_kind(inspect(padded, "n"), "narrow-access")
    assert slow.source.endswith("# masked") and "32 bits per instruction, of 128 possible" in slow.message
    assert "divisible by 16" in slow.hint
    assert not of_kind(inspect(padded, "n", (0, 1, 2)), "narrow-access")


@needs_ptxas
@needs_nvdisasm
def test_spills_name_the_lines_that_spill() -> None:
    found = inspect(crowded, "n", n=8192, num_warps=4, maxnreg=32)
    spills = of_kind(found, "spills")
    assert found.registers.spilled and found.registers.spill_stores and 1 <= len(spills) <= 4
    line = 1 + Path(__file__).read_text().partition("# crowded here")[0].count("\n")  # or of a function it calls
    assert any(f.source.endswith("# crowded here") or f"test_findings.py:{line}" in f.message for f in spills), spills
    assert all("registers per thread spilled to local memory" in f.message for f in spills)
    assert {m.name.partition(".")[0] for m in found.memory if m.space == "local"} == {"LDL", "STL"}
    (live,) = of_kind(found, "live-registers")
    assert live.source.endswith("# crowded here") and "fill 129 registers of each thread" in live.message, live
    assert "64" in live.message and "(tensor<8192xf32>)" in live.message


@needs_ptxas
def test_good_kernels_are_not_warned_of() -> None:
    table = {c.name: c for c in cases()}
    for name in ("vector_add", "matmul-fp16-leaky_relu", "attention-forward", "persistent_matmul-descriptors"):
        case = table[name]
        source = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
        found = compile(source, target=GPUTarget("cuda", 90, 32), options=case.options).inspect()
        assert found.findings == (), name


MODULE = """
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #b}>
#c = #ttg.dot_op<{opIdx = 1, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #c>, %d: tensor<16x16xf32, #b>) {
    %0 = tt.dot %a, %b, %d : tensor<16x16xf16, #a> * tensor<16x16xf16, #c> -> tensor<16x16xf32, #b> loc("k.py":7:3)
    tt.return
  } loc("k.py":2:1)
}
"""


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("(C7510) wgmma.mma_async instructions are serialized due to insufficient register resources", "serialized-wgmma",
         "k.py:7:3"),
        ("Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.", "ignored-setmaxnreg",
         "k.py:2:1"),
        ("something else", "other", "k.py:2:1"),
    ],
)  # fmt: skip
def test_remarks_of_the_assembler_have_a_line(text: str, kind: str, place: str) -> None:
    registers = Registers(255, 255, 0, 0, 0, 0)
    (found,) = findings_of_resources(
        parse_module(MODULE), registers, Occupancy(1, 4, 64, "registers"), [explain(text)], []
    )
    assert (found.kind, found.place) == (kind, place) and found.message


def test_occupancy_matters_where_nothing_else_hides_latencies() -> None:
    registers = Registers(255, 255, 0, 0, 0, 0)
    few, many = Occupancy(1, 4, 64, "shared memory"), Occupancy(8, 32, 64, "warps")
    (low,) = findings_of_resources(None, registers, few, [], [])
    assert low.kind == "low-occupancy" and "4 of 64 warps" in low.message and "num_stages" in low.hint
    assert list(findings_of_resources(None, registers, many, [], [])) == []
    assert list(findings_of_resources(parse_module(MODULE), registers, few, [], [])) == []


def test_memory_of_a_thread_without_spills() -> None:
    registers = Registers(40, 255, 0, 0, 0, 128)
    (found,) = findings_of_resources(None, registers, Occupancy(8, 64, 64, "warps"), [], [])
    assert found.kind == "local-memory" and "128 bytes" in found.message
