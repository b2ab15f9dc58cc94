"""The pages of dialects: every operation with its meaning, fields, syntax, example, traits, effects and rules."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import tritium.transforms
from tritium.dialects.all import MODULES
from tritium.ir import OPS, Attribute, Rule, Type, attributes, interfaces, traits, types
from tritium.ir.definition import Field

from .examples import examples
from .markdown import NOTE, anchor, doc_of, escape, fence, first_sentence, raw_doc, sections, table

#: what a trait means to somebody who reads the page of an operation
TRAITS = {
    "PURE": "has no effect: may be duplicated, moved and removed",
    "COMMUTATIVE": "its operands may be swapped",
    "ELEMENTWISE": "acts on each element alone; operands and results have one shape",
    "SAME_TYPE": "operands and results have one type",
    "TERMINATOR": "ends its block",
    "ISOLATED": "its regions use no value from outside",
    "SYMBOL": "has a name that others refer to",
    "SYMBOL_TABLE": "holds the symbols of its region",
    "CONSTANT": "its result is its attribute `value`",
    "READ": "reads memory",
    "WRITE": "writes memory, or must stay in order for another reason",
    "ALLOC": "allocates memory",
    "RECURSIVE_EFFECTS": "has the effects of what is in its regions",
    "SINGLE_BLOCK": "each region is one block",
    "NO_TERMINATOR": "its blocks end without a terminator",
    "IDEMPOTENT": "f(f(x)) = f(x)",
    "INVOLUTION": "f(f(x)) = x",
    "RETURN_LIKE": "passes its operands to the parent operation",
    "NAMED_RESULTS": "its results are named in text as its fields are",
    "TRAPS": "may stop the program for some operands: does not run where it did not before",
    "DEBUG": "affects no memory, but is observable: prints, or may end the program",
    "ORDERING": "orders, groups or awaits memory accesses of the thread that runs it",
    "REARRANGES": "each element of a result is an element of an operand; types determine its index",
    "REPEATS": "rearranges the elements of one operand, and may repeat them",
    "EXTENDS": "converts each element exactly to a type with more bits",
    "CAST": "converts each element to another type",
    "REMATERIALIZABLE": "cheaper to compute again than to keep in registers, for indices",
}
HOW_TO_READ = """\
An operation's page opens with its equation, in which the names are those of its fields; then comes an example, the
fields, and its syntax: words in backquotes stand as they are, `$x` is the field x, `type($x)` its type, `attr-dict` the
attributes that the syntax names nowhere, and `( … $x^ … )?` is there when x is. Operations without a line of syntax
have one that no such line can say: the example shows it. All can be written in the generic form too.

"Checked" is what the verifier asks beyond the number and kind of the fields. Passes go by traits; an operation about
whose effects nothing is said is taken to read and write memory. Interfaces (`tritium.ir.interfaces`) are what passes
ask of operations with regions and of branches."""
_FORMS = {
    "int": "integer",
    "bool": "true or false",
    "str": "string",
    "symbol": "symbol",
    "type": "type",
    "array": "integers",
    "flag": "there or not",
    "any": "any",
}
_ARITIES = {"1": "", "?": ", optional", "*": ", any number"}


def dialect_pages() -> dict[str, str]:
    """The pages by path below docs/."""
    shown = examples()
    rules = _rules_by_class()
    by_dialect: dict[str, list[Any]] = defaultdict(list)
    for name, cls in sorted(OPS.items()):
        if cls.__module__.startswith("tritium."):
            by_dialect[name.partition(".")[0]].append(cls)
    things = _types_and_attributes()
    pages = {
        f"dialects/{dialect}.md": _page(dialect, classes, things.get(dialect, []), shown, rules)
        for dialect, classes in by_dialect.items()
    }
    pages["dialects/index.md"] = _index(by_dialect, things)
    return pages


def undocumented() -> list[str]:
    """Operations that no test's text shows."""
    shown = examples()
    return [name for name, cls in OPS.items() if cls.__module__.startswith("tritium.") and name not in shown]


def _modules(dialect: str, classes: list[Any]) -> list[Any]:
    """The modules that define the operations, the dialect's own first."""
    names = {cls.__module__ for cls in classes}
    own = f"tritium.dialects.{dialect}"
    found = [m for m in MODULES if m.__name__ in names or m.__name__ == own]
    return sorted(found, key=lambda m: (m.__name__ != own, m.__name__))


def _opening(module: Any, dialect: str) -> str:
    """What a dialect's module says of it, without its name in front, which the heading says."""
    text = doc_of(module).removeprefix(f"The {dialect} dialect: ")
    return text[:1].upper() + text[1:]


def _index(by_dialect: dict[str, list[Any]], things: dict[str, list[Any]]) -> str:
    rows = []
    for dialect, classes in by_dialect.items():
        modules = _modules(dialect, classes)
        about = first_sentence(_opening(modules[0], dialect)) if modules else ""
        rows.append((f"[{dialect}]({dialect}.md)", about, str(len(classes)), str(len(things.get(dialect, [])))))
    total = sum(map(len, by_dialect.values()))
    return sections(
        NOTE,
        "# Dialects",
        f"A dialect is a set of operations, types and attributes that belong together. There are {total} operations in "
        f"{len(by_dialect)} dialects. [The IR](../ir.md) explains what an operation is.",
        table(("dialect", "what it is", "operations", "types and attributes"), rows),
        "## How to read a page",
        HOW_TO_READ,
    )


def _page(dialect: str, classes: list[Any], things: list[Any], shown: dict[str, str], rules: dict[Any, Any]) -> str:
    modules = _modules(dialect, classes)
    about = [_opening(m, dialect) for m in modules[:1]] + [
        f"**{first_sentence(doc_of(m)).rstrip('.')}**\n\n{rest}" if rest else ""
        for m in modules[1:]
        for rest in ["\n\n".join(doc_of(m).split("\n\n")[1:])]
    ]
    index = table(
        ("operation", "meaning"),
        ((f"[`{cls.name}`](#{anchor(cls.name)})", first_sentence(doc_of(cls))) for cls in classes),
    )
    parts = [NOTE, f"# The {dialect} dialect", *about, "## Operations", index]
    if things:
        parts += ["## Types and attributes", *map(_thing, things)]
    parts += ["## Every operation"] if things else []
    return sections(*parts, *(_operation(cls, shown.get(cls.name, ""), rules) for cls in classes))


def _operation(cls: Any, example: str, rules: dict[Any, Any]) -> str:
    checked = raw_doc(cls.verify_op) if "verify_op" in vars(cls) else ""
    facts = [
        _traits(cls),
        _interfaces(cls),
        f"Checked: {escape(_sentence(checked))}" if checked else "",
        _rules(cls, rules),
    ]
    syntax = fence(cls.assembly, "text") if cls.assembly else ""
    return sections(
        f"### `{cls.name}`",
        doc_of(cls),
        fence(example, "mlir") if example else "",
        table(("field", "what it is"), _fields(cls)),
        f"Syntax:\n\n{syntax}" if syntax else "",
        *facts,
    )


def _sentence(text: str | None) -> str:
    text = " ".join((text or "").split())
    return text[:1].lower() + text[1:]


def _fields(cls: Any) -> Iterator[tuple[str, str]]:
    for f in cls.fields:
        optional = ", optional" if f.optional and f.arity == "1" else _ARITIES[f.arity]
        values = _values(cls, f)
        yield f"`{f.name}`", f"{f.kind}{optional}{': ' if values else ''}{values}"


def _values(cls: Any, f: Field) -> str:
    if f.kind != "attribute":
        return ""
    if f.enum is not None:
        text = ", ".join(f"`{m.name.lstrip('_')}`" for m in f.enum)
    elif f.form.startswith("#"):
        text = f"`{f.form}<…>`"
    else:
        text = _FORMS.get(f.form, f.form)
    default = cls._defaults.get(f.name)
    if default is None or f.form == "flag":
        return text
    if isinstance(default, enum.Enum):
        default = default.name.lstrip("_")
    elif isinstance(default, bool):
        default = str(default).lower()
    return f"{text}; `{default}` if left out"


def _traits(cls: Any) -> str:
    told = [f"`{name}` ({what})" for name, what in TRAITS.items() if cls.traits & getattr(traits, name)]
    if not cls.traits & (traits.PURE | traits.CONSTANT | traits.READ | traits.WRITE | traits.ALLOC):
        if not cls.traits & (traits.TERMINATOR | traits.RECURSIVE_EFFECTS) and not hasattr(cls, "effects"):
            told.append("nothing is said of its effects: it is taken to read and write memory")
    if hasattr(cls, "effects") and cls.effects.__doc__:
        told.append(f"effects: {escape(_sentence(raw_doc(cls.effects)).rstrip('.'))}")
    return f"Traits: {'; '.join(told)}." if told else ""


def _interfaces(cls: Any) -> str:
    """The interfaces that an operation implements, the most special one first."""
    found = [f"`{base.__name__}`" for base in cls.__mro__[1:] if base.__name__ in interfaces.__all__]
    return f"Interfaces: {', '.join(found)}." if found else ""


# -- rules --------------------------------------------------------------------------------------------------------


def _rules_by_class() -> dict[Any, list[tuple[str, Rule]]]:
    """The rules that name a class, with the pass that applies them."""
    found: dict[Any, list[tuple[str, Rule]]] = defaultdict(list)
    seen = set()
    for info in pkgutil.walk_packages(tritium.transforms.__path__, "tritium.transforms."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, Rule) and value not in seen:
                seen.add(value)
                module = value.fn.__module__
                name = "canonicalize" if ".rules" in module else module.rpartition(".")[2].replace("_", "-")
                for cls in value.classes:
                    found[cls].append((name, value))
    return found


def _rules(cls: Any, rules: dict[Any, list[tuple[str, Rule]]]) -> str:
    by_pass: dict[str, list[str]] = defaultdict(list)
    named = {base.__name__ for base in cls.__mro__ if base is cls or base.__name__ in interfaces.__all__}
    for name, rule in (entry for base in cls.__mro__ if base.__name__ in named for entry in rules.get(base, [])):
        by_pass[name].append(f"- {escape(' '.join(rule.equation.split()))}")
    return "\n\n".join(
        f"[{name}](../passes/{name}.md) rewrites it:\n\n" + "\n".join(sorted(lines)) for name, lines in by_pass.items()
    )


# -- types and attributes -------------------------------------------------------------------------------------------


def _types_and_attributes() -> dict[str, list[Any]]:
    """The classes of types and attributes that the modules of each dialect define, by dialect."""
    found: dict[str, list[Any]] = defaultdict(list)
    for module in (types, attributes, *MODULES):
        for value in vars(module).values():
            if not (inspect.isclass(value) and issubclass(value, (Type, Attribute))):
                continue
            if value.__module__ != module.__name__ or value in _BASES:
                continue
            name = getattr(value, "name", "") if isinstance(getattr(value, "name", ""), str) else ""
            if hasattr(value, "parameters") and not name:
                continue  # a base class
            file = module.__name__.rpartition(".")[2].partition("_")[0]
            dialect = name.partition(".")[0] or ("builtin" if module in (types, attributes) else file)
            found[dialect].append(value)
    return {dialect: sorted(values, key=_title) for dialect, values in found.items()}


_BASES = (Type, Attribute, types.ShapedType, types.OpaqueType, attributes.OpaqueAttr)


def _title(cls: Any) -> str:
    name = getattr(cls, "name", "")
    return f"{cls.sign}{name}" if isinstance(name, str) and name and hasattr(cls, "sign") else cls.__name__


def _thing(cls: Any) -> str:
    kind = "type" if issubclass(cls, Type) else "attribute"
    rows = [(f"`{p.name}`", _parameter(p)) for p in getattr(cls, "parameters", ())]
    return sections(f"### {kind} `{_title(cls)}`", doc_of(cls), table(("parameter", "what it is"), rows))


def _parameter(p: Any) -> str:
    default = p.default.name.lstrip("_") if isinstance(p.default, enum.Enum) else str(p.default)
    shown = {"True": "true", "False": "false", "()": "", "None": ""}.get(default, default)
    optional = (f"`{shown}` if left out" if shown else "may be left out") if p.optional else ""
    return "; ".join(text for text in (p.kind.what, optional) if text)
