"""Machines with a CUDA driver and without ptxas: the driver compiles PTX."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.fake_cuda import FakeCuda, driver_in_use
from tests.runtime.test_cuda import BASE, Array
from tritium.backends.errors import PTXASError, ToolMissing
from tritium.backends.nvidia import driver_jit, toolchain
from tritium.backends.nvidia.driver_jit import ToolchainWarning, driver_compiler
from tritium.compiler import ASTSource, GPUTarget
from tritium.runtime.driver import driver
from tritium.support import settings


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    for name in ("PTXAS", "NVDISASM"):
        for prefix in ("TRITON", "TRITIUM"):
            monkeypatch.delenv(f"{prefix}_{name}_PATH", raising=False)
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(toolchain, "_candidates", lambda *_: iter(()))
    monkeypatch.setattr(driver_jit, "_warned", set())
    toolchain._search.cache_clear()
    with driver_in_use(FakeCuda(memory={range(BASE, BASE + 4096): 0})) as found:
        driver.reset_active()
        yield found
    driver.reset_active()
    toolchain._search.cache_clear()


def kernel() -> Any:
    @tritium.jit
    def scale(x, factor, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at) * factor + factor)

    return scale


def build(capability: int = 90, **options: Any) -> Any:
    source = ASTSource(kernel(), {"x": "*fp32", "factor": "fp32"}, {"BLOCK": 128})
    return tritium.compile(source, GPUTarget("cuda", capability, 32), options)


def test_launch_compiles_through_driver_with_one_warning(fake: FakeCuda) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        compiled = kernel()[(1,)](Array(), 2.0, BLOCK=128)
        kernel()[(1,)](Array(), 2.0, BLOCK=64)
    told = [str(w.message) for w in heard if w.category is ToolchainWarning]
    assert len(told) == 1 and "the CUDA driver (13.0) compiles PTX" in told[0] and "tritium[nvidia]" in told[0]
    assert fake.loaded[0] == b"\x7fELF of scale" == compiled.asm["cubin"] and len(fake.launches) == 2
    assert ".version 9.0" in fake.linked[0] and ".file 1" in fake.linked[0].replace("\t", " ")
    metadata = compiled.metadata
    assert (metadata.n_regs, metadata.n_spills, metadata.spill_loads, metadata.static_shared) == (26, 4, 16, 512)
    assert (fake.link_options[12], fake.link_options[13]) == (1, 1)  # a log with figures, and lines
    with pytest.raises(ToolMissing, match=r"SASS needs NVIDIA's nvdisasm.*tritium\[nvidia\]"):
        _ = compiled.asm["sass"]


@pytest.mark.filterwarnings("ignore")
def test_code_of_driver_is_kept_in_cache_under_its_release(fake: FakeCuda) -> None:
    first = build()
    assert build().asm["cubin"] == first.asm["cubin"] and len(fake.linked) == 1
    with driver_in_use(FakeCuda(version=12080)) as older:
        assert build().hash != first.hash and ".version 8.7" in older.linked[0]


@pytest.mark.filterwarnings("ignore")
def test_options_of_assembler_for_driver(fake: FakeCuda) -> None:
    build(enable_fp_fusion=True)
    build(enable_fp_fusion=False)
    fused, exact = fake.linked
    assert "mul.f32" in fused or "fma.rn.f32" in fused
    assert "mul.rn.f32" in exact and "add.rn.f32" in exact and "mul.f32" not in exact
    with settings.nvidia.scope():
        settings.nvidia.disable_ptxas_opt = True
        build()
    assert (fake.link_options[7], fake.link_options[11]) == (0, 1)
    with pytest.raises(ToolMissing, match=r"cubin with the options '--verbose' needs NVIDIA's ptxas.*pip install"):
        _ = build(ptx_options="--verbose").asm["cubin"]


def test_refusal_of_driver_names_line_of_kernel(fake: FakeCuda) -> None:
    number = 1 + next(i for i, line in enumerate(_ptx().split("\n")) if "st.global" in line)
    fake.refusal = f"ptxas application ptx input, line {number}; error   : Arguments mismatch for instruction 'st'\n"
    with pytest.raises(PTXASError, match=r"(?s)the CUDA driver refuses the code of scale.*test_driver_jit.py:\d+:\d+"):
        build()
    fake.failing["cuLinkCreate_v2"] = 2
    with pytest.raises(
        PTXASError, match="the CUDA driver cannot compile scale: cuLinkCreate_v2 failed: CUDA_ERROR_OUT_OF"
    ):
        build()


def _ptx() -> str:
    source = ASTSource(kernel(), {"x": "*fp32", "factor": "fp32"}, {"BLOCK": 128})
    return tritium.compile(source, GPUTarget("cuda", 90, 32), until="ptx").asm["ptx"]


def test_driver_compiles_only_for_gpus_of_this_machine(fake: FakeCuda) -> None:
    assert (driver_compiler(90), driver_compiler(80)) == ((13, 0), None)
    with pytest.raises(ToolMissing, match="the stage cubin needs NVIDIA's ptxas"):
        _ = build(80).asm["cubin"]
    with driver_in_use(FakeCuda(missing=("cuLinkCreate_v2",))):
        assert driver_compiler(90) is None
