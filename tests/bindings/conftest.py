"""Fixtures of the tests of Triton's bindings: a cache of the test's own, and what the wheel of Triton has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.triton_oracle import ABSENT, find_interpreter
from tritium import knobs


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    with knobs.runtime.scope(), knobs.compilation.scope():
        yield tmp_path / "cache"


@pytest.fixture(scope="session")
def wheel() -> dict[str, Any]:
    """The names of the bindings in Triton's wheel, and its folder."""
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    program = Path(__file__).with_name("wheel_bindings.py")
    done = subprocess.run([interpreter, "-P", str(program)], capture_output=True, text=True, cwd="/", check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]
