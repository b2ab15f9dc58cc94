"""The gluon dialect: layouts still to be chosen.

Its one operation pins a layout down; none of it is left after layouts have been inferred.
"""

from __future__ import annotations

from ..ir import Op, Operand, Result, TensorType
from ..ir.parameters import DialectAttribute

__all__ = ["AutoEncoding", "CoalescedEncoding", "SetAutoLayout"]


class AutoEncoding(DialectAttribute, name="gluon.auto_encoding"):
    """`#gluon.auto_encoding`: a layout that follows from what is done with the tensor."""


class CoalescedEncoding(DialectAttribute, name="gluon.coalesced_encoding"):
    """`#gluon.coalesced_encoding`: a layout that suits the loads and stores around."""


class SetAutoLayout(Op, name="gluon.set_auto_layout", assembly="$src attr-dict `:` type($src) `->` type($result)"):
    """result = src, whose layout is still to be chosen, in a layout that is known."""

    src: Operand
    result: Result

    def verify_op(self) -> list[str]:
        """From a tensor with the automatic layout to the same with another."""
        a, b = self.operands[0].type, self.results[0].type
        if not isinstance(a, TensorType) or not isinstance(b, TensorType):
            return [f"takes and gives tensors, not {a} and {b}"]
        out = []
        if a.shape != b.shape or a.element is not b.element:
            out.append(f"only the layout may change, but there are {a} and {b}")
        if not isinstance(a.encoding, AutoEncoding):
            out.append(f"the operand must have the layout #gluon.auto_encoding, not {a}")
        if b.encoding is None or isinstance(b.encoding, AutoEncoding):
            out.append(f"the result must have a layout that is known, not {b}")
        return out
