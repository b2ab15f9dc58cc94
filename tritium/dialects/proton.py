"""The proton dialect: marks in a program between which a profiler measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import READ, UNIT, WRITE, Flag, Op, Operand, Result, StringAttr, i32, quote

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["AllocateEvent", "Event", "Record"]


class Record(Op, name="proton.record", traits=READ | WRITE):
    """The scope of the attribute `name` begins here, with the attribute `isStart`, or ends."""

    def verify_op(self) -> list[str]:
        """A name."""
        name = self.attributes.get("name")
        return [] if isinstance(name, StringAttr) else [f"the name of the scope must be a string, not {name}"]

    def print_assembly(self, printer: Printer) -> None:
        """`proton.record start "scope"`"""
        attributes = self.attributes
        word = "start" if "isStart" in attributes else "end"
        rest = printer.attr_dict(attributes, ("name", "isStart"))
        printer.write(f"{self.name} {word} {quote(attributes['name'].value)}{rest}")  # type: ignore[attr-defined]

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Record:
        """The same, read."""
        word = parser.accept_any("start", "end")
        if word is None:
            raise parser.expected("start or end")
        attributes = {"name": StringAttr(parser.string())}
        op: Record = cls.create([], [], attributes | parser.attr_dict())
        if word == "start":
            op.attributes["isStart"] = UNIT
        return op


class AllocateEvent(Op, name="proton.allocate_event", traits=READ | WRITE):
    """event = the number (i32) of a new event of the scope of the attribute `name`."""

    event: Result

    def verify_op(self) -> list[str]:
        """A name and an i32."""
        name, ty = self.attributes.get("name"), self.results[0].type
        found = [] if isinstance(name, StringAttr) else [f"the name of the scope must be a string, not {name}"]
        return found if ty is i32 else [*found, f"the event must be i32, not {ty}"]

    def print_assembly(self, printer: Printer) -> None:
        """`proton.allocate_event "scope" : i32`"""
        rest = printer.attr_dict(self.attributes, ("name",))
        ty = printer.types[self.results[0].type]
        printer.write(f"{self.name} {quote(self.attributes['name'].value)}{rest} : {ty}")  # type: ignore[attr-defined]

    @classmethod
    def parse_assembly(cls, parser: Parser) -> AllocateEvent:
        """The same, read."""
        attributes = {"name": StringAttr(parser.string())} | parser.attr_dict()
        parser.expect(":")
        op: AllocateEvent = cls.create([], [parser.type()], attributes)
        return op


class Event(
    Op,
    name="proton.event",
    traits=READ | WRITE,
    assembly="(`start` $isStart^):(`end`)? $event attr-dict `:` type($event)",
):
    """The event with the number `event` (i32) begins (`start`) or ends here."""

    event: Operand
    isStart: Flag = False

    def verify_op(self) -> list[str]:
        """An i32."""
        ty = self.operands[0].type
        return [] if ty is i32 else [f"the event must be i32, not {ty}"]
