"""tests/e2e/cpu/test_details.py on GPUs."""

from tests.e2e.cpu.test_details import *  # noqa: F403

# Assertions end the use of a GPU by a process: test_errors.py has them in one of their own. The addresses that the last
# stores are the CPU's.
del test_expected_zeros_are_asserted_in_debug_mode_only  # noqa: F821
del test_debug_mode_asserts_that_integers_do_not_overflow, test_integers_become_pointers_and_back  # noqa: F821
