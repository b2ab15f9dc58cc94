"""Functions of the language: `@jit` functions, library functions written in it, constexpr functions.

`SourceFunction` is their interface to the visitor; the runtime's JIT function is a subclass of it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from functools import cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from ..support.hashing import sha256
from ..support.lazy import LazyModule
from .captured_globals import CapturedGlobal
from .identity import code_identity, identity, unwrap_callee
from .references import find_references, is_constexpr
from .source import SourceText

if TYPE_CHECKING:
    import ast
    import inspect

__all__ = [
    "BoundCallee",
    "Callee",
    "ConstexprFunction",
    "LanguageFunction",
    "Parameter",
    "SourceFunction",
    "closure_values",
    "constexpr_function",
    "language_function",
    "must_use_result",
    "python_calls",
    "unwrap_callee",
]

_aggregate_types = LazyModule(".aggregate_types", __package__)
_scalar_types = LazyModule(".scalar_types", __package__)
_inspect = LazyModule("inspect")  # takes 4 ms to import; most kernels do not need it
_EMPTY = object()
F = TypeVar("F", bound=Callable[..., Any])


class Parameter:
    """One parameter of a kernel or device function.

    `do_not_specialize` and `do_not_specialize_on_alignment` are the options of `@jit` for it.
    `annotation` is the source-like text ("" without one); `is_constexpr` when it names `constexpr`; `is_const` for
    pointers annotated `tl.const`; `kind` as in `inspect.Parameter`, and tests of it: `takes_rest` for `*args`,
    `takes_keywords` for `**kwargs`, `keyword_only` for parameters after these.
    """

    __slots__ = (
        "_default",
        "_kind",
        "annotation",
        "do_not_specialize",
        "do_not_specialize_on_alignment",
        "is_const",
        "is_constexpr",
        "name",
        "num",
    )

    def __init__(self, num: int, name: Any, kind: Any, default: Any, annotation: str = "") -> None:
        specialized = (False, False)
        if name.__class__ is not str:  # Triton's arguments: num, an `inspect.Parameter`, options of `@jit`
            specialized, (name, kind, default, annotation) = (bool(kind), bool(default)), _parts_of(name)
        self.num, self.name, self._kind, self._default = num, name, kind, default
        self.annotation = annotation
        self.is_constexpr = "constexpr" in annotation
        self.is_const = "const" in annotation and not self.is_constexpr
        self.do_not_specialize, self.do_not_specialize_on_alignment = specialized

    @property
    def kind(self) -> Any:
        """One of the kinds of `inspect.Parameter`."""
        return getattr(_inspect.Parameter, self._kind)

    @property
    def default(self) -> Any:
        """The default value; `inspect.Parameter.empty` without one."""
        return self._default if self._default is not _EMPTY else _inspect.Parameter.empty

    @property
    def annotation_type(self) -> str:
        """The type that the annotation names, as in signatures (`tl.int64` is "i64"); "" if it names none."""
        pointer, name = self.annotation[: self.annotation.startswith("*")], self.annotation.lstrip("*")
        name = name.strip("'\" ").rpartition(".")[2]
        found = _aggregate_types.NAMES.get(name) or getattr(_scalar_types, name, None)
        return (
            pointer + found.mangle()
            if isinstance(found, _scalar_types.dtype) and found is not _scalar_types.void
            else ""
        )

    @property
    def takes_rest(self) -> bool:
        """True for `*args`."""
        return self._kind == "VAR_POSITIONAL"

    @property
    def takes_keywords(self) -> bool:
        """True for `**kwargs`."""
        return self._kind == "VAR_KEYWORD"

    @property
    def keyword_only(self) -> bool:
        """True when a call must pass it by keyword."""
        return self._kind == "KEYWORD_ONLY"

    @property
    def has_default(self) -> bool:
        """True when a call may leave it out."""
        return self._default is not _EMPTY

    def __repr__(self) -> str:
        return f"<parameter {self.name}>"


def _parts_of(p: Any) -> tuple[str, str, Any, str]:
    """Name, kind, default and annotation of an `inspect.Parameter`."""
    default = _EMPTY if p.default is p.empty else p.default
    return p.name, p.kind.name, default, "" if p.annotation is p.empty else _annotation_text(p.annotation)


def closure_values(fn: FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions that `fn` reads and that have a value."""
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _parameters_of(fn: FunctionType) -> list[Parameter]:
    """The parameters of a Python function in order, as `inspect.signature` has them."""
    if not fn.__dict__.keys().isdisjoint(("__wrapped__", "__signature__")):
        return [Parameter(i, *_parts_of(p)) for i, p in enumerate(_inspect.signature(fn).parameters.values())]
    code, defaults, annotations = fn.__code__, fn.__defaults__ or (), fn.__annotations__
    count = code.co_argcount
    kinds = ["POSITIONAL_ONLY"] * code.co_posonlyargcount
    kinds += ["POSITIONAL_OR_KEYWORD"] * (count - code.co_posonlyargcount)
    rest = iter(code.co_varnames[count + code.co_kwonlyargcount :])
    named = [(n, k) for n, k in zip(code.co_varnames, kinds)]
    named += [(next(rest), "VAR_POSITIONAL")] if code.co_flags & CO_VARARGS else []
    named += [(n, "KEYWORD_ONLY") for n in code.co_varnames[count : count + code.co_kwonlyargcount]]
    named += [(next(rest), "VAR_KEYWORD")] if code.co_flags & CO_VARKEYWORDS else []
    values = {**dict(zip(code.co_varnames[count - len(defaults) : count], defaults)), **(fn.__kwdefaults__ or {})}
    return [
        Parameter(i, name, kind, values.get(name, _EMPTY), _annotation_text(annotations.get(name, "")))
        for i, (name, kind) in enumerate(named)
    ]


CO_VARARGS, CO_VARKEYWORDS = 4, 8  # of `co_flags`, as in `inspect`


def _annotation_text(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return getattr(annotation, "__name__", None) or str(annotation)


class Callee(Protocol):
    """The interface of a function to the visitor that compiles a call of it."""

    fn: Any
    noinline: bool
    source: SourceText

    @property
    def fn_name(self) -> str: ...
    @property
    def params(self) -> list[Parameter]: ...
    @property
    def signature(self) -> inspect.Signature: ...
    @property
    def cache_key(self) -> str: ...
    def parse(self) -> ast.FunctionDef: ...
    def lookup(self, name: str) -> Any: ...


class _Identities:
    """Computes the identities of functions, one thread at a time.

    A recursive call contributes the name of the function whose identity is being computed. An identity that contains
    such a name does not depend on that function's source, so of a cycle only the identity of the first function is
    cached; those of the others are recomputed on demand.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.under_way: list[SourceFunction | ConstexprFunction] = []
        self.lowest = 0  # the lowest index in `under_way` that a recursive call has referred to

    def of(self, function: SourceFunction | ConstexprFunction) -> str:
        """Compute the identity of a function."""
        with self.lock:
            for at, other in enumerate(self.under_way):
                if other is function:
                    self.lowest = min(self.lowest, at)
                    return f"recursive {function.fn_name}"
            depth, before = len(self.under_way), self.lowest
            self.under_way.append(function)
            self.lowest = depth
            try:
                key = function._compute_key()
                if self.lowest >= depth:
                    function.__dict__["_key"] = key
                return key
            finally:
                self.under_way.pop()
                self.lowest = before if self.lowest >= depth else min(before, self.lowest)


_identities = _Identities()


class SourceFunction:
    """A Python function in the language: its source, parameters, globals and identity.

    Reading the source is cheap until it is needed: nothing is parsed when the function is decorated.
    Attributes: `fn` (the Python function), `noinline`, `source`, and the usual `__name__`, `__doc__`, `__module__`.
    """

    __name__: str

    def __init__(self, fn: FunctionType, *, noinline: bool = False) -> None:
        if not isinstance(fn, FunctionType):
            raise TypeError(f"expected a Python function, got {type(fn).__name__}: {fn!r}")
        functools.update_wrapper(self, fn)  # type: ignore[arg-type]
        self.fn = fn
        self.noinline = noinline
        self.source = SourceText(fn)

    @property
    def fn_name(self) -> str:
        """A name that is unique among modules: the prefix of the symbols generated for calls."""
        return f"{self.fn.__module__}.{self.fn.__qualname__}".replace(".<locals>", "")

    @property
    def src(self) -> str:
        """The source from `def` on, dedented."""
        return self.source.text

    @property
    def type(self) -> Any:
        """The type of the function as a compile-time value."""
        return _aggregate_types.constexpr_type(self)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The Python signature, annotations as written."""
        found: inspect.Signature = _inspect.signature(self.fn)
        return found

    @cached_property
    def params(self) -> list[Parameter]:
        """The parameters in order."""
        return _parameters_of(self.fn)

    @cached_property
    def arg_names(self) -> list[str]:
        """The names of the parameters in order."""
        return [p.name for p in self.params]

    @cached_property
    def nonlocals(self) -> dict[str, Any]:
        """The variables of enclosing functions as they are at first use."""
        return closure_values(self.fn)

    def get_capture_scope(self) -> dict[str, Any]:
        """The scope of the body besides parameters: names of the module, shadowed by those of enclosing functions.

        The module's own dictionary if there are no others. (Triton's name.)
        """
        return self.fn.__globals__ | self.nonlocals if self.nonlocals else self.fn.__globals__

    def parse(self) -> ast.FunctionDef:
        """The syntax tree of the definition, cached; positions are those of the file."""
        return self.source.tree

    def lookup(self, name: str) -> Any:
        """The value of a variable of an enclosing function or of the module; raises KeyError without one."""
        if name in self.nonlocals:
            return self.nonlocals[name]
        return self.fn.__globals__[name]

    def __get__(self, instance: Any, owner: Any) -> Any:
        """A bound method for values of the language; the kernel itself for other objects."""
        return BoundCallee(self, instance) if hasattr(instance, "_flatten_ir") else self

    def _unsafe_update_src(self, text: str) -> None:
        """Replace the definition by `text` (same name and parameters), in this object only.

        Unsafe because functions that call this one have hashed it already: set their `hash` to None.
        """
        self.source = self.source.replaced(text)
        self.hash = None

    # -- identity ---------------------------------------------------------------------------------------------

    @cached_property
    def references(self) -> list[tuple[str, Any, dict[str, Any] | None]]:
        """The captured values of the body: (name as written, value, the dict a plain name was found in).

        Defaults of parameters are included.
        """
        defaults = [(f"default of {p.name}", p.default, None) for p in self.params if p.has_default]
        return [*find_references(self.parse(), self.nonlocals, self.fn.__globals__), *defaults]

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict[str, Any]]]:
        """The global values compiled into the code, of callees too: (name, id of the dict) -> (value, dict)."""
        return {key: (value.value, value.scope) for key, value in self._captured().items()}

    def captured_globals(self) -> list[CapturedGlobal]:
        """The same, with their identities at the time the key was computed."""
        return list(self._captured().values())

    def _captured(self) -> dict[tuple[str, int], CapturedGlobal]:
        found: dict[tuple[str, int], CapturedGlobal] = {}
        _ = self.meaning_key
        self._collect_globals(found, set())
        return found

    def _collect_globals(self, found: dict[tuple[str, int], CapturedGlobal], seen: set[int]) -> None:
        if id(self) in seen:
            return
        seen.add(id(self))
        texts = self.__dict__.get("_texts", {})
        for written, value, scope in self.references:
            value = unwrap_callee(value)
            if isinstance(value, LanguageFunction):
                continue
            if isinstance(value, SourceFunction):
                value._collect_globals(found, seen)
            elif scope is not None and (is_constexpr(value) or not (isinstance(value, ModuleType) or callable(value))):
                name = written.rpartition(".")[2]  # the attribute of a module
                found[name, id(scope)] = CapturedGlobal(name, value, scope, texts.get(written) or identity(value))

    @property
    def meaning_key(self) -> str:
        """A hash of the semantics of the function: name, source, callees, captured values. Not of its position.

        Computed once; `used_global_vals` finds out whether globals have changed since.
        """
        found = self.__dict__.get("_key")
        return _identities.of(self) if found is None else found

    def callees(self) -> list[SourceFunction]:
        """The function and all user functions that it may call, each once, in a deterministic order."""
        found: dict[int, SourceFunction] = {}
        waiting = [self]
        while waiting:
            function = waiting.pop()
            if id(function) not in found and not isinstance(function, LanguageFunction):
                found[id(function)] = function
                _ = function.meaning_key
                waiting.extend(reversed(function.__dict__.get("_met", ())))
        return list(found.values())

    @property
    def places(self) -> list[str]:
        """Positions of the function and its callees, "file:line:column", as in debug information of compiled code."""
        return [f.source.position for f in self.callees()]

    def values_read(self) -> dict[str, str]:
        """Captured values of the body besides functions, by name, as identities ("#…" for the hash of one)."""
        found = {name: unwrap_callee(value) for name, value, _ in self.references}
        shown = {n: identity(v) for n, v in found.items() if not isinstance(v, SourceFunction) and not _is_library(v)}
        return {name: text if len(text) <= 60 else f"#{_digest(text)}" for name, text in shown.items()}

    @property
    def cache_key(self) -> str:
        """A hash of the semantics and of the positions of the function and its callees."""
        found = self.__dict__.get("_whole")
        if found is None:
            found = sha256(repr((self.meaning_key, self.places)).encode()).hexdigest()
            self.__dict__["_whole"] = found
        return found

    @property
    def hash(self) -> str | None:
        """The `cache_key` if it has been computed. Assigning None makes the next use compute it again."""
        return self.cache_key if "_key" in self.__dict__ else None

    @hash.setter
    def hash(self, value: str | None) -> None:
        for name in ("references", "_key", "_whole", "_met", "_texts"):
            self.__dict__.pop(name, None)
        if value is not None:
            self.__dict__["_key"] = self.__dict__["_whole"] = value

    def _compute_key(self) -> str:
        parts = [self.fn_name, self.src, str(self.noinline)]
        met: list[Any] = []
        texts = {name: identity(value, met) for name, value, _ in sorted(self.references, key=lambda r: r[0])}
        parts += [f"{name}={text}" for name, text in texts.items()]
        self.__dict__["_texts"] = texts
        self.__dict__["_met"] = [f for f in met if isinstance(f, SourceFunction)]
        return sha256("\0".join(parts).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fn.__module__}:{self.fn.__qualname__})"


def _is_library(value: Any) -> bool:
    """Is it a function of this package, which the hash of the package covers?"""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    named = isinstance(value, ModuleType) or hasattr(value, "__qualname__")
    return named and isinstance(module, str) and module.partition(".")[0] == __name__.partition(".")[0]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


class _PythonCalls:
    """The executor of calls of the language from Python: `execute(fn, args, kwargs)`.

    None, unless a kernel is being run as Python (`runtime.interpreter`).
    """

    execute: Callable[[Any, Any, Any], Any] | None = None


python_calls = _PythonCalls()


class LanguageFunction(SourceFunction):
    """A library function written in the language. Its identity is its name: the hash of the package covers it."""

    @property
    def meaning_key(self) -> str:
        """The full name."""
        return self.fn_name

    @property
    def cache_key(self) -> str:
        """The full name."""
        return self.fn_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if python_calls.execute is not None:
            return python_calls.execute(self, args, kwargs)
        raise RuntimeError(
            f"{self.__name__} is a function of the kernel language; it can only be called inside a kernel"
        )


@overload
def language_function(fn: F) -> F: ...
@overload
def language_function(*, noinline: bool = False) -> Callable[[F], F]: ...
def language_function(fn: Any = None, *, noinline: bool = False) -> Any:
    """Decorator of library functions whose body is kernel code (`tl.sum`, `tl.softmax`, `tl.rand`, …)."""
    if fn is None:
        return lambda f: LanguageFunction(f, noinline=noinline)
    return LanguageFunction(fn, noinline=noinline)


class BoundCallee:
    """A function of the language as a method: `value.fn` where `fn` is an attribute of the value's class."""

    __slots__ = ("fn", "instance")

    def __init__(self, fn: SourceFunction, instance: Any) -> None:
        self.fn = fn
        self.instance = instance


class ConstexprFunction:
    """A Python function that kernels may call at compile time: arguments and result are constexpr.

    Called from Python it is the plain function. As a class attribute it binds like a method.
    """

    def __init__(self, fn: Callable[..., Any], instance: Any = None) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.instance = instance

    def __get__(self, instance: Any, owner: Any) -> ConstexprFunction:
        return self if instance is None else ConstexprFunction(self.fn, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs) if self.instance is None else self.fn(self.instance, *args, **kwargs)

    @property
    def meaning_key(self) -> str:
        """A hash of name, code, and what the code reads; and of the object it is bound to."""
        found = self.__dict__.get("_key")
        return _identities.of(self) if found is None else found

    @property
    def fn_name(self) -> str:
        """A name that is unique among modules."""
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    def _compute_key(self) -> str:
        bound = "" if self.instance is None else identity(self.instance)
        return sha256(f"{self.fn_name}\0{code_identity(self.fn)}\0{bound}".encode()).hexdigest()

    @property
    def cache_key(self) -> str:
        """The `meaning_key`: its position does not matter, since compiled code contains nothing of the function."""
        return self.meaning_key

    @cached_property
    def src(self) -> str:
        """The source from `def` on, dedented, as of kernels; SourceError if it cannot be found."""
        assert isinstance(self.fn, FunctionType)
        return SourceText(self.fn).text

    def __repr__(self) -> str:
        return f"constexpr_function({self.fn.__qualname__})"


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Make a Python function callable inside kernels at compile time."""
    return ConstexprFunction(fn)


def must_use_result(x: Any, s: bool | str = True) -> Any:
    """Decorator: a call of the function as an expression statement is an error, since its result is lost.

    Applied to `@jit` or `@constexpr_function`. The text of `@must_use_result("why")` is added to the error.
    """
    if isinstance(x, str):
        return lambda inner: must_use_result(inner, x)
    for target in (x, getattr(x, "fn", x)):  # a bound constexpr function copies the attributes of the Python function
        target._must_use_result = s
    return x
