"""Functions of the language that programs define with `tl.core.builtin`, by the methods of Triton's `_semantic`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, compile
from tritium.frontend.errors import CompilationError
from tritium.frontend.semantics import Semantic
from tritium.frontend.semantics.errors import IncompatibleTypes
from tritium.frontend.visitor.builder_bindings import OPERATIONS

I8 = np.array([0, 5, -3, 7, 2, 9, -8, 1], np.int32)


def custom(function: Any) -> Any:
    return tl.core.builtin(function)


@custom
def comparisons(x, y, _semantic=None):
    s = _semantic
    parts = [s.equal(x, y), s.not_equal(x, y), s.less_than(x, y), s.less_equal(x, y), s.greater_than(x, y)]
    total = s.make_scalar(0, tl.int32)
    for i, part in enumerate([*parts, s.greater_equal(x, y)]):
        total = s.add(total, s.shl(s.cast(part, tl.int32), s.make_scalar(i, tl.int32)), False)
    return total


@custom
def signs(x, y, _semantic=None):
    s = _semantic
    return s.plus(s.minus(x)) if s.to_tensor_type(x).scalar == tl.int32 else x


@custom
def joined_types(x, y, _semantic=None):
    s = _semantic
    a, b = s.binary_op_type_checking_impl(x, 3)
    a, b, c = s.ternary_op_type_checking_impl(a, b, y)
    a, c = s.bitwise_op_type_checking_impl(a, c)
    assert a.type == b.type == c.type
    assert s.integer_promote_impl(tl.int8, tl.int32) == tl.int32
    assert s.computation_type_impl(tl.int32, False, tl.float16, False, False) == tl.float16
    s.check_ptr_type_impl(tl.int32, tl.int32, False)
    c = s.broadcast_impl_value(c, s.broadcast_impl_shape(s.make_scalar(1, tl.int32), [8]))[0]
    return s.multiple_of(s.max_constancy(s.max_contiguous(c, [1]), [1]), [1])


@custom
def caught(x, y, _semantic=None):
    """A pointer and a float have no sum: what a program catches that tries several ways."""
    pointer = _semantic.cast(x, tl.pointer_type(tl.float32))
    try:
        return _semantic.binary_op_type_checking_impl(pointer, _semantic.cast(y, tl.float32), True, True)[0]
    except IncompatibleTypes as error:
        assert error.type_a.is_ptr() and error.type_b == tl.float32
        return y


@custom
def handles(x, y, _semantic=None):
    s = _semantic
    made = s.builder.create_add(x.handle, s.to_inline_asm_operand(y).handle)
    again = s.builder.create_mul(made, made)
    assert s.lang.int32 is tl.int32 and s.make_tensor(made, x.type).type == s.tensor(made, x.type).type
    s.debug_barrier()
    return s.wrap_tensor(again, tl.int32, [8])


@tritium.jit
def apply(X, Y, OUT, FN: tl.constexpr):
    at = tl.arange(0, 8)
    tl.store(OUT + at, FN(tl.load(X + at), tl.load(Y + at)))


def expected(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    tests = (x == y, x != y, x < y, x <= y, x > y, x >= y)
    return {
        "comparisons": sum(t.astype(np.int32) << i for i, t in enumerate(tests)),
        "signs": -x,
        "joined_types": y,
        "caught": y,
        "handles": (x + y) ** 2,
    }[name]


@pytest.mark.parametrize("function", [comparisons, signs, joined_types, caught, handles])
def test_methods_of_semantic_compute_the_results_of_triton(function) -> None:
    x, y, out = I8.copy(), I8[::-1].copy(), np.zeros(8, np.int32)
    y[0] = x[0]
    apply[(1,)](x, y, out, FN=function)
    np.testing.assert_array_equal(out, expected(function.__name__, x, y))


@custom
def atomic(name, ptr, val, _semantic=None):
    ptr, val, mask = _semantic.atom_red_typechecking_impl(ptr, val, None, name)
    return getattr(_semantic, f"atomic_{name}")(ptr, val, mask, "relaxed", "gpu")


@tritium.jit
def atomics(X, V, OLD, NAME: tl.constexpr):
    at = tl.arange(0, 8)
    tl.store(OLD + at, atomic(NAME, X + at, tl.load(V + at)))


@pytest.mark.parametrize("name", ["add", "and", "or", "xor", "max", "min", "xchg"])
def test_atomics_of_semantic(name: str) -> None:
    x, v, old = I8.copy(), I8[::-1].copy(), np.zeros(8, np.int32)
    operate = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    operate |= {"max": np.maximum, "min": np.minimum, "xchg": lambda a, b: b}
    atomics[(1,)](x, v, old, NAME=name)
    np.testing.assert_array_equal(old, I8)
    np.testing.assert_array_equal(x, operate[name](I8, v))


@custom
def reduce_into(name, desc, value, offsets, _semantic=None):
    _semantic.validate_store_like(desc, value, offsets)
    getattr(_semantic, f"descriptor_atomic_{name}")(desc, value, offsets)


@tritium.jit
def reduces(desc, NAME: tl.constexpr):
    reduce_into(NAME, desc, tl.full((4, 8), 6, tl.int32), [0, 0])


@pytest.mark.parametrize("name", ["add", "and", "or", "xor", "max", "min"])
def test_reductions_through_descriptors(name: str) -> None:
    source = ASTSource(reduces, {"desc": "tensordesc<i32[4,8]>", "NAME": "constexpr"}, {"NAME": name})
    ttir = compile(source, target=GPUTarget("cuda", 90, 32), until="ttir").asm["ttir"]
    assert f"tt.descriptor_reduce {name}" in ttir


@custom
def refused(name, x, y, _semantic=None):
    return getattr(_semantic, name.value)(x, y)


@custom
def refused_operation(name, x, y, _semantic=None):
    return getattr(_semantic.builder, name.value)(x.handle)


@tritium.jit
def uses(X, FN: tl.constexpr, NAME: tl.constexpr):
    tl.store(X, FN(NAME, tl.load(X), 1))


@pytest.mark.parametrize(
    ("function", "name", "instead"),
    [
        (refused, "reduction", "tl.reduce"),
        (refused, "associative_scan", "tl.associative_scan"),
        (refused, "deduce_scale_factor", "tl.dot_scaled"),
        (refused, "verify_scaled_shape", "tl.dot_scaled"),
        (refused, "binary_op_sanitize_overflow_impl", "sanitize_overflow"),
        (refused_operation, "create_reduce", r"_semantic\.builder\.add\(op\)"),
        (refused_operation, "get_block_ty", "tritium.dialects"),
    ],
)
def test_unsupported_function_is_an_error_at_the_line_of_the_kernel(function, name: str, instead: str) -> None:
    with pytest.raises(CompilationError, match=rf"(?s){name} is not supported.*FN\(NAME.*{instead}"):
        uses[(1,)](np.zeros(1, np.int32), FN=function, NAME=name)


@custom
def warps(_semantic=None):
    return tl.constexpr(_semantic.builder.options.num_warps)


@tritium.jit
def asks(X):
    tl.store(X, warps())


def test_the_builder_has_the_options_of_the_compile() -> None:
    source = ASTSource(asks, {"X": "*i32"})
    ttir = compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 8}, until="ttir").asm["ttir"]
    assert "arith.constant 8 : i32" in ttir


def test_every_method_of_triton_s_class_is_there(wheel) -> None:
    assert [name for name in wheel["semantic"] if not hasattr(Semantic, name)] == []
    assert [f"create_{name}" for name in OPERATIONS if f"create_{name}" not in wheel["builder"]] == []
