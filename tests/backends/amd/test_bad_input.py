"""What AMD GPUs cannot do is an error that names the kernel or option, the need and the limit; nothing ends the process."""

from __future__ import annotations

from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.amd import kernels
from tritium.backends.errors import BackendError, OutOfResources
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import OptionError, UnsupportedStage

TARGETS = [GPUTarget("hip", "gfx942", 64), GPUTarget("hip", "gfx1100", 32)]


@tritium.jit
def cast(x, o, B: tl.constexpr, T: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.load(x + at).to(T).to(tl.float32))


def added(target: GPUTarget, **options: Any) -> Any:
    types = {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32"}
    return compile(ASTSource(kernels.add, types, {"B": 256}), target=target, options=options)


def multiplied(target: GPUTarget, size: tuple[int, int, int], **options: Any) -> Any:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}
    return compile(ASTSource(kernels.matmul, types, dict(zip("MNB", size))), target=target, options=options)


@pytest.mark.parametrize(
    ("arch", "lanes", "message"),
    [
        ("gfx9042", 64, "there is no AMD GPU architecture 'gfx9042'\nhint: code is generated for gfx942 and gfx1100"),
        ("mi300", 64, "the arch of a HIP target is a name such as gfx942, got 'mi300'"),
        ("gfx942:sramecc+", 64, "hint: 'gfx942', without the target features 'sramecc+'"),
        ("gfx942", 32, "a warp of gfx942 has 64 threads, not 32"),
        ("gfx1100", 64, "a warp of gfx1100 has 32 threads, not 64"),
    ],
)
def test_unknown_architectures(arch: str, lanes: int, message: str) -> None:
    with pytest.raises(OptionError) as error:
        added(GPUTarget("hip", arch, lanes))
    assert message in str(error.value)


@pytest.mark.parametrize(("arch", "lanes"), [("gfx906", 64), ("gfx90a", 64), ("gfx1101", 32)])
def test_architectures_without_code_generation_name_those_that_have_it(arch: str, lanes: int) -> None:
    with pytest.raises(UnsupportedStage, match=r"(?s)not supported for hip:gfx.*generated for gfx942 and gfx1100"):
        added(GPUTarget("hip", arch, lanes))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_warps": 32}, "kernel add: out of resource: threads, Required: 2048, Hardware limit: 1024"),
        ({"num_ctas": 2}, "kernel add: num_ctas > 1 not supported on gfx942"),
        ({"matrix_instr_nonkdim": 8}, "kernel add: matrix_instr_nonkdim must be 0, 4, 16 or 32, got 8"),
        ({"kpack": 3}, "kernel add: kpack must be 1, 2 or 4, got 3"),
        ({"min_shared_mem": 100000}, r"shared memory \(min_shared_mem\), Required: 100000, Hardware limit: 65536"),
        ({"maxnreg": 64}, "kernel add: unknown option 'maxnreg'"),
        ({"waves_per_eu": "x"}, "waves_per_eu must be an integer"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, OutOfResources), match=message):
        added(TARGETS[0], **options)


def test_attribute_that_llvm_ends_the_process_on() -> None:
    with pytest.raises(BackendError, match="parse first integer attribute amdgpu-waves-per-eu"):
        added(TARGETS[0], llvm_fn_attrs="amdgpu-waves-per-eu=nonsense")
    assert "amdgpu-no-agpr" in added(TARGETS[0], llvm_fn_attrs="amdgpu-no-agpr").asm["llir"]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_lds_beyond_the_limit_names_the_loads(target: GPUTarget) -> None:
    message = r"(?s)kernel matmul: .*shared memory, Required: \d+, Hardware limit: 65536.*kernels\.py:\d+:\d+: note:"
    with pytest.raises(OutOfResources, match=message):
        multiplied(target, (512, 64, 128), num_warps=8)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_fp8_type_that_amd_gpus_lack_is_named_with_its_line(target: GPUTarget) -> None:
    source = ASTSource(cast, {"x": "*fp32", "o": "*fp32"}, {"B": 64, "T": tl.float8e4b15})
    with pytest.raises(tritium.CompilationError, match=r"test_bad_input\.py:\d+:\d+: error: .*fp8e4b15 not supported"):
        compile(source, target=target)


def test_text_of_assembly_states_its_launch(tmp_path: Any) -> None:
    """A compile that starts at assembly has the number of warps of the text."""
    kernel = added(TARGETS[0], num_warps=8)
    assert kernel.asm["amdgcn"].startswith("; Launch: num_warps=8, num_ctas=1, shared=0\n")
    for name, text in (("ours", kernel.asm["amdgcn"]), ("others", kernel.asm["amdgcn"].partition("\n")[2])):
        path = tmp_path / f"{name}.amdgcn"
        path.write_text(text)
        assert compile(str(path), target=TARGETS[0], until="amdgcn").metadata.num_warps == 8
