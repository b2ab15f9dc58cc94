"""tests/e2e/cpu/test_programs.py, interpreted."""

from tests.e2e.cpu.test_programs import *  # noqa: F403

del test_the_cache_keeps_nobodys_number_of_threads  # noqa: F821  (it asks what a compiled kernel knows)
