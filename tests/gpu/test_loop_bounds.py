"""tests/e2e/cpu/test_loop_bounds.py on GPUs."""

from tests.e2e.cpu.test_loop_bounds import *  # noqa: F403

del test_llvm_is_told_only_of_counters_that_cannot_wrap  # noqa: F821  (runs nothing)
