"""What is tried where kernels keep registers in memory: texts and options, round by round."""

from __future__ import annotations

from typing import Any

import pytest

from tritium.backends.nvidia.fewer_spills import FEW_REGISTERS, Asked, attempts, for_blocks

HEAD = ".visible .entry k()\n.reqntid 128\n{\n"
READ = "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];"
PRODUCT = (
    "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r6}, {%r7}, {%f1, %f2, %f3, %f4};"
)
LAST = PRODUCT.replace("%r6", "%r1")
PRODUCTS = "\n".join([HEAD, READ, *[PRODUCT] * 20, LAST, "}"])
PLAIN = HEAD + "}"


def never() -> str | None:
    raise AssertionError("LLVM orders a program again only when all else is tried")


def test_rounds_end_where_nobody_asks_for_the_next() -> None:
    rounds = attempts(PRODUCTS, Asked(2), never)
    (late,), options = next(rounds)
    assert options == [] and late.index("ldmatrix") > PRODUCTS.index("mma.sync")
    texts, options = next(rounds)
    assert options == FEW_REGISTERS and texts == [for_blocks(PRODUCTS, 2), late]
    with pytest.raises(AssertionError, match="LLVM"):
        next(rounds)


def test_what_llvm_orders_comes_last() -> None:
    other = PLAIN.replace("{", "{\n\tmov.b32 %r1, 0;")
    rounds = list(attempts(PLAIN, Asked(1, more=True), lambda: other))
    told, reordered = for_blocks(PLAIN, 1), for_blocks(other, 1)
    assert rounds == [([told], []), ([told], FEW_REGISTERS), ([reordered], []), ([reordered], FEW_REGISTERS)]


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        (Asked(2, late=False), [[], [for_blocks(PRODUCTS, 2)]]),
        (Asked(None, late=False), [[], [PRODUCTS]]),  # a limit of the user stays as it is
        (Asked(2, late=False, more=True, usage_level=False), [[for_blocks(PRODUCTS, 2)]]),
    ],
)
def test_what_is_asked_for(asked: Any, texts: list[list[str]]) -> None:
    assert [found for found, _ in attempts(PRODUCTS, asked, lambda: None)] == texts


def test_a_text_that_says_how_many_blocks_there_are_is_not_told() -> None:
    limited = PLAIN.replace(".reqntid 128", ".reqntid 128\n.minnctapersm 3")
    assert for_blocks(limited, 1) is None
    assert [texts for texts, _ in attempts(limited, Asked(1), lambda: None)] == [[], []]
