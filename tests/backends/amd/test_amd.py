"""The AMD backend: targets, options, `ttir` that Triton compiles to machine code, architectures without code."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.example_kernels import ExampleKernel, cases, load, triton_text
from tests.triton_oracle import TritonOracle
from tritium.backends.amd import HIPOptions, HIPTarget
from tritium.backends.errors import OutOfResources
from tritium.compiler import ASTSource, GPUTarget, compile, make_backend
from tritium.support import OptionError, UnsupportedStage, settings

MI300 = GPUTarget("hip", "gfx942", 64)


@tritium.jit
def exponential(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    if tl.target_info.is_hip():
        x = tl.extra.libdevice.tanh(x)
    tl.store(y_ptr + at, x + tl.extra.hip.num_threads(), mask=at < n)


def source() -> ASTSource:
    return ASTSource(exponential, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": 256})


def test_targets() -> None:
    assert HIPTarget.of(MI300) == HIPTarget("gfx942")
    assert [HIPTarget(a).warp_size for a in ("gfx90a", "gfx950", "gfx1100", "gfx1250")] == [64, 64, 32, 32]
    assert [HIPTarget(a).has_descriptors for a in ("gfx942", "gfx1250", "gfx1250-strict")] == [False, True, True]
    with pytest.raises(OptionError, match="a name such as gfx942"):
        HIPTarget.of(GPUTarget("hip", 90, 32))
    with pytest.raises(OptionError, match="a warp of gfx942 has 64 threads, not 32"):
        make_backend(GPUTarget("hip", "gfx942", 32))


def test_options() -> None:
    options = HIPOptions.parse({}, HIPTarget("gfx942"))
    assert (options.num_warps, options.num_stages, options.kpack, options.arch) == (4, 2, 1, "gfx942")
    assert options.allowed_dot_input_precisions == ("bf16x3", "bf16x6", "ieee", "tf32")
    assert HIPOptions.parse({}, HIPTarget("gfx950")).deprecated_fp8_dot_operand_dtypes == ("fp8e4b8", "fp8e5b16")
    assert set(make_backend(MI300).option_names()) == {f.name for f in fields(HIPOptions)}
    assert options.key != HIPOptions.parse({"waves_per_eu": 2}, HIPTarget("gfx942")).key
    with settings.runtime.scope():
        settings.runtime.override_arch = "gfx90a"
        assert HIPOptions.parse({}, HIPTarget("gfx942")).arch == "gfx90a"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"wgp_cu_mode": "x"}, "wgp_cu_mode must be 'wgp' or 'cu'"),
        ({"num_warps": 32}, "threads, Required: 2048, Hardware limit: 1024"),
        ({"num_warps": 6}, "power of 2"),
        ({"waves_per_eu": -1}, "must not be negative"),
        ({"num_ctas": 2}, "num_ctas > 1 not supported on gfx942"),
    ],
)
def test_options_that_cannot_be(values: dict[str, Any], text: str) -> None:
    with pytest.raises((OptionError, OutOfResources), match=text):
        HIPOptions.parse(values, HIPTarget("gfx942"))


def test_stages_of_an_architecture_without_code_generation_end_at_ttir() -> None:
    target = GPUTarget("hip", "gfx1250", 32)
    with pytest.raises(
        UnsupportedStage, match=r"the stage ttgir is not supported for hip:gfx1250 yet.*\n.*until='ttir'"
    ):
        compile(source(), target=target)
    kernel = compile(source(), target=target, until="ttir")
    assert list(kernel.asm) == ["source", "ttir"]
    assert 'symbol = "__ocml_tanh_f32"' in kernel.asm["ttir"]
    assert "1.280000e+02" in kernel.asm["ttir"]  # 4 warps of 32 threads
    for access in (
        lambda: kernel.asm["amdgcn"],
        lambda: kernel.asm["hsaco"],
        lambda: kernel.kernel,
        lambda: kernel[(1,)](),
    ):
        with pytest.raises(UnsupportedStage, match="is not supported for hip:gfx1250 yet: its stages end at ttir"):
            access()


PORTABLE = [c for c in cases() if c.capability == 80]


@pytest.mark.parametrize("case", PORTABLE, ids=lambda c: c.name)
def test_triton_makes_machine_code_of_every_example(
    case: ExampleKernel, triton_oracle: TritonOracle, tmp_path: Path, request: Any
) -> None:
    if PORTABLE.index(case) % 4 and not request.config.getoption("--slow"):
        pytest.skip("one in four; all with --slow")
    src = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
    found = triton_oracle.compile_text(
        compile(src, target=MI300, options=case.options, until="ttir").asm["ttir"], "hip:gfx942"
    )
    resources = triton_oracle.resources
    path = tmp_path / f"{case.example}.py"
    path.write_text(triton_text(case.example))
    triton_oracle.compile_kernel(path, case.kernel, case.signature, case.constants, "hip:gfx942", case.divisible)
    assert "amdgcn" in found
    assert resources == triton_oracle.resources
