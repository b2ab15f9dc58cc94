"""Classes as values: `@aggregate` makes instances of a class with annotated fields values of the language.

    @triton.aggregate
    class Pair:
        first: tl.tensor
        size: tl.constexpr

        def __init__(self, first, size):
            self.first = first
            self.size = size

        @triton.jit
        def total(self):
            return tl.sum(self.first, 0) * self.size

`__init__` runs while compiling; methods are functions of the language (`@jit`) or constexpr functions. A value does
not change after `__init__`: `aggregate_replace` makes another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..ir import Type, Value
from ..support.lazy import LazyModule
from .aggregate_types import type_of
from .callee import ConstexprFunction, SourceFunction
from .constexpr import constexpr
from .errors import LanguageError
from .scalar_types import BaseType
from .tuples import tuple as tl_tuple

_inspect = LazyModule("inspect")

__all__ = ["aggregate", "aggregate_replace", "aggregate_type"]


class FieldError(LanguageError, TypeError):
    """A field that an aggregate does not have, or a value that is no aggregate."""


class FrozenError(LanguageError, AttributeError):
    """An aggregate does not change once it is made."""


class aggregate_type(BaseType):
    """The type of an aggregate: its class, and the types of its fields in order."""

    __slots__ = ("cls", "fields")

    def __init__(self, cls: Any, fields: list[tuple[str, Any]]) -> None:
        self.cls = cls
        self.fields = fields

    def _flatten_ir_types(self, out: list[Type]) -> None:
        for _, ty in self.fields:
            ty._flatten_ir_types(out)

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        instance = object.__new__(self.cls)
        for name, ty in self.fields:
            value, at = ty._unflatten_ir(handles, at)
            object.__setattr__(instance, name, value)
        object.__setattr__(instance, "_frozen", True)
        return instance, at

    def mangle(self) -> str:
        """The class and its field types."""
        return f"{self.cls.__module__}.{self.cls.__qualname__}<{', '.join(ty.mangle() for _, ty in self.fields)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, aggregate_type) or self.cls is not other.cls or len(self.fields) != len(other.fields):
            return False
        return all(
            name == named and (ty.merges_with(theirs) or theirs.merges_with(ty))
            for (name, ty), (named, theirs) in zip(self.fields, other.fields)
        )

    def __hash__(self) -> int:
        return hash((self.cls, tuple(name for name, _ in self.fields)))

    def __repr__(self) -> str:
        return f"{self.cls.__module__}.{self.cls.__qualname__}<{', '.join(f'{n}: {t}' for n, t in self.fields)}>"


class _Aggregate:
    """Base of all aggregate values; `_annotations` maps field names to their annotations."""

    _annotations: dict[str, Any] = {}
    _frozen = False

    @property
    def type(self) -> aggregate_type:
        """The class with the types of the fields."""
        return aggregate_type(self.__class__, [(n, type_of(getattr(self, n))) for n in self._annotations])

    def _flatten_ir(self, out: list[Value]) -> None:
        for name in self._annotations:
            value = getattr(self, name)
            if hasattr(value, "_flatten_ir"):
                value._flatten_ir(out)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self.__class__.__name__
        if self._frozen:
            what = f"cannot assign to field {name!r} on immutable aggregate {kind}"
            raise FrozenError(f"AttributeError: {what}", "make another with aggregate_replace")
        if name not in self._annotations:
            hint = f"annotate it in the class: `{name}: tl.tensor`"
            raise LanguageError(f"AttributeError: {kind} has no field {name}", hint)
        object.__setattr__(self, name, _checked(kind, name, self._annotations[name], value))


def _checked(kind: str, name: str, annotation: Any, value: Any) -> Any:
    """The value of a field, wrapped as constexpr where the field is one. Raises where it has another type."""
    if annotation is constexpr:
        value = constexpr(value) if not hasattr(value, "_flatten_ir") else value
    if annotation is tl_tuple and isinstance(value, tuple):
        fields = list(value._fields) if hasattr(value, "_fields") else None  # type: ignore[attr-defined]
        items = [v if hasattr(v, "_flatten_ir") else constexpr(v) for v in value]
        value = tl_tuple(items, fields=fields) if fields else tl_tuple(items)
    if isinstance(annotation, type) and not isinstance(value, annotation):
        found = type(value).__name__
        raise LanguageError(f"TypeError: the field {name} of {kind} is a {annotation.__name__}, got a {found}")
    return value


def _annotations(cls: type) -> dict[str, Any]:
    """The annotated fields of a class and its bases in order, evaluated where they are strings."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        scope = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        for name, annotation in _inspect.get_annotations(base).items():
            if isinstance(annotation, str):
                try:
                    annotation = eval(annotation, dict(scope))
                except NameError:  # a name for type checkers only: the field may hold any value
                    annotation = None
            if not name.startswith("_"):
                found[name] = annotation
    return found


def aggregate(cls: type) -> type:
    """Class decorator: instances are values of the language.

    Raises TypeError where `__init__` is a `@jit` function, or a base has fields or methods and is no aggregate.
    """
    for base in cls.__bases__:
        if base.__module__ != "typing" and base is not object and not issubclass(base, _Aggregate):
            raise TypeError(
                f"Aggregates can only inherit from other aggregates, not {cls.__name__} from {base.__name__}"
            )
    if isinstance(cls.__dict__.get("__init__"), SourceFunction):
        raise TypeError(f"{cls.__name__}.__init__ runs while compiling: it must not be a @jit function")
    fields = _annotations(cls)
    init: Any = cls.__init__  # type: ignore[misc]
    own_init = None if init is object.__init__ or getattr(init, "tritium_default", False) else _python(init)
    defaults = {n: getattr(cls, n) for n in fields if hasattr(cls, n)}

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if own_init is not None:
            own_init(self, *args, **kwargs)
        else:
            _default_init(self, fields, defaults, args, kwargs)
        missing = [n for n in fields if n not in self.__dict__]
        for name in missing:
            if name not in defaults:
                raise LanguageError(f"AttributeError: {cls.__name__}.__init__ does not set the field {name}")
            setattr(self, name, defaults[name])
        if own_init is None and hasattr(self, "__post_init__"):
            self.__post_init__()
        if self.__class__ is made:
            object.__setattr__(self, "_frozen", True)

    __init__.tritium_default = own_init is None  # type: ignore[attr-defined]
    bases = (cls,) if issubclass(cls, _Aggregate) else (cls, _Aggregate)
    body = {"__init__": __init__, "_annotations": fields, "tritium_members": _members(cls, own_init)}
    body["tritium_emits"] = _takes_semantic(own_init)
    body |= {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    made = type(cls)(cls.__name__, bases, body)
    return made


def _takes_semantic(init: Any) -> bool:
    """Does `__init__` emit operations itself? Such a parameter passes through classes that call their base's."""
    return getattr(init, "tritium_emits", False) or "_semantic" in getattr(
        getattr(init, "__code__", None), "co_varnames", ()
    )


def _python(init: Any) -> Callable[..., None]:
    return init.fn if isinstance(init, ConstexprFunction) else init


def _default_init(self: Any, fields: dict[str, Any], defaults: dict[str, Any], args: Any, kwargs: Any) -> None:
    """Fields in order, as a dataclass takes them."""
    kind = self.__class__.__name__
    if len(args) > len(fields):
        raise LanguageError(f"TypeError: {kind} takes {len(fields)} value{'s' * (len(fields) != 1)}, got {len(args)}")
    for name, value in (*zip(fields, args), *kwargs.items()):
        setattr(self, name, value)
    for name in fields:
        if name not in self.__dict__ and name not in defaults:
            raise LanguageError(f"TypeError: {kind} needs a value for the field {name}")


def _members(cls: type, init: Any) -> list[Any]:
    """What is part of the identity of the class: the source of functions, fields and constants, and its bases."""
    members = {n: m for n, m in cls.__dict__.items() if not (n.startswith("__") and n.endswith("__"))}
    found = [m for m in members.values() if isinstance(m, (SourceFunction, ConstexprFunction))]
    found += [ConstexprFunction(init)] if init is not None and hasattr(init, "__code__") else []
    others = {n: m for n, m in members.items() if not isinstance(m, (SourceFunction, ConstexprFunction))}
    bases = [base for base in cls.__bases__ if base is not object]
    return [*found, {n: str(a) for n, a in _annotations(cls).items()}, others, bases]


def aggregate_replace(instance: Any, /, *, _semantic: Any = None, **changes: Any) -> Any:
    """A copy of an aggregate value with some fields changed. Raises FieldError for unknown fields and other values."""
    if not isinstance(instance, _Aggregate):
        raise FieldError(f"TypeError: aggregate_replace expects an aggregate instance, got {type(instance).__name__}")
    made = object.__new__(instance.__class__)
    for name in instance._annotations:
        setattr(made, name, changes.pop(name) if name in changes else getattr(instance, name))
    if changes:
        raise FieldError(f"TypeError: {instance.__class__.__name__} has no field {next(iter(changes))!r}")
    object.__setattr__(made, "_frozen", True)
    return made


aggregate_replace.__tritium_builtin__ = True  # type: ignore[attr-defined]
aggregate_replace.cache_key = f"{__name__}.aggregate_replace"  # type: ignore[attr-defined]
