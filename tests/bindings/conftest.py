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


MODULES = [
    *(f"triton.backends.{vendor}.{module}" for vendor in ("nvidia", "amd") for module in ("compiler", "driver")),
    "triton.backends.compiler",
    "triton.compiler.code_generator",
    "triton.compiler.compiler",
    "triton.language.extra.hip",
    "triton.language.extra.hip.utils",
]


@pytest.fixture(scope="session")
def triton_interpreter() -> str:
    """The Python interpreter that has Triton's wheel."""
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    return interpreter


@pytest.fixture(scope="session")
def wheel(triton_interpreter: str) -> dict[str, Any]:
    """What Triton's wheel has: `names` of the bindings' submodules, public names of `MODULES`, its folder `home`."""
    program = Path(__file__).with_name("wheel_bindings.py")
    done = subprocess.run(
        [triton_interpreter, "-P", str(program), *MODULES], capture_output=True, text=True, cwd="/", check=True
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]
