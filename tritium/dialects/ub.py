"""The ub dialect: values that nothing may depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import MATERIALIZERS, PURE, TERMINATOR, Attribute, Op, OpaqueAttr, Result, Type

if TYPE_CHECKING:
    from ..support import Location

__all__ = ["Poison", "Unreachable"]


class Poison(Op, name="ub.poison", traits=PURE, assembly="attr-dict `:` type($result)"):
    """result = poison: operations that depend on it are undefined."""

    result: Result

    @classmethod
    def materialize(cls, value: Attribute, ty: Type, loc: Location) -> Poison | None:
        """The poison, if `value` is `#ub.poison`."""
        return cls.create([], [ty], loc=loc) if value is POISON else None


class Unreachable(Op, name="ub.unreachable", traits=TERMINATOR, assembly="attr-dict"):
    """Never executed: reaching it is undefined behaviour."""


POISON = OpaqueAttr("#ub.poison")
"""The value of a poison as an attribute: what a fold answers."""

MATERIALIZERS["ub"] = Poison.materialize
