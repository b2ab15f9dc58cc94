"""The pages of passes: what each is for, an example that was run, options, statistics, rules, position in pipelines."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import pkgutil
import re
import sys
from typing import Any

import tritium.backends
import tritium.tools.opt  # (it names the pipelines of targets)
import tritium.transforms
from tritium.ir import (
    PASSES,
    Nest,
    Operation,
    Pass,
    PassInfo,
    PassManager,
    Rule,
    parse_module,
    print_op,
)
from tritium.ir.passes.options import option_fields
from tritium.transforms import ttir

from .examples import ROOT
from .markdown import NOTE, anchor, doc_of, escape, fence, first_sentence, raw_doc, sections, table

SHOWN = ROOT / "tests" / "filetests" / "shown"  # a file a pass
_RUN = re.compile(r"// RUN: (.*)")
_COMMENT = re.compile(r"^// (?!RUN|CHECK|OUTPUT)(.*)$", re.MULTILINE)


def pass_pages() -> dict[str, str]:
    """The pages by path below docs/."""
    tables = pipelines()
    infos = ours()
    pages = {f"passes/{info.name}.md": _page(info, tables) for info in infos}
    pages["passes/index.md"] = _index(infos, tables)
    return pages


def ours() -> list[PassInfo]:
    """The passes of this package, not those that somebody loaded."""
    return [info for info in PASSES.all() if info.fn.__module__.startswith("tritium.")]


def _index(infos: list[PassInfo], tables: list[Table]) -> str:
    rows = [(f"[{i.name}]({i.name}.md)", _summary(i), ", ".join(f"`{a}`" for a in i.aliases)) for i in infos]
    return sections(
        NOTE,
        "# Passes",
        "Each runs on text by itself: `tritium opt FILE --passes cse,dce`. [Passes and "
        "pipelines](../passes-and-pipelines.md) explains how, and how to watch them; [Write a "
        "pass](../write-a-pass.md) how to make one.",
        table(("pass", "what it does", "also called"), rows),
        "## Pipelines",
        *(_pipeline(t) for t in tables),
    )


def _summary(info: PassInfo) -> str:
    """One line: that of the file if it opens with the pass's name, else the function's."""
    opening = first_sentence(raw_doc(sys.modules[info.fn.__module__]))
    name, _, rest = opening.partition(": ")
    text = rest if rest and name == info.name else info.summary
    return escape(text[:1].upper() + text[1:])


def _page(info: PassInfo, tables: list[Table]) -> str:
    about = doc_of(sys.modules[info.fn.__module__])
    name, colon, rest = about.partition(": ")
    about = rest[:1].upper() + rest[1:] if colon and name == info.name else about
    level = {"module": "the module", "function": "each function", "any": "any operation"}[info.level]
    aliases = ", ".join(f"`{a}`" for a in info.aliases)
    former = ", ".join(f"`{name}`" for name in info.former)
    facts = [
        f"It runs on {level}.",
        f"Other tools call it {aliases}." if aliases else "",
        f"Its former name {former} is accepted for one release." if former else "",
    ]
    return sections(
        NOTE,
        f"# {info.name}",
        about,
        " ".join(f for f in facts if f),
        _example(info),
        _options(info),
        _statistics(info),
        _rules(info),
        _places(info, tables),
    )


# -- options, counts, rules ---------------------------------------------------------------------------------------


_MEANING = re.compile(r"`(\w+)`: (.*?)(?=;\s+`\w+`: |$)", re.DOTALL)


def _options(info: PassInfo) -> str:
    """A table; what an option means stands in the docstring of the class, as "`name`: meaning; `other`: …"."""
    fields = option_fields(info.options)
    if info.options is None or not fields:
        return ""
    about, meanings = [], {}
    text = doc_of(info.options) if not (info.options.__doc__ or "").startswith(f"{info.options.__name__}(") else ""
    for paragraph in text.split("\n\n"):
        found = {m[1]: " ".join(m[2].split()).rstrip(".") for m in _MEANING.finditer(paragraph.strip())}
        found = {name: meaning for name, meaning in found.items() if name.replace("_", "-") in fields}
        meanings |= found
        about += [] if found else [paragraph]
    rows = [
        (f"`{key}`", _kind(ty), f"`{_shown(field.default)}`", meanings.get(field.name, ""))
        for key, (field, ty) in fields.items()
    ]
    columns = 4 if meanings else 3
    head = ("option", "value", "default", "meaning")
    return sections("## Options", *about, table(head[:columns], (row[:columns] for row in rows)))


def _kind(ty: Any) -> str:
    words = {bool: "`true` or `false`", int: "integer", float: "number", str: "word"}
    if ty in words:
        return words[ty]
    return " or ".join(f"`{m.value}`" for m in ty) if hasattr(ty, "__members__") else "list"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(getattr(value, "value", value))


def _statistics(info: PassInfo) -> str:
    if not info.statistics:
        return ""
    rows = [(name, escape(what)) for name, what in info.statistics.items()]
    return sections("## Statistics", table(("count", "of what"), rows))


def _rules(info: PassInfo) -> str:
    """The rules in the pass's own file; canonicalize applies those of the folder rules/."""
    modules = [sys.modules[info.fn.__module__]]
    if info.name == "canonicalize":
        package = importlib.import_module("tritium.transforms.rules")
        names = [m.name for m in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
        modules = [importlib.import_module(name) for name in names]
    parts = []
    for module in modules:
        rules = {v.name: v for v in vars(module).values() if isinstance(v, Rule) and v.fn.__module__ == module.__name__}
        lines = "\n".join(f"- `{name}`: {escape(' '.join(r.equation.split()))}" for name, r in rules.items())
        about = raw_doc(module)
        if lines:
            parts.append(f"{first_sentence(about)}\n\n{lines}" if len(modules) > 1 else lines)
    return sections("## Rules", *parts) if parts else ""


# -- pipelines ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Table:
    """A pipeline as it stands in a file, and the constraints on its order."""

    name: str
    module: str
    rows: list[Any]
    order: list[tuple[str, str, str]]

    @property
    def command(self) -> str:
        """The name that stands for it in a pipeline's text; "" when it has none."""
        return next((p.name for p in PASSES.pipelines.values() if p.rows() is self.rows), "")

    @property
    def title(self) -> str:
        """Its name, for headings."""
        return self.command or self.name


def pipelines() -> list[Table]:
    """The tables of passes in the sources, each once."""
    found: list[Table] = []
    for package in (tritium.transforms, tritium.backends):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "llvm" in info.name:
                continue
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                named = value if isinstance(value, dict) else {} if name.startswith("_") else {name: value}
                for title, rows in named.items():
                    if _is_pipeline(rows) and not any(t.rows is rows for t in found):
                        found.append(
                            Table(str(title), info.name, rows, _order(rows, getattr(module, "ORDER", ttir.ORDER)))
                        )
    return found


def _order(rows: list[Any], order: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The constraints on passes that the rows hold."""
    names = {row.name for row in rows if isinstance(row, Pass)}
    return [(a, b, why) for a, b, why in order if {a, b} <= names]


def _is_pipeline(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, (Pass, Nest)) for row in value)


def _pipeline(t: Table) -> str:
    rows = [(_link(row), escape(row.reason)) for row in t.rows]
    order = [f"- {a} before {b}: {escape(why)}" for a, b, why in t.order]
    path = t.module.replace(".", "/") + ".py"
    return sections(
        f"### {t.title}",
        f"`tritium opt FILE --passes {t.command}` runs it." if t.command else "",
        f"From `{path}`, in this order:",
        table(("pass", "reason"), rows),
        "Constraints on the order:" if order else "",
        "\n".join(order),
    )


def _link(row: Any) -> str:
    if isinstance(row, Nest):
        return f"{row.anchor}({', '.join(map(_link, row.rows))})"
    text = str(row)
    return f"[{text}]({row.name}.md)" if PASSES.find(row.name) else text


def _places(info: PassInfo, tables: list[Table]) -> str:
    lines = []
    for t in tables:
        for i, row in enumerate(t.rows):
            if isinstance(row, Pass) and row.name == info.name:
                lines.append(
                    f"- [{t.title}](index.md#{anchor(t.title)}), {i + 1} of {len(t.rows)}: {escape(row.reason)}"
                )
    constraints = []
    for t in tables:
        for a, b, why in t.order:
            if a == info.name:
                constraints.append(f"- before {b}: {escape(why)}")
            elif b == info.name:
                constraints.append(f"- after {a}: {escape(why)}")
    constraints = list(dict.fromkeys(constraints))
    return sections(
        "## Position in pipelines",
        "\n".join(lines) or "In no pipeline: it runs where it is requested.",
        "It must run" if constraints else "",
        "\n".join(constraints),
    )


# -- examples -----------------------------------------------------------------------------------------------------


def _example(info: PassInfo) -> str:
    path = SHOWN / f"{info.name.replace('-', '_')}.mlir"
    if not path.exists():
        return ""
    text = path.read_text().partition("// OUTPUT\n")[0]
    pipeline = _RUN.match(text)[1].replace(" ", "")  # type: ignore[index]
    before, after = parse_module(text), parse_module(text)
    PassManager(pipeline).run(after)
    command = f"tritium opt FILE --passes '{pipeline}'" if "{" in pipeline else f"tritium opt FILE --passes {pipeline}"
    caption = " ".join(m[1] for m in _COMMENT.finditer(text))
    return sections(
        "## Example",
        escape(caption),
        fence(_functions(before)),
        f"`{command}` changes it to",
        fence(_difference(_functions(before), _functions(after)), "diff"),
        f"This is the test [{path.name}](../../{path.relative_to(ROOT)}).",
    )


def _difference(before: str, after: str) -> str:
    """The whole text after a pass, with lines that it removed and added marked as in a diff."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line if line[2:].strip() else "" for line in lines if not line.startswith("?"))


def without_example() -> list[str]:
    """Passes that no file shows."""
    return [info.name for info in ours() if not _example(info)]


def _functions(module: Operation) -> str:
    """The text of a module without the module around it."""
    text = print_op(module)
    if not text.startswith("module {\n"):
        return text
    parts = [print_op(op) for op in module.regions[0].blocks[0]]
    return "\n\n".join(parts)
