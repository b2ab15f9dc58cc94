"""Types and attributes: one instance per content, checked on construction."""

from __future__ import annotations

import copy
import math

import pytest

from tritium.dialects import tt
from tritium.ir import (
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FloatType,
    FunctionType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
    element_type,
    f32,
    i1,
    i8,
    i32,
    index,
    scalar_attr,
    shape_of,
    with_element,
)


def test_equal_content_is_one_instance():
    assert TensorType((4, 8), f32) is TensorType((4, 8), f32)
    assert TensorType((4, 8), f32) is not TensorType((8, 4), f32)
    assert IntegerType(32) is i32 and IntegerType(32, "u") is not i32
    assert FunctionType([i32], [f32]) is FunctionType((i32,), (f32,))
    assert tt.PointerType(f32) is tt.PointerType(f32, 1) and tt.PointerType(f32) is not tt.PointerType(f32, 3)
    assert copy.deepcopy(TensorType((4,), f32)) is TensorType((4,), f32)
    assert FloatType("f32") is f32


def test_shapes():
    tile = TensorType((4, 8), f32)
    assert (tile.rank, tile.numel, TensorType((), f32).numel) == (2, 32, 1)
    assert shape_of(tile) == (4, 8) and shape_of(f32) == ()
    assert element_type(tile) is f32 and element_type(i1) is i1
    assert with_element(tile, i8) is TensorType((4, 8), i8)
    assert with_element(VectorType((4,), f32), i8) is VectorType((4,), i8) and with_element(f32, i8) is i8


@pytest.mark.parametrize(
    "make",
    [
        lambda: IntegerType(-1),
        lambda: IntegerType(8, "x"),
        lambda: FloatType("f7"),
        lambda: TensorType((-1,), f32),
        lambda: TensorType((2.5,), f32),
        lambda: VectorType((0,), f32),
        lambda: DenseElementsAttr((1, 2, 3), TensorType((2,), i32)),
        lambda: scalar_attr(1, tt.PointerType(f32)),
    ],
)
def test_ill_formed_content_is_rejected(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize(
    "value, ty, kept",
    [(255, i8, -1), (-1, i8, -1), (128, i8, -128), (3, i1, 1), (-1, i1, 1), (255, IntegerType(8, "u"), 255)]
    + [(-1, IntegerType(8, "u"), 255), (1, IntegerType(1, "s"), -1), (1 << 40, i32, 0), (1 << 40, index, 1 << 40)],
)
def test_integers_are_kept_in_range(value, ty, kept):
    assert IntegerAttr(value, ty).value == kept
    assert IntegerAttr(value, ty) is IntegerAttr(kept, ty)


def test_dense_elements():
    tile = TensorType((2, 2), i32)
    splat = DenseElementsAttr((7,), tile)
    assert splat.is_splat and splat.splat is IntegerAttr(7, i32) and str(splat) == "dense<7> : tensor<2x2xi32>"
    assert str(DenseElementsAttr((1, 2, 3, 4), tile)) == "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>"
    assert DenseElementsAttr((0.0,), TensorType((2,), f32)) is not DenseElementsAttr((-0.0,), TensorType((2,), f32))
    assert DenseElementsAttr((math.nan,), TensorType((2,), f32)) is DenseElementsAttr(
        (math.nan,), TensorType((2,), f32)
    )


def test_dictionaries_are_sorted_and_searched():
    attr = DictionaryAttr({"b": IntegerAttr(1, i32), "a": FloatAttr(0.5, f32)})
    assert str(attr) == "{a = 5.000000e-01 : f32, b = 1 : i32}"
    assert attr.get("b") is IntegerAttr(1, i32) and attr.get("c") is None
