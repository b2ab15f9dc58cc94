"""symbol-dce: Remove private functions that no live function refers to.

Live functions are the public ones, and those that a live function refers to in an attribute, such as a call.
"""

from __future__ import annotations

from ..ir import SYMBOL, ArrayAttr, Attribute, Operation, SymbolRefAttr, count, may_change, pass_on

__all__ = ["symbol_dce"]


@pass_on("module")
def symbol_dce(module: Operation) -> bool:
    """Remove the dead functions of a module."""
    symbols = {op.attributes["sym_name"].value: op for b in module.regions[0].blocks for op in b if op.traits & SYMBOL}
    work = [op for op in symbols.values() if not _is_private(op)]
    live = set(work)
    while work:
        for op in work.pop().walk():
            for attribute in op.attributes.values():
                for name in _references(attribute):
                    target = symbols.get(name)
                    if target is not None and target not in live:
                        live.add(target)
                        work.append(target)
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
