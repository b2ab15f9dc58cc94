"""Retries for kernels that spill: texts and options, round by round."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any

import pytest

from tritium.backends.errors import PTXASError
from tritium.backends.nvidia.assembler import Resources
from tritium.backends.nvidia.spill_retry import (
    MINIMIZE_REGISTERS,
    SpillRetry,
    assemble_rounds,
    retry_rounds,
    with_min_ctas_per_sm,
    worth_retrying,
)

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
    rounds = retry_rounds(PRODUCTS, SpillRetry(2), never, lambda: True)
    ((late,), options), (texts, others) = next(rounds)
    assert options == [] and late.index("ldmatrix") > PRODUCTS.index("mma.sync")
    assert others == MINIMIZE_REGISTERS and texts == [with_min_ctas_per_sm(PRODUCTS, 2), late]
    with pytest.raises(AssertionError, match="LLVM"):
        next(rounds)


def test_what_llvm_orders_comes_last() -> None:
    other = PLAIN.replace("{", "{\n\tmov.b32 %r1, 0;")
    rounds = list(chain.from_iterable(retry_rounds(PLAIN, SpillRetry(1, more=True), lambda: other, lambda: True)))
    told, reordered = with_min_ctas_per_sm(PLAIN, 1), with_min_ctas_per_sm(other, 1)
    assert rounds == [([told], []), ([told], MINIMIZE_REGISTERS), ([reordered], []), ([reordered], MINIMIZE_REGISTERS)]


def test_of_one_that_spills_much_only_the_first_round() -> None:
    ((((late,), options),),) = retry_rounds(PRODUCTS, SpillRetry(2), never, lambda: False)
    assert options == [] and late.index("ldmatrix") > PRODUCTS.index("mma.sync")


def test_a_first_round_that_leaves_little_has_others_follow() -> None:
    answers = iter([False, True, False])
    rounds = list(retry_rounds(PRODUCTS, SpillRetry(2), never, lambda: next(answers)))
    assert [options for ((_, options),) in rounds] == [[], MINIMIZE_REGISTERS]


def test_what_is_near() -> None:
    assert worth_retrying(Resources(registers=255, spill_stores=252)) and not worth_retrying(
        Resources(registers=255, spill_loads=256)
    )


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        (SpillRetry(2, sink_loads=False), [[], [with_min_ctas_per_sm(PRODUCTS, 2)]]),
        (SpillRetry(None, sink_loads=False), [[], [PRODUCTS]]),  # a limit of the user stays as it is
        (SpillRetry(2, sink_loads=False, more=True, usage_level=False), [[with_min_ctas_per_sm(PRODUCTS, 2)]]),
    ],
)
def test_what_is_asked_for(asked: Any, texts: list[list[str]]) -> None:
    (rounds,) = retry_rounds(PRODUCTS, asked, lambda: None, lambda: True)
    assert [found for found, _ in rounds] == texts


def test_a_text_that_says_how_many_blocks_there_are_is_not_told() -> None:
    limited = PLAIN.replace(".reqntid 128", ".reqntid 128\n.minnctapersm 3")
    assert with_min_ctas_per_sm(limited, 1) is None
    (rounds,) = retry_rounds(limited, SpillRetry(1), lambda: None, lambda: True)
    assert [texts for texts, _ in rounds] == [[], []]


class Slow:
    """An assembler that tells when it is started, given a text, asked for what it made, and ended."""

    def __init__(self, log: list[str], options: list[str]) -> None:
        if "none" in options:
            raise PTXASError("cannot be run")
        self.log, self.options = log, "".join(options)

    def begin(self, text: str) -> None:
        if text == "unwritable":
            raise PTXASError("cannot be given the text")
        self.log.append(f"+{text}{self.options}")

    def finish_if_possible(self, text: str, kernel: str) -> tuple[bytes, Resources] | None:
        self.log.append(f"={text}{self.options}")
        return None if text == "refused" else ((text + self.options).encode(), Resources())

    def close(self) -> None:
        self.log.append("closed")


@pytest.mark.parametrize(
    ("cores", "log"),
    [
        (1, "+a =a +b =b +a1 =a1 +b1 =b1"),
        (2, "+a +b =a +a1 =b +b1 =a1 =b1"),
        (3, "+a +b +a1 =a +b1 =b =a1 =b1"),
        (8, "+a +b +a1 +b1 =a =b =a1 =b1"),
    ],
)
def test_as_many_at_once_as_there_are_cores(cores: int, log: str) -> None:
    events: list[str] = []
    start: Any = partial(Slow, events)
    made = [
        [code for code, _ in found]
        for found in assemble_rounds([(["a", "b"], []), (["a", "b"], ["1"])], start, "k", cores)
    ]
    assert made == [[b"a", b"b"], [b"a1", b"b1"]] and " ".join(events) == log


@pytest.mark.parametrize(("cores", "log"), [(1, "+a =a"), (2, "+a +b =a closed"), (8, "+a +b +c =a closed closed")])
def test_what_nobody_asks_for_is_ended(cores: int, log: str) -> None:
    events: list[str] = []
    start: Any = partial(Slow, events)
    with closing(assemble_rounds([(["a"], []), (["b", "c"], [])], start, "k", cores)) as tried:
        assert next(tried) == [(b"a", Resources())]
    assert " ".join(events) == log


@pytest.mark.parametrize("cores", [1, 8])
def test_what_cannot_be_assembled_is_passed_over(cores: int) -> None:
    start: Any = partial(Slow, [])
    rounds = [(["unwritable", "refused", "a"], []), (["a"], ["none"]), ([], []), (["b"], [])]
    made = [[code for code, _ in found] for found in assemble_rounds(rounds, start, "k", cores)]
    assert made == [[b"a"], [], [], [b"b"]]
