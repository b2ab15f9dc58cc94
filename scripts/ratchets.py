"""Counts of what the sources should have less of, each with a limit that is only ever lowered.

    python scripts/ratchets.py              compare with scripts/ratchets.json; exit 1 where a count has grown
    python scripts/ratchets.py --lower      write today's counts where they are below the limits
    python scripts/ratchets.py --show NAME  the places that one of the counts is made of

| count | of |
|---|---|
| import cycles | groups of modules that import each other, imports for type checkers and lazy ones included |
| modules in import cycles | the modules in them |
| scf class uses | `scf.For`, `scf.If`, `scf.While` outside the dialects and the lowering of scf: ask `ir/interfaces` |
| capability comparisons | comparisons of a GPU's compute capability outside backends/ and hardware/: ask the target |
| overlapping op lists | pairs of lists of operation classes that have half of the shorter one in common |
| Any | `Any` in annotations, for each package |
| type: ignore | comments of that kind, for each package |
| private terms | words with a standard term, in identifiers, docstrings, comments, messages and on pages in docs |
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from imports import Module, cycles, edges, imported_names, load

LIMITS = Path(__file__).with_suffix(".json")

Places = dict[str, list[str]]
"""The places of a count, for each package; counts of the whole project have the one key ""."""


def _package(module: Module) -> str:
    parts = module.name.split(".")
    return parts[1] if len(parts) > 2 or (module.is_package and len(parts) > 1) else "tritium"


def import_cycles(modules: dict[str, Module]) -> Places:
    """One place a cycle."""
    return {"": [" ".join(cycle) for cycle in cycles(edges(modules))]}


def modules_in_cycles(modules: dict[str, Module]) -> Places:
    """One place a module."""
    return {"": [name for cycle in cycles(edges(modules)) for name in cycle]}


_SCF = re.compile(r"tritium\.dialects(\.scf)?\.(For|If|While)$|tritium\.dialects\.scf\.(For|If|While)$")
_SCF_OWN = re.compile(r"tritium/(dialects/|conversion/.*/(scf|control)\w*\.py$|transforms/scf_to_cf)")


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""


def scf_class_uses(modules: dict[str, Module]) -> Places:
    """Uses of the classes, by what was imported: an alias does not hide one."""
    out = []
    for module in modules.values():
        if _SCF_OWN.match(module.path):
            continue
        names = imported_names(module)
        for node in module.nodes:
            if isinstance(node, (ast.Attribute, ast.Name)) and _SCF.match(_dotted(node, names)):
                out.append(f"{module.path}:{node.lineno} {ast.unparse(node)}")
    return {"": out}


_CAPABILITY = re.compile(r"(capability|arch|sm_version|compute)(\W|$)")


def capability_comparisons(modules: dict[str, Module]) -> Places:
    """Comparisons of something that is named a capability or an architecture with an integer."""
    out = []
    for module in modules.values():
        if re.match(r"tritium/(backends|hardware)/", module.path):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                numbers = [s for s in sides if isinstance(s, ast.Constant) and type(s.value) is int and s.value >= 50]
                if numbers and any(_CAPABILITY.search(ast.unparse(side)) for side in sides if side not in numbers):
                    out.append(f"{module.path}:{node.lineno} {ast.unparse(node)}")
    return {"": out}


def _op_lists(modules: dict[str, Module]) -> Iterator[tuple[str, frozenset[str]]]:
    for module in modules.values():
        names = imported_names(module)
        own = {node.name for node in module.tree.body if isinstance(node, ast.ClassDef)}
        if module.name.startswith("tritium.dialects."):
            names |= {name: f"{module.name}.{name}" for name in own}
        for node in module.nodes:
            if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
                parts = node.elts
            elif isinstance(node, ast.Dict) and all(isinstance(value, ast.Constant) for value in node.values):
                parts = [key for key in node.keys if key is not None]
            else:
                continue
            if len(parts) < 3:
                continue
            found = (_dotted(part, names) for part in parts)
            ops = frozenset(op for op in found if re.match(r"tritium\.dialects\.\w+(\.\w+)?\.[A-Z]\w*$", op))
            if len(ops) > 2:
                yield f"{module.path}:{node.lineno}", ops


def overlapping_op_lists(modules: dict[str, Module]) -> Places:
    """Pairs of lists of three operation classes and more. Tables from operations to functions do not count."""
    lists = list(_op_lists(modules))
    pairs = combinations(lists, 2)
    return {"": [f"{a} and {b}" for (a, x), (b, y) in pairs if 2 * len(x & y) >= min(len(x), len(y))]}


def any_annotations(modules: dict[str, Module]) -> Places:
    """`Any` anywhere but in an import."""
    out: Places = defaultdict(list)
    for module in modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Name) and node.id == "Any":
                out[_package(module)].append(f"{module.path}:{node.lineno}")
    return out


def type_ignores(modules: dict[str, Module]) -> Places:
    """Comments that begin so."""
    out: Places = defaultdict(list)
    for module in modules.values():
        found = (f"{module.path}:{line}" for line, text in module.comments if re.match(r"#\s*type:\s*ignore", text))
        out[_package(module)] += found
    return out


_TERMS = re.compile(
    r"\b(copy engines?|multiprocessors?|whoever|seldom|nursery|computed (again|anew)|begun ahead|hands? on|dealt|"
    r"hangs? on|meets? first|(behind|in front of) (a|the|its|their|such) loops?|(keeps?|kept) (\w+ )*in memory|takers?|"
    r"crowded|who (loads|multiplies|waits|writes|reads|asks|uses|has|stores)|products?|chips?|rooms?|"
    r"threads wait for each other|gives? back|has its own|turns of|lanes exchange)\b",
    re.IGNORECASE,
)
_STANDARD = re.compile(
    r"itertools\.product|cartesian product|(inner|outer|tensor|kronecker|matrix) products?|streaming multiprocessors?",
    re.IGNORECASE,
)


def _identifiers(module: Module) -> Iterator[tuple[int, str]]:
    for node in module.nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def private_terms(modules: dict[str, Module]) -> Places:
    """Words in names that are defined, in comments, and in strings (docstrings and messages among them)."""
    out: Places = defaultdict(list)
    for module in modules.values():
        texts = list(module.comments)
        texts += [(line, re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name)) for line, name in _identifiers(module)]
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append((node.lineno, node.value))
        for line, text in texts:
            for match in _TERMS.finditer(_STANDARD.sub("", text)):
                out[_package(module)].append(f"{module.path}:{line} {' '.join(match.group().split())}")
    return out


def pages(root: Path) -> Places:
    """The same words on pages for people, outside of code, and in the sources of the explorer's page."""
    out: Places = {"docs": []}
    for path in [*sorted((root / "docs").rglob("*.md")), *sorted(root.glob("*.md"))]:
        prose = re.sub(r"^\s*(```+).*?^\s*\1\s*$|`[^`\n]*`", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        found = _TERMS.finditer(_STANDARD.sub("", prose))
        out["docs"] += [f"{path.relative_to(root)} {' '.join(match.group().split())}" for match in found]
    for path in sorted((root / "explorer" / "src").rglob("*.ts*")):
        found = _TERMS.finditer(_STANDARD.sub("", path.read_text()))
        out["docs"] += [f"{path.relative_to(root)} {' '.join(match.group().split())}" for match in found]
    return out


COUNTS: dict[str, Callable[[dict[str, Module]], Places]] = {
    "import cycles": import_cycles,
    "modules in import cycles": modules_in_cycles,
    "scf class uses": scf_class_uses,
    "capability comparisons": capability_comparisons,
    "overlapping op lists": overlapping_op_lists,
    "Any": any_annotations,
    "type: ignore": type_ignores,
    "private terms": private_terms,
}


def measured(modules: dict[str, Module], root: Path) -> dict[str, dict[str, int]]:
    """Every count, for each package that it is not 0 in."""
    found = {name: count(modules) for name, count in COUNTS.items()}
    found["private terms"] = {**found["private terms"], **pages(root)}
    return {
        name: {package: len(where) for package, where in sorted(places.items()) if where}
        for name, places in found.items()
    }


def complaints(limits: dict[str, dict[str, int]], found: dict[str, dict[str, int]]) -> list[str]:
    """A line for each count above its limit; a package without a limit may have none."""
    return [
        f"{name}{f' in {package}' if package else ''}: {count}, at most {limits.get(name, {}).get(package, 0)} "
        f"(python scripts/ratchets.py --show '{name}')"
        for name, packages in found.items()
        for package, count in packages.items()
        if count > limits.get(name, {}).get(package, 0)
    ]


def lowered(limits: dict[str, dict[str, int]], found: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The limits with each one replaced that is above its count; those that become 0 go."""
    out: dict[str, dict[str, int]] = {}
    for name in COUNTS:
        least = {p: min(limit, found[name].get(p, 0)) for p, limit in limits.get(name, {}).items()}
        out[name] = {package: count for package, count in least.items() if count}
    return out


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where a count is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=LIMITS.parent.parent)
    parser.add_argument("--limits", type=Path, default=LIMITS)
    parser.add_argument("--lower", action="store_true", help="write today's counts where they are below the limits")
    parser.add_argument("--show", choices=list(COUNTS), help="list the places of a count")
    chosen = parser.parse_args(arguments)
    modules = load(chosen.root)
    if chosen.show:
        more = pages(chosen.root) if chosen.show == "private terms" else {}
        for places in {**COUNTS[chosen.show](modules), **more}.values():
            print("\n".join(places))
        return 0
    found, limits = measured(modules, chosen.root), json.loads(chosen.limits.read_text())
    for name, packages in found.items():
        print(f"{name:<26} {sum(packages.values()):>6}, limit {sum(limits.get(name, {}).values()):>6}")
    if chosen.lower:
        chosen.limits.write_text(json.dumps(lowered(limits, found), indent=1) + "\n")
    lines = complaints(limits, found)
    print("\n".join(lines) if lines else "no count has grown")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
