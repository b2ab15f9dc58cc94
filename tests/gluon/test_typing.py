"""Typing rules of Gluon: layouts that follow, cache policies, bank conflicts, operators of aggregates."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia import ampere, hopper, rubin
from tritium.experimental.gluon.language.nvidia.ampere import mbarrier
from tritium.frontend.errors import CompilationError, LanguageError

LINE = gl.BlockedLayout([1], [32], [4], [0])
PAIRS = gl.BlockedLayout([2], [32], [4], [0])


@gluon.jit
def halves(out, LAYOUT: gl.constexpr):
    x = gl.arange(0, 256, LAYOUT).reshape([128, 2])
    a, b = gl.split(x)
    gl.static_assert(a.type.layout == gl.SliceLayout(1, x.type.layout))
    gl.static_assert(gl.join(a, b).type.layout == x.type.layout)
    gl.store(out + gl.arange(0, 128, a.type.layout), a + 10 * b)


@pytest.mark.usefixtures("hopper")
def test_halves_of_a_split_are_slices_of_its_operand():
    out = np.zeros(128, np.int32)
    halves[(1,)](out, PAIRS)
    pairs = np.arange(256).reshape(128, 2)
    assert np.array_equal(out, pairs[:, 0] + 10 * pairs[:, 1])


@gluon.jit
def stores_open_values(out, LAYOUT: gl.constexpr, POLICY: gl.constexpr):
    value = gl.full([128], 3, gl.int32)
    inside = gl.arange(0, 128) < 100
    gl.store(out + gl.arange(0, 128, LAYOUT), value, inside, cache_policy=POLICY)


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize("policy", [None, gl.CachePolicy("cs"), ampere.CachePolicy("wt"), gl.CachePolicy(".wb")])
def test_stored_values_in_auto_layout_take_the_layout_of_the_pointer(policy):
    out = np.zeros(128, np.int32)
    kernel = stores_open_values[(1,)](out, LINE, policy)
    assert out.sum() == 300
    assert policy is None or f"cache_modifier = {policy.cache_modifier}" in kernel.asm["ttgir"]


@pytest.mark.usefixtures("hopper")
def test_cache_policies_without_a_lowering_are_refused_at_their_line():
    policy = hopper.CachePolicy(l2=hopper.FractionalEvictionPolicy("evict_last", 0.5))
    with pytest.raises(CompilationError, match=r"test_typing.py:\d+:5: .*NvidiaCachePolicy.* is not supported yet"):
        stores_open_values[(1,)](np.zeros(128, np.int32), LINE, policy)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gl.CachePolicy("cx"), "cache_modifier is 'cx'"),
        (lambda: gl.CachePolicy(eviction_policy="no"), "eviction_policy is 'no'"),
        (lambda: ampere.CachePolicy(), "needs cache_modifier, l1, l2"),
        (lambda: ampere.FractionalEvictionPolicy("evict_first", 2.0), "fraction is 2.0"),
        (lambda: ampere.CachePolicy(l2_prefetch_size=100), "l2_prefetch_size is 100"),
        (lambda: gl.amd.AMDMFMALayout(3, [5, 5, 5], True, [4, 1]), r"no instruction of \[5, 5\]"),
        (lambda: gl.amd.AMDWMMALayout(7, True, [[0, 1]]), "version is 7, it must be 1 to 3"),
    ],
)
def test_values_that_make_no_sense_are_refused_when_they_are_made(make, message):
    with pytest.raises(LanguageError, match=message):
        make()


def test_layouts_of_amd_gpus_are_attributes_of_the_ir():
    mfma = gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1])
    assert str(mfma.attribute()).startswith("#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1]")
    wmma = gl.amd.AMDWMMALayout(2, False, [[0, 1], [1, 0]])
    assert str(wmma.attribute()).startswith("#ttg.amd_wmma<{version = 2")


@gluon.jit
def counts(out, REGISTERS: gl.constexpr, SHARED: gl.constexpr):
    gl.store(out, gl.bank_conflicts(REGISTERS, SHARED))


ROWS = gl.BlockedLayout([1, 1], [32, 1], [4, 1], [1, 0])


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize(
    ("shared", "conflicts"),
    [
        (gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), 7),  # 16 bytes of 8 rows of 128 bytes: the same 4 banks
        (gl.SwizzledSharedLayout(4, 1, 8, [1, 0]), 0),  # exchanged by the row's number: 32 banks
        (gl.SwizzledSharedLayout(1, 1, 32, [1, 0]), 0),  # 4 bytes of 32 rows
        (gl.SwizzledSharedLayout(1, 1, 1, [0, 1]), 0),
    ],
)
def test_bank_conflicts_are_counted(shared, conflicts):
    out = np.full(1, -1, np.int32)
    registers = gl.distributed_type(gl.float32, [128, 32], ROWS)
    counts[(1,)](out, registers, gl.shared_memory_descriptor_type(gl.float32, [128, 32], shared, [128, 32]))
    assert out[0] == conflicts


@gluon.aggregate
class Reflected:
    value: gl.tensor

    @gluon.jit
    def __radd__(self, lhs):
        return lhs + 2 * self.value

    @gluon.jit
    def __gt__(self, lhs):
        return lhs < self.value

    @gluon.jit
    def logical_and(self, other):
        return self.value & other.value


@gluon.aggregate
class Refuses:
    value: gl.tensor

    @gluon.constexpr_function
    def __add__(self, other):
        return NotImplemented


@gluon.jit
def uses_operators(out, LAYOUT: gl.constexpr):
    at = gl.arange(0, 128, LAYOUT)
    x = Reflected(at)
    total = at + x  # the tensor has no operator for it
    both = Refuses(at) + Reflected(total) if False else total
    less = (at < Reflected(at + 1)).to(gl.int32)
    bits = Reflected(at) and Reflected(at | 1)
    gl.store(out + at, both + less + bits)


@pytest.mark.usefixtures("hopper")
def test_operators_of_the_right_operand_are_called_where_the_left_has_none():
    out = np.zeros(128, np.int32)
    uses_operators[(1,)](out, LINE)
    at = np.arange(128)
    assert np.array_equal(out, 3 * at + 1 + (at & (at | 1)))


@gluon.jit
def adds_what_refuses(LAYOUT: gl.constexpr):
    x = gl.arange(0, 128, LAYOUT)
    Refuses(x) + 1


@pytest.mark.usefixtures("hopper")
def test_operands_without_an_operator_are_an_error_at_their_line():
    with pytest.raises(CompilationError, match=r"test_typing.py:\d+:5: .*unsupported operand type\(s\) for \+"):
        adds_what_refuses[(1,)](LINE)


@gluon.jit
def arrives(MASK: gl.constexpr):
    bar = mbarrier.allocate_mbarrier()
    rubin.mbarrier.arrive(bar, multicast_cta=MASK)


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize(("mask", "message"), [(-1, "be positive"), (2, "<= num_ctas - 1"), (1.5, "be an int")])
def test_masks_of_multicast_arrivals_are_checked(mask, message):
    with pytest.raises(CompilationError, match=message):
        arrives[(1,)](mask, num_ctas=2)


def test_bases_of_ctas_in_padded_layouts_count_parts():
    layout = gl.PaddedSharedLayout.with_identity_for([[256, 16]], [512, 128], [0, 1], [[0, 1]])
    assert layout.attribute().block == ((0, 64),)
    assert gl.SharedLinearLayout([[3, 1], [1, 0], [0, 1]]).shape == [4, 2]
