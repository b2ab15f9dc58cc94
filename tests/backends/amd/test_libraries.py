"""Bitcode libraries of AMD GPUs (`extern_libs`): a user's own, and ROCm's OCML where Triton's wheel has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.amd.test_inline_assembly import emulated  # noqa: F401 - a fixture
from tests.triton_oracle import find_interpreter
from tritium.backends.errors import BackendError
from tritium.language import core
from tritium.support import UnsupportedOperation

CUBE = "define float @my_cube(float %x) {\n %y = fmul float %x, %x\n %z = fmul float %y, %x\n ret float %z\n}\n"


@core.builtin
def my_cube(x, _semantic=None):
    table = {(tl.float32,): ("my_cube", tl.float32)}
    return core.extern_elementwise("mine", "", [x], table, is_pure=True, _semantic=_semantic)


@tritium.jit
def cubes(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, my_cube(tl.load(x + at)))


@tritium.jit
def functions(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(o + at, tl.extra.libdevice.tgamma(v))
    tl.store(o + B + at, tl.extra.libdevice.sin(v))
    tl.store(o + 2 * B + at, tl.extra.libdevice.j0(v))


def test_function_of_a_library_of_the_user(emulated: str, tmp_path: Path) -> None:  # noqa: F811
    path, x, out = tmp_path / "mine.ll", np.linspace(-2, 2, 64, dtype=np.float32), np.zeros(64, np.float32)
    path.write_text(CUBE)
    libraries = {"mine": str(path)}
    kernel = cubes[(1,)](x, out, 64, extern_libs=libraries)
    np.testing.assert_array_equal(out, x * x * x)
    assert "my_cube" not in kernel.asm["amdgcn"] and kernel.asm["hsaco"][:4] == b"\x7fELF"
    with pytest.raises(UnsupportedOperation, match="of the library function my_cube is not supported on AMD GPUs"):
        cubes[(1,)](x, out, 64)
    path.write_text(CUBE.replace("my_cube", "my_square"))
    with pytest.raises(BackendError, match="the library function my_cube is in none of the libraries mine"):
        cubes[(1,)](x, out, 64, extern_libs=libraries, num_warps=2)
    for text, message in (("nothing", "is neither bitcode nor LLVM text"), (None, "'mine' cannot be read")):
        path.write_text(text) if text else path.unlink()
        with pytest.raises(BackendError, match=message):
            cubes[(1,)](x, out, 64, extern_libs=libraries, num_warps=8)


def ocml() -> str:
    """OCML of Triton's wheel."""
    interpreter = find_interpreter()
    found = Path(interpreter or "").parents[1] if interpreter else Path("/")
    paths = found.glob("lib/python3*/site-packages/triton/backends/amd/lib/ocml.bc") if interpreter else ()
    return str(next(iter(paths), ""))


@pytest.mark.skipif(not os.path.exists(ocml()), reason="ocml.bc is not installed")
def test_functions_of_ocml(emulated: str) -> None:  # noqa: F811
    special: Any = pytest.importorskip("scipy.special")
    x, out = np.linspace(0.1, 4, 64, dtype=np.float32), np.zeros((3, 64), np.float32)
    functions[(1,)](x, out, 64, extern_libs={"ocml": ocml()})
    np.testing.assert_allclose(out, [special.gamma(x), np.sin(x), special.j0(x)], rtol=3e-6, atol=1e-6)
