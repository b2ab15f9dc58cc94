"""Dialect conversion: replace the operations of some dialects by those of others, with their types.

As in MLIR, a conversion has four parts:

- a `ConversionTarget` says which operations are legal afterwards, which are not, and which under a condition;
- a `TypeConverter` has the types that values change to;
- patterns (`@converts(SomeOp)`) replace an operation, given its operands converted already;
- a driver walks the program: `apply_partial_conversion` converts what is illegal and leaves unknown operations alone,
  `apply_full_conversion` requires that every operation be legal in the end.

    target = ConversionTarget(legal=["arith", "tt"], illegal=["ring"])
    types = TypeConverter(lambda ty: i32 if isinstance(ty, Mod) else None)

    @converts(Add)
    def lower_add(op, operands, b):
        return b.add(arith.AddI(*operands))

    apply_full_conversion(module, target, [lower_add], types)

A pattern returns the value (or the list of values) that replaces the results, or None if it does not apply. Operations
that it creates are legalized in turn. Functions, loops, branches and other operations that only carry values
are converted with the types of their operands, results, block arguments and signatures, where `carries` names them (by
default: functions, calls, region branches and terminators).

Where an operation that is legal as it is uses a converted value, or a pattern returns a value of another type than the
converter's, the value is *materialized* by `TypeConverter.materialize`, or by a `builtin.unrealized_conversion_cast`,
which a full conversion refuses if it remains. A conversion that fails leaves the program as it was and raises
`ConversionError`, which names the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..dialects.builtin import UnrealizedConversionCast
from ..ir import Builder, FunctionType, Operation, RegionBranch, Type, TypeAttr, Value
from ..ir.traits import TERMINATOR
from ..support.errors import UnsupportedOperation

__all__ = [
    "ConversionError",
    "ConversionPattern",
    "ConversionTarget",
    "TypeConverter",
    "apply_full_conversion",
    "apply_partial_conversion",
    "converts",
]

Legality = Callable[[Operation], bool]
Materialize = Callable[[Builder, Value, Type], "Value | None"]
PatternFunction = Callable[..., "Value | Sequence[Value] | None"]

_MAX_DEPTH = 64
"""How often patterns may be applied to operations that patterns created."""


class ConversionError(UnsupportedOperation):
    """An operation could not be legalized; the program is as it was before."""


class ConversionTarget:
    """Which operations are legal after a conversion.

    `legal` and `illegal` name dialects ("arith"), operations ("arith.addi") or operation classes; `dynamic` maps such
    names to predicates. A name of an operation counts before that of its dialect. What is named nowhere is unknown.
    """

    def __init__(
        self,
        legal: Iterable[str | type[Operation]] = (),
        illegal: Iterable[str | type[Operation]] = (),
        dynamic: dict[str | type[Operation], Legality] | None = None,
    ) -> None:
        self._rules: dict[str, bool | Legality] = {_name(key): True for key in legal}
        self._rules |= {_name(key): False for key in illegal}
        self._rules |= {_name(key): predicate for key, predicate in (dynamic or {}).items()}

    def is_legal(self, op: Operation) -> bool | None:
        """Whether `op` is legal; None if it is unknown."""
        found = self._rules.get(op.name)
        if found is None:
            found = self._rules.get(op.name.partition(".")[0])
        return found(op) if callable(found) else found

    def names(self, op: Operation) -> bool:
        """Whether there is a rule for the operation itself, not only for its dialect."""
        return op.name in self._rules


def _name(key: str | type[Operation]) -> str:
    return key if isinstance(key, str) else str(key.name)


class TypeConverter:
    """Converts types by `rules`, the last one first: each returns the new type, or None if it does not apply.

    A type that no rule applies to stays as it is. `materialize(builder, value, type)` casts a value between a type and
    the one it is converted to, either way; it returns None where it cannot.
    """

    def __init__(self, *rules: Callable[[Type], Type | None], materialize: Materialize | None = None) -> None:
        self._rules = rules[::-1]
        self._materialize = materialize
        self._known: dict[Type, Type] = {}

    def convert(self, ty: Type) -> Type:
        """The type that `ty` changes to."""
        found = self._known.get(ty)
        if found is None:
            found = next((new for rule in self._rules if (new := rule(ty)) is not None), None)
            if found is None:
                found = ty
                if isinstance(ty, FunctionType):
                    found = FunctionType(tuple(map(self.convert, ty.inputs)), tuple(map(self.convert, ty.results)))
            self._known[ty] = found
        return found

    def materialize(self, b: Builder, value: Value, ty: Type) -> Value:
        """`value` as a `ty`: a cast by the converter's function, or an unrealized one."""
        made = self._materialize(b, value, ty) if self._materialize is not None else None
        return made if made is not None else b.insert(UnrealizedConversionCast([value], outputs=[ty])).results[0]


class ConversionPattern:
    """Replaces operations of one class: `function(op, operands, builder)` returns what replaces the results.

    `benefit` orders the patterns of a class, the greatest first.
    """

    def __init__(self, root: type[Operation], function: PatternFunction, benefit: int) -> None:
        self.root, self.function, self.benefit = root, function, benefit
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__


def converts(
    root: type[Operation], benefit: int = 1
) -> Callable[[Callable[..., Value | Sequence[Value] | None]], ConversionPattern]:
    """Make a function a pattern for operations of the class `root`."""
    return lambda function: ConversionPattern(root, function, benefit)


def carries_values(op: Operation) -> bool:
    """Whether an operation only carries values: a function, call, region branch or terminator."""
    has_signature = any(isinstance(a, TypeAttr) and isinstance(a.type, FunctionType) for a in op.attributes.values())
    is_call = op.name.partition(".")[2] == "call"
    return has_signature or is_call or isinstance(op, RegionBranch) or bool(op.traits & TERMINATOR)


def apply_partial_conversion(
    root: Operation,
    target: ConversionTarget,
    patterns: Iterable[ConversionPattern],
    types: TypeConverter | None = None,
    carries: Legality = carries_values,
) -> bool:
    """Convert the illegal operations inside `root`; whether anything changed.

    Unknown operations stay, with their operands cast back where these were converted. Raises ConversionError where an
    illegal operation has no pattern that applies.
    """
    return _apply(root, _Driver(target, patterns, types or TypeConverter(), carries, full=False))


def apply_full_conversion(
    root: Operation,
    target: ConversionTarget,
    patterns: Iterable[ConversionPattern],
    types: TypeConverter | None = None,
    carries: Legality = carries_values,
) -> bool:
    """Convert until every operation inside `root` is legal, or raise ConversionError; whether anything changed."""
    return _apply(root, _Driver(target, patterns, types or TypeConverter(), carries, full=True))


def _apply(root: Operation, driver: _Driver) -> bool:
    """Convert a copy, and move it into `root` once all of it is legal."""
    copy = root.clone()
    if driver.carries(copy):
        driver.carry(copy, 0)
    else:
        driver.regions_of(copy, 0)
    driver.finish(copy)
    if driver.changed:
        for region in root.regions:
            for block in region.blocks:
                for op in block:
                    op.drop_references()
        root.attributes, root.regions = copy.attributes, copy.regions
        for region in root.regions:
            region.parent = root
        copy.regions = []
        copy.drop_references()
    return driver.changed


class _Driver:
    """The state of one conversion: what has become of values, and the casts that were added."""

    def __init__(
        self,
        target: ConversionTarget,
        patterns: Iterable[ConversionPattern],
        types: TypeConverter,
        carries: Legality,
        full: bool,
    ) -> None:
        self.target, self.types, self.carries, self.full = target, types, carries, full
        self.patterns: dict[type[Operation], list[ConversionPattern]] = {}
        for pattern in sorted(patterns, key=lambda pattern: -pattern.benefit):
            self.patterns.setdefault(pattern.root, []).append(pattern)
        self.replaced: dict[Value, Value] = {}
        self.original: dict[Value, Type] = {}
        self.casts: dict[tuple[Value, Type], Value] = {}
        self.erased: dict[Operation, None] = {}
        self.changed = False

    # -- values -------------------------------------------------------------------------------------------------------

    def as_type(self, value: Value, ty: Type, user: Operation) -> Value:
        """What has become of `value`, as a `ty`; a cast before `user` where types differ, once for each value."""
        current = self.replaced.get(value, value)
        if current.type is ty:
            return current
        cast = self.casts.get((current, ty))
        if cast is None:
            b = Builder(loc=user.loc)
            maker = current.defining_op
            if maker is not None:
                b.after(maker)
            else:
                assert current.block is not None
                b.at_start(current.block)
            cast = self.casts[current, ty] = self.types.materialize(b, current, ty)
        return cast

    def converted(self, value: Value, user: Operation) -> Value:
        """A value as the type that its own is converted to."""
        return self.as_type(value, self.types.convert(self.original.get(value, value.type)), user)

    # -- operations ---------------------------------------------------------------------------------------------------

    def regions_of(self, op: Operation, depth: int) -> None:
        """Legalize everything inside an operation, uses after definitions where blocks are in that order."""
        for region in op.regions:
            for block in list(region.blocks):
                for inner in list(block):
                    self.legalize(inner, depth)

    def legalize(self, op: Operation, depth: int) -> None:
        """Make one operation legal, with what is inside it."""
        legal = self.target.is_legal(op)
        if legal is not True and self._by_patterns(op, depth, required=legal is False or self.full):
            return
        if self.carries(op):
            self.carry(op, depth)
        elif legal is False or (legal is None and self.full):
            why = "is illegal on" if legal is False else "is not known to be legal on"
            raise ConversionError(op, f"{why} the target of the conversion, and no pattern converts it")
        else:
            was = self.original if depth == 0 else {}  # operations that patterns create use converted values
            wanted = [self.as_type(v, was.get(v, v.type), op) for v in op.operands]
            if any(new is not old for new, old in zip(wanted, op.operands)):
                op.set_operands(wanted)
            self.regions_of(op, depth)

    def _by_patterns(self, op: Operation, depth: int, required: bool) -> bool:
        """Replace an operation by the first pattern that applies, if it is `required` to change; whether one did."""
        patterns = self.patterns.get(op.__class__, ()) if required else ()
        if patterns and depth >= _MAX_DEPTH:
            raise ConversionError(op, f"was created by patterns that create illegal operations, {depth} in a row")
        for pattern in patterns:
            operands = [self.converted(v, op) for v in op.operands]
            before = op.prev
            b = Builder(loc=op.loc)
            b.at(op)
            made = pattern.function(op, operands, b)
            if made is None:
                self._discard(before, op)
                continue
            values = [made] if isinstance(made, Value) else list(made)
            if len(values) != len(op.results):
                raise ConversionError(op, f"has {len(op.results)} results, {pattern.__name__} returned {len(values)}")
            self.changed = True
            self._legalize_created(before, op, depth)
            for result, value in zip(op.results, values):
                self.replaced[result] = self.replaced.get(value, value)
            self.erased[op] = None
            return True
        return False

    def _created(self, before: Operation | None, op: Operation) -> list[Operation]:
        """The operations between `before` and `op`, which a pattern has inserted there."""
        assert op.parent is not None
        out, at = [], before.next if before is not None else op.parent.first
        while at is not None and at is not op:
            out.append(at)
            at = at.next
        return out

    def _discard(self, before: Operation | None, op: Operation) -> None:
        """Erase what a pattern has inserted that then did not apply."""
        for made in reversed(self._created(before, op)):
            made.erase()

    def _legalize_created(self, before: Operation | None, op: Operation, depth: int) -> None:
        for made in self._created(before, op):
            if made.__class__ is not UnrealizedConversionCast:
                self.legalize(made, depth + 1)

    def carry(self, op: Operation, depth: int) -> None:
        """Convert the types of an operation that only carries values."""
        operands = [self.converted(v, op) for v in op.operands]
        if any(new is not old for new, old in zip(operands, op.operands)):
            op.set_operands(operands)
            self.changed = True
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        for value in (*op.results, *arguments):
            ty = self.types.convert(value.type)
            if ty is not value.type:
                self.original[value], value.type = value.type, ty
                self.changed = True
        for name, attr in op.attributes.items():
            if isinstance(attr, TypeAttr) and self.types.convert(attr.type) is not attr.type:
                op.attributes[name] = TypeAttr(self.types.convert(attr.type))
                self.changed = True
        self.regions_of(op, depth)

    # -- the end ------------------------------------------------------------------------------------------------------

    def finish(self, root: Operation) -> None:
        """Erase what was replaced, and casts that cancel; a full conversion refuses casts that remain."""
        for op in self.erased:
            for result in op.results:
                for user in list(result.users):
                    if user not in self.erased:
                        self._rewire(user, result)
        for op in reversed(self.erased):
            op.erase()
        casts = [op for op in root.walk() if op.__class__ is UnrealizedConversionCast]
        for cast in casts:
            self._cancel(cast)
        for cast in reversed(casts):
            if not any(result.users for result in cast.results):
                cast.erase()
            elif self.full and not self.target.names(cast):
                types = f"from {cast.operands[0].type} to {cast.results[0].type}"
                raise ConversionError(cast, f"{types} remains: no materialization casts it")

    def _rewire(self, user: Operation, result: Value) -> None:
        """Operations before a replaced one in program order (of another block) use what it became."""
        wanted = [self.as_type(v, v.type, user) if v is result else v for v in user.operands]
        user.set_operands(wanted)

    def _cancel(self, cast: Operation) -> None:
        """Fold a cast of a cast back to the first type."""
        (value,), (result,) = cast.operands, cast.results
        source = value.defining_op
        if source is not None and source.__class__ is UnrealizedConversionCast:
            if source.operands[0].type is result.type:
                result.replace_all_uses_with(source.operands[0])
