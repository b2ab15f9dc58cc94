"""Programs whose pointers are split compute the same: loops, branches, selects, and offsets of several kinds."""

from __future__ import annotations

import numpy as np
import pytest

import tritium.dialects.all
import tritium.transforms  # noqa: F401  (its passes are known from here on)
from tritium.interpreter.evaluator import run
from tritium.ir import PassManager, parse_module

LAYOUT = "#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>"
MODULE = """{layout}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @f(%a: !tt.ptr<f32>{range}, %o: !tt.ptr<f32>{range}, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %r = tt.make_range {{start = 0 : i32, end = 64 : i32}} : tensor<64xi32, #b>
    %ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #b>
    %to = tt.addptr %os, %r : tensor<64x!tt.ptr<f32>, #b>, tensor<64xi32, #b>
    {body}
    tt.return
  }}
}}
"""
P, T = "tensor<64x!tt.ptr<f32>, #b>", "tensor<64xi32, #b>"
BODIES = {
    "sums": f"""
    %x = arith.addi %ns, %r : {T}
    %y = arith.muli %x, %ns : {T}
    %p = tt.addptr %as, %y : {P}, {T}
    %q = tt.addptr %p, %x : {P}, {T}
    %v = tt.load %q : {P}
    tt.store %to, %v : {P}""",
    "loop": f"""
    %first = tt.addptr %as, %r : {P}, {T}
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first, %q = %to) -> ({P}, {P}) : i32 {{
      %v = tt.load %p : {P}
      tt.store %q, %v : {P}
      %p1 = tt.addptr %p, %ns : {P}, {T}
      %q1 = tt.addptr %q, %r : {P}, {T}
      scf.yield %p1, %q1 : {P}, {P}
    }}
    %w = tt.load %l#0 : {P}
    tt.store %to, %w : {P}""",
    "flip": f"""
    %first = tt.addptr %as, %r : {P}, {T}
    %second = tt.addptr %first, %ns : {P}, {T}
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first, %q = %second) -> ({P}, {P}) : i32 {{
      %p1 = tt.addptr %p, %ns : {P}, {T}
      scf.yield %q, %p1 : {P}, {P}
    }}
    %w = tt.load %l#1 : {P}
    tt.store %to, %w : {P}""",
    "branch": f"""
    %k = arith.cmpi sgt, %n, %c1 : i32
    %l = scf.if %k -> ({P}) {{
      %p = tt.addptr %as, %r : {P}, {T}
      scf.yield %p : {P}
    }} else {{
      %p = tt.addptr %as, %ns : {P}, {T}
      scf.yield %p : {P}
    }}
    %s = tt.addptr %a, %n : !tt.ptr<f32>, i32
    %ss = tt.splat %s : !tt.ptr<f32> -> {P}
    %m = arith.cmpi slt, %r, %ns : {T}
    %t = arith.select %k, %l, %ss : {P}
    %u = arith.select %m, %t, %as : tensor<64xi1, #b>, {P}
    %v = tt.load %u : {P}
    tt.store %to, %v : {P}""",
    "while": f"""
    %l:2 = scf.while (%p = %as, %i = %c0) : ({P}, i32) -> ({P}, i32) {{
      %k = arith.cmpi slt, %i, %n : i32
      scf.condition(%k) %p, %i : {P}, i32
    }} do {{
    ^bb0(%q: {P}, %j: i32):
      %q1 = tt.addptr %q, %r : {P}, {T}
      %j1 = arith.addi %j, %c1 : i32
      scf.yield %q1, %j1 : {P}, i32
    }}
    %v = tt.load %l#0 : {P}
    tt.store %to, %v : {P}""",
}


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_the_same_is_computed(name, small):
    text = MODULE.format(layout=LAYOUT, body=BODIES[name], range=" {tt.pointer_range = 32 : i32}" if small else "")
    module = parse_module(text)
    PassManager("amd-canonicalize-pointers{enable-large-tensor-ptr-canon=true},canonicalize").run(module)
    for n in (0, 1, 3):
        results = []
        for one in (parse_module(text), module):
            out = np.zeros(1024, np.float32)
            run(one, 1, [np.arange(4096, dtype=np.float32), out, n])
            results.append(out)
        np.testing.assert_array_equal(*results)


def test_pointers_that_are_loaded_stay():
    text = MODULE.format(
        layout=LAYOUT,
        range="",
        body=f"""
    %v = tt.load %as : {P}
    tt.store %to, %v : {P}""",
    )
    module = parse_module(text)
    before = str(module)
    PassManager("amd-canonicalize-pointers").run(module)
    assert str(module) == before
