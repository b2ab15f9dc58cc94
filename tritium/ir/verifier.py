"""What must hold of any IR, checked at stage ends, and after every pass while debugging.

| | |
|---|---|
| V1 | The links of blocks and operations (first, last, previous, next, parent) agree with each other. |
| V2 | A value's `users` are exactly the operations that take it, each with the number of times it does. |
| V3 | An operand is defined before its use on every way through the region. |
| V4 | A block ends in a terminator, and has no other (unless its region's operation needs none). |
| V5 | Successors are blocks of the same region, and none is its entry. |
| V6 | A branch gives each successor as many values, of the same types, as that block has arguments. |
| V7 | The numbers of operands, results, regions and successors are those of the definition. |
| V8 | Every attribute the definition requires is there. |
| V9 | An attribute of the definition has the kind, and an enumeration a number, that the definition says. |
| V10 | Operands and results of an operation with the trait SAME_TYPE have one type. |
| V11 | Operands and results of an operation with the trait ELEMENTWISE have one shape. |
| V12 | A region with the trait SINGLE_BLOCK has at most one block. |
| V13 | An operation with the trait ISOLATED uses no value from outside in its regions. |
| V14 | Symbols of a symbol table are distinct. |
| V15 | A symbol reference names a symbol of the table around it. |
| V16 | What the operation itself demands (`verify_op`) holds. |
| V17 | What dialects demand of operations in their surroundings (`SURROUNDINGS`) holds: layouts fit to the module. |

All failures are collected; `verify` raises one `VerificationError` that lists each with its number and the
operation's text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..support import Diagnostic, InternalError
from ..support.errors import interrupts
from ..support.generated import code_of
from ..support.recursion import with_deep_recursion
from .attributes import DenseArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, TypeAttr, UnitAttr
from .definition import Op
from .dominance import Dominance, value_dominates
from .operation import Block, Operation, Region, Value
from .printer import print_op
from .traits import ELEMENTWISE, ISOLATED, NO_TERMINATOR, SAME_TYPE, SINGLE_BLOCK, SYMBOL, SYMBOL_TABLE, TERMINATOR
from .types import ShapedType, Type

__all__ = ["SURROUNDINGS", "Failure", "VerificationError", "failures", "verify"]

SURROUNDINGS: list[Callable[[Operation], Iterable[tuple[Operation, str]]]] = []
"""Checks that dialects add: called with a root whose structure is sound, they give operations and what is wrong."""

SHOWN = 20  # failures printed in the message; the rest is counted

_FORMS: dict[str, tuple[type, str]] = {
    "int": (IntegerAttr, "an integer"),
    "enum": (IntegerAttr, "an integer"),
    "bool": (IntegerAttr, "true or false"),
    "str": (StringAttr, "a string"),
    "symbol": (SymbolRefAttr, "a symbol"),
    "type": (TypeAttr, "a type"),
    "array": (DenseArrayAttr, "an array of numbers"),
    "flag": (UnitAttr, "a unit attribute"),
}


class Failure(NamedTuple):
    """A broken invariant: its number ("V3"), what is wrong, and where."""

    invariant: str
    message: str
    op: Operation

    def diagnostic(self) -> Diagnostic:
        """The failure at the operation's source position, with the operation's text as a note."""
        # Text needs intact links.
        text = repr(self.op) if self.invariant == "V1" else print_op(self.op, regions=False)
        note = Diagnostic(text, severity="note")
        message = f"{self.invariant}: {self.message}"
        return Diagnostic.at(self.op.loc, message, notes=[note], context=0)


class VerificationError(InternalError, RuntimeError):
    """IR that breaks invariants; `failures` holds them all."""

    def __init__(self, found: list[Failure]) -> None:
        self.failures = found
        lines = [f"the IR breaks {len(found)} invariant{'s' if len(found) != 1 else ''}"]
        lines += [f.diagnostic().render() for f in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"… and {len(found) - SHOWN} more")
        super().__init__("\n".join(lines))


class _ShapeKeys(dict[Type, Any]):
    """One object per kind and shape, so that equality of shapes is identity."""

    def __missing__(self, ty: Type) -> Any:
        key = (type(ty), ty.shape) if isinstance(ty, ShapedType) else ()
        found = self[ty] = _keys.setdefault(key, key)
        return found


_keys: dict[Any, Any] = {}
_shape_keys = _ShapeKeys()


class _SegmentTotals(dict[Any, int]):
    """How many operands or results an attribute of segment sizes adds up to; -1 if the definition does not allow it."""

    def __init__(self, fields: list[Any]) -> None:
        self.fields = fields

    def __missing__(self, attr: Any) -> int:
        sizes = getattr(attr, "values", ())
        good = len(sizes) == len(self.fields) and all(
            n >= 0 and (f.arity == "*" or n <= 1) and (f.arity != "1" or n == 1) for n, f in zip(sizes, self.fields)
        )
        total = self[attr] = sum(sizes) if good else -1
        return total


class _Rules:
    """What the definition of a class demands.

    `check(op)` is one generated expression over all of V7 to V11, true for a sound operation; where it is false (or
    fails), the methods of the verifier find out what is wrong.
    """

    __slots__ = (
        "check", "enums", "exact", "forms", "n_operands", "n_regions", "n_results", "n_successors", "op_check",
        "required", "same_shape", "same_type", "scalars", "segmented", "segmented_results", "single_block",
        "symbols", "terminator",
    )  # fmt: skip

    def __init__(self, cls: Any) -> None:
        counts = []
        self.exact = True
        for fields in (cls.operand_fields, cls.result_fields, cls.region_fields, cls.successor_fields):
            fixed = [f for f in fields if f.arity == "1"]
            self.exact = self.exact and len(fixed) == len(fields)
            counts.append(len(fixed))
        self.n_operands, self.n_results, self.n_regions, self.n_successors = counts
        attributes = cls.attribute_fields
        self.required = frozenset(n for n, f in attributes.items() if not f.optional)
        self.forms = {n: _FORMS[f.form] for n, f in attributes.items() if f.form in _FORMS}
        self.enums = {n: frozenset(int(m) for m in f.enum) for n, f in attributes.items() if f.enum is not None}
        self.symbols = [n for n, f in attributes.items() if f.form == "symbol"]
        self.segmented = cls.segmented
        self.segmented_results = cls.segmented_results
        self.same_type = bool(cls.traits & SAME_TYPE)
        self.same_shape = bool(cls.traits & ELEMENTWISE) and not self.same_type
        self.scalars = cls.scalar_operands
        self.single_block = bool(cls.traits & SINGLE_BLOCK)
        self.terminator = bool(cls.traits & TERMINATOR)
        self.op_check = cls.verify_op if cls.verify_op is not Op.verify_op else None
        self.check = self._compile(cls)

    def _compile(self, cls: Any) -> Callable[[Operation], bool]:
        if self.symbols:
            return lambda op: False  # few operations; the methods look them up
        scope: dict[str, Any] = {"K": _shape_keys, "S": _SegmentTotals(cls.operand_fields)}
        scope["R"] = _SegmentTotals(cls.result_fields)
        terms = ["not op.regions"] if not cls.region_fields else []
        for slot, fields in (("o", cls.operand_fields), ("r", cls.result_fields)):
            if all(f.arity == "1" for f in fields):
                terms.append(f"len({slot}) == {len(fields)}" if fields else f"not {slot}")
            elif slot == "o" and self.segmented:
                terms.append("S[a['operandSegmentSizes']] == len(o)")
            elif slot == "r" and self.segmented_results:
                terms.append("R[a['resultSegmentSizes']] == len(r)")
            else:
                terms.append(f"len({slot}) >= {sum(f.arity == '1' for f in fields)}")
                if all(f.arity != "*" for f in fields):
                    terms.append(f"len({slot}) <= {len(fields)}")
        if cls.region_fields:
            terms.append(f"len(op.regions) == {self.n_regions}")
        if cls.successor_fields:
            most = all(f.arity == "1" for f in cls.successor_fields)
            terms.append(f"len(op.successors) {'==' if most else '>='} {self.n_successors}")
        terms += self._attribute_terms(cls, scope)
        if self.exact and cls.operand_fields and cls.result_fields:
            values = [f"o[{i}]" for i in range(self.n_operands)] + [f"r[{i}]" for i in range(1, self.n_results)]
            if self.same_type:
                terms.append(" is ".join([f"{v}.type" for v in ["r[0]", *values]]))
            elif self.same_shape:
                terms.append(" is ".join([f"K[{v}.type]" for v in ["r[0]", *values]]))
        elif self.same_type or self.same_shape:
            return lambda op: False
        lines = "def check(op):\n    o = op.operands; r = op.results; a = op.attributes\n    return "
        exec(code_of(lines + " and ".join(terms)), scope)
        return scope["check"]  # type: ignore[no-any-return]

    def _attribute_terms(self, cls: Any, scope: dict[str, Any]) -> list[str]:
        terms = []
        for name in cls.attribute_fields:
            parts = []
            if name in self.forms:
                scope[f"form_{name}"] = self.forms[name][0]
                parts.append(f"a['{name}'].__class__ is form_{name}")
            if name in self.enums:
                scope[f"enum_{name}"] = self.enums[name]
                parts.append(f"a['{name}'].value in enum_{name}")
            if name in self.required:
                terms += parts or [f"'{name}' in a"]
            elif parts:
                terms.append(f"('{name}' not in a or {' and '.join(parts)})")
        if len(terms) > 1 and not self.required:
            return [f"(not a or ({' and '.join(terms)}))"]
        return terms


_rules: dict[type, _Rules | None] = {}


def _rules_of(cls: Any) -> _Rules | None:
    _rules[cls] = found = _Rules(cls) if issubclass(cls, Op) else None
    return found


class _Verifier:
    """One walk over the IR, definitions before uses; `visible` holds the values that may be used where it stands."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self.found: list[Failure] = []
        self.visible: set[Value] = set()
        self.tables: list[dict[str, Operation]] = []
        self.uses = 0  # pairs of operation and value seen from the operation's side
        self.entries = 0  # the same from the side of the values' use lists
        self.repeated: set[tuple[Operation, Value]] = set()
        # Checks of operations that raised: they may rely on what is around them, in which something else was wrong.
        self.stumbled: list[tuple[Operation, Exception]] = []

    def fail(self, invariant: str, op: Operation, message: str) -> None:
        self.found.append(Failure(invariant, message, op))

    def run(self) -> None:
        """The root, what is inside it, and whether the use lists hold more than was seen."""
        root = self.root
        rules = _rules.get(root.__class__) or _rules_of(root.__class__)
        sound = rules is None or self.definition(root, rules)
        if root.regions:
            self.regions(root, rules)
        if sound and rules is not None and rules.op_check is not None:
            self.demands(root, rules)
        if not self.found:
            for op, error in self.stumbled:
                self.fail("V16", op, f"its check ends in {type(error).__name__}: {error}")
        surplus = sum(op.operands.count(v) - 1 for op, v in self.repeated)
        if self.entries != self.uses - surplus and all(f.invariant != "V1" for f in self.found):
            self.stale_uses()
        if SURROUNDINGS and not self.found:
            for check in SURROUNDINGS:
                for op, message in check(root):
                    self.fail("V17", op, message)

    def demands(self, op: Operation, rules: _Rules) -> None:
        """V16; only for operations whose fields hold, since the check may rely on them."""
        assert rules.op_check is not None
        try:
            for message in rules.op_check(op):
                self.fail("V16", op, message)
        except interrupts():
            raise
        except Exception as error:
            self.stumbled.append((op, error))

    # -- regions and blocks ---------------------------------------------------------------------------------------

    def regions(self, op: Operation, rules: _Rules | None) -> None:
        outer = self.visible
        if op.traits & ISOLATED:
            self.visible = set()
        if op.traits & SYMBOL_TABLE:
            self.tables.append(self.symbol_table(op))
        for region in op.regions:
            if region.parent is not op:
                self.fail("V1", op, "a region's parent is another operation")
            if rules is not None and rules.single_block and len(region.blocks) > 1:
                self.fail("V12", op, f"a region has {len(region.blocks)} blocks, at most one is allowed")
            self.region(region, op)
        if op.traits & SYMBOL_TABLE:
            self.tables.pop()
        self.visible = outer

    def region(self, region: Region, owner: Operation) -> None:
        for block in region.blocks:
            if block.parent is not region:
                self.fail("V1", owner, "a block's parent is not its region")
                return
        visible = self.visible
        if len(region.blocks) == 1:
            defined: list[Value] = []
            self.block(region.blocks[0], owner, defined)
            visible.difference_update(defined)
        elif region.blocks:
            self.graph(region, owner)

    def graph(self, region: Region, owner: Operation) -> None:
        """Several blocks: down the dominator tree, so that just what dominates is visible; dead blocks see all."""
        dominance = Dominance(region)
        children = dominance.children()
        visible = self.visible
        stack: list[tuple[Block, list[Value]]] = [(region.blocks[0], [])]
        entered: set[Block] = set()
        while stack:
            block, defined = stack[-1]
            if block in entered:
                visible.difference_update(defined)
                stack.pop()
                continue
            entered.add(block)
            self.block(block, owner, defined)
            stack.extend((child, []) for child in children[block])
        everything: list[Value] = []
        for block in region.blocks:
            everything += block.args
            everything += [r for op in block for r in op.results]
        dead = [block for block in region.blocks if not dominance.is_reachable(block)]
        if dead:
            visible.update(everything)
            for block in dead:
                self.block(block, owner, [])
            visible.difference_update(everything)

    def block(self, block: Block, owner: Operation, defined: list[Value]) -> None:
        """Everything in a block, in order. Sound operations pass here without a call but those generated for them."""
        self.arguments(block, owner, defined)
        add, visible, get_rules, define = self.visible.add, self.visible, _rules.get, defined.append
        uses = entries = 0
        prev: Operation | None = None
        op = block.first
        while op is not None:
            if op.parent is not block or op.prev is not prev:
                self.fail("V1", op, "the operation's parent or predecessor is not the one it is linked after")
                return
            cls = op.__class__
            rules = get_rules(cls) or _rules_of(cls)
            operands = op.operands
            for v in operands:
                if v not in visible or v.users.get(op) != 1:
                    self.operand(op, v)
            uses += len(operands)
            sound = True
            if rules is not None:
                try:
                    sound = rules.check(op) or self.definition(op, rules)
                except (KeyError, IndexError, AttributeError):
                    sound = self.definition(op, rules)
            if op.successors:
                self.branch(op, sound)
            if op.regions:
                self.regions(op, rules)
            if rules is not None:
                if sound and rules.op_check is not None:
                    try:
                        if rules.op_check(op):
                            self.demands(op, rules)
                    except interrupts():
                        raise
                    except Exception as error:
                        self.stumbled.append((op, error))
                if rules.terminator and op.next is not None:
                    self.fail("V4", op, "a terminator is not at the end of its block")
            for r in op.results:
                add(r)
                define(r)
                entries += len(r.users)
                if r.owner is not op:
                    self.fail("V1", op, "a result belongs to another operation")
            prev = op
            op = op.next
        self.uses += uses
        self.entries += entries
        self.ending(block, prev, owner)

    def arguments(self, block: Block, owner: Operation, defined: list[Value]) -> None:
        for i, arg in enumerate(block.args):
            if arg.owner is not block or arg.index != i:
                self.fail("V1", owner, f"block argument {i} has another owner or number")
            defined.append(arg)
            self.visible.add(arg)
            self.entries += len(arg.users)

    def ending(self, block: Block, last: Operation | None, owner: Operation) -> None:
        """The end of the list, and V4."""
        if block.last is not last:
            self.fail("V1", owner, "a block's last operation is not the end of its list")
        elif last is None or not last.traits & TERMINATOR:
            if not owner.traits & NO_TERMINATOR and isinstance(last or owner, Op):
                self.fail("V4", last or owner, "a block does not end in a terminator")

    # -- values ---------------------------------------------------------------------------------------------------

    def operand(self, op: Operation, value: Value) -> None:
        """V2, V3 and V13 for an operand that is not plainly right."""
        count = op.operands.count(value)
        recorded = value.users.get(op, 0)
        if (op, value) in self.repeated:
            return
        if recorded != count:
            self.fail("V2", op, f"operand {op.operands.index(value)} is taken {count} times, {recorded} are recorded")
        if count > 1:
            self.repeated.add((op, value))
        if value in self.visible:
            return
        if self.is_outside(value) and value_dominates(value, op):
            self.uses -= count
            self.repeated.discard((op, value))
            return
        self.invisible(op, value)

    def is_outside(self, value: Value) -> bool:
        """True for values around the root, where the root may use them."""
        block = value.block
        if self.root.traits & ISOLATED or block is None:
            return False
        return not self.root.is_ancestor_of(block.parent_op)

    def invisible(self, op: Operation, value: Value) -> None:
        number = op.operands.index(value)
        block = value.block
        around: Operation | None = op.parent_op
        isolated = False
        while around is not None and around is not (block.parent_op if block is not None else None):
            isolated = isolated or bool(around.traits & ISOLATED)
            around = around.parent_op
        if isolated and around is not None:
            self.fail("V13", op, f"operand {number} is defined outside of the isolated operation around it")
        elif block is None:
            self.fail("V3", op, f"operand {number} is a result of {getattr(value.defining_op, 'name', 'nothing')!r}, "
                      "which is in no block")  # fmt: skip
        else:
            self.fail("V3", op, f"operand {number} is not defined before its use on every way")

    def stale_uses(self) -> None:
        """The values' side of V2: entries of use lists that are no operands."""
        for op in self.root.walk():
            values: list[Value] = list(op.results) if op is not self.root else []
            values += [arg for region in op.regions for block in region.blocks for arg in block.args]
            for value in values:
                for user, count in value.users.items():
                    if user.operands.count(value) != count:
                        taken = user.operands.count(value)
                        self.fail("V2", op, f"{user.name} takes a value {taken} times, {count} are recorded")
                    elif not self.root.is_ancestor_of(user):
                        self.fail("V2", op, f"{user.name} outside still uses a value")

    # -- one operation --------------------------------------------------------------------------------------------

    def definition(self, op: Operation, rules: _Rules) -> bool:
        """V7 to V11 and V15, one by one; whether all hold."""
        before = len(self.found)
        self.counts(op, rules)
        attributes = op.attributes
        if rules.required and not rules.required <= attributes.keys():
            missing = ", ".join(sorted(rules.required - attributes.keys()))
            self.fail("V8", op, f"the attribute '{missing}' is missing")
        if attributes:
            self.attributes(op, rules)
        if rules.same_type:
            self.same_type(op)
        elif rules.same_shape:
            self.same_shape(op, rules)
        return len(self.found) == before

    def counts(self, op: Operation, rules: _Rules) -> None:
        cls: Any = op.__class__
        groups = (
            ("operands", op.operands, cls.operand_fields, rules.n_operands),
            ("results", op.results, cls.result_fields, rules.n_results),
            ("regions", op.regions, cls.region_fields, rules.n_regions),
            ("successors", op.successors, cls.successor_fields, rules.n_successors),
        )
        for what, have, fields, fixed in groups:
            most = fixed + sum(f.arity == "?" for f in fields)
            open_ended = any(f.arity == "*" for f in fields)
            if len(have) < fixed or (len(have) > most and not open_ended):
                wanted = (
                    str(fixed)
                    if most == fixed and not open_ended
                    else f"{fixed} or more"
                    if open_ended
                    else f"{fixed} to {most}"
                )
                self.fail("V7", op, f"{len(have)} {what}, the definition says {wanted}")
        if rules.segmented:
            self.segments(op, "operand", cls.operand_fields, len(op.operands))
        if rules.segmented_results:
            self.segments(op, "result", cls.result_fields, len(op.results))

    def segments(self, op: Operation, kind: str, fields: list[Any], total: int) -> None:
        attr = op.attributes.get(f"{kind}SegmentSizes")
        if _SegmentTotals(fields)[attr] != total:
            names = ", ".join(f.name for f in fields)
            self.fail("V7", op, f"{kind}SegmentSizes is {attr} for {total} {kind}s of ({names})")

    def attributes(self, op: Operation, rules: _Rules) -> None:
        forms = rules.forms
        for name, attr in op.attributes.items():
            form = forms.get(name)
            if form is None:
                continue
            if attr.__class__ is not form[0]:
                self.fail("V9", op, f"the attribute '{name}' is {attr}, not {form[1]}")
            elif name in rules.enums and attr.value not in rules.enums[name]:  # type: ignore[attr-defined]
                self.fail("V9", op, f"the attribute '{name}' has no value {attr}")
        for name in rules.symbols:
            self.reference(op, op.attributes.get(name))

    def same_type(self, op: Operation) -> None:
        ty = op.results[0].type if op.results else op.operands[0].type if op.operands else None
        for v in op.operands:
            if v.type is not ty:
                self.fail("V10", op, f"all types must be equal, but there are {ty} and {v.type}")
                return

    def same_shape(self, op: Operation, rules: _Rules) -> None:
        values: list[Value] = [*op.results, *op.operands]
        shape: tuple[int, ...] | None = None
        first: Any = None
        for i, v in enumerate(values):
            ty = v.type
            own = ty.shape if isinstance(ty, ShapedType) else ()
            if i == 0:
                first, shape = ty, own
            elif own != shape or (isinstance(ty, ShapedType) and type(ty) is not type(first)):
                if own == () and i - len(op.results) in rules.scalars:
                    continue
                self.fail("V11", op, f"all shapes must be equal, but there are {first} and {ty}")
                return

    def branch(self, op: Operation, sound: bool) -> None:
        """V5, V6."""
        region = op.parent.parent if op.parent is not None else None
        for block in op.successors:
            if region is None or block.parent is not region:
                self.fail("V5", op, "a successor is no block of this region")
            elif block is region.blocks[0]:
                self.fail("V5", op, "a successor is the entry of the region")
        if not sound or not hasattr(op, "successor_operands"):
            return
        for i, (block, values) in enumerate(zip(op.successors, op.successor_operands())):
            have, want = [v.type for v in values], [a.type for a in block.args]
            if have != want:
                self.fail("V6", op, f"successor {i} takes ({_list(want)}), the branch gives ({_list(have)})")

    # -- symbols --------------------------------------------------------------------------------------------------

    def symbol_table(self, op: Operation) -> dict[str, Operation]:
        """V14, and the table of symbols in `op`."""
        table: dict[str, Operation] = {}
        for region in op.regions:
            for block in region.blocks:
                for inner in block:
                    name = getattr(inner.attributes.get("sym_name"), "value", None)
                    if not inner.traits & SYMBOL or name is None:
                        continue
                    if name in table:
                        self.fail("V14", inner, f"the symbol @{name} is defined twice")
                    table[name] = inner
        return table

    def reference(self, op: Operation, attr: Any) -> None:
        """V15, where a symbol table is around."""
        if self.tables and isinstance(attr, SymbolRefAttr) and not any(attr.name in table for table in self.tables):
            self.fail("V15", op, f"there is no symbol {attr}")


def _list(types: list[Any]) -> str:
    return ", ".join(map(str, types))


@with_deep_recursion("the verifier")
def failures(op: Operation) -> list[Failure]:
    """All broken invariants in `op` and everything nested in it, in order; empty when the IR is good."""
    verifier = _Verifier(op)
    verifier.run()
    return verifier.found


def verify(op: Operation) -> None:
    """Raise `VerificationError` with all broken invariants in `op` and everything nested in it."""
    found = failures(op)
    if found:
        raise VerificationError(found)
