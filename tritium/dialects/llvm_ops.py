"""A thread's program: functions, globals, constants, arithmetic, memory.

Triton's files have these operations where tiles have become what each thread does. Tritium does not lower through them
(LLVM's own text is written instead); they are here so that such files can be opened, checked and printed, as far as
Triton's own tests write them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..ir import (
    CONSTANT,
    ISOLATED,
    PURE,
    RETURN_LIKE,
    SYMBOL,
    TERMINATOR,
    TYPE_FIELD,
    UNIT,
    AnyAttr,
    ArrayAttr,
    Attribute,
    Body,
    DenseArrayAttr,
    DictionaryAttr,
    I64Array,
    IntegerAttr,
    Op,
    OpaqueAttr,
    Operand,
    OptionalOperand,
    OptionalResult,
    Region,
    Result,
    ShapedType,
    Str,
    StringAttr,
    Symbol,
    SymbolRefAttr,
    Type,
    TypeAttr,
    TypeField,
    Value,
    VariadicOperand,
    element_type,
    enum_field,
    i1,
    i32,
    i64,
    with_element,
)
from .arith import CmpIPredicate
from .llvm import Assume
from .llvm_arith import (
    Add,
    AddrSpaceCast,
    And,
    AShr,
    Bitcast,
    FAdd,
    FDiv,
    FMul,
    FPExt,
    FPTrunc,
    FSub,
    IntToPtr,
    LShr,
    Mul,
    Or,
    Poison,
    PtrToInt,
    SDiv,
    SExt,
    Shl,
    SRem,
    Sub,
    Trunc,
    UDiv,
    Undef,
    URem,
    Xor,
    Zero,
    ZExt,
)
from .llvm_memory import GetElementPtr, Load, Store
from .llvm_types import ArrayType, FuncType, PointerType, StructType, VoidType

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "AShr",
    "Add",
    "AddrSpaceCast",
    "AddressOf",
    "And",
    "ArrayType",
    "Assume",
    "Bitcast",
    "Call",
    "Constant",
    "ExtractElement",
    "ExtractValue",
    "FAdd",
    "FDiv",
    "FMul",
    "FPExt",
    "FPTrunc",
    "FSub",
    "Func",
    "FuncType",
    "GetElementPtr",
    "Global",
    "ICmp",
    "InsertElement",
    "InsertValue",
    "IntToPtr",
    "LShr",
    "Load",
    "Mul",
    "Or",
    "PointerType",
    "Poison",
    "PtrToInt",
    "Return",
    "SDiv",
    "SExt",
    "SRem",
    "Select",
    "Shl",
    "Store",
    "StructType",
    "Sub",
    "Trunc",
    "UDiv",
    "URem",
    "Undef",
    "Unreachable",
    "VoidType",
    "Xor",
    "ZExt",
    "Zero",
]

_LINKAGES = (
    "private", "internal", "available_externally", "linkonce", "weak", "common", "appending", "extern_weak",
    "linkonce_odr", "weak_odr", "external",
)  # fmt: skip
PredicateField = Annotated[CmpIPredicate, enum_field(CmpIPredicate, i64)]
_VISIBLE = IntegerAttr(0, i64)


def _linkage(name: str) -> Attribute:
    return OpaqueAttr(f"#llvm.linkage<{name}>")


def _linkage_text(op: Op, default: str) -> str:
    """The word of a linkage and a blank; nothing for the usual one."""
    attribute = op.attributes.get("linkage")
    word = str(attribute).removeprefix("#llvm.linkage<").removesuffix(">") if attribute is not None else default
    return "" if word == default else f"{word} "


# -- functions and globals ------------------------------------------------------------------------------------------


class Func(Op, name="llvm.func", traits=ISOLATED | SYMBOL):
    """A function of LLVM's types; without a body, an external one."""

    body_region: Body
    sym_name: Str
    function_type: Annotated[FuncType, TYPE_FIELD]
    linkage: AnyAttr = None
    arg_attrs: AnyAttr = None
    res_attrs: AnyAttr = None

    def verify_op(self) -> list[str]:
        """The arguments of the entry block are those of the type."""
        ty, blocks = self.function_type, self.regions[0].blocks
        if not isinstance(ty, FuncType):
            return [f"the type of a function is !llvm.func, not {ty}"]
        if blocks and tuple(a.type for a in blocks[0].args) != ty.inputs:
            return [f"the body takes {[str(a.type) for a in blocks[0].args]}, the type is {ty}"]
        return []

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.func internal @f(%x: !llvm.ptr {a}) -> i32 attributes {…} { … }`"""
        ty, attrs = self.function_type, self.attributes
        arg_attrs = self.arg_attrs.elements if self.arg_attrs is not None else ()
        if self.regions[0].blocks:
            args = [printer.arguments(self.regions[0].blocks[0].args, arg_attrs)]
        else:
            args = [printer.types[t] for t in ty.inputs]
        args += ["..."] * ty.variadic
        inside = ", ".join(filter(None, args))
        text = f"llvm.func {_linkage_text(self, 'external')}{SymbolRefAttr(self.sym_name)}({inside})"
        if not isinstance(ty.result, VoidType):
            text += f" -> {printer.types[ty.result]}"
            if self.res_attrs is not None and self.res_attrs.elements[0].entries:
                text = text.replace(" -> ", " -> (") + f" {printer.types[self.res_attrs.elements[0]]})"
        shown = [*_FUNC, *(n for n, v in _FUNC_DEFAULTS.items() if attrs.get(n) is v)]
        printer.write(text + printer.attr_dict(attrs, shown, keyword="attributes "))
        if self.regions[0].blocks:
            printer.write(" ")
            printer.region(self.regions[0], entry_label=False)

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Func:
        """The same, read."""
        attributes = dict(_FUNC_DEFAULTS)
        attributes["linkage"] = _linkage(parser.accept_any(*_LINKAGES) or "external")
        attributes["sym_name"] = StringAttr(parser.symbol_name())
        args = parser.arguments()
        result: Type = VoidType()
        if parser.accept("->"):
            if parser.accept("("):
                result = parser.type()
                attributes["res_attrs"] = ArrayAttr((DictionaryAttr(parser.attr_dict()),))
                parser.expect(")")
            else:
                result = parser.type()
        attributes["function_type"] = TypeAttr(FuncType(result, tuple(a.type for a in args)))
        if any(a.attributes for a in args):
            attributes["arg_attrs"] = ArrayAttr(tuple(DictionaryAttr(a.attributes) for a in args))
        attributes.update(parser.attr_dict("attributes"))
        region = parser.region(args, isolated=True) if parser.peek("{") else Region()
        return cls.create([], [], attributes, [region])


_FUNC = ("sym_name", "function_type", "linkage", "arg_attrs", "res_attrs")
_FUNC_DEFAULTS: dict[str, Attribute] = {
    "CConv": OpaqueAttr("#llvm.cconv<ccc>"),
    "visibility_": _VISIBLE,
}


class Return(Op, name="llvm.return", traits=TERMINATOR | RETURN_LIKE, assembly="attr-dict ($arg^ `:` type($arg))?"):
    """Leave the function, with `arg` where it returns something."""

    arg: OptionalOperand


class Unreachable(Op, name="llvm.unreachable", traits=TERMINATOR, assembly="attr-dict"):
    """The program never comes here."""


class Global(Op, name="llvm.mlir.global", traits=ISOLATED | SYMBOL):
    """A variable that all functions share; `value` is what it holds at first."""

    initializer: Body
    sym_name: Str
    global_type: TypeField
    linkage: AnyAttr = None
    value: AnyAttr = None

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.mlir.global internal constant @g(42 : i32) {alignment = 4 : i64} : i32`"""
        attrs = self.attributes
        constant = "constant " if "constant" in attrs else ""
        value = "" if self.value is None else str(self.value)
        text = f"llvm.mlir.global {_linkage_text(self, '')}{constant}{SymbolRefAttr(self.sym_name)}({value})"
        shown = [*_GLOBAL, "visibility_"] if attrs.get("visibility_") is _VISIBLE else _GLOBAL
        printer.write(f"{text}{printer.attr_dict(attrs, shown)} : {printer.types[self.global_type]}")
        if self.regions[0].blocks:
            printer.write(" ")
            printer.region(self.regions[0], entry_label=False)

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Global:
        """The same, read."""
        attributes = dict(_GLOBAL_DEFAULTS)
        attributes["linkage"] = _linkage(parser.accept_any(*_LINKAGES) or "external")
        if parser.accept("constant"):
            attributes["constant"] = UNIT
        attributes["sym_name"] = StringAttr(parser.symbol_name())
        parser.expect("(")
        if not parser.accept(")"):
            attributes["value"] = parser.attribute()
            parser.expect(")")
        attributes.update(parser.attr_dict())
        parser.expect(":")
        attributes["global_type"] = TypeAttr(parser.type())
        region = parser.region(isolated=True) if parser.peek("{") else Region()
        return cls.create([], [], attributes, [region])


_GLOBAL = ("sym_name", "global_type", "linkage", "constant", "value")
_GLOBAL_DEFAULTS: dict[str, Attribute] = {"addr_space": IntegerAttr(0, i32), "visibility_": _VISIBLE}


class Call(Op, name="llvm.call"):
    """result = callee(args)"""

    args: VariadicOperand
    callee: Symbol
    result: OptionalResult

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.call @f(%x) : (i32) -> i32`"""
        shown = [
            "callee",
            *(n for n, v in _CALL_DEFAULTS.items() if self.attributes.get(n) is v),
            "operandSegmentSizes",
        ]
        args = ", ".join(printer.names[v] for v in self.operands)
        text = f"llvm.call {SymbolRefAttr(self.callee)}({args}){printer.attr_dict(self.attributes, shown)}"
        printer.write(f"{text} : {printer.functional_type(self.operands, self.results)}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Call:
        """The same, read."""
        attributes = dict(_CALL_DEFAULTS)
        attributes["callee"] = SymbolRefAttr(parser.symbol_name())
        parser.expect("(")
        args = parser.operands()
        parser.expect(")")
        attributes.update(parser.attr_dict())
        parser.expect(":")
        inputs, results = parser.functional_type()
        parser.typed(args, inputs)
        attributes["operandSegmentSizes"] = DenseArrayAttr((len(args), 0), i32)
        return cls.create(args, results, attributes)


_CALL_DEFAULTS: dict[str, Attribute] = {
    "CConv": OpaqueAttr("#llvm.cconv<ccc>"),
    "TailCallKind": OpaqueAttr("#llvm.tailcallkind<none>"),
    "fastmathFlags": OpaqueAttr("#llvm.fastmath<none>"),
    "op_bundle_sizes": DenseArrayAttr((), i32),
}


# -- values ---------------------------------------------------------------------------------------------------------


class Constant(
    Op, name="llvm.mlir.constant", traits=PURE | CONSTANT, assembly="`(` $value `)` attr-dict `:` type($res)"
):
    """res = value."""

    value: AnyAttr
    res: Result


class AddressOf(Op, name="llvm.mlir.addressof", traits=PURE, assembly="$global_name attr-dict `:` type($res)"):
    """res = the address of the global `global_name`."""

    global_name: Symbol
    res: Result


class ICmp(Op, name="llvm.icmp", traits=PURE):
    """res = lhs predicate rhs, for integers and addresses."""

    lhs: Operand
    rhs: Operand
    predicate: PredicateField
    res: Result

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.icmp "slt" %a, %b : i32`"""
        lhs, rhs = (printer.names[v] for v in self.operands)
        attributes = printer.attr_dict(self.attributes, ("predicate",))
        printer.write(f'llvm.icmp "{self.predicate.name}" {lhs}, {rhs}{attributes} : {printer.types[self.lhs.type]}')

    @classmethod
    def parse_assembly(cls, parser: Parser) -> ICmp:
        """The same, read."""
        at = parser.pos
        word = parser.string()
        if word not in CmpIPredicate.__members__:
            raise parser.error(f"'{word}' is no comparison of integers", at)
        operands = [parser.operand()]
        parser.expect(",")
        operands.append(parser.operand())
        attributes = parser.attr_dict()
        parser.expect(":")
        ty = parser.type()
        parser.typed(operands, [ty, ty])
        attributes["predicate"] = IntegerAttr(CmpIPredicate[word], i64)
        result = with_element(ty, i1) if isinstance(ty, ShapedType) else i1
        return cls.create(operands, [result], attributes)


class Select(
    Op,
    name="llvm.select",
    traits=PURE,
    assembly="$condition `,` $trueValue `,` $falseValue attr-dict `:` type($condition) `,` type($res)",
):
    """res = condition ? trueValue : falseValue."""

    condition: Operand
    trueValue: Operand
    falseValue: Operand
    res: Result


class ExtractElement(
    Op,
    name="llvm.extractelement",
    traits=PURE,
    assembly="$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)",
):
    """res = vector[position]."""

    vector: Operand
    position: Operand
    res: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The vector's element type."""
        return [element_type(operands[0].type)]


class InsertElement(
    Op,
    name="llvm.insertelement",
    traits=PURE,
    assembly="$value `,` $vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)",
):
    """res = vector with `value` at `position`."""

    vector: Operand
    value: Operand
    position: Operand
    res: Result


def _field_of(ty: Type, position: tuple[int, ...]) -> Type | None:
    """The type of the field of a struct or array that `position` leads to."""
    for index in position:
        if isinstance(ty, ArrayType) and 0 <= index < ty.size:
            ty = ty.element
        elif isinstance(ty, StructType) and 0 <= index < len(ty.fields):
            ty = ty.fields[index]
        else:
            return None
    return ty


class ExtractValue(
    Op, name="llvm.extractvalue", traits=PURE, assembly="$container `` $position attr-dict `:` type($container) ` `"
):
    """res = the field of the struct or array `container` that `position` leads to."""

    container: Operand
    position: I64Array
    res: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The field's type; the container's where there is no such field, which the verifier then finds."""
        position = attributes["position"].values  # type: ignore[attr-defined]
        return [_field_of(operands[0].type, position) or operands[0].type]

    def verify_op(self) -> list[str]:
        """The field exists, and the result is of its type."""
        found = _field_of(self.container.type, self.position)
        if found is self.results[0].type:
            return []
        return [f"{self.container.type} has no field {list(self.position)} of type {self.results[0].type}"]


class InsertValue(
    Op,
    name="llvm.insertvalue",
    traits=PURE,
    assembly="$value `,` $container `` $position attr-dict `:` type($container)",
):
    """res = `container` with `value` in the field that `position` leads to."""

    container: Operand
    value: Operand
    position: I64Array
    res: Result

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.insertvalue %v, %s[0] : !llvm.struct<(i32)>`"""
        container, value = (printer.names[v] for v in self.operands)
        attributes = printer.attr_dict(self.attributes, ("position",))
        text = f"llvm.insertvalue {value}, {container}[{', '.join(map(str, self.position))}]{attributes}"
        printer.write(f"{text} : {printer.types[self.container.type]} ")  # MLIR writes the blank too

    @classmethod
    def parse_assembly(cls, parser: Parser) -> InsertValue:
        """The same, read."""
        at = parser.pos
        value = parser.operand()
        parser.expect(",")
        container = parser.operand()
        parser.expect("[")
        position = tuple(parser.comma_list(parser.integer, "]"))
        attributes = parser.attr_dict()
        parser.expect(":")
        ty = parser.type()
        field = _field_of(ty, position)
        if field is None:
            raise parser.error(f"{ty} has no field {list(position)}", at)
        parser.typed([container, value], [ty, field])
        return cls.create([container, value], [ty], {**attributes, "position": DenseArrayAttr(position, i64)})
