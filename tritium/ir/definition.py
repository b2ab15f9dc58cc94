"""How an operation is defined: a class with annotated fields, metadata as class keywords.

    class AddI(Op, name="arith.addi", traits=PURE | COMMUTATIVE | ELEMENTWISE):
        '''result = lhs + rhs, two's complement, wrapping.'''
        lhs: Operand
        rhs: Operand
        result: Result

From the annotations the class gets accessors (`op.lhs`, `op.result`) and a constructor `AddI(lhs, rhs)`:
operands, then attributes, regions and successors in textual order, each also by keyword; result types by
keyword (`result=ty`) where the class cannot infer them; and `loc=`, `attributes=` (extra ones).
A field with a class-level default is optional. The constructor is generated on first use.
"""

from __future__ import annotations

import enum
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..support import UNKNOWN, InternalError, Location
from ..support.generated import code_of
from .attributes import UNIT, DenseArrayAttr, IntegerAttr, OpaqueAttr, StringAttr, SymbolRefAttr, TypeAttr, bool_attr
from .interning import Attribute
from .operation import Block, Operation, OpResult, Region, Value
from .traits import NAMED_RESULTS
from .types import Type, i16, i32, i64

__all__ = [
    "FORMER_NAMES",
    "I16",
    "I32",
    "I64",
    "OPS",
    "AnyAttr",
    "Body",
    "Bool",
    "Field",
    "Flag",
    "I32Array",
    "I64Array",
    "Op",
    "Operand",
    "OptionalBool",
    "OptionalI32",
    "OptionalI32Array",
    "OptionalOperand",
    "OptionalResult",
    "OptionalStr",
    "Result",
    "Str",
    "Successor",
    "Symbol",
    "TYPE_FIELD",
    "TypeField",
    "UnregisteredOp",
    "VariadicOperand",
    "VariadicRegion",
    "VariadicResult",
    "VariadicSuccessor",
    "dialect_attr_field",
    "enum_field",
]


class Field:
    """One field of an op: `kind` is operand, result, region, successor or attribute; `arity` is "1", "?" or "*".

    `form` tells the form of an attribute in declarative assembly: "int", "bool", "str", "symbol", "type", "array",
    "flag", "enum", "any", or `#dialect.mnemonic` for a dialect attribute whose prefix is left out; `has_none` tells
    of the last whether its absence means the same as the body "none".
    """

    __slots__ = ("arity", "decode", "encode", "enum", "form", "has_none", "index", "kind", "name", "optional")

    def __init__(
        self,
        kind: str,
        arity: str = "1",
        encode: Callable[[Any], Attribute] | None = None,
        decode: Callable[[Any], Any] | None = None,
        enum_class: type[enum.IntEnum] | None = None,
        form: str = "any",
        has_none: bool = False,
    ) -> None:
        self.kind = kind
        self.arity = arity
        self.encode = encode
        self.decode = decode
        self.enum = enum_class
        self.form = form
        self.has_none = has_none
        self.name = ""
        self.index = 0
        self.optional = arity != "1"

    def named(self, name: str, optional: bool, index: int) -> Field:
        """The one that is the field `name` of an op, in that place of its group; ops with such a field share it."""
        key = (self, name, optional, index)
        found = _named.get(key)
        if found is None:
            found = Field(self.kind, self.arity, self.encode, self.decode, self.enum, self.form, self.has_none)
            found.name, found.optional, found.index = name, optional or self.optional, index
            _named[key] = found
        return found


_named: dict[tuple[Field, str, bool, int], Field] = {}


def _value_of(attr: Any) -> Any:
    return attr.value


def _codec(form: str, encode: Callable[[Any], Attribute], decode: Callable[[Any], Any]) -> Field:
    def to_attr(v: Any) -> Attribute:
        return v if isinstance(v, Attribute) else encode(v)

    return Field("attribute", "1", to_attr, decode, form=form)


def _identity(v: Any) -> Any:
    return v


Operand = Annotated[Value, Field("operand")]
OptionalOperand = Annotated[Value | None, Field("operand", "?")]
VariadicOperand = Annotated[list[Value], Field("operand", "*")]
Result = Annotated[OpResult, Field("result")]
OptionalResult = Annotated[OpResult | None, Field("result", "?")]
VariadicResult = Annotated[list[OpResult], Field("result", "*")]
Body = Annotated[Region, Field("region")]
VariadicRegion = Annotated[list[Region], Field("region", "*")]
Successor = Annotated[Block, Field("successor")]
VariadicSuccessor = Annotated[list[Block], Field("successor", "*")]
AnyAttr = Annotated[Any, Field("attribute", "1", _identity, _identity)]
I16 = Annotated[int, _codec("int", lambda v: IntegerAttr(v, i16), _value_of)]
I32 = Annotated[int, _codec("int", lambda v: IntegerAttr(v, i32), _value_of)]
I64 = Annotated[int, _codec("int", lambda v: IntegerAttr(v, i64), _value_of)]
Bool = Annotated[bool, _codec("bool", bool_attr, lambda a: bool(a.value))]
Str = Annotated[str, _codec("str", StringAttr, _value_of)]
OptionalI32 = Annotated[int | None, _codec("int", lambda v: IntegerAttr(v, i32), _value_of)]
OptionalBool = Annotated[bool | None, _codec("bool", bool_attr, lambda a: bool(a.value))]
OptionalStr = Annotated[str | None, _codec("str", StringAttr, _value_of)]
Symbol = Annotated[str, _codec("symbol", SymbolRefAttr, lambda a: a.name)]
TYPE_FIELD = _codec("type", TypeAttr, lambda a: a.type)
TypeField = Annotated[Type, TYPE_FIELD]
I32Array = Annotated[tuple[int, ...], _codec("array", lambda v: DenseArrayAttr(tuple(v), i32), lambda a: a.values)]
OptionalI32Array = Annotated[
    tuple[int, ...] | None, _codec("array", lambda v: DenseArrayAttr(tuple(v), i32), lambda a: a.values)
]
I64Array = Annotated[tuple[int, ...], _codec("array", lambda v: DenseArrayAttr(tuple(v), i64), lambda a: a.values)]
Flag = Annotated[
    bool,
    Field("attribute", "?", lambda v: UNIT if v else None, lambda a: a is not None, form="flag"),
]


def enum_field(cls: type[enum.IntEnum], ty: Type = i32) -> Field:
    """The field of an enum attribute, stored as an integer attribute of type `ty`."""

    def encode(v: Any) -> Attribute:
        return v if isinstance(v, Attribute) else IntegerAttr(int(v), ty)

    return Field("attribute", "1", encode, lambda a: cls(a.value), cls, "enum")


def dialect_attr_field(mnemonic: str, make: Callable[[str], Attribute] | None = None, has_none: bool = True) -> Field:
    """The field of an attribute `#mnemonic<body>`, whose prefix is left out; a plain string stands for the body.

    `make` turns such a string into the attribute, where that has a class of its own. An attribute that is absent is
    the same as `#mnemonic<none>`, unless `has_none` is false.
    """

    def encode(v: Any) -> Attribute:
        if isinstance(v, Attribute):
            return v
        return OpaqueAttr(f"#{mnemonic}<{v}>") if make is None else make(v)

    return Field("attribute", "1", encode, _identity, form=f"#{mnemonic}", has_none=has_none)


OPS: dict[str, type[Op]] = {}
"""Every defined operation by its full name."""

FORMER_NAMES: dict[str, str] = {}
"""What operations are called in older texts, and their names of today."""


class OpMeta(type):
    """Turns annotations into fields and accessors; keeps instances free of a `__dict__`."""

    def __new__(
        mcs,
        clsname: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        name: str = "",
        traits: int = 0,
        assembly: str | None = None,
        **kwargs: Any,
    ) -> Any:
        annotations = namespace.get("__annotations__", {})
        is_root = not any(isinstance(b, OpMeta) for b in bases)  # its annotations are no fields
        defaults = {} if is_root else {n: namespace.pop(n) for n in annotations if n in namespace}
        namespace.setdefault("__slots__", ())
        namespace["_defaults"] = defaults
        if name:  # what is there when the class is made costs less than what is set afterwards
            namespace.update(name=name, traits=traits, assembly=assembly)
            _collect_fields(namespace, annotations)
        return super().__new__(mcs, clsname, bases, namespace)

    def __init__(
        cls, clsname: str, bases: tuple[type, ...], namespace: dict[str, Any], name: str = "", **kwargs: Any
    ) -> None:
        super().__init__(clsname, bases, namespace)
        if not name:
            return
        if name in OPS and OPS[name].__module__ != cls.__module__:
            raise InternalError(f"operation {name} is defined twice")
        OPS[name] = cls  # type: ignore[assignment]


def _collect_fields(namespace: dict[str, Any], annotations: dict[str, Any]) -> None:
    """Put what is told of fields into the namespace of a class, with a property for each."""
    scope = sys.modules[namespace["__module__"]].__dict__
    defaults = namespace["_defaults"]
    fields: list[Field] = []
    groups: dict[str, list[Field]] = {"operand": [], "result": [], "region": [], "successor": [], "attribute": []}
    for name, annotation in annotations.items():
        kind = scope.get(annotation)  # most are a name
        if kind is None:
            kind = eval(annotation, scope) if isinstance(annotation, str) else annotation
        for meta in (kind,) if isinstance(kind, Field) else getattr(kind, "__metadata__", ()):
            if isinstance(meta, Field):
                group = groups[meta.kind]
                f = meta.named(name, name in defaults, 0 if meta.kind == "attribute" else len(group))
                fields.append(f)
                group.append(f)
                break
    operands, results = groups["operand"], groups["result"]
    namespace.update(
        fields=fields,
        operand_fields=operands,
        result_fields=results,
        region_fields=groups["region"],
        successor_fields=groups["successor"],
        attribute_fields={f.name: f for f in groups["attribute"]},
        segmented=_variable(operands) > 1,
        segmented_results=_variable(results) > 1,
    )
    if len(results) > 1:
        namespace["traits"] |= NAMED_RESULTS
    for f in fields:
        namespace[f.name] = _property(namespace, f, groups[f.kind])


def _variable(fields: list[Field]) -> int:
    """How many groups have no fixed size."""
    return len([f for f in fields if f.arity != "1"]) if fields else 0


_SLOTS = {"operand": "operands", "result": "results", "region": "regions"}


def _property(namespace: dict[str, Any], f: Field, group: list[Field]) -> property:
    """What a field is read by. Ops share it where all before it is fixed: it is an element of a list then."""
    slot = _SLOTS.get(f.kind)
    if slot is not None and f.arity == "1" and not _variable(group[: f.index]):
        return _fixed(slot, f.index)
    return property(_accessor(namespace, f, group, slot), doc=f"{f.kind} `{f.name}`")


@functools.cache
def _fixed(slot: str, index: int) -> property:
    return property(_fixed_accessor(slot, index), doc=f"number {index} of the {slot}")


def _accessor(namespace: dict[str, Any], f: Field, group: list[Field], slot: str | None) -> Callable[[Any], Any]:
    if f.kind == "attribute":
        return _attribute_accessor(f, namespace["_defaults"].get(f.name))
    index, after = f.index, len(group) - f.index - 1
    if slot is None:
        return (lambda op: op.successors[index]) if f.arity == "1" else lambda op: op.successors[index:]
    if (f.kind == "operand" and namespace["segmented"]) or (f.kind == "result" and namespace["segmented_results"]):
        return _segment_accessor(f)
    if f.arity == "1":
        return lambda op: getattr(op, slot)[-after - 1]
    if f.arity == "?":
        return lambda op: next(iter(getattr(op, slot)[index : len(getattr(op, slot)) - after]), None)
    return lambda op: getattr(op, slot)[index : len(getattr(op, slot)) - after]


def _fixed_accessor(slot: str, index: int) -> Callable[[Any], Any]:
    if slot == "operands":
        return lambda op: op.operands[index]
    if slot == "results":
        return lambda op: op.results[index]
    return lambda op: op.regions[index]


def _attribute_accessor(f: Field, default: Any) -> Callable[[Any], Any]:
    name, decode = f.name, f.decode
    assert decode is not None
    if f.arity == "?":
        return lambda op: name in op.attributes

    def get(op: Operation) -> Any:
        attr = op.attributes.get(name)
        return default if attr is None else decode(attr)

    return get


def _segment_accessor(f: Field) -> Callable[[Any], Any]:
    index, arity, group, name = f.index, f.arity, f"{f.kind}s", f"{f.kind}SegmentSizes"

    def get(op: Operation) -> Any:
        sizes = op.attributes[name].values  # type: ignore[attr-defined]
        start = sum(sizes[:index])
        if arity == "*":
            return getattr(op, group)[start : start + sizes[index]]
        return getattr(op, group)[start] if sizes[index] else None

    return get


class Op(Operation, metaclass=OpMeta):
    """Base of all defined operations; class attributes describe the definition.

    `name`, `traits` (bit mask, see `traits`), `fields`, `operand_fields`, `result_fields`, `region_fields`,
    `successor_fields`, `attribute_fields` (by name), `segmented` (several operand groups of variable size, whose
    sizes stand in `operandSegmentSizes`), `segmented_results` (the same of results, `resultSegmentSizes`), `assembly`
    (the declarative format of the text form, or None), `scalar_operands` (numbers of operands that may be scalars
    though the operation is ELEMENTWISE on tensors).
    """

    fields: list[Field] = []
    operand_fields: list[Field] = []
    result_fields: list[Field] = []
    region_fields: list[Field] = []
    successor_fields: list[Field] = []
    attribute_fields: dict[str, Field] = {}
    segmented: bool = False
    segmented_results: bool = False
    assembly: str | None = None
    scalar_operands: tuple[int, ...] = ()
    _defaults: dict[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        cls.__init__ = _make_constructor(cls)  # type: ignore[method-assign]
        cls.__init__(self, *args, **kwargs)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The result types that follow from operands and attributes; the default: each is that of operand 0."""
        if not cls.result_fields:
            return []
        if not operands:
            raise InternalError(f"{cls.name}: result types must be given")
        return [operands[0].type] * len(cls.result_fields)

    @classmethod
    def create(
        cls,
        operands: list[Value],
        result_types: list[Type],
        attributes: dict[str, Attribute] | None = None,
        regions: list[Region] | None = None,
        successors: list[Block] | None = None,
        loc: Location = UNKNOWN,
    ) -> Any:
        """The generic constructor: everything given, nothing inferred."""
        op = cls.__new__(cls)
        op.setup(list(operands), result_types, attributes or {}, regions or [], successors or [], loc)
        return op

    @property
    def result(self) -> Any:
        """The only result."""
        (r,) = self.results
        return r

    def result_name(self) -> str | None:
        """The name of the first result in text, asked of operations with the trait CONSTANT; None: the usual one."""
        return self.results[0].hint

    def verify_op(self) -> Sequence[str]:
        """What is wrong with this operation beyond its fields, one message each; overridden by definitions."""
        return []


class UnregisteredOp(Operation):
    """An operation of a dialect that is not loaded; prints and parses in generic form only."""

    __slots__ = ("op_name",)
    is_registered = False

    def __init__(self, op_name: str) -> None:
        self.op_name = op_name

    @property
    def name(self) -> str:  # type: ignore[override]
        """The full name as written in the text."""
        return self.op_name


def _parameters(cls: Any) -> tuple[list[str], list[str]]:
    """The constructor's positional parameters and the names of the result-type keywords."""
    required, optional = [], []
    for f in cls.fields:
        if f.kind == "result":
            continue
        if f.optional and f.arity != "*":
            optional.append(f"{f.name}=None")
        elif f.arity == "*" and optional:
            optional.append(f"{f.name}=()")
        elif optional:
            optional.append(f"{f.name}=None")
        else:
            required.append(f.name)
    return required + optional, [f"{f.name}=None" for f in cls.result_fields]


def _make_constructor(cls: Any) -> Any:
    params, results = _parameters(cls)
    lines = [f"def __init__({', '.join(['self', *params, '*', *results, 'attributes=None', 'loc=UNKNOWN'])}):"]
    lines += _operand_lines(cls)
    lines.append("    attrs = {} if attributes is None else dict(attributes)")
    if cls.segmented:
        sizes = ", ".join(_segment_size(f) for f in cls.operand_fields)
        lines.append(f"    attrs['operandSegmentSizes'] = DenseArrayAttr(({sizes},), i32)")
    scope: dict[str, Any] = {"UNKNOWN": UNKNOWN, "DenseArrayAttr": DenseArrayAttr, "i32": i32, "cls": cls}
    for f in cls.attribute_fields.values():
        scope[f"encode_{f.name}"] = f.encode
        guard = f"if {f.name} is not None and {f.name} is not False:" if f.arity == "?" else f"if {f.name} is not None:"
        lines.append(f"    {guard} attrs['{f.name}'] = encode_{f.name}({f.name})")
    lines += _result_lines(cls)
    regions = " + ".join(f"[{f.name}]" if f.arity == "1" else f"list({f.name})" for f in cls.region_fields) or "[]"
    successors = ", ".join(f.name if f.arity == "1" else f"*{f.name}" for f in cls.successor_fields)
    lines.append(f"    self.setup(operands, types, attrs, {regions}, [{successors}], loc)")
    exec(code_of("\n".join(lines)), scope)
    return scope["__init__"]


def _operand_lines(cls: Any) -> list[str]:
    if all(f.arity == "1" for f in cls.operand_fields):
        return [f"    operands = [{', '.join(f.name for f in cls.operand_fields)}]"]
    lines = ["    operands = []"]
    for f in cls.operand_fields:
        if f.arity == "1":
            lines.append(f"    operands.append({f.name})")
        elif f.arity == "?":
            lines.append(f"    if {f.name} is not None: operands.append({f.name})")
        else:
            lines.append(f"    operands.extend({f.name})")
    return lines


def _segment_size(f: Field) -> str:
    return {"1": "1", "?": f"int({f.name} is not None)", "*": f"len({f.name})"}[f.arity]


def _result_lines(cls: Any) -> list[str]:
    if not cls.result_fields:
        return ["    types = []"]
    if len(cls.result_fields) == 1:
        f = cls.result_fields[0]
        if f.arity == "1":
            return [
                f"    if {f.name} is None: types = cls.infer_types(operands, attrs)",
                f"    else: types = [{f.name}]",
            ]
        if f.arity == "*":
            return [
                f"    if {f.name} is None: types = cls.infer_types(operands, attrs)",
                f"    else: types = list({f.name})",
            ]
        return [f"    types = [] if {f.name} is None else [{f.name}]"]
    first = cls.result_fields[0].name
    parts = {"1": "[{0}]", "?": "([] if {0} is None else [{0}])", "*": "list({0} or ())"}
    given = " + ".join(parts[f.arity].format(f.name) for f in cls.result_fields)
    lines = [f"    types = cls.infer_types(operands, attrs) if {first} is None else {given}"]
    if cls.segmented_results:
        sizes = ", ".join(f"len({parts[f.arity].format(f.name)})" for f in cls.result_fields)
        lines.append(f"    if {first} is not None: attrs['resultSegmentSizes'] = DenseArrayAttr(({sizes},), i32)")
    return lines
