"""The built page in Chromium, on answers that are embedded as in an exported file."""

from __future__ import annotations

import pytest

from tests.explorer.browser.conftest import slowdown
from tests.explorer.browser.sample import answers, document


def test_passes_and_the_diff_of_the_first_change_are_shown(opened):
    page = opened(answers())
    page.wait_for_selector(".passes .row.selected >> text=canonicalize")
    assert "%y = arith.mulf" in page.wait_for_selector(".cm-deletedChunk").inner_text()
    assert page.locator(".passes .row", has_text="cse").count() == 0  # it changed nothing
    page.get_by_label("changed only").uncheck()
    assert page.locator(".passes .row", has_text="cse").count() == 1


def test_a_source_line_leads_to_its_lines_in_each_step(opened):
    page = opened(answers())
    page.locator("[aria-label='Source'] .cm-line", has_text="x * 1.0").click()
    assert page.locator(".path li").all_inner_texts()[0].split("\n") == ["step aa", "2 lines"]
    page.locator("[aria-label='IR'] .cm-line.l-here").first.wait_for()


def test_a_value_shows_its_type_and_uses_and_selects_its_source(opened):
    page = opened(answers())
    page.get_by_role("button", name="After").click()
    page.locator("[aria-label='IR'] .t-value", has_text="%z").first.click()
    assert "%z" in page.locator(".value-facts").inner_text()
    page.locator("[aria-label='Source'] .cm-line.l-here", has_text="x * 1.0").wait_for()


def test_hovering_a_value_shows_its_type_and_uses(opened):
    page = opened(answers())
    page.get_by_role("button", name="After").click()
    page.locator("[aria-label='IR'] .t-value", has_text="%x").last.hover()
    hint = page.locator(".hint").inner_text()
    assert "%x" in hint and "f32" in hint and "argument at" in hint


def test_typed_text_and_its_cursor_stay_while_a_line_is_selected(opened):
    page = opened(answers(capabilities={"compile": True}))
    page.locator("[aria-label='Source'] .cm-line", has_text="x * 1.0").click()
    page.locator("[aria-label='Source'] header").get_by_role("button", name="Edit").click()
    page.get_by_label("Source scale.py").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# one\n# two")
    lines = page.locator("[aria-label='Source'] .cm-line").all_inner_texts()
    assert (lines[-2:], len(lines)) == (["# one", "# two"], 6), lines


def test_the_keys_step_through_rewrites_with_equations(opened):
    page = opened(answers())
    page.get_by_label("Next rewrite").wait_for()
    page.keyboard.press(".")
    assert page.locator(".equation .math").inner_text() == "x * 1.0 = x"
    page.keyboard.press(",")
    assert page.locator(".equation").count() == 0


def test_problems_of_the_input_are_shown(opened):
    problem = {"severity": "error", "message": "run.jsonl:3: not JSON", "detail": "", "place": None}
    page = opened(answers(problems=[problem]))
    assert "run.jsonl:3: not JSON" in page.locator("[role=alert]").inner_text()


def test_an_error_of_a_compile_is_shown_at_its_stage(opened):
    got = answers()
    error = {
        "stage": "ttir",
        "pass": "canonicalize",
        "type": "CompilationError",
        "message": "no such op",
        "place": None,
    }
    got["api/document/d0"] = document("d0", [error])
    assert "no such op" in opened(got).locator("[role=alert]").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_hundred_kernels_keep_few_nodes_and_do_not_overflow(opened, width):
    page = opened(answers(100), width)
    page.wait_for_selector("[aria-label='IR'] .cm-line")
    page.evaluate("""() => { window.slow = [];
        new PerformanceObserver(l => window.slow.push(...l.getEntries().map(e => e.duration))).observe({type: 'longtask'}); }""")
    if width == 1280:
        for _ in range(20):
            page.evaluate("document.querySelector('.kernels .list').scrollTop += 100")
            page.wait_for_timeout(16)
        page.locator(".kernels .row", has_text="scale_90").wait_for(state="attached")
        assert [one for one in page.evaluate("window.slow") if one > 50 * slowdown()] == []
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_view_opens_by_its_key_with_what_an_export_has(opened):
    page = opened(answers())
    page.wait_for_selector(".passes .row")
    for key, name in zip("234567", ("Values", "Layouts", "Performance", "Compile time", "Autotuning", "Compare")):
        page.keyboard.press(key)
        page.locator("[role=tab][aria-selected=true]", has_text=name).wait_for()
        assert page.locator("main").inner_text().strip()
