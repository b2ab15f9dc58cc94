"""The IR through the accessors of Triton's bindings: `op.get_name()`, `op.get_operand(0).id()`, `module.walk(print)`.

Programs written for Triton access a kernel's IR in three places: a stage that they replace is called with the module,
`ASTSource.make_ir` with a context returns it, and `ir.parse_mlir_module` reads it from a file. In all of them it is the
module of this package, `dialects.builtin.Module`, whose class gets the accessors below once this file is imported
(`Module.bindings`). Operations, values, blocks, regions and types are returned as views: two views of one object are
equal and have the same `id()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..analysis.tma import tensordesc_row
from ..dialects import builtin
from ..dialects.tt_types import PointerType, is_descriptor
from ..ir import (
    RETURN_LIKE,
    TERMINATOR,
    ArrayAttr,
    Attribute,
    Block,
    DenseElementsAttr,
    DictionaryAttr,
    FloatType,
    IntegerAttr,
    IntegerType,
    Operation,
    OpResult,
    Region,
    StringAttr,
    Type,
    Value,
    i32,
)
from ..ir.parser import parse_module
from ..ir.passes import functions_of
from ..ir.printer import print_op
from ..ir.verifier import VerificationError, verify
from ..support import Location, TritiumError

__all__ = [
    "BlockView",
    "Context",
    "FunctionView",
    "LocationView",
    "ModuleView",
    "OperationView",
    "RegionView",
    "TypeView",
    "ValueView",
    "module_of",
]


class Context:
    """A substitute for MLIR's context. Types and attributes are interned process-wide, so it is empty."""

    def disable_multithreading(self) -> None:
        """Nothing: passes run in one thread."""

    def printOpOnDiagnostic(self, enable: bool) -> None:
        """Nothing: a diagnostic shows the source line, and the operation where MLIR_ENABLE_DIAGNOSTICS asks for it."""

    def printStackTraceOnDiagnostic(self, enable: bool) -> None:
        """Nothing: MLIR_ENABLE_DIAGNOSTICS=stacktraces asks for it."""


_CONTEXT = Context()


def module_of(module: Any) -> builtin.Module:
    """The module that a caller passed, as it is or by its view; TypeError for anything else."""
    found = module._of if isinstance(module, ModuleView) else module
    if not isinstance(found, builtin.Module):
        raise TypeError(f"a module is expected, not {type(module).__name__}")
    return found


class TypeView(str):
    """The text of a type, which is `of`."""

    __slots__ = ("of",)
    of: Type

    def __new__(cls, of: Type) -> TypeView:
        made = super().__new__(cls, str(of))
        made.of = of
        return made

    def is_integer(self, width: int) -> bool:
        """True for an integer of `width` bits."""
        return isinstance(self.of, IntegerType) and self.of.width == width

    def is_fp16(self) -> bool:
        """True for f16."""
        return isinstance(self.of, FloatType) and str(self.of) == "f16"

    def param_types(self) -> list[TypeView]:
        """The parameters of a function type."""
        return [TypeView(ty) for ty in getattr(self.of, "inputs", ())]


class LocationView:
    """A location; `get_name` is the name of a NameLoc, the empty text of others."""

    def __init__(self, of: Location) -> None:
        self.of = of

    def get_name(self) -> str:
        """The name, if the location has one."""
        return str(getattr(self.of, "name", ""))

    def __str__(self) -> str:
        return f"loc({self.of})"


class _View:
    """A view of an IR object; two views of one object have the same `id()`."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def id(self) -> int:
        """A number that is unique in the module."""
        return id(self._of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _View) and other._of is self._of

    def __hash__(self) -> int:
        return id(self._of)

    def get_context(self) -> Context:
        """The context."""
        return _CONTEXT


class ValueView(_View):
    """A result or an argument."""

    _of: Value

    def get_type(self) -> TypeView:
        """The type."""
        return TypeView(self._of.type)

    def get_shape(self) -> list[int] | None:
        """The shape of a tensor, None for scalars."""
        shape = getattr(self._of.type, "shape", None)
        return None if shape is None else list(shape)

    def get_loc(self) -> LocationView:
        """The location of the operation, or of the block argument."""
        return LocationView(self._of.owner.loc if isinstance(self._of, OpResult) else self._of.loc)  # type: ignore[attr-defined]

    def set_attr(self, name: str, attribute: Attribute) -> None:
        """Set an attribute of the operation that defines the value, or of the function whose argument it is."""
        if isinstance(self._of, OpResult):
            self._of.owner.attributes[name] = attribute
            return
        function = self._of.block.parent_op if self._of.block is not None else None
        if function is None or function.name != "tt.func":
            raise TritiumError("only arguments of functions and results of operations have attributes")
        _set_argument_attribute(function, self._of.index, name, attribute)  # type: ignore[attr-defined]

    def replace_all_uses_with(self, other: ValueView) -> None:
        """Make every user of this value use `other`."""
        self._of.replace_all_uses_with(other._of)

    def __str__(self) -> str:
        if isinstance(self._of, OpResult):
            return print_op(self._of.owner)
        return f"<block argument> of type '{self._of.type}' at index: {self._of.index}"  # type: ignore[attr-defined]


class RegionView(_View):
    """A list of blocks."""

    _of: Region

    def size(self) -> int:
        """The number of blocks."""
        return len(self._of.blocks)

    def empty(self) -> bool:
        """True without blocks."""
        return self._of.empty

    def get_block(self, index: int) -> BlockView:
        """Block number `index`."""
        return BlockView(self._of.blocks[index])

    def get_parent_region(self) -> RegionView | None:
        """The region around the operation that this one belongs to."""
        block = None if self._of.parent is None else self._of.parent.parent
        return None if block is None or block.parent is None else RegionView(block.parent)


class BlockView(_View):
    """A block: its arguments and the region around it."""

    _of: Block

    def get_num_arguments(self) -> int:
        """The number of arguments."""
        return len(self._of.args)

    def get_argument(self, index: int) -> ValueView:
        """Argument number `index`."""
        return ValueView(self._of.args[index])

    arg = get_argument

    def get_parent(self) -> RegionView | None:
        """The region the block is in."""
        return None if self._of.parent is None else RegionView(self._of.parent)

    def has_terminator(self) -> bool:
        """True when the last operation is a terminator."""
        return self._of.last is not None and bool(self._of.last.traits & TERMINATOR)

    def has_return(self) -> bool:
        """True when the last operation returns values to the enclosing operation."""
        return self._of.last is not None and bool(self._of.last.traits & RETURN_LIKE)

    def dump(self) -> None:
        """Print the operations to stderr."""
        for op in self._of:
            print(print_op(op), file=sys.stderr)


class OperationView(_View):
    """An operation. Missing attributes, and those of another kind, are None."""

    _of: Operation

    def get_name(self) -> str:
        """`tt.store`."""
        return self._of.name

    def get_operation(self) -> OperationView:
        """The operation without the accessors of its class."""
        return OperationView(self._of)

    def get_num_operands(self) -> int:
        """The number of operands."""
        return len(self._of.operands)

    def get_operand(self, index: int) -> ValueView:
        """Operand number `index`."""
        return ValueView(self._of.operands[index])

    def append_operand(self, value: ValueView) -> None:
        """Add an operand at the end."""
        self._of.set_operands([*self._of.operands, value._of])

    def get_num_results(self) -> int:
        """The number of results."""
        return len(self._of.results)

    def get_result(self, index: int) -> ValueView:
        """Result number `index`."""
        return ValueView(self._of.results[index])

    def get_num_regions(self) -> int:
        """The number of regions."""
        return len(self._of.regions)

    def get_region(self, index: int) -> RegionView:
        """Region number `index`."""
        return RegionView(self._of.regions[index])

    def get_body(self, index: int) -> BlockView:
        """The first block of region number `index`."""
        return BlockView(self._of.regions[index].entry)

    def get_block(self) -> BlockView | None:
        """The block the operation is in."""
        return None if self._of.parent is None else BlockView(self._of.parent)

    def get_loc(self) -> LocationView:
        """The location."""
        return LocationView(self._of.loc)

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
        """An integer."""
        found = getattr(self._of.attributes.get(name), "value", None)
        return found if isinstance(found, int) else None

    def get_constant_value(self) -> int | None:
        """The value of an integer constant, also of a tensor all of whose elements are equal."""
        if self._of.name != "arith.constant":
            return None
        found = self._of.attributes.get("value")
        if isinstance(found, DenseElementsAttr):
            found = found.splat if found.is_splat else None
        return found.value if isinstance(found, IntegerAttr) else None

    def set_attr(self, name: str, attribute: Attribute) -> None:
        """Set an attribute."""
        if not isinstance(attribute, Attribute):
            raise TypeError(f"an attribute of tritium.ir is expected for {name!r}, not {type(attribute).__name__}")
        self._of.attributes[name] = attribute

    def verify(self) -> bool:
        """True when the operation and what is nested in it are well-formed."""
        try:
            verify(self._of)
        except VerificationError:
            return False
        return True

    def str_nodebug(self) -> str:
        """The text without locations."""
        return print_op(self._of)

    def dump(self) -> None:
        """Print the text with locations to stderr."""
        print(self.str(), file=sys.stderr)

    def __str__(self) -> str:
        return str(self._of)

    def str(self) -> str:
        """The text with the location of every operation."""
        return print_op(self._of, locations=True)


def _set_argument_attribute(function: Operation, index: int, name: str, attribute: Attribute) -> None:
    count = len(function.regions[0].entry.args)
    there = function.attributes.get("arg_attrs")
    rows: list[Any] = list(there.elements) if isinstance(there, ArrayAttr) else [DictionaryAttr({})] * count
    rows[index] = DictionaryAttr({**dict(rows[index].entries), name: attribute})
    function.attributes["arg_attrs"] = ArrayAttr(tuple(rows))


class FunctionView(OperationView):
    """A function."""

    def args(self, index: int) -> ValueView:
        """Argument number `index` of the entry block."""
        return ValueView(self._of.regions[0].entry.args[index])

    def get_num_args(self) -> int:
        """The number of arguments."""
        return len(self._of.regions[0].entry.args)

    def set_arg_attr(self, index: int, name: str, value: int) -> None:
        """Set an integer attribute of an argument, such as `tt.divisibility`."""
        _set_argument_attribute(self._of, index, name, IntegerAttr(value, i32))

    @property
    def type(self) -> TypeView:
        """The function type."""
        return TypeView(self._of.attributes["function_type"].type)  # type: ignore[attr-defined]


class ModuleView(OperationView):
    """The accessors of Triton's module, which `builtin.Module` provides."""

    _of: builtin.Module

    @property
    def context(self) -> Context:
        """The context."""
        return _CONTEXT

    def walk(self, function: Callable[[OperationView], Any]) -> None:
        """Call `function` with every operation, nested ones first, the kernel before the functions that it calls."""
        body = self._of.regions[0].blocks[0]
        public = sorted(body, key=lambda op: "private" in str(op.attributes.get("sym_visibility", "")))
        for op in public:
            for nested in op.walk_post():
                function(OperationView(nested))
        function(self)

    def _find(self, name: str) -> Operation | None:
        wanted = StringAttr(name)
        return next((op for op in self._of.body if op.attributes.get("sym_name") is wanted), None)

    def has_function(self, name: str) -> bool:
        """True when the module has a function of that name."""
        return self._find(name) is not None

    def get_function(self, name: str) -> FunctionView:
        """The function of that name; TritiumError naming the existing ones."""
        found = self._find(name)
        if found is None:
            names = ", ".join(f.attributes["sym_name"].value for f in functions_of(self._of))  # type: ignore[attr-defined]
            raise TritiumError(f"the module has no function {name!r}; it has: {names or 'none'}")
        return FunctionView(found)

    def get_entry_func_name(self) -> str:
        """The name of the kernel: the first public function."""
        for op in self._of.body:
            if op.name == "tt.func" and "private" not in str(op.attributes.get("sym_visibility", "")):
                return op.attributes["sym_name"].value  # type: ignore[attr-defined,no-any-return]
        return ""

    def get_function_signature(self, function: FunctionView) -> list[str]:
        """The argument types of a function: `*f32` for a pointer to f32, `nvTmaDesc` for one to a descriptor."""
        types = [arg.type for arg in function._of.regions[0].entry.args]
        there = function._of.attributes.get("arg_attrs")
        rows: Any = there.elements if isinstance(there, ArrayAttr) else [DictionaryAttr({})] * len(types)
        return [
            "nvTmaDesc"
            if row.get("tt.nv_tma_desc") is not None
            else f"*{ty.pointee}"
            if isinstance(ty, PointerType)
            else str(ty)
            for ty, row in zip(types, rows)
        ]

    def get_tensordesc_metadata(self) -> list[dict[str, Any]]:
        """The metadata for encoding each tensor descriptor among the kernel's arguments on the host."""
        kernel = self._find(self.get_entry_func_name())
        args = [] if kernel is None else kernel.regions[0].entry.args
        return [tensordesc_row(arg.type) for arg in args if is_descriptor(arg.type)]

    def push_back(self, function: FunctionView) -> None:
        """Append a function."""
        self._of.body.append(function._of)

    def create_location_snapshot(self, path: str) -> None:
        """Write the text to a file and locate every operation in it."""
        text = print_op(self._of) + "\n"
        Path(path).write_text(text, encoding="utf-8")
        read = parse_module(text, path, text_locations=True)
        for op, located in zip(self._of.walk(), read.walk(), strict=True):
            op.loc = located.loc


builtin.Module.bindings = ModuleView  # type: ignore[assignment]
