"""C made of kernels in Gluon, whose layouts are compile-time values: for CPUs, for the GPU's driver, and linked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.tools.aot.programs import Made, build, needs_cc, run
from tritium.tools.link import main as link

pytestmark = [needs_cc, pytest.mark.usefixtures("triton_alias")]

SOURCE = """
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier, tma


@gluon.jit
def scale(x, y, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, LAYOUT)
    gl.store(y + at, 2 * gl.load(x + at, at < n, 0.0), at < n)


@gluon.jit
def copy(x, y):
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], x.layout)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, 1)
    mbarrier.expect(ready, x.nbytes_per_cta)
    tma.async_load(x, [0, 0], ready, buffer)
    mbarrier.wait(ready, 0)
    tma.async_store(y, [0, 0], buffer)
    tma.store_wait(0)
"""
PAIRS, QUADS = (f"gl.BlockedLayout([{n}], [32], [4], [0])" for n in (2, 4))
TYPES = "*fp32:16, *fp32:16, i32"


@pytest.fixture
def kernels(tmp_path: Path) -> str:
    path = tmp_path / "gluon_kernels.py"
    path.write_text(SOURCE)
    return str(path)


def test_a_kernel_for_cpus_computes(make: Any, kernels: str, tmp_path: Path) -> None:
    how = {"file": kernels, "target": "cpu", "grid": "cdiv(n, 512)", "options": ["num_warps=4"]}
    made: Made = make("scale", f"{TYPES}, 512, {QUADS}", **how)
    main = f"""int main(void) {{
      static float x[1000], y[1000];
      for (int i = 0; i < 1000; i++) x[i] = (float)i;
      if ({made.function}(x, y, 1000) != TRITIUM_SUCCESS) return 1;
      for (int i = 0; i < 1000; i++) if (y[i] != 2 * x[i]) return 2;
      return 0;
    }}"""
    assert run(build(tmp_path, [made], main, "-pthread", more=[])).returncode == 0


@needs_ptxas
def test_variants_of_two_layouts_are_linked(make: Any, launched: Any, kernels: str, tmp_path: Path) -> None:
    """Each layout is an algorithm of the linked kernel, with its own number of threads."""
    variants = [
        make("scale", f"{TYPES}, 512, {layout}", file=kernels, out_name="scale", options=[f"num_warps={warps}"])
        for layout, warps in ((QUADS, 4), (PAIRS.replace("[4], [0]", "[8], [0]"), 8))
    ]
    assert len({made.function for made in variants}) == 2
    assert link([str(made.path(".h")) for made in variants], str(tmp_path / "scale")) == 0
    text = """
#include "scale.h"
int main(void) { return scale(0, 0x1000, 0x2000, 1000, 0) | scale(0, 0x1000, 0x2000, 1000, 1); }
"""
    status, log = launched(variants, text, sources=(tmp_path / "scale.c",))
    assert status == 0, log
    launches = [line.split() for line in log if line.startswith("launch")]
    assert len(launches) == 2 and "128" in launches[0] and "256" in launches[1], launches


@needs_ptxas
def test_descriptors_are_maps_that_the_caller_encodes(make: Any, kernels: str) -> None:
    tile = "tensordesc<fp16[64, 64], NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)>"
    made: Made = make("copy", f"{tile}, {tile}", file=kernels, options=["num_warps=4"])
    assert "x" in made.prototype and "y" in made.prototype
    assert "127,69,76,70," in made.path(".c").read_text()
