"""What all tests share: one printed seed for random inputs, and reasons to skip."""

from __future__ import annotations

import importlib.util
import os
import random

import pytest

from tests.triton_oracle import triton_oracle  # noqa: F401  (a fixture of all tests)

#: Every random choice of a test derives from this number. It is fixed, so that a commit passes or fails alike everywhere;
#: TRITIUM_TEST_SEED=random draws a new one, TRITIUM_TEST_SEED=<number> repeats a run.
CHOSEN = os.environ.get("TRITIUM_TEST_SEED", "20261121")
SEED = random.SystemRandom().randrange(2**31) if CHOSEN == "random" else int(CHOSEN)
# Workers of pytest-xdist are processes of their own: they read the number their parent chose.
os.environ["TRITIUM_TEST_SEED"] = str(SEED)


os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # no warning of what it is when unset, in children neither


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run tests that take more than ten seconds")


def pytest_report_header() -> str:
    return f"random seed: TRITIUM_TEST_SEED={SEED}"


def pytest_terminal_summary(terminalreporter) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"repeat with TRITIUM_TEST_SEED={SEED}")


def torch_missing() -> str | None:
    """Why tests marked `torch` cannot run, or None where they can."""
    return (
        None if importlib.util.find_spec("torch") else "torch is not installed (make test could not get its CPU build)"
    )


def gpu_missing() -> str | None:
    """Why tests marked `gpu` cannot run, or None where they can."""
    return None if os.path.exists("/dev/nvidiactl") else "no GPU on this machine"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {"torch": torch_missing(), "gpu": gpu_missing()}
    reasons["slow"] = None if config.getoption("--slow") else "slow; run with --slow"
    for item in items:
        for mark, reason in reasons.items():
            if reason and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A number for this test alone, derived from the run's seed and the test's name."""
    return random.Random(f"{SEED} {request.node.nodeid}").randrange(2**31)


@pytest.fixture
def rng(seed: int):
    """A NumPy generator for this test alone."""
    return pytest.importorskip("numpy").random.default_rng(seed)
