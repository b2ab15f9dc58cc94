"""A kernel that is compiled for more warps than were asked for computes what it computes with these."""

from __future__ import annotations

import pytest

from tests.gpu_compile.test_more_warps import gradients

torch = pytest.importorskip("torch")


@pytest.mark.share(1)
@pytest.mark.parametrize("rows", [0, 64])
def test_sums(rows: int, seed: int) -> None:
    m, n, d = 128, 32, 128
    rng = torch.Generator().manual_seed(seed)
    a, b = (torch.randn((count, d), generator=rng).half() * 0.2 for count in (m, 64))
    found = {}
    for name, options in {
        "more": {},
        "asked": {"without": "warps-for-accumulators"},
        "eight": {"num_warps": 8},
    }.items():
        out = torch.full((2, m, d), float("nan"))
        gradients[(1,)](a, b, out[0], out[1], rows, M=m, N=n, D=d, ASKS=False, **{"num_warps": 4, **options})
        found[name] = out
    weights = (a.double() @ b[:rows].double().T).half().double()
    expected = weights @ b[:rows].double()
    assert (found["more"][0].double() - expected).abs().max() < 2e-2 * max(float(expected.abs().max()), 1.0)
    assert torch.equal(found["more"], found["eight"]) and torch.equal(found["more"], found["asked"])
