"""Questions about the target: in kernels, in Python that kernels run, and in scripts."""

from __future__ import annotations

import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget
from tritium.frontend.errors import CompilationError
from tritium.language import target_info
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@tritium.constexpr_function
def width():
    target = tl.target_info.current_target()
    if tl.target_info.cuda_capability_geq(9):
        return target.arch
    return 1000 + target.warp_size if target_info.is_hip() else 1


@tritium.jit
def asks(x):
    tl.store(x, width())


@pytest.mark.parametrize(
    "target, stored",
    [
        (GPUTarget("cuda", 90, 32), 90),
        (GPUTarget("cuda", 100, 32), 100),
        (GPUTarget("cuda", 80, 32), 1),
        (GPUTarget("hip", "gfx942", 64), 1064),
        (GPUTarget("cpu", "", 1), 1),
    ],
)
def test_constexpr_functions_query_the_target_of_their_compile(target: GPUTarget, stored: int) -> None:
    kernel = tritium.compile(ASTSource(asks, {"x": "*i32"}), target, until="ttir")
    assert f"arith.constant {stored} : i32" in kernel.asm["ttir"]


def test_scripts_query_the_default_target() -> None:
    target = driver.active.get_current_target()
    assert target_info.current_target() == target
    assert target_info.is_cuda() == (target.backend == "cuda") and not target_info.is_hip_cdna3()
    driver.set_active(EmulatedCUDADriver(90))
    try:
        assert target_info.is_cuda() and target_info.cuda_capability_geq(9, 0)
        assert not target_info.cuda_capability_geq(major=10) and width() == 90
    finally:
        driver.reset_active()


@tritium.jit
def asks_wrongly(x):
    if tl.target_info.cuda_capability_geq():
        tl.store(x, 1)


def test_target_query_without_its_argument_is_refused() -> None:
    with pytest.raises(CompilationError, match="missing .*'major'"):
        tritium.compile(ASTSource(asks_wrongly, {"x": "*i32"}), GPUTarget("cuda", 90, 32), until="ttir")
    with pytest.raises(TypeError, match="missing .*'major'"):
        target_info.cuda_capability_geq()
