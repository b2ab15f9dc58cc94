"""Folding: what an operation gives when some of its operands are known, worked out without changing the IR.

    fold(op, rules)                  one Attribute (a constant) or Value (one that exists) a result, or None
    fold(op, rules, [None, c])       the same, if operand 1 were the constant c
    materialize(c, ty, loc, "tt")    the operation that makes the constant c, as the dialect `tt` wants it made

Rules that answer with a new operation rewrite and do not fold; `rewriter` applies those. A dialect enters how its
constants are made into `MATERIALIZERS`; where it did not, or does not know the attribute, the others are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..support import UNKNOWN, InternalError, Location, NameLoc
from .interning import Attribute
from .operation import Block, Operation, Region, Value
from .traits import CONSTANT, ISOLATED, WRITE, memory_effects
from .types import Type

__all__ = ["MATERIALIZERS", "ConstantPool", "ConstantPools", "Folded", "constant_of", "fold", "materialize"]

Folded = Attribute | Value
RulesByClass = Mapping[type[Operation], Sequence[Callable[[Operation], object]]]
Materializer = Callable[[Attribute, Type, Location], "Operation | None"]

MATERIALIZERS: dict[str, Materializer] = {}
"""Dialect -> (constant, type, location) -> an operation in no block with that one result; None: not one of its own."""

_ROUNDS = 8  # of rules that change a copy in place, such as moving a constant to the right


def materialize(value: Attribute, ty: Type, loc: Location = UNKNOWN, dialect: str = "") -> Operation:
    """An operation, in no block yet, whose only result is the constant `value` of type `ty`."""
    own = MATERIALIZERS.get(dialect)
    op = own(value, ty, loc) if own is not None else None
    if op is None:
        for make in MATERIALIZERS.values():
            op = make(value, ty, loc)
            if op is not None:
                break
        else:
            raise InternalError(f"no dialect makes the constant {value} of type {ty}")
    return op


def constant_of(value: Value) -> Attribute | None:
    """The attribute that a value is, where it is a constant."""
    op = value.defining_op
    return op.attributes["value"] if op is not None and op.traits & CONSTANT else None


def fold(
    op: Operation, rules: RulesByClass, known: Sequence[Attribute | None] = (), *, dialect: str = ""
) -> list[Folded] | None:
    """What the results of `op` are, or None where no rule tells; `known` gives operands as constants.

    Neither `op` nor anything else is changed. An operation with regions or one that writes does not fold.
    """
    if op.traits & CONSTANT:
        return [op.attributes["value"]]
    if not op.results or op.regions or op.successors or memory_effects(op) & WRITE:
        return None
    matching = rules[op.__class__]
    if not matching:
        return None
    probe = _probe(op, known, dialect)
    try:
        for _ in range(_ROUNDS):
            for matched in matching:
                out = matched(probe)
                if out is None:
                    continue
                out = getattr(out, "out", out)
                if not isinstance(out, (Attribute, Value, Operation, list)):  # changed in place: look again
                    break
                answer = _answer(out, probe)
                if answer is not None:
                    return answer
            else:
                return None
        return None
    finally:
        probe.drop_references()


def _probe(op: Operation, known: Sequence[Attribute | None], dialect: str) -> Operation:
    """A copy of `op` in no block, which rules may change."""
    probe = op.clone()
    for i, value in enumerate(known):
        if value is not None:
            operand = op.operands[i]
            probe.set_operand(i, materialize(value, operand.type, op.loc, dialect).results[0])
    return probe  # type: ignore[no-any-return]


def _answer(out: object, probe: Operation) -> list[Folded] | None:
    """A rule's answer where it consists of constants and existing values; what it made otherwise is dropped again."""
    parts: list[Any] = out if isinstance(out, list) else out.results if isinstance(out, Operation) else [out]
    answer: list[Folded] = []
    for part in parts:
        if isinstance(part, Value):
            maker = part.defining_op
            if maker is not None and maker.parent is None:
                value = constant_of(part)
                if value is None:
                    _discard(maker, probe)
                    return None
                part = value
        answer.append(part)
    return answer


def _discard(op: Operation, probe: Operation) -> None:
    """Take an operation that is in no block, and those it was built on, out of all use lists."""
    operands = list(op.operands)
    op.drop_references()
    for v in operands:
        maker = v.defining_op
        if maker is not None and maker.parent is None and maker is not probe:
            _discard(maker, probe)


class ConstantPool:
    """The constants at the front of one isolated region, each once, by attribute and type."""

    __slots__ = ("block", "known", "last")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.known: dict[tuple[Attribute, Type], Operation] = {}
        self.last: Operation | None = None

    def adopt(self, op: Operation) -> Operation:
        """`op` itself, moved to the front, or the equal constant that is there already."""
        key = (op.attributes["value"], op.results[0].type)
        found = self.known.get(key)
        if found is not None and found.parent is self.block:
            name, other = found.results[0].hint, op.results[0].hint
            if name and other and name != other:  # it belongs to neither variable
                found.results[0].hint = None
            return found
        self.known[key] = op
        last = self.last if self.last is not None and self.last.parent is self.block else None
        before = last.next if last is not None else self.block.first
        if before is not op:
            op.detach()
            if before is None:
                self.block.append(op)
            else:
                self.block.insert_before(op, before)
        self.last = op
        return op


class ConstantPools:
    """The pools of all isolated regions that a pass meets."""

    __slots__ = ("pools",)

    def __init__(self) -> None:
        self.pools: dict[Region | Block, ConstantPool] = {}

    def of(self, op: Operation) -> ConstantPool:
        """The pool of the isolated region that `op` is in."""
        scope: Operation | None = op.parent_op
        top: Operation = op
        while scope is not None and not scope.traits & ISOLATED:
            top = scope
            scope = top.parent_op
        block = top.parent
        assert block is not None
        key = block.parent or block  # an operation may have several isolated regions
        pool = self.pools.get(key)
        if pool is None:
            pool = self.pools[key] = ConstantPool(block if block.parent is None else block.parent.blocks[0])
        return pool

    def place(self, value: Attribute, ty: Type, anchor: Operation, dialect: str = "") -> Value:
        """The constant `value` for use by `anchor`: at the front of the region, or before `anchor` if it is no number.

        Only operations with the trait CONSTANT are kept once; a poison, for example, is placed where it is needed.
        """
        op = materialize(value, ty, anchor.loc, dialect)
        if op.traits & CONSTANT:
            op.results[0].hint = anchor.loc.name if isinstance(anchor.loc, NameLoc) else None
            return self.of(anchor).adopt(op).results[0]
        assert anchor.parent is not None
        anchor.parent.insert_before(op, anchor)
        return op.results[0]
