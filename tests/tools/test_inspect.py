"""`tritium inspect`: what it tells of kernels agrees with the instructions they were compiled to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tests.example_kernels import EXAMPLES, ExampleKernel, cases, load
from tritium.backends.errors import BackendError, ToolMissing
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import settings
from tritium.tools.disasm import get_listing
from tritium.tools.inspection import InspectOptions, main
from tritium.tools.request import Request

pytestmark = [needs_ptxas, pytest.mark.usefixtures("triton_alias")]
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


@pytest.mark.sample(2, "name")
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("name", NAMES)
def test_predicted_accesses_are_those_of_the_ptx(name: str, capability: int) -> None:
    """Every matrix access and every asynchronous copy of the PTX is one that was predicted, as often."""
    kernel = compiled(CASES[name], capability)
    found = kernel.inspect()
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
    found = compiled(CASES["matmul-fp16-leaky_relu"], capability).inspect()
    products = found.instructions["mma"]
    assert products and all(p.name.startswith(instruction) and 0 < p.in_loops <= p.number for p in products)
    assert found.warps == 8 and found.occupancy.ctas >= 1 and found.occupancy.warps == 8 * found.occupancy.ctas
    assert any(b.tile.startswith("128x64xf16") for b in found.buffers)
    json.dumps(found.as_json())


def test_specialized_warps_and_rings_of_buffers() -> None:
    case = CASES["persistent_matmul-descriptors"]
    tile = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "WARP_SPECIALIZE": True}
    options = {"num_warps": 8, "num_stages": 3}
    found = compiled(replace(case, constants={**case.constants, **tile}, options=options), 90).inspect()
    default, *others = found.partitions
    assert default.name == "default" and default.warps == 8 and others
    assert found.warps == 8 + sum(p.warps for p in others) > 8
    assert all(p.registers < default.registers for p in others)
    rings = sorted(b.bytes for b in found.buffers if b.stages == 3 and b.tile.endswith("nvmma_shared"))
    assert rings == [3 * 128 * 64 * 2, 3 * 64 * 256 * 2]
    assert any(c.name.startswith("cp.async.bulk.tensor.2d.shared") for c in found.instructions["copies"])
    assert {p.name for p in found.instructions["mma"]} == {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"}
    json.dumps(found.as_json())


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(ADD, "cuda:90", TYPES)
    assert main(request) == 0
    shown = capsys.readouterr().out
    assert "add_kernel for cuda:90, 4 warps per CTA" in shown and "ld.global.v4.b32" in shown
    assert main(request, InspectOptions(json=True)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["registers"]["limit"] == 255 and told["occupancy"]["max_warps"] == 64 and told["remarks"] == []


def test_from_the_cache_all_of_it_is_known() -> None:
    first, again = (compiled(CASES["fused_softmax"], 90) for _ in range(2))
    assert again.times == {} and again.inspect() == first.inspect()


def test_other_targets_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Request(ADD, "hip:gfx1250", TYPES)) == 1
    assert capsys.readouterr().err == (
        "tritium inspect: error: the stage ttgir is not supported for hip:gfx1250 yet: its stages end at ttir\n"
        "hint: until='ttir' (`tritium compile --stage ttir`) makes the stages that there are\n"
        "hint: machine code is generated for gfx942 and gfx1100\n"
    )
    source = ASTSource(load("vector_add").add_kernel, CASES["vector_add"].signature, {"BLOCK_SIZE": 64})
    with pytest.raises(BackendError, match="the kernel's amdgcn is needed"):
        compile(source, target=GPUTarget("hip", "gfx1250", 32), until="ttir").listing()


PRODUCT = f"{EXAMPLES / 'matmul.py'}::matmul_kernel"
PRODUCT_TYPES = "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1"
PRODUCT_TILES = "BLOCK_SIZE_M=128,BLOCK_SIZE_N=128,BLOCK_SIZE_K=64,GROUP_SIZE_M=8,ACTIVATION=''"


def test_the_floor_of_a_launch(capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(PRODUCT, "cuda:90", PRODUCT_TYPES, PRODUCT_TILES, options=["num_warps=8"])
    sizes = ["a_ptr=4096x4096,b_ptr=4096x4096", "c_ptr=4096x4096", "M=4096,N=4096,K=4096"]
    assert main(request, InspectOptions(grid="1024", arguments=sizes, json=True)) == 0
    roofline = json.loads(capsys.readouterr().out)["roofline"]
    assert roofline["workload"]["dots"] == {"f16": 2 * 4096**3} and roofline["workload"]["bytes"] == 3 * 2 * 4096**2
    assert roofline["limit"] == "dot" and roofline["seconds"] == pytest.approx(2 * 4096**3 / 989e12)
    assert main(request, InspectOptions(grid="1024", arguments=sizes)) == 0
    shown = capsys.readouterr().out
    assert "roofline bound of 1024 programs: 139 us, limited by dot" in shown and "assumed: H200 SXM: 4.8 TB/s" in shown


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (InspectOptions(grid="big"), "--grid is one to three numbers such as 1024 or 64,32, not 'big'"),
        (InspectOptions(grid="0"), "a grid is one to three positive numbers, not (0,)"),
        (InspectOptions(grid="1,2,3,4"), "a grid is one to three positive numbers, not (1, 2, 3, 4)"),
        (
            InspectOptions(arguments=["n=4"]),
            "--argument is for the roofline bound of a launch, which needs --grid, too",
        ),
        (InspectOptions(grid="4", arguments=["n_element=4"]), "no parameter 'n_element'; did you mean 'n_elements'?"),
        (InspectOptions(grid="4", arguments=["n_elements"]), "'n_elements' is no NAME=VALUE"),
        (InspectOptions(grid="4", arguments=["n_elements=many"]), "n_elements is an integer, not 'many'"),
        (
            InspectOptions(grid="4", arguments=["x_ptr=wide"]),
            "x_ptr is a pointer: give it a number of elements, a shape",
        ),
    ],
)
def test_launches_that_cannot_be(wanted: InspectOptions, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Request(ADD, "cuda:90", TYPES), wanted) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("tritium inspect: error: ") and text in told.err
    assert told.err.count("\n") == 1


def test_without_a_disassembler_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = compiled(CASES["vector_add"], 90)
    error = ToolMissing("SASS needs NVIDIA's nvdisasm, which is not found")
    monkeypatch.setattr("tritium.backends.nvidia.disassembler.require_tool", _raising(error))
    found = kernel.inspect()
    assert found.no_sass == str(error) and not found.mix and found.instructions["global memory"]
    assert main(Request(ADD, "cuda:90", TYPES)) == 0
    assert "machine code is not read: SASS needs NVIDIA's nvdisasm" in capsys.readouterr().out
    assert main(Request(ADD, "cuda:90", TYPES), InspectOptions(listing=True)) == 1
    assert capsys.readouterr().err == f"tritium inspect: error: {error}\n"


def test_kernels_of_which_only_the_machine_code_is_kept() -> None:
    with settings.compilation.scope():
        settings.compilation.store_binary_only = True
        first, again = (compiled(CASES["vector_add"], 90) for _ in range(2))
        assert first.inspect().registers.each and list(again.asm) == ["cubin"]
        with pytest.raises(
            BackendError, match=r"the kernel's ptx is needed for this, and what is at hand of it is: cubin"
        ):
            again.inspect()


@pytest.mark.parametrize("target", ["cuda:90", "cpu"])
def test_later_stages(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the text of any stage, whatever that still tells."""
    backend, _, arch = target.partition(":")
    source = ASTSource(load("vector_add").add_kernel, CASES["vector_add"].signature, {"BLOCK_SIZE": 64})
    kernel = compile(source, target=GPUTarget(backend, int(arch or 0) or "", 32))
    for name in [n for n in kernel.asm if n not in ("source", "cubin", "obj", "asm")]:
        path = tmp_path / f"add_kernel.{name}"
        path.write_text(kernel.asm[name])
        assert main(Request(str(path), target)) == 0, capsys.readouterr().err
        assert "add_kernel for" in capsys.readouterr().out


def _raising(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@needs_nvdisasm
def test_instructions_of_the_machine() -> None:
    found = compiled(CASES["matmul-fp16-leaky_relu"], 90).inspect()
    widths = {(m.name, m.bytes): m for m in found.memory}
    assert widths["LDGSTS.128", 16].in_loops == 8 and widths["STG.128", 16].in_loops == 0
    assert [c.name for c in found.mix["mma"]] == ["HGMMA"] and found.no_sass == ""
    assert "others" not in found.mix and found.barriers == 1
    assert found.limits["shared memory"] == found.occupancy.ctas == 2


@needs_nvdisasm
def test_the_listing_has_every_instruction_below_its_line() -> None:
    kernel = compiled(CASES["vector_add"], 90)
    lines = kernel.listing().splitlines()
    assert get_listing(kernel.asm["cubin"]).split() == kernel.listing().split()
    code = [line for line in lines if "\t" in line or line.startswith("LBB")]
    plain = kernel.asm["sass"].strip().splitlines()[1:]
    assert lines[0] == "Function:add_kernel" and code == plain
    source = (EXAMPLES / "vector_add.py").read_text().splitlines()
    above = ""
    loads = set()
    for line in lines[1:]:
        heading = re.match(r"vector_add\.py:(\d+)  (.*)", line)
        if heading:
            assert source[int(heading[1]) - 1].strip() == heading[2]
            above = heading[2]
        elif "LDG" in line:
            loads.add(above)
    assert loads == {"x = tl.load(x_ptr + offsets, mask=mask)", "y = tl.load(y_ptr + offsets, mask=mask)"}


def test_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [f"{name}=65536" for name in ("x_ptr", "y_ptr", "output_ptr", "n_elements")]
    request = Request(ADD, "cpu", TYPES)
    assert main(request, InspectOptions(json=True, grid="64", arguments=sizes)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["roofline"]["workload"]["bytes"] == 3 * 4 * 65536 and told["roofline"]["workload"]["flops"] == {
        "f32": 65536
    }
    assert any(int(bits) == told["vector_bits"] and n for bits, n in told["widths"].items())
    assert main(request) == 0
    assert "innermost loops" in capsys.readouterr().out
    assert main(request, InspectOptions(listing=True)) == 0
    assert re.search(r"vector_add.py:\d+  x = tl.load\(.*\n", capsys.readouterr().out)
    assert main(Request(ADD, "cpu:x86-64-v2", TYPES), InspectOptions(grid="64")) == 1
    assert "the roofline bound of a CPU is known for this machine only" in capsys.readouterr().err
