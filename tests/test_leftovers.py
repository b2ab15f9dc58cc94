"""A test begins without what earlier ones left active."""

from __future__ import annotations

import pytest

pytest_plugins = "pytester"

TESTS = """
import sys
import tritium

def test_leaves_the_alias():
    tritium.install()

def test_after_it():
    assert not any("children" in entry for entry in sys.path)

def test_with_the_fixture(triton_alias):
    import triton
    assert triton.jit is tritium.jit
"""


def test_an_alias_ends_with_its_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=3)
