"""`triton._internal_testing` and `triton._filecheck`."""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("filecheck")

import tritium  # noqa: E402
import tritium.language as tl  # noqa: E402
from tritium import knobs  # noqa: E402
from tritium.backends.compiler import GPUTarget  # noqa: E402
from tritium.dropin import internal_testing as testing  # noqa: E402
from tritium.dropin.filecheck import MatchError, filecheck_test, run_filecheck, run_filecheck_test, run_parser  # noqa: E402


@tritium.jit
def splats():
    # CHECK: tt.func public @splats
    # CHECK: %c3_i32 = arith.constant 3 : i32
    # CHECK-NEXT: %0 = tt.splat %c3_i32 : i32 -> tensor<8xi32>
    named = tl.full((8,), 3, tl.int32)  # noqa: F841  (a name that must not be in the text)


@tritium.jit
def does_not_splat():
    # CHECK: arith.constant 4
    tl.full((8,), 3, tl.int32)


def test_filecheck() -> None:
    run_filecheck_test(splats)
    filecheck_test(splats)()
    with pytest.raises(MatchError, match="arith.constant 4") as found:
        run_filecheck_test(does_not_splat)
    assert isinstance(found.value, ValueError) and "arith.constant 3" in found.value.module_str
    with pytest.raises(ValueError):
        run_filecheck("name", "a\nb", "CHECK: a\nCHECK-NEXT: c")
    assert "tt.func" in run_parser(splats, target=GPUTarget("hip", "gfx942", 64)).str_nodebug()


def test_queries_about_the_device(monkeypatch) -> None:
    class Driver:
        target = GPUTarget("cpu", "x", 1)

        def get_current_target(self):
            return self.target

    chips = {
        ("cuda", 80): {"is_cuda", "is_ampere_or_newer"},
        ("cuda", 90): {"is_cuda", "is_ampere_or_newer", "is_hopper", "is_hopper_or_newer"},
        ("cuda", 100): {"is_cuda", "is_ampere_or_newer", "is_hopper_or_newer", "is_blackwell"},
        ("cuda", 120): {"is_cuda", "is_ampere_or_newer", "is_hopper_or_newer", "is_sm12x"},
        ("hip", "gfx942"): {"is_hip", "is_hip_cdna", "is_hip_cdna3", "is_hip_cdna3_or_newer"},
        ("hip", "gfx1201"): {"is_hip", "is_hip_rdna", "is_hip_rdna4"},
        ("hip", "gfx1250"): {"is_hip", "is_hip_gfx1250"},
        ("cpu", "x"): {"is_cpu"},
    }
    questions = [name for name in dir(testing) if name.startswith("is_")]
    for (backend, arch), expected in chips.items():
        driver = Driver()
        driver.target = GPUTarget(backend, arch, 32)
        monkeypatch.setattr(testing.driver, "_active", driver)
        assert {name for name in questions if getattr(testing, name)()} == expected


@pytest.mark.parametrize("name", [*testing.dtypes_with_bfloat16, "float8e5", "bool"])
def test_data(name: str) -> None:
    data = testing.numpy_random((4, 8), name)
    assert data.shape == (4, 8) and (testing.numpy_random((4, 8), name) == data).all()
    if name in testing.integral_dtypes:
        assert (data != 0).all() and data.dtype == name
    argument = testing.to_triton(data, "cpu", dst_type=name)
    if name != "float8e5":
        np.testing.assert_array_equal(testing.to_numpy(argument), data)
        assert testing.torch_dtype_name(argument.dtype) == name
    assert testing.unwrap_tensor(argument).shape == (4, 8)
    with pytest.raises(RuntimeError, match="Unknown dtype"):
        testing.numpy_random(3, "float128")


def fails() -> None:
    print("words", file=__import__("sys").stderr)
    raise ValueError(os.environ["MINE"])


def dies() -> None:
    os._exit(3)


@pytest.mark.slow  # a process that imports torch
def test_functions_in_processes() -> None:
    found = testing.run_in_process(fails, env={"MINE": "here"})
    assert type(found.exc) is ValueError and str(found.exc) == "here" and "words" in found.driver_stderr_output
    with pytest.raises(RuntimeError, match="exited with code 3"):
        testing.run_in_process(dies)


def test_fresh_settings(monkeypatch) -> None:
    monkeypatch.setenv("TRITON_DEBUG", "1")
    monkeypatch.setattr(knobs.nvidia, "ptxas_options", "-v")
    fresh, reset = testing._fresh_knobs_impl({"amd"})
    amd, nvidia = knobs.amd, knobs.nvidia
    try:
        found = fresh()
        assert isinstance(found.nvidia, knobs.base_knobs) and found.amd is amd and found.nvidia is not nvidia
        assert not found.runtime.debug and found.nvidia.ptxas_options is None
        found.nvidia.ptxas_options = "-O1"
    finally:
        reset()
    assert knobs.nvidia is nvidia and knobs.nvidia.ptxas_options == "-v" and os.environ["TRITON_DEBUG"] == "1"
