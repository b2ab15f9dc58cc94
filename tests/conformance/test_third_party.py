"""Kernels of public repositories, where `TRITIUM_TEST_THIRD_PARTY` names a folder with checkouts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.third_party import DRIVERS, KNOWN, PROJECTS, Row, cases_of, found_in, run_project, table

FOLDER = os.environ.get("TRITIUM_TEST_THIRD_PARTY", "")


@pytest.mark.skipif(not FOLDER, reason="TRITIUM_TEST_THIRD_PARTY names no folder with checkouts of other projects")
@pytest.mark.parametrize("project", PROJECTS)
def test_kernels_run(project: str) -> None:
    checkout = found_in(Path(FOLDER)).get(project)
    if checkout is None:
        pytest.skip(f"{FOLDER} has no {PROJECTS[project]}")
    rows = run_project(project, checkout.resolve())
    wrong = [f"{row.name}: {row.error}" for row in rows if row.passed == (row.name in KNOWN)]
    assert rows and not wrong, "\n".join(wrong)


def test_every_project_has_a_driver() -> None:
    drivers = {path.stem for path in DRIVERS.glob("*.py")} - {"harness"}
    assert drivers == set(PROJECTS)
    assert all(map(cases_of, drivers)) and {"geglu", "swiglu"} < set(cases_of("liger"))


def test_rows_say_what_failed(tmp_path: Path) -> None:
    """A checkout that is empty: the driver cannot import, and its row says what."""
    pytest.importorskip("torch")
    rows = run_project("unsloth", tmp_path)
    assert [row.case for row in rows] == ["import"] and not rows[0].passed
    assert "No module named 'unsloth.kernels" in rows[0].error or "cannot import name" in rows[0].error
    shown = table([*rows, Row("liger", "geglu", True, "", 1.0)])
    assert shown.endswith("1 of 2 cases of 2 projects passed") and "unsloth.import" in shown
