"""Loops that load iterations ahead, for any number of iterations and depth (tests/e2e/overlapping.py)."""

import pytest

from tests.e2e.overlapping import CASES, check


@pytest.mark.share(4)
@pytest.mark.parametrize("trips", range(8))
@pytest.mark.parametrize("case", CASES)
def test_overlapping(case, trips):
    check(case, trips)
