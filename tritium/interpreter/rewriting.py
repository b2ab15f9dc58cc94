"""A kernel's function as Python that runs: control flow is Python's own, everything else is handed to a `Frame`.

    x = tl.load(p + i, mask=i < n)          x = __tritium__.assign(0, locals())
    if tl.sum(x) > 0:                       if __tritium__.truth(1, locals()):
        acc += x                                acc = __tritium__.assign(2, locals())
    for k in range(n):                      for k in __tritium__.iterate(3, locals()):

The number stands for the syntax node, which the frame gives to the visitor of the compiler: an expression means here
what it means when it is compiled, as the same code decides. What is made keeps file and line, so that `breakpoint()`,
tracebacks and debuggers show the source; the parameters and local variables are those of the source.

Calls of `breakpoint` and of a `set_trace` stay as they are, imports too: a debugger then stops in the kernel's frame.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..frontend.callee import SourceFunction
from ..frontend.visitor.names import assigned_names

__all__ = ["FRAME", "Program", "names", "program_of"]

FRAME = "__tritium__"
_AS_THEY_ARE = (ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom)


class _Names:
    """How frames of rewritten functions name their file."""

    @staticmethod
    def frame_file(file: str) -> str:
        return file


names = _Names()


class Part(NamedTuple):
    """A piece of syntax that a frame is asked for, and the names it assigns."""

    node: Any
    names: tuple[str, ...]


class Program(NamedTuple):
    """The function to call, as `function(frame, **arguments)`, and the parts its numbers stand for."""

    function: Callable[..., Any]
    parts: list[Part]


def program_of(callee: SourceFunction) -> Program:
    """The program of a function of the language, made once."""
    known = callee.__dict__.get("_interpreted")
    if known is None or known[0] is not callee.source:
        known = callee.__dict__["_interpreted"] = callee.source, _program(callee)
    return known[1]  # type: ignore[no-any-return]


def _program(callee: SourceFunction) -> Program:
    tree = callee.parse()
    rewriter = _Rewriter()
    parameters = [FRAME, *(p.name for p in callee.params)]
    arguments = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
    body = rewriter.suite(tree.body) or [ast.Pass()]
    function = ast.FunctionDef(tree.name, arguments, body, [], None)
    if "type_params" in ast.FunctionDef._fields:
        function.type_params = []
    module = ast.Module([ast.fix_missing_locations(ast.copy_location(function, tree))], [])
    code = compile(module, names.frame_file(callee.source.file), "exec")
    inner = next(c for c in code.co_consts if isinstance(c, CodeType))
    return Program(FunctionType(inner, callee.fn.__globals__, tree.name), rewriter.parts)


class _Rewriter:
    """Rewrites statements; `parts` grows."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def ask(self, method: str, node: Any) -> ast.expr:
        """The call `__tritium__.method(number, locals())`, at the place of `node`."""
        self.parts.append(Part(node, assigned_names(node)))
        call = ast.parse(f"{FRAME}.{method}({len(self.parts) - 1}, locals())", mode="eval").body
        for part in ast.walk(call):
            if "lineno" in part._attributes:
                ast.copy_location(part, node)
        return call

    def suite(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A list of statements, rewritten."""
        return [new for s in statements for new in self.statement(s)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """The replacement of one statement."""
        if isinstance(node, _AS_THEY_ARE) or _stops(node):
            return [node]
        rewrite = _COMPOUND.get(type(node))
        new = self.simple(node) if rewrite is None else rewrite(self, node)
        return [ast.copy_location(new, node)]

    def simple(self, node: ast.stmt) -> ast.stmt:
        """A statement without control flow: run as a whole; the names it assigns become local variables."""
        names = assigned_names(node)
        asked = self.ask("run", node)
        if not names:
            return ast.Expr(asked)
        return ast.Assign([_targets(names, node)], asked)

    def returned(self, node: ast.Return) -> ast.stmt:
        """`return`, with a value or without."""
        return ast.Return(None if node.value is None else self.ask("value", node.value))

    def branch(self, node: ast.If) -> ast.stmt:
        """`if` with a constant condition."""
        return ast.If(self.condition(node.test), self.suite(node.body), self.suite(node.orelse))

    def repeat(self, node: ast.While) -> ast.stmt:
        """`while`"""
        return ast.While(self.condition(node.test), self.suite(node.body), self.suite(node.orelse))

    def condition(self, test: ast.expr) -> ast.expr:
        """A condition; names that it assigns (`:=`) become local variables."""
        names = assigned_names(test)
        asked = self.ask("truth", test)
        number = len(self.parts) - 1
        if not names:
            return asked
        items = [asked]
        for name in names:
            got = ast.parse(f"({name} := {FRAME}.assigned({number}, {name!r}))", mode="eval").body
            items.append(got)
        first = ast.Subscript(ast.Tuple(items, ast.Load()), ast.Constant(0), ast.Load())
        return ast.fix_missing_locations(ast.copy_location(first, test))

    def loop(self, node: ast.For) -> ast.stmt:
        """`for`, over numbers or elements that become values of the language."""
        asked = self.ask("iterate", node)
        target = _targets(assigned_names(node.target), node.target)
        return ast.For(target, asked, self.suite(node.body), self.suite(node.orelse))

    def manage(self, node: ast.With) -> ast.stmt:
        """`with`, over context managers of the language."""
        items = [ast.withitem(self.ask("manager", i.context_expr), i.optional_vars) for i in node.items]
        return ast.With(items, self.suite(node.body))


_COMPOUND: dict[type[ast.stmt], Callable[[_Rewriter, Any], ast.stmt]] = {
    ast.Return: _Rewriter.returned,
    ast.If: _Rewriter.branch,
    ast.While: _Rewriter.repeat,
    ast.For: _Rewriter.loop,
    ast.With: _Rewriter.manage,
}


def _targets(names: tuple[str, ...], node: ast.AST) -> ast.expr:
    """The target that binds the names: one of them takes the value, several the elements."""
    stored = [ast.copy_location(ast.Name(n, ast.Store()), node) for n in names]
    if len(stored) == 1:
        return stored[0]
    return ast.copy_location(ast.Tuple(stored, ast.Store()), node)


def _stops(node: ast.stmt) -> bool:
    """Is this `breakpoint()`, `pdb.set_trace()` or the like, which must run in the function's own frame?"""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    fn = node.value.func
    return (isinstance(fn, ast.Name) and fn.id in ("breakpoint", "set_trace")) or (
        isinstance(fn, ast.Attribute) and fn.attr == "set_trace"
    )
