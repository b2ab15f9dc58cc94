"""Shared memory layouts of operands of MFMA and WMMA: as Triton has them where K is contiguous, without bank conflicts."""

from __future__ import annotations

import pytest

from tritium.dialects.ttg_layouts import AmdMfma, AmdWmma, Blocked, DotOperand, Mma
from tritium.dialects.ttg_maps import linear_layout
from tritium.dialects.ttg_memory import AmdRotatingShared
from tritium.dialects.ttg_operands import buffer_for, swizzled_for
from tritium.layout.buffer_access import plan_buffer_access


def mfma(side: int, k: int) -> AmdMfma:
    return AmdMfma(version=3, warpsPerCTA=(2, 2), instrShape=(side, side, k), isTransposed=True)


WMMA = AmdWmma(version=1, isTranspose=True, ctaLayout=((), ((0, 1), (1, 0))))

#: layout, kWidth, bits of an element
OPERANDS = [
    (mfma(32, 8), 4, 16),
    (mfma(16, 16), 4, 16),
    (mfma(16, 16), 8, 16),
    (mfma(32, 16), 8, 8),
    (mfma(32, 2), 1, 32),
    (mfma(16, 4), 1, 32),
    (mfma(32, 4), 2, 32),
    (mfma(16, 4), 1, 64),
    (WMMA, 16, 16),
    (WMMA, 16, 8),
]


@pytest.mark.parametrize("k", [16, 64, 128])
@pytest.mark.parametrize(("parent", "width", "bits"), OPERANDS)
def test_operand_is_read_without_bank_conflicts(parent: Mma, width: int, bits: int, k: int) -> None:
    for operand, shape in ((0, (128, k)), (1, (k, 128))):
        for order in ((1, 0), (0, 1)):
            layout = DotOperand(operand, parent, width)
            shared = swizzled_for(layout, shape, order, bits)
            access = plan_buffer_access(linear_layout(layout, shape), linear_layout(shared, shape), bits, False, ())
            assert access.conflicts == 0, (shared, shape, order)
            contiguous = order[0] == (1 if operand == 0 else 0)
            assert access.width == (min(width, 128 // bits) if contiguous else 1)


@pytest.mark.parametrize(
    ("parent", "width", "bits", "k", "expected"),
    [
        (mfma(32, 8), 4, 16, 64, (4, 1, 16)),
        (mfma(32, 8), 4, 16, 32, (4, 2, 8)),
        (mfma(16, 32), 8, 8, 64, (8, 2, 8)),
        (mfma(32, 4), 2, 32, 64, (2, 1, 16)),
        (WMMA, 16, 16, 64, (8, 1, 8)),
        (WMMA, 16, 8, 64, (16, 2, 4)),
    ],
)
def test_swizzle_is_that_of_triton(parent: Mma, width: int, bits: int, k: int, expected: tuple[int, int, int]) -> None:
    """Triton 3.9's for operand 0 with K contiguous."""
    shared = swizzled_for(DotOperand(0, parent, width), (128, k), (1, 0), bits)
    assert (shared.vec, shared.perPhase, shared.maxPhase) == expected


@pytest.mark.parametrize(("parent", "width", "rows"), [(mfma(32, 8), 4, 4), (mfma(16, 16), 4, 4), (WMMA, 16, 8)])
def test_transposed_operand_is_written_and_read_without_bank_conflicts(parent: Mma, width: int, rows: int) -> None:
    """Of a load of eight columns of several rows per thread, as amd-in-thread-transpose gives it."""
    lanes = (4, 16) if isinstance(parent, AmdMfma) else (2, 16)
    loaded = Blocked((rows, 8), lanes, (4, 1), (1, 0))
    operand, shape = DotOperand(1, parent, width), (64, 128)
    shared = buffer_for(operand, loaded, shape, 16)
    assert isinstance(shared, AmdRotatingShared) and shared.order == (0, 1)
    for layout, elements in ((loaded, rows), (operand, min(width, 8))):
        access = plan_buffer_access(linear_layout(layout, shape), linear_layout(shared, shape), 16, False, ())
        assert (access.width, access.conflicts) == (elements, 0)
