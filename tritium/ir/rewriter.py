"""Rewrite rules and the driver that applies them until none matches.

A rule is a function of one operation whose docstring is its equation:

    @rule(arith.AddI)
    def add_zero(op):
        '''x + 0 = x'''
        return op.lhs if is_zero(op.rhs) else None

What it may return:
- None: no match, nothing was changed;
- a Value: takes the place of the only result;
- an Attribute: the constant that the only result is; the driver makes it, as the dialect wants it made;
- an operation that is in no block yet: its results take the place of the results;
- a list of Values (and Attributes), one a result;
- `CHANGED`: the rule changed the operation in place;
- `Touched(any of these, operations)`: the rule also changed other operations, which are looked at again.
An empty list erases an operation without results. No rule erases the operation it was called for.
Operations in no block that a returned one needs are inserted before the replaced operation, operands first, with its
location. A rule must not touch anything when it returns None, and must make progress: rules that undo each other are
found by the limit on rewrites and reported by name.

The driver also erases operations that are dead, and moves constants to the front of the function, each kept once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..support import UNKNOWN, InternalError
from .folding import ConstantPools
from .interning import Attribute
from .operation import Operation, Value
from .traits import ALLOC, CONSTANT, PURE, SYMBOL, TERMINATOR, WRITE, memory_effects
from .types import Type

__all__ = [
    "CHANGED",
    "Fuel",
    "Rule",
    "RuleTable",
    "Touched",
    "blame",
    "is_trivially_dead",
    "may_change",
    "rewrite_greedily",
    "rule",
    "spending",
    "spending_at_most",
]


class _Changed:
    def __repr__(self) -> str:
        return "CHANGED"


CHANGED = _Changed()
"""What a rule returns after it changed the operation in place."""


class Touched:
    """The answer `out` of a rule that also changed `operations` around the one it was called for, or put them there."""

    __slots__ = ("operations", "out")

    def __init__(self, out: Any, operations: Iterable[Operation]) -> None:
        self.out = out
        self.operations = list(operations)


class Rule:
    """A rewrite: `fn` for operations of `classes` (and their subclasses) that have all bits of `traits`.

    `equation` is its docstring.
    """

    __slots__ = ("classes", "equation", "fn", "name", "traits")

    def __init__(self, fn: Callable[[Any], Any], classes: tuple[type[Operation], ...], traits: int) -> None:
        self.fn = fn
        self.classes = classes
        self.traits = traits
        self.name: str = fn.__name__
        self.equation = (fn.__doc__ or "").strip()

    def __call__(self, op: Operation) -> Any:
        return self.fn(op)

    def applies_to(self, cls: type[Operation]) -> bool:
        """True when operations of class `cls` may match."""
        return issubclass(cls, self.classes) and cls.traits & self.traits == self.traits

    def __repr__(self) -> str:
        return f"<rule {self.name}: {self.equation}>"


def rule(*classes: type[Operation], traits: int = 0) -> Callable[[Callable[[Any], Any]], Rule]:
    """Make a function a rule for these classes of operations; for all of them when none is named."""
    return lambda fn: Rule(fn, classes or (Operation,), traits)


class RuleTable(dict[type[Operation], tuple[Rule, ...]]):
    """Rules by class of operation, in the order they were listed; a class is looked up once."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__()
        self.rules = list(rules)

    def __missing__(self, cls: type[Operation]) -> tuple[Rule, ...]:
        found = self[cls] = tuple(r for r in self.rules if r.applies_to(cls))
        return found


class Fuel:
    """How many changes may still be made; `spent` names each that was. Halving it finds the change that breaks things.

    >>> fuel = Fuel(1)
    >>> fuel.take("add_zero"), fuel.take("mul_one"), fuel.spent
    (True, False, ['add_zero'])
    """

    __slots__ = ("last", "left", "spent")

    def __init__(self, amount: int) -> None:
        self.left = amount
        self.spent: list[str] = []
        self.last = ""  # what the last unit was used for: the operation as it was, and the rule's equation

    def take(self, what: str, op: Operation | None = None, equation: str = "", made: Any = None) -> bool:
        """Use one unit for `what`, which is about to be done to `op`; False when there is none left.

        `made` is the answer of the rule, where it is one.
        """
        if self.left <= 0:
            return False
        self.left -= 1
        self.spent.append(what)
        if not self.left and op is not None:
            self.last = f"{what} on {str(op).splitlines()[0].strip()}" + (f"\n  {equation}" if equation else "")
        return True

    def part(self, amount: int) -> Fuel:
        """Fuel for some of what happens, no more than there is left."""
        return Fuel(min(amount, self.left))


_fuel: Fuel | None = None


@contextmanager
def spending(fuel: Fuel | None) -> Iterator[None]:
    """All rewriting inside takes from `fuel`; None for no limit."""
    global _fuel
    saved, _fuel = _fuel, fuel
    try:
        yield
    finally:
        _fuel = saved


@contextmanager
def spending_at_most(amount: int) -> Iterator[Fuel]:
    """All rewriting inside takes from `amount`, and from what is given already; how much it took counts there too."""
    outer = _fuel
    fuel = Fuel(amount) if outer is None else outer.part(amount)
    with spending(fuel):
        yield fuel
    if outer is not None:
        outer.left -= len(fuel.spent)
        outer.spent += fuel.spent
        outer.last = fuel.last


def may_change(what: str, op: Operation) -> bool:
    """Asked by a pass that does not rewrite by rules before each change to `op`, so that bisecting finds it."""
    return _fuel is None or _fuel.take(what, op)


def is_trivially_dead(op: Operation) -> bool:
    """True when nothing uses the results and running the operation writes no memory but what it allocates."""
    for r in op.results:
        if r.users:
            return False
    traits = op.traits
    if traits & (TERMINATOR | SYMBOL):
        return False
    if traits & PURE or (traits & ALLOC and not op.regions):
        return True
    return not memory_effects(op) & WRITE


class _Driver:
    """One run of `rewrite_greedily`."""

    def __init__(self, root: Operation, rules: RuleTable, limit: int) -> None:
        self.root = root
        self.rules = rules
        self.limit = limit
        self.work: list[Operation] = []
        self.queued: set[Operation] = set()
        self.later: dict[Operation, None] = {}  # operations whose regions changed, looked at once all else is done
        self.constants = ConstantPools()
        self.applied: list[str] = []
        self.current: Operation | None = None
        self.changed = False

    def run(self, top_down: bool = True) -> bool:
        ops = [op for op in self.root.walk() if op is not self.root]
        if top_down:  # the work is taken from the end of the list
            ops.reverse()
        self.limit += 10 * len(ops)
        self.work = ops
        self.queued = set(ops)
        while True:
            self.drain()
            if not self.later:
                return self.changed
            for op in self.later:
                self.push(op)
            self.later.clear()

    def drain(self) -> None:
        work, queued, rules = self.work, self.queued, self.rules
        while work:
            op = work.pop()
            if op not in queued:
                continue
            queued.discard(op)
            if op.parent is None:
                continue
            self.current = op
            traits = op.traits
            for r in op.results:
                if r.users:
                    break
            else:
                if is_trivially_dead(op) and may_change("erase-dead", op):
                    self.erase(op)
                    continue
            if traits & CONSTANT:
                self.constant(op)
                continue
            for matched in rules[op.__class__]:
                if _fuel is not None and _fuel.left <= 0:
                    break
                out = matched.fn(op)
                if out is not None:
                    self.apply(op, matched, out)
                    break

    def push(self, op: Operation) -> None:
        if op not in self.queued:
            self.queued.add(op)
            self.work.append(op)

    def push_users(self, values: Iterable[Value]) -> None:
        for v in values:
            for user in v.users:
                self.push(user)

    def push_definers(self, values: Iterable[Value]) -> None:
        for v in values:
            op = v.defining_op
            if op is not None:
                self.push(op)

    def apply(self, op: Operation, matched: Rule, out: Any) -> None:
        self.changed = True
        if _fuel is not None:
            _fuel.take(matched.name, op, matched.equation, out)
        self.applied.append(matched.name)
        if len(self.applied) > self.limit:
            recent = ", ".join(sorted(set(self.applied[-30:])))
            raise InternalError(f"rewriting does not end; the last rules on {op.name} and its neighbours: {recent}")
        parent = op.parent_op
        if parent is not None and parent is not self.root:
            self.later[parent] = None
        touched: list[Operation] = []
        if isinstance(out, Touched):
            out, touched = out.out, out.operations
        if out is CHANGED:
            self.changed_in_place(op)
        else:
            self.replace(op, out)
        for other in touched:
            if other.parent is not None:
                self.push(other)

    def changed_in_place(self, op: Operation) -> None:
        self.push_definers(op.operands)
        self.push_users(op.results)
        for region in op.regions:
            for block in region.blocks:
                self.push_users(block.args)
        self.push(op)

    def replace(self, op: Operation, out: Any) -> None:
        if isinstance(out, Operation):
            self.insert(out, op)
            values: list[Value] = list(out.results)
        else:
            parts = out if isinstance(out, list) else [out]
            if len(parts) != len(op.results):
                raise InternalError(f"a rule gave {len(parts)} values for the {len(op.results)} results of {op.name}")
            values = [self.value(part, r.type, op) for part, r in zip(parts, op.results)]
        for r, v in zip(op.results, values):
            if v.type is not r.type:
                raise InternalError(f"{self.applied[-1]}: {op.name} of type {r.type} replaced by a value of {v.type}")
            if v.hint is None and (made := v.defining_op) is not None and not made.traits & CONSTANT:
                v.hint = r.hint
            self.push_users((r,))
            r.replace_all_uses_with(v)
            if not v.users:
                self.push_definers((v,))
        self.erase(op)

    def value(self, part: Any, ty: Type, anchor: Operation) -> Value:
        """A part of a rule's answer as a value defined before `anchor`."""
        if isinstance(part, Attribute):
            return self.constants.place(part, ty, anchor, anchor.name.partition(".")[0])
        op = part.defining_op
        if op is not None and op.parent is None:
            if op.traits & CONSTANT:
                return self.constants.of(anchor).adopt(op).results[0]
            self.insert(op, anchor)
        return part  # type: ignore[no-any-return]

    def insert(self, new: Operation, anchor: Operation) -> None:
        """Put `new` and what it needs before `anchor`; nothing happens to operations that have their place."""
        if new.parent is not None:
            return
        for i, v in enumerate(new.operands):
            needed = v.defining_op
            if needed is not None and needed.parent is None:
                if needed.traits & CONSTANT:
                    kept = self.constants.of(anchor).adopt(needed)
                    if kept is not needed:
                        new.set_operand(i, kept.results[0])
                else:
                    self.insert(needed, anchor)
        if new.loc is UNKNOWN:
            new.loc = anchor.loc
        assert anchor.parent is not None
        anchor.parent.insert_before(new, anchor)
        for inner in new.walk():
            if inner.loc is UNKNOWN:
                inner.loc = anchor.loc
            self.push(inner)

    def erase(self, op: Operation) -> None:
        self.changed = True
        operands = list(op.operands)
        for inner in op.walk():
            self.queued.discard(inner)
            self.later.pop(inner, None)
            if inner is not op:
                operands.extend(inner.operands)
        parent = op.parent_op
        if parent is not None and parent is not self.root:
            self.later[parent] = None
        op.erase()
        for v in operands:
            definer = v.defining_op
            if definer is not None and definer.parent is not None:
                if len(v.users) < 2:
                    self.push(definer)
            elif definer is None:
                owner = v.block.parent_op if v.block is not None else None
                if owner is not None and owner is not self.root and owner.parent is not None and not v.users:
                    self.later[owner] = None

    def constant(self, op: Operation) -> None:
        place = (op.parent, op.prev)
        kept = self.constants.of(op).adopt(op)
        if kept is not op:
            self.push_users(op.results)
            op.results[0].replace_all_uses_with(kept.results[0])
            self.erase(op)
        elif place != (op.parent, op.prev):
            self.changed = True


def rewrite_greedily(
    root: Operation, rules: Iterable[Rule] | RuleTable, limit: int = 10_000, *, top_down: bool = True
) -> bool:
    """Apply `rules` to the operations nested in `root` until none matches; True when anything changed.

    `top_down`: starting with the first operation, else with the last. `limit` rewrites, and ten an operation, are taken
    to be no cycle; `InternalError` names the rules beyond that.
    """
    table = rules if isinstance(rules, RuleTable) else RuleTable(rules)
    driver = _Driver(root, table, limit)
    try:
        return driver.run(top_down)
    except BaseException as e:  # Ctrl-C too: it tells where rewriting did not end
        blame(e, driver.current)
        raise


def blame(error: BaseException, op: Operation | None) -> None:
    """Note on an error which operation was being worked on, for the report of the pass loop; the first note stays."""
    if op is not None and not hasattr(error, "operation"):
        error.operation = op  # type: ignore[attr-defined]
