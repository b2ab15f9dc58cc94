"""`tritium analyse`: what it tells of kernels agrees with the instructions they were compiled to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.example_kernels import EXAMPLES, ExampleKernel, cases, load
from tritium.backends.errors import BackendError
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.tools.analyse import main
from tritium.tools.compile import Request

pytestmark = needs_ptxas
ADD = f"{EXAMPLES / 'vector_add.py'}::add_kernel"
TYPES = "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))


def compiled(case: ExampleKernel, capability: int) -> Any:
    fn = getattr(load(case.example), case.kernel)
    source = ASTSource(fn, case.signature, case.constants, case.attrs)
    return compile(source, target=GPUTarget("cuda", capability, 32), options=case.options)


CASES = {c.name: c for c in cases()}
NAMES = ("fused_softmax", "layer_norm-backward_dwdb", "matmul-fp16-leaky_relu", "attention-forward", "grouped_matmul")


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("name", NAMES)
def test_predicted_accesses_are_those_of_the_ptx(name: str, capability: int) -> None:
    """Every matrix access and every asynchronous copy of the PTX is one that was predicted, as often."""
    kernel = compiled(CASES[name], capability)
    found = kernel.analysis()
    text = re.sub(r"//[^\n]*", "", kernel.asm["ptx"])
    for word in ("ldmatrix", "stmatrix"):
        predicted = sum(a.instructions for a in found.accesses if a.instruction.startswith(word))
        assert predicted == len(re.findall(rf"\b{word}\.", text)), (word, found.accesses)
    stores = sum(a.instructions for a in found.accesses if a.instruction.startswith("st.shared"))
    assert stores <= len(re.findall(r"\bst\.shared", text))
    assert found.registers.each == kernel.n_regs and found.shared >= kernel.metadata.shared
    assert max((b.offset + b.bytes for b in found.buffers), default=0) <= found.shared


@pytest.mark.parametrize(("capability", "instruction"), [(80, "mma.sync"), (90, "wgmma.mma_async")])
def test_products_and_their_loops(capability: int, instruction: str) -> None:
    found = compiled(CASES["matmul-fp16-leaky_relu"], capability).analysis()
    products = found.instructions["products"]
    assert products and all(p.name.startswith(instruction) and 0 < p.in_loops <= p.number for p in products)
    assert found.warps == 8 and found.occupancy.blocks >= 1 and found.occupancy.warps == 8 * found.occupancy.blocks
    assert any(b.tile.startswith("128x64xf16") for b in found.buffers)
    json.dumps(found.as_json())


def test_specialized_warps_and_rings_of_buffers() -> None:
    case = CASES["persistent_matmul-descriptors"]
    tile = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "WARP_SPECIALIZE": True}
    options = {"num_warps": 8, "num_stages": 3}
    found = compiled(replace(case, constants={**case.constants, **tile}, options=options), 90).analysis()
    default, *others = found.partitions
    assert default.name == "default" and default.warps == 8 and others
    assert found.warps == 8 + sum(p.warps for p in others) > 8
    assert all(p.registers < default.registers for p in others)
    rings = sorted(b.bytes for b in found.buffers if b.stages == 3 and b.tile.endswith("nvmma_shared"))
    assert rings == [3 * 128 * 64 * 2, 3 * 64 * 256 * 2]
    assert any(c.name.startswith("cp.async.bulk.tensor.2d.shared") for c in found.instructions["copies"])
    assert {p.name for p in found.instructions["products"]} == {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"}
    json.dumps(found.as_json())


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(ADD, "cuda:90", TYPES)
    assert main(request) == 0
    shown = capsys.readouterr().out
    assert "add_kernel for cuda:90, 4 warps a block" in shown and "ld.global.v4.b32" in shown
    assert main(request, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["registers"]["limit"] == 255 and told["occupancy"]["most"] == 64 and told["remarks"] == []


def test_from_the_cache_all_of_it_is_known() -> None:
    first, again = (compiled(CASES["fused_softmax"], 90) for _ in range(2))
    assert again.times == {} and again.analysis() == first.analysis()


def test_other_targets_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Request(ADD, "cpu", TYPES)) == 1
    assert "not analysed" in capsys.readouterr().err
    source = ASTSource(load("vector_add").add_kernel, CASES["vector_add"].signature, {"BLOCK_SIZE": 64})
    with pytest.raises(BackendError, match="kernels for cpu are not analysed"):
        compile(source, target=GPUTarget("cpu", "", 1)).analysis()
