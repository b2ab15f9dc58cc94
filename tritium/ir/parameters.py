"""Attributes and types of dialects, declared by their parameters.

    class Slice(DialectAttribute, name="ttg.slice"):
        '''The layout of a tensor that is its parent's with dimension `dim` taken out.'''
        dim: Int
        parent: Attr

        def check(self):
            return None if self.dim < rank(self.parent) else f"dim {self.dim} is out of range"

From the annotations the class gets slots, a constructor `Slice(0, blocked)` (also by keyword; parameters with a
default come last) that keeps one instance per content, the text `#ttg.slice<{dim = 0, parent = …}>`, and the parser of
it, which is registered. `form` says how the parameters stand in text:

| form | text |
|---|---|
| `struct` | `<{dim = 0, parent = #blocked}>`, in any order when read |
| `keyed` | `<dim = 0, parent = #blocked>`, the same without braces |
| `list` | `<0, #blocked>` |

A parameter with a class-level default may be left out, and is not written while it has that value. Contents that
`check` objects to are a `ValueError` from the constructor, and an error at its place in a text. What no form can say
is written and read by the methods `body` and `parse` of the class.
"""

from __future__ import annotations

import contextlib
import enum
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ..support.generated import code_of
from .attributes import DIALECT_ATTRIBUTES, quote
from .interning import Attribute
from .types import DIALECT_TYPES, Type

if TYPE_CHECKING:
    from .parser import Parser

__all__ = [
    "ATTR",
    "BASES",
    "BOOLEAN",
    "INT",
    "INTS",
    "TEXT",
    "TYPE",
    "Attr",
    "Bases",
    "Boolean",
    "DialectAttribute",
    "DialectType",
    "Int",
    "Ints",
    "Kind",
    "Text",
    "Typ",
    "keyword_kind",
    "power_of_two",
    "read_entries",
    "write_bases",
]

Spell = Callable[[Any], str]
"""How a nested type or attribute is written: `str`, or a printer's lookup of aliases."""


class Kind:
    """One kind of parameter.

    `normal` turns what a caller gives into the value that is kept (or raises `ValueError`), `read` takes it from a
    parser, `write(value, spell)` gives its text; it is left out of the text where `hidden(value, owner)` holds. `what`
    is what readers of the documentation call it.
    """

    __slots__ = ("hidden", "normal", "read", "what", "write")

    def __init__(
        self,
        normal: Callable[[Any], Any],
        read: Callable[[Parser], Any],
        write: Callable[[Any, Spell], str],
        hidden: Callable[[Any, Any], bool] | None = None,
        what: str = "",
    ) -> None:
        self.what = what
        self.normal = normal
        self.read = read
        self.write = write
        self.hidden = hidden

    def hiding(self, hidden: Callable[[Any, Any], bool]) -> Kind:
        """The same kind, left out of the text where `hidden(value, owner)` holds."""
        return Kind(self.normal, self.read, self.write, hidden, self.what)


def power_of_two(n: int) -> bool:
    """Whether n is 1, 2, 4, …"""
    return n > 0 and n & (n - 1) == 0


def _integer(v: Any) -> int:
    if not isinstance(v, int) or isinstance(v, bool):
        raise ValueError(f"{v!r} is no integer")
    if not 0 <= v < 1 << 63:
        raise ValueError(f"{v} is out of range")
    return int(v)


def _boolean(v: Any) -> bool:
    if not isinstance(v, (bool, int)) or v not in (0, 1):
        raise ValueError(f"{v!r} is neither true nor false")
    return bool(v)


def _integers(v: Any) -> tuple[int, ...]:
    return tuple(map(_integer, v))


def _bases(v: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(map(_integers, v))


def _string(v: Any) -> str:
    if not isinstance(v, str):
        raise ValueError(f"{v!r} is no string")
    return v


def _instance(cls: type, what: str) -> Callable[[Any], Any]:
    def normal(v: Any) -> Any:
        if not isinstance(v, cls):
            raise ValueError(f"{v!r} is no {what}")
        return v

    return normal


def _read_integer(parser: Parser) -> int:
    """A number, a type after it stepped over: `2`, `2 : i32`."""
    value = parser.integer()
    if parser.accept(":"):
        parser.type()
    return value


def _read_integers(parser: Parser) -> tuple[int, ...]:
    parser.expect("[")
    return tuple(parser.comma_list(lambda: _read_integer(parser), "]"))


def _read_bases(parser: Parser) -> tuple[tuple[int, ...], ...]:
    parser.expect("[")
    return tuple(parser.comma_list(lambda: _read_integers(parser), "]"))


def _read_boolean(parser: Parser) -> bool:
    word = parser.accept_any("true", "false")
    if word is None:
        raise parser.expected("true or false")
    return word == "true"


def _write_boolean(v: bool, spell: Spell) -> str:
    return "true" if v else "false"


def _write_integers(v: Sequence[int], spell: Spell) -> str:
    return f"[{', '.join(map(str, v))}]"


def write_bases(v: Sequence[Sequence[int]], spell: Spell = str) -> str:
    """`[[1, 0], [0, 1]]`"""
    return f"[{', '.join(_write_integers(basis, spell) for basis in v)}]"


def _write_plain(v: Any, spell: Spell) -> str:
    return str(v)


INT = Kind(_integer, _read_integer, _write_plain, what="integer")
BOOLEAN = Kind(_boolean, _read_boolean, _write_boolean, what="true or false")
INTS = Kind(_integers, _read_integers, _write_integers, what="integers")
BASES = Kind(_bases, _read_bases, write_bases, what="lists of integers")
TEXT = Kind(_string, lambda p: p.string(), lambda v, spell: quote(v), what="string")
ATTR = Kind(_instance(Attribute, "attribute"), lambda p: p.attribute(), lambda v, spell: spell(v), what="attribute")
TYPE = Kind(_instance(Type, "type"), lambda p: p.type(), lambda v, spell: spell(v), what="type")

#: The numbers are not negative, and less than 2 ** 63.
Int = Annotated[int, INT]
Boolean = Annotated[bool, BOOLEAN]
Ints = Annotated[tuple[int, ...], INTS]
Bases = Annotated[tuple[tuple[int, ...], ...], BASES]
Text = Annotated[str, TEXT]
Attr = Annotated[Attribute, ATTR]
Typ = Annotated[Type, TYPE]


def keyword_kind(cls: type[enum.IntEnum]) -> Kind:
    """A member of an enumeration, written as its name; a leading underscore only avoids Python's own keywords."""
    words = {member.name.lstrip("_"): member for member in cls}

    def read(parser: Parser) -> enum.IntEnum:
        at = parser.pos
        word = parser.word(f"one of {', '.join(words)}")
        if word not in words:
            raise parser.error(f"'{word}' is none of {', '.join(words)}", at)
        return words[word]

    return Kind(cls, read, lambda v, spell: v.name.lstrip("_"), what=" or ".join(f"`{word}`" for word in words))


def read_entries(
    parser: Parser,
    closing: str,
    kinds: dict[str, Kind],
    what: str,
    given: dict[str, Any],
    other: Callable[[Parser, str, dict[str, Any]], bool] | None = None,
) -> None:
    """`dim = 0, parent = #blocked` up to `closing`, into `given`; a key of no kind is left to `other`."""
    first = True
    while not parser.accept(closing):
        if not first:
            parser.expect(",")
        first = False
        at = parser.pos
        key = parser.word("the name of a parameter")
        if key in given:
            raise parser.error(f"the parameter '{key}' is given twice", at)
        parser.expect("=")
        if key in kinds:
            given[key] = kinds[key].read(parser)
        elif other is None or not other(parser, key, given):
            raise parser.error(f"{what} has no parameter '{key}'", at, f"it has {', '.join(kinds)}" if kinds else "")


class _Parameter:
    """A parameter of a class: its name, kind and default."""

    __slots__ = ("default", "kind", "name", "optional")

    def __init__(self, name: str, kind: Kind, default: Any, optional: bool) -> None:
        self.name, self.kind, self.default, self.optional = name, kind, default, optional

    def is_hidden(self, value: Any, owner: Any) -> bool:
        """Whether the text of `owner` leaves the value out."""
        if self.kind.hidden is not None:
            return self.kind.hidden(value, owner)
        return self.optional and bool(value == self.default)


def _kind_of(annotation: Any, scope: dict[str, Any]) -> Kind | None:
    found = scope.get(annotation)  # most are a name
    if found is None:
        found = eval(annotation, scope) if isinstance(annotation, str) else annotation
    if isinstance(found, Kind):
        return found
    return next((a for a in getattr(found, "__metadata__", ()) if isinstance(a, Kind)), None)


class _Meta(type):
    """Turns annotations into parameters, slots and a constructor."""

    def __new__(mcs, clsname: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        scope = sys.modules[namespace["__module__"]].__dict__
        parameters = []
        if any(isinstance(b, _Meta) for b in bases):  # the annotations of the roots are no parameters
            for name, annotation in namespace.get("__annotations__", {}).items():
                kind = _kind_of(annotation, scope)
                if kind is not None:
                    optional = name in namespace
                    parameters.append(_Parameter(name, kind, namespace.pop(name, None), optional))
        namespace.setdefault("__slots__", tuple(p.name for p in parameters))
        namespace["_own"] = parameters
        return super().__new__(mcs, clsname, bases, namespace)

    def __init__(
        cls,
        clsname: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        name: str = "",
        form: str = "struct",
        alias: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(clsname, bases, namespace)
        c: Any = cls
        if alias:
            c.alias_name = alias
        if not name:
            return
        c.parameters = [p for base in reversed(cls.__mro__) for p in base.__dict__.get("_own", ())]
        c.ordered = sorted(c.parameters, key=lambda p: p.optional)
        c.name, c.form = name, form
        c.__new__ = _first_constructor(c)
        c.registry[name] = c.parse


def _first_constructor(cls: Any) -> Any:
    """A `__new__` that puts the one written for the class in its place: of many classes there is never an instance."""

    def __new__(made: Any, *args: Any, **kwargs: Any) -> Any:
        cls.__new__ = _constructor(cls)
        return cls.__new__(made, *args, **kwargs)

    return __new__


def _constructor(cls: Any) -> Any:
    """`__new__`, as a function with the parameters' names: a lookup of their values, then the slow way."""
    names = [p.name for p in cls.ordered]
    given = ", ".join(["cls", *(f"{p.name}=None" if p.optional else p.name for p in cls.ordered)])
    lines = [
        f"def __new__({given}):",
        f"    key = ({''.join(f'{n}, ' for n in names)})",
        "    try:",
        "        found = get(key)",
        "    except TypeError:",  # a list where a tuple is kept
        "        found = None",
        "    return found if found is not None else make(cls, key)",
    ]
    scope: dict[str, Any] = {"get": cls._table.get, "make": _make}
    exec(code_of("\n".join(lines)), scope)
    return scope["__new__"]


def _normal(cls: Any, p: _Parameter, value: Any) -> Any:
    if value is None and p.optional:
        if p.default is None:
            return None
        value = p.default
    try:
        return p.kind.normal(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{cls.sign}{cls.name}: {p.name}: {error}") from None


def _make(cls: Any, key: tuple[Any, ...]) -> Any:
    """The instance of these contents: normalized, completed, looked up again, checked."""
    given = {p.name: _normal(cls, p, v) for p, v in zip(cls.ordered, key)}
    try:
        cls.complete(given)
    except ValueError as error:
        raise ValueError(f"{cls.sign}{cls.name}: {error}") from None
    normal = tuple([_normal(cls, p, given[p.name]) for p in cls.ordered])
    table = cls._table
    found = table.get(normal)
    if found is None:
        self = object.__new__(cls)
        for p, value in zip(cls.ordered, normal):
            setattr(self, p.name, value)
        message = self.check()
        if message:
            raise ValueError(f"{cls.sign}{cls.name}: {message}")
        found = table.setdefault(normal, self)
    with contextlib.suppress(TypeError):
        table[key] = found
    return found


class _Declared:
    """What attributes and types with declared parameters share."""

    __slots__ = ()
    name: ClassVar[str] = ""
    form: ClassVar[str] = "struct"
    sign: ClassVar[str] = ""
    parameters: ClassVar[list[_Parameter]] = []  # in the order of the text
    ordered: ClassVar[list[_Parameter]] = []  # as the constructor takes them: those without a default first
    registry: ClassVar[dict[str, Any]] = {}

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """Fill in what is left out (it has its default) and follows from the rest; the values are normal ones."""

    def check(self) -> str | None:
        """What is wrong with the contents, or None."""
        return None

    def with_(self, **changes: Any) -> Any:
        """A copy with some parameters changed."""
        return type(self)(**{p.name: getattr(self, p.name) for p in self.parameters} | changes)  # type: ignore[call-arg]

    # -- text -----------------------------------------------------------------------------------------------------

    def body(self, spell: Spell) -> str:
        """The text after the name; types and attributes inside are written by `spell`."""
        shown = [(p, v) for p in self.parameters if not p.is_hidden(v := getattr(self, p.name), self)]
        if not shown:
            return ""
        if self.form == "list":
            return f"<{', '.join(p.kind.write(v, spell) for p, v in shown)}>"
        items = ", ".join(f"{p.name} = {p.kind.write(v, spell)}" for p, v in shown)
        return f"<{{{items}}}>" if self.form == "struct" else f"<{items}>"

    def spelled(self, spell: Spell) -> str:
        """The whole text; types and attributes inside are written by `spell`."""
        return f"{self.sign}{self.name}{self.body(spell)}"

    # -- reading --------------------------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Read the text after the name."""
        at = parser.pos
        given: dict[str, Any] = {}
        if parser.peek("<"):
            parser.expect("<")
            if cls.form == "list":
                cls.read_list(parser, given)
            else:
                cls.read_entries(parser, given, "}" if cls.form == "struct" else ">")
            if cls.form == "struct":
                parser.expect(">")
        return cls.build(parser, at, given)

    @classmethod
    def build(cls, parser: Parser, at: int, given: dict[str, Any]) -> Any:
        """The instance of the parameters read; what is wrong with them is an error at `at`."""
        missing = [p.name for p in cls.parameters if not p.optional and p.name not in given]
        if missing:
            raise parser.error(f"{cls.sign}{cls.name} needs the parameter '{missing[0]}'", at)
        rest = given.keys() - {p.name for p in cls.parameters}
        if rest:
            raise parser.error(f"{cls.sign}{cls.name} says too little with {', '.join(sorted(rest))} alone", at)
        try:
            return cls(**given)
        except ValueError as error:
            raise parser.error(str(error), at) from None

    @classmethod
    def read_list(cls, parser: Parser, given: dict[str, Any]) -> None:
        """`0, #blocked>`"""
        for i, p in enumerate(cls.parameters):
            if parser.peek(">"):
                break
            if i:
                parser.expect(",")
            given[p.name] = p.kind.read(parser)
        parser.expect(">")

    @classmethod
    def read_entries(cls, parser: Parser, given: dict[str, Any], closing: str) -> None:
        """`dim = 0, parent = #blocked` up to `closing`; in a struct with the brace before it."""
        if closing == "}":
            parser.expect("{")
        kinds = {p.name: p.kind for p in cls.parameters}
        read_entries(parser, closing, kinds, f"{cls.sign}{cls.name}", given, cls.read_other)

    @classmethod
    def read_other(cls, parser: Parser, key: str, given: dict[str, Any]) -> bool:
        """Read the value of a key that is no parameter (an older spelling) into `given`; False if it is unknown."""
        return False


class DialectAttribute(_Declared, Attribute, metaclass=_Meta):
    """Base of attributes `#dialect.name<…>` with declared parameters."""

    __slots__ = ()
    sign = "#"
    registry = DIALECT_ATTRIBUTES

    if TYPE_CHECKING:

        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

    def spell(self, texts: dict[Any, str]) -> str:
        return self.spelled(texts.__getitem__)


class DialectType(_Declared, Type, metaclass=_Meta):
    """Base of types `!dialect.name<…>` with declared parameters."""

    __slots__ = ()
    sign = "!"
    registry = DIALECT_TYPES

    if TYPE_CHECKING:

        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

    def spell(self, texts: dict[Any, str]) -> str:
        return self.spelled(texts.__getitem__)
