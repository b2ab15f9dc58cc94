"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable

from .lazy import LazyModule

__all__ = ["did_you_mean"]

_difflib = LazyModule("difflib")  # needed for errors only, and slow to import


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the closest of `known`, or nothing.

    >>> did_you_mean("canonicalise", ["cse", "canonicalize"])
    "did you mean 'canonicalize'?"
    >>> did_you_mean("xyz", ["cse", "canonicalize"])
    ''
    """
    close = _difflib.get_close_matches(name, list(known), 1)
    return f"did you mean '{close[0]}'?" if close else ""
