"""Which cases a sample has, and when all of them run."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from tests import sampling

pytest_plugins = "pytester"

PRODUCT = list(itertools.product(range(7), "abc", [True, False]))

TESTS = """
import pytest

@pytest.mark.sample(6)
@pytest.mark.parametrize("b", "xyz")
@pytest.mark.parametrize("a", range(6))
def test_axes(a, b):
    pass

@pytest.mark.sample(6, "case")
@pytest.mark.parametrize("case", range(12))
def test_population(case):
    pass

@pytest.mark.parametrize("a", range(3))
def test_all(a):
    pass
"""


def test_cover_contains_each_value_of_each_axis() -> None:
    for seed in range(20):
        chosen = sampling.cover(PRODUCT, 1, random.Random(seed))
        assert chosen == sorted(set(chosen)) and len(chosen) < len(PRODUCT) // 3
        for axis, values in enumerate([range(7), "abc", [True, False]]):
            assert {PRODUCT[at][axis] for at in chosen} == set(values)


def test_cover_is_determined_by_the_seed_and_differs_between_seeds() -> None:
    drawn = [tuple(sampling.cover(PRODUCT, 9, random.Random(seed))) for seed in [*range(20), *range(20)]]
    assert drawn[:20] == drawn[20:] and len(set(drawn)) > 10


def test_cover_of_many_cases_has_the_count_that_was_asked_for() -> None:
    assert len(sampling.cover(PRODUCT, 30, random.Random(0))) == 30
    assert sampling.cover(PRODUCT, 1000, random.Random(0)) == list(range(len(PRODUCT)))
    assert sampling.cover([()] * 8, 3, random.Random(0)) == sampling.cover([()] * 8, 3, random.Random(0))


def test_tree_hash_depends_on_names_and_contents_of_sources_only(tmp_path: Path) -> None:
    (tmp_path / "tests" / "__pycache__").mkdir(parents=True)
    (tmp_path / "tests" / "test_a.py").write_text("a = 1\n")
    found = [sampling.tree_hash(tmp_path)]
    (tmp_path / "tests" / "__pycache__" / "test_a.py").write_text("")
    (tmp_path / "tests" / "log").write_text("")
    assert sampling.tree_hash(tmp_path) == found[0]
    (tmp_path / "tests" / "test_a.py").write_text("a = 2\n")
    found.append(sampling.tree_hash(tmp_path))
    (tmp_path / "tests" / "test_a.py").rename(tmp_path / "tests" / "test_b.py")
    found.append(sampling.tree_hash(tmp_path))
    (tmp_path / "pyproject.toml").write_text("")
    found.append(sampling.tree_hash(tmp_path))
    assert len(set(found)) == 4


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """The node ids that a pytest with this project's `conftest.py` runs."""
    monkeypatch.setenv("SEED", "1")
    monkeypatch.setattr(sampling, "everything", False)  # the runs in this process set it
    pytester.makeini("[pytest]\nmarkers =\n    sample: a sample")
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(TESTS)

    def collect(*arguments: str) -> list[str]:
        lines = pytester.runpytest_inprocess("--collect-only", "-q", *arguments).outlines
        return [line.partition("::")[2] for line in lines if "::" in line]

    return collect


def test_marked_functions_run_a_sample(run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run()
    axes = [name for name in first if name.startswith("test_axes")]
    assert {name[10] for name in axes} == set("012345") and {name[12] for name in axes} == set("xyz")
    assert 6 <= len(axes) <= 8
    assert len([name for name in first if name.startswith("test_population")]) == 2
    assert len([name for name in first if name.startswith("test_all")]) == 3
    assert run() == first
    monkeypatch.setenv("SEED", "2")
    assert run() != first


def test_all_cases_run_on_demand(run) -> None:
    assert len(run("--all")) == 6 * 3 + 12 + 3
    assert len(run("-k", "axes")) == 6 * 3
    (file,) = Path.cwd().glob("test_*.py")
    assert run(f"{file.name}::test_axes[3-y]", f"{file.name}::test_axes[4-x]") == ["test_axes[3-y]", "test_axes[4-x]"]


def test_one_in_is_a_share_that_the_seed_determines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "everything", False)
    monkeypatch.setenv("SEED", "1")
    chosen = [sampling.one_in(3, str(n)) for n in range(300)]
    assert 70 < sum(chosen) < 130 and chosen == [sampling.one_in(3, str(n)) for n in range(300)]
    monkeypatch.setattr(sampling, "everything", True)
    assert all(sampling.one_in(3, str(n)) for n in range(300))


def test_some_keeps_the_order_of_the_values(request: pytest.FixtureRequest) -> None:
    chosen = sampling.some(range(100), 10, "a", request.config)
    assert chosen == sorted(chosen) and len(chosen) in (10, 100)


def test_workers_and_controller_agree(run, pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    sampled = len(run())
    done = pytester.runpytest_subprocess("-n", "2", "-q")
    done.assert_outcomes(passed=sampled)
