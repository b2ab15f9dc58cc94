"""Which outside values the body of a function reads: names and attribute chains through modules."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType
from typing import Any

__all__ = ["find_references"]


def find_references(
    tree: ast.FunctionDef, nonlocals: dict[str, Any], module: dict[str, Any]
) -> list[tuple[str, Any, dict[str, Any] | None]]:
    """(name as written, value, the dict it was found in) for each outside value `tree` reads.

    Chains such as `tl.math.exp` are followed through modules and give their last value with no dict; local names,
    builtins and modules themselves are left out, names that cannot be resolved too (the visitor reports them).
    """
    finder = _Finder(_local_names(tree), nonlocals, module)
    for statement in tree.body:
        finder.visit(statement)
    for default in (*tree.args.defaults, *(d for d in tree.args.kw_defaults if d is not None)):
        finder.visit(default)
    return list(finder.found.values())


def _local_names(tree: ast.FunctionDef) -> set[str]:
    names = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    names |= {a.arg for a in (tree.args.vararg, tree.args.kwarg) if a is not None}
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return names


class _Finder(ast.NodeVisitor):
    def __init__(self, local: set[str], nonlocals: dict[str, Any], module: dict[str, Any]) -> None:
        self.local = local
        self.nonlocals = nonlocals
        self.module = module
        self.found: dict[str, tuple[str, Any, dict[str, Any] | None]] = {}

    def _resolve(self, name: str) -> tuple[Any, dict[str, Any] | None]:
        for scope in (self.nonlocals, self.module):
            if name in scope:
                return scope[name], scope
        return getattr(builtins, name, None), None

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.local or node.id in self.found:
            return
        value, scope = self._resolve(node.id)
        if scope is not None and not isinstance(value, ModuleType):
            self.found[node.id] = (node.id, value, scope)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain = _chain(node)
        if chain is None:
            self.generic_visit(node)
            return
        if chain[0] in self.local:
            return
        value, scope = self._resolve(chain[0])
        if scope is None:
            return
        for i, attr in enumerate(chain[1:], 2):
            if not isinstance(value, ModuleType):
                break
            value, scope = getattr(value, attr, None), None
            if not isinstance(value, ModuleType):
                name = ".".join(chain[:i])
                if value is not None:
                    self.found[name] = (name, value, None)
                return
        if not isinstance(value, ModuleType):
            self.found[chain[0]] = (chain[0], value, scope)


def _chain(node: ast.AST) -> list[str] | None:
    """`a.b.c` as ["a", "b", "c"]; None for an attribute of anything but a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return [node.id, *reversed(names)]
