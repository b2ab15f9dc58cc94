"""The greatest and the least where NaN counts for nothing: long rows, every mixture of NaN, infinities and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, poisoned
from tests.conversion.test_read_prefetch import row_total
from tritium.backends.cpu import named_target
from tritium.dialects import arith, scf

N = 2048
NAN, INF = np.nan, np.inf


def mixtures(dtype: type) -> np.ndarray:
    """Rows of N elements: of each kind of element alone, and each kind once, anywhere, among another."""
    kinds = (NAN, INF, -INF, 1.5, -2.5, 0.0)
    rows = [np.full(N, fill) for fill in kinds]
    for fill in kinds:
        for kind in kinds:
            for place in (0, 17, 64, N - 1):
                rows.append(np.full(N, fill))
                rows[-1][place] = kind
    return np.array(rows, dtype)


@pytest.mark.parametrize("target", ["host", "x86-64", "x86-64-v3"])
@pytest.mark.parametrize("ty", ["f32", "f64"])
@pytest.mark.parametrize("op", ["maxnum", "minnum"])
def test_mixtures(target: str, ty: str, op: str) -> None:
    if named_target(target).arch != named_target("host").arch:
        pytest.skip("another kind of processor")
    x = mixtures({"f32": np.float32, "f64": np.float64}[ty])
    out = poisoned(len(x), x.dtype)
    Kernel(row_total(N, ty, op, masked=False), target=named_target(target))((len(x),), x, out, N)
    reference = np.fmax if op == "maxnum" else np.fmin
    np.testing.assert_array_equal(out, reference.reduce(x, 1))


@pytest.mark.parametrize("op", ["maxnum", "minnum"])
def test_signalling_nan(op: str) -> None:
    """Any NaN: bits that were never numbers lose nothing that came before them."""
    x = np.full((1, N), 3, np.float32)
    x[0, 100] = 7 if op == "maxnum" else -7
    x.view(np.uint32)[0, 1000:1100] = 0x7F800001
    out = poisoned(1, np.float32)
    Kernel(row_total(N, "f32", op, masked=False))((1,), x, out, N)
    assert out[0] == x[0, 100]


def test_one_comparison_an_element() -> None:
    """The long loop has no `maxnumf`; the one that is entered in doubt has."""
    kernel = Kernel(row_total(N, op="maxnum", masked=False), target=named_target("x86-64-v4"))
    first, again = (op for op in kernel.ttcir.walk() if isinstance(op, scf.For))
    assert not any(isinstance(op, arith.MaxNumF) for op in first.walk())
    assert any(isinstance(op, arith.MaxNumF) for op in again.walk()) and isinstance(again.parent_op, scf.If)


def test_where_one_instruction_does_it() -> None:
    """Arm's processors have an instruction for `maxnumf`."""
    kernel = Kernel(row_total(N, op="maxnum", masked=False), target=named_target("neoverse-n1"))
    assert not any(isinstance(op, (arith.CmpF, scf.If)) for op in kernel.ttcir.walk())
