"""The same tile programs compile for every named CPU, and run alike without wide vectors or masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, poisoned
from tests.conversion.test_tt_to_ttc import elementwise, sample, tile
from tritium.backends.cpu import compile_llvm, host_target, named_target, target_names

SCALAR_CALLS = ("expf", "exp2f", "logf", "sinf", "erff", "__truncsfbf2", "__extendhfsf2", "fmodf")
DOT = """%t = tt.trans %a {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
      %c = arith.constant dense<1.0> : tensor<32x32xf32>
      %d = tt.dot %a, %t, %c : tensor<32x64xf32> * tensor<64x32xf32> -> tensor<32x32xf32>
      %r = math.exp %d : tensor<32x32xf32>"""
PROGRAMS = {
    "add": elementwise("arith.addf", "f32", 256),
    "half": elementwise("arith.mulf", "f16", 64),
    "bfloat": elementwise("arith.mulf", "bf16", 64),
    "bytes": elementwise("arith.divsi", "i8", 64),
    "log": elementwise("math.log2", "f64", 32, 1),
    "dot": tile(32, 64, DOT, result="tensor<32x32xf32>"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", target_names())
@pytest.mark.parametrize("program", PROGRAMS)
def test_compiles_without_library_calls(program: str, name: str) -> None:
    target = named_target(name)
    compiled = compile_llvm(Kernel(PROGRAMS[program], target=target).lowered.text, target)
    assert len(compiled.object) > 200
    if program != "half" or name not in ("x86-64", "x86-64-v2"):  # without F16C, f16 is converted by a library
        called = [c for c in SCALAR_CALLS if f" {c}" in compiled.asm.replace("\t", " ").replace("_" + c, " " + c)]
        assert not called


@pytest.mark.parametrize("name", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("n", [1, 255, 256, 300])
def test_runs_with_narrower_vectors(name: str, n: int) -> None:
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("needs an x86-64 processor to run x86-64 code")
    target = named_target(name)
    if name == "x86-64-v4" and not host_target().has_avx512:
        pytest.skip("needs AVX-512")
    for ty, dtype in (("f32", np.float32), ("i8", np.int8), ("f64", np.float64)):
        op = "arith.addi" if ty == "i8" else "arith.addf"
        x, y = sample(1, n).astype(dtype)[0], sample(2, n).astype(dtype)[1]
        out = poisoned(n + 3, dtype)
        Kernel(elementwise(op, ty, 256), target=target)((-(-n // 256),), x, y, out, n)
        np.testing.assert_array_equal(out[:n], x + y)
        assert (out[n:] == 113).all()
