"""The table of clients: drivers are there, what fails is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.ecosystem import (
    CLIENTS,
    EXPECTED,
    HERE,
    Client,
    Conditions,
    Result,
    compared,
    merged,
    run_client,
    table,
)

FAKE = """
import os
from harness import case, main, start

start("")
calls = []

@case
def works():
    calls.append(os.environ["THIRD_PARTY_DEVICE"])
    assert calls in (["cpu"], ["cpu", "cpu"])

@case
def differs():
    raise AssertionError("3 elements differ")

@case
def dies():
    os._exit(3)

main()
"""


def test_every_client_has_a_driver_and_a_pinned_version() -> None:
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (HERE / "ecosystem.txt").read_text(), re.MULTILINE))
    for name, client in CLIENTS.items():
        assert (HERE / client.driver).is_file(), name
        assert client.package in pinned or client.package == "torch", name
        cases = re.findall(r"^ *@case\n *def (\w+)", (HERE / client.driver).read_text(), re.MULTILINE)
        assert set(client.cases) <= set(cases) and cases, name
    drivers = {Path(client.driver).name for client in CLIENTS.values() if client.driver.startswith("clients/")}
    assert drivers == {path.name for path in (HERE / "clients").glob("*.py")}
    assert {case.partition(".")[0] for case in EXPECTED} <= set(CLIENTS)
    assert isinstance(next(iter(CLIENTS.values())), Client)


def test_table_has_runs_and_failures(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "clients"
    folder.mkdir()
    (folder / "fake.py").write_text(FAKE)
    result = run_client("fake", folder / "fake.py", tmp_path, "1.0", how=Conditions(limit=60))
    assert list(result.passed) == ["works"] and result.first >= 0 and result.second >= 0
    assert result.failed["differs"] == "AssertionError: 3 elements differ" and "exit status 3" in result.failed["dies"]
    shown = table([result, Result("other", "2", {"a": (1.0, 0.25), "b": (0.5, 0.0)}, {})])
    assert re.search(r"^fake +1\.0 +1/3 ", shown, re.MULTILINE) and re.search(
        r"^other +2 +2/2 +1\.5 +0\.25$", shown, re.M
    )
    assert "fake.differs: AssertionError: 3 elements differ" in shown
    assert result.unexpected == ["differs", "dies"]


def test_comparison_has_ratios_of_cases_that_pass_with_both_compilers() -> None:
    ours = merged(
        [
            Result("a", "1", {"x": (1.0, 0.1)}, {"only_theirs": "wrong"}),
            Result("b", "1", {"z": (3.0, 0.4)}),
            Result("a", "1", {"y": (2.0, 0.8)}),
        ]
    )
    assert [(r.client, list(r.passed), list(r.failed)) for r in ours] == [
        ("a", ["x", "y"], ["only_theirs"]),
        ("b", ["z"], []),
    ]
    theirs = [Result("a", "1", {"x": (2.0, 0.2), "y": (2.0, 0.2), "only_theirs": (5.0, 5.0)}), Result("b", "1")]
    shown = compared(ours, theirs)
    assert re.search(r"^a +2/3 +3\.00 +0\.900 +3/3 +4\.00 +0\.400$", shown, re.MULTILINE)
    assert "first run: 0.707 of Triton's (geometric mean of 2 cases), 0 above 1.3" in shown
    assert "second run: 1.414 of Triton's (geometric mean of 2 cases), 1 above 1.3\n  4.00 a.y" in shown
