"""IR as MLIR text: the pretty form of each operation, or the generic one.

    print_op(module)                  tt.func public @add(%x: !tt.ptr<f32>) …
    print_op(module, generic=True)    "tt.func"() <{sym_name = "add", …}> ({ … }) : () -> ()
    print_op(module, locations=True)  … loc(#loc1), and the table of locations around it

Operations whose syntax no declarative format can say define `print_assembly(self, printer)`, which writes all after
the results through the methods of `Printer`. Operations with neither print in generic form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..support.recursion import with_deep_recursion
from .aliases import Aliases, plain_texts
from .assembly import SIZES, compile_printer, default_attributes
from .attributes import UNIT, key, quote
from .interning import Attribute
from .naming import Naming, naming_root
from .operation import Block, Operation, Region, Value
from .resources import Resources, resources_text
from .types import FunctionType

__all__ = ["Printer", "print_op"]

_printers: dict[type, Callable[[Any, Any], str]] = {}


def _by_hook(op: Any, printer: Printer) -> str:
    op.print_assembly(printer)
    return ""


def _generic(op: Operation, printer: Printer) -> str:
    printer.generic_operation(op)
    return ""


def _printer_of(cls: Any) -> Callable[[Any, Any], str]:
    if hasattr(cls, "print_assembly"):
        made: Callable[[Any, Any], str] = _by_hook
    elif getattr(cls, "assembly", None):
        made = compile_printer(cls)
    else:
        made = _generic
    _printers[cls] = made
    return made


_defaults: dict[type, dict[str, Attribute]] = {}


def _defaults_of(cls: Any) -> dict[str, Attribute]:
    """The generic form shows what is left out elsewhere, so that its readers need not know it."""
    found = _defaults.get(cls)
    if found is None:
        found = _defaults[cls] = default_attributes(cls)
    return found


class Printer:
    """Writes operations; what hooks use: `write`, `names`, `types`, `blocks`, `attr_dict`, `region`, `arguments`.

    `types[x]` is the text of a type or an attribute x, or the alias that stands for it. The aliases are numbered by
    first use, so hooks ask for texts in the order in which they write them.
    """

    __slots__ = ("aliases", "blocks", "generic", "indent", "locations", "names", "out", "places", "regions", "types")

    def __init__(
        self,
        naming: Naming,
        generic: bool = False,
        locations: bool = False,
        regions: bool = True,
        aliases: Aliases | None = None,
    ) -> None:
        self.names = naming.names
        self.blocks = naming.blocks
        self.aliases = aliases
        self.types: dict[Any, str] = plain_texts if aliases is None else aliases.above
        self.places: dict[Any, str] = plain_texts if aliases is None else aliases.below
        self.generic = generic
        self.locations = locations
        self.regions = regions
        self.out: list[str] = []
        self.indent = "\n"

    # -- what hooks write with ------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Append `text`."""
        self.out.append(text)

    def values(self, values: Iterable[Value]) -> str:
        """`%a, %b`"""
        names = self.names
        return ", ".join([names[v] for v in values])

    def types_of(self, values: Iterable[Value]) -> str:
        """`i32, f32`"""
        types = self.types
        return ", ".join([types[v.type] for v in values])

    def functional_type(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> str:
        """`(i32) -> f32`: the types of values in and out."""
        results = self.types_of(outputs)
        if len(outputs) != 1 or isinstance(outputs[0].type, FunctionType):
            results = f"({results})"
        return f"({self.types_of(inputs)}) -> {results}"

    def attr_dict(
        self,
        attributes: dict[str, Attribute],
        elided: Iterable[str] = (),
        defaults: dict[str, Attribute] | None = None,
        keyword: str = "",
    ) -> str:
        """` {a = 1 : i32, b}` without the elided names and without what equals its default; "" when none is left."""
        if defaults:
            items = [(k, v) for k, v in attributes.items() if k not in elided and defaults.get(k) is not v]
        else:
            items = [(k, v) for k, v in attributes.items() if k not in elided]
        if not items:
            return ""
        return f" {keyword}{{{self.entries(items)}}}"

    def entries(self, items: list[tuple[str, Attribute]]) -> str:
        """`a = 1 : i32, b`, sorted by name."""
        out = []
        texts = self.types
        for name, attr in sorted(items):
            out.append(key(name) if attr is UNIT else f"{key(name)} = {texts[attr]}")
        return ", ".join(out)

    def attribute(self, attr: Attribute) -> str:
        """The text of an attribute, or its alias."""
        return self.types[attr]

    def body(self, value: Any) -> str:
        """The text of a type, attribute or location in place of its alias."""
        return self.types[value] if self.aliases is None else self.aliases.body(value)

    def region(
        self, region: Region, *, entry_label: bool = True, terminators: bool = True, label_empty: bool = False
    ) -> None:
        """`{ … }`: without `entry_label` the first block's arguments are not shown, without `terminators` no yields.

        `label_empty` shows the label of an empty block, which else reads as no block at all.
        """
        if not self.regions:
            self.out.append("{...}")
            return
        out = self.out
        out.append("{")
        outer = self.indent
        for i, block in enumerate(region.blocks):
            if i or (entry_label and block.args) or (label_empty and block.first is None):
                out.append(f"{outer}{self.block_label(block, region)}")
            self.indent = outer + "  "
            self.operations(block, terminators)
            self.indent = outer
        out.append(outer + "}")

    def block_label(self, block: Block, region: Region) -> str:
        """`^bb1(%a: i32):  // pred: ^bb0`"""
        text = self.blocks[block]
        if block.args:
            text += f"({self.arguments(block.args)})"
        text += ":"
        if block is region.blocks[0]:
            return text
        preds = [b for b in region.blocks if b.last is not None for s in b.last.successors if s is block]
        if not preds:
            return text + "  // no predecessors"
        names = ", ".join(self.blocks[b] for b in preds)
        return text + (f"  // pred: {names}" if len(preds) == 1 else f"  // {len(preds)} preds: {names}")

    def arguments(self, args: Iterable[Any], attributes: Sequence[Any] = ()) -> str:
        """`%a: i32, %b: f32 {k = 1 : i32}`, with locations where they are asked for."""
        parts = []
        for i, arg in enumerate(args):
            text = f"{self.names[arg]}: {self.types[arg.type]}"
            if i < len(attributes) and attributes[i].entries:
                text += " " + self.types[attributes[i]]
            if self.locations:
                text += f" loc({self.body(arg.loc)})"
            parts.append(text)
        return ", ".join(parts)

    # -- operations -----------------------------------------------------------------------------------------------

    def operations(self, block: Block, terminators: bool = True) -> None:
        """All operations of a block, each on its own line."""
        op = block.first
        while op is not None:
            if op.next is not None or terminators or not _silent_terminator(op):
                self.out.append(self.indent)
                self.operation(op)
            op = op.next

    def operation(self, op: Operation) -> None:
        """Results, operation, location."""
        results = op.results
        out = self.out
        place = self.places[op.loc] if self.locations else ""
        if results:
            out.append(f"{self.names[results[0]]} = " if len(results) == 1 else self.groups(results))
        if self.generic:
            self.generic_operation(op)
        else:
            length = len(out)
            cls = op.__class__
            try:
                out.append((_printers.get(cls) or _printer_of(cls))(op, self))
            except (KeyError, IndexError, AttributeError, TypeError, ValueError):
                # An operation that breaks its definition still has to be shown in the error about it.
                del out[length:]
                self.generic_operation(op)
        if place:
            out.append(f" loc({place})")

    def groups(self, results: Sequence[Value]) -> str:
        """`%a:2, %b = `: one name for each group of results."""
        sizes: dict[str, int] = {}
        for result in results:
            name = self.names[result].partition("#")[0]
            sizes[name] = sizes.get(name, 0) + 1
        return ", ".join([name if n == 1 else f"{name}:{n}" for name, n in sizes.items()]) + " = "

    def generic_operation(self, op: Operation) -> None:
        """`"name"(operands)[successors] <{properties}> ({ regions }) {attributes} : (types) -> types`"""
        out = self.out
        out.append(f"{quote(op.name)}({self.values(op.operands)})")
        if op.successors:
            out.append(f"[{', '.join(self.blocks.get(b, '^<<UNKNOWN BLOCK>>') for b in op.successors)}]")
        at = len(out)
        out.append("")
        if op.regions:
            for i, region in enumerate(op.regions):
                out.append(", " if i else " (")
                self.region(region, label_empty=True)
            out.append(")")
        # Types before attributes, though they stand after them: so MLIR counts aliases.
        types = f" : {self.functional_type(op.operands, op.results)}"
        fields = getattr(op, "attribute_fields", None)
        own: list[tuple[str, Attribute]] = []
        if fields is not None:
            own = [(k, v) for k, v in op.attributes.items() if k in fields or k in SIZES]
            absent = [(k, v) for k, v in _defaults_of(op.__class__).items() if k not in op.attributes]
            if own or absent:
                out[at] = f" <{{{self.entries(own + absent)}}}>"
        if len(own) < len(op.attributes):
            out.append(self.attr_dict(op.attributes, [k for k, _ in own]))
        out.append(types)


def _silent_terminator(op: Operation) -> bool:
    """A terminator that says nothing and can be left out where the syntax implies it."""
    return not op.operands and not op.attributes and not op.successors


@with_deep_recursion("the printer")
def print_op(
    op: Operation,
    *,
    generic: bool = False,
    locations: bool = False,
    regions: bool = True,
    aliases: bool | None = None,
    resources: Resources | None = None,
) -> str:
    """`op` as MLIR text; values are named as in the function around it.

    `generic`: the form that needs to know no dialect. `locations`: source positions at every operation and block
    argument. `regions=False` shows `{...}` for the bodies. `aliases`: long attributes and locations are defined once
    and named where they are used; if not given, so in a module but not in a part of one, which is read by itself.
    `resources` are written below, as `{-# … #-}`.
    """
    used = Aliases() if aliases or (aliases is None and op.parent is None) else None
    printer = Printer(Naming(naming_root(op)), generic, locations, regions, used)
    printer.operation(op)
    text = "".join(printer.out)
    if used is not None:
        text = used.finish(text)
    return f"{text}\n\n{resources_text(resources)}" if resources else text


Operation.to_text = staticmethod(print_op)  # type: ignore[assignment]
