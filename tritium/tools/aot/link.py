"""One function over several kernels: C that chooses among variants of a kernel compiled ahead of time.

Variants differ in the hints of their signatures, and in compile-time values and options. The latter are an *algorithm*,
which the caller chooses by its number; among the variants of an algorithm the dispatcher takes the one whose hints hold
for the arguments, the one with most hints first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from ...support.dataclasses import dataclass
from . import link_text as text
from .interface import AotError

__all__ = ["Variant", "dispatcher", "read_header"]

_DIRECTIVE = re.compile(r"^// tritium-kernel: (\{.*\})$", re.M)
_VERSION = 1


@dataclass(frozen=True)
class Variant:
    """A kernel as its header describes it; `parameters` are rows of name, type in C, and hint."""

    header: str
    backend: str
    target: str
    base: str
    function: str
    algorithm: str
    constants: dict[str, str]
    parameters: tuple[tuple[str, str, int], ...]

    @property
    def hints(self) -> int:
        """How many parameters have one."""
        return sum(hint != 0 for _, _, hint in self.parameters)

    def declared(self, all_of_them: bool) -> str:
        """The parameters with their types, without those that are 1 unless all are wanted."""
        return ", ".join(_declared(n, t) for n, t, hint in self.parameters if all_of_them or hint != 1)

    @property
    def condition(self) -> str:
        """The conditions on its arguments, in C."""
        return " && ".join(f"{name} == 1" if hint == 1 else _multiple(name, t, hint) for name, t, hint in self._hinted)

    @property
    def _hinted(self) -> list[tuple[str, str, int]]:
        return [row for row in self.parameters if row[2]]


def _declared(name: str, ctype: str) -> str:
    return f"{ctype}{'' if ctype.endswith('*') else ' '}{name}"


def _multiple(name: str, ctype: str, divisor: int) -> str:
    return f"{f'(uintptr_t){name}' if ctype.endswith('*') else name} % {divisor} == 0"


def read_header(path: Path, shown: str) -> Variant:
    """The kernel that a header declares, which others include as `shown`; AotError for a file that `tritium compile`
    did not write."""
    found = _DIRECTIVE.search(path.read_text(encoding="utf-8", errors="replace"))
    try:
        told: dict[str, Any] = json.loads(found[1]) if found else {}
    except ValueError:
        told = {}
    if told.get("version") != _VERSION:
        what = f"is of version {told['version']}, not {_VERSION}" if "version" in told else "declares no kernel"
        raise AotError(f"{path} {what}: headers that tritium compile --grid has written can be linked")
    rows = tuple((name, ctype, hint) for name, ctype, hint in told["parameters"])
    names = ("backend", "target", "base", "function", "algorithm", "constants")
    return Variant(shown, *(told[name] for name in names), rows)


def dispatcher(variants: Sequence[Variant], out: str, prefix: str = "") -> dict[str, str]:
    """The contents of the `.h` and `.c` called `out` for these variants; `prefix` stands before names of functions.

    Algorithms are numbered as they come first. AotError for variants that do not belong together.
    """
    families: dict[str, list[Variant]] = {}
    for variant in variants:
        families.setdefault(variant.base, []).append(variant)
    for family in families.values():
        _check(family)
    for variant in variants:
        if variant.backend != variants[0].backend:
            raise AotError(f"{variants[0].header} is for {variants[0].backend}, {variant.header} for {variant.backend}")
    includes = "".join(f'#include "{v.header}"\n' for v in variants)
    parts = [_family(family, prefix) for family in families.values()]
    guard = re.sub(r"\W", "_", f"TRITIUM_{out.upper()}_H", flags=re.A)
    header = Template(text.HEADER).substitute(guard=guard, includes=includes, parts="\n".join(h for h, _ in parts))
    source = Template(text.SOURCE).substitute(out=out, parts="\n".join(c for _, c in parts))
    return {".h": header, ".c": source}


def _check(family: Sequence[Variant]) -> None:
    """AotError where two variants of a kernel cannot be distinguished or differ in their parameters."""
    first = family[0]
    seen: dict[Any, Variant] = {}
    for v in family:
        pairs = zip(first.parameters, v.parameters)
        different = next((f"{a[1]} {a[0]} and {b[1]} {b[0]}" for a, b in pairs if a[:2] != b[:2]), "")
        if len(v.parameters) != len(first.parameters):
            different = f"{len(first.parameters)} and {len(v.parameters)}"
        if different:
            raise AotError(f"{first.header} and {v.header} have different parameters of {v.base}: {different}")
        if v.target != first.target:
            raise AotError(f"{first.header} is for {first.target}, {v.header} for {v.target}: link them apart")
        key = v.algorithm, tuple(hint for _, _, hint in v.parameters)
        other = seen.setdefault(key, v)
        if other is not v:
            raise AotError(f"{other.header} and {v.header} are the same algorithm of {v.base} with the same hints")
    constants = {v.algorithm: v.constants for v in family}
    for v in family:
        if constants[v.algorithm] != v.constants:
            raise AotError(f"two variants of {v.base} are both called {v.algorithm}: give one another --out-name")


def _family(family: Sequence[Variant], prefix: str) -> tuple[str, str]:
    """The declarations and the definitions for the variants of one kernel."""
    algorithms: dict[str, list[Variant]] = {}
    for v in family:
        algorithms.setdefault(v.algorithm, []).append(v)
    first = family[0]
    cuda = first.backend == "cuda"
    shared = {
        "result": "CUresult" if cuda else "int",
        "stream": "CUstream stream" if cuda else "",
        "pass_stream": "stream" if cuda else "",
        "invalid": "CUDA_ERROR_INVALID_VALUE" if cuda else "TRITIUM_INVALID_VALUE",
        "base": f"{prefix}{first.base}",
        "count": len(algorithms),
    }
    passed = [shared["pass_stream"], *(name for name, _, _ in first.parameters)]
    taken = ", ".join(filter(None, [shared["stream"], first.declared(True)]))
    values = {**shared, "taken": taken or "void", "passed": ", ".join(filter(None, passed))}
    values["numbered"] = f"{taken}, int algo_id" if taken else "int algo_id"
    values["first"] = ", ".join(filter(None, [*filter(None, passed), "0"]))
    header = [Template(text.DECLARATIONS).substitute(values, table=_table(algorithms))]
    source = [_algorithm(name, rows, values) for name, rows in algorithms.items()]
    names = ", ".join(f"{shared['base']}_{name}" for name in algorithms)
    source.append(Template(text.DISPATCH).substitute(values, names=names))
    if cuda:
        header.append(Template(text.LOAD_DECLARATIONS).substitute(values))
        functions = "".join(f"    {{load_{v.function}, unload_{v.function}}},\n" for v in family)
        source.append(Template(text.LOAD).substitute(values, functions=functions))
    header += [f"{values['result']} {values['base']}_{name}({values['taken']});\n" for name in algorithms]
    return "".join(header), "".join(source)


def _table(algorithms: dict[str, list[Variant]]) -> str:
    """The declarations of each algorithm in the header."""
    rows = []
    for i, (name, variants) in enumerate(algorithms.items()):
        fixed = ", ".join(f"{k} = {v}" for k, v in variants[0].constants.items())
        rows.append(f" *   {i}: {name}{f' ({fixed})' if fixed else ''}\n")
        rows += [f" *        {v.condition or 'any arguments'}\n" for v in _ordered(variants)]
    return "".join(rows).replace("*/", "* /")


def _ordered(variants: Sequence[Variant]) -> list[Variant]:
    return sorted(variants, key=lambda v: -v.hints)


def _algorithm(name: str, variants: Sequence[Variant], values: dict[str, Any]) -> str:
    """The function that chooses among the variants of an algorithm."""
    lines = []
    for v in _ordered(variants):
        passed = ", ".join(filter(None, [values["pass_stream"], *(n for n, _, hint in v.parameters if hint != 1)]))
        call = f"return {v.function}({passed});"
        lines.append(f"  if ({v.condition}) {call}\n" if v.hints else f"  {call}\n")
    if all(v.hints for v in variants):
        lines.append(f"  return {values['invalid']};\n")
    return f"{values['result']} {values['base']}_{name}({values['taken']}) {{\n{''.join(lines)}}}\n\n"
