"""Kinds and groups of settings; `settings` defines them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .lazy import LazyModule

__all__ = [
    "Chain",
    "ClassName",
    "Environment",
    "Flag",
    "Folder",
    "Group",
    "Hook",
    "HookChain",
    "Integer",
    "OptionalFlag",
    "Setting",
    "Size",
    "Text",
    "environment",
    "generation",
    "insertions",
    "propagation",
]

_hook_errors = LazyModule(".hook_errors", __package__)

T = TypeVar("T")
if TYPE_CHECKING:
    G = TypeVar("G", bound="Group")

_TRUE = ("1", "true", "on", "yes", "y")


class _Generation:
    """A number that grows whenever a setting is assigned or a hook added."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


generation = _Generation()
insertions = _Generation()  # the number of insertions of users' passes into pipelines


class _Propagation:
    """Whether an assigned setting is written to the environment, where child processes find it."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = True


propagation = _Propagation()


class Environment:
    """Assigned to a setting, it drops the assigned value, so that the environment applies again."""


environment = Environment()


def with_our_names(variables: tuple[str, ...]) -> tuple[str, ...]:
    """Triton's variables, each preceded by the one with our prefix, which takes precedence.

    >>> with_our_names(("TRITON_DEBUG",))
    ('TRITIUM_DEBUG', 'TRITON_DEBUG')
    """
    ours = (f"TRITIUM_{v[len('TRITON_') :]}" for v in variables if v.startswith("TRITON_"))
    return (*(v for v in ours if v not in variables), *variables)


class Setting(Generic[T]):
    """An attribute backed by environment variables (the first that is set counts).

    `invalidates` marks settings that affect compiled code: their values are part of cache keys. `kind` is the class,
    one of `option_classes.KINDS`.
    """

    def __init__(self, default: T, *env: str, doc: str = "", invalidates: bool = False, kind: str = "") -> None:
        self.default = default
        self.kind = kind
        self.env = with_our_names(env)
        self.invalidates = invalidates
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def key(self) -> str:
        """The variable that an assigned value is written to: Triton's if it has one; "" without any."""
        return self.env[-1] if self.env else ""

    def parse(self, text: str) -> T:
        """The value of the environment's `text`."""
        raise NotImplementedError

    def format(self, value: T) -> str:
        """The inverse of `parse`."""
        return str(value)

    @overload
    def __get__(self, group: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, group: Group, owner: type) -> T: ...
    def __get__(self, group: Group | None, owner: type) -> Any:
        if group is None:
            return self
        values = group.__dict__
        if self.name in values:
            return values[self.name]
        for variable in self.env:
            text = os.environ.get(variable)
            if text is not None:
                return self.parse(text)
        return self.default

    def __set__(self, group: Group, value: T) -> None:
        generation.value += 1
        if isinstance(value, Environment):
            group.__dict__.pop(self.name, None)
            return
        if value is None and self.env:
            group.__dict__.pop(self.name, None)
        else:
            group.__dict__[self.name] = value
        if self.env and propagation.on:
            self._propagate(value)

    def _propagate(self, value: T) -> None:
        """Write a value to the last variable, Triton's if it has one, and to those that are set."""
        if value is None:
            for variable in self.env:
                os.environ.pop(variable, None)
            return
        for variable in self.env:
            if variable in os.environ or variable == self.env[-1]:
                os.environ[variable] = self.format(value)

    def __delete__(self, group: Group) -> None:
        generation.value += 1
        group.__dict__.pop(self.name, None)


class Flag(Setting[bool]):
    """A boolean: 1, true, on, yes, y in any case are true, everything else is false."""

    def parse(self, text: str) -> bool:
        return text.strip().lower() in _TRUE

    def format(self, value: bool) -> str:
        return "1" if value else "0"


class UnsupportedFlag(Flag):
    """An unsupported flag: assigning True is an error, and so is a variable that sets it."""

    def __set__(self, group: Group, value: bool) -> None:
        if value is True:
            raise SettingError(f"the setting {self.name} is not supported: {self.__doc__}")
        super().__set__(group, value)


class OptionalFlag(Setting[bool | None]):
    """An optional flag: if it is None, the compiler chooses."""

    def __init__(self, *env: str, doc: str = "", invalidates: bool = False, kind: str = "") -> None:
        super().__init__(None, *env, doc=doc, invalidates=invalidates, kind=kind)

    def parse(self, text: str) -> bool | None:
        return text.strip().lower() in _TRUE if text else None

    def format(self, value: bool | None) -> str:
        return "1" if value else "0"


class Text(Setting[str | None]):
    """A string; an empty variable counts as unset."""

    def parse(self, text: str) -> str | None:
        return text or self.default


class UnsupportedText(Text):
    """An unsupported string: assigning one is an error, and so is a variable that sets one."""

    def __set__(self, group: Group, value: str | None) -> None:
        if isinstance(value, str) and value:
            raise SettingError(f"the setting {self.name} is not supported: {self.__doc__}")
        super().__set__(group, value)


class Folder(Text):
    """A folder, by default the result of a function."""

    def __init__(self, made: Callable[[], str], shown: str, *env: str, doc: str = "", kind: str = "") -> None:
        self.made = made
        self.shown = shown
        super().__init__(None, *env, doc=doc, kind=kind)

    def __get__(self, group: Group | None, owner: type) -> Any:
        found = super().__get__(group, owner)  # type: ignore[call-overload]
        return self.made() if found is None else found


class SettingError(ValueError, RuntimeError):
    """The text of an environment variable is invalid for its setting."""


class Integer(Setting[int | None]):
    """An integer; an invalid text is an error naming the variable."""

    def parse(self, text: str) -> int | None:
        try:
            return int(text)
        except ValueError:
            raise SettingError(f"{' / '.join(self.env)} must be an integer, not {text!r}") from None


class Size(Setting[int | None]):
    """A number of bytes, such as 500M or 4G (of 1024 each); an invalid text is an error naming the variable.

    >>> Size(None).parse("2K")
    2048
    """

    def parse(self, text: str) -> int | None:
        number, unit = text.strip().upper().removesuffix("B").removesuffix("I"), 1
        if number[-1:] in _UNITS:
            number, unit = number[:-1], _UNITS[number[-1]]
        try:
            return int(float(number) * unit)
        except (ValueError, OverflowError):
            raise SettingError(f"{' / '.join(self.env)} must be a size such as 500M or 4G, not {text!r}") from None


_UNITS = {letter: 1 << 10 * power for power, letter in enumerate("KMGT", 1)}


class ClassName(Setting[type | None]):
    """A class, which the environment names as `module:Class`; it has a class called `base` among its bases."""

    def __init__(self, base: str, *env: str, doc: str = "", kind: str = "") -> None:
        self.base = base
        super().__init__(None, *env, doc=doc, kind=kind)

    def parse(self, text: str) -> type | None:
        if not text:
            return None
        variable = self.env[-1]
        module, colon, name = text.partition(":")
        if not (module and colon and name):
            raise SettingError(f"{variable} must be MODULE:CLASS, not {text!r}")
        if module.partition(".")[0] == "triton":  # its classes of these names are ours
            module = f"{__name__.partition('.')[0]}{module.removeprefix('triton')}"
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise SettingError(f"{variable} names {text!r}, which cannot be had: {error}") from error
        if not isinstance(found, type) or all(base.__name__ != self.base for base in found.mro()):
            raise SettingError(f"{variable} names {text!r}, which is no {self.base}")
        return found

    def format(self, value: type | None) -> str:
        return "" if value is None else f"{value.__module__}:{value.__qualname__}"


class Hook(Setting[Callable[..., Any] | None]):
    """A function of the user's, or None. No environment variable."""

    def __init__(self, doc: str = "", kind: str = "") -> None:
        super().__init__(None, doc=doc, kind=kind)


class HookChain:
    """Several functions called one after another; `add` and `remove` them. `reversed` calls the last first.

    A function that raises an `Exception` is skipped with a warning (`hook_errors`); `name` is the setting.

    >>> chain, seen = HookChain(), []
    >>> chain.add(seen.append); chain(3); seen
    [3]
    """

    def __init__(self, reversed: bool = False, name: str = "hook") -> None:
        self.calls: list[Callable[..., Any]] = []
        self.reversed = reversed
        self.name = name

    def add(self, function: Callable[..., Any]) -> None:
        """Add `function`, unless it is in the chain."""
        generation.value += 1
        _ = _hook_errors.call_hook  # imported now: code is unloaded at exit, too, when imports fail
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function: Callable[..., Any]) -> None:
        """Remove `function`, if it is in the chain."""
        generation.value += 1
        if function in self.calls:
            self.calls.remove(function)

    def __bool__(self) -> bool:
        return bool(self.calls)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for function in self.calls[::-1] if self.reversed else list(self.calls):
            _hook_errors.call_hook(self.name, function, *args, **kwargs)


class Chain(Setting[HookChain]):
    """A HookChain. Assigning a function makes it the only one, assigning None empties the chain."""

    def __init__(self, doc: str = "", backwards: bool = False, kind: str = "") -> None:
        super().__init__(HookChain(backwards), doc=doc, kind=kind)
        self.backwards = backwards

    def __get__(self, group: Group | None, owner: type) -> Any:
        if group is None:
            return self
        found = group.__dict__.get(self.name)
        return group.__dict__.setdefault(self.name, self._chain()) if found is None else found

    def __set__(self, group: Group, value: Any) -> None:
        generation.value += 1
        if not isinstance(value, HookChain):
            chain = self._chain()
            if value is not None:
                chain.add(value)
            value = chain
        group.__dict__[self.name] = value

    def _chain(self) -> HookChain:
        return HookChain(self.backwards, f"runtime.{self.name}")


class Group:
    """A group of settings."""

    @classmethod
    def settings(cls) -> dict[str, Setting[Any]]:
        """The settings of this group by name."""
        return {name: value for name, value in vars(cls).items() if isinstance(value, Setting)}

    def check_supported(self) -> None:
        """SettingError for unsupported settings in the environment."""
        for setting in vars(type(self)).values():
            if isinstance(setting, (UnsupportedFlag, UnsupportedText)) and setting.__get__(self, type(self)):
                raise SettingError(f"{' / '.join(setting.env)} is not supported: {setting.__doc__}")

    @property
    def knob_descriptors(self) -> dict[str, Setting[Any]]:
        """The settings that have an environment variable, by name."""
        return {name: setting for name, setting in self.settings().items() if setting.env}

    @property
    def knobs(self) -> dict[str, Any]:
        """Their current values by name."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self: G) -> G:
        """An independent group with the same assigned values."""
        twin = type(self)()
        twin.__dict__.update(self.__dict__)
        return twin

    def reset(self: G) -> G:
        """Drop the assigned values: the environment and the defaults apply again. Hooks stay."""
        generation.value += 1
        for name in self.knob_descriptors:
            self.__dict__.pop(name, None)
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo assignments inside at exit, in the environment too."""
        variables = [v for s in self.settings().values() for v in s.env]
        before = {v: os.environ.get(v) for v in variables}
        values = dict(self.__dict__)
        chains = {name: list(v.calls) for name, v in values.items() if isinstance(v, HookChain)}
        try:
            yield
        finally:
            generation.value += 1
            self.__dict__.clear()
            self.__dict__.update(values)
            for name, calls in chains.items():
                values[name].calls[:] = calls
            for variable, text in before.items():
                if text is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = text
