"""Parsing by declarative assembly formats: one Python function per operation class, made on first use.

The function reads the elements of the format in order. Operands are taken by name; once the text has given types,
they are compared (a value used before its definition gets its type from here). Result types come from
`type(result)`, from `functional-type`, or from the class's `infer_types`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..support import UNKNOWN, InternalError
from ..support.generated import code_of
from .assembly import Element, _customs, elements, flatten, keyword_names
from .attributes import UNIT, DenseArrayAttr
from .definition import Field
from .interning import Attribute
from .traits import SAME_TYPE
from .types import i32

__all__ = ["compile_parser"]

Parse = Callable[[Any], Any]


class _ParseCompiler:
    """Writes the Python source of `parse_op(p) -> operation`."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.items = elements(cls)
        self.scope: dict[str, Any] = {"cls": cls, "create": cls.create, "DenseArrayAttr": DenseArrayAttr, "i32": i32}
        self.scope |= {"UNIT": UNIT, "UNKNOWN": UNKNOWN}
        self.lines = ["def parse_op(p):", "    a = {}"]
        self.indent = "    "
        everything = list(flatten(self.items))
        self.typed = {e.field.name for e in everything if e.kind in ("type", "stripped") and e.field is not None}
        customs = [child for e in everything if e.kind == "custom" for child in e.children]
        self.maybe_typed = {e.field.name for e in customs if e.kind == "type" and e.field is not None}
        self.functional = next((e for e in everything if e.kind == "functional-type"), None)
        self.all_operands = any(e.kind == "operands" for e in everything)
        self.all_types = {e.text for e in everything if e.kind == "types"}

    def emit(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def compile(self) -> Parse:
        self.preset()
        for e in self.items:
            self.element(e)
        self.indent = "    "
        self.operands()
        self.results()
        successors = ", ".join(f"s_{f.name}" for f in self.cls.successor_fields)
        self.emit(f"return create(operands, types, a, [], [{successors}], UNKNOWN)")
        exec(code_of("\n".join(self.lines)), self.scope)
        return self.scope["parse_op"]  # type: ignore[no-any-return]

    def preset(self) -> None:
        """Variables of optional parts start empty."""
        for e in self.items:
            for inner in flatten([*e.children, *e.otherwise]):
                f = inner.field
                if f is None or f.kind == "attribute" or inner.kind not in ("field", "type", "stripped"):
                    continue
                if inner.kind != "field":
                    self.emit(f"t_{f.name} = " + ("[]" if f.arity == "*" else "None"))
                else:
                    self.emit(f"o_{f.name} = " + ("[]" if f.arity == "*" else "None"))

    # -- elements -------------------------------------------------------------------------------------------------

    def element(self, e: Element) -> None:
        f = e.field
        if e.kind == "literal":
            if e.text.strip():
                self.emit(f"p.expect({e.text!r})")
        elif e.kind == "field":
            assert f is not None
            self.field(f)
        elif e.kind == "type":
            assert f is not None
            read = {"1": "type", "?": "optional_type", "*": "types"}[f.arity]
            self.emit(f"t_{f.name} = p.{read}()")
        elif e.kind == "types":
            self.emit(f"t_{e.text} = p.types()")
        elif e.kind == "stripped":
            assert f is not None
            self.emit(f"t_{f.name} = p.stripped_type({e.text!r})")
        elif e.kind == "custom":
            self.custom(e)
        elif e.kind == "former":
            self.former(e)
        elif e.kind == "oilist":
            self.oilist(e)
        elif e.kind == "attr-dict":
            self.emit("if p.text[p.pos] == '{': a.update(p.attr_dict())")
        elif e.kind == "attr-dict-with-keyword":
            self.emit("a.update(p.attr_dict('attributes'))")
        elif e.kind == "operands":
            self.emit("operands = p.operands()")
        elif e.kind == "functional-type":
            self.emit("ins, outs = p.functional_type()")
        else:
            self.group(e)

    def field(self, f: Field) -> None:
        if f.kind == "operand":
            read = {"1": "operand", "?": "optional_operand", "*": "operands"}[f.arity]
            self.emit(f"o_{f.name} = p.{read}()")
        elif f.kind == "successor":
            self.emit(f"s_{f.name} = p.successor()")
        elif f.form != "flag":
            self.emit(f"a['{f.name}'] = {self.attribute(f)}")

    def attribute(self, f: Field) -> str:
        form = f.form
        if form == "enum":
            self.scope[f"words_{f.name}"] = self.keywords(f)
            return f"p.keyword(words_{f.name}, '{f.name}')"
        if form.startswith("#"):
            return f"p.dialect_body('{form}')"
        readers = {"int": "integer", "str": "string", "symbol": "symbol_name", "type": "type", "array": "integers"}
        if form not in readers:
            return "p.attribute()"
        self.scope[f"encode_{f.name}"] = f.encode
        return f"encode_{f.name}(p.{readers[form]}())"

    def keywords(self, f: Field) -> dict[str, Attribute]:
        encode = f.encode
        assert encode is not None and f.enum is not None
        return {word: encode(f.enum(number)) for number, word in keyword_names(f).items()}

    def custom(self, e: Element) -> None:
        self.scope[f"read_{e.text}"] = _customs[e.text].read
        names, attributes = [], []
        for child in e.children:
            f = child.field
            assert f is not None
            if f.kind == "attribute":
                attributes.append(f.name)
                names.append(f"x_{f.name}")
            else:
                names.append(f"{'o' if child.kind == 'field' else 't'}_{f.name}")
        self.emit(f"{', '.join(names)}, = read_{e.text}(p)")
        for name in attributes:
            self.emit(f"if x_{name} is not None: a['{name}'] = x_{name}")

    def former(self, e: Element) -> None:
        name, attribute = e.text.split()
        self.scope[f"read_{name}"] = _customs[name].read
        self.emit("if p.text[p.pos].isalpha():")
        self.emit(f"    (x,) = read_{name}(p)")
        self.emit(f"    if x is not None: a['{attribute}'] = x")

    def oilist(self, e: Element) -> None:
        """The clauses in a loop, which ends where none of their words is next."""
        at = f"seen_{len(self.lines)}"
        self.emit(f"{at} = set()")
        self.emit("while True:")
        self.indent += "    "
        for i, clause in enumerate(e.children):
            word = clause.children[0].text
            self.emit(f"{'el' if i else ''}if p.accept({word!r}):")
            self.indent += "    "
            self.emit(f"p.once({at}, {word!r})")
            flags = {inner.field.name for inner in clause.children if inner.field and inner.field.form == "flag"}
            for name in sorted(flags):
                self.emit(f"a['{name}'] = UNIT")
            for child in clause.children[1:]:
                self.element(child)
            self.indent = self.indent[4:]
        self.emit("else: break")
        self.indent = self.indent[4:]

    def group(self, e: Element) -> None:
        first = e.children[0]
        anchor = e.anchor
        assert anchor is not None
        self.emit(f"if {self.foreseen(first)}:")
        self.indent += "    "
        if anchor.form == "flag":
            self.emit(f"a['{anchor.name}'] = UNIT")
        for child in e.children[first.kind == "literal" :]:
            self.element(child)
        self.emit("pass")
        self.indent = self.indent[4:]
        if e.otherwise:
            self.emit("else:")
            self.indent += "    "
            for child in e.otherwise:
                self.element(child)
            self.emit("pass")
            self.indent = self.indent[4:]

    def foreseen(self, first: Element) -> str:
        """The condition that a group with this first element holds; a literal is stepped over."""
        f = first.field
        if first.kind == "literal":
            return f"p.accept({first.text!r})"
        if first.kind == "field" and f is not None:
            if f.form == "enum":
                self.scope[f"words_{f.name}"] = self.keywords(f)
                return f"p.at_keyword(words_{f.name})"
            if f.form == "int":
                return "p.at_number()"
            sign = "%" if f.kind == "operand" else {"str": '"', "symbol": "@", "array": "["}.get(f.form)
            if sign is not None:
                return f"p.text[p.pos] == {sign!r}"
        raise InternalError(f"{self.cls.name}: a group of its format begins with what cannot be foreseen")

    # -- operands and results -------------------------------------------------------------------------------------

    def operands(self) -> None:
        fields = self.cls.operand_fields
        if not self.all_operands:
            self.gather(fields)
            for f in fields:
                if f.name in self.typed:
                    self.check_type(f)
        if "operands" in self.all_types:
            self.emit("p.typed(operands, t_operands)")
        if self.functional is not None:
            group = self.functional.inputs
            values = "operands" if group is None else f"[o_{group.name}]" if group.arity == "1" else f"o_{group.name}"
            self.emit(f"p.typed({values}, ins)")
        if self.cls.traits & SAME_TYPE and fields:
            given = [f.name for f in (*self.cls.result_fields, *fields) if f.name in self.typed and f.arity == "1"]
            if given:
                self.emit(
                    f"for v in operands:\n{self.indent}    if v.type is not t_{given[0]}: p.typed([v], [t_{given[0]}])"
                )

    def gather(self, fields: list[Field]) -> None:
        if all(f.arity == "1" for f in fields):
            self.emit(f"operands = [{', '.join(f'o_{f.name}' for f in fields)}]")
            return
        parts = {
            "1": "[o_{0}]",
            "?": "([] if o_{0} is None else [o_{0}])",
            "*": "o_{0}",
        }
        self.emit("operands = " + " + ".join(parts[f.arity].format(f.name) for f in fields))
        if self.cls.segmented:
            size = {"1": "1", "?": "int(o_{0} is not None)", "*": "len(o_{0})"}
            sizes = ", ".join(size[f.arity].format(f.name) for f in fields)
            self.emit(f"a['operandSegmentSizes'] = DenseArrayAttr(({sizes},), i32)")

    def check_type(self, f: Field) -> None:
        name = f.name
        if f.arity == "*":
            self.emit(f"p.typed(o_{name}, t_{name})")
        elif f.arity == "?":
            self.emit(f"if o_{name} is not None: p.typed([o_{name}], [t_{name}])")
        else:
            said = f"t_{name} is not None and " if name in self.maybe_typed else ""
            self.emit(f"if {said}o_{name}.type is not t_{name}: p.typed([o_{name}], [t_{name}])")

    def results(self) -> None:
        fields = self.cls.result_fields
        if self.functional is not None or "results" in self.all_types:
            self.emit(f"types = {'outs' if self.functional is not None else 't_results'}")
            if self.cls.segmented_results:
                raise InternalError(f"{self.cls.name}: its format does not tell which result belongs to which field")
            return
        if not fields:
            self.emit("types = []")
            return
        if all(f.name in self.typed for f in fields):
            part = {"1": "[t_{0}]", "?": "([] if t_{0} is None else [t_{0}])", "*": "t_{0}"}
            parts = [part[f.arity].format(f.name) for f in fields]
            self.emit(f"types = {' + '.join(parts)}")
            if self.cls.segmented_results:
                sizes = ", ".join(f"len({p})" for p in parts)
                self.emit(f"a['resultSegmentSizes'] = DenseArrayAttr(({sizes},), i32)")
            return
        self.emit("types = p.inferred(cls, operands, a)")
        for f in fields:
            if f.name in self.typed:
                self.emit(f"p.agree(types[{f.index}], t_{f.name}, '{f.name}')")


def compile_parser(cls: Any) -> Parse:
    """The function that reads an operation of this class after its name: `(parser) -> operation`."""
    return _ParseCompiler(cls).compile()
