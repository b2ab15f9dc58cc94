"""The vector addition that introduces Triton's compiler in many texts: as it stands there, but for the imports."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

TEXT = """
import torch

import tritium as triton
import tritium.language as tl
from tritium.tools.disasm import get_sass

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)

size = 1024
x = torch.rand(size, device='cuda')
y = torch.rand(size, device='cuda')
grid = lambda meta: (triton.cdiv(size, meta['BLOCK_SIZE']),)

output = torch.empty_like(x)
compiled_kernel = add_kernel[grid](x, y, output, size, BLOCK_SIZE=1024)

print(compiled_kernel.asm.keys())
print(get_sass(compiled_kernel.asm["cubin"]))
"""


@pytest.fixture
def device():
    """The real one only."""
    return "cuda"


def test_the_example_as_it_stands(tmp_path, capsys) -> None:
    import importlib.util

    import torch

    path = tmp_path / "example.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed = capsys.readouterr().out
    assert printed.startswith("dict_keys(['source', 'ttir', 'ttgir', 'llir', 'ptx', 'cubin'])")
    assert "LDG.E.128" in printed and "STG.E.128" in printed
    assert torch.equal(module.output, module.x + module.y)
    assert module.compiled_kernel.n_spills == 0
