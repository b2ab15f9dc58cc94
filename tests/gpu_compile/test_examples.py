"""Every example kernel becomes machine code for Ampere and Hopper: accepted by ptxas, without spills, and made of the
instructions that it should be made of."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tests.example_kernels import ExampleKernel, cases, load
from tritium.backends.errors import PerformanceWarning
from tritium.backends.nvidia.target import CUDATarget
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile
from tritium.tools.disasm import get_sass

pytestmark = needs_ptxas

CAPABILITIES = (80, 90)

COPIES_16_BYTES = r"cp\.async\.cg\.shared\.global \[[^]]+\], \[[^]]+\], (16|0x10)"
LOADS_16_BYTES = r"ld\.global(\.\w+)*\.v4\.b32|ld\.global(\.\w+)*\.v2\.b64"
STORES_16_BYTES = r"st\.global(\.\w+)*\.v4\.b32|st\.global(\.\w+)*\.v2\.b64"
SHUFFLES = r"shfl\.sync\.bfly"
WARP_GROUPS = r"wgmma\.mma_async"
TENSOR_CORES = r"mma\.sync\.aligned|" + WARP_GROUPS
MATRICES = r"ldmatrix\.sync|" + WARP_GROUPS
BARRIERS = r"bar\.sync|barrier"

#: Which instructions a kernel has, by the beginning of its name; the longest that fits counts.
INSTRUCTIONS = {
    "vector_add": [LOADS_16_BYTES, STORES_16_BYTES],
    "fused_softmax": [SHUFFLES, BARRIERS, r"ex2\.approx"],
    "low_memory_dropout-mask": [r"rcp\.approx\.ftz\.f32"],
    "low_memory_dropout-seed": [r"mul\.hi\.u32"],
    "layer_norm-forward": [SHUFFLES, BARRIERS, r"sqrt|rsqrt"],
    "layer_norm-backward_dx": [SHUFFLES, r"atom\.\w*\.?(global\.)?(\w+\.)*cas|atom\.(\w+\.)*cas"],
    "layer_norm-backward_dwdb": [BARRIERS],
    "matmul": [TENSOR_CORES, r"ld\.shared|ldmatrix"],
    "matmul-fp16": [TENSOR_CORES, MATRICES, COPIES_16_BYTES],
    "attention-forward": [TENSOR_CORES, MATRICES, SHUFFLES, r"ex2\.approx"],
    "attention-delta": [SHUFFLES],
    "attention-backward": [TENSOR_CORES, r"ex2\.approx"],
    "grouped_matmul": [TENSOR_CORES, MATRICES],
    "persistent_matmul": [TENSOR_CORES, MATRICES],
    "block_scaled_matmul": [TENSOR_CORES],
    "library_functions-gelu": [r"fma\.rn"],
    "library_functions-asin": [r"fma\.rn\.f64"],
    "dependent_launch": [r"griddepcontrol\.wait"],
}


def pairs() -> list[Any]:
    return [
        pytest.param(case, capability, id=f"{case.name}-{capability}")
        for case in cases()
        for capability in CAPABILITIES
        if capability >= case.capability
    ]


def build(case: ExampleKernel, capability: int) -> CompiledKernel:
    source = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
    return compile(source, target=GPUTarget("cuda", capability, 32), options=case.options)


def of_name(table: dict[str, Any], name: str) -> Any:
    """What a table says of the kernel: by the longest beginning of its name."""
    starts = [start for start in table if name.startswith(start)]
    return table[max(starts, key=len)] if starts else None


@pytest.fixture(autouse=True)
def cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")


@pytest.mark.sample(2, "case")
@pytest.mark.parametrize(("case", "capability"), pairs())
def test_machine_code(case: ExampleKernel, capability: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        kernel = build(case, capability)
    assert list(kernel.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert kernel.kernel[:4] == b"\x7fELF"
    assert kernel.metadata.stack_size == kernel.n_spills == 0
    assert 0 < kernel.n_regs <= 255
    assert 0 <= kernel.metadata.shared <= CUDATarget(capability).shared_memory
    ptx = kernel.asm["ptx"]
    assert f".reqntid {32 * kernel.metadata.num_warps}" in ptx
    wanted = of_name(INSTRUCTIONS, case.name)
    if capability == 90 and TENSOR_CORES in wanted and case.name != "attention-backward_keys":  # of 32 rows
        wanted = [*wanted, WARP_GROUPS]
    missing = [pattern for pattern in wanted if not re.search(pattern, ptx)]
    assert not missing


def test_every_kernel_has_a_line_in_the_table() -> None:
    assert all(of_name(INSTRUCTIONS, case.name) for case in cases())


@needs_nvdisasm
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_vector_add_down_to_the_instructions(capability: int) -> None:
    """The example that shows all stages: its machine code loads and stores 16 bytes a thread."""
    (case,) = (case for case in cases() if case.name == "vector_add")
    kernel = build(case, capability)
    sass = get_sass(kernel.asm["cubin"])
    assert sass.startswith("Function:add_kernel\n") and sass == kernel.asm["sass"]
    assert sass.count("LDG.E.128") == 4 and sass.count("STG.E.128") == 2 and sass.count("FADD") == 8
