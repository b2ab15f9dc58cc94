"""The positional arguments with which a compiled kernel can be called.

A compiled kernel has a value for each parameter, but only some are read at run time: parameters declared `tl.constexpr`
and arguments that the specialization made constants (1, None) are part of the code. Launchers of other projects leave
out more or less of these. `CallForms` accepts every form that Triton 3.6 to 3.9 accept, and those of older releases:

| form | arguments |
|---|---|
| all | one for each parameter (Triton 3.3 and later) |
| no constexprs | all but the parameters declared `tl.constexpr` (Triton up to 3.2; FlagGems' launcher) |
| run-time values | all but the declared constexprs and the arguments made constants |
| no trailing constants | all up to the last one read at run time (Triton 3.7 and later read no further) |

The number of arguments selects the form. Where two forms of this length assign a run-time value to different
parameters, the call is ambiguous and refused.

So is a call with another value for a parameter that is compiled in, and with an integer or address that is not
divisible by 16 where the code relies on it. (Triton runs the compiled code all the same: a wrong result.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .arrays import describe
from .errors import ArgumentError

__all__ = ["CallForms"]

_PLAIN = (int, float, str, type(None))
_ALIGNMENT = 16
_DIVISIBLE = ("tt.divisibility", _ALIGNMENT)
_HINT = "hint: launch the function itself, which is compiled for each kind of arguments"


def _unwrapped(value: object) -> object:
    """The value of a `tl.constexpr`, and a NumPy number as Python's."""
    if type(value).__name__ == "constexpr":
        return _unwrapped(getattr(value, "value", value))
    is_number = type(value).__module__ == "numpy" and not getattr(value, "shape", (0,))
    return value.item() if is_number and hasattr(value, "item") else value


def _differs(constant: object, value: object) -> bool:
    """Whether a value is another than a compiled-in number, string or None; of other constants nothing is known."""
    constant, value = _unwrapped(constant), _unwrapped(value)
    if value is constant or not isinstance(constant, _PLAIN):
        return False
    if not isinstance(value, _PLAIN):
        return True
    return constant != value and (constant == constant or value == value)  # a NaN is equal to a NaN here


def _number_of(value: object, is_pointer: bool) -> int:
    """An integer, or the address of an array; 0 of other values."""
    if not is_pointer:
        return value if isinstance(value, int) else 0
    read = getattr(value, "data_ptr", None)
    if read is not None:
        with suppress(RuntimeError):  # a tensor without memory, which the launch refuses
            return int(read())
    info = describe(value)
    return 0 if info is None else info.address


class CallForms:
    """Assigns positional arguments to the parameters of a compiled kernel.

    `types` are those of the signature ("constexpr" for compiled-in values), `declared` the names of parameters
    declared `tl.constexpr`, `constants` the compiled-in values by parameter index, `aligned` the indices of those that
    are divisible by 16.
    """

    def __init__(
        self,
        kernel: str,
        names: Sequence[str],
        types: Sequence[Any],
        declared: frozenset[str] = frozenset(),
        constants: Mapping[int, Any] | None = None,
        aligned: frozenset[int] = frozenset(),
    ) -> None:
        self._kernel = kernel
        self._names = list(names)
        self._runtime = [i for i, ty in enumerate(types) if ty != "constexpr"]
        self._undeclared = [i for i, name in enumerate(names) if name not in declared or types[i] != "constexpr"]
        self._constants = constants or {}
        self._aligned = aligned
        self._is_pointer = [isinstance(ty, str) and ty.startswith("*") for ty in types]
        self._known: dict[int, Sequence[int]] = {}

    @classmethod
    def of(cls, kernel: Any) -> CallForms:
        """The forms of a `CompiledKernel`."""
        source = kernel.src
        params = getattr(getattr(source, "fn", None), "params", ())
        declared = frozenset(p.name for p in params if p.is_constexpr)
        constants = {path[0]: value for path, value in source.constants.items() if len(path) == 1}
        facts = getattr(source, "attrs", {}).items()
        aligned = {path[0] for path, items in facts if len(path) == 1 and [*_DIVISIBLE] in map(list, items)}
        types = list(source.signature.values())
        return cls(kernel.name, list(source.signature), types, declared, constants, frozenset(aligned))

    @property
    def aligned(self) -> frozenset[int]:
        """The indices of the parameters that are divisible by 16."""
        return self._aligned

    def expand(self, args: Sequence[Any]) -> Sequence[Any]:
        """A value for each parameter: those given, and the compiled-in constants for those left out.

        >>> CallForms("f", ["x", "n", "B"], ["*fp32", "i32", "constexpr"], {"B"}, {2: 64}).expand(["array", 3])
        ['array', 3, 64]
        """
        if len(args) == len(self._names):
            return args
        values = [self._constants.get(i) for i in range(len(self._names))]
        for i, value in zip(self.positions(len(args)), args):
            values[i] = value
        return values

    def check(self, args: Sequence[object]) -> None:
        """ArgumentError for arguments that the kernel was not compiled for."""
        positions = range(len(self._names)) if len(args) == len(self._names) else self.positions(len(args))
        for i, value in zip(positions, args):
            if i in self._constants:
                if _differs(self._constants[i], value):
                    raise ArgumentError(self._another_value(i, value, positions))
            elif i in self._aligned and _number_of(value, self._is_pointer[i]) % _ALIGNMENT:
                raise ArgumentError(
                    f"{self._kernel} was compiled for {self._names[i]!r} divisible by {_ALIGNMENT}, and it is "
                    f"{_number_of(value, self._is_pointer[i]):#x}\n{_HINT}"
                )

    def _another_value(self, i: int, value: object, positions: Sequence[int]) -> str:
        constant, name = _unwrapped(self._constants[i]), self._names[i]
        if len(positions) in (len(self._names), len(self._undeclared)):
            given = repr(_unwrapped(value)) if isinstance(_unwrapped(value), _PLAIN) else f"a {type(value).__name__}"
            return f"{self._kernel}: {name!r} is compiled in as {constant!r}, not {given}\n{_HINT}"
        return (
            f"{self._kernel}: {len(positions)} arguments are ({self._shown(positions)}), and {name!r} is compiled in "
            f"as {constant!r}\nhint: pass all {len(self._names)} arguments, or the {len(self._runtime)} run-time ones"
        )

    def positions(self, count: int) -> Sequence[int]:
        """The parameter index of each of `count` arguments; ArgumentError unless one form has this length."""
        found = self._known.get(count)
        if found is None:
            found = self._known[count] = self._resolve(count)
        return found

    def _resolve(self, count: int) -> Sequence[int]:
        candidates = [form for form in self._forms() if len(form) == count]
        if not candidates:
            raise ArgumentError(
                f"{self._kernel} takes {len(self._names)} arguments, {self._shorter()}; {count} were given"
            )
        first, *others = candidates
        for other in others:
            if [first.index(i) for i in self._runtime] != [other.index(i) for i in self._runtime]:
                raise ArgumentError(
                    f"{self._kernel}: {count} arguments may be ({self._shown(first)}) or ({self._shown(other)})\n"
                    f"hint: pass all {len(self._names)} arguments, or the {len(self._runtime)} run-time ones"
                )
        return first

    def _forms(self) -> list[Sequence[int]]:
        last = self._runtime[-1] if self._runtime else -1
        prefixes = [range(end) for end in range(len(self._names), last, -1)]
        return [self._undeclared, self._runtime, *prefixes]

    def _shown(self, form: Sequence[int]) -> str:
        return ", ".join(self._names[i] for i in form)

    def _shorter(self) -> str:
        runtime, undeclared = len(self._runtime), len(self._undeclared)
        if undeclared == runtime:
            return f"or {runtime} without the compile-time ones"
        return f"{undeclared} without the declared constexprs, or {runtime} without all compile-time ones"
