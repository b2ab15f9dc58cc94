"""Operations of the cf dialect that few programs hold: they are known once a text names one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    TERMINATOR,
    AnyAttr,
    Block,
    Branch,
    DenseArrayAttr,
    DenseElementsAttr,
    I32Array,
    IntegerType,
    Operand,
    Successor,
    TensorType,
    Value,
    VariadicOperand,
    VariadicSuccessor,
    i32,
)
from .cf import parse_successor, print_successor

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Switch"]


class Switch(Branch, name="cf.switch", traits=TERMINATOR):
    """Branch to the block of the case equal to `flag`, or to `defaultDestination`.

    `caseOperands` hold the arguments of all cases, `case_operand_segments` how many each takes.
    """

    flag: Operand
    defaultOperands: VariadicOperand
    caseOperands: VariadicOperand
    case_values: AnyAttr = None
    case_operand_segments: I32Array
    defaultDestination: Successor
    caseDestinations: VariadicSuccessor

    def cases(self) -> list[int]:
        """The values of the cases."""
        values = self.case_values
        return [] if values is None else list(values.values) * (values.type.numel if values.is_splat else 1)

    def groups(self) -> list[list[Value]]:
        """The operands passed to each case."""
        out, at, values = [], 0, self.caseOperands
        for n in self.case_operand_segments:
            out.append(list(values[at : at + n]))
            at += n
        return out

    def successor_operands(self) -> list[list[Value]]:
        """The operands passed to each successor."""
        return [list(self.defaultOperands), *self.groups()]

    def verify_op(self) -> list[str]:
        """An integer; a block and a number of operands for each of different cases."""
        cases, segments = self.cases(), self.case_operand_segments
        out = [] if isinstance(self.flag.type, IntegerType) else [f"switches on an integer, not on {self.flag.type}"]
        if not len(cases) == len(segments) == len(self.caseDestinations) or len(set(cases)) != len(cases):
            out.append(f"{len(self.caseDestinations)} blocks and {len(segments)} groups of operands for cases {cases}")
        if sum(segments) != len(self.caseOperands):
            out.append(f"{len(self.caseOperands)} operands, case_operand_segments says {sum(segments)}")
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`cf.switch %i : i32, [`, a line `default: ^bb1,` and one for each case, `]`."""
        printer.write(f"cf.switch {printer.names[self.flag]} : {printer.types[self.flag.type]}, [")
        lines = [f"default: {print_successor(printer, self.defaultDestination, list(self.defaultOperands))}"]
        ty = self.flag.type
        assert isinstance(ty, IntegerType)
        mask = (1 << ty.width) - 1
        for n, block, values in zip(self.cases(), self.caseDestinations, self.groups()):
            lines.append(f"{n & mask}: {print_successor(printer, block, values)}")
        printer.write(",".join(f"{printer.indent}  {line}" for line in lines))
        printer.write(f"{printer.indent}]" if len(lines) > 1 else "]")
        hidden = ("case_values", "case_operand_segments", "operandSegmentSizes")
        printer.write(printer.attr_dict(self.attributes, hidden))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Switch:
        """The same, read."""
        flag = parser.operand()
        parser.expect(":")
        ty = parser.type()
        parser.typed([flag], [ty])
        for word in (",", "[", "default", ":"):
            parser.expect(word)
        default, default_operands = parse_successor(parser)
        cases: list[int] = []
        blocks: list[Block] = []
        groups: list[list[Value]] = []
        while parser.accept(","):
            cases.append(parser.integer())
            parser.expect(":")
            block, values = parse_successor(parser)
            blocks.append(block)
            groups.append(values)
        parser.expect("]")
        values_attr = DenseElementsAttr(tuple(cases), TensorType((len(cases),), ty)) if cases else None
        return cls(
            flag,
            default_operands,
            [v for group in groups for v in group],
            values_attr,
            DenseArrayAttr(tuple(map(len, groups)), i32),
            default,
            blocks,
            attributes=parser.attr_dict(),
        )
