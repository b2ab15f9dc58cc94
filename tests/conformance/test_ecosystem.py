"""The table of clients: drivers are there, what fails is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.ecosystem import CLIENTS, EXPECTED, HERE, Client, Conditions, Result, run_client, table

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
    assert result.passed == ["works"] and result.first >= 0 and result.second >= 0
    assert result.failed["differs"] == "AssertionError: 3 elements differ" and "exit status 3" in result.failed["dies"]
    shown = table([result, Result("other", "2", ["a", "b"], {}, 1.5, 0.25)])
    assert re.search(r"^fake +1\.0 +1/3 ", shown, re.MULTILINE) and re.search(
        r"^other +2 +2/2 +1\.5 +0\.25$", shown, re.M
    )
    assert "fake.differs: AssertionError: 3 elements differ" in shown
    assert result.unexpected == ["differs", "dies"]
