"""The attributes of the llvm dialect by which loops carry wishes to LLVM's passes."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..ir import DIALECT_ATTRIBUTES, Attribute, bool_attr

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = ["LICM_OFF", "LoopHints"]

_NESTED = {
    "vectorize": "loop_vectorize",
    "interleave": "loop_interleave",
    "unroll": "loop_unroll",
    "unrollAndJam": "loop_unroll_and_jam",
    "licm": "loop_licm",
    "distribute": "loop_distribute",
    "pipeline": "loop_pipeline",
    "peeled": "loop_peeled",
    "unswitch": "loop_unswitch",
}


class LoopHints(Attribute):
    """`#llvm.loop_annotation<licm = #loop_licm>`, `#llvm.loop_licm<disable = true>`: names with what is wished of each.

    `mnemonic` follows `#llvm.`; `entries` are in the order in which they were given.
    """

    __slots__ = ("entries", "mnemonic")
    mnemonic: str
    entries: tuple[tuple[str, Attribute], ...]

    def __new__(cls, mnemonic: str, entries: Iterable[tuple[str, Attribute]]) -> LoopHints:
        key = (mnemonic, tuple(entries))
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.mnemonic, self.entries = key
        return cls._table.setdefault(key, self)

    @property
    def alias_name(self) -> str:  # type: ignore[override]
        """The mnemonic, as MLIR has it."""
        return self.mnemonic

    def get(self, name: str) -> Attribute | None:
        """What is wished of `name`, if anything."""
        return dict(self.entries).get(name)

    def spell(self, texts: dict[Any, str]) -> str:
        parts = [f"{k} = {texts[v].removeprefix(f'#llvm.{_NESTED.get(k)}')}" for k, v in self.entries]
        return f"#llvm.{self.mnemonic}<{', '.join(parts)}>"


def _parse(mnemonic: str, parser: Parser) -> LoopHints:
    """`<licm = <disable = true>, mustProgress = true>`"""
    entries: dict[str, Attribute] = {}
    parser.expect("<")
    while not parser.accept(">"):
        if entries:
            parser.expect(",")
        at, name = parser.pos, parser.word("a parameter")
        if name in entries:
            raise parser.error(f"the parameter '{name}' is given twice", at)
        parser.expect("=")
        nested = _NESTED.get(name)
        inside = nested is not None and parser.peek("<")
        entries[name] = _parse(nested or "", parser) if inside else parser.attribute()
    return LoopHints(mnemonic, entries.items())


for _mnemonic in ("loop_annotation", *_NESTED.values()):
    DIALECT_ATTRIBUTES[f"llvm.{_mnemonic}"] = functools.partial(_parse, _mnemonic)

_OFF = LoopHints("loop_licm", [("disable", bool_attr(True)), ("versioningDisable", bool_attr(True))])
LICM_OFF = LoopHints("loop_annotation", [("licm", _OFF)])
"""Invariant code stays in the loop."""
