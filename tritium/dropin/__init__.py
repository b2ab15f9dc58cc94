"""Triton's names and paths: `tritium.install()`, Triton's names in our modules, and helpers that only Triton has.

Nothing in the compiler imports this package. Its modules are imported when a program asks for a name of Triton's.
"""
