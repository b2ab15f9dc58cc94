"""The page of a running explorer: every view, edits, and what goes wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.browser.conftest import Explorer, environment, new_page, slowdown

SCRIPT = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    a = tl.load(x + at, mask=mask) * 1.0
    tl.store(o + at, a + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, K, N: tl.constexpr, BK: tl.constexpr):
    i, j, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, BK)
    total = tl.zeros((N, N), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + i * K + first + k[None, :])
        y = tl.load(b + (first + k[:, None]) * N + j)
        total = tl.dot(x, y, total)
    tl.store(c + i * N + j, total.to(tl.float16))


x, y, o = np.arange(300, dtype=np.float32), np.ones(300, np.float32), np.zeros(300, np.float32)
add[(3,)](x, y, o, 300, B=128)
a, b, c = (np.ones((32, 32), np.float16) for _ in range(3))
matmul[(1,)](a, b, c, 32, N=32, BK=16)
print("sum", float(o.sum()))
"""
AXE = "axe_playwright_python"


@pytest.fixture(scope="module")
def explorer(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    pytest.importorskip("uvicorn", reason="the extra 'explorer' is not installed")
    path = tmp_path_factory.mktemp("explored") / "two.py"
    path.write_text(SCRIPT)
    found = Explorer([str(path), "--target", "cuda:90"], environment())
    yield found
    found.end()


@pytest.fixture
def page(browser: Any, explorer: Explorer) -> Iterator[Any]:
    errors: list[str] = []
    found = new_page(browser, errors)
    found.goto(explorer.address)
    found.get_by_role("button", name="Run again", exact=True).wait_for()
    yield found
    found.close()
    assert errors == []


def kernel(page: Any, name: str) -> None:
    page.locator(".kernels .row", has_text=name).first.click()
    page.locator(".kernels .row.selected", has_text=name).wait_for()


def view(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def source_line(page: Any, text: str) -> None:
    page.locator("[aria-label='Source'] .cm-line", has_text=text).first.click(position={"x": 40, "y": 6})


def test_a_source_line_leads_to_machine_code_and_back(page: Any) -> None:
    kernel(page, "add")
    source_line(page, "tl.store")
    page.locator(".path button:enabled", has_text="sass").click()
    line = page.locator("[aria-label='IR'] .cm-line.l-here", has_text="STG").first
    line.wait_for()
    page.locator("[aria-label='Source'] .cm-line", has_text="mask = at < n").click(position={"x": 40, "y": 6})
    page.locator("[aria-label='IR'] .cm-line", has_text="STG").first.click(position={"x": 60, "y": 6})
    page.locator("[aria-label='Source'] .cm-line.l-here", has_text="tl.store").wait_for()


def test_layouts_banks_and_conversions_are_drawn(page: Any) -> None:
    kernel(page, "matmul")
    view(page, "Layouts")
    page.locator(".readout", has_text="lane 0, warp 0").wait_for()
    page.get_by_label("shape", exact=True).fill("16x16")
    page.get_by_label("shape", exact=True).press("Enter")
    page.locator("p", has_text="16x16: ").wait_for()
    page.get_by_role("button", name="Bank conflicts").click()
    page.locator(".message", has_text="wavefront").wait_for()
    page.get_by_role("button", name="Conversions").click()
    page.locator(".movement canvas").wait_for()
    slider = page.get_by_label("From the source layout to the result layout")
    slider.fill("100")
    page.locator(".movement canvas[aria-label*='100% of the way']").wait_for()


def test_values_have_iterations_marks_and_lines(page: Any) -> None:
    kernel(page, "matmul")
    view(page, "Values")
    page.get_by_role("button", name="Evaluate").click()
    row = page.locator(".boxed .row", has_text="tt.dot").first
    page.locator(".boxed .row").first.wait_for()
    page.locator(".boxed .list").first.evaluate("e => e.scrollTop = 1e6")
    loads = page.locator(".boxed .row", has_text="tt.load")
    (row if row.count() else loads).first.click()
    page.get_by_label("Iteration").fill("1")
    page.locator(".field", has_text="iteration 2 of 2").wait_for()
    page.get_by_role("button", name="show line").click()
    page.locator("[aria-label='IR'] .cm-line").first.wait_for()


def test_out_of_bounds_elements_are_marked_at_their_operation(page: Any) -> None:
    kernel(page, "add")
    view(page, "Values")
    page.get_by_label("arguments").fill("n=1000")
    page.get_by_label("program x").fill("2")
    page.get_by_role("button", name="Evaluate").click()
    page.locator(".boxed .tag.bad", has_text="out of bounds").first.wait_for()
    page.locator("[aria-label='Numbers'] .problem").get_by_role("button", name="line").first.click()
    page.locator("[aria-label='IR'] .cm-line.l-bad-value", has_text="tt.load").first.wait_for()


def test_performance_shows_roofline_occupancy_and_order(page: Any) -> None:
    kernel(page, "matmul")
    view(page, "Performance")
    page.locator("h3", has_text="Roofline bound").wait_for()
    page.locator("h3", has_text="Occupancy").wait_for()
    assert "no time is measured" in page.locator("[aria-label='Order of instructions'] .tip").inner_text()
    page.locator("[aria-label='Order of instructions'] .row", has_text="dot").first.click()
    page.locator("[aria-label='IR'] .cm-line", has_text="dot").first.wait_for()


def test_compile_time_names_the_cache_and_opens_a_stage(page: Any) -> None:
    view(page, "Compile time")
    page.locator(".message", has_text="cache").wait_for()
    page.locator(".row", has_text="ttgir").first.click()
    page.locator(".passes .row.selected", has_text="ttgir").wait_for()


def test_edited_ir_is_compiled_and_compared(page: Any) -> None:
    kernel(page, "add")
    page.locator(".passes .row", has_text="ttir").first.click()
    page.locator("[aria-label='IR'] header").get_by_role("button", name="Edit").click()
    editor = page.get_by_label("Edit ttir")
    editor.click()
    text = page.evaluate(
        "document.querySelector('[aria-label=\"Edit ttir\"]').cmView?.view?.state.doc.toString() ?? ''"
    )
    text = text or "\n".join(page.locator("[aria-label='Edit ttir'] .cm-line").all_inner_texts())
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text.replace("arith.addf", "arith.subf"))
    page.get_by_role("button", name="Compile", exact=True).click()
    page.locator(".kernels .row.selected", has_text="↳").wait_for()
    view(page, "Compare")
    page.locator("[aria-label='Results'] tr.differs", has_text="o").wait_for()
    page.locator("[aria-label='Stage texts'] .cm-mergeView").wait_for()


def test_edited_vector_add_is_compiled_and_drawn_within_300_ms(page: Any) -> None:
    kernel(page, "add")
    page.locator("[aria-label='Source'] header").get_by_role("button", name="Edit").click()
    page.get_by_label("Source two.py").click()
    seconds = []
    for n in range(4):  # a busy machine makes a run slower, never faster
        before = page.locator(".kernels .row.selected").get_attribute("id")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(SCRIPT.replace("* 1.0", f"* {n}.25"))
        page.evaluate("""() => {
            window.took = 0;
            window.before = document.querySelector('.kernels .row.selected')?.id;
            const begin = performance.now();
            const seen = new MutationObserver(() => {
                const row = document.querySelector('.kernels .row.selected');
                if (row?.id === window.before) return;
                const drawn = () => { window.took = performance.now() - begin; };
                requestAnimationFrame(() => requestAnimationFrame(drawn));
                seen.disconnect();
            });
            seen.observe(document.body, {subtree: true, childList: true, attributes: true});
        }""")
        page.keyboard.press("Control+Enter")
        seconds.append(page.wait_for_function("() => window.took").json_value())
        assert page.locator(".kernels .row.selected").get_attribute("id") != before
    assert min(seconds) < 300 * slowdown(), seconds


def test_an_edit_keeps_focus_and_keys_while_its_document_is_loaded(page: Any) -> None:
    kernel(page, "add")
    page.locator("[aria-label='Source'] header").get_by_role("button", name="Edit").click()
    editor = page.get_by_label("Source two.py")
    editor.click()
    before = page.locator(".kernels .row.selected").get_attribute("id")
    held: list[Any] = []
    page.route("**/api/document/*", lambda route: held.append(route))
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SCRIPT.replace("* 1.0", "* 3.5"))
    page.keyboard.press("Control+Enter")
    page.wait_for_function("before => document.querySelector('.kernels .row.selected')?.id !== before", arg=before)
    page.keyboard.insert_text("# typed while loading")
    assert held
    while held:
        held.pop().continue_()
    page.unroute("**/api/document/*")
    page.locator(".kernels .row.selected", has_text="↳ add").wait_for()
    page.locator(".passes .row.selected").wait_for()
    page.keyboard.insert_text(", and after")
    editor.get_by_text("# typed while loading, and after").wait_for()
    page.get_by_role("button", name="Discard edit").click()


def test_keys_lead_through_views_passes_and_texts(page: Any) -> None:
    page.locator(".kernels .list").focus()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.locator(".kernels .row.selected", has_text="add").wait_for()
    page.locator(".passes .row.selected").wait_for()
    first = page.locator(".passes .row.selected").inner_text()
    page.locator(".passes .list").focus()
    page.keyboard.press("]")
    page.wait_for_function("f => document.querySelector('.passes .row.selected').innerText !== f", arg=first)
    page.get_by_label("Source two.py").focus()
    page.keyboard.press("Control+End")
    for _ in range(SCRIPT.count("\n") - SCRIPT[: SCRIPT.index("tl.store")].count("\n")):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.locator("[aria-label='Source'] .cm-line.l-here", has_text="tl.store").wait_for()
    page.keyboard.press(">")
    page.locator(".path button[aria-current]").wait_for()
    for key, name in zip("234567", ("Values", "Layouts", "Performance", "Compile time", "Autotuning", "Compare")):
        page.keyboard.press(key)
        page.locator("[role=tab][aria-selected=true]", has_text=name).wait_for()


def test_second_tab_follows_what_the_first_one_compiles(page: Any, browser: Any, explorer: Explorer) -> None:
    errors: list[str] = []
    other = new_page(browser, errors)
    other.goto(explorer.address)
    other.locator(".kernels .row").first.wait_for()
    before = other.locator(".kernels .row").count()
    kernel(page, "add")
    page.get_by_role("button", name="Options").click()
    page.get_by_label("target").select_option("cpu")
    page.get_by_role("button", name="Compile", exact=True).click()
    other.locator(".kernels .row", has_text="cpu").first.wait_for()
    assert other.locator(".kernels .row").count() == before + 1
    other.close()
    assert errors == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_reports_no_serious_finding_in_any_view(browser: Any, explorer: Explorer, theme: str) -> None:
    axe = pytest.importorskip(f"{AXE}.sync_playwright", reason="axe-playwright-python is not installed").Axe()
    errors: list[str] = []
    page = new_page(browser, errors, theme=theme)
    page.goto(explorer.address)
    page.get_by_role("button", name="Run again", exact=True).wait_for()
    kernel(page, "matmul")
    source_line(page, "tl.dot")
    found = []
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    views = ["Stages", "Values", "Layouts", "Performance", "Compile time", "Autotuning", "Compare"]
    if theme == "dark":  # the themes differ in colors only
        options["runOnly"] = ["color-contrast"]
        views = ["Stages", "Values", "Performance", "Compare"]
    for name in views:
        view(page, name)
        page.wait_for_timeout(150)
        for one in axe.run(page, options=options).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found.append((name, one["id"], [node["html"][:160] for node in one["nodes"][:3]]))
    page.close()
    assert found == []


# -- what goes wrong -------------------------------------------------------------------------------------------------------


def test_kernel_that_does_not_compile_is_shown_at_its_line(explore: Any) -> None:
    page = explore(SCRIPT.replace("a + tl.load(y", "a + undefined(y"))
    page.locator("[role=alert]", has_text="undefined").first.wait_for()
    page.locator("[role=alert]", has_text="script.py:11").first.wait_for()


def test_script_that_raises_shows_its_traceback_and_keeps_its_kernels(explore: Any) -> None:
    page = explore(SCRIPT.replace('print("sum"', 'raise ValueError("of no use"); print("sum"'))
    page.locator("[role=alert]", has_text="of no use").first.wait_for()
    page.locator(".kernels .row", has_text="matmul").wait_for()
    page.locator(".problem").get_by_role("button", name="script.py:").first.click()
    page.locator("[aria-label='Source'] .cm-line.l-here", has_text="of no use").wait_for()


def test_endless_script_is_stopped(explore: Any) -> None:
    page = explore("while True:\n    pass\n")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Run again", exact=True).wait_for()
    page.locator(".problems", has_text="The script was stopped").wait_for()


def test_killed_server_is_reported_and_the_page_stays_readable(explore: Any) -> None:
    page = explore(SCRIPT)
    page.get_by_role("button", name="Run again", exact=True).wait_for()
    page.locator(".passes .row").first.wait_for()
    page.explorer.process.kill()
    page.locator("[role=alert]", has_text="The server does not answer").wait_for()
    page.locator(".passes .row", has_text="ttir").first.wait_for()


def test_malformed_trace_is_reported_with_its_line(explore: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"event": "compile"\nno json\n')
    page = explore(path)
    page.locator("[role=alert]", has_text="broken.jsonl").first.wait_for()


TUNED = """\
import numpy as np
import triton
import triton.language as tl


@triton.autotune([triton.Config({"B": b}) for b in (64, 128, 256)], key=["n"])
@triton.jit
def scale(x, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


x, o = np.ones(1000, np.float32), np.zeros(1000, np.float32)
scale[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, o, 1000)
"""


def test_autotuning_fills_its_table_while_it_runs(explore: Any) -> None:
    page = explore(TUNED, "--target", "cpu")
    view(page, "Autotuning")
    page.locator("tr.best").wait_for()
    assert page.locator("main tbody tr").count() == 3
    page.locator("main .uplot").wait_for()


def test_exported_file_is_read_from_disk(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("playwright")
    (tmp_path / "two.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "tritium", "explore", "two.py", "--target", "cuda:90", "--export", "out.html"]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True, capture_output=True, timeout=120)
    errors: list[str] = []
    page = new_page(browser, errors)
    page.goto(f"file://{tmp_path}/out.html")
    kernel(page, "matmul")
    for name, text in (
        ("Performance", "Roofline bound"),
        ("Layouts", "color by"),
        ("Compare", "Not available in an exported file"),
    ):
        view(page, name)
        page.locator("main", has_text=text).wait_for()
    view(page, "Stages")
    source_line(page, "tl.dot")
    page.locator(".path button:enabled", has_text="sass").click()
    page.locator("[aria-label='IR'] .cm-line.l-here").first.wait_for()
    assert page.get_by_role("button", name="Edit").count() == 0
    page.close()
    assert errors == []
