"""From a function with its signature and constants to a module of the tt dialect."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...dialects import builtin, tt
from ...dialects.tt_types import KNOWS_WARPS
from ...ir import UNIT, ArrayAttr, Attribute, Block, DictionaryAttr, IntegerAttr, StringAttr, Type, Value, i1, i32
from ...support import NameLoc
from ..aggregate_types import descriptor_argument_type, tensor_descriptor_type
from ..callee import SourceFunction
from ..dtypes import dtype, str_to_type
from ..errors import CallFrame, CompilationError, LanguageError
from ..semantics.casts import unsupported_fp8
from .names import parameter_of
from .unit import Unit, location_of
from .values import flatten, tl_tuple, wrap

__all__ = ["Arguments", "ast_to_ttir", "kernel_returns"]

Path = tuple[int, ...]


def _check_parameters(fn: SourceFunction) -> None:
    """Raise CompilationError for a parameter with contradicting annotations."""
    for number, p in enumerate(fn.params):
        if p.is_constexpr and not {number, p.name}.isdisjoint(getattr(fn, "do_not_specialize", ())):
            frame = _frame_of_parameter(fn, p.name)
            raise CompilationError(
                f"{p.name} marked as constexpr and listed in do_not_specialize",
                [frame],
                "each value of a constexpr parameter makes its own kernel: remove it from do_not_specialize",
            )


def ast_to_ttir(
    fn: SourceFunction,
    signature: Mapping[str, Any],
    constants: Mapping[Any, Any] | None = None,
    attrs: Mapping[Any, Any] | None = None,
    options: Any = None,
    name: str | None = None,
    unit: Unit | None = None,
) -> builtin.Module:
    """Compile the kernel `fn` to a module with one public function and a private one for each function it calls.

    `signature` maps parameter names to type strings (`"*fp32"`, `"i32"`, `"constexpr"`, a tuple of them for a tuple);
    `constants` maps parameters to their compile-time values, `attrs` to `[[name, value], …]` of argument attributes
    such as `["tt.divisibility", 16]`; both are keyed by name, position or path (`(2,)`, `(3, 0)` inside a tuple).
    `options.debug` and friends are read by the semantics; `name` is the symbol, by default that of the function; `unit`
    is a new unit of another language than Triton's.
    Raises CompilationError with the position in the source.
    """
    _check_parameters(fn)
    unit = unit or Unit(options)
    arguments = Arguments(fn, constants or {}, attrs or {}, options)
    try:
        block = Block()
        env = {
            p.name: _parameter(fn, arguments, p.name, (i,), signature.get(p.name), block)
            for i, p in enumerate(fn.params)
        }
        result = unit.compile_body(fn, env, block)
        if flatten(result):
            raise kernel_returns(fn)
    except CompilationError as e:
        raise e.with_traceback(None) from e.__cause__
    symbol = name or fn.__name__
    func = unit.function(fn, block, [], symbol, "public")
    unit.insert_function(func, 0)
    if any(arguments.attributes):
        func.attributes["arg_attrs"] = ArrayAttr(tuple(map(DictionaryAttr, arguments.attributes)))
    if unit.semantic.knows_warps:
        unit.module.attributes[KNOWS_WARPS] = UNIT
    unit.module.loc = func.loc
    return unit.module


def _parameter(fn: SourceFunction, arguments: Arguments, name: str, path: Path, kind: object, block: Block) -> object:
    """The value of a parameter inside the kernel; an error of its type in the signature is at the parameter."""
    try:
        return arguments.make(name, path, kind, block)
    except LanguageError as e:
        raise CompilationError(e.message, [_frame_of_parameter(fn, name)], e.hint) from None


def _frame_of_parameter(fn: SourceFunction, name: str) -> CallFrame:
    function = fn.parse()
    return CallFrame(fn.__name__, fn.source, parameter_of(function, name) or function)


def kernel_returns(fn: SourceFunction) -> CompilationError:
    """The error of a kernel that returns a value, at the first statement that does."""
    function = fn.parse()
    returns = (node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None)
    place: ast.AST = min(returns, key=lambda node: node.lineno, default=function)
    frame = CallFrame(fn.__name__, fn.source, place)
    return CompilationError("a kernel returns no value", [frame], "store results with tl.store")


class Arguments:
    """Create the arguments of the kernel: block arguments for run-time ones, constants for the others."""

    def __init__(
        self, fn: SourceFunction, constants: Mapping[Any, Any], attrs: Mapping[Any, Any], options: Any
    ) -> None:
        self.fn = fn
        self.constants = {self._path(k): v for k, v in constants.items()}
        self.attrs = {self._path(k): v for k, v in attrs.items()}
        self.attributes: list[dict[str, Attribute]] = []
        self.loc = location_of(fn)
        self.fp8 = getattr(options, "supported_fp8_dtypes", None)
        self.native_descriptors = bool(getattr(options, "native_descriptors", False))

    def _path(self, key: Any) -> Path:
        if isinstance(key, str):
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def make(self, name: str, path: Path, kind: Any, block: Block) -> Any:
        """The value of one parameter (or of one element of a tuple) inside the kernel."""
        if path in self.constants:
            return wrap(self.constants[path])
        if kind is None or kind == "constexpr":
            return self._without_value(name, path)
        if isinstance(kind, (tuple, list)):
            items = [self.make(f"{name}_{i}", (*path, i), k, block) for i, k in enumerate(kind)]
            fields = getattr(kind, "_fields", None)
            return tl_tuple(items, fields=list(fields)) if fields else tl_tuple(items)
        ty = str_to_type(kind)
        own: dict[str, Attribute] = {}
        if isinstance(ty, descriptor_argument_type) and self.native_descriptors:
            if ty.padding == "nan":
                own["tt.padding"] = IntegerAttr(int(tt.PaddingOption.pad_nan), i32)
            if ty.uneven:
                own["tt.uneven_rows"] = UNIT
            ty = ty.native
        self._check_supported(ty, name)
        types: list[Type] = []
        ty._flatten_ir_types(types)
        names = _names(ty, name, len(types))
        handles: list[Value] = [block.add_argument(t, NameLoc(n, self.loc)) for t, n in zip(types, names)]
        for handle, own_name in zip(handles, names):
            handle.hint = own_name
        value, _ = ty._unflatten_ir(handles, 0)
        own.update({n: _attribute(v) for n, v in self.attrs.get(path, ())})
        self.attributes += [own if i == 0 else {} for i in range(len(handles))]
        return value

    def _check_supported(self, ty: Any, name: str) -> None:
        """Refuse 8-bit floats that the target does not support."""
        ty = getattr(ty, "block_type", ty)
        element = getattr(getattr(ty, "scalar", ty), "element_ty", ty)
        if self.fp8 and isinstance(element, dtype) and element.is_fp8() and element.name not in self.fp8:
            frame = _frame_of_parameter(self.fn, name)
            raise CompilationError(f"ValueError: {name} has type {ty}: {unsupported_fp8(element, self.fp8)}", [frame])

    def _without_value(self, name: str, path: Path) -> Any:
        p = self.fn.params[path[0]]
        if len(path) == 1 and p.has_default:
            return wrap(p.default)
        frame = CallFrame(self.fn.__name__, self.fn.source, self.fn.parse())
        raise CompilationError(f"no value or type was given for the parameter {name}", [frame])


def _names(ty: Any, name: str, count: int) -> list[str]:
    """Names of the parts of an argument; those of a descriptor are named after its attributes."""
    if not isinstance(ty, (tensor_descriptor_type, descriptor_argument_type)):
        return [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    rank = (count - 1) // 2  # of the tensor, which an im2col descriptor does not share with its blocks
    return [name, *(f"{name}.{part}.{i}" for part in ("shape", "stride") for i in range(rank))]


def _attribute(value: Any) -> Attribute:
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(value, i1)
    return IntegerAttr(value, i32) if isinstance(value, int) else StringAttr(str(value))
