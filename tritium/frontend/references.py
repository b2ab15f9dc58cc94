"""Captured values: the names and attribute chains that the body of a function reads from outside."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType
from typing import Any

from .definite_assignment import reads_before_assignment

__all__ = ["find_references", "is_constexpr"]


def is_constexpr(value: Any) -> bool:
    """Is it a `constexpr`? (Launches from the cache do not import the class.)"""
    return type(value).__name__ == "constexpr" and hasattr(value, "value")


def find_references(
    tree: ast.FunctionDef, nonlocals: dict[str, Any], module: dict[str, Any]
) -> list[tuple[str, Any, dict[str, Any] | None]]:
    """(name as written, value, the dict it was found in) for each value that `tree` captures.

    Chains such as `tl.math.exp` are followed through modules and give their last value, with the module's dict if it is
    a compile-time value and with none otherwise; local names, builtins and modules themselves are left out, as are
    names that cannot be resolved (the visitor reports them). A local name refers to a global compile-time value until
    it is assigned, so it is included if it can be read before. Defaults of parameters are not: they were evaluated when
    the function was defined.
    """
    parameters, local, names, chains = _mentions(tree)
    resolver = _Resolver(nonlocals, module)
    for name in names:
        if name not in local or (
            name not in parameters and resolver.is_compile_time(name) and reads_before_assignment(tree.body, name)
        ):
            resolver.name(name)
    for chain in chains:
        if chain[0] not in local:
            resolver.chain(chain)
    return list(resolver.found.values())


def _mentions(tree: ast.FunctionDef) -> tuple[set[str], set[str], dict[str, None], list[list[str]]]:
    """Parameters, local names with these, names that are read, and attribute chains in the body.

    Three times as fast as a NodeVisitor: a launch from the cache spends most of its time here.
    """
    parameters = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    parameters |= {a.arg for a in (tree.args.vararg, tree.args.kwarg) if a is not None}
    local = set(parameters)
    names: dict[str, None] = {}
    chains: list[list[str]] = []
    stack: list[Any] = [*tree.body]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is ast.Name:
            if node.ctx.__class__ is ast.Store:
                local.add(node.id)
            else:
                names[node.id] = None
            continue
        if kind is ast.Constant:
            continue
        if kind is ast.AugAssign and node.target.__class__ is ast.Name:
            names[node.target.id] = None  # reads the old value
        if kind is ast.Attribute:
            chain = _chain(node)
            if chain is not None:
                chains.append(chain)
                continue
        for field in node._fields:  # not attributes cached by visitors, which may refer back to the node
            child = getattr(node, field, None)
            if child.__class__ is list:
                stack += [c for c in child if isinstance(c, ast.AST)]
            elif isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                stack.append(child)
    return parameters, local, names, chains


class _Resolver:
    """Resolves names, and collects their values in `found`."""

    def __init__(self, nonlocals: dict[str, Any], module: dict[str, Any]) -> None:
        self.nonlocals = nonlocals
        self.module = module
        self.found: dict[str, tuple[str, Any, dict[str, Any] | None]] = {}

    def _resolve(self, name: str) -> tuple[Any, dict[str, Any] | None]:
        for scope in (self.nonlocals, self.module):
            if name in scope:
                return scope[name], scope
        return getattr(builtins, name, None), None

    def is_compile_time(self, name: str) -> bool:
        """Is the name a global `constexpr`?"""
        return is_constexpr(self._resolve(name)[0])

    def name(self, name: str) -> None:
        """Resolve a plain name."""
        value, scope = self._resolve(name)
        if scope is not None and not isinstance(value, ModuleType):
            self.found[name] = (name, value, scope)

    def chain(self, chain: list[str]) -> None:
        """`a.b.c`"""
        value, scope = self._resolve(chain[0])
        if scope is None:
            return
        for i, attr in enumerate(chain[1:], 2):
            if not isinstance(value, ModuleType):
                break
            members = vars(value)
            value, scope = getattr(value, attr, None), None
            if not isinstance(value, ModuleType):
                name = ".".join(chain[:i])
                if value is not None:
                    self.found[name] = (name, value, members if is_constexpr(value) and attr in members else None)
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
