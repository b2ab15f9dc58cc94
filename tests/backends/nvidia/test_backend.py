"""The NVIDIA backend: targets, options, and which stages a compile has."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.example_kernels import cases, load
from tritium.backends.errors import OutOfResources
from tritium.backends.nvidia import CUDAOptions, CUDATarget
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, SourceError, compile, make_backend
from tritium.support import OptionError, settings


@tritium.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x + x, mask=at < n)


@tritium.jit
def copy_kernel(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [n, m], [m, 1], [BLOCK, BLOCK])
    y = tl.make_tensor_descriptor(y_ptr, [n, m], [m, 1], [BLOCK, BLOCK])
    y.store([0, 0], x.load([0, 0]))


def source(fn: Any = add_kernel, ty: str = "*fp32") -> ASTSource:
    types = {n: ty if n.endswith("ptr") else "i32" for n in fn.arg_names if n != "BLOCK"}
    return ASTSource(fn, types, {"BLOCK": 64})


def build(capability: int = 90, fn: Any = add_kernel, **options: Any) -> CompiledKernel:
    return compile(source(fn), target=GPUTarget("cuda", capability, 32), options=options, until="ttir")


# ---- targets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", [90, "90", "sm90", "sm_90", "sm_90a"])
def test_a_target_by_any_of_its_names(arch: Any) -> None:
    assert CUDATarget.of(GPUTarget("cuda", arch, 32)) == CUDATarget(90)
    assert make_backend(GPUTarget("cuda", arch, 32)).describe() == GPUTarget("cuda", 90, 32)


@pytest.mark.parametrize(
    ("arch", "size", "text"),
    [("gfx942", 32, "capability"), (70, 32, "75 or more"), (90, 64, "32 threads"), (90, "x", "a number")],
)
def test_targets_that_cannot_be(arch: Any, size: Any, text: str) -> None:
    with pytest.raises((OptionError, OutOfResources), match=text):
        CUDATarget.of(GPUTarget("cuda", arch, size))


def test_what_generations_have() -> None:
    old, ada, hopper, blackwell = map(CUDATarget, (80, 89, 90, 100))
    assert [t.has_descriptors for t in (old, ada, hopper, blackwell)] == [False, False, True, True]
    assert ["fp8e4nv" in t.fp8_dtypes for t in (old, ada, hopper)] == [False, True, True]
    assert [t.imprecise_accumulation for t in (ada, hopper, blackwell)] == [0, 2**30, 0]
    assert [hopper.min_dot_size(bits, bits) for bits in (8, 16, 32, 64)] == [(1, 1, k) for k in (32, 16, 8, 4)]


# ---- options -------------------------------------------------------------------------------------------------------

DEFAULTS = {
    "num_warps": 4,
    "num_ctas": 1,
    "num_stages": 3,
    "warp_size": 32,
    "maxnreg": None,
    "ptx_version": None,
    "ptx_options": None,
    "ir_override": None,
    "enable_fp_fusion": True,
    "sched4reg": False,
    "enable_reflect_ftz": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "clc": False,
    "supported_fp8_dtypes": ("fp8e4b15", "fp8e4nv", "fp8e5"),
    "deprecated_fp8_dot_operand_dtypes": ("fp8e4b15",),
    "default_dot_input_precision": "tf32",
    "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    "max_num_imprecise_acc_default": 2**30,
    "extern_libs": (),
    "debug": False,
    "backend_name": "cuda",
    "sanitize_overflow": True,
    "arch": "sm90",
    "instrumentation_mode": "",
    "check_conversions": False,
    "device_checks": "",
    "fpsan_homomorphic_casts": False,
    "min_shared_mem": None,
    "without": "",
    "host_maps": False,
    "raise_loads": False,
    "persistent": None,
    "launch_versions": False,
}


def test_every_option_has_its_default() -> None:
    options = CUDAOptions.parse({}, CUDATarget(90))
    assert {f.name: getattr(options, f.name) for f in fields(CUDAOptions)} == DEFAULTS
    assert set(make_backend(GPUTarget("cuda", 90, 32)).option_names()) == set(DEFAULTS)


def test_none_means_the_default_and_equal_options_have_equal_keys() -> None:
    target = CUDATarget(80)
    options = CUDAOptions.parse({"num_warps": None, "extern_libs": {"b": "y", "a": "x"}}, target)
    assert options.num_warps == 4
    assert options.extern_libs == (("a", "x"), ("b", "y"))
    assert options.key == CUDAOptions.parse({"extern_libs": {"a": "x", "b": "y"}}, target).key
    assert options.key != CUDAOptions.parse({}, target).key
    assert CUDAOptions.parse({"maxnreg": 256}, target).maxnreg == 255  # all there are, as ptxas has it
    assert CUDAOptions.parse({}, target).key != CUDAOptions.parse({}, CUDATarget(90)).key


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"num_warps": 3}, "num_warps must be a power of 2"),
        ({"num_warps": 0}, "num_warps must be 1 or more"),
        ({"num_warps": 64}, "threads, Required: 2048, Hardware limit: 1024"),
        ({"num_warps": "4"}, "must be an integer"),
        ({"num_ctas": 32}, "num_ctas must be at most 16"),
        ({"num_stages": -1}, "num_stages must be 0 or more"),
        ({"num_stages": 1000}, "num_stages must be at most 128, got 1000: every stage takes a buffer"),
        ({"maxnreg": 0}, "maxnreg must be 1 or more"),
        ({"debug": "yes"}, "debug must be True or False"),
        ({"default_dot_input_precision": "exact"}, "must be one of tf32, tf32x3"),
        ({"supported_fp8_dtypes": 8}, "must be a sequence"),
        ({"ptx_options": 3}, "must be a string"),
        ({"arch": "gfx90"}, "such as sm90"),
        ({"clc": True}, r"clc=True requires NVIDIA SM100\+"),
    ],
)
def test_options_that_cannot_be(values: dict[str, Any], text: str) -> None:
    with pytest.raises((OptionError, OutOfResources), match=text):
        CUDAOptions.parse(values, CUDATarget(90))


def test_clusters_need_hopper() -> None:
    with pytest.raises(OptionError, match=r"num_ctas > 1 requires NVIDIA SM90\+"):
        build(80, num_ctas=2)
    assert build(90, num_ctas=2).metadata.num_ctas == 2
    assert build(100, clc=True).metadata.clc


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(KeyError, match="num_wraps"):
        build(90, num_wraps=4)


def test_settings_reach_the_options() -> None:
    with settings.runtime.scope(), settings.nvidia.scope(), settings.language.scope():
        settings.runtime.override_arch = "sm80"
        settings.nvidia.libdevice_path = "/x/libdevice.bc"
        settings.language.force_disable_fp_fusion = True
        options = CUDAOptions.parse({}, CUDATarget(90))
    assert options.arch == "sm80"
    assert options.extern_libs == (("libdevice", "/x/libdevice.bc"),)
    assert not options.enable_fp_fusion


# ---- stages --------------------------------------------------------------------------------------------------------


def test_a_compile_may_end_at_any_stage() -> None:
    kernel = build()
    assert list(kernel.asm) == ["source", "ttir"]
    assert "tt.func public @add_kernel" in kernel.asm["ttir"]
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32)
    with pytest.raises(KeyError):
        kernel.asm["ptx"]
    with pytest.raises(SourceError, match="no stage 'obj'; there are: ttir, ttgir, llir, ptx, cubin"):
        compile(source(), target=GPUTarget("cuda", 90, 32), until="obj")


def test_a_kernel_comes_back_from_the_cache(tmp_path: Path) -> None:
    with settings.cache.scope():
        settings.cache.dir = str(tmp_path)
        settings.cache.disable = False
        first, second = build(), build()
    assert first.times and not second.times
    assert first.asm["ttir"] == second.asm["ttir"]
    assert build(80).hash != first.hash


def test_a_text_is_compiled_from_its_stage_on(tmp_path: Path) -> None:
    path = tmp_path / "add_kernel.ttir"
    path.write_text(build().asm["ttir"])
    kernel = compile(path, target=GPUTarget("cuda", 80, 32), until="ttgir")
    assert list(kernel.asm) == ["ttir", "ttgir"] and "#blocked" in kernel.asm["ttgir"]
    later = path.with_suffix(".ttgir")
    later.write_text(kernel.asm["ttgir"])
    assert list(compile(later, target=GPUTarget("cuda", 80, 32), until="ttgir").asm) == ["ttgir"]
    with pytest.raises(SourceError, match="the stage ttir comes before ttgir"):
        compile(later, target=GPUTarget("cuda", 80, 32), until="ttir")


def test_descriptors_stay_where_hardware_reads_them() -> None:
    old, new = (build(c, copy_kernel).asm["ttir"] for c in (80, 90))
    assert "tt.descriptor_load" in new and "tt.make_tensor_descriptor" in new
    assert "descriptor" not in old and "tt.load" in old


def test_a_small_dot_is_refused_by_the_width_of_its_operands() -> None:
    @tritium.jit
    def dot_kernel(x_ptr, BLOCK: tl.constexpr):
        at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, tl.dot(x, x).to(x.dtype))

    assert "tt.dot" in compile(source(dot_kernel, "*fp16"), target=GPUTarget("cuda", 90, 32), until="ttir").asm["ttir"]
    with pytest.raises(tritium.CompilationError, match="K >= 32"):
        compile(source(dot_kernel, "*i8"), target=GPUTarget("cuda", 90, 32))


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("case", cases(), ids=lambda c: c.name)
def test_every_example_has_a_ttir(case: Any, capability: int) -> None:
    if capability < case.capability:
        pytest.skip(f"{case.name} needs compute capability {case.capability}")
    src = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
    kernel = compile(src, target=GPUTarget("cuda", capability, 32), options=case.options, until="ttir")
    assert f"tt.func public @{case.kernel}(" in kernel.asm["ttir"]


def test_what_to_do_without_is_checked() -> None:
    assert CUDAOptions.parse({"without": "tma,multicast"}, CUDATarget(90)).without == "tma,multicast"
    with pytest.raises(OptionError, match="there is no 'speed'; known are wgmma, "):
        CUDAOptions.parse({"without": "tma,speed"}, CUDATarget(90))
