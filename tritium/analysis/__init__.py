"""Analyses: facts about values, computed on demand and never stored in the IR.

Axis information (contiguity, divisibility, constancy), aliasing, liveness and what follows from them. An analysis
reads the IR and changes nothing.
"""
