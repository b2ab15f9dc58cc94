"""tests/e2e/cpu/test_expressions.py on GPUs."""

import pytest

from tests.e2e.buffers import assert_close
from tests.e2e.cpu import test_expressions
from tests.e2e.cpu.test_expressions import *  # noqa: F403
from tests.e2e.cpu.test_expressions import F32, FUNCTIONS

# In units of f32. GPUs compute exp(x) as exp2(x * log2(e)), of which the product is rounded: that is |x| / 2 units.
UNITS = {"tl.exp(x)": 48, "tl.math.exp(x)": 48}


# f32 is divided by div.full and its roots are of sqrt.approx, as Triton has it: 2 units of the last place at most.
QUICK = ("x / y", "tl.sqrt(", "test_integer_division")


@pytest.fixture(autouse=True)
def rounding_of_gpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where GPUs do not round to the nearest, results need not be equal."""
    if any(text in request.node.name for text in QUICK) and "f64" not in request.node.name:
        monkeypatch.setattr(test_expressions, "assert_equal", lambda out, values: assert_close(out, values, 2 * F32))


@pytest.fixture(autouse=True)
def units_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds that hold on GPUs."""
    for name, units in UNITS.items():
        monkeypatch.setitem(FUNCTIONS, name, (*FUNCTIONS[name][:3], units))
