"""From tile programs to fused loops over vectors and scratch buffers, for CPUs.

Read `lanes.py` (what a tile is at one chunk), `evaluate.py` (producers written into their consumers' loops), `plan.py`
(which tiles get buffers), then `convert.py` (the driver).
"""

from .convert import convert_tt_to_ttc

__all__ = ["convert_tt_to_ttc"]
