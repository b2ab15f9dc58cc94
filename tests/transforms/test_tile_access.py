"""Block pointers and descriptors mean the same as the scalars, pointers and masks they become.

The evaluator runs both forms: the first from the definition of the operations, the second after the passes.
"""

from __future__ import annotations

import numpy as np
import pytest

from tritium.interpreter.evaluator import TensorDesc, run
from tritium.ir import parse_module, run_pipeline, verify
from tritium.support import UnsupportedOperation
from tritium.transforms.rewrite_tensor_descriptor_to_pointer import rewrite_tensor_descriptor_to_pointer
from tritium.transforms.ttir import TTIR_PIPELINE

ROWS, COLUMNS = 4, 8
TILE = f"!tt.ptr<tensor<{ROWS}x{COLUMNS}xf32>>"


def block_pointer_kernel(check: str, padding: str) -> str:
    """Copies tiles at (%i, %j), (%i, %j + 3), … of %x to the same places of %o; a branch picks the source."""
    attributes = f"{{boundaryCheck = array<i32{check}>{padding}}}"
    store_attributes = f"{{boundaryCheck = array<i32{check}>}}"
    return f"""
tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i64, %n: i64, %s: i64, %i: i32, %j: i32,
                  %p: i1) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %one = arith.constant 1 : i64
  %px = tt.make_tensor_ptr %x, [%m, %n], [%s, %one], [%i, %j] {{order = array<i32: 1, 0>}} : {TILE}
  %po = tt.make_tensor_ptr %o, [%m, %n], [%s, %one], [%i, %j] {{order = array<i32: 1, 0>}} : {TILE}
  %source = scf.if %p -> ({TILE}) {{
    scf.yield %px : {TILE}
  }} else {{
    %py = tt.make_tensor_ptr %y, [%m, %n], [%s, %one], [%i, %j] {{order = array<i32: 1, 0>}} : {TILE}
    scf.yield %py : {TILE}
  }}
  %r:2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %source, %b = %po) -> ({TILE}, {TILE}) : i32 {{
    %v = tt.load %a {attributes} : {TILE}
    tt.store %b, %v {store_attributes} : {TILE}
    %a2 = tt.advance %a, [%c1, %c3] : {TILE}
    %b2 = tt.advance %b, [%c1, %c3] : {TILE}
    scf.yield %a2, %b2 : {TILE}, {TILE}
  }}
  tt.return
}}"""


def both_ways(text, *args):
    """The arrays among the arguments after the program ran as it stands, and after it ran through the passes."""
    results = []
    for rewrite in (False, True):
        module = parse_module(text)
        verify(module)
        if rewrite:
            run_pipeline(module, TTIR_PIPELINE, verifier=verify)
            assert not any(op.name in ("tt.make_tensor_ptr", "tt.advance") for op in module.walk())
            assert not any("descriptor" in op.name for op in module.walk())
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        run(module, 1, copies)
        results.append([a for a in copies if isinstance(a, np.ndarray)])
    return results


@pytest.mark.parametrize("padding", ["", ", padding = 1 : i32", ", padding = 2 : i32"])
@pytest.mark.parametrize("at", [(0, 0), (3, 5), (-2, -3), (-20, 0), (9, 2), (6, 30), (0, -8), (2**31 - 8, 0)])
@pytest.mark.parametrize("flag", [0, 1])
def test_checked_in_both_dimensions(at, padding, flag):
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 7, 11)).astype(np.float32)
    out = np.full((7, 11), 5, np.float32)
    text = block_pointer_kernel(": 0, 1", padding)
    plain, rewritten = both_ways(text, x, y, out, 7, 10, 11, *at, flag)
    for a, b in zip(plain, rewritten):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("check", "at"), [(": 0", (-2, 1)), (": 1", (1, -2)), (": 1", (2, 7)), ("", (1, 2))])
def test_only_the_named_dimensions_are_checked(check, at):
    """Dimensions that are not named must be inside, or the evaluator finds the access out of bounds."""
    x, y = np.arange(2 * 9 * 16, dtype=np.float32).reshape(2, 9, 16)
    out = np.zeros((9, 16), np.float32)
    plain, rewritten = both_ways(block_pointer_kernel(check, ""), x, y, out, 9, 16, 16, *at, 1)
    for a, b in zip(plain, rewritten):
        np.testing.assert_array_equal(a, b)
    assert (plain[2] != 0).any()


DESCRIPTOR = """
tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_descriptor %x, [%m, %n], [%s, %one] {padding = PADDING : i32} : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>
  %b = tt.make_tensor_descriptor %o, [%m, %n], [%s, %one] : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tt.descriptor_load %a[%i, %j] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.descriptor_store %b[%c0, %c1], %v : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>
  tt.return
}"""


@pytest.mark.parametrize("padding", [1, 2])
@pytest.mark.parametrize("at", [(0, 0), (-1, -2), (5, 9), (-10, 3), (2, 100)])
def test_descriptors_made_in_the_kernel(at, padding):
    x = np.random.default_rng(2).standard_normal((6, 12)).astype(np.float32)
    out = np.full((6, 12), 5, np.float32)
    plain, rewritten = both_ways(DESCRIPTOR.replace("PADDING", str(padding)), x, out, 6, 11, 12, *at)
    np.testing.assert_array_equal(plain[1], rewritten[1])


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptor_arguments_become_base_shape_strides(padding):
    """What launchers pack: the base, then sizes, then strides; the padding is known when compiling."""
    attribute = " {tt.padding = 2 : i32}" if padding == "nan" else ""
    text = f"""
tt.func public @k(%d: !tt.tensordesc<4x8xf32>{attribute}, %o: !tt.ptr<f32>, %i: i32) {{
  %one = arith.constant 1 : i64
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  %c4 = arith.constant 4 : i64
  %c8 = arith.constant 8 : i64
  %c0 = arith.constant 0 : i32
  %p = tt.make_tensor_ptr %o, [%c4, %c8], [%c8, %one], [%c0, %c0] {{order = array<i32: 1, 0>}} : {TILE}
  tt.store %p, %v : {TILE}
  tt.return
}}"""
    module = parse_module(text)
    x = np.random.default_rng(3).standard_normal((5, 6)).astype(np.float32)
    desc = TensorDesc(x, (5, 6), (6, 1), padding)
    expected, found = np.zeros((2, 4, 8), np.float32)
    run(module, 1, [desc, expected, -1])
    run_pipeline(module, TTIR_PIPELINE, verifier=verify)
    types = [str(a.type) for a in module.body.first.entry.args]
    assert types == ["!tt.ptr<f32>", "i64", "i64", "i64", "i64", "!tt.ptr<f32>", "i32"]
    run(module, 1, [desc, found, -1])
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(found).any() == (padding == "nan")


ROWS = """
tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %last: i64, %r: !tt.ptr<i32>, %j: i32) {
  %one = arith.constant 1 : i64
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %rs = tt.splat %r : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %rp = tt.addptr %rs, %range : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %rows = tt.load %rp : tensor<8x!tt.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %x, [%m, %n], [%s, %last] {padding = PADDING : i32} : !tt.ptr<f32>, !tt.tensordesc<1x8xf32>
  %b = tt.make_tensor_descriptor %o, [%m, %n], [%s, %last] : !tt.ptr<f32>, !tt.tensordesc<1x8xf32>
  %v = tt.descriptor_gather %a[%rows, %j] : (!tt.tensordesc<1x8xf32>, tensor<8xi32>, i32) -> tensor<8x8xf32>
  tt.descriptor_scatter %b[%rows, %c0], %v : !tt.tensordesc<1x8xf32>, tensor<8xi32>, i32, tensor<8x8xf32>
  tt.return
}"""


@pytest.mark.parametrize("padding", [1, 2])
@pytest.mark.parametrize("column", [0, -3, 4, 40])
@pytest.mark.parametrize("strides", [(16, 1), (20, 2), (1, 12)])
def test_rows_of_descriptors(column, padding, strides):
    """Rows in any order, outside too; the stride of the columns need not be 1."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal(300).astype(np.float32)
    out = np.full(300, 5, np.float32)
    rows = np.array([3, 0, -1, 9, 5, 100, 7, 2], np.int32)
    plain, rewritten = both_ways(ROWS.replace("PADDING", str(padding)), x, out, 10, 11, *strides, rows, column)
    np.testing.assert_array_equal(plain[1], rewritten[1])
    assert (plain[1] != 5).any()


REDUCE = """
tt.func public @k(%x: !tt.ptr<ELEMENT>, %o: !tt.ptr<ELEMENT>, %n: i32, %i: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %a = tt.make_tensor_descriptor %x, [%n], [%one] : !tt.ptr<ELEMENT>, !tt.tensordesc<8xBLOCK>
  %b = tt.make_tensor_descriptor %o, [%n], [%one] : !tt.ptr<ELEMENT>, !tt.tensordesc<8xBLOCK>
  %v = tt.descriptor_load %a[%c0] : !tt.tensordesc<8xBLOCK> -> tensor<8xELEMENT>
  tt.descriptor_reduce KIND, %b[%i], %v : !tt.tensordesc<8xBLOCK>, tensor<8xELEMENT>
  tt.return
}"""
KINDS = [("f32", "f32", kind) for kind in ("add", "min", "max")]
KINDS += [
    ("i32", block, kind) for block in ("i32", "si32", "ui32") for kind in ("add", "min", "max", "and", "or", "xor")
]


@pytest.mark.parametrize(("element", "block", "kind"), KINDS)
@pytest.mark.parametrize("at", [0, -3, 5])
def test_combining_stores(element, block, kind, at):
    rng = np.random.default_rng(11)
    x, out = (rng.integers(-999, 999, 11).astype(np.float32 if element == "f32" else np.int32) for _ in range(2))
    x[:2] = 2000, -2000  # above and below all others: every kind changes something
    text = REDUCE.replace("ELEMENT", element).replace("BLOCK", block).replace("KIND", kind)
    plain, rewritten = both_ways(text, x, out, 10, at)
    np.testing.assert_array_equal(plain[1], rewritten[1])
    assert (plain[1] != out).any()


@pytest.mark.parametrize(("block", "kind"), [("f32", "and"), ("ui32", "inc")])
def test_combining_stores_that_no_atomic_does(block, kind):
    element = block.removeprefix("u").removeprefix("s")
    module = parse_module(REDUCE.replace("ELEMENT", element).replace("BLOCK", block).replace("KIND", kind))
    with pytest.raises(UnsupportedOperation, match="needs hardware that reads descriptors"):
        run_pipeline(module, TTIR_PIPELINE, verifier=verify)


def nested_copy(rank):
    """Copies a block of 2 x … x 2 at (%i, %i, …) of %x to the same place of %o; sizes %n in every dimension."""
    shape = "2x" * rank
    sizes = ", ".join(["%n"] * rank)
    strides = ", ".join(f"%s{d}" for d in range(rank))
    indices = ", ".join(["%i"] * rank)
    ty = f"!tt.tensordesc<{shape}f32>"
    constants = "\n".join(f"  %s{d} = arith.constant {4 ** (rank - 1 - d)} : i64" for d in range(rank))
    return f"""
tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %i: i32) {{
{constants}
  %a = tt.make_tensor_descriptor %x, [{sizes}], [{strides}] {{padding = 2 : i32}} : !tt.ptr<f32>, {ty}
  %b = tt.make_tensor_descriptor %o, [{sizes}], [{strides}] : !tt.ptr<f32>, {ty}
  %v = tt.descriptor_load %a[{indices}] : {ty} -> tensor<{shape}f32>
  %c0 = arith.constant 0 : i32
  tt.descriptor_store %b[{", ".join(["%c0"] * rank)}], %v : {ty}, tensor<{shape}f32>
  tt.return
}}"""


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("at", [0, -1, 2])
def test_descriptors_of_up_to_five_dimensions(rank, at):
    x = np.random.default_rng(rank).standard_normal(4**rank).astype(np.float32)
    out = np.full(4**rank, 5, np.float32)
    plain, rewritten = both_ways(nested_copy(rank), x, out, 3, at)
    np.testing.assert_array_equal(plain[1], rewritten[1])
    assert (plain[1] != 5).any() and np.isnan(plain[1]).any() == (at != 0)


def test_a_function_that_is_called_takes_all_parts():
    """Whether it is private or not: the call says what they are."""
    module = parse_module("""
tt.func public @callee(%d: !tt.tensordesc<4x8xf32>, %i: i32) -> tensor<4x8xf32> attributes {noinline = true} {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.return %v : tensor<4x8xf32>
}
tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %s: i64, %i: i32) -> tensor<4x8xf32> {
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %s] : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>
  %v = tt.call @callee(%d, %i) : (!tt.tensordesc<4x8xf32>, i32) -> tensor<4x8xf32>
  tt.return %v : tensor<4x8xf32>
}""")
    verify(module)
    rewrite_tensor_descriptor_to_pointer(module)
    verify(module)
    types = [str(a.type) for a in module.body.first.entry.args]
    assert types == ["!tt.ptr<f32>", "i64", "i64", "i64", "i64", "i1", "i32"]
