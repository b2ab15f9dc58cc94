"""`triton.compiler.code_generator`: from a function to its module, and how values of the language become IR values.

The visitor of syntax trees is `frontend.visitor`, which differs from Triton's: `CodeGenerator` and its helpers are
refused by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..compiler import module_views
from ..dialects.builtin import Module
from ..frontend.callee import SourceFunction
from ..frontend.errors import CompilationError
from ..frontend.visitor import ast_to_ttir as _ast_to_ttir
from ..frontend.visitor.values import flatten
from ..ir import Value
from .refusal import UnsupportedBinding, refused_attributes

__all__ = [
    "ContainsReturnChecker",
    "ast_to_ttir",
    "base_type",
    "base_value",
    "check_identifier_legality",
    "flatten_values_to_ir",
    "mangle_fn",
    "unflatten_ir_values",
]


def ast_to_ttir(
    fn: SourceFunction,
    src: Any,
    context: Any,
    options: Any,
    codegen_fns: Any = None,
    module_map: Any = None,
    module: Any = None,
) -> Module:
    """The module of a kernel for the signature, constants and attributes of `src`, an ASTSource.

    `codegen_fns` and `module_map` are those of the backend; the target's functions are found by `options`.
    CompilationError with the position in the source; UnsupportedBinding for a `module` to add the kernel to.
    """
    if module is not None:
        raise UnsupportedBinding("ast_to_ttir with a module", "every kernel has a module of its own")
    made = _ast_to_ttir(fn, src.signature, src.constants, src.attrs, options, getattr(src, "name", None))
    made.context = context if context is not None else module_views.Context()
    return made


_UNSPOKEN = re.compile(r"[^ -~]|[\[\]]")  # characters that symbols do not contain


class _HasHandles(type):
    """`isinstance` checks for the methods that convert values to IR values."""

    def __instancecheck__(cls, value: object) -> bool:
        return hasattr(type(value), "_flatten_ir")


class _MakesValues(type):
    """`isinstance` checks for the method that makes a value from IR values."""

    def __instancecheck__(cls, value: object) -> bool:
        return hasattr(type(value), "_unflatten_ir") or hasattr(type(value), "mangle")


class base_value(metaclass=_HasHandles):
    """The base of values of the language: `isinstance(x, base_value)` for tensors, tuples, constexprs, …"""

    def __init_subclass__(cls) -> None:
        raise UnsupportedBinding("a subclass of base_value", "tl.aggregate makes types of values")


class base_type(metaclass=_MakesValues):
    """The base of types of the language: `isinstance(x.type, base_type)`."""

    def __init_subclass__(cls) -> None:
        raise UnsupportedBinding("a subclass of base_type", "tl.aggregate makes types of values")


def flatten_values_to_ir(values: Iterable[Any]) -> list[Value]:
    """The IR values in values of the language, in order; compile-time values have none."""
    return [handle for value in values for handle in flatten(value)]


def unflatten_ir_values(handles: Sequence[Value], types: Iterable[Any]) -> Iterator[Any]:
    """Values of these types from IR values; ValueError unless they use all of them."""
    at = 0
    for ty in types:
        value, at = ty._unflatten_ir(list(handles), at)
        yield value
    if at != len(handles):
        raise ValueError(f"the types take {at} of {len(handles)} IR values")


def mangle_fn(name: str, arg_tys: Iterable[Any], caller_context: Any = None) -> str:
    """The symbol of a function for arguments of these types, as stages name it."""
    types = "_".join(ty.mangle() for ty in arg_tys).replace("'", "_sq_")
    context = "" if caller_context is None else f"__{caller_context.mangle()}"
    return f"{name}__{_UNSPOKEN.sub('_', types)}{context}"


def check_identifier_legality(name: str, type: str) -> str:
    """The name; CompilationError unless it is an ASCII identifier."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise CompilationError(f"invalid {type} identifier: {name}", [])
    return name


class ContainsReturnChecker(ast.NodeVisitor):
    """`visit(node)`: does the statement return from its function? Functions defined in it do not count."""

    def __init__(self, gscope: Any = None) -> None:
        self.gscope = gscope

    def visit(self, node: ast.AST) -> bool:
        """Whether `node` contains a `return`."""
        if isinstance(node, ast.Return):
            return True
        inner = (n for n in ast.iter_child_nodes(node) if not isinstance(n, (ast.FunctionDef, ast.Lambda)))
        return any(self.visit(child) for child in inner)


_VISITOR = "the visitor is tritium.frontend.visitor; a stages hook can change the IR (docs/hooks-and-knobs.md)"

__getattr__ = refused_attributes(
    __name__, {"ASTFunction CodeGenerator enter_sub_region normalize_value set_iterable_path": _VISITOR}
)
