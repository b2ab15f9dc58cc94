"""A module of kernels as Triton's compiled library shows it; `torch.compile` walks it to see what a kernel writes.

`context()` stands for MLIR's, `load_dialects` has nothing to load. `ASTSource.make_ir` given such a context returns a
`ModuleView`. Numbers (`id()`) tell values, blocks and regions apart for as long as the module lives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import Block, Operation, Region, StringAttr, Value, VerificationError, verify

__all__ = ["BlockView", "ModuleView", "OperationView", "RegionView", "ValueView", "context", "load_dialects"]


class context:
    """What a caller makes before it asks for a module."""

    def disable_multithreading(self) -> None:
        """Nothing runs in several threads here."""

    def view(self, module: Operation) -> ModuleView:
        """`module` as Triton's library would hand it out."""
        return ModuleView(module, self)


def load_dialects(context: Any) -> None:
    """Dialects are imported where text or a compile names them."""


class _View:
    """Something of the IR; two views of one thing have one `id()`."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def id(self) -> int:
        """A number that nothing else in the module has."""
        return id(self._of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _View) and other._of is self._of

    def __hash__(self) -> int:
        return id(self._of)


class ValueView(_View):
    """A result or an argument."""

    _of: Value

    def get_type(self) -> str:
        """The type's text."""
        return str(self._of.type)


class RegionView(_View):
    """A list of blocks."""

    _of: Region

    def size(self) -> int:
        """How many blocks."""
        return len(self._of.blocks)

    def get_block(self, index: int) -> BlockView:
        """Block number `index`."""
        return BlockView(self._of.blocks[index])


class BlockView(_View):
    """A block: its arguments and the region around it."""

    _of: Block

    def get_num_arguments(self) -> int:
        """How many arguments."""
        return len(self._of.args)

    def get_argument(self, index: int) -> ValueView:
        """Argument number `index`."""
        return ValueView(self._of.args[index])

    def get_parent(self) -> RegionView | None:
        """The region the block is in."""
        return None if self._of.parent is None else RegionView(self._of.parent)


class OperationView(_View):
    """An operation by Triton's accessors. Attributes that are not there, or of another kind, are None."""

    _of: Operation

    def get_name(self) -> str:
        """`tt.store`."""
        return self._of.name

    def get_num_operands(self) -> int:
        """How many operands."""
        return len(self._of.operands)

    def get_operand(self, index: int) -> ValueView:
        """Operand number `index`."""
        return ValueView(self._of.operands[index])

    def get_num_results(self) -> int:
        """How many results."""
        return len(self._of.results)

    def get_result(self, index: int) -> ValueView:
        """Result number `index`."""
        return ValueView(self._of.results[index])

    def get_num_regions(self) -> int:
        """How many regions."""
        return len(self._of.regions)

    def get_region(self, index: int) -> RegionView:
        """Region number `index`."""
        return RegionView(self._of.regions[index])

    def get_block(self) -> BlockView | None:
        """The block the operation is in."""
        return None if self._of.parent is None else BlockView(self._of.parent)

    def get_str_attr(self, name: str) -> str | None:
        """The text of a string attribute."""
        found = self._of.attributes.get(name)
        return found.value if isinstance(found, StringAttr) else None

    def get_flat_symbol_ref_attr(self, name: str) -> str | None:
        """The name that an attribute refers to, without the @."""
        found = self._of.attributes.get(name)
        return None if found is None else str(found).removeprefix("@").strip('"')

    def get_bool_attr(self, name: str) -> bool | None:
        """A truth value."""
        found = self._of.attributes.get(name)
        return None if found is None else str(found) == "true"

    def get_int_attr(self, name: str) -> int | None:
        """A whole number."""
        found = getattr(self._of.attributes.get(name), "value", None)
        return found if isinstance(found, int) else None

    def __str__(self) -> str:
        return str(self._of)


class ModuleView(OperationView):
    """A module; `context` lives as long."""

    def __init__(self, of: Operation, context: Any) -> None:
        super().__init__(of)
        self.context = context

    def walk(self, function: Callable[[OperationView], Any]) -> None:
        """Call `function` with every operation, nested ones first, the kernel before the functions that it calls."""
        body = self._of.regions[0].blocks[0]
        public = sorted(body, key=lambda op: "private" in str(op.attributes.get("sym_visibility", "")))
        for op in public:
            for nested in op.walk_post():
                function(OperationView(nested))
        function(self)

    def verify(self) -> bool:
        """Is the module well-formed?"""
        try:
            verify(self._of)
        except VerificationError:
            return False
        return True
