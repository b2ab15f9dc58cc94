"""Rewrite kernels of the Triton language as Gluon source.

    import tritium.language as tl                      from tritium.experimental import gluon
                                                       from tritium.experimental.gluon import language as gl
                                                       import …hopper_helpers as helpers
    @triton.jit                                =>
    def k(x, N: tl.constexpr):                         @gluon.jit
        i = tl.arange(0, N)                            def k(x, N: gl.constexpr):
        tl.store(x + i, tl.load(x + i) * 2)                i = helpers.tl_arange(0, N)
                                                           gl.store(x + i, gl.load(x + i) * 2)

Each tensor is in the default layout of its rank, and functions of the helpers keep it so: the source serves all types
and constants of the parameters, where `tritium gluon` prints what the compiler made for some of them. Functions that
the kernels call are written with them; constants of their modules are written as literals.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import inspect
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType
from typing import TypeAlias

from ... import language as tl
from ...experimental.gluon import language as gl
from ...frontend.callee import unwrap_callee
from ...frontend.constexpr import constexpr
from ...language.extra import libdevice
from ...support import TritiumError
from .target import TranslatorTarget

__all__ = ["TranslationError", "convert_triton_to_gluon", "main", "translate_kernels", "translate_paths"]

Function: TypeAlias = object
"""A function of the language, with `fn`, the Python function."""

_HELPERS = {
    "arange": "tl_arange",
    "full": "tl_full",
    "zeros": "tl_zeros",
    "histogram": "tl_histogram",
    "trans": "tl_trans",
    "cat": "tl_cat",
    "dot": "tl_dot",
    "dot_scaled": "tl_dot_scaled",
    "make_tensor_descriptor": "tl_make_tensor_descriptor",
    "load_tensor_descriptor": "tl_load_tensor_descriptor",
    "store_tensor_descriptor": "tl_store_tensor_descriptor",
}
_RESET = frozenset(
    ("reshape", "ravel", "view", "permute", "join", "split", "reduce", "sum", "max", "min", "argmax", "argmin")
    + ("xor_sum", "reduce_or")
)
"""Functions whose results are not in the default layout."""
_METHODS = _RESET | {"trans", "expand_dims"}
_DESCRIPTORS = ("load", "store")
_MISSING = object()


class TranslationError(TritiumError):
    """A kernel that cannot be rewritten."""


def convert_triton_to_gluon(src: Sequence[Function], target: TranslatorTarget | str = TranslatorTarget.SM90) -> str:
    """The source of kernels in Gluon. Raises TranslationError for what has no form there."""
    return translate_kernels(src, target)


def translate_paths(kernel_paths: Sequence[str], target: TranslatorTarget | str) -> str:
    """The source of kernels that are named `module.path:kernel`."""
    kernels = []
    for path in kernel_paths:
        module, _, name = path.partition(":")
        found = getattr(importlib.import_module(module), name, None)
        if found is None:
            raise TranslationError(f"error: {module} has no kernel {name!r}")
        kernels.append(found)
    return translate_kernels(kernels, target)


def translate_kernels(kernels: Sequence[Function], target: TranslatorTarget | str) -> str:
    """The source of kernels and of the functions that they call, callees first."""
    target = TranslatorTarget(target)
    if target.is_amd:
        raise TranslationError(
            f"error: kernels are not rewritten for {target.value} yet\nhint: the targets are sm80 to sm107"
        )
    program = _Program(target)
    for kernel in kernels:
        program.name_of(kernel)
    lines = [
        "from tritium.experimental import gluon",
        "from tritium.experimental.gluon import language as gl",
        f"import {target.helpers_module} as helpers",
        *sorted(program.imports),
    ]
    return "\n".join(lines) + "\n\n\n" + "\n\n\n".join(program.sources) + "\n"


class _Program:
    """The functions written so far."""

    def __init__(self, target: TranslatorTarget) -> None:
        self.target = target
        self.imports: set[str] = set()
        self.sources: list[str] = []
        self._names: dict[int, str] = {}

    def name_of(self, function: Function) -> str:
        """The name of a function, which is written first if it is not yet."""
        made = self._names.get(id(function))
        if made is not None:
            return made
        python = _python_function(function)
        name, count = python.__name__, 0
        while name in self._names.values():
            count += 1
            name = f"{python.__name__}_{count}"
        self._names[id(function)] = name
        tree = ast.parse(textwrap.dedent(inspect.getsource(python))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        tree.name = name
        tree.decorator_list = [ast.parse("gluon.jit", mode="eval").body]
        rewritten = _Rewriter(self, python, tree).visit(tree)
        self.sources.append(ast.unparse(ast.fix_missing_locations(rewritten)))
        return name


def _python_function(function: Function) -> FunctionType:
    """The Python function of a kernel, without autotuner and heuristics."""
    while not isinstance(function, FunctionType):
        inner = getattr(function, "fn", None)
        if inner is None:
            raise TranslationError(f"error: {function!r} is no kernel")
        function = inner
    return function


class _Rewriter(ast.NodeTransformer):
    """One function: names of the language become Gluon's, calls that need layouts those of helpers."""

    def __init__(self, program: _Program, python: FunctionType, tree: ast.FunctionDef) -> None:
        closure = inspect.getclosurevars(python)
        self._program = program
        self._globals = {**vars(builtins), **python.__globals__, **closure.nonlocals}
        arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]
        self._local = {a.arg for a in arguments if a is not None}
        self._local |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    # -- names ----------------------------------------------------------------------------------------------------

    def _value(self, node: ast.AST) -> object:
        """What a name or an attribute of a module is at compile time; `_MISSING` for local names."""
        if isinstance(node, ast.Name):
            return _MISSING if node.id in self._local else self._globals.get(node.id, _MISSING)
        if isinstance(node, ast.Attribute):
            base = self._value(node.value)
            return _MISSING if base is _MISSING else getattr(base, node.attr, _MISSING)
        return _MISSING

    def _reference(self, node: ast.expr, value: object) -> ast.expr:
        """An expression of a value that is not local."""
        name = _language_name(value)
        if name is not None:
            if hasattr(gl, name):
                return _parsed(f"gl.{name}")
            if not _is_function(value):
                raise self._error(node, f"tl.{name} has no form in Gluon")
        if isinstance(value, constexpr):
            value = value.value
        if value is None or isinstance(value, (bool, int, float, str)):
            return _parsed(repr(value) if value == value and _finite(value) else f'float("{value}")')
        if _is_function(value):
            return _parsed(self._program.name_of(value))
        module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if module == "builtins" or inspect.ismodule(value):
            return node
        if module and own and getattr(inspect.getmodule(value), own, None) is value:
            self._program.imports.add(f"from {module} import {own}")
            return _parsed(own)
        raise self._error(node, f"{ast.unparse(node)} cannot be named in another module")

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name that is not local, by what it is."""
        value = self._value(node) if isinstance(node.ctx, ast.Load) else _MISSING
        return node if value is _MISSING else self._reference(node, value)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """An attribute of a module, or one of a value; `x.T` is a transposition."""
        value = self._value(node)
        if value is not _MISSING:
            return self._reference(node, value)
        base = self._value(node.value)
        if inspect.ismodule(base):
            raise self._error(node, f"{ast.unparse(node.value)} has no attribute {node.attr!r}")
        self.generic_visit(node)
        return _call("helpers.tl_trans", [node.value], []) if node.attr == "T" else node

    # -- calls ----------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of the language, of a method of a tensor or descriptor, or of another function."""
        value, func = self._value(node.func), node.func
        if value is _MISSING and isinstance(func, ast.Attribute) and self._value(func.value) is _MISSING:
            if func.attr in _METHODS:
                return self._language_call(func.attr, ast.Call(func, [func.value, *node.args], node.keywords))
            self.generic_visit(node)
            if func.attr in _DESCRIPTORS:
                return _call(f"helpers.tl_obj_{func.attr}", [func.value, *node.args], node.keywords)
            return node
        name = _language_name(value)
        if name is not None:
            return self._language_call(name, node)
        self.generic_visit(node)
        return node

    def _language_call(self, name: str, node: ast.Call) -> ast.expr:
        """A call of a function of the Triton language, with the arguments as they are in the source."""
        args = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if name == "range":
            return _call("range", args, [])
        if name == "num_threads":
            return _call("helpers.get_num_threads_per_program", args, keywords)
        if name == "debug_barrier":
            return _call("gl.barrier", args, keywords)
        if name in _HELPERS:
            return _call(f"helpers.{_HELPERS[name]}", args, keywords)
        if name == "split":
            args[0] = _call("helpers.set_split_src_layout", [args[0]], [])
        if name == "expand_dims":
            dim = args[1] if len(args) > 1 else next(k.value for k in keywords if k.arg == "axis")
            args[0] = _call("helpers.convert_to_expand_dims_layout", [args[0], ast.List([dim], ast.Load())], [])
        if name in ("reshape", "ravel", "view"):
            keywords = [k for k in keywords if k.arg != "can_reorder"]
        func = self.visit(node.func) if not hasattr(gl, name) else _parsed(f"gl.{name}")
        made = ast.Call(func, args, keywords)
        return _call("helpers.reset_to_default_layout", [made], []) if name in _RESET else made

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`x[:, None]` of a tensor in the slice of the result's layout."""
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [i for i, e in enumerate(elements) if isinstance(e, ast.Constant) and e.value is None]
        whole = all(
            i in new or (isinstance(e, ast.Slice) and not (e.lower or e.upper or e.step))
            for i, e in enumerate(elements)
        )
        self.generic_visit(node)
        if new and whole:
            dims = ast.List([ast.Constant(i) for i in new], ast.Load())
            node.value = _call("helpers.convert_to_expand_dims_layout", [node.value, dims], [])
        return node

    def _error(self, node: ast.AST, text: str) -> TranslationError:
        return TranslationError(f"error: line {getattr(node, 'lineno', 0)} of the kernel: {text}")


def _language_name(value: object) -> str | None:
    """The name of a function or type of the Triton language; None for anything else."""
    if value is _MISSING or inspect.ismodule(value) or value is None or isinstance(value, (bool, int, float, str)):
        return None
    for name in (getattr(value, "__name__", None), getattr(value, "name", None)):
        if isinstance(name, str) and (getattr(tl, name, None) is value or _by_public_name(name, value)):
            return name
    return next((name for name in ("range", "num_threads") if value is _named(name)), None) or _alias(value)


def _named(name: str) -> object:
    return tl.extra.cuda.num_threads if name == "num_threads" else getattr(tl, name, None)


def _by_public_name(name: str, value: object) -> bool:
    found = getattr(tl, name, None)
    return found is not None and unwrap_callee(found) is unwrap_callee(value)


def _alias(value: object) -> str | None:
    return next((n for n in vars(tl) if not n.startswith("_") and getattr(tl, n) is value), None)


def _is_function(value: object) -> bool:
    """Whether a value is a function of the language written in it."""
    return (
        hasattr(value, "fn")
        and inspect.isfunction(getattr(value, "fn", None))
        and not hasattr(libdevice, getattr(value, "__name__", "?"))
    )


def _finite(value: object) -> bool:
    """Whether `repr` of a constant is an expression: not of infinity."""
    return not isinstance(value, float) or abs(value) != float("inf")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _call(name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> ast.expr:
    return ast.Call(_parsed(name), list(args), list(keywords))


def main(kernels: Sequence[str], output_path: str, target: TranslatorTarget | str) -> None:
    """Write the source of kernels that are named `module.path:kernel` to a file."""
    Path(output_path).write_text(translate_paths(kernels, target), encoding="utf-8")


def _main() -> None:
    parser = argparse.ArgumentParser(description="Rewrite kernels of the Triton language in Gluon.")
    parser.add_argument("kernels", nargs="+", help="kernels as module.path:kernel")
    parser.add_argument("--output-path", required=True, help="the file to write")
    parser.add_argument("--target", required=True, help="the architecture: sm80, sm90, sm100, ...")
    chosen = parser.parse_args()
    main(chosen.kernels, chosen.output_path, chosen.target)


if __name__ == "__main__":
    _main()
