"""The structure of the sources in figures, and whether it holds: sizes, function lengths, imports between packages.

    python scripts/structure.py

Exits with 1 where a limit is broken, naming the place. The limits: a file has at most 600 lines, a function at most
100, and nine functions of ten at most 30; no function imports a tritium module; no two packages import each other,
directly or in a circle. Tests, benchmarks, examples and scripts keep to the first two, the package to all.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILE_LINES = 600
FUNCTION_LINES = 100
FUNCTION_P90 = 30
FOLDERS = ("tritium", "tests", "benchmarks", "examples", "scripts")


_PUT_OFF = ("LazyModule", "rows_from")


class Function(NamedTuple):
    """A function of the package: its length in lines and where it stands."""

    lines: int
    where: str


def imported_packages(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """The packages (second part of a `tritium.<package>` name) an import statement names; "" for the package itself.

    An import put off with `LazyModule("..package.module", __package__)` counts like any other, and so do rows of passes
    from `rows_from("tritium.package")`.
    """
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PUT_OFF:
        where = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
        level = len(where) - len(where.lstrip("."))
        base = list(package[: len(package) - level + 1]) if level else []
        names = [base + where.lstrip(".").split(".")]
    elif isinstance(node, ast.ImportFrom):
        base = list(package[: len(package) - node.level + 1]) if node.level else []
        stem = base + (node.module.split(".") if node.module else [])
        names = [stem + [alias.name] for alias in node.names] if stem == ["tritium"] else [stem]
    else:
        return
    for name in names:
        if name[0] == "tritium":
            yield name[1] if len(name) > 1 else ""


class Survey:
    """Everything measured over the sources."""

    def __init__(self) -> None:
        self.files: list[tuple[int, str]] = []
        self.functions: list[Function] = []
        self.function_imports: list[str] = []
        self.edges: dict[str, set[str]] = defaultdict(set)
        self.public = 0
        self.documented = 0

    def add(self, path: Path, root: Path) -> None:
        source = path.read_text()
        relative = path.relative_to(root)
        self.files.append((source.count("\n"), str(relative)))
        tree = ast.parse(source, str(path))
        in_package = relative.parts[0] == "tritium"
        package = relative.with_suffix("").parts[:-1]
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.add_function(node, str(relative), package, in_package)
            if in_package and isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                self.public += 1
                self.documented += ast.get_docstring(node) is not None
            if in_package and len(relative.parts) > 2:
                name = relative.parts[1]
                self.edges[name].update(r for r in imported_packages(node, package) if r and r != name)

    def add_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, path: str, package: tuple[str, ...], in_package: bool
    ) -> None:
        where = f"{path}:{node.lineno} {node.name}"
        self.functions.append(Function((node.end_lineno or node.lineno) - node.lineno + 1, where))
        if in_package and any(list(imported_packages(inner, package)) for inner in ast.walk(node)):
            self.function_imports.append(where)

    def circles(self) -> list[str]:
        """Packages that reach themselves through imports, with the way round."""
        found = []
        for start in sorted(self.edges):
            paths = [(start,)]
            seen: set[str] = set()
            while paths:
                path = paths.pop()
                for name in sorted(self.edges.get(path[-1], ())):
                    if name == start:
                        found.append(" -> ".join((*path, name)))
                        paths.clear()
                        break
                    if name not in seen:
                        seen.add(name)
                        paths.append((*path, name))
        return found

    def p90(self) -> int:
        lengths = sorted(f.lines for f in self.functions if f.where.startswith("tritium"))
        return lengths[int(len(lengths) * 0.9)] if lengths else 0

    def complaints(self) -> list[str]:
        out = [f"{name}: {lines} lines, at most {FILE_LINES}" for lines, name in self.files if lines > FILE_LINES]
        out += [
            f"{f.where}: {f.lines} lines, at most {FUNCTION_LINES}" for f in self.functions if f.lines > FUNCTION_LINES
        ]
        out += [f"{where}: imports a tritium module inside the function" for where in self.function_imports]
        out += [f"packages import in a cycle: {circle}" for circle in self.circles()]
        if self.p90() > FUNCTION_P90:
            out.append(f"nine functions of ten have {self.p90()} lines, at most {FUNCTION_P90}")
        return out


def survey(root: Path) -> Survey:
    """Measure all Python files of the project under `root`."""
    result = Survey()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            result.add(path, root)
    return result


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    result = survey(root)
    package = [f for f in result.files if f[1].startswith("tritium")]
    lengths = sorted(f.lines for f in result.functions if f.where.startswith("tritium"))
    print(
        f"tritium: {len(package)} files, {sum(lines for lines, _ in package)} lines, largest {max(package)[0]} "
        f"({max(package)[1]}); {len(lengths)} functions, median {lengths[len(lengths) // 2] if lengths else 0}, "
        f"p90 {result.p90()}, longest {lengths[-1] if lengths else 0} lines; "
        f"{100 * result.documented // max(result.public, 1)} % of public names documented"
    )
    complaints = result.complaints()
    for complaint in complaints:
        print(f"  {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
