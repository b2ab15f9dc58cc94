"""Run a sample of large parametrizations, and all cases on demand.

A test function (or module) marked `@pytest.mark.sample(8)` runs one in eight of its cases, and more where that is
needed to run each value of each parameter at least once. `@pytest.mark.sample(8, "case")` names parameters whose values
are a population of cases, not an axis: their values need not all occur.

The sample depends on the seed and on the name of the test function only, so all workers of pytest-xdist agree on it. The
seed is a hash of the sources: one tree always runs the same sample, and each change of the tree runs another one.
`SEED=<seed> make test` repeats a sample. `--all` (`make test-all`) runs every case, as do node ids, `-k` and `--lf`:
a case that was asked for by name is never left out.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("tritium", "tests", "pyproject.toml")
SUFFIXES = (".py", ".mlir", ".json", ".toml", ".txt")

#: One test in how many runs, and the parameters whose values need not all occur.
Rate = tuple[int, tuple[str, ...]]
T = TypeVar("T")

everything = False  # whether all cases run: set by conftest.py, for code of tests that does not know pytest's options


def tree_hash(root: Path = ROOT) -> str:
    """Eight hex digits of the names and contents of the sources below `root`."""
    digest = hashlib.sha256()
    for path in sorted(_source_files(root)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:8]


def _source_files(root: Path) -> Iterable[Path]:
    for source in SOURCES:
        if (root / source).is_file():
            yield root / source
        for folder, folders, names in os.walk(root / source):
            folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
            yield from (Path(folder, name) for name in names if name.endswith(SUFFIXES))


def chosen_seed() -> str:
    """`$SEED` where it is set, otherwise the hash of the tree, which is exported for worker processes."""
    return os.environ.get("SEED") or os.environ.setdefault("SEED", tree_hash())


def cover(cases: Sequence[Sequence[Hashable]], count: int, rng: random.Random) -> list[int]:
    """The sorted indices of at least `count` cases that contain each value of each axis; case[i] is its value on axis i.

    Greedy: the case with the most values that no chosen case contains comes next, ties are broken by `rng`.
    """
    order = list(range(len(cases)))
    rng.shuffle(order)
    missing = {(axis, value) for case in cases for axis, value in enumerate(case)}
    chosen: list[int] = []
    while missing:
        best = max(order, key=lambda at: len(missing.intersection(enumerate(cases[at]))))
        chosen.append(best)
        order.remove(best)
        missing.difference_update(enumerate(cases[best]))
    return sorted(chosen + order[: max(0, count - len(chosen))])


class Marks:
    """The closest mark of each name of a test: `get_closest_marker`, which walks up the tree each time, for all tests."""

    def __init__(self) -> None:
        self._of: dict[pytest.Item | pytest.Collector, dict[str, pytest.Mark]] = {}

    def __call__(self, item: pytest.Item) -> dict[str, pytest.Mark]:
        assert item.parent is not None
        above = self._inherited(item.parent)
        return {**above, **{mark.name: mark for mark in reversed(item.own_markers)}} if item.own_markers else above

    def _inherited(self, node: pytest.Item | pytest.Collector) -> dict[str, pytest.Mark]:
        if (found := self._of.get(node)) is None:
            above = self._inherited(node.parent) if node.parent else {}
            found = self._of[node] = {**above, **{mark.name: mark for mark in reversed(node.own_markers)}}
        return found


def one_in(count: int, key: str) -> bool:
    """Whether the sample contains the step `key` of a test, such as a kernel's assembly; always where all cases run."""
    return everything or crc32(f"{chosen_seed()} {key}".encode()) % count == 0


def some(values: Sequence[T], count: int, name: str, config: pytest.Config) -> list[T]:
    """`count` of the values in their order, drawn for the test or table `name`; all of them where all cases run."""
    if runs_everything(config) or count >= len(values):
        return list(values)
    chosen = random.Random(f"{chosen_seed()} {name}").sample(range(len(values)), count)
    return [values[at] for at in sorted(chosen)]


def marked_rate() -> Callable[[pytest.Item], Rate | None]:
    """What the closest mark `sample` of a test says."""
    marks = Marks()

    def rate(item: pytest.Item) -> Rate | None:
        mark = marks(item).get("sample")
        return (mark.args[0], tuple(mark.args[1:])) if mark else None

    return rate


def select(
    items: Sequence[pytest.Item], seed: str, rate_of: Callable[[pytest.Item], Rate | None] | None = None
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests to run, in their order, and those left out."""
    rate_of = rate_of or marked_rate()
    groups: dict[tuple[str, Rate], list[pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec") and (rate := rate_of(item)):
            groups.setdefault((item.nodeid.partition("[")[0], rate), []).append(item)
    dropped: set[pytest.Item] = set()
    for (function, (one_in, population)), group in groups.items():
        # Cases of a parametrization share the objects that are its values, which need not be hashable.
        axes = [{k: id(v) for k, v in item.callspec.params.items() if k not in population} for item in group]
        names = sorted({name for axis in axes for name in axis})
        cases = [tuple(axis.get(name) for name in names) for axis in axes]
        kept = cover(cases, -(-len(group) // one_in), random.Random(f"{seed} {function}"))
        dropped.update(group)
        dropped.difference_update(group[at] for at in kept)
    return [item for item in items if item not in dropped], [item for item in items if item in dropped]


def runs_everything(config: pytest.Config) -> bool:
    """Whether the command line asks for all cases, or names the tests to run; or a number of random programs is asked for."""
    options = ("keyword", "lf", "failedfirst", "stepwise")
    named = any(config.getoption(option, None) for option in options) or any("::" in str(arg) for arg in config.args)
    return bool(config.getoption("--all") or named or os.environ.get("TRITIUM_PROGRAMS"))
