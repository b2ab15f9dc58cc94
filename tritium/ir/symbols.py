"""Symbols: names that operations of a module give to one another, and the tables that resolve them.

    table = SymbolTable(module)
    table.lookup("f")            the operation whose `sym_name` is f
    table.insert(func)           put it in the module, renamed f_0, f_1, … where f is taken; the name it got
    table.rename(func, "g")      every reference follows
    uses_of(module, "f")         [SymbolUse(call, "callee"), …]

An operation with the trait SYMBOL_TABLE opens a scope. A reference is resolved in the table around the operation that
holds it, and from there outwards. A table inside another hides what it defines itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..support import InternalError
from ..support.dataclasses import dataclass
from .attributes import ArrayAttr, DictionaryAttr, StringAttr, SymbolRefAttr
from .interning import Attribute
from .operation import Operation
from .traits import SYMBOL, SYMBOL_TABLE, TERMINATOR

__all__ = [
    "SymbolTable",
    "SymbolUse",
    "is_private",
    "lookup_symbol",
    "nearest_symbol_table",
    "references",
    "replace_references",
    "symbol_of",
    "uses_of",
]


@dataclass(frozen=True)
class SymbolUse:
    """A reference to a symbol: the operation, and the name of the attribute that holds it."""

    op: Operation
    attribute: str


def symbol_of(op: Operation) -> str | None:
    """The name an operation defines, or None; a symbol table may have one or not."""
    name = op.attributes.get("sym_name") if op.traits & (SYMBOL | SYMBOL_TABLE) else None
    return name.value if isinstance(name, StringAttr) else None


def is_private(op: Operation) -> bool:
    """True when only its own table may refer to a symbol, so that all its uses can be seen."""
    visibility = op.attributes.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.value == "private"


def references(attribute: Attribute) -> Iterator[SymbolRefAttr]:
    """The symbol references in an attribute, in arrays and dictionaries too."""
    if isinstance(attribute, SymbolRefAttr):
        yield attribute
    elif isinstance(attribute, ArrayAttr):
        for element in attribute.elements:
            yield from references(element)
    elif isinstance(attribute, DictionaryAttr):
        for _, entry in attribute.entries:
            yield from references(entry)


def replace_references(attribute: Attribute, change: Callable[[SymbolRefAttr], Attribute]) -> Attribute:
    """The attribute with `change` applied to each reference in it."""
    if isinstance(attribute, SymbolRefAttr):
        return change(attribute)
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr(tuple(replace_references(element, change) for element in attribute.elements))
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr(tuple((name, replace_references(entry, change)) for name, entry in attribute.entries))
    return attribute


def _in_scope(table: Operation, name: str) -> Iterator[Operation]:
    """The operations below `table` whose reference to `name` means the one in `table`: not those where it is hidden."""
    for region in table.regions:
        for block in region.blocks:
            for op in block:
                yield op
                if not op.traits & SYMBOL_TABLE or not any(symbol_of(inner) == name for inner in _members(op)):
                    yield from _in_scope(op, name)


def _members(table: Operation) -> Iterator[Operation]:
    for region in table.regions:
        for block in region.blocks:
            for op in block:
                if op.traits & (SYMBOL | SYMBOL_TABLE):
                    yield op


def uses_of(table: Operation, name: str) -> list[SymbolUse]:
    """All references to the symbol `name` of the table operation `table`."""
    found = []
    for op in _in_scope(table, name):
        for key, attribute in op.attributes.items():
            found += [SymbolUse(op, key) for reference in references(attribute) if reference.name == name]
    return found


def nearest_symbol_table(op: Operation | None) -> Operation | None:
    """The symbol table around `op` (or `op` itself), or None."""
    while op is not None and not op.traits & SYMBOL_TABLE:
        op = op.parent_op
    return op


def lookup_symbol(op: Operation, name: str | Sequence[str]) -> Operation | None:
    """What `name` means at `op`: the tables around it are asked, innermost first.

    A sequence is a path: the first name is looked up so, each other in the table that the one before it is.
    """
    first, *rest = [name] if isinstance(name, str) else name
    table = nearest_symbol_table(op)
    while table is not None:
        found = next((member for member in _members(table) if symbol_of(member) == first), None)
        if found is not None:
            for part in rest:
                if not found.traits & SYMBOL_TABLE:
                    return None
                found = next((member for member in _members(found) if symbol_of(member) == part), None)
                if found is None:
                    return None
            return found
        table = nearest_symbol_table(table.parent_op)
    return None


class SymbolTable:
    """The symbols directly inside one operation; kept right as long as changes go through it."""

    __slots__ = ("op", "symbols")

    def __init__(self, op: Operation) -> None:
        if not op.traits & SYMBOL_TABLE:
            raise InternalError(f"{op.name} holds no symbols")
        self.op = op
        self.symbols: dict[str, Operation] = {}
        for member in _members(op):
            name = symbol_of(member)
            if name is not None:
                if name in self.symbols:
                    raise InternalError(f"the symbol @{name} is defined twice")
                self.symbols[name] = member

    def lookup(self, name: str) -> Operation | None:
        """The operation that defines `name` here."""
        return self.symbols.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.symbols

    def __iter__(self) -> Iterator[Operation]:
        return iter(list(self.symbols.values()))

    def __len__(self) -> int:
        return len(self.symbols)

    def unique(self, name: str) -> str:
        """`name` if it is free, else `name_0`, `name_1`, … the first that is."""
        candidate, n = name, 0
        while candidate in self.symbols:
            candidate, n = f"{name}_{n}", n + 1
        return candidate

    def insert(self, op: Operation, before: Operation | None = None) -> str:
        """Enter `op`, linked at the end (or before `before`) unless it is in the table's block; the name it has now.

        Where its name is taken it gets a new one, and references inside of itself follow.
        """
        name = symbol_of(op)
        if name is None:
            raise InternalError(f"{op.name} defines no symbol")
        if self.symbols.get(name) is op:
            return name
        free = self.unique(name)
        if free != name:
            op.attributes["sym_name"] = StringAttr(free)
            _rename_in([op, *_in_scope(op, name)], name, free)
        self.symbols[free] = op
        if op.parent is None:
            block = self.op.regions[0].blocks[0]
            if before is not None:
                block.insert_before(op, before)
            elif block.last is not None and block.last.traits & TERMINATOR:
                block.insert_before(op, block.last)
            else:
                block.append(op)
        return free

    def remove(self, op: Operation) -> None:
        """Forget `op` and unlink it; it can be entered again, here or elsewhere."""
        self._forget(op)
        op.detach()

    def erase(self, op: Operation) -> None:
        """Forget `op` and erase it; references to it are the caller's matter."""
        self._forget(op)
        op.erase()

    def _forget(self, op: Operation) -> None:
        name = symbol_of(op)
        if name is None or self.symbols.get(name) is not op:
            raise InternalError(f"{op.name} @{name} is not in this table")
        del self.symbols[name]

    def rename(self, op: Operation, name: str) -> None:
        """Give `op` another name, which must be free, and make every reference to it follow."""
        old = symbol_of(op)
        if name == old:
            return
        if name in self.symbols:
            raise InternalError(f"the symbol @{name} exists already")
        users = list(_in_scope(self.op, old)) if old is not None else []
        self._forget(op)
        op.attributes["sym_name"] = StringAttr(name)
        self.symbols[name] = op
        if old is not None:
            _rename_in(users, old, name)

    def uses(self, op: Operation) -> list[SymbolUse]:
        """All references to `op`."""
        name = symbol_of(op)
        return [] if name is None else uses_of(self.op, name)

    def replace_uses(self, op: Operation, other: str) -> int:
        """Make references to `op` refer to `other`; how many attributes changed."""
        name = symbol_of(op)
        return 0 if name is None else _rename_in(list(_in_scope(self.op, name)), name, other)


def _rename_in(ops: Sequence[Operation], old: str, new: str) -> int:
    changed = 0
    for op in ops:
        for key, attribute in op.attributes.items():
            if any(reference.name == old for reference in references(attribute)):
                op.attributes[key] = replace_references(attribute, lambda r: SymbolRefAttr(new) if r.name == old else r)
                changed += 1
    return changed
