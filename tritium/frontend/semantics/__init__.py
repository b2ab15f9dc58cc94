"""Semantics of the language: typing, promotion, broadcasting, pointer arithmetic, and emission of IR."""

from .semantic import Semantic

__all__ = ["Semantic"]
