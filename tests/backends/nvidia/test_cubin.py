"""What is read in cubins, against what the assembler makes of PTX."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tritium.backends.nvidia.cubin import parameter_base
from tritium.backends.nvidia.toolchain import find_tool
from tritium.support.errors import InternalError

PTX = """
.version 8.6
.target {target}
.address_size 64
.visible .entry first(.param .u64 p) .reqntid 32 {{ ret; }}
.visible .entry other(.param .u32 a, .param .align 64 .b8 map[128], .param .u64 p) .reqntid 32 {{ ret; }}
"""


@pytest.mark.skipif(find_tool("ptxas") is None, reason="there is no ptxas")
@pytest.mark.parametrize(("target", "base"), [("sm_80", 0x160), ("sm_90a", 0x210), ("sm_100a", 0x380)])
def test_where_parameters_begin(tmp_path: Path, target: str, base: int) -> None:
    (tmp_path / "k.ptx").write_text(PTX.format(target=target))
    tool = find_tool("ptxas")
    assert tool is not None
    command = [tool.path, f"-arch={target}", "k.ptx", "-o", "k.cubin"]
    subprocess.run(command, cwd=tmp_path, check=True)
    cubin = (tmp_path / "k.cubin").read_bytes()
    assert parameter_base(cubin, "first") == parameter_base(cubin, "other") == base
    with pytest.raises(InternalError, match="another: the cubin does not say"):
        parameter_base(cubin, "another")
