"""The devices that the tests of this folder run on: the GPU of this machine, and emulated ones.

An emulator executes an instruction in microseconds. By default that of NVIDIA GPUs gets a share of the tests, drawn by
their names, and that of AMD GPUs (gfx942 and gfx1100) a share of these; they get all with `--slow` or `--all`, and those
that are named on the command line. Without a GPU, the tests that would run on it are not collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests import sampling
from tests.conftest import gpu_missing
from tests.gpu.amd import AMD, emulated_amd_gpu
from tests.gpu.emulated import PARAMETERS, emulated_gpu
from tests.gpu.mirror import CudaMirror, EmulatedMirror, launches_on
from tritium.backends.nvidia import stages
from tritium.backends.nvidia.assembler import Resources
from tritium.runtime import cuda_launcher
from tritium.runtime.driver import driver
from tritium.runtime.fastpath import preparation as preparing
from tritium.runtime.jit import JITFunction

SHARE = 16  # of the tests, one in so many runs on the emulator
FUNCTIONS = 8  # of the functions, one in so many has tests on an emulated AMD GPU


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow") or sampling.runs_everything(config):
        return
    marks, here = sampling.Marks(), Path(__file__).parent

    def runs(item: pytest.Item) -> bool:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        device = parameters.get("device")
        if device not in EMULATED or item.path.parent != here:
            return True
        if device in AMD and parameters.get("ctas", 1) > 1:
            return False  # refused: clusters
        share = marks(item).get("share")
        return crc32(item.nodeid.encode()) % (share.args[0] if share else SHARE) == 0

    if others := [item for item in items if not runs(item)]:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if runs(item)]


@pytest.fixture(autouse=True)
def early_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick launches from the third of a kind on: the code is loaded, and a plan made at the first repetition."""
    preparing.preparation.wait()
    monkeypatch.setattr(preparing, "PLAN_AFTER", 1)


_last: dict[int, str] = {}  # the GPU that a kernel, by its identity, was launched on


def _forget_code_of_others(names: dict[str, Any], gpu: str) -> None:
    """Of kernels that another GPU ran: they have the same number and chip, but the emulated one runs PTX."""
    for kernel in names.values():
        if isinstance(kernel, JITFunction):
            if _last.setdefault(id(kernel), gpu) != gpu:
                kernel.hash = None
            _last[id(kernel)] = gpu


DEVICES = ["emulated"] if gpu_missing() else ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)]
EMULATED = ("emulated", *AMD)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on the devices of this machine, and a share of the functions on AMD GPUs."""
    if "device" not in metafunc.fixturenames or metafunc.module.__name__.rpartition(".")[0] != __package__:
        return
    everything = metafunc.config.getoption("--slow") or sampling.runs_everything(metafunc.config)
    name = f"{metafunc.module.__name__}.{metafunc.function.__name__}"
    nvidia = metafunc.definition.get_closest_marker("nvidia")
    amd = [arch for arch in AMD if everything or crc32(f"{name} {arch}".encode()) % FUNCTIONS == 0]
    metafunc.parametrize("device", [*DEVICES, *(() if nvidia else amd)], indirect=True)


class NoAssembler:
    """In place of ptxas, which would take a quarter of the time: the emulated GPU runs PTX, and never loads a CUBIN."""

    def __init__(self, options: list[str]) -> None:
        pass

    def begin(self, ptx: str) -> None:
        pass

    def finish(self, ptx: str, kernel: str) -> tuple[bytes, Resources]:
        return b"\x7fELF", Resources(registers=32)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def device(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, all_cases: bool
) -> Iterator[str]:
    """Kernels run on this GPU."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    if request.param not in AMD:
        monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32x3")  # dots of f32 as exact as the references ask for
    driver.reset_active()
    _forget_code_of_others(vars(request.module), request.param)
    if request.param == "cuda":
        with launches_on(monkeypatch, CudaMirror):
            yield request.param
    elif request.param in AMD:
        with emulated_amd_gpu(monkeypatch, request.param):
            yield request.param
    else:
        if not all_cases:
            monkeypatch.setattr(stages, "Assembler", NoAssembler)
            monkeypatch.setattr(cuda_launcher, "parameter_base", lambda cubin, kernel: PARAMETERS)
        with emulated_gpu(monkeypatch) as gpu, launches_on(monkeypatch, lambda: EmulatedMirror(gpu)):
            yield request.param
    driver.reset_active()
