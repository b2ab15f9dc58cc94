"""Our passes of the `ttgir` stage leave no more conversions between layouts than Triton's, kernel by kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.layouts import RECORD, TEXTS, Moved, moved, our_text, texts, their_text
from tritium.ir import parse_module

KNOWN = {name: Moved(*numbers) for name, numbers in json.loads(RECORD.read_text()).items()}


@pytest.mark.parametrize("name", KNOWN)
def test_no_more_conversions_than_triton(name: str) -> None:
    kernel, _, target = name.rpartition(" sm_")
    text = our_text((TEXTS / f"{kernel}.sm90.ttir.mlir").read_text(), int(target))
    ours, theirs = moved(parse_module(text)), KNOWN[name]
    assert ours.tensors <= theirs.tensors and ours.size <= theirs.size, f"{ours}, Triton has {theirs}"


def test_the_record_is_of_all_kernels() -> None:
    kernels = {p.name.removesuffix(".sm90.ttir.mlir") for p in texts()}
    assert len(kernels) > 20 and {name.rpartition(" sm_")[0] for name in KNOWN} <= kernels


@pytest.mark.parametrize("path", texts(), ids=lambda p: p.stem)
def test_the_record_is_what_triton_leaves(path: Path, triton_oracle: Any) -> None:
    name = f"{path.name.removesuffix('.sm90.ttir.mlir')} sm_80"
    if name in KNOWN:
        assert moved(parse_module(their_text(path.read_text(), 80, triton_oracle))) == KNOWN[name]


@pytest.mark.parametrize("path", texts(), ids=lambda p: p.stem)
def test_triton_reads_what_we_leave(path: Path, triton_oracle: Any) -> None:
    for capability in (80, 90):
        triton_oracle.read(our_text(path.read_text(), capability))
