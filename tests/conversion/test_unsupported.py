"""Operations that the CPU does not lower: compiling a kernel with one is refused, and the message names it."""

from __future__ import annotations

import pytest

import tritium
from tritium.backends.cpu import host_target
from tritium.support import UnsupportedOperation

PROLOGUE = """
    %n = tt.get_program_id x : i32
    %l = arith.extsi %n : i32 to i64
    %f = tt.load %x : !tt.ptr<f32>
    %v = tt.splat %n : i32 -> tensor<8xi32>
    %t = tt.splat %f : f32 -> tensor<8xf32>
    %ps = tt.splat %i : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
"""
KEEP_F = "tt.store %x, %r : !tt.ptr<f32>"
KEEP_T = "tt.store %xs, %r : tensor<8x!tt.ptr<f32>>"
KEEP_I = "tt.store %i, %r : !tt.ptr<i32>"
LINES = {
    "tt.atomic_rmw": "%r = tt.atomic_rmw add, relaxed, gpu, %x, %f : (!tt.ptr<f32>, f32) -> f32",
    "tt.grid_dependency_wait": "tt.grid_dependency_wait",
    "tt.grid_dependency_launch_dependents": "tt.grid_dependency_launch_dependents",
    "tt.extern_elementwise": (
        '%r = tt.extern_elementwise %t {libname = "libdevice", libpath = "", pure = true, symbol = "__nv_j0f"} :'
        " (tensor<8xf32>) -> tensor<8xf32>\n" + KEEP_T
    ),
    "arith.flush_denormals": "%r = arith.flush_denormals %f : f32\n" + KEEP_F,
    "arith.subui_extended": "%r, %b = arith.subui_extended %n, %n : i32, i1\n" + KEEP_I,
    "arith.addf": "%r = arith.addf %f, %f downward : f32\n" + KEEP_F,
    "math.clampf": "%r = math.clampf %t to [%t, %t] : tensor<8xf32>\n" + KEEP_T,
    "math.ipowi": "%r = math.ipowi %n, %n : i32\n" + KEEP_I,
    "math.sincos": "%s, %r = math.sincos %t : tensor<8xf32>\n" + KEEP_T,
    "scf.execute_region": "%r = scf.execute_region -> i32 {\nscf.yield %n : i32\n}\n" + KEEP_I,
    "scf.for": (
        "%r = scf.for unsigned %k = %n to %n step %n iter_args(%a = %n) -> (i32) : i32 {\n"
        "%b = arith.addi %a, %k : i32\nscf.yield %b : i32\n}\n" + KEEP_I
    ),
    "cf.switch": "cf.switch %n : i32, [\ndefault: ^bb1,\n1: ^bb1\n]\n^bb1:",
}


@pytest.mark.parametrize("name", LINES)
def test_refused_by_name(name, tmp_path):
    path = tmp_path / "kernel.ttir"
    path.write_text(
        f"module {{\n  tt.func public @k(%x: !tt.ptr<f32>, %i: !tt.ptr<i32>) {{{PROLOGUE}\n{LINES[name]}\ntt.return\n}}\n}}\n"
    )
    with pytest.raises(UnsupportedOperation, match=rf"{name}\b.*not supported on the CPU"):
        tritium.compile(str(path), target=host_target())
