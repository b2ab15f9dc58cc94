"""tests/e2e/cpu/test_indexing.py on GPUs."""

from tests.e2e.cpu.test_indexing import *  # noqa: F403

del test_debug_stops_what_is_out_of_bounds  # noqa: F821  (an assertion that fails takes the process's GPU away)
