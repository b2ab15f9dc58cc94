"""Targets: hardware properties, kernel options, and the table of stages to machine code.

One folder a backend (``cpu``, ``nvidia``, ``amd``); none of them imports another, and only they may import
llvmlite.
"""
