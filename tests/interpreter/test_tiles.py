"""tests/e2e/cpu/test_tiles.py, interpreted."""

from tests.e2e.cpu.test_tiles import *  # noqa: F403
