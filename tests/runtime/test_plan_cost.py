"""What a launch plan costs, counted in calls: a program with many kernels makes one for each."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tritium.runtime.fastpath import plan
from tritium.runtime.fastpath.native import native_fastpath

torch: Any = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")


@tritium.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


def calls_of_a_plan(monkeypatch: pytest.MonkeyPatch, block: int) -> Counter[str]:
    """The functions, of Python and of C, that make the plan of a kernel's first launch."""
    made, counts = plan.make_plan, Counter[str]()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            counts[frame.f_code.co_name] += 1
        elif event == "c_call":
            counts[argument.__name__] += 1

    def counted(*args: Any, **keywords: Any) -> Any:
        sys.setprofile(count)
        try:
            return made(*args, **keywords)
        finally:
            sys.setprofile(None)

    add.hash = None  # forget its kernels and plans
    arrays = [torch.ones(block) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(plan, "make_plan", counted)
        for _ in range(3):
            add[(1,)](*arrays, block, BLOCK=block)
    return counts


def test_a_plan_takes_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    calls_of_a_plan(monkeypatch, 64)
    counts = calls_of_a_plan(monkeypatch, 128)
    assert 0 < sum(counts.values()) <= 300, counts.most_common(12)


def test_tensors_of_a_known_kind_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's functions are called for the first tensor of an element type and device only."""
    calls_of_a_plan(monkeypatch, 64)
    counts = calls_of_a_plan(monkeypatch, 128)
    assert counts["kind_of"] == 3 and not counts["look_at"] and not counts["address_by"]
