"""MLIR text to IR: pretty and generic operations, aliases, forward references, locations.

    module = parse_module(text, "kernel.ttir")

What is read prints as it was: `print_op(parse_module(print_op(m))) == print_op(m)`. A mistake in the text is one
`ParseError` with line, caret and hint. Operations whose syntax no declarative format can say define the class method
`parse_assembly(cls, parser)`, which reads all after the name through the methods of `Parser` and returns the
operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..support import UNKNOWN, FileLineColLoc, InternalError, Location
from ..support.lazy import LazyModule
from ..support.recursion import deep_recursion, too_deep_text
from .assembly_parser import compile_parser
from .attributes import DIALECT_ATTRIBUTES, OpaqueAttr
from .definition import FORMER_NAMES, OPS, UnregisteredOp
from .interning import Attribute
from .lexer import BLANK, END, ParseError
from .naming import restore_hints
from .operation import Block, Operation, Region, Value
from .parse_attributes import AttributeParser
from .registry import load_dialect
from .resources import Resources, read_resources
from .traits import ISOLATED, TERMINATOR
from .types import DIALECT_TYPES, Type

__all__ = ["Argument", "ParseError", "Parser", "parse_attribute", "parse_module", "parse_modules", "parse_type"]

_difflib = LazyModule("difflib")  # as slow to import as a kernel is to parse

_one_result = re.compile(r"(%[\w$.\-]+)\s*=" + BLANK).match
_op_name = re.compile(r"([A-Za-z_][\w$.]*)" + BLANK).match
_aliased_location = re.compile(r"loc\((#[\w$.]+)\)" + BLANK, re.ASCII).match
_numbered = re.compile(r"%\d+").fullmatch
NO_DIALECTS = "no dialect is loaded: `import tritium.dialects`"
_SHORT_NAMES = {"module": "builtin.module"}
_parsers: dict[type, Callable[[Any], Operation]] = {}


class Argument(NamedTuple):
    """An argument as written: `%name: type {attributes} loc(…)`; the name is empty in a declaration."""

    name: str
    type: Type
    attributes: dict[str, Attribute] = {}
    loc: Location = UNKNOWN


class _Forward(Value):
    """A value used before its definition; its type is None until the text tells it.

    `named` counts how often the text has named it: more than `users` knows of while an operation is read whose regions
    come after its operands. If one of these regions defines the value, that is noted as `found`.
    """

    __slots__ = ("at", "found", "named")

    def __init__(self, at: int) -> None:
        self.at = at
        self.named = 0
        self.found: Value | None = None
        self.type = None  # type: ignore[assignment]
        self.users = {}
        self.hint = None


def _suggestion(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or nothing."""
    if len(name) > 60:
        return ""
    close = _difflib.get_close_matches(name, [k for k in islice(known, 2000) if len(k) <= 60], 1)
    return f"did you mean '{close[0]}'?" if close else ""


def _parser_of(cls: Any) -> Callable[[Any], Operation] | None:
    if hasattr(cls, "parse_assembly"):
        made = cls.parse_assembly
    elif cls.assembly is not None:
        made = compile_parser(cls)
    else:
        return None
    _parsers[cls] = made
    return made  # type: ignore[no-any-return]


class Parser(AttributeParser):
    """Reads operations; what hooks use are its public methods and those of the classes below it."""

    def __init__(
        self,
        text: str,
        filename: str,
        allow_unregistered: bool = False,
        *,
        text_locations: bool = False,
        first_line: int = 1,
    ) -> None:
        super().__init__(text, filename, allow_unregistered, first_line)
        self.resources: Resources = {}
        self._text_locations = text_locations
        self._values: dict[str, Value] = {}
        self._forwards: dict[str, _Forward] = {}
        self._scope: list[str] = []
        self._blocks: dict[str, Block] = {}
        self._block_uses: dict[str, int] = {}
        self._op_start = 0
        self._pending = 0
        self._implied: list[Any] = []  # terminators made for the operation that is being read

    # -- values ---------------------------------------------------------------------------------------------------

    def operand(self) -> Value:
        """A value by name; its type is checked by `typed`."""
        at = self.pos
        name = self.value_name()
        value = self._values.get(name)
        return value if value is not None else self._undefined(name, at)

    def optional_operand(self) -> Value | None:
        """A value if one is next."""
        return self.operand() if self.text[self.pos] == "%" else None

    def operands(self, count: int | None = None) -> list[Value]:
        """`%a, %b`: any number, or exactly `count`."""
        out: list[Value] = []
        at = self.pos
        if self.text[self.pos] == "%":
            out.append(self.operand())
            while self.accept(","):
                out.append(self.operand())
        if count is not None and len(out) != count:
            raise self.error(f"expected {count} operands, found {len(out)}", at)
        return out

    def _undefined(self, name: str, at: int) -> Value:
        base, _, index = name.partition("#")
        if index and base in self._values:
            if index == "0" and f"{base}#1" not in self._values:
                return self._values[base]
            raise self.error(f"'{base}' has no result number {index}", at)
        found = self._forwards.get(name)
        if found is None:
            found = self._forwards[name] = _Forward(at)
        found.named += 1
        return found

    def typed(self, values: Sequence[Value], types: Sequence[Type]) -> None:
        """Check the values against the types that the text gives for them."""
        if len(values) != len(types):
            raise self.error(f"{len(values)} operands, but {len(types)} types", self._op_start)
        for value, ty in zip(values, types):
            if value.type is ty:
                continue
            if value.type is None:
                value.type = ty
                continue
            name = next((n for n, v in {**self._values, **self._forwards}.items() if v is value), "?")
            at = self._find(name)
            raise self.error(f"'{name}' has the type {value.type}, but is used as {ty}", at)

    def _find(self, name: str) -> int:
        """Where the current operation mentions a value."""
        at = re.compile(re.escape(name) + r"(?![\w$.\-])").search(self.text, self._op_start, self.pos)
        return at.start() if at else self._op_start

    def define(self, name: str, value: Value, at: int | None = None) -> None:
        """Bind `%name` to `value` for the rest of the scope."""
        if name in self._values:
            raise self.error(f"'{name}' is defined twice", at)
        self._values[name] = value
        self._scope.append(name)
        if not _numbered(name) and "#" not in name:
            value.hint = name[1:]
        if self._forwards:
            self._resolve(name, value, at)

    def _resolve(self, name: str, value: Value, at: int | None) -> None:
        forward = self._forwards.pop(name, None)
        if forward is None:
            return
        if forward.type is not None and forward.type is not value.type:
            raise self.error(f"'{name}' has the type {value.type}, but was used before as {forward.type}", at)
        forward.named -= sum(forward.users.values())
        forward.replace_all_uses_with(value)
        if forward.named:
            forward.found, forward.type = value, value.type
            self._pending += forward.named

    def _settle(self, op: Operation) -> None:
        """Give an operation the values that its own regions have defined."""
        for i, v in enumerate(op.operands):
            if v.__class__ is _Forward and v.found is not None:  # type: ignore[attr-defined]
                op.set_operand(i, v.found)  # type: ignore[attr-defined]
                self._pending -= 1

    def _check_forwards(self) -> None:
        for name, forward in self._forwards.items():
            raise self.error(f"'{name}' is not defined", forward.at, _suggestion(name, self._values))

    # -- types and attributes of operations ------------------------------------------------------------------------

    def inferred(self, cls: Any, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """Result types by the rule of the class."""
        try:
            types: list[Type] = cls.infer_types(operands, attributes)
        except (AssertionError, AttributeError, KeyError, IndexError, ValueError, InternalError) as error:
            raise self.error(f"the result types of {cls.name} do not follow: {error}", self._op_start) from None
        if any(ty is None for ty in types):
            raise self.error(f"the result types of {cls.name} follow from a value defined later", self._op_start)
        return types

    def agree(self, inferred: Type, written: Type, name: str) -> None:
        """The type written for the result `name` must be the one that follows."""
        if inferred is not written:
            raise self.error(f"the type of '{name}' is {inferred}, not {written}", self._op_start)

    def keyword(self, words: dict[str, Attribute], what: str) -> Attribute:
        """One of the words of an enumeration; older texts have it in quotes."""
        at = self.pos
        word = self.string() if self.text[at] == '"' else self.word(f"one of {', '.join(words)}")
        if word not in words:
            raise self.error(f"'{word}' is no value of '{what}'", at, f"there are {', '.join(words)}")
        return words[word]

    def at_keyword(self, words: dict[str, Attribute]) -> bool:
        """Whether a word of an enumeration is next."""
        m = _op_name(self.text, self.pos)
        return m is not None and m[1] in words

    def optional_type(self) -> Type | None:
        """A type if one is next."""
        ch = self.text[self.pos]
        return self.type() if ch in "!(" or ch.isalpha() else None

    def once(self, seen: set[str], word: str) -> None:
        """Note that the clause `word` has come, which may come but once."""
        if word in seen:
            raise self.error(f"'{word}' is given twice", self._op_start)
        seen.add(word)

    def stripped_type(self, prefix: str) -> Type:
        """A type of the kind `prefix` (`!dialect.name`), which may be left out: `<…>`."""
        if not self.peek("<"):
            return self.type()
        return DIALECT_TYPES[prefix[1:]](self)

    def dialect_body(self, prefix: str) -> Attribute:
        """`<body>` of an attribute whose prefix is left out."""
        if not self.peek("<"):
            raise self.expected(f"'<' of {prefix}")
        parse = DIALECT_ATTRIBUTES.get(prefix[1:])
        return OpaqueAttr(prefix + self.body_text()) if parse is None else parse(self)

    # -- regions --------------------------------------------------------------------------------------------------

    def arguments(self) -> list[Argument]:
        """`(%a: i32 {k = 1 : i32} loc(…), …)`, or types alone as in a declaration."""
        self.expect("(")
        return self.comma_list(self._argument, ")")

    def _argument(self) -> Argument:
        name, at = "", self.pos
        if self.text[self.pos] == "%":
            name = self.value_name()
            self.expect(":")
        ty, attributes = self.type(), self.attr_dict()
        return Argument(name, ty, attributes, self.location() if self.peek("loc") else self.place(at))

    def place(self, at: int) -> Location:
        """The location of what stands at `at` without one: unknown, or where that is in the text."""
        return FileLineColLoc(self.filename, *self.line_column(at)) if self._text_locations else UNKNOWN

    def region(
        self,
        arguments: Iterable[Any] = (),
        *,
        isolated: bool = False,
        terminator: Any = None,
        implicit_entry: bool = True,
    ) -> Region:
        """`{ … }`. `arguments` (`Argument`, or name and type) belong to the entry block and stand outside the braces.

        `isolated`: nothing from outside is visible. `terminator`: the class of the operation that ends the block
        where the text leaves it out. Without `implicit_entry`, empty braces are a region without blocks.
        """
        self.expect("{")
        outer = self._values, self._forwards, self._scope, self._blocks, self._block_uses
        self._scope, self._blocks, self._block_uses = [], {}, {}
        if isolated:
            self._values, self._forwards = {}, {}
        region = Region()
        if implicit_entry or self.text[self.pos] not in "}^":
            self._entry_block(region, arguments)
        while not self.accept("}"):
            self._labelled_block(region)
        for label, at in self._block_uses.items():
            raise self.error(f"the block '^{label}' is not defined", at)
        if isolated:
            self._check_forwards()
        else:
            for name in self._scope:
                del self._values[name]
        self._values, self._forwards, self._scope, self._blocks, self._block_uses = outer
        last = region.blocks[-1] if region.blocks else None
        if terminator is not None and last is not None and (last.last is None or not last.last.traits & TERMINATOR):
            last.append(terminator([]))
            self._implied.append(last.last)
        return region

    def _entry_block(self, region: Region, arguments: Iterable[Any]) -> None:
        block = region.append(Block())
        for name, ty, *rest in arguments:
            self.define(name, block.add_argument(ty, *rest[1:]))
        if not block.args and self.text[self.pos] == "^":
            self._label(region, block)
        self._block_body(block)

    def _labelled_block(self, region: Region) -> None:
        if self.text[self.pos] != "^":
            raise self.expected("'}' or an operation")
        self._block_body(self._label(region, None))

    def _label(self, region: Region, entry: Block | None) -> Block:
        at = self.pos
        label = self.label()
        block = entry if entry is not None else self._blocks.get(label)
        if block is None:
            block = Block()
        elif block.parent is not None and entry is None:
            raise self.error(f"the block '^{label}' is defined twice", at)
        self._blocks[label] = block
        self._block_uses.pop(label, None)
        if entry is None:
            region.append(block)
        if self.peek("("):
            for argument in self.arguments():
                if not argument.name:
                    raise self.error(f"an argument of '^{label}' has no name", at)
                self.define(argument.name, block.add_argument(argument.type, argument.loc), at)
        self.expect(":")
        return block

    def _block_body(self, block: Block) -> None:
        text = self.text
        while text[self.pos] not in "}^" and text[self.pos] != END:
            block.append(self.operation())

    def successor(self) -> Block:
        """`^bb1`: a block of the region being read."""
        at = self.pos
        label = self.label()
        block = self._blocks.get(label)
        if block is None:
            block = self._blocks[label] = Block()
            self._block_uses[label] = at
        return block

    # -- operations -----------------------------------------------------------------------------------------------

    def operation(self) -> Operation:
        """One operation with its results and location."""
        start = self.pos
        text = self.text
        names: list[tuple[str, int]] | None = None
        name = ""
        if text[start] == "%":
            m = _one_result(text, start)
            if m is not None:
                name = m[1]
                self.pos = m.end()
            else:
                names = self._result_names()
        self._op_start = named_at = self.pos
        op = self._generic() if text[self.pos] == '"' else self._pretty()
        if text[self.pos] == "l" and text.startswith("loc(", self.pos):
            m = _aliased_location(text, self.pos)
            loc = self._aliases.get(m[1]) if m is not None else None
            if m is not None and isinstance(loc, Location):
                op.loc = loc
                self.pos = m.end()
            else:
                op.loc = self.location()
        elif self._text_locations and op.loc is UNKNOWN:
            op.loc = self.place(named_at)
        if self._implied:  # terminators that the text leaves out stand where their operation does
            for terminator in self._implied:
                terminator.loc = op.loc
            self._implied.clear()
        if self._pending:
            self._settle(op)
        results = op.results
        if name and len(results) == 1:
            self.define(name, results[0], start)
        elif name or names:
            self._define_results(op, names or [(name, 1)], start)
        return op

    def _result_names(self) -> list[tuple[str, int]]:
        out: list[tuple[str, int]] = []
        while True:
            name = self.value_name()
            out.append((name, self.integer() if self.accept(":") else 1))
            if not self.accept(","):
                break
        self.expect("=")
        return out

    def _define_results(self, op: Operation, names: list[tuple[str, int]], at: int) -> None:
        total = sum(n for _, n in names)
        if total != len(op.results):
            raise self.error(f"'{op.name}' has {len(op.results)} results, but {total} are named", at)
        i = 0
        for name, count in names:
            self.define(name, op.results[i], at)
            for k in range(count if count > 1 else 0):
                self.define(f"{name}#{k}", op.results[i + k], at)
            i += count

    def _pretty(self) -> Operation:
        at = self.pos
        m = _op_name(self.text, at)
        if m is None:
            raise self.expected("an operation")
        name = _SHORT_NAMES.get(m[1], m[1])
        cls = OPS.get(name) or self._loaded_class(name)
        if cls is None:
            raise self._unknown(name, at)
        self.pos = m.end()
        parse = _parsers.get(cls) or _parser_of(cls)
        if parse is None:
            raise self.error(f"'{name}' has no pretty form", at, f'write it in generic form: "{name}"(…) : (…) -> …')
        return parse(self)

    def _loaded_class(self, name: str) -> Any:
        """The class of an operation whose dialect has not been needed so far, or under its former name, or None."""
        load_dialect(name)
        return OPS.get(FORMER_NAMES.get(name, name))

    def _unknown(self, name: str, at: int) -> ParseError:
        if "builtin.module" not in OPS:
            return self.error(f"'{name}' is not a known operation", at, NO_DIALECTS)
        hint = _suggestion(name, OPS)
        if not hint and name.partition(".")[0] not in {known.partition(".")[0] for known in OPS}:
            hint = "operations of dialects that are not loaded can be read in generic form, where that is allowed"
        return self.error(f"'{name}' is not a known operation", at, hint)

    def _generic(self) -> Operation:
        """`"name"(operands)[successors] <{properties}> ({ regions }) {attributes} : (types) -> types`"""
        at = self.pos
        name = self.string()
        cls = OPS.get(name) or self._loaded_class(name)
        if cls is None and not self.allow_unregistered:
            raise self._unknown(name, at)
        self.expect("(")
        operands = self.operands()
        self.expect(")")
        successors = self.comma_list(self.successor, "]") if self.accept("[") else []
        attributes: dict[str, Attribute] = {}
        if self.accept("<"):
            attributes.update(self.attr_dict())
            self.expect(">")
        isolated = cls is not None and bool(cls.traits & ISOLATED)
        regions: list[Region] = []
        if self.accept("("):
            regions = self.comma_list(lambda: self.region(isolated=isolated, implicit_entry=False), ")")
        attributes.update(self.attr_dict())
        self.expect(":")
        self._op_start = at
        inputs, results = self.functional_type()
        self.typed(operands, inputs)
        if cls is not None:
            op: Operation = cls.create(operands, results, attributes, regions, successors)
            return op
        op = UnregisteredOp(name)
        op.setup(operands, results, attributes, regions, successors, UNKNOWN)
        return op

    def top_level(self) -> list[Operation]:
        """All operations of the text; alias definitions are stepped over, resources kept."""
        out: list[Operation] = []
        while (ch := self.text[self.pos]) != END:
            if ch in "#!":
                self.alias_definition()
            elif ch == "{":
                read_resources(self, self.resources)
            else:
                out.append(self.operation())
        self._check_forwards()
        return out


def parse_module(
    text: str,
    filename: str = "<text>",
    *,
    allow_unregistered: bool = False,
    text_locations: bool = False,
    resources: Resources | None = None,
    first_line: int = 1,
    parser_class: type[Parser] = Parser,
) -> Any:
    """The module that `text` holds; operations without a module around them get one.

    Dialects are loaded as the text names them (see `registry`). Raises `ParseError`. With `allow_unregistered`,
    operations, types and attributes of unknown dialects are kept as `UnregisteredOp`, `OpaqueType` and `OpaqueAttr`.
    With `text_locations`, an operation without a location gets its place in the text. What stands in `{-# … #-}` is
    added to `resources`. The first line of `text` is counted as `first_line`. `parser_class` reads in another way.
    """
    parser = parser_class(text, filename, allow_unregistered, text_locations=text_locations, first_line=first_line)
    ops = _guarded(parser, parser.top_level)
    if resources is not None:
        resources.update(parser.resources)
    module_class = OPS.get("builtin.module")
    if module_class is None:
        raise parser.error("there is no operation 'builtin.module'", 0, NO_DIALECTS)
    if len(ops) == 1 and isinstance(ops[0], module_class):
        module: Any = ops[0]
    else:
        block = Block()
        for op in ops:
            block.append(op)
        module = module_class.create([], [], {}, [Region(block)])
    restore_hints(module)
    return module


def parse_modules(text: str, filename: str = "<text>", *, marker: str = "// -----", **options: Any) -> list[Any]:
    """The modules of a text that lines beginning with `marker` divide, as lit tests do; places are those in `text`.

    The options are those of `parse_module`. A part without any operation is an empty module.
    """
    modules = []
    start, line = 0, 1
    for m in [*re.finditer(rf"^{re.escape(marker)}.*$", text, re.MULTILINE), None]:
        part = text[start : m.start() if m is not None else len(text)]
        modules.append(parse_module(part, filename, first_line=line, **options))
        if m is not None:
            line += part.count("\n")
            start = m.end()
    return modules


def _guarded(parser: Parser, read: Callable[[], Any]) -> Any:
    """The result of `read`; contents that constructors reject, and too deep nesting, are errors in the text too."""
    with deep_recursion():
        try:
            return read()
        except ValueError as error:
            raise parser.error(str(error)) from None
        except RecursionError:
            raise parser.error(too_deep_text("the parser")) from None


def _whole(parser: Parser, read: Callable[[], Any]) -> Any:
    value = _guarded(parser, read)
    if parser.text[parser.pos] != END:
        raise parser.expected("the end of the text")
    return value


def parse_type(text: str, filename: str = "<text>") -> Type:
    """The type that `text` spells. Raises `ParseError`."""
    parser = Parser(text, filename)
    ty: Type = _whole(parser, parser.type)
    return ty


def parse_attribute(text: str, filename: str = "<text>") -> Attribute:
    """The attribute that `text` spells. Raises `ParseError`."""
    parser = Parser(text, filename)
    attr: Attribute = _whole(parser, parser.attribute)
    return attr
