"""Command lines: ``python -m tritium`` and its commands. They use ``compiler`` and ``runtime`` only."""

from __future__ import annotations

from ..support.lazy import lazy_attributes

__getattr__ = lazy_attributes(__name__, {"LinearLayout": ".linear_layout"}, globals())
