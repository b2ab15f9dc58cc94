"""Helpers of Triton's compiler and drivers under their names: what `dropin_names.ADDED` points to.

Nothing in the compiler uses them; they are imported when a program asks a module of Triton's for one of them.
"""
