"""`tritium.knobs` where it is more than the settings."""

from __future__ import annotations

import re

import pytest

from tritium import knobs
from tritium.backends.nvidia.toolchain import find_tool
from tritium.support import settings


@pytest.mark.skipif(find_tool("ptxas") is None, reason="there is no ptxas")
def test_programs_of_nvidia() -> None:
    found = find_tool("ptxas")
    assert found is not None and knobs.nvidia.ptxas.path == found.path
    assert re.fullmatch(r"\d+\.\d+", knobs.nvidia.ptxas.version)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = knobs.nvidia.ptxas
        assert settings.nvidia.ptxas == found.path
        knobs.nvidia.launch_blocking = True
        assert settings.nvidia.launch_blocking and knobs.nvidia.launch_blocking
    assert settings.nvidia.ptxas is None and not knobs.nvidia.launch_blocking
