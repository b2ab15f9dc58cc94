"""Texts that tests quote from another release are compared with what Triton 3.9 prints."""

from __future__ import annotations

from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.conformance import known, triton_report
from tests.conformance.golden import canonical, judge, matching, same
from tests.conformance.triton_plugin import texts_of
from tests.triton_oracle import find_interpreter
from tritium.compiler import ASTSource, GPUTarget

TEXT = """\
#loc = loc("a.py":1:1)
func {
  %c = arith.constant 1 : i32 loc(#loc2)
  %d = arith.constant 2 : i32 loc(#loc)
  %x = arith.addi %y, %c : i32 loc(#loc)
  %z = arith.muli %x, %d : i32 loc(#loc)
} loc(#loc)
#loc2 = loc("c"(#loc))
"""


def test_the_order_of_constants_and_numbers_of_places_say_nothing() -> None:
    rows = TEXT.replace("#loc2", "#loc7").split("\n")
    turned = "\n".join([*rows[:2], rows[3], rows[2], *rows[4:]])
    assert turned != TEXT and matching(turned, "^.*$") == matching(TEXT, "^.*$")


@pytest.mark.parametrize(
    "old, new",
    [('"c"(', '"d"('), ("constant 1", "constant 3"), ("addi", "subi"), ("%y, %c", "%c, %y"), (":1:1", ":1:2")],
)
def test_what_differs_is_seen(old: str, new: str) -> None:
    assert matching(TEXT.replace(old, new), "^.*$") != matching(TEXT, "^.*$")


@tritium.jit
def adding(x, y):
    tl.atomic_add(y, tl.load(x), sem="relaxed")


def failed_test(options: dict[str, int]) -> dict[str, Any]:
    """What the plugin keeps of a test that looks for another instruction in the kernel's PTX."""
    source = ASTSource(adding, {"x": "*fp32", "y": "*fp32"})
    kernel = tritium.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    try:
        assert "atom.global.gpu.relaxed" in kernel.asm["ptx"]
    except AssertionError as error:
        return texts_of(error)
    raise AssertionError("the kernel has what was to be missing")


def judged(texts: dict[str, Any], **more: Any) -> str:
    """The outcome of a failure of the class `red-for-atom`."""
    row = {"outcome": "failed", "class": "red-for-atom", "texts": texts, **more}
    interpreter = find_interpreter()
    assert interpreter is not None
    judge(triton_report.Found("cuda", tests={"t": row}), interpreter)
    return str(row["outcome"])


@pytest.mark.parametrize("warps", [1, 4])
def test_instructions_are_those_of_triton(triton_oracle: Any, warps: int) -> None:
    texts = failed_test({"num_warps": warps})
    assert texts["target"] == "cuda:90" and texts["options"]["num_warps"] == warps
    assert judged(texts) == "golden"
    assert judged(texts | {"ptx": texts["ptx"].replace("red.", "atom.")}) == "failed"
    assert judged(texts | {"ptx": ""}) == "failed" and judged({}) == "failed"
    assert judged(texts | {"ttir": "no module"}) == "failed"


def test_modules_are_those_of_triton() -> None:
    class Nobody:
        """Is not asked for modules, which the peer's own run of the test left."""

    from_known = {entry.name: entry for entry in known.load()}["golden-frontend-ir"]
    row = {"texts": {"module": TEXT}, "peer_texts": {"module": TEXT}}
    assert same(row, from_known, Nobody())  # type: ignore[arg-type]
    row["peer_texts"] = {"module": TEXT.replace("addi", "subi")}
    assert not same(row, from_known, Nobody())  # type: ignore[arg-type]
    row["peer_texts"] = {}
    assert not same(row, from_known, Nobody())  # type: ignore[arg-type]


def test_golden_ones_count_as_passed() -> None:
    rows = {f"unit/f.py::t[{n}]": {"outcome": outcome, "class": "", "reason": "", "golden": "red-for-atom"}
            for n, outcome in enumerate(("passed", "golden", "failed", "skipped"))}  # fmt: skip
    found = triton_report.Found("cuda", {"unit/f.py::t": 4}, rows, peer="3.9")
    text = triton_report.markdown(triton_report.report(found))
    assert "| f.py | 4 | 4 | 1 | 1 | 0 | 1 | 1 | 66.7 % | 66.7 % |" in text
    assert "as Triton 3.9 prints it" in text and "| red-for-atom | 1 |" in text


THEIRS = """\
  tt.func public @k(%arg0: i32) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = arith.bitcast %c1_i32 : i32 to i32
    %1 = arith.addi %arg0, %0 : i32
    %2 = tt.call @triton.language.standard._f(%1) : (i32) -> i32
    tt.return
  ^bb1:  // no predecessors
    %3 = ub.poison : i32
    tt.return
  }
"""
HERE = """\
  tt.func public @k(%arg0: i32) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.addi %arg0, %c1_i32 : i32
    %1 = tt.call @tritium.frontend.language.standard._same(%0) : (i32) -> i32
    %2 = tt.call @tritium.frontend.language.standard._f(%1) : (i32) -> i32
    tt.return
  }
  tt.func private @tritium.frontend.language.standard._same(%arg0: i32) -> i32 attributes {noinline = false} {
    tt.return %arg0 : i32
  }
"""


def test_modules_of_one_meaning_have_one_canonical_text() -> None:
    assert canonical(HERE) == canonical(THEIRS)


@pytest.mark.parametrize("old, new", [("constant 1", "constant 2"), ("addi", "subi"), ("_f(", "_g(")])
def test_what_differs_is_seen_in_the_canonical_text(old: str, new: str) -> None:
    changed = HERE.replace(old, new)
    assert canonical(changed) != canonical(THEIRS)
