"""Layouts: linear maps over GF(2) from hardware bits to tensor coordinates.

Every named layout is a constructor of the one value `LinearLayout` (`distributed` has those of registers, `shared`
those of shared memory), and lowerings query the map, not the kind of layout. Pure mathematics: nothing here knows
operations or types.
"""

from .linear import LinearLayout

__all__ = ["LinearLayout"]
