"""Fixtures of the tests of what is made for C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.aot import programs
from tests.tools.aot.programs import Made


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for all tests of these files: they compile a few kernels many times."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "aot-cache"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "aot-cache"))


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Made]:
    """`make(kernel, signature, **request)`: what the command writes into the test's folder."""

    def made(kernel: str, signature: str, **more: Any) -> Made:
        return programs.make(tmp_path, capsys, kernel, signature, **more)

    return made


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the driver that writes down what it is asked."""
    return programs.fake_driver(tmp_path_factory.mktemp("fake_cuda"))


@pytest.fixture
def launched(tmp_path: Path, driver: Path) -> Callable[..., tuple[int, list[str]]]:
    """`launched(made, statements)`: the status of a program, and what it asked of the driver, a line a call."""
    log = tmp_path / "log"

    def run(
        made: Made | list[Made], text: str, flags: tuple[str, ...] = (), sources: tuple[Path, ...] = (), **how: Any
    ) -> tuple[int, list[str]]:
        log.write_text("")
        every = made if isinstance(made, list) else [made]
        main = text if "main(" in text else f"int main(void) {{\n{text}\n}}"
        linked = () if "-DTRITIUM_DLOPEN" in flags else (f"-L{driver}", "-lcuda")
        program = programs.build(tmp_path, every, main, *flags, *linked, "-pthread", more=sources)
        environment = {"FAKE_CUDA_LOG": str(log), "LD_LIBRARY_PATH": str(driver), **how}
        return programs.run(program, **environment).returncode, log.read_text().splitlines()

    return run
