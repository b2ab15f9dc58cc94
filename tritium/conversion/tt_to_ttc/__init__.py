"""From tile programs to fused loops over vectors and scratch buffers, for CPUs.

From the bottom: `lanes.py` (the forms of a tile at one chunk), `space.py` (the iteration space of a loop nest),
`evaluate.py` and `shape_ops.py` (producers emitted into the loops of their consumers), `plan.py` (which tiles get
buffers), `context.py` (state shared by the lowerings of a function), `lowering.py` (the driver of one function and the
table of lowerings), the lowerings that register there, and `convert.py` (the entry point).
"""

from .convert import convert_tt_to_ttc

__all__ = ["convert_tt_to_ttc"]
