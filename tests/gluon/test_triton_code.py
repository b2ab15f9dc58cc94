"""The emulator runs what Triton compiles from a kernel in Gluon, and what this compiler does, with equal results."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from tests.conformance.gluon_tutorials import TritonDriver
from tests.triton_oracle import ABSENT, find_interpreter
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

GUIDE = Path(__file__).parents[2] / "docs" / "gluon.md"


def test_the_pipelined_matmul_of_the_guide_gives_the_same_by_tritons_code(tmp_path):
    interpreter = find_interpreter()
    if interpreter is None:
        pytest.skip(ABSENT)
    found = re.search(r'```python title="matmul_wgmma.py"\n(.*?)```', GUIDE.read_text(), re.DOTALL)
    assert found is not None
    path = tmp_path / "matmul_wgmma.py"
    path.write_text(found[1])
    spec = importlib.util.spec_from_file_location("matmul_wgmma", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(s).astype(np.float16) for s in ((64, 256), (256, 128)))
    outputs = []
    (tmp_path / "triton").mkdir()
    by_triton = TritonDriver(interpreter, str(tmp_path / "triton"))
    for machine in (EmulatedCUDADriver(capability=90), by_triton):
        c = np.zeros((64, 128), np.float16)
        blocks = (a, [64, 64]), (b, [64, 64]), (c, [64, 64])
        described = [
            TensorDescriptor.from_tensor(x, s, gl.NVMMASharedLayout.get_default_for(s, gl.float16)) for x, s in blocks
        ]
        driver.set_active(machine)
        try:
            module.pipelined[(1, 2)](*described, 256, 64, 64, 64, 3)
        finally:
            driver.reset_active()
        outputs.append(c)
    by_triton.close()
    assert np.allclose(outputs[0], a.astype(np.float32) @ b, atol=0.1)
    assert np.array_equal(*outputs)
