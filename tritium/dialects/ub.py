"""The ub dialect: values that nothing may depend on."""

from __future__ import annotations

from ..ir import PURE, Op, Result

__all__ = ["Poison"]


class Poison(Op, name="ub.poison", traits=PURE, assembly="attr-dict `:` type($result)"):
    """result = a value that may differ at each use; whatever depends on it is undefined."""

    result: Result
