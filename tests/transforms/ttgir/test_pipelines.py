"""The tables of the `ttgir` stage: Triton's order, with places kept for what is not there yet."""

from __future__ import annotations

import pytest

from tritium.ir import PASSES, check_order
from tritium.support import InternalError
from tritium.transforms.ttgir.pipelines import LATER, ORDER, nvidia_ttgir_pipeline

#: Triton 3.9's order (`make_ttgir`) by our names, those of Blackwell left out.
HEAD = """coalesce f32-dot-tc assign-cga-layouts remove-layout-conversions optimize-cta-locality
    remove-layout-conversions optimize-thread-locality accelerate-matmul remove-layout-conversions
    optimize-dot-operands loop-aware-cse""".split()
LOOPS = "canonicalize licm canonicalize combine-tensor-select-and-if".split()
TAIL = """optimize-dot-operands remove-layout-conversions reduce-data-duplication reorder-instructions loop-aware-cse
    symbol-dce sccp cse canonicalize""".split()


@pytest.mark.parametrize(
    ("capability", "loops", "ahead"),
    [(75, ["licm"], []), (80, LOOPS, ["prefetch"]), (89, LOOPS, ["prefetch"]), (90, LOOPS, []), (100, LOOPS, [])],
)
def test_the_order_is_tritons(capability, loops, ahead):
    names = [p.name for p in nvidia_ttgir_pipeline(capability)]
    assert names == [*HEAD, *loops, "canonicalize", "loop-aware-cse", *ahead, *TAIL]


def test_every_row_has_its_reason_and_a_name_of_triton():
    for p in nvidia_ttgir_pipeline(80):
        assert p.reason and PASSES.find(p.name).fn is p.fn
        assert PASSES.title(p.name).startswith(("Triton", "Canonicalizer", "CSE", "SCCP", "SymbolDCE"))


def test_what_comes_later_is_not_there():
    assert LATER and all(PASSES.find(name) is None for name in LATER)


def test_a_pass_in_the_wrong_place_is_found():
    rows = nvidia_ttgir_pipeline(80)
    names = [p.name for p in rows]
    for earlier, later, _ in ORDER:
        if earlier in names and later in names:
            wrong = sorted(rows, key=lambda p: p.name != later)
            with pytest.raises(InternalError):
                check_order(wrong, ORDER)
