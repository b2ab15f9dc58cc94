"""tests/e2e/cpu/test_jumps.py, interpreted."""

from tests.e2e.cpu.test_jumps import *  # noqa: F403

del test_a_condition_is_not_asked_behind_a_break  # noqa: F821  (the option is one of compiled kernels)
