"""The kernels of a Python file without what else the file does: only statements that a kernel needs are executed.

A script that is edited launches kernels and makes arrays when it is imported. Compiling one kernel of it needs the
imports, the functions that the kernel refers to, and the globals that these read. Statements that set something of the
compiler are executed as well: `triton.knobs.… = …`, entries of its tables, functions that its decorators register.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import types
from collections.abc import Iterator, Sequence

from ..dropin.alias import install
from ..runtime.jit import JITFunction
from ..support import TritiumError
from ..tools.kernel_file import CommandError

__all__ = ["kernel_in"]


def kernel_in(path: str, text: str, name: str = "", folder: str = "") -> JITFunction[object]:
    """The kernel `name` of a file with this text, or its only one; below `@autotune` and `@heuristics` the function.

    Modules are imported from `folder`, by default that of the file. CommandError if there is no such kernel, or the
    text is no Python.
    """
    install()
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        line = (error.text or "").rstrip()
        shown = f"\n  {line}\n  {' ' * ((error.offset or 1) - 1)}^" if line else ""
        raise CommandError(f"{path}:{error.lineno}:{error.offset}: error: {error.msg}{shown}") from None
    wanted = name or _only_kernel(path, tree)
    tree.body = list(_needed(tree, wanted, _compiler_names(tree)))
    module = types.ModuleType(f"explored_{abs(hash(path)):x}")
    module.__file__ = path
    sys.modules[module.__name__] = module
    linecache.checkcache(path)
    sys.path.insert(0, folder or os.path.dirname(os.path.abspath(path)))
    try:
        exec(compile(tree, path, "exec"), module.__dict__)
    except TritiumError:
        raise
    except Exception as error:  # whatever the file does
        raise CommandError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        del sys.path[0]
    kernel = _function(getattr(module, wanted, None))
    if kernel is None:
        raise CommandError(f"{path} has no kernel {wanted!r}")
    return kernel


def _only_kernel(path: str, tree: ast.Module) -> str:
    called = {n.id for f in tree.body if isinstance(f, ast.FunctionDef) for n in _loads(f.body) if n.id != f.name}
    found = [f.name for f in tree.body if isinstance(f, ast.FunctionDef) and _is_kernel(f)]
    outer = [name for name in found if name not in called]
    if len(found) == 1 or len(outer) == 1:
        return (found if len(found) == 1 else outer)[0]
    if not found:
        raise CommandError(f"{path} defines no kernel")
    raise CommandError(f"{path} has several kernels: {', '.join(found)} (write {path}::NAME)")


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(d).split("(")[0].split(".") for d in function.decorator_list)


def _compiler_names(tree: ast.Module) -> set[str]:
    """The names that are imported from the compiler, under its name or Triton's."""
    out: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [a for a in node.names if a.name.split(".")[0] in _COMPILER]
            out |= {(a.asname or a.name).split(".")[0] for a in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _COMPILER:
            out |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Assign) and _MODULE.search(ast.unparse(node.value)):
            out |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return out


_COMPILER = ("triton", "tritium")
_MODULE = re.compile(r"import_module\(['\"]tri(ton|tium)\b")


def _sets_compiler(statement: ast.stmt, compiler: set[str]) -> bool:
    """Whether a statement sets an attribute or an entry of something of the compiler, or registers a function there."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return any(_root(d) in compiler for d in statement.decorator_list)
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(isinstance(t, (ast.Attribute, ast.Subscript)) and _root(t) in compiler for t in targets)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        is_setattr = isinstance(call.func, ast.Name) and call.func.id == "setattr"
        if is_setattr:
            return bool(call.args) and _root(call.args[0]) in compiler
        return isinstance(call.func, ast.Attribute) and call.func.attr in _CHANGES and _root(call.func) in compiler
    return False


_CHANGES = ("update", "append", "insert", "pop", "remove", "clear", "extend", "setdefault", "register")


def _root(node: ast.AST) -> str:
    """The name that an expression of attributes, items and calls begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _needed(tree: ast.Module, wanted: str, compiler: set[str]) -> Iterator[ast.stmt]:
    """The statements that define what `wanted` refers to, and their like for what these refer to, in order."""
    names, seen = {wanted}, set[int]()
    while True:
        before = len(seen)
        for i, statement in enumerate(tree.body):
            if i not in seen and (_is_needed(statement, names) or _sets_compiler(statement, compiler)):
                seen.add(i)
                names |= _free(statement)
        if len(seen) == before:
            break
    yield from (s for i, s in enumerate(tree.body) if i in seen)


def _free(statement: ast.stmt) -> set[str]:
    """The names that a statement reads; of a function those that are not its own."""
    loaded = {n.id for n in _loads([statement])}
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return loaded
    own = {a.arg for a in ast.walk(statement.args) if isinstance(a, ast.arg)}
    own |= {
        n.id for b in statement.body for n in ast.walk(b) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    outside = {n.id for n in _loads([*statement.decorator_list, *statement.args.defaults, *_annotations(statement)])}
    return (loaded - own) | outside


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    found = [a.annotation for a in ast.walk(function.args) if isinstance(a, ast.arg)]
    return [a for a in (*found, *function.args.kw_defaults, function.returns) if a is not None]


def _is_needed(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
        return True
    if isinstance(statement, ast.If) and "__name__" in {n.id for n in _loads([statement.test])}:
        return False
    return bool(names & set(_defined(statement)))


def _defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds; those that functions in it bind are not counted."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        yield statement.name
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from ((a.asname or a.name).split(".")[0] for a in statement.names)
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield from _defined(child)
        elif isinstance(child, ast.ExceptHandler):
            for inner in child.body:
                yield from _defined(inner)
        else:
            stored = (n for n in ast.walk(child) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            yield from (n.id for n in stored)


def _loads(nodes: Sequence[ast.AST]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _function(value: object) -> JITFunction[object] | None:
    """The function that `@jit` made, also below `@autotune` and `@heuristics`."""
    while value is not None and not isinstance(value, JITFunction):
        value = getattr(value, "fn", None)
    return value
