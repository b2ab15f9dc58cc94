"""Rewrite rules, one module a dialect.

A rule is a small function whose docstring is its equation; it returns the replacement value, or ``None`` where it
does not apply.
"""
