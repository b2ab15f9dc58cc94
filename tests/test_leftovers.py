"""A test that leaves `tritium.install()` active is refused, and the next one begins without it."""

from __future__ import annotations

import pytest

pytest_plugins = "pytester"

TESTS = """
import sys
import tritium

def test_leaves_the_alias():
    tritium.install()

def test_after_it():
    assert not any("_children" in entry for entry in sys.path)

def test_with_the_fixture(triton_alias):
    import triton
    assert triton.jit is tritium.jit
"""


def test_an_alias_that_stays_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=3, errors=1)
    done.stdout.fnmatch_lines(["*test_leaves_the_alias*", "*use the fixture triton_alias*"])
