"""The cf dialect: branches between blocks."""

from __future__ import annotations

from ..ir import TERMINATOR, Op, Operand, Str, Successor, VariadicOperand

__all__ = ["Assert", "Br", "CondBr"]


class Br(Op, name="cf.br", traits=TERMINATOR):
    """Go to `dest`, whose arguments become `dest_operands`."""

    dest_operands: VariadicOperand
    dest: Successor


class CondBr(Op, name="cf.cond_br", traits=TERMINATOR):
    """Go to `true_dest` with `true_operands` if `condition`, else to `false_dest` with `false_operands`."""

    condition: Operand
    true_operands: VariadicOperand
    false_operands: VariadicOperand
    true_dest: Successor
    false_dest: Successor


class Assert(Op, name="cf.assert", assembly="$arg `,` $msg attr-dict"):
    """Stop the program with `msg` unless `arg`."""

    arg: Operand
    msg: Str
