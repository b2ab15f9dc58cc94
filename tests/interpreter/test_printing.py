"""tests/e2e/cpu/test_printing.py, interpreted."""

from tests.e2e.cpu.test_printing import *  # noqa: F403

del test_a_text_and_values_are_triton_s_form  # noqa: F821  (interpreted, `print` is Python's in any form)
