"""Attention's first product is begun an iteration ahead where there is another iteration to begin it in."""

from __future__ import annotations

import pytest

from tests.example_kernels import cases, load
from tritium.compiler import ASTSource, GPUTarget, compile

CASES = {case.name: case for case in cases()}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")


@pytest.mark.parametrize(
    ("name", "ahead"),
    [
        ("attention-forward", 1),  # what is left of the keys is less than a block
        ("attention-forward-causal", 1),  # three blocks on the diagonal
    ],
)
def test_products(name: str, ahead: int) -> None:
    """In such a loop, the first product and the second; one more of each in front of it and behind it."""
    case = CASES[name]
    constants = {**case.constants, "BLOCK_M": 128, "BLOCK_N": 64, "HEAD_DIM": 128}
    source = ASTSource(getattr(load(case.example), case.kernel), case.signature, constants, case.attrs)
    options = {**case.options, "num_warps": 8, "num_stages": 3}
    kernel = compile(source, target=GPUTarget("cuda", 90, 32), options=options, until="ttgir")
    assert kernel.asm["ttgir"].count("ttng.warp_group_dot ") == 4 + 2 * ahead
