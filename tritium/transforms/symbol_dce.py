"""symbol-dce: Remove private functions that no live function refers to.

Live functions are the public ones, and those that a live function refers to in an attribute, such as a call.
"""

from __future__ import annotations

from ..analysis.dataflow import reachable
from ..ir import SYMBOL, ArrayAttr, Attribute, Operation, SymbolRefAttr, count, may_change, pass_on

__all__ = ["symbol_dce"]


@pass_on("module")
def symbol_dce(module: Operation) -> bool:
    """Remove the dead functions of a module."""
    symbols = {op.attributes["sym_name"].value: op for b in module.regions[0].blocks for op in b if op.traits & SYMBOL}

    def referenced(symbol: Operation) -> list[Operation]:
        attributes = [attribute for op in symbol.walk() for attribute in op.attributes.values()]
        return [symbols[name] for attribute in attributes for name in _references(attribute) if name in symbols]

    live = reachable([op for op in symbols.values() if not _is_private(op)], referenced)
    dead = [op for op in symbols.values() if op not in live and may_change("remove", op)]
    for op in dead:
        op.erase()
    count("functions removed", len(dead))
    return bool(dead)


def _is_private(op: Operation) -> bool:
    visibility = op.attributes.get("sym_visibility")
    return visibility is not None and visibility.value == "private"  # type: ignore[attr-defined]


def _references(attribute: Attribute) -> list[str]:
    if isinstance(attribute, SymbolRefAttr):
        return [attribute.name]
    if isinstance(attribute, ArrayAttr):
        return [name for element in attribute.elements for name in _references(element)]
    return []
