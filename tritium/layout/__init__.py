"""Layouts: linear maps over GF(2) from hardware bits to tensor coordinates.

Pure mathematics. Every named layout (blocked, slice, matrix-multiply, dot operand, swizzled shared memory) is a
constructor of the one value, and lowerings ask the map instead of asking which kind of layout it is. Nothing here
knows operations or types.
"""
