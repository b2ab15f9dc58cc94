"""Every hand-written page of docs/: its code runs, its commands run, and print what the page shows; its links lead
somewhere. `TRITIUM_BLESS=1` rewrites what is shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import DOCS, GENERATED, ROOT, Page, blocks_of, environment, fits, needs_of, sessions
from tritium.support.settings import GROUPS

PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in GENERATED)
ALL = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.sample(2, "path")
@pytest.mark.parametrize("path", PAGES, ids=[p.stem for p in PAGES])
def test_page(path, tmp_path):
    missing = [name for name in needs_of(path.read_text()) if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    Page(path, tmp_path).run()


@pytest.mark.sample(3, "path")
@pytest.mark.parametrize("path", PAGES, ids=[p.stem for p in PAGES])
def test_code_of_a_page_imports_what_it_needs(path, tmp_path):
    """The Python of a page, by itself in a new process: nothing that this process has imported helps it."""
    blocks = blocks_of(path.read_text())
    for block in blocks:
        if block.title:
            (tmp_path / block.title).write_text(block.body)
    script = "\n".join(block.body for block in blocks if block.language == "python" and not block.title)
    if script:
        subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment(tmp_path), check=True, timeout=120)


def test_links():
    wrong = []
    for path in ALL:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?:|mailto:", target):
                continue
            file, _, anchor = target.partition("#")
            goal = (path.parent / file).resolve() if file else path
            if not goal.exists():
                wrong.append(f"{path.relative_to(ROOT)}: {target}")
            elif anchor and goal.suffix == ".md" and anchor not in anchors(goal.read_text()):
                wrong.append(f"{path.relative_to(ROOT)}: {target}: no such heading")
    assert not wrong, "\n".join(wrong)


def test_variables_are_those_of_the_settings():
    known = {v for group in GROUPS.values() for setting in group.settings().values() for v in setting.env}
    known |= {"TRITIUM_DLOPEN", "TRITIUM_NO_CUDA_H", "TRITIUM_SUCCESS", "TRITIUM_STOPPED"}  # for C compilers
    known |= {"TRITIUM_BLESS", "TRITIUM_TEST_HARDWARE", "TRITIUM_TEST_SEED", "TRITIUM_TEST_TRITON"}
    for path in [*PAGES, ROOT / "README.md"]:
        named = set(re.findall(r"(?<!\btl\.)\b(?:TRITON|TRITIUM|MLIR)_[A-Z_]+\b", path.read_text()))
        assert named <= known, path


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        words = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(words.strip().replace(" ", "-"))
    return found


def test_what_a_page_needs():
    assert needs_of("# A page\n\n<!-- needs: gcc, nm -->\n\ntext") == ["gcc", "nm"]
    assert needs_of("# A page\n\ntext") == []


# -- the runner itself -----------------------------------------------------------------------------------------------


def page(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    return Page(path, folder)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = 1\n```\ntext\n```python\nprint(x)\n```\n\n```output\n1\n```\n",
        "```python title=\"a.py\"\nprint('hi')\n```\n```console\n$ python a.py\nhi\n$ echo a \\\n  b\na b\n```\n",
        "```console\n$ python -c 'raise SystemExit(3)' # exit 3\n```\n",
        "```console\n$ python -c 'print(1); print(2); print(345)'\n…\n3…5\n```\n",
        "```mlir\ntt.func @f() {\n  tt.return\n}\n```\n",
    ],
)
def test_a_page_that_is_right_passes(tmp_path, text):
    page(tmp_path, text).run()


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n",
        "```python\nprint(1)\n```\n```output\n2\n```\n",
        "```python\n1 / 0\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ echo 1\n2\n```\n",
        "```console\n$ echo 1; echo 2\n1\n```\n",
        "```mlir\ntt.func @f() {\n```\n",
        "```mlir\ntt.func @f() {\n  tt.return\n  tt.return\n}\n```\n",
    ],
)
def test_a_page_that_is_wrong_fails(tmp_path, text, monkeypatch):
    monkeypatch.delenv("TRITIUM_BLESS", raising=False)
    with pytest.raises(Exception):
        page(tmp_path, text).run()


def test_a_page_leaves_nothing_behind(tmp_path):
    known = sys.modules["colorsys"] = __import__("colorsys")
    body = "from tritium import knobs\nfrom colorsys import ours\nknobs.compilation.always_compile = ours\n"
    page(tmp_path, f'```python title="colorsys.py"\nours = True\n```\n```python\n{body}```\n').run()
    assert not GROUPS["compilation"].always_compile
    assert sys.modules["colorsys"] is known


def test_blessing(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_BLESS", "1")
    wrong = page(tmp_path, "```python\nprint(1)\n```\n```output\n2\n```\n```console\n$ echo 1\n2\n$ echo 3\n3\n```\n")
    wrong.run()
    assert wrong.path.read_text() == (
        "```python\nprint(1)\n```\n```output\n1\n```\n```console\n$ echo 1\n1\n$ echo 3\n3\n```\n"
    )


def test_fits():
    assert fits("a…c\n", "a b c\n") and not fits("a…c\n", "a\nc\n")
    assert fits("a\n…\nd\n", "a\nb\nc\nd\n") and fits("a\n…\n", "a\n")
    assert not fits("a\n", "a\nb\n") and fits("", "")


def test_sessions_and_blocks():
    assert sessions("$ a\nb\nc\n$ d\n") == [("a", "b\nc\n"), ("d", "")]
    (block,) = blocks_of('x\n```python title="f.py"\ny\n```\n')
    assert (block.language, block.title, block.body, block.line) == ("python", "f.py", "y\n", 3)
