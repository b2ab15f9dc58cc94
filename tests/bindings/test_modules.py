"""The module that stages, `make_ir` and `parse_mlir_module` give: Triton's accessors, and ours beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bindings.test_pass_managers import parsed
from tritium._C.libtriton import ir
from tritium.dialects import builtin
from tritium.support import TritiumError

ROOT = Path(__file__).parents[2]

TEXT = """module attributes {ttg.shared = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c = arith.constant 7 : i32
    %d = arith.constant dense<3> : tensor<4xi32>
    %s = tt.splat %n : i32 -> tensor<4xi32>
    %e = arith.addi %s, %d : tensor<4xi32>
    %m = arith.addi %n, %c : i32
    %f = arith.sitofp %m : i32 to f32
    tt.store %x, %f : !tt.ptr<f32>
    tt.return
  }
  tt.func private @helper(%y: i64) attributes {noinline = true} {
    tt.return
  }
}
"""


def test_functions_and_their_arguments() -> None:
    module = parsed(TEXT)
    assert module.has_function("helper") and not module.has_function("other")
    kernel = module.get_function(module.get_entry_func_name())
    assert kernel.get_num_args() == 2 and str(kernel.type) == "(!tt.ptr<f32>, i32) -> ()"
    assert module.get_function_signature(kernel) == ["*f32", "i32"]
    assert kernel.args(1).get_type().is_integer(32) and not kernel.args(0).get_type().is_integer(32)
    kernel.set_arg_attr(0, "tt.divisibility", 32)
    assert "%x: !tt.ptr<f32> {tt.divisibility = 32 : i32}" in module.str_nodebug()
    with pytest.raises(TritiumError, match="no function 'other'; it has: k, helper"):
        module.get_function("other")


def test_constants_shapes_and_attributes() -> None:
    module, found, shapes = parsed(TEXT), [], {}

    def visit(op) -> None:
        if op.get_name() == "arith.constant":
            found.append(op.get_constant_value())
        for i in range(op.get_num_results()):
            shapes[op.get_name()] = op.get_result(i).get_shape()

    module.walk(visit)
    assert found == [7, 3] and shapes["tt.splat"] == [4] and shapes["arith.sitofp"] is None
    assert module.get_int_attr("ttg.shared") == 64 and module.get_int_attr("nothing") is None
    module.set_attr("ttg.maxnreg", ir.builder(module.context).get_int32_attr(128))
    assert "ttg.maxnreg = 128 : i32" in str(module)
    with pytest.raises(TypeError, match="attribute of tritium.ir"):
        module.set_attr("ttg.maxnreg", 128)


def test_the_module_is_ours_too() -> None:
    module = parsed(TEXT)
    assert isinstance(module, builtin.Module) and isinstance(module, ir.module)
    assert sum(op.name == "arith.constant" for op in module.walk()) == 2
    module.context = context = ir.context()
    assert module.context is context and not hasattr(module, "nothing_of_the_kind")


def test_a_location_snapshot_locates_operations_in_the_file(tmp_path: Path) -> None:
    module = parsed(TEXT)
    path = tmp_path / "snapshot.mlir"
    module.create_location_snapshot(str(path))
    lines = path.read_text().splitlines()
    places = []
    module.walk(lambda op: places.append((op.get_name(), str(op.get_loc()))))
    line = next(i for i, text in enumerate(lines, 1) if "tt.store" in text)
    assert ("tt.store", f'loc("{path}":{line}:5)') in places and str(path) in module.str()


WALKED = """module {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %three = arith.constant dense<3> : tensor<64xi32>
    %half = arith.constant 5.000000e-01 : f32
    %sum = scf.for %i = %zero to %n step %one iter_args(%total = %half) -> (f32)  : i32 {
      %f = arith.sitofp %i : i32 to f32
      %next = tt.call @helper(%total, %f) : (f32, f32) -> f32
      scf.yield %next : f32
    } {tt.num_stages = 3 : i32}
    %offsets = arith.addi %range, %three : tensor<64xi32>
    %again = arith.addi %range, %three : tensor<64xi32>
    %both = arith.addi %offsets, %again : tensor<64xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %at = tt.addptr %base, %both : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %values = tt.splat %sum : f32 -> tensor<64xf32>
    %inside = arith.cmpi slt, %range, %three : tensor<64xi32>
    tt.store %at, %values, %inside : tensor<64x!tt.ptr<f32>>
    tt.return
  }
  tt.func private @helper(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
    %c = arith.addf %a, %b : f32
    tt.return %c : f32
  }
}
"""


def test_accessors_return_the_values_of_triton(triton_interpreter, tmp_path: Path) -> None:
    """Before and after passes: names, types, shapes, attributes, constants, blocks, identities of values."""
    path, program = tmp_path / "walked.mlir", str(Path(__file__).with_name("walk_module.py"))
    path.write_text(WALKED)
    told = {}
    for who, interpreter in (("ours", sys.executable), ("theirs", triton_interpreter)):
        done = subprocess.run(
            [interpreter, "-P", program, who, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(ROOT) if who == "ours" else "", "PATH": "", "HOME": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        told[who] = json.loads(done.stdout)
    assert told["ours"] == told["theirs"] and len(told["ours"]) > 40


def test_a_function_made_with_the_builder() -> None:
    builder = ir.builder(ir.context())
    module = builder.create_module()
    ty = builder.get_function_ty([builder.get_ptr_ty(builder.get_float_ty(), 1), builder.get_int32_ty()], [])
    function = builder.get_or_insert_function(module, "made", ty, "public", False)
    builder.set_insertion_point_to_start(function.get_body(0))
    two = builder.get_int32(2)
    product = builder.create_mul(function.args(1), two)
    block = builder.create_splat(builder.get_block_ty(builder.get_int32_ty(), [8]), product)
    builder.create_add(block, block)
    builder.ret([])
    assert module.verify() and function.get_body(0).has_return()
    text = module.str_nodebug()
    assert "arith.muli %arg1, %c2_i32 : i32" in text and "arith.addi %0, %0 : tensor<8xi32>" in text.replace("%1", "%0")
    assert ir.EVICT_LAST == ir.EVICTION_POLICY.EVICT_LAST and ir.MEM_SEMANTIC.ACQUIRE_RELEASE.name == "acq_rel"
