"""`ir.builder`: types, attributes, constants, functions, and the operations of `OPERATIONS`.

Kernels are built by the frontend with `tritium.ir.Builder`; this class serves programs that make a type, an attribute
or a few scalar operations through Triton's bindings. Other `create_` methods are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiler.module_views import BlockView, Context, FunctionView, LocationView, TypeView, ValueView
from ...dialects import arith, builtin, tt
from ...dropin.refusal import UnsupportedBinding
from ...frontend.visitor.builder_bindings import OPERATIONS
from ...ir import (
    FLOATS,
    UNIT,
    Attribute,
    Block,
    Builder,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    Type,
    Value,
    bool_attr,
)
from ...support import FileLineColLoc, NameLoc

__all__ = ["builder"]

_INTEGERS = {f"int{width}": width for width in (1, 8, 16, 32, 64)} | {
    f"uint{width}": width for width in (8, 16, 32, 64)
}

_FLOAT_TYPES = {
    "half": "f16",
    "bf16": "bf16",
    "float": "f32",
    "double": "f64",
    "fp8e4nv": "f8E4M3FN",
    "fp8e5": "f8E5M2",
    "fp8e4b8": "f8E4M3FNUZ",
    "fp8e5b16": "f8E5M2FNUZ",
    "fp8e4b15": "f8E4M3B11FNUZ",
}

_FLOAT_CONSTANTS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64"}


def _type(ty: Any) -> Type:
    return ty.of if isinstance(ty, TypeView) else ty


def _handle(value: Any) -> Value:
    return value._of if isinstance(value, ValueView) else value


class builder:
    """Makes types and attributes, and operations at an insertion point."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._builder = Builder()

    def __getattr__(self, name: str) -> Any:
        stem = name.removeprefix("create_")
        if name.startswith("create_") and stem in OPERATIONS:
            make = OPERATIONS[stem]
            return lambda *operands: self._value(make(*map(_handle, operands)))
        if name.startswith("get_"):
            found = self._getter(name[4:])
            if found is not None:
                return found
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedBinding(f"ir.builder.{name}", "make operations with tritium.ir.Builder and tritium.dialects")

    def _getter(self, stem: str) -> Callable[..., Any] | None:
        ty = stem.removesuffix("_ty")
        if ty in _INTEGERS or ty == "int128":
            width = _INTEGERS.get(ty, 128)
            if stem.endswith("_ty"):
                return lambda: TypeView(IntegerType(width))
            return lambda value: self._constant(IntegerAttr(_wrapped(value, width), IntegerType(width)))
        if stem.endswith("_ty") and ty in _FLOAT_TYPES:
            return lambda: TypeView(FLOATS[_FLOAT_TYPES[ty]])
        if stem in _FLOAT_CONSTANTS:
            return lambda value: self._constant(FloatAttr(value, FLOATS[_FLOAT_CONSTANTS[stem]]))
        return None

    def _value(self, op: Any) -> Any:
        self._builder.insert(op)
        return ValueView(op.results[0]) if op.results else None

    def _constant(self, attribute: Attribute) -> Any:
        return self._value(arith.Constant(attribute))

    def get_context(self) -> Context:
        """The context."""
        return self.context

    # -- types and attributes ------------------------------------------------------------------------------------

    def get_ptr_ty(self, pointee: Any, address_space: int = 1) -> TypeView:
        """A pointer."""
        return TypeView(tt.PointerType(_type(pointee), address_space))

    def get_block_ty(self, element: Any, shape: Any) -> TypeView:
        """A tensor."""
        return TypeView(TensorType(tuple(shape), _type(element)))

    def get_function_ty(self, inputs: Any, results: Any) -> TypeView:
        """A function type."""
        return TypeView(FunctionType(tuple(map(_type, inputs)), tuple(map(_type, results))))

    def get_int32_attr(self, value: int) -> Attribute:
        """An i32 attribute."""
        return IntegerAttr(value, IntegerType(32))

    def get_bool_attr(self, value: bool) -> Attribute:
        """An i1 attribute."""
        return bool_attr(value)

    def get_string_attr(self, value: str) -> Attribute:
        """A string attribute."""
        return StringAttr(value)

    def get_unit_attr(self) -> Attribute:
        """The unit attribute."""
        return UNIT

    def get_null_value(self, ty: Any) -> Any:
        """The constant 0 of a type."""
        return self._value(arith.Constant.of(0, _type(ty)))

    def get_all_ones_value(self, ty: Any) -> Any:
        """The integer constant with all bits set."""
        return self._value(arith.Constant.of(-1, _type(ty)))

    # -- modules, functions, insertion points --------------------------------------------------------------------

    def create_module(self) -> builtin.Module:
        """An empty module."""
        return builtin.Module.empty()

    def get_or_insert_function(
        self, module: builtin.Module, name: str, ty: Any, visibility: str, noinline: bool
    ) -> FunctionView:
        """The function `name` of a module, added with an entry block where there is none."""
        if not module.has_function(name):
            module.body.append(tt.Func.build(name, _type(ty), visibility, noinline))  # type: ignore[arg-type]
        return module.get_function(name)

    def set_insertion_point_to_start(self, block: BlockView) -> None:
        """Insert at the front of a block."""
        self._builder.at_start(block._of)

    def set_insertion_point_to_end(self, block: BlockView) -> None:
        """Insert at the end of a block."""
        self._builder.at_end(block._of)

    def set_insertion_point_after(self, op: Any) -> None:
        """Insert after an operation."""
        self._builder.after(op._of)

    def get_insertion_block(self) -> BlockView | None:
        """The block that operations are inserted into."""
        return None if self._builder.block is None else BlockView(self._builder.block)

    def get_insertion_point(self) -> Any:
        """The insertion point, for `restore_insertion_point`."""
        return self._builder.block, self._builder.before

    def restore_insertion_point(self, point: Any) -> None:
        """Insert at `point` again."""
        self._builder.block, self._builder.before = point

    def create_block(self) -> BlockView:
        """A block that is in no region yet."""
        return BlockView(Block())

    def create_loc(self, file: str, line: int, column: int) -> LocationView:
        """A position in a file."""
        return LocationView(FileLineColLoc(file, line, column))

    def create_name_loc(self, name: str, loc: LocationView) -> LocationView:
        """A named location."""
        return LocationView(NameLoc(name, loc.of))

    def set_loc(self, loc: Any, line: int = 0, column: int = 0) -> None:
        """The location of operations from now on: a location, or a file with line and column."""
        self._builder.loc = FileLineColLoc(loc, line, column) if isinstance(loc, str) else loc.of

    def get_loc(self) -> LocationView:
        """The location of new operations."""
        return LocationView(self._builder.loc)

    def ret(self, values: Any = ()) -> Any:
        """Return from a function."""
        return self._value(tt.Return([_handle(v) for v in values]))

    def create_get_program_id(self, axis: int) -> Any:
        """The position of the program along an axis."""
        return self._value(tt.GetProgramId(axis))

    def create_splat(self, ty: Any, value: Any) -> Any:
        """A scalar in every element of a tensor type."""
        return self._value(tt.Splat(_handle(value), result=_type(ty)))


def _wrapped(value: int, width: int) -> int:
    """`value` as MLIR stores it: signed, but for i1."""
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value
