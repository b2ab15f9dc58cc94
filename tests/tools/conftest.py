"""Fixtures of the command line's tests."""

from __future__ import annotations

import pytest

from tests.tools.opt_programs import OWN_PASS, PROGRAM
from tritium.tools.opt import main


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own_passes_of_the_opt_tests.py"
    path.write_text(OWN_PASS)
    return str(path)


@pytest.fixture
def opt(capfd):
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        out, err = capfd.readouterr()
        assert "Traceback" not in err or "--traceback" in arguments
        return status, out, err

    return run
