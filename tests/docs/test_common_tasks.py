"""The click paths of docs/common-tasks.md exist: each page links to the next, from the front page on."""

from __future__ import annotations

import re

import pytest

from .pages import DOCS

PAGE = (DOCS / "common-tasks.md").read_text()
LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)(?:#([\w-]+))?\)")
TASKS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def clicks(task: str) -> list[str]:
    """The pages of the path in a section, the front page first."""
    (line,) = re.findall(r"^Clicks: (.+)$", TASKS[task], re.MULTILINE)
    return [page for _, page, _ in LINK.findall(line)]


def anchor(title: str) -> str:
    """The anchor of a heading."""
    return title.lower().replace(" ", "-")


@pytest.mark.parametrize("task", TASKS)
def test_every_page_of_a_click_path_links_to_the_next(task: str) -> None:
    path = clicks(task)
    assert path[0] == "index.md" and len(path) > 1
    for page, following in zip(path, path[1:]):
        assert following in {target for _, target, _ in LINK.findall((DOCS / page).read_text())}, (page, following)


def test_the_table_counts_the_clicks_and_links_to_every_task() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(#(.+?)\) \| (\d+) \|", PAGE, re.MULTILINE)
    assert [(title, at, int(count)) for title, at, count in rows] == [
        (title, anchor(title), len(clicks(title)) - 1) for title in TASKS
    ]


def test_the_front_page_lists_every_task() -> None:
    front = LINK.findall((DOCS / "index.md").read_text())
    listed = [(title, at) for title, page, at in front if page == "common-tasks.md" and at]
    assert listed == [(title, anchor(title)) for title in TASKS]
