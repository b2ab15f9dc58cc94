"""The script that runs Triton's tests, on a checkout of our own making."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import known, triton_report, triton_suite
from tests.conformance.triton_plugin import reason_of_skip
from tests.triton_oracle import find_interpreter

ROOT = Path(__file__).resolve().parents[2]

CONFTEST = """\
import pytest

def pytest_addoption(parser):
    parser.addoption("--device", default="cuda")

@pytest.fixture
def device(request):
    return request.config.getoption("--device")
"""

SHARED = """\
import multiprocessing

shared = 1

def nothing():
    pass

def in_a_child():
    process = multiprocessing.get_context("forkserver").Process(target=nothing)
    process.start()
    process.join()
    return process.exitcode
"""

TESTS = """\
import os, subprocess, sys, time
import pytest, triton
from triton._internal_testing import in_a_child, shared

@pytest.mark.parametrize("n", range(4))
def test_good(n, device):
    assert device == "cpu" and shared == 1 and triton.__version__ == "3.9.0"

def test_children():
    said = subprocess.run([sys.executable, "-c", "import triton; print(triton.jit.__module__)"], capture_output=True, text=True)
    assert said.stdout.startswith("tritium."), said.stderr

def test_children_by_fork_server():
    assert in_a_child() == 0

def test_wrong():
    assert triton.cdiv(5, 2) == 2

def test_crash():
    os._exit(3)

def test_hang():
    time.sleep(60)

def test_after_them():
    pass

@pytest.mark.skip(reason="not here")
def test_skipped():
    pass

@pytest.mark.xfail(reason="not yet")
def test_expected():
    assert False
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    tests = tmp_path / "checkout" / "python" / "test"
    (tests / "unit" / "language").mkdir(parents=True)
    (tests / "conftest.py").write_text(CONFTEST)
    (tests / "unit" / "language" / "test_small.py").write_text(TESTS)
    (tests / "unit" / "language" / "test_broken.py").write_text("from triton import no_such_name\n")
    shared = tmp_path / "checkout" / "python" / "triton" / "_internal_testing.py"
    shared.parent.mkdir()
    shared.write_text(SHARED)
    return tmp_path / "checkout"


def test_every_test_has_an_outcome(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, table = tmp_path / "out.json", tmp_path / "table.md"
    words = [str(checkout), "--only", "language", "--timeout", "6", "--json", str(out), "--markdown", str(table)]
    assert triton_suite.main(words) == 1
    results = json.loads(out.read_text())
    outcomes = {test.split("::")[1]: row["outcome"] for test, row in results["tests"].items()}
    assert outcomes == {
        **{f"test_good[{n}]": "passed" for n in range(4)},
        "test_children": "passed",
        "test_children_by_fork_server": "passed",
        "test_wrong": "failed",
        "test_crash": "crashed",
        "test_hang": "hung",
        "test_after_them": "passed",
        "test_skipped": "skipped",
        "test_expected": "xfailed",
    }
    assert "no_such_name" in results["broken"]["unit/language/test_broken.py"]
    assert "| language/test_small.py | 12 | 12 | 7 | 0 | 0 | 3 | 2 | 70.0 % | 70.0 % |" in table.read_text()
    assert "the process ended with 3" in capsys.readouterr().out
    assert not list(checkout.rglob("__pycache__"))


LIBRARY = """\
import torch, triton, triton.language as tl
from triton.language.target_info import cuda_capability_geq

@triton.jit
def _twice(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.load(x + at) * 2)

def twice(n):
    assert cuda_capability_geq(9) and not cuda_capability_geq(10)
    x = torch.ones(n, device="cuda")[: n - 2]
    _twice[(torch.cuda.get_device_properties(0).multi_processor_count // 4,)](x, N=n)
    return x
"""
LIBRARY_TESTS = """\
import pytest, torch
from small_kernels import twice

@pytest.mark.parametrize("n", [8, 16])
def test_twice(n, device):
    x = twice(n)
    assert device == "cuda" and x.sum().item() == 2 * n - 4
    assert torch.histc(torch.arange(4, device="cuda", dtype=torch.int32), bins=4, max=3).sum() == 4
    assert __name__ == "tests.test_twice"
"""


@pytest.mark.torch
def test_a_library_of_kernels(checkout: Path, tmp_path: Path) -> None:
    """Its tests ask for CUDA, and run on an emulated GPU; views may be written behind where storage has room."""
    library = checkout / "python" / "triton_kernels"
    (library / "tests").mkdir(parents=True)
    (library / "small_kernels.py").write_text(LIBRARY)
    (library / "tests" / "__init__.py").write_text("")
    (library / "tests" / "conftest.py").write_text(CONFTEST)
    (library / "tests" / "test_twice.py").write_text(LIBRARY_TESTS)
    out = tmp_path / "out.json"
    words = [str(checkout), "--kernels", "--device", "emulated:90", "--json", str(out)]
    assert triton_suite.main(words) == 0
    found = {test: row["outcome"] for test, row in json.loads(out.read_text())["tests"].items()}
    assert found == {f"tests/test_twice.py::test_twice[{n}]": "passed" for n in (8, 16)}


def test_an_expression_selects(checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    words = [str(checkout), "--only", "language/test_small.py", "-k", "good and not 2", "--json", str(out)]
    assert triton_suite.main(words) == 0
    chosen = [test.split("::")[1] for test in json.loads(out.read_text())["tests"]]
    assert chosen == ["test_good[0]", "test_good[1]", "test_good[3]"]


def test_recorded_parts_are_one_table(checkout: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    parts = [tmp_path / f"{k}.json" for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        words = ["--only", "language/test_small.py", "-k", "good or wrong", "--part", f"{k}/2", "--json", str(part)]
        triton_suite.main([str(checkout), *words])
    assert triton_suite.main([str(checkout), "--from", *map(str, parts), "--markdown", str(table)]) == 1
    assert "| language/test_small.py | 5 | 5 | 4 | 0 | 0 | 1 | 0 | 80.0 % | 80.0 % |" in table.read_text()
    parts[1].write_text(parts[1].read_text().replace('"device": "cpu"', '"device": "cuda"'))
    with pytest.raises(ValueError, match="of one device"):
        triton_suite.main([str(checkout), "--from", *map(str, parts)])


def test_failures_of_a_peer(checkout: Path, tmp_path: Path, triton_oracle: Any) -> None:
    """What fails here runs once more with Triton itself."""
    out = tmp_path / "out.json"
    words = ["--only", "language/test_small.py", "-k", "wrong or children", "--json", str(out)]
    python = find_interpreter()
    assert python is not None and triton_suite.main([str(checkout), *words, "--peer", python]) == 1
    found = triton_report.read([out])
    assert found.peer == "3.9" and found.tests["unit/language/test_small.py::test_wrong"]["peer"] == "failed"
    (name,) = found.failures()
    found.tests[name]["class"] = known.load()[0].name
    assert "1 of 1" in triton_report.markdown([triton_report.classes_table(found)])


def test_a_sample_takes_of_each_function(checkout: Path) -> None:
    tests = [{"id": f"{name}[{n}]", "function": name} for name in "ab" for n in range(5)]
    options = triton_suite.arguments([str(checkout), "--sample", "2"])
    chosen = triton_suite.select(tests, options)
    assert len(chosen) == 4 and sum(name.startswith("a") for name in chosen) == 2
    assert chosen == triton_suite.select(tests, options)
    parts = [triton_suite.select(tests, triton_suite.arguments([str(checkout), "--part", f"{k}/3"])) for k in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(test["id"] for test in tests)


def test_shares_of_all_weigh_each_function_by_its_cases() -> None:
    sizes = {"unit/f.py::a": 8, "unit/f.py::b": 1, "unit/f.py::c": 1}
    results = {
        "unit/f.py::a[1]": "passed",
        "unit/f.py::a[5]": "passed",
        "unit/f.py::b": "failed",
        "unit/f.py::c": "skipped",
    }
    rows = {test: {"outcome": outcome} for test, outcome in results.items()}
    assert triton_report.weighted(sizes, rows) == {"f.py": "88.9 %", "all": "88.9 %"}


def test_a_class_explains_what_it_says_it_does() -> None:
    refused = known.Class(
        "shapes", "we accept them", ("unit/*::test_shape[*]",), says="DID NOT RAISE", devices=("cpu",)
    )
    assert known.classify([refused], "unit/a.py::test_shape[3-x]", "Failed: DID NOT RAISE", "cpu") == "shapes"
    assert known.classify([refused], "unit/a.py::test_shape[3-x]", "AssertionError", "cpu") == ""
    assert known.classify([refused], "unit/a.py::test_shape[3-x]", "DID NOT RAISE", "cuda") == ""
    assert known.classify([refused], "unit/a.py::test_shapes[3]", "DID NOT RAISE", "cpu") == ""


def test_known_failures_can_be_read() -> None:
    assert all(entry.why and entry.tests for entry in known.load())


def test_the_page_names_every_class() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text()
    assert [entry.name for entry in known.load() if f"| `{entry.name}` |" not in page] == []


def test_reasons_of_skips() -> None:
    assert reason_of_skip(("file.py", 3, "Skipped: no GPU")) == "no GPU"
