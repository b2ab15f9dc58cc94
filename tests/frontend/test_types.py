"""Types and compile-time values: names, interning, signature strings, operators of constexpr, tuples."""

import copy
import importlib
import operator
import pickle
import warnings

import numpy as np
import pytest
from place import Place

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget
from tritium.dialects import tt
from tritium.ir import Block, TensorType, f32, i32, i64

SCALARS = {
    "i1": (tl.int1, "i1"),
    "u1": (tl.int1, "i1"),
    "B": (tl.int1, "i1"),
    "i8": (tl.int8, "i8"),
    "u16": (tl.uint16, "i16"),
    "i64": (tl.int64, "i64"),
    "fp16": (tl.float16, "f16"),
    "bf16": (tl.bfloat16, "bf16"),
    "fp32": (tl.float32, "f32"),
    "fp64": (tl.float64, "f64"),
    "fp8e5": (tl.float8e5, "f8E5M2"),
    "fp8e4nv": (tl.float8e4nv, "f8E4M3FN"),
    "fp8e4b8": (tl.float8e4b8, "f8E4M3FNUZ"),
    "fp8e5b16": (tl.float8e5b16, "f8E5M2FNUZ"),
    "fp8e4b15": (tl.float8e4b15, "i8"),
}


@pytest.mark.parametrize("name", SCALARS)
def test_signature_strings(name):
    ty, ir = SCALARS[name]
    assert tl.str_to_ty(name) is ty
    assert str(ty.to_ir()) == ir
    assert tl.str_to_ty(f"*{name}") is tl.pointer_type(ty)
    constant = tl.str_to_ty(f"*k{name}")
    assert constant.is_const() and constant is not tl.pointer_type(ty)
    assert constant.to_ir() is tl.pointer_type(ty).to_ir()


def test_host_descriptor():
    ty = tl.str_to_ty("tensordesc<fp16[64, 32]>")
    types = []
    ty._flatten_ir_types(types)
    assert types == [tt.PointerType(tl.float16.to_ir()), i64, i64, i64, i64]
    block = Block(types)
    value, at = ty._unflatten_ir(list(block.args), 0)
    assert at == 5
    assert [int(d) for d in value.block_shape] == [64, 32]
    assert [v.type for v in value.shape] == [tl.int32] * 2
    assert [v.type for v in value.strides] == [tl.int64] * 2
    assert [op.name for op in block] == ["arith.trunci", "arith.trunci", "tt.make_tensor_descriptor"]
    assert str(value.handle.type) == "!tt.tensordesc<64x32xf16>"


def test_types_are_interned():
    pointer = tl.pointer_type(tl.float32)
    assert tl.dtype("fp32") is tl.float32
    assert tl.pointer_type(tl.float32) is pointer
    assert tl.block_type(pointer, [4, tl.constexpr(8)]) is tl.block_type(pointer, (4, 8))
    for ty in (tl.float32, pointer, tl.block_type(pointer, [4])):
        assert pickle.loads(pickle.dumps(ty)) is ty
        assert copy.deepcopy(ty) is ty


def test_names():
    assert (str(tl.float16), repr(tl.float16)) == ("fp16", "triton.language.float16")
    assert (str(tl.int32), repr(tl.bfloat16)) == ("int32", "triton.language.bfloat16")
    assert str(tl.pointer_type(tl.int8)) == "pointer<int8>"
    assert str(tl.block_type(tl.float32, [16, 4])) == "<[16, 4], fp32>"
    assert tl.block_type(tl.float32, [16, 4]).mangle() == "fp32S16_4S"
    assert tl.pointer_type(tl.uint8).mangle() == "Pu8"


def test_properties():
    for ty in (tl.int8, tl.uint8, tl.int1, tl.int64):
        low, high = ty.get_int_min_value(), ty.get_int_max_value()
        assert high - low + 1 == 2**ty.int_bitwidth
        assert (low < 0) is ty.is_int_signed()
    assert tl.bfloat16.fp_mantissa_width == 7 and tl.float8e5.exponent_bias == 15
    assert tl.float16.primitive_bitwidth == 16 and tl.int1.itemsize == 1
    assert tl.float8e4nv.is_fp8() and not tl.float8e4nv.is_standard_floating()
    block = tl.block_type(tl.int32, [4, 8])
    assert (block.numel, block.nbytes, block.get_block_strides()) == (32, 128, (8, 1))
    assert block.to_ir() is TensorType((4, 8), i32)
    assert tl.core.get_int_dtype(16, False) is tl.uint16


def test_a_block_of_pointers():
    ty = tl.block_type(tl.pointer_type(tl.float32), [4])
    assert ty.to_ir() is TensorType((4,), tt.PointerType(f32))
    assert ty.scalar.is_ptr() and not ty.is_ptr()


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"]
OPERATORS += ["lt", "le", "gt", "ge", "eq", "ne"]


@pytest.mark.parametrize("name", OPERATORS)
def test_constexpr_operators(name):
    fn = getattr(operator, name)
    for a, b in ((7, 2), (1, 3), (5, 5)):
        expected = fn(a, b)
        for x, y in ((tl.constexpr(a), tl.constexpr(b)), (tl.constexpr(a), b), (a, tl.constexpr(b))):
            result = fn(x, y)
            assert isinstance(result, tl.constexpr)
            assert result.value == expected and type(result.value) is type(expected)


def test_constexpr_values():
    x = tl.constexpr(tl.constexpr(3))
    assert x.value == 3 and -x == -3 and ~x == -4 and int(x) == 3 and [10, 11, 12, 13][x] == 13
    assert not tl.constexpr(0) and not (tl.constexpr(2) < 1)
    assert hash(tl.constexpr(3)) == hash(tl.constexpr(3))
    assert tl.constexpr([1, 2])[1] == 2 and len(tl.constexpr("ab")) == 2
    assert tl.constexpr(1).type == tl.constexpr(1).type
    assert tl.constexpr(1).type != tl.constexpr(True).type, "True and 1 are different constants"


def test_tuples():
    place = Place(tl.int32, tl.float32)
    t = tl.tuple([*place.args, tl.constexpr(4), None])
    handles = []
    t._flatten_ir(handles)
    assert handles == [a.handle for a in place.args]
    again, at = t.type._unflatten_ir(handles, 0)
    assert at == 2 and again.type == t.type
    assert [getattr(v, "value", v) for v in again.values[2:]] == [4, None]
    assert len(t) == 4 and t[-1] is None and len(t[1:3]) == 2 and len(t + (1,)) == 5


def test_named_tuples():
    t = tl.tuple([tl.constexpr(1), tl.constexpr(2)], fields=["a", "b"])
    assert t.a == 1 and t.b == 2
    again, _ = t.type._unflatten_ir([], 0)
    assert again.b == 2 and again.type == t.type
    assert t.type != tl.tuple([tl.constexpr(1), tl.constexpr(2)]).type
    with pytest.raises(AttributeError):
        t.c


def test_tensor_attributes():
    place = Place(tl.block_type(tl.float16, [4, 8]), tl.int32)
    x, n = place.args
    assert [d.value for d in x.shape] == [4, 8] and x.dtype is tl.float16 and x.numel.value == 32
    assert len(n.shape) == 0 and n.numel.value == 1
    assert x.shape is x.shape, "made once a type"
    with pytest.raises(TypeError):
        bool(n)


def test_library_functions_have_different_identities():
    """Their names are part of cache keys: two functions must never share one."""
    modules = (tl.core, tl.math, tl.extra.libdevice)
    found = {fn for m in modules for n in dir(m) if tl.core.is_builtin(fn := getattr(m, n))}
    found |= {fn for n in dir(tl.tensor) if tl.core.is_builtin(fn := getattr(tl.tensor, n))}
    keys = [fn.cache_key for fn in found]
    assert len(found) > 200
    assert len(set(keys)) == len(keys), sorted(k for k in keys if keys.count(k) > 1)
    assert not any("<locals>" in k for k in keys)


def test_every_public_name_is_there():
    assert [name for name in tl.__all__ if not hasattr(tl, name)] == []
    assert len(tl.__all__) == len(set(tl.__all__)) > 146  # what Triton 3.9 has, and block pointers
    for name in (
        "core",
        "math",
        "random",
        "standard",
        "extra.libdevice",
        "extra.cuda.libdevice",
        "extra.hip.libdevice",
    ):
        assert importlib.import_module(f"tritium.language.{name}").__doc__


@tritium.jit
def printed(x, n: tl.constexpr):
    block = tl.load(x + tl.arange(0, n))
    tl.static_print("of", n, block, block[None, :], tl.program_id(0), x)


def test_blocks_are_printed_as_triton_prints_them(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))  # what is found there is not printed again
    tritium.compile(ASTSource(printed, {"x": "*i32", "n": "constexpr"}, {"n": 64}), GPUTarget("cuda", 90, 32))
    assert (
        capsys.readouterr().out
        == "of 64 int32[constexpr[64]] int32[constexpr[1], constexpr[64]] int32[] pointer<int32>[]\n"
    )


@tritium.jit
def _dot_out_dtype(x, out, TYPE: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tile = tl.load(x + at)
    result = tl.dot(tile, tile, input_precision="ieee", out_dtype=TYPE)
    tl.static_assert(result.dtype == tl.float32)
    tl.store(out + at, result)


@pytest.mark.parametrize("out_dtype", [tl.float64, tl.float16, tl.float32])
def test_dot_of_float32_is_float32_whatever_out_dtype_says(out_dtype, rng) -> None:
    x, out = rng.standard_normal((16, 16)).astype(np.float32), np.zeros((16, 16), np.float32)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _dot_out_dtype[(1,)](x, out, TYPE=out_dtype)
    told = [str(w.message) for w in seen if "out_dtype" in str(w.message)]
    assert len(told) == (out_dtype is not tl.float32), told
    assert all("tl.dot of fp32 gives fp32" in text and w.filename == __file__ for text, w in zip(told, seen))
    np.testing.assert_allclose(out, x @ x, rtol=1e-4, atol=1e-4)
