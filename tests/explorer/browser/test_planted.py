"""Ten planted faults, each found through the page alone: the clicks that lead to the cause are the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PLUGIN = "tests.explorer.browser.mistakes"
TARGET = ("--target", "cuda:90")

WRONG = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def distance(x, y, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    b = tl.load(y + at, mask=mask)
    tl.store(o + at, tl.exp(a - b) + a * 2.0, mask=mask)


@triton.jit
def row_max(x, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    values = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    tl.store(o + tl.program_id(0), tl.max(values))


rng = np.random.default_rng(1)
x, y, o = rng.random(300, np.float32), rng.random(300, np.float32), np.zeros(300, np.float32)
"""
DISTANCE = WRONG + "distance[(3,)](x, y, o, 300, B=128)\n"
ROW_MAX = WRONG + "row_max[(3,)](-1 - rng.random((3, 200), np.float32), o, 200, B=256)\n"

SLOW = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def wide_softmax(x, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    values = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(values - tl.max(values, 0))
    tl.store(o + tl.program_id(0) * n + at, e / tl.sum(e, 0), mask=at < n)


@triton.jit
def few_registers(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(o + at, v - tl.sum(v, 0))


@triton.jit
def many_rows(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.arange(0, 16)[:, None] * B + at[None, :])
    tl.store(o + tl.arange(0, 16)[:, None] * B + at[None, :], v - tl.sum(v, 0)[None, :])


@triton.jit
def column(x, o, stride, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.load(x + at * stride) * 2.0)
"""
SCALED = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def scaled(x, o, SCALE: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.load(x + at) * SCALE)


x, o = np.ones(256, np.float32), np.zeros(256, np.float32)
for step in range(3):
    scaled[(1,)](x, o, SCALE=0.5 + step, B=256)
"""


def click(page: Any, name: str, role: str = "button") -> None:
    page.get_by_role(role, name=name, exact=True).click()


def tab(page: Any, name: str) -> None:
    click(page, name, "tab")


def shown(page: Any, selector: str, text: str = "") -> str:
    """The text of the first element of this kind, once there is one."""
    found = page.locator(selector, has_text=text).first
    found.wait_for()
    return str(found.inner_text())


# -- wrong results -------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken(explore: Any, request: pytest.FixtureRequest) -> Any:
    mistake, script = request.param
    return explore(script, *TARGET, PYTHONPATH=str(ROOT), TRITIUM_PLUGINS=PLUGIN, MISTAKE=mistake)


def check(page: Any) -> str:
    page.get_by_role("button", name="Run again", exact=True).wait_for()
    tab(page, "Values")
    click(page, "Check all stages")
    return shown(page, ".verdict .message.bad")


RULES = [
    ("reversed_difference", DISTANCE, "x - y = y - x", "arith.subf"),
    ("load_from_zero", ROW_MAX, "load(p, m, -inf) = load(p, m, 0)", "tt.load"),
    ("lost_mask", DISTANCE, "load(p, m) = load(p)", "tt.load"),
]


@pytest.mark.parametrize(
    ("broken", "equation", "operation"), [((r[0], r[1]), r[2], r[3]) for r in RULES], indirect=["broken"]
)
def test_wrong_rule_is_shown_with_its_equation_at_its_operation(broken: Any, equation: str, operation: str) -> None:
    assert "First difference: ttir, pass 6 (canonicalize)" in check(broken)
    click(broken, "Show the pass")
    assert "canonicalize" in shown(broken, ".passes .row.selected")
    assert shown(broken, ".rewrites .math") == equation
    assert operation in shown(broken, "[aria-label='IR'] .cm-line.l-bad-value")


@pytest.mark.parametrize("broken", [("difference_as_sum", DISTANCE)], indirect=True)
def test_wrong_lowering_is_shown_with_the_operation_and_its_source_line(broken: Any) -> None:
    assert "First difference: ptx, emulated" in check(broken)
    assert "arith.subf" in shown(broken, ".finding-box code.plus")
    assert "the evaluator's is" in shown(broken, ".finding-box code", "element [")
    click(broken, "script.py:12:29")
    assert "a - b" in shown(broken, "[aria-label='Source'] .cm-line.l-here")
    assert "sub" not in shown(broken, ".path li:last-child")


@pytest.mark.parametrize("broken", [("no_barriers", ROW_MAX)], indirect=True)
def test_missing_barrier_is_shown_as_a_race_with_both_accesses(broken: Any) -> None:
    said = check(broken)
    assert "race in shared memory" in said and "st.shared" in said and "ld.shared" in said
    assert "tt.reduce" in shown(broken, ".finding-box code.plus")
    click(broken, "Show the stage")
    assert "ptx" in shown(broken, ".passes .row.selected")
    shown(broken, "[aria-label='IR'] .cm-line.l-bad-value", "ld.shared")


# -- slow kernels --------------------------------------------------------------------------------------------------------


@pytest.fixture
def slow(explore: Any, tmp_path: Path) -> Any:
    def start(kernel: str, signature: str, *options: str) -> Any:
        (tmp_path / "slow.py").write_text(SLOW)
        given = [part for option in options for part in ("--option", option)]
        page = explore(Path(f"{tmp_path}/slow.py::{kernel}"), *TARGET, "--signature", signature, *given)
        tab(page, "Performance")
        return page

    return start


def spilled(page: Any) -> bool:
    """Whether the card of registers says so."""
    return "spilled" in shown(page, ".card", "registers")


def compile_with(page: Any, options: str) -> None:
    click(page, "Options")
    page.get_by_label("options", exact=True).fill(options)
    click(page, "Compile")
    page.locator(".compile-bar .count", has_text="ms").wait_for()
    page.locator(".kernels .row.selected", has_text="↳").wait_for()


def test_spills_of_a_wide_tile_end_with_more_warps(slow: Any) -> None:
    page = slow("wide_softmax", "*fp32:16, *fp32:16, i32, 8192", "num_warps=1")
    assert spilled(page)
    assert "more warps (num_warps)" in shown(page, ".finding", "spills")
    page.locator(".finding", has_text="spills").first.get_by_role("button", name="slow.py:").click()
    shown(page, "[aria-label='Source'] .cm-line.l-here")
    compile_with(page, "num_warps=8")
    tab(page, "Performance")
    page.locator(".card.good", has_text="no spills").wait_for()
    tab(page, "Compare")
    assert shown(page, "[aria-label='Resources'] tr", "spilled registers").split()[-2:] != ["0", "0"]


def test_spills_by_a_limit_of_registers_are_found_in_the_machine_code(slow: Any) -> None:
    page = slow("few_registers", "*fp32:16, *fp32:16, 8192", "num_warps=4", "maxnreg=32")
    assert spilled(page)
    page.locator(".finding", has_text="spills").locator(".links", has_text="sass").get_by_role("button").first.click()
    assert "STL" in shown(page, "[aria-label='IR'] .cm-line.l-warn", "STL")
    compile_with(page, "maxnreg=none")
    tab(page, "Performance")
    page.locator(".card.good", has_text="no spills").wait_for()


def test_spills_of_many_live_values_end_with_an_edit_of_the_source(slow: Any) -> None:
    page = slow("many_rows", "*fp32:16, *fp32:16, 512", "num_warps=1")
    assert spilled(page)
    live = page.locator(".finding", has_text="live-registers").first
    assert "v (tensor<16x512xf32>)" in live.inner_text()
    live.get_by_role("button", name="slow.py:").click()
    page.locator("[aria-label='Source'] header").get_by_role("button", name="Edit").click()
    page.get_by_label("Source slow.py").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SLOW.replace("tl.arange(0, 16)", "tl.arange(0, 4)"))
    page.keyboard.press("Control+Enter")
    page.locator(".kernels .row.selected", has_text="↳").wait_for()
    tab(page, "Performance")
    page.locator(".card.good", has_text="no spills").wait_for()


def test_uncoalesced_access_is_marked_at_its_line_and_ends_with_a_unit_stride(slow: Any) -> None:
    page = slow("column", "*fp32:16, *fp32:16, i32:16, 256")
    finding = page.locator(".finding", has_text="uncoalesced-access").first
    assert "64 sectors of 32 bytes" in finding.inner_text()
    finding.get_by_role("button", name="slow.py:").click()
    assert "tl.load(x + at * stride)" in shown(page, "[aria-label='Source'] .cm-line.l-warn.l-here")
    click(page, "Options")
    page.get_by_label("constants", exact=True).fill("stride=1")
    click(page, "Compile")
    page.locator(".kernels .row.selected", has_text="↳").wait_for()
    tab(page, "Performance")
    page.locator("[aria-label='Findings'] .tip", has_text="None").wait_for()


def test_recompiled_kernel_names_the_constant_that_changes(explore: Any) -> None:
    page = explore(SCALED, *TARGET)
    rows = page.locator(".kernels .row", has_text="scaled")
    rows.nth(2).click()
    tab(page, "Compile time")
    assert "constant SCALE: 1.5 -> 2.5" in shown(page, ".view .message", "not in the cache")
    tab(page, "Compare")
    assert shown(page, "[aria-label='Inputs that differ'] tbody tr", "SCALE").split()[0] == "SCALE"
