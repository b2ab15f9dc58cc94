"""Layouts: linear maps over GF(2) from hardware bits to tensor coordinates. Nothing is here yet.

The CPU's lowering needs none; the GPU levels will. Then every named layout (blocked, slice, matrix-multiply, dot
operand, swizzled shared memory) is a constructor of the one value, and lowerings ask the map instead of asking which
kind of layout it is. Pure mathematics: nothing here will know operations or types.
"""
