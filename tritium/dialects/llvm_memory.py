"""Loads, stores and addresses of the llvm dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    PURE,
    READ,
    UNIT,
    WRITE,
    Attribute,
    DenseArrayAttr,
    I32Array,
    IntegerAttr,
    Op,
    Operand,
    Result,
    TypeAttr,
    TypeField,
    VariadicOperand,
    i32,
    i64,
)

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["GetElementPtr", "Load", "Store"]

_DYNAMIC = -(1 << 31)  # in the indices of getelementptr: the next operand
_PLAIN: dict[str, Attribute] = {"ordering": IntegerAttr(0, i64)}


class Load(Op, name="llvm.load", traits=READ):
    """res = *addr."""

    addr: Operand
    res: Result

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.load volatile %p : !llvm.ptr -> i32`"""
        volatile, shown = _volatile(self)
        text = f"llvm.load {volatile}{printer.names[self.addr]}{printer.attr_dict(self.attributes, shown)}"
        printer.write(f"{text} : {printer.types[self.addr.type]} -> {printer.types[self.results[0].type]}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Load:
        """The same, read."""
        attributes = _read_volatile(parser)
        addr = parser.operand()
        attributes.update(parser.attr_dict())
        parser.expect(":")
        parser.typed([addr], [parser.type()])
        parser.expect("->")
        return cls.create([addr], [parser.type()], attributes)


class Store(Op, name="llvm.store", traits=WRITE):
    """Put `value` at `addr`."""

    value: Operand
    addr: Operand

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.store volatile %x, %p : i32, !llvm.ptr`"""
        volatile, shown = _volatile(self)
        value, addr = (printer.names[v] for v in self.operands)
        text = f"llvm.store {volatile}{value}, {addr}{printer.attr_dict(self.attributes, shown)}"
        printer.write(f"{text} : {printer.types_of(self.operands)}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Store:
        """The same, read."""
        attributes = _read_volatile(parser)
        operands = [parser.operand()]
        parser.expect(",")
        operands.append(parser.operand())
        attributes.update(parser.attr_dict())
        parser.expect(":")
        types = [parser.type()]
        parser.expect(",")
        types.append(parser.type())
        parser.typed(operands, types)
        return cls.create(operands, [], attributes)


def _volatile(op: Op) -> tuple[str, list[str]]:
    """The word `volatile` where it is one, and the attributes that text leaves out."""
    shown = [n for n, v in _PLAIN.items() if op.attributes.get(n) is v]
    return ("volatile ", [*shown, "volatile_"]) if "volatile_" in op.attributes else ("", shown)


def _read_volatile(parser: Parser) -> dict[str, Attribute]:
    return _PLAIN | ({"volatile_": UNIT} if parser.accept("volatile") else {})


class GetElementPtr(Op, name="llvm.getelementptr", traits=PURE):
    """res = the address of the element of an array of `elem_type` at `base` that the indices lead to.

    `rawConstantIndices` are the indices that are known; where one is -2147483648, it is the next of `dynamicIndices`.
    """

    base: Operand
    dynamicIndices: VariadicOperand
    rawConstantIndices: I32Array
    elem_type: TypeField
    res: Result

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.getelementptr inbounds %p[%i, 0] : (!llvm.ptr, i32) -> !llvm.ptr, f32`"""
        dynamic = iter(self.operands[1:])
        indices = [printer.names[next(dynamic)] if i == _DYNAMIC else str(i) for i in self.rawConstantIndices]
        flags = self.attributes.get("noWrapFlags")
        word = _GEP_FLAGS.get(flags.value if isinstance(flags, IntegerAttr) else 0, "")
        attributes = printer.attr_dict(self.attributes, ("rawConstantIndices", "elem_type", "noWrapFlags"))
        text = f"llvm.getelementptr {word}{printer.names[self.base]}[{', '.join(indices)}]{attributes}"
        types = printer.functional_type(self.operands, self.results)
        printer.write(f"{text} : {types}, {printer.types[self.elem_type]}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> GetElementPtr:
        """The same, read."""
        words = {word.strip(): number for number, word in _GEP_FLAGS.items()}
        flags = words[parser.accept_any(*filter(None, words)) or ""]
        operands = [parser.operand()]
        indices: list[int] = []

        def index() -> None:
            if parser.peek("%"):
                operands.append(parser.operand())
                indices.append(_DYNAMIC)
            else:
                indices.append(parser.integer())

        parser.expect("[")
        parser.comma_list(index, "]")
        attributes = parser.attr_dict()
        parser.expect(":")
        inputs, results = parser.functional_type()
        parser.typed(operands, inputs)
        parser.expect(",")
        attributes |= {
            "rawConstantIndices": DenseArrayAttr(tuple(indices), i32),
            "elem_type": TypeAttr(parser.type()),
            "noWrapFlags": IntegerAttr(flags, i32),
        }
        return cls.create(operands, results, attributes)


_GEP_FLAGS = {0: "", 1: "inbounds_flag ", 2: "nusw ", 3: "inbounds ", 4: "nuw ", 6: "nusw|nuw ", 7: "inbounds|nuw "}
