"""`import triton` in processes that one with `tritium.install()` starts: this folder's parent is on their `sys.path`.

Takes its own place away and imports what `tritium.install()` puts there.
"""

import importlib
import sys

import tritium

del sys.modules["triton"]
tritium.install()
importlib.import_module("triton")
