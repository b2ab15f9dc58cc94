"""The scf dialect: structured control flow with regions."""

from __future__ import annotations

from ..ir import (
    LOOP,
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    Attribute,
    Block,
    Body,
    Op,
    Operand,
    Region,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
)

__all__ = ["Condition", "For", "If", "While", "Yield"]


class For(Op, name="scf.for", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK | LOOP):
    """for (i = lb; i < ub; i += step) results = body(i, iter_args...), signed comparison, step > 0.

    The body block has the arguments (i, iter_args...) and ends in `scf.yield` of the next iter_args.
    """

    lb: Operand
    ub: Operand
    step: Operand
    init_args: VariadicOperand
    body_region: Body
    results_: VariadicResult

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The types of the initial values."""
        return [v.type for v in operands[3:]]

    @classmethod
    def build(cls, lb: Value, ub: Value, step: Value, init_args: list[Value]) -> For:
        """A loop whose body block has its arguments and no operation yet."""
        block = Block([lb.type, *(v.type for v in init_args)])
        return cls(lb, ub, step, init_args, Region(block))

    @property
    def body(self) -> Block:
        """The body block."""
        return self.regions[0].blocks[0]

    @property
    def induction_variable(self) -> Value:
        """i."""
        return self.body.args[0]

    @property
    def iter_args(self) -> list[Value]:
        """The loop-carried values inside the body."""
        return list(self.body.args[1:])


class If(Op, name="scf.if", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """results = condition ? then() : else(); the else region may be empty when there are no results."""

    condition: Operand
    then_region: Body
    else_region: Body
    results_: VariadicResult

    @classmethod
    def build(cls, condition: Value, result_types: list[Type], with_else: bool = True) -> If:
        """An `if` with empty blocks."""
        then, other = Region(Block()), Region(Block()) if with_else else Region()
        return cls(condition, then, other, results_=result_types)

    @property
    def then_block(self) -> Block:
        """The block run when the condition holds."""
        return self.regions[0].blocks[0]

    @property
    def else_block(self) -> Block | None:
        """The block run otherwise, if there is one."""
        return self.regions[1].blocks[0] if self.regions[1].blocks else None


class While(Op, name="scf.while", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK | LOOP):
    """args = inits; while (before(args) -> condition, args') args = after(args'); results = args'."""

    inits: VariadicOperand
    before: Body
    after: Body
    results_: VariadicResult

    @property
    def before_block(self) -> Block:
        """Computes the condition; ends in `scf.condition`."""
        return self.regions[0].blocks[0]

    @property
    def after_block(self) -> Block:
        """The body; ends in `scf.yield`."""
        return self.regions[1].blocks[0]


class Condition(
    Op,
    name="scf.condition",
    traits=TERMINATOR | RETURN_LIKE,
    assembly="`(` $condition `)` attr-dict ($args^ `:` type($args))?",
):
    """Go on with `args` in the after region if `condition`, else leave the loop with them."""

    condition: Operand
    args: VariadicOperand


class Yield(
    Op,
    name="scf.yield",
    traits=TERMINATOR | RETURN_LIKE,
    assembly="attr-dict ($results_^ `:` type($results_))?",
):
    """Hand `results_` to the enclosing operation."""

    results_: VariadicOperand
