"""Declarative assembly formats: the text of an operation said once, compiled to a printer and a parser.

The language is that of MLIR's operation definitions:

| element | stands for |
|---|---|
| `` `x` `` | the literal x; `` `` `` suppresses the space before what follows |
| `$field` | an operand (or several), an attribute, a successor |
| `type($field)` | the type (or types) of an operand or a result; `type(operands)`, `type(results)`: of all |
| `qualified(…)` | what is in it: types are always written in full |
| `` stripped(`!d.t`, $field) `` | the type without the prefix `!d.t`, read with or without it |
| `attr-dict` | the attributes the format names nowhere, `{a = 1 : i32}`, nothing when there are none |
| `attr-dict-with-keyword` | the same after the word `attributes` |
| `operands` | all operands |
| `functional-type(a, b)` | `(types of a) -> types of b`; a, b: `$field`, `operands`, `results` |
| `( … $x^ … )?` | printed when x is there (and differs from its default) |
| `( … $x^ … ) : ( … )?` | the same, and the second bracket when it is not |
| `` oilist(`k` … | `l` …) `` | clauses in any order, each printed when something it names is there |
| `custom<Name>(…)` | `$field` and `type($field)` as the functions registered by `custom_syntax` say |
| `former<Name>($field)` | an older spelling of an attribute, registered likewise: read, and never written |

`elements(cls)` gives the tree; this module compiles printing, `assembly_parser` parsing. Both write one Python
function per class, made on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..support import InternalError
from ..support.generated import code_of
from ..support.patterns import pattern
from .attributes import UNIT, quote
from .definition import Field
from .interning import Attribute

__all__ = [
    "Custom",
    "Element",
    "Printer",
    "attribute_text",
    "compile_printer",
    "custom_syntax",
    "default_attributes",
    "elements",
    "keyword_names",
]

_TOKEN = pattern(
    r"\s*(?:`(?P<literal>[^`]*)`|\$(?P<field>\w+)|custom<(?P<custom>\w+)>|former<(?P<former>\w+)>"
    r"|(?P<word>[a-z][a-z\-]*)(?P<open>\()?|(?P<punctuation>[()?^:,|]))"
)
SIZES = ("operandSegmentSizes", "resultSegmentSizes")


class Custom(NamedTuple):
    """The syntax of `custom<Name>(…)`.

    `write(printer, …)` gets an operand, type or attribute per argument (None where absent, a list where there may be
    several) and returns the text. `read(parser)` returns as many, in a tuple.
    """

    write: Callable[..., str]
    read: Callable[[Any], tuple[Any, ...]]


_customs: dict[str, Custom] = {}


def custom_syntax(name: str, write: Callable[..., str], read: Callable[[Any], tuple[Any, ...]]) -> None:
    """Register what `custom<name>(…)` stands for in formats."""
    if name in _customs:
        raise InternalError(f"the syntax custom<{name}> is defined twice")
    _customs[name] = Custom(write, read)


class Element:
    """One element of a format.

    `kind` is literal, field, type, types, stripped, attr-dict, operands, functional-type, custom, former, oilist or
    group. The children of a custom are its arguments, those of an oilist a group for each clause. `text` is a literal,
    the name of a custom, the prefix of a stripped type, "operands" or "results" for types; for a former spelling, its
    name and the attribute's.
    """

    __slots__ = ("anchor", "children", "field", "inputs", "kind", "otherwise", "outputs", "text")

    def __init__(self, kind: str, text: str = "", field: Field | None = None) -> None:
        self.kind = kind
        self.text = text
        self.field = field
        self.children: list[Element] = []
        self.otherwise: list[Element] = []  # group: the text when the anchor is absent
        self.anchor: Field | None = None
        self.inputs: Field | None = None  # functional-type: None stands for all operands
        self.outputs: Field | None = None  # functional-type: None stands for all results


_P = "punctuation"


class _Reader:
    """Turns the text of a format into elements."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.fields = {f.name: f for f in cls.fields}
        self.tokens = self._tokens(cls.assembly)
        self.at = 0

    def _tokens(self, text: str) -> list[tuple[str, str]]:
        out: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            m = _TOKEN.match(text, at)
            if m is None:
                raise InternalError(f"{self.cls.name}: cannot read its assembly format at {text[at:]!r}")
            kind = m.lastgroup or ""
            if kind == "open":
                out += [("word", m["word"]), ("punctuation", "(")]
            else:
                out.append((kind, m[kind]))
            at = m.end()
        return out

    def field(self) -> Field:
        kind, text = self.take()
        if kind != "field" or text not in self.fields:
            raise InternalError(f"{self.cls.name}: its assembly format names the unknown field {text!r}")
        return self.fields[text]

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, expected: str | None = None) -> tuple[str, str]:
        token = self.peek()
        if expected is not None and token[1] != expected:
            raise InternalError(f"{self.cls.name}: its assembly format has {token[1]!r} in place of {expected!r}")
        self.at += 1
        return token

    def sequence(self, group: Element | None = None) -> list[Element]:
        out: list[Element] = []
        while self.peek()[0] != "end" and self.peek() not in ((_P, ")"), (_P, "|")):
            element = self.element()
            if self.peek() == (_P, "^"):
                self.take()
                if group is None:
                    raise InternalError(f"{self.cls.name}: an anchor outside of a group in its assembly format")
                group.anchor = element.field
            out.append(element)
        return out

    def element(self) -> Element:
        kind, text = self.peek()
        if kind == "field":
            return Element("field", field=self.field())
        self.take()
        if kind == "literal":
            return Element("literal", text)
        if kind == "custom":
            return self.custom(text)
        if kind == "former":
            return self.former(text)
        if (kind, text) == (_P, "("):
            return self.group()
        if text in ("attr-dict", "attr-dict-with-keyword", "operands"):
            return Element(text)
        read = {
            "type": self.type,
            "qualified": self.qualified,
            "stripped": self.stripped,
            "functional-type": self.functional_type,
            "oilist": self.oilist,
        }.get(text)
        if read is None:
            raise InternalError(f"{self.cls.name}: {text!r} in its assembly format is not known")
        self.take("(")
        element = read()
        self.take(")")
        return element

    def group(self) -> Element:
        group = Element("group")
        group.children = self.sequence(group)
        self.take(")")
        if self.peek() == (_P, ":"):
            self.take()
            self.take("(")
            group.otherwise = self.sequence()
            self.take(")")
        self.take("?")
        if group.anchor is None:
            raise InternalError(f"{self.cls.name}: a group without an anchor in its assembly format")
        return group

    def type(self) -> Element:
        if self.peek()[1] in ("operands", "results"):
            return Element("types", self.take()[1])
        return Element("type", field=self.field())

    def qualified(self) -> Element:
        return self.element()

    def stripped(self) -> Element:
        prefix = self.take()[1]
        self.take(",")
        return Element("stripped", prefix, self.field())

    def custom(self, name: str) -> Element:
        if name not in _customs:
            raise InternalError(f"{self.cls.name}: no function is registered for the syntax custom<{name}>")
        element = Element("custom", name)
        self.take("(")
        while self.peek() != (_P, ")"):
            if element.children:
                self.take(",")
            element.children.append(self.element())
        self.take(")")
        return element

    def former(self, name: str) -> Element:
        self.take("(")
        field = self.field()
        self.take(")")
        return Element("former", f"{name} {field.name}")

    def oilist(self) -> Element:
        element = Element("oilist")
        while True:
            clause = Element("group")
            clause.children = self.sequence()
            if not clause.children or clause.children[0].kind != "literal":
                raise InternalError(f"{self.cls.name}: a clause of its oilist does not begin with a literal")
            element.children.append(clause)
            if self.peek() != (_P, "|"):
                return element
            self.take()

    def functional_type(self) -> Element:
        element = Element("functional-type")
        if self.peek()[1] == "operands":
            self.take()
        else:
            element.inputs = self.field()
        self.take(",")
        if self.peek()[1] == "results":
            self.take()
        else:
            element.outputs = self.field()
        return element


def elements(cls: Any) -> list[Element]:
    """The elements of the format of an operation class."""
    reader = _Reader(cls)
    out = reader.sequence()
    if reader.peek()[0] != "end":
        raise InternalError(f"{cls.name}: unbalanced brackets in its assembly format")
    return out


def flatten(items: list[Element]) -> Iterator[Element]:
    """All elements, those inside groups too."""
    for e in items:
        yield e
        yield from flatten(e.children)
        yield from flatten(e.otherwise)


def default_attributes(cls: Any) -> dict[str, Attribute]:
    """The attributes that stand for the class-level defaults of fields, by name."""
    out: dict[str, Attribute] = {}
    for name, f in cls.attribute_fields.items():
        value = cls._defaults.get(name)
        if value is None and f.form.startswith("#") and f.has_none:
            value = "none"  # flags are bit sets, and no bit is the same as no attribute
        if value is not None and f.form != "flag":
            assert f.encode is not None
            out[name] = f.encode(value)
    return out


def keyword_names(f: Field) -> dict[int, str]:
    """Keywords of an enum field by number; a leading underscore only avoids Python's own keywords."""
    assert f.enum is not None
    return {int(member): member.name.lstrip("_") for member in f.enum}


def attribute_text(f: Field) -> Callable[[Any], str]:
    """How the attribute of a field is written where the format names it."""
    form = f.form
    if form == "enum":
        names = keyword_names(f)
        return lambda a: names[a.value]
    if form == "int":
        return lambda a: str(a.value)
    if form == "array":
        return lambda a: f"[{', '.join(map(str, a.values))}]"
    if form == "bool":
        return lambda a: "true" if a.value else "false"
    if form == "str":
        return lambda a: quote(a.value)
    if form == "flag":
        return lambda a: ""
    return str


# -- printing -----------------------------------------------------------------------------------------------------

Printer = Callable[[Any, Any], str]
_OPENING, _NO_SPACE_BEFORE = "<({[", "<>(){}[],"


class _PrintCompiler:
    """Writes the Python source of a printing function: `print_op(op, p) -> str`, without results and location."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.items = elements(cls)
        self.defaults = default_attributes(cls)
        self.scope: dict[str, Any] = {"UNIT": UNIT}
        self.lines: list[str] = []
        self.buffer = ""
        self.indent = "    "
        self.space, self.punctuation = True, False
        self.started = False

    def compile(self) -> Printer:
        used = {e.field.name for e in flatten(self.items) if e.field is not None}
        self.inline = frozenset(n for n in self.cls.attribute_fields if n in used) | frozenset(SIZES)
        self.scope["INLINE"] = self.inline
        self.scope["DEFAULTS"] = self.defaults
        self.lines = ["def print_op(op, p):", "    n = p.names; t = p.types; a = op.attributes; o = op.operands"]
        self.operands()
        self.scope["NAME"] = self.cls.name
        self.value("NAME")
        self.sequence(self.items)
        self.flush()
        self.lines.append("    return s")
        exec(code_of("\n".join(self.lines)), self.scope)
        return self.scope["print_op"]  # type: ignore[no-any-return]

    def operands(self) -> None:
        """Bind `o_<field>` to a value, or to a list for fields of variable size."""
        fields = self.cls.operand_fields
        if all(f.arity == "1" for f in fields):
            for f in fields:
                self.lines.append(f"    o_{f.name} = o[{f.index}]")
            return
        if self.cls.segmented:
            self.lines.append("    sizes = a['operandSegmentSizes'].values; e = 0")
            for f in fields:
                self.lines.append(f"    b = e; e += sizes[{f.index}]")
                self.lines.append(f"    o_{f.name} = " + ("o[b]" if f.arity == "1" else "o[b:e]"))
            return
        for f in fields:
            after = len(fields) - f.index - 1
            if f.arity == "1":
                fixed = all(g.arity == "1" for g in fields[: f.index])
                self.lines.append(f"    o_{f.name} = o[{f.index if fixed else -after - 1}]")
            else:
                self.lines.append(f"    o_{f.name} = o[{f.index}:len(o) - {after}]")

    # The text of consecutive elements is gathered into one f-string.

    def text(self, literal: str) -> None:
        self.buffer += literal.replace("{", "{{").replace("}", "}}")

    def value(self, expression: str) -> None:
        self.buffer += "{" + expression + "}"

    def flush(self) -> None:
        if self.buffer:
            quoted = '"""' + self.buffer.replace("\\", "\\\\") + '"""'
            self.lines.append(f"{self.indent}s {'+=' if self.started else '='} f{quoted}")
            self.started, self.buffer = True, ""

    def sequence(self, items: list[Element]) -> None:
        for e in items:
            getattr(self, "on_" + e.kind.replace("-", "_"))(e)

    def gap(self) -> None:
        """The space before anything but a literal."""
        if self.space or not self.punctuation:
            self.text(" ")
        self.space, self.punctuation = True, False

    def on_literal(self, e: Element) -> None:
        text = e.text
        if not text.strip():
            self.text(text)
            self.space, self.punctuation = False, True
            return
        if self.space:
            wide = len(text) != 1 and text != "->"
            if wide or text[0] not in (">)}]," if self.punctuation else _NO_SPACE_BEFORE):
                self.text(" ")
        self.text(text)
        self.space = len(text) != 1 or text not in _OPENING
        self.punctuation = not (text[0] == "_" or text[0].isalpha())

    def on_field(self, e: Element) -> None:
        f = e.field
        assert f is not None
        if f.kind == "attribute" and f.form == "flag":
            return
        self.gap()
        if f.kind == "operand":
            self.value(f"n[o_{f.name}]" if f.arity == "1" else f"', '.join([n[v] for v in o_{f.name}])")
        elif f.kind == "successor":
            self.value(f"p.blocks[op.successors[{f.index}]]")
        else:
            self.attribute(f)

    def attribute(self, f: Field) -> None:
        found = f"a['{f.name}']"
        if f.name in self.defaults:
            self.scope[f"default_{f.name}"] = self.defaults[f.name]
            found = f"a.get('{f.name}', default_{f.name})"
        if f.form == "type":
            self.value(f"t[{found}.type]")
            return
        if f.form in ("any", "symbol"):
            self.value(f"t[{found}]")
            return
        if f.form.startswith("#"):
            self.value(f"p.body({found})[{len(f.form)}:]")
            return
        self.scope[f"text_{f.name}"] = attribute_text(f)
        self.value(f"text_{f.name}({found})")

    def on_type(self, e: Element) -> None:
        self.gap()
        f = e.field
        assert f is not None
        self.value(self.types(f))

    def types(self, f: Field) -> str:
        if f.kind == "operand":
            return f"t[o_{f.name}.type]" if f.arity == "1" else f"', '.join([t[v.type] for v in o_{f.name}])"
        if f.arity == "1" and all(g.arity == "1" for g in self.cls.result_fields):
            return f"t[op.results[{f.index}].type]"
        if f.arity == "1":
            return f"t[op.{f.name}.type]"
        if f.arity == "*":
            return f"', '.join([t[v.type] for v in op.{f.name}])"
        return f"t[op.{f.name}.type] if op.{f.name} is not None else ''"

    def on_types(self, e: Element) -> None:
        self.gap()
        self.value(f"', '.join([t[v.type] for v in {'o' if e.text == 'operands' else 'op.results'}])")

    def on_stripped(self, e: Element) -> None:
        self.gap()
        f = e.field
        assert f is not None and f.arity == "1"
        self.value(f"p.body({'o_' if f.kind == 'operand' else 'op.'}{f.name}.type).removeprefix({e.text!r})")

    def on_custom(self, e: Element) -> None:
        self.gap()
        self.scope[f"custom_{e.text}"] = _customs[e.text].write
        self.value(f"custom_{e.text}({', '.join(['p', *map(self.argument, e.children)])})")

    def on_former(self, e: Element) -> None:
        """Nothing: the attribute is printed among the others."""

    def argument(self, e: Element) -> str:
        """A part of the operation as an argument of a function for custom syntax."""
        f = e.field
        assert f is not None
        if f.kind == "attribute":
            return f"a.get('{f.name}')"
        values = f"o_{f.name}" if f.kind == "operand" else f"op.{f.name}"
        if e.kind == "field":
            return values if f.arity != "?" or f.kind == "result" else f"({values}[0] if {values} else None)"
        if f.arity == "1":
            return f"{values}.type"
        if f.arity == "*":
            return f"[v.type for v in {values}]"
        if f.kind == "result":
            return f"({values}.type if {values} is not None else None)"
        return f"({values}[0].type if {values} else None)"

    def on_operands(self, e: Element) -> None:
        self.gap()
        self.value("', '.join([n[v] for v in o])")

    def on_attr_dict(self, e: Element, keyword: str = "") -> None:
        self.flush()
        sizes = self.cls.segmented or self.cls.segmented_results
        condition = "a" if len(self.inline) == len(SIZES) and not sizes else "len(a) > 0"
        self.lines.append(f"{self.indent}if {condition}: s += p.attr_dict(a, INLINE, DEFAULTS, '{keyword}')")
        self.punctuation = False

    def on_attr_dict_with_keyword(self, e: Element) -> None:
        self.on_attr_dict(e, "attributes ")

    def on_functional_type(self, e: Element) -> None:
        self.gap()
        inputs = "o"
        if e.inputs is not None:
            inputs = f"[o_{e.inputs.name}]" if e.inputs.arity == "1" else f"o_{e.inputs.name}"
        self.value(f"p.functional_type({inputs}, op.results)")

    def on_group(self, e: Element) -> None:
        assert e.anchor is not None
        self.branch(f"if {self.present(e.anchor)}:", e.children)
        if e.otherwise:
            self.branch("else:", e.otherwise)

    def on_oilist(self, e: Element) -> None:
        for clause in e.children:
            named = {inner.field.name: inner.field for inner in flatten(clause.children) if inner.field is not None}
            self.branch(f"if {' or '.join(self.present(f) for f in named.values())}:", clause.children)

    def present(self, f: Field) -> str:
        """The condition that a field is there, and no default."""
        if f.kind == "operand":
            return f"o_{f.name}"
        if f.kind != "attribute":
            return f"op.{f.name}"
        if f.name not in self.defaults:
            return f"'{f.name}' in a"
        self.scope[f"default_{f.name}"] = self.defaults[f.name]
        return f"a.get('{f.name}', default_{f.name}) is not default_{f.name}"

    def branch(self, head: str, items: list[Element]) -> None:
        self.flush()
        self.lines.append(self.indent + head)
        self.indent += "    "
        length = len(self.lines)
        self.sequence(items)
        self.flush()
        if len(self.lines) == length:
            self.lines.append(f"{self.indent}pass")
        self.indent = self.indent[4:]


def compile_printer(cls: Any) -> Printer:
    """The function that writes an operation of this class: `(op, printer) -> text`."""
    return _PrintCompiler(cls).compile()
