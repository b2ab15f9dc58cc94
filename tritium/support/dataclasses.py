"""Dataclasses like the standard library's, whose classes are made in a tenth of the time.

The standard decorator generates and compiles up to six methods a class, 0.3 to 0.7 ms, and imports `inspect` (4 ms); a
process that compiles one kernel imports some sixty such classes and makes a few instances of most of them. Here methods
are closures over the names of the fields. Only a constructor is generated as text, for classes with many instances: its
calls then take half as long.

The visible interface is the standard's: `dataclasses.fields`, `asdict`, `replace`, `is_dataclass` and `match` work on
these classes, `FrozenInstanceError` is raised for fields that are set, and either kind may be derived from the other.
Fields are all given by position or keyword: none is `InitVar`, `init=False` or `kw_only`.

>>> @dataclass(frozen=True)
... class Point:
...     x: int
...     y: int = 0
>>> Point(1) == Point(1, 0), hash(Point(2)) == hash(Point(2)), Point(3), replace(Point(1), y=2), asdict(Point(4))
(True, True, Point(x=3, y=0), Point(x=1, y=2), {'x': 4, 'y': 0})
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from .lazy import LazyModule

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

_standard = LazyModule("dataclasses")

WRITTEN_AFTER = 64  # instances: a generated constructor pays off after about a hundred


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


class _Field:
    """The description of a field, with the attributes of the standard's `Field`."""

    __slots__ = ("compare", "default", "default_factory", "hash", "metadata", "name", "repr", "type")

    def __init__(
        self, default: Any, default_factory: Any, compare: bool, repr: bool, hash: bool | None, metadata: Any
    ) -> None:
        self.name, self.type = "", None
        self.default, self.default_factory = default, default_factory
        self.compare, self.repr, self.metadata = compare, repr, metadata or {}
        self.hash = compare if hash is None else hash

    def named(self, name: str, annotation: Any) -> _Field:
        """This one as the field `name`."""
        self.name, self.type = name, annotation
        return self

    def standard(self) -> Any:
        """The standard's description, not yet of a class."""
        told: dict[str, Any] = {"compare": self.compare, "repr": self.repr, "hash": self.hash}
        for name in ("default", "default_factory"):
            if getattr(self, name) is not MISSING:
                told[name] = getattr(self, name)
        return _standard.field(**told, metadata=self.metadata)


if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING = _Missing()

    def field(*, default=MISSING, default_factory=MISSING, compare=True, repr=True, hash=None, metadata=None) -> Any:
        """The description of a field, like the standard's function."""
        if default is not MISSING and default_factory is not MISSING:
            raise ValueError("cannot specify both default and default_factory")
        return _Field(default, default_factory, compare, repr, hash, metadata)

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The decorator, with `frozen`, `eq`, `order`, `repr` and `slots`; with other options it is the standard's."""
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        if options.keys() - {"frozen", "eq", "order", "repr", "slots"}:
            return _standard.dataclass(cls, **options)
        return _made(cls, **options)

    def fields(cls: Any) -> tuple[Any, ...]:
        """The fields of a class or instance, in order; TypeError if it is no dataclass of either kind."""
        found = getattr(cls, "_fields_of_dataclass", None)
        if found is None or "_fields_of_dataclass" not in (cls if isinstance(cls, type) else type(cls)).__dict__:
            return tuple(_of_standard(f) for f in _standard.fields(cls))
        return found

    def asdict(value: Any) -> dict[str, Any]:
        """Fields by name, dataclasses in them and in their lists, tuples and dicts as well; the rest is not copied."""
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}

    def is_dataclass(value: Any) -> bool:
        """Whether a class, or that of an instance, is a dataclass of either kind."""
        cls = value if isinstance(value, type) else type(value)
        return any("__dataclass_fields__" in base.__dict__ for base in cls.__mro__)

    def replace(value: Any, /, **changes: Any) -> Any:
        """A new instance that differs by `changes`."""
        return type(value)(**{f.name: getattr(value, f.name) for f in fields(value)} | changes)


def _plain(value: Any) -> Any:
    if is_dataclass(type(value)):
        return asdict(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_plain, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return {k: _plain(v) for k, v in value.items()} if type(value) is dict else value


def _of_standard(f: Any) -> _Field:
    """A field of the standard's as one of these."""
    missing = _standard.MISSING
    default, factory = (MISSING if v is missing else v for v in (f.default, f.default_factory))
    return _Field(default, factory, f.compare, f.repr, f.hash, f.metadata).named(f.name, f.type)


def _made(
    cls: Any, frozen: bool = False, eq: bool = True, order: bool = False, repr: bool = True, slots: bool = False
) -> Any:
    """The class with its methods; a new one of the same name with `slots`."""
    told = _collected(cls)
    _check_order(told)
    if slots:
        cls = _with_slots(cls, [f.name for f in told if f.name in _annotations(cls)])
    cls._fields_of_dataclass = tuple(told)
    cls.__match_args__ = tuple(f.name for f in told)  # type: ignore[misc]
    cls.__dataclass_fields__ = _StandardFields(cls)
    cls.__dataclass_params__ = _Parameters(frozen, eq, order, repr)
    own = cls.__dict__
    if "__init__" not in own:
        cls.__init__ = _first_constructor(cls, told, frozen)
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr(tuple(f.name for f in told if f.repr))
    has_hash = own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)
    key = _key(tuple(f.name for f in told if f.compare))
    if eq and "__eq__" not in own:
        cls.__eq__ = _equal(key)
    if order:
        _add_order(cls, key)
    if eq and not has_hash:
        cls.__hash__ = _hash(_key(tuple(f.name for f in told if f.hash))) if frozen else None
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refusals(cls, frozenset(f.name for f in told))
        if not hasattr(cls, "__setstate__"):
            cls.__setstate__ = _restored
    return cls


def _restored(self: Any, state: Any) -> None:
    """`__setstate__` of a frozen instance: `state` is its dict, or a pair of that and its slots."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


def _collected(cls: Any) -> list[_Field]:
    """The fields of the bases, then those of the class; defaults are left as attributes of the class."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        if "__dataclass_fields__" in base.__dict__:
            found.update((f.name, f) for f in fields(base))  # type: ignore[misc]
    for name, annotation in _annotations(cls).items():
        if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        given = cls.__dict__.get(name, MISSING)
        if isinstance(given, _Field) or type(given).__name__ == "Field":
            told = given if isinstance(given, _Field) else _of_standard(given)
            if told.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, told.default)
        else:
            told = _Field(
                MISSING if isinstance(given, MemberDescriptorType) else given, MISSING, True, True, None, None
            )
        if told.default.__class__.__hash__ is None:
            raise ValueError(
                f"mutable default {type(told.default)} for field {name} is not allowed: use default_factory"
            )
        found[name] = told.named(name, annotation)
    return list(found.values())


def _annotations(cls: type) -> dict[str, Any]:
    """The annotations of the class itself."""
    found: dict[str, Any] = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 (inspect takes 3 ms to import)
    return found


def _check_order(told: list[_Field]) -> None:
    """TypeError if a field without a default follows one with a default."""
    optional = False
    for f in told:
        has = f.default is not MISSING or f.default_factory is not MISSING
        if optional and not has:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
        optional = has or optional


def _with_slots(cls: Any, names: list[str]) -> Any:
    """The same class with a slot for each of its own fields, which have their defaults in the constructor alone."""
    namespace = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__", *names)}
    told = {**namespace, "__qualname__": cls.__qualname__, "__slots__": tuple(names)}
    return type(cls)(cls.__name__, cls.__bases__, told)


class _Parameters:
    """The attribute that the standard decorator reads of bases."""

    def __init__(self, frozen: bool, eq: bool, order: bool, repr: bool) -> None:
        self.frozen, self.eq, self.order, self.repr = frozen, eq, order, repr


class _StandardFields:
    """The fields for the standard's functions, made on demand."""

    def __init__(self, cls: Any) -> None:
        self.cls, self.made = cls, None

    def __get__(self, instance: object, owner: type) -> Any:
        if self.made is None:
            told = self.cls._fields_of_dataclass
            names = {f.name: f.standard() for f in told}
            stand_in = type(self.cls.__name__, (), {**names, "__annotations__": {f.name: f.type for f in told}})
            self.made = _standard.dataclass(init=False, repr=False, eq=False)(stand_in).__dataclass_fields__
        return self.made


def _key(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """The values of fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else lambda value: ()


def _equal(key: Callable[[Any], Any]) -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(key: Callable[[Any], Any]) -> Any:
    def __hash__(self: Any) -> int:
        return hash(key(self))

    return __hash__


def _repr(names: tuple[str, ...]) -> Any:
    def __repr__(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{n}={getattr(self, n)!r}' for n in names])})"

    return __repr__


def _add_order(cls: Any, key: Callable[[Any], Any]) -> None:
    def method(name: str) -> Any:
        compare = getattr(tuple, name)
        return lambda a, b: compare(key(a), key(b)) if b.__class__ is a.__class__ else NotImplemented

    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        setattr(cls, name, method(name))


def _refusals(cls: Any, names: frozenset[str]) -> tuple[Any, Any]:
    """`__setattr__` and `__delattr__` of a frozen class: a subclass may have attributes of its own."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise _standard.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise _standard.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _first_constructor(cls: Any, told: list[_Field], frozen: bool) -> Any:
    """`__init__` for any fields. It is replaced by a generated constructor when that pays off, or for an error."""
    names = tuple(f.name for f in told)
    count, known = len(names), frozenset(names)
    defaults = {f.name: f.default for f in told if f.default is not MISSING}
    factories = {f.name: f.default_factory for f in told if f.default_factory is not MISSING}
    store = object.__setattr__ if frozen else setattr
    after = hasattr(cls, "__post_init__")
    made = 0

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal made
        made += 1
        if made > WRITTEN_AFTER and cls.__dict__.get("__init__") is __init__:
            cls.__init__ = _constructor(cls)
        if len(args) != count or kwargs:
            given = {**defaults, **dict(zip(names, args)), **kwargs}
            for name, factory in factories.items():
                if name not in given:
                    given[name] = factory()
            if len(args) > count or given.keys() != known or not kwargs.keys().isdisjoint(names[: len(args)]):
                _constructor(cls)(self, *args, **kwargs)  # its error names missing or unexpected arguments
                return
            args = tuple([given[name] for name in names])
        for name, value in zip(names, args):
            store(self, name, value)
        if after:
            self.__post_init__()

    return __init__


def _constructor(cls: Any) -> Any:
    """`__init__` with the fields as parameters."""
    frozen = cls.__dataclass_params__.frozen
    told = cls._fields_of_dataclass
    scope: dict[str, Any] = {"missing": MISSING, "set_field": object.__setattr__}
    parameters, lines = ["self"], []
    for f in told:
        value = f.name
        if f.default is not MISSING:
            scope[f"default_{f.name}"] = f.default
            parameters.append(f"{f.name}=default_{f.name}")
        elif f.default_factory is not MISSING:
            scope[f"make_{f.name}"] = f.default_factory
            parameters.append(f"{f.name}=missing")
            value = f"make_{f.name}() if {f.name} is missing else {f.name}"
        else:
            parameters.append(f.name)
        lines.append(f" set_field(self, {f.name!r}, {value})" if frozen else f" self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, " return None"]), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{f.name: f.type for f in told}, "return": None}
    return made
