"""The imports between the modules of the package, at module level, for type checkers and put off, and their cycles."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

__all__ = ["Module", "cycles", "imported_names", "load"]

_PUT_OFF = ("LazyModule", "load", "rows_from")


class Module:
    """A module of the package: its dotted `name`, `path`, `source` and syntax `tree`."""

    def __init__(self, path: Path, root: Path) -> None:
        parts = path.relative_to(root).with_suffix("").parts
        self.path = str(path.relative_to(root))
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.package = self.name if self.is_package else self.name.rpartition(".")[0]
        self.source = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.source, self.path)
        self.nodes = list(ast.walk(self.tree))

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Lines and texts of the comments."""
        tokens = tokenize.generate_tokens(io.StringIO(self.source).readline)
        return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]

    def absolute(self, name: str, level: int) -> str:
        """The dotted name that a relative one with `level` dots means here."""
        if not level:
            return name
        parts = self.package.split(".")
        base = ".".join(parts[: len(parts) - level + 1])
        return f"{base}.{name}" if name else base


def load(root: Path) -> dict[str, Module]:
    """All modules of `root`/tritium by name."""
    modules = (Module(path, root) for path in sorted((root / "tritium").rglob("*.py")))
    return {module.name: module for module in modules}


def _targets(module: Module, known: dict[str, Module]) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            base = module.absolute(node.module or "", node.level)
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _PUT_OFF and node.args:
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                text = node.args[0].value
                yield module.absolute(text.lstrip("."), len(text) - len(text.lstrip(".")))


def edges(modules: dict[str, Module]) -> dict[str, set[str]]:
    """The modules that each module imports. Packages are left out: their `__init__` only says what is public."""
    files = {name for name, module in modules.items() if not module.is_package}
    return {name: {t for t in _targets(m, modules) if t in files and t != name} for name, m in modules.items()}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of two modules and more, the largest first (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(graph.get(successor, ())))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack.difference_update(component)
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=lambda component: (-len(component), component))


def imported_names(module: Module) -> dict[str, str]:
    """What each name that `module` imports means: the dotted name of a module, or of something in it."""
    out: dict[str, str] = {}
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            base = module.absolute(node.module or "", node.level)
            out.update({alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names})
        elif isinstance(node, ast.Import):
            out.update({alias.asname: alias.name for alias in node.names if alias.asname})
    return out
