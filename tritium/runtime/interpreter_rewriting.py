"""Kernels as plain Python functions for the patchable interpreter: constructs that operator overloading cannot express
are rewritten.

A chain of comparisons, `0 <= x < n`, holds if all of its comparisons hold. Clients add methods to `ASTTransformer`
(`visit_For` for example) or replace those of `FunctionRewriter`.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..frontend.callee import closure_values
from ..frontend.source import SourceText
from ..interpreter.handle_semantic import interpreter_semantic

__all__ = ["ASTTransformer", "FunctionRewriter"]

_ALL_HOLD = "__tritium_all_hold__"
_FACTORY = "__tritium_factory__"


def all_hold(*results: Any) -> Any:
    """The conjunction of comparisons: of tensors per element, else the first that does not hold, or the last."""
    tensors = [r for r in results if hasattr(r, "handle")]
    if not tensors:
        return next((r for r in results if not r), results[-1])
    if any(not hasattr(r, "handle") and not r for r in results):
        return False
    whole = tensors[0]
    for other in tensors[1:]:
        whole = whole.logical_and(other)
    return whole


class ASTTransformer(ast.NodeTransformer):
    """Rewrites the syntax tree of a kernel before Python runs it."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a < b < c` becomes `all_hold(a < (t := b), t < c)`."""
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        comparisons: list[ast.expr] = []
        left = node.left
        for position, (op, right) in enumerate(zip(node.ops, node.comparators)):
            again: ast.expr = right
            if position + 1 < len(node.ops):
                self.count += 1
                name = f"__tritium_operand_{self.count}__"
                right, again = ast.NamedExpr(ast.Name(name, ast.Store()), right), ast.Name(name, ast.Load())
            comparisons.append(ast.Compare(left, [op], [right]))
            left = again
        return ast.copy_location(ast.Call(ast.Name(_ALL_HOLD, ast.Load()), comparisons, []), node)


class FunctionRewriter:
    """Makes the function that runs instead of `fn`; `kwargs` are names that the rewritten code may use besides."""

    ast_transformer = ASTTransformer()

    def __init__(self, fn: FunctionType, **kwargs: Any) -> None:
        self.fn = fn
        self.kwargs = kwargs
        self.filename = ""
        self.def_file_lineno = 0  # the line of `def` in the file, from 1

    def rewrite_ast(self) -> Callable[..., Any]:
        """The rewritten function; `fn` itself if its source cannot be found."""
        try:
            source = SourceText(self.fn)
            text = source.text
        except OSError:
            return self.fn
        self.filename, self.def_file_lineno = source.file, source.def_line
        return self._compile_and_exec(self._transform_ast(textwrap.dedent(text)))

    def _transform_ast(self, src: str) -> ast.Module:
        """The rewritten tree of `src`, whose `def` is on line 1 during the transformation, and then on its line in the
        file."""
        tree = ast.parse(src)
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        _strip(function)
        tree = self.ast_transformer.visit(tree)
        ast.fix_missing_locations(tree)
        ast.increment_lineno(tree, self.def_file_lineno - 1)
        return tree

    def _compile_and_exec(self, transformed_ast: ast.Module) -> Callable[..., Any]:
        """The function that a rewritten tree defines, with the globals, closure and defaults of `fn`."""
        cells = closure_values(self.fn)
        given = {_ALL_HOLD: all_hold, "interpreter_semantic": interpreter_semantic, **self.kwargs, **cells}
        names = [ast.arg(name) for name in given]
        result = ast.Return(ast.Name(self.fn.__name__, ast.Load()))
        factory = ast.FunctionDef(
            _FACTORY, ast.arguments([], names, None, [], [], None, []), [*transformed_ast.body, result], []
        )
        if "type_params" in ast.FunctionDef._fields:
            factory.type_params = []  # type: ignore[attr-defined]  # Python 3.12
        module = ast.fix_missing_locations(ast.Module([factory], []))
        namespace: dict[str, Any] = {}
        exec(compile(module, self.filename, "exec"), self.fn.__globals__, namespace)
        made = namespace[_FACTORY](**given)
        made.__annotations__ = self.fn.__annotations__
        made.__defaults__ = self.fn.__defaults__
        made.__kwdefaults__ = {**(made.__kwdefaults__ or {}), **(self.fn.__kwdefaults__ or {})} or None
        return made  # type: ignore[no-any-return]


def _strip(function: ast.FunctionDef) -> None:
    """Remove expressions evaluated at the definition; the rewritten function takes their values from the original."""
    function.decorator_list, function.returns = [], None
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for parameter in (*parameters, *filter(None, (arguments.vararg, arguments.kwarg))):
        parameter.annotation = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [None if d is None else ast.Constant(None) for d in arguments.kw_defaults]
