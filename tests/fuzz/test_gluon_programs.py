"""A sample of the random programs in Gluon."""

import pytest

from tests.fuzz.gluon_programs import check


@pytest.mark.parametrize("seed", range(12))
def test_programs_agree_on_all_machines(seed):
    check(seed)
