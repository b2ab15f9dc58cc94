"""Gluon's layouts: fields, equality, symbols, and attributes of the IR and back."""

import pytest

from tritium.dialects.ttg_maps import linear_layout
from tritium.experimental.gluon import language as gl
from tritium.frontend.errors import LanguageError
from tritium.frontend.gluon.layouts import layout_of, linear_form, warps_per_cta

BLOCKED = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
MMA = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])

REGISTERS = [
    (BLOCKED, [32, 64]),
    (gl.BlockedLayout([2], [32], [4], [0], cga_layout=[[1]]), [1024]),
    (gl.SliceLayout(0, BLOCKED), [64]),
    (gl.SliceLayout(1, MMA), [64]),
    (MMA, [64, 64]),
    (gl.DotOperandLayout(0, gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]), 2), [64, 32]),
    (gl.DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[64], [128]], [], [256]), [256]),
]
SHARED = [
    (gl.NVMMASharedLayout(128, 16), [64, 64], "swizzlingByteWidth = 128"),
    (gl.NVMMASharedLayout(32, 8, transposed=True), [64, 64], "transposed = true"),
    (gl.SwizzledSharedLayout(8, 1, 4, [1, 0]), [64, 64], "maxPhase = 4"),
    (gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 32], [1, 0]), [16, 32], "[32:+4]"),
    (gl.SharedLinearLayout([[0, 1], [1, 0]], alignment=64), [2, 2], "alignment = 64"),
]


@pytest.mark.parametrize(("layout", "shape"), REGISTERS, ids=lambda v: type(v).__name__)
def test_register_layouts_survive_the_way_through_the_ir(layout, shape):
    assert layout_of(layout.attribute(), shape) == layout
    assert hash(layout_of(layout.attribute(), shape)) == hash(layout)
    assert gl.distributed_type(gl.float16, shape, layout) is gl.distributed_type(gl.float16, list(shape), layout)


@pytest.mark.parametrize(("layout", "shape", "text"), SHARED, ids=lambda v: type(v).__name__)
def test_shared_layouts_survive_the_way_through_the_ir(layout, shape, text):
    assert text in str(layout.attribute())
    assert layout_of(layout.attribute(), shape) == layout


@pytest.mark.parametrize(("layout", "shape"), REGISTERS, ids=lambda v: type(v).__name__)
def test_linear_forms_of_register_layouts_hold_the_same_elements(layout, shape):
    linear = linear_form(layout, shape)
    assert isinstance(linear, gl.DistributedLinearLayout)
    assert linear_layout(linear.attribute(), tuple(shape)) is linear_layout(layout.attribute(), tuple(shape))


@pytest.mark.parametrize(("layout", "shape"), [pair[:2] for pair in SHARED[:3]], ids=lambda v: type(v).__name__)
def test_linear_forms_of_shared_layouts_hold_the_same_elements(layout, shape):
    linear = linear_form(layout, shape)
    assert linear_layout(linear.attribute(), tuple(shape)) is linear_layout(layout.attribute(), tuple(shape))


def test_layouts_that_differ_are_not_equal_and_have_other_symbols():
    others = [gl.BlockedLayout([1, 4], [4, 8], [1, 4], [1, 0]), gl.SliceLayout(0, BLOCKED), gl.SliceLayout(1, BLOCKED)]
    assert all(layout != BLOCKED for layout in others)
    assert len({layout.mangle() for layout in (BLOCKED, *others)}) == 4
    assert gl.AutoLayout() == gl.AutoLayout() != gl.CoalescedLayout()


@pytest.mark.parametrize(
    ("shape", "dtype", "options", "width"),
    [
        ([64, 64], gl.float16, {}, 128),
        ([64, 32], gl.float16, {}, 64),
        ([64, 16], gl.float16, {}, 32),
        ([64, 8], gl.float16, {}, 0),
        ([4, 64], gl.float16, {}, 0),
        ([128], gl.float16, {}, 0),
        ([64, 128], gl.float16, {"transposed": True}, 128),
        ([128, 64], gl.float8e4nv, {"fp4_padded": True}, 128),
        ([2, 8, 32], gl.float32, {}, 128),
    ],
)
def test_the_default_swizzle_is_the_widest_that_rows_fill(shape, dtype, options, width):
    layout = gl.NVMMASharedLayout.get_default_for(shape, dtype, **options)
    assert layout.swizzle_byte_width == width
    assert (layout.element_bitwidth, layout.rank) == (dtype.primitive_bitwidth, len(shape))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gl.BlockedLayout([1, 4], [32], [4, 1], [1, 0]), "threads_per_warp has 1 dimensions"),
        (lambda: gl.BlockedLayout([3], [32], [4], [0]).attribute(), "powers of two"),
        (lambda: gl.NVMMASharedLayout(48, 16), "swizzle_byte_width is 48"),
        (lambda: gl.PaddedSharedLayout([], [[1]], [], [2]), "at least one pair"),
        (lambda: gl.distributed_type(gl.float16, [32], BLOCKED), "rank mismatch"),
        (lambda: gl.distributed_type(gl.float16, [32], None), "must be a DistributedLayout"),
        (lambda: gl.shared_memory_descriptor_type(gl.float16, [64], BLOCKED, [64]), "SharedLayout"),
    ],
)
def test_fields_that_do_not_fit_are_refused(make, message):
    with pytest.raises(LanguageError, match=message):
        make()


def test_new_dimensions_leave_linear_layouts_equal():
    layout = gl.DistributedLinearLayout(
        [[1, 0], [0, 8]], [[0, 1], [0, 2], [0, 4], [2, 0], [4, 0]], [[8, 0]], [], [16, 16]
    )
    for shape in ([16, 16], [16, 1], [1, 16]):
        assert layout_of(layout.attribute(), shape) == layout


def test_warps_along_each_dimension_follow_from_the_layout():
    linear = gl.DistributedLinearLayout([[0, 1]], [[1, 0]] * 5, [[0, 2], [0, 0], [32, 0], [0, 4]], [], [64, 8])
    assert warps_per_cta(linear, [64, 8]) == [2, 4]
    assert warps_per_cta(gl.SliceLayout(0, BLOCKED), [64]) == BLOCKED.warps_per_cta
    assert warps_per_cta(gl.amd.AMDWMMALayout(1, True, [[0, 1], [2, 0], [0, 0]]), [64, 64]) == [2, 2]
    with pytest.raises(LanguageError, match="AutoLayout says nothing about warps"):
        warps_per_cta(gl.AutoLayout(), [64])
