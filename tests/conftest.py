"""What all tests share: printed seeds of the random inputs and of the sample of cases, and reasons to skip."""

from __future__ import annotations

import gc
import importlib.util
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest

import tritium
from tests import sampling
from tests.triton_oracle import triton_oracle  # noqa: F401  (a fixture of all tests)

#: Every random choice of a test derives from this number. It is fixed, so that a commit passes or fails alike everywhere;
#: TRITIUM_TEST_SEED=random draws a new one, TRITIUM_TEST_SEED=<number> repeats a run.
CHOSEN = os.environ.get("TRITIUM_TEST_SEED", "20261121")
SEED = random.SystemRandom().randrange(2**31) if CHOSEN == "random" else int(CHOSEN)
# Workers of pytest-xdist are processes of their own: they read the number their parent chose.
os.environ["TRITIUM_TEST_SEED"] = str(SEED)

OWN_CACHE = pytest.StashKey[str]()

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # no warning of what it is when unset, in children neither

# Processes that tests start import the compiler: compiling its sources takes each of them seconds without bytecode files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run tests that take more than ten seconds")
    parser.addoption("--all", action="store_true", help="run all cases of tests of which usually a sample runs")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a cache of its own: compiled kernels are shared by its processes, and none is left from earlier runs."""
    sampling.everything = sampling.runs_everything(config)
    if not {"TRITIUM_CACHE_DIR", "TRITON_CACHE_DIR"} & os.environ.keys():
        os.environ["TRITIUM_CACHE_DIR"] = config.stash[OWN_CACHE] = tempfile.mkdtemp(prefix="tritium-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(OWN_CACHE, None):
        os.environ.pop("TRITIUM_CACHE_DIR", None)
        shutil.rmtree(folder, ignore_errors=True)


def pytest_report_header(config: pytest.Config) -> list[str]:
    seeds = [f"random seed: TRITIUM_TEST_SEED={SEED}"]
    if sampling.runs_everything(config):
        return [*seeds, "sample of cases: all"]
    return [
        *seeds,
        f"sample of cases: SEED={sampling.chosen_seed()} (from the sources; `make test-all` runs all cases)",
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if terminalreporter.stats.get("failed"):
        sample = "" if sampling.runs_everything(config) else f" SEED={sampling.chosen_seed()}"
        terminalreporter.write_line(f"repeat with TRITIUM_TEST_SEED={SEED}{sample}")


def torch_missing() -> str | None:
    """Why tests marked `torch` cannot run, or None where they can."""
    return (
        None if importlib.util.find_spec("torch") else "torch is not installed (make test could not get its CPU build)"
    )


def gpu_missing() -> str | None:
    """Why tests marked `gpu` cannot run, or None where they can."""
    return None if os.path.exists("/dev/nvidiactl") else "no GPU on this machine"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not sampling.runs_everything(config):
        items[:], dropped = sampling.select(items, sampling.chosen_seed())
        if dropped:
            config.hook.pytest_deselected(items=dropped)
    reasons = {"torch": torch_missing(), "gpu": gpu_missing()}
    reasons["slow"] = None if config.getoption("--slow") else "slow; run with --slow"
    marks = sampling.Marks()
    for item in items:
        found = marks(item)
        for mark, reason in reasons.items():
            if reason and mark in found:
                item.add_marker(pytest.mark.skip(reason=reason))


def uninstall_alias() -> None:
    """Undo `tritium.install()`."""
    alias = sys.modules[tritium.install.__module__]
    if alias.FOR_CHILDREN in sys.path:
        alias.uninstall()


def pytest_collection_finish() -> None:
    """Take modules and tests out of later collections of garbage, which tests of lifetimes start by the hundred."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def triton_alias() -> Iterator[None]:
    """While the test runs, `import triton` gives this package."""
    tritium.install()
    yield
    uninstall_alias()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Undo `tritium.install()`, which commands call that load a file: it changes messages and imports of later tests."""
    yield
    uninstall_alias()


@pytest.fixture
def all_cases(request: pytest.FixtureRequest) -> bool:
    """Whether tests that loop over very many cases run all of them."""
    return sampling.runs_everything(request.config)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A number for this test alone, derived from the run's seed and the test's name."""
    return random.Random(f"{SEED} {request.node.nodeid}").randrange(2**31)


@pytest.fixture
def rng(seed: int):
    """A NumPy generator for this test alone."""
    return pytest.importorskip("numpy").random.default_rng(seed)
