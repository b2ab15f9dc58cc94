"""tests/e2e/cpu/test_expressions.py on GPUs."""

import pytest

from tests.e2e.cpu.test_expressions import *  # noqa: F403
from tests.e2e.cpu.test_expressions import FUNCTIONS

# In units of f32. GPUs compute exp(x) as exp2(x * log2(e)), of which the product is rounded: that is |x| / 2 units.
UNITS = {"tl.exp(x)": 48, "tl.math.exp(x)": 48}


@pytest.fixture(autouse=True)
def units_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds that hold on GPUs."""
    for name, units in UNITS.items():
        monkeypatch.setitem(FUNCTIONS, name, (*FUNCTIONS[name][:3], units))
