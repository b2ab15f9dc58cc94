"""The machine model of NVIDIA GPUs against the tables of the CUDA C++ programming guide and the PTX ISA."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritium.dialects.ttg_context import gpu_of, has_feature
from tritium.hardware import nvidia_features
from tritium.hardware.nvidia import NvidiaGPU, nvidia_gpu
from tritium.hardware.nvidia_features import Feature
from tritium.ir.parser import parse_module

FEATURES = {name: value for name, value in vars(nvidia_features).items() if isinstance(value, Feature)}

#: capability -> KiB of shared memory per SM and per CTA, resident warps and CTAs (CUDA C++ programming guide 13.0).
LIMITS = {
    75: (64, 64, 32, 16),
    80: (164, 163, 64, 32),
    86: (100, 99, 48, 16),
    89: (100, 99, 48, 24),
    90: (228, 227, 64, 32),
    100: (228, 227, 64, 32),
    103: (228, 227, 64, 32),
    120: (100, 99, 48, 24),
    121: (100, 99, 48, 24),
}


@pytest.mark.parametrize("capability", LIMITS)
def test_limits_of_sms(capability: int) -> None:
    gpu = nvidia_gpu(capability)
    found = gpu.shared_memory // 1024, gpu.shared_memory_per_cta // 1024, gpu.max_warps, gpu.max_ctas
    assert found == LIMITS[capability]


def test_a_cta_and_the_reserved_bytes_fit_into_an_sm() -> None:
    for capability in LIMITS:
        gpu = nvidia_gpu(capability)
        assert gpu.shared_memory_per_cta + gpu.reserved_shared_memory <= gpu.shared_memory


@pytest.mark.parametrize(("capability", "kib"), [(75, 85), (80, 379), (86, 73), (90, 387), (103, 871), (121, 697)])
def test_l2_cache_per_sm(capability: int, kib: int) -> None:
    assert nvidia_gpu(capability).l2_cache_per_sm == kib * 1024


@pytest.mark.parametrize(
    ("capability", "versions"), [(75, ()), (80, (2,)), (89, (2,)), (90, (3, 2)), (100, (2,)), (120, (2,))]
)
def test_mma_versions(capability: int, versions: tuple[int, ...]) -> None:
    assert nvidia_gpu(capability).mma_versions == versions


def test_the_registers_of_all_threads_fit_into_an_sm() -> None:
    for warps in (1, 2, 4, 8, 12, 16, 32):
        each = NvidiaGPU.register_limit(warps)
        assert each <= 255 and each * 32 * warps <= NvidiaGPU.registers
        assert each == 255 or (each + 8) * 32 * warps > NvidiaGPU.registers


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_is_listed_and_used(name: str) -> None:
    assert name in nvidia_features.__all__
    package = Path(nvidia_features.__file__).parents[1]
    users = [f for f in package.rglob("*.py") if f.name != "nvidia_features.py" and name in f.read_text()]
    assert users, f"nothing asks for {name}"


def test_requirements_for_messages() -> None:
    assert nvidia_features.TMA.requirement == "sm_90 or later"
    assert nvidia_features.WGMMA.requirement == "sm_90"
    assert nvidia_features.TMA_GATHER.requirement == "sm_100 to sm_119"
    assert nvidia_features.FP8_MMA.requirement == "sm_89, sm_120"


def test_capabilities_before_turing_are_refused() -> None:
    with pytest.raises(ValueError, match="70 is not supported: it must be 75 or more"):
        nvidia_gpu(70)


@pytest.mark.parametrize(
    ("target", "capability"), [('"cuda:90"', 90), ('"hip:gfx942"', None), ('"cuda:hopper"', None), (None, None)]
)
def test_gpu_of_an_operation(target: str | None, capability: int | None) -> None:
    attribute = "" if target is None else f" attributes {{ttg.target = {target}}}"
    module = parse_module(f"module{attribute} {{ tt.func @f() {{ tt.return }} }}")
    inner = next(op for op in module.walk() if op.name == "tt.return")
    gpu = gpu_of(inner)
    assert (gpu and gpu.capability) == capability
    assert has_feature(inner, nvidia_features.TMA) is (capability == 90)
