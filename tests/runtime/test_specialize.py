"""The specialization table, by value and by annotation, and what is refused."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.frontend.aggregates import aggregate
from tritium.frontend.errors import CompilationError
from tritium.runtime import ArgumentError, TensorDescriptor
from tritium.runtime.specialize import ParameterRule, constant_key, parameter_rules, possible_divisors, specialize

ALIGNED = np.zeros(64, np.float32)
ALIGNED = ALIGNED[(-ALIGNED.ctypes.data % 16) // 4 :]
Pair = collections.namedtuple("Pair", "first second")


def rule(annotation: str = "", special: bool = True, alignment: bool = True, const: bool = False) -> ParameterRule:
    return ParameterRule("v", False, const, special, special and alignment, annotation)


@pytest.mark.parametrize(
    "value, expected",
    [
        (None, ("constexpr", None)),
        (1, ("constexpr", 1)),
        (0, ("i32", "D")),
        (2, ("i32", "")),
        (16, ("i32", "D")),
        (-16, ("i32", "D")),
        (-1, ("i32", "")),
        (2**31 - 1, ("i32", "")),
        (-(2**31), ("i32", "D")),
        (2**31, ("i64", "D")),
        (-(2**31) - 1, ("i64", "")),
        (2**63 - 1, ("i64", "")),
        (2**63, ("u64", "D")),
        (2**64 - 1, ("u64", "")),
        (True, ("u1", "")),
        (False, ("u1", "")),
        (1.0, ("fp32", "")),
        (float("nan"), ("fp32", "")),
        (np.int32(16), ("i32", "D")),
        (np.int64(1), ("constexpr", 1)),
        (np.float32(2.5), ("fp32", "")),
        (np.float64(2.5), ("fp32", "")),
        (np.float16(2.5), ("fp32", "")),
        (np.bool_(True), ("u1", "")),
        (ALIGNED, ("*fp32", "D")),
        (ALIGNED[1:], ("*fp32", "")),
        ((1, 3, None), (("constexpr", "i32", "constexpr"), (1, "", None))),
        ((), ((), ())),
        (Pair(16, (1.5, True)), (Pair("i32", ("fp32", "u1")), ("D", ("", "")))),
    ],
    ids=repr,
)
def test_table(value, expected) -> None:
    found = specialize(value, rule())
    assert found == expected
    assert type(found[0]) is type(expected[0])


@pytest.mark.parametrize(
    "value, how, expected",
    [
        (1, {"special": False}, ("i32", "")),
        (16, {"special": False}, ("i32", "")),
        (16, {"alignment": False}, ("i32", "")),
        (1, {"alignment": False}, ("constexpr", 1)),
        (ALIGNED, {"alignment": False}, ("*fp32", "")),
        (ALIGNED, {"const": True}, ("*kfp32", "D")),
        (16, {"annotation": "i64"}, ("i64", "D")),
        (1, {"annotation": "i64"}, ("constexpr", 1)),
        (3, {"annotation": "u8"}, ("u8", "")),
        (3, {"annotation": "fp64"}, ("fp64", "")),
        (3.5, {"annotation": "fp16"}, ("fp16", "")),
        (True, {"annotation": "i32"}, ("i32", "")),
        (1, {"annotation": "u1"}, ("u1", "")),
    ],
)
def test_rules(value, how, expected) -> None:
    assert specialize(value, rule(**how)) == expected


@pytest.mark.parametrize(
    "dtype, name",
    [
        ("float64", "fp64"), ("float16", "fp16"), ("bool", "i1"), ("int8", "i8"), ("uint8", "u8"), ("int16", "i16"),
        ("uint16", "u16"), ("int32", "i32"), ("uint32", "u32"), ("int64", "i64"), ("uint64", "u64"),
    ],
)  # fmt: skip
def test_numpy_elements(dtype: str, name: str) -> None:
    assert specialize(np.zeros(4, dtype), rule())[0] == f"*{name}"


def test_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert specialize(np.zeros(4, ml_dtypes.bfloat16), rule())[0] == "*bf16"
    assert specialize(np.zeros(4, ml_dtypes.float8_e4m3fn), rule())[0] == "*fp8e4nv"


@pytest.mark.torch
def test_torch_elements() -> None:
    import torch

    for dtype, name in {
        torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16", torch.bool: "i1", torch.uint8: "u8",
        torch.int64: "i64", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
    }.items():  # fmt: skip
        assert specialize(torch.empty(4, dtype=dtype), rule())[0] == f"*{name}"


def test_tensor_descriptor() -> None:
    descriptor = TensorDescriptor(np.zeros((64, 64), np.float32)[:, :], [64, 64], [64, 1], [32, 16])
    assert specialize(descriptor, rule())[0] == "tensordesc<fp32[32, 16]>"
    padded = TensorDescriptor(np.zeros((64, 64), np.float32)[:, :], [64, 64], [64, 1], [32, 16], "nan")
    assert specialize(padded, rule())[0] == "tensordesc<fp32[32, 16], nan>"
    # of rows that end inside of 16 bytes
    descriptor.shape = [*descriptor.shape[:-1], 13]
    padded.shape = list(descriptor.shape)
    assert specialize(descriptor, rule()) == ("tensordesc<fp32[32, 16], uneven>", "zero, uneven")
    assert specialize(padded, rule())[0] == "tensordesc<fp32[32, 16], nan, uneven>"
    with pytest.raises(ArgumentError, match="last stride"):
        TensorDescriptor(ALIGNED, [8, 8], [8, 2], [4, 4])
    with pytest.raises(ArgumentError, match="strides must be 16-byte aligned.* 7 elements of 4 bytes"):
        TensorDescriptor(ALIGNED, [8, 7], [7, 1], [4, 4])
    with pytest.raises(ArgumentError, match="strides must be integers: that of dimension 0 is '8'"):
        TensorDescriptor(ALIGNED, [8, 8], ["8", 1], [4, 4])
    with pytest.raises(ArgumentError, match="rank must not be zero"):
        TensorDescriptor(ALIGNED, [], [], [])
    with pytest.raises(AssertionError, match="shape must be positive"):
        TensorDescriptor(ALIGNED, [0, 8], [8, 1], [4, 4])
    with pytest.raises(ValueError, match="numel \\(2097152\\) exceeds"):
        TensorDescriptor(ALIGNED, [8, 8], [8, 1], [2048, 1024])
    with pytest.raises(ArgumentError, match="`nan` is only supported for floating point"):
        TensorDescriptor(np.zeros((8, 8), np.int32), [8, 8], [8, 1], [4, 4], "nan")


@pytest.mark.parametrize(
    "value, text",
    [
        ("text", r"argument 'v': a kernel cannot take a value of type str\nhint: annotate the parameter"),
        ({}, "value of type dict"),
        (2**64, "does not fit into 64 bits"),
        (np.zeros(3, complex), "argument 'v': unsupported element type complex128"),
        (np.zeros(3, ">f4"), "unsupported byte order"),
        (np.zeros(3, object), "unsupported element type object"),
        (1j, "value of type complex"),
    ],
)  # fmt: skip
def test_refusals(value, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        specialize(value, rule())


@pytest.mark.parametrize("value, annotation", [(300, "i8"), (-1, "u32"), (1.5, "i32")])
def test_annotations_are_checked(value, annotation: str) -> None:
    with pytest.raises(ArgumentError, match=annotation):
        specialize(value, rule(annotation))


def test_constants_are_distinguished() -> None:
    values = [1, True, 1.0, "1", 0.0, -0.0, 0, False, None, (1,), (True,), [1], float("nan")]
    assert len({constant_key(v) for v in values}) == len(values)
    assert constant_key(float("nan")) == constant_key(float("nan"))


def test_a_constant_is_always_specialized() -> None:
    @tritium.jit(do_not_specialize=["N"])
    def kernel(x, N: tritium.language.constexpr):
        pass

    with pytest.raises(CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        kernel[(1,)](ALIGNED, 5)


def test_rules_of_parameters() -> None:
    @tritium.jit
    def kernel(a, b: tl.constexpr, c: tl.int64, d: int, e: bf16, f):  # noqa: F821
        pass

    rules = parameter_rules(kernel.params, ["a", 2], ["f"])
    assert [r.constexpr for r in rules] == [False, True, False, False, False, False]
    assert [r.type for r in rules] == ["", "", "i64", "", "bf16", ""]
    assert [r.special for r in rules] == [False, True, False, True, True, True]
    assert [r.alignment for r in rules] == [False, True, False, True, True, False]
    with pytest.raises(ArgumentError, match="no parameter 'z'"):
        parameter_rules(kernel.params, ["z"], [])


@tritium.jit
def _divides_by_the_second(a, b, c):
    return a // b + c


@tritium.jit
def _passes_on(x, y):
    return _divides_by_the_second(x, c=x, b=y)


def test_arguments_of_a_function_divide_only_where_it_divides_by_them():
    scope = {"f": _divides_by_the_second, "g": _passes_on}
    assert possible_divisors("f(p, q + r, s)", scope) == {"q", "r"}
    assert possible_divisors("f(p, c=s, b=q)", scope) == {"q"}
    assert possible_divisors("g(p, q)", scope) == {"q"}, "through another function"
    assert possible_divisors("f(p // t, q, h(u, v))", scope) == {"t", "q", "u", "v"}, "h is not known"
    assert possible_divisors("f(*p)", scope) == {"p"}


def _class_with(number: int) -> type:
    class Made:
        N = tl.constexpr(number)

    return Made


def _aggregate_with(number: int, other: int) -> type:
    factor = tl.constexpr(number)

    @aggregate
    class Made:
        x: tl.tensor
        OTHER = tl.constexpr(other)

        @tritium.jit
        def get(self):
            return self.x * factor

    return Made


@tritium.jit
def store_constant(out, S: tl.constexpr):
    tl.store(out, S.N)


@tritium.jit
def store_method(out, S: tl.constexpr):
    tl.store(out, S(tl.program_id(0) + 1).get() + S.OTHER)


def test_classes_of_one_name_are_told_apart_by_content():
    out = np.zeros(1, np.int32)
    for number in (3, 4, 3):
        store_constant[(1,)](out, _class_with(number))
        assert out[0] == number


def test_aggregates_of_equal_content_share_a_kernel():
    out = np.zeros(1, np.int32)
    kernels = []
    for number, other in ((3, 5), (4, 5), (3, 6), (3, 5)):
        kernels.append(store_method[(1,)](out, _aggregate_with(number, other)))
        assert out[0] == number + other
    assert kernels[0] is kernels[3]
    assert len(set(map(id, kernels))) == 3
