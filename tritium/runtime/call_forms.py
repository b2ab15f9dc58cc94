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
parameters, the call is ambiguous and refused; so is one of the last form with another value for a parameter that is
compiled in, which is a call that left out something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ArgumentError

__all__ = ["CallForms"]

_PLAIN = (int, float, str, type(None))


class CallForms:
    """Assigns positional arguments to the parameters of a compiled kernel.

    `types` are those of the signature ("constexpr" for compiled-in values), `declared` the names of parameters
    declared `tl.constexpr`, `constants` the compiled-in values by parameter index.
    """

    def __init__(
        self,
        kernel: str,
        names: Sequence[str],
        types: Sequence[Any],
        declared: frozenset[str] = frozenset(),
        constants: Mapping[int, Any] | None = None,
    ) -> None:
        self._kernel = kernel
        self._names = list(names)
        self._runtime = [i for i, ty in enumerate(types) if ty != "constexpr"]
        self._undeclared = [i for i, name in enumerate(names) if name not in declared or types[i] != "constexpr"]
        self._constants = constants or {}
        self._known: dict[int, Sequence[int]] = {}

    @classmethod
    def of(cls, kernel: Any) -> CallForms:
        """The forms of a `CompiledKernel`."""
        source = kernel.src
        params = getattr(getattr(source, "fn", None), "params", ())
        declared = frozenset(p.name for p in params if p.is_constexpr)
        constants = {path[0]: value for path, value in source.constants.items() if len(path) == 1}
        return cls(kernel.name, list(source.signature), list(source.signature.values()), declared, constants)

    def expand(self, args: Sequence[Any]) -> Sequence[Any]:
        """A value for each parameter: those given, and the compiled-in constants for those left out.

        >>> CallForms("f", ["x", "n", "B"], ["*fp32", "i32", "constexpr"], {"B"}, {2: 64}).expand(["array", 3])
        ['array', 3, 64]
        """
        if len(args) == len(self._names):
            return args
        values = [self._constants.get(i) for i in range(len(self._names))]
        positions = self.positions(len(args))
        if positions is not self._undeclared and positions is not self._runtime:
            self._check_constants(positions, args)
        for i, value in zip(positions, args):
            values[i] = value
        return values

    def _check_constants(self, positions: Sequence[int], args: Sequence[object]) -> None:
        """ArgumentError if a value differs from the compiled-in one: then other arguments were left out."""
        for i, value in zip(positions, args):
            constant = self._constants.get(i)
            constant = getattr(constant, "value", constant)
            value = getattr(value, "value", value)
            if (
                i not in self._runtime
                and isinstance(constant, _PLAIN)
                and (not isinstance(value, _PLAIN) or value != constant)
            ):
                raise ArgumentError(
                    f"{self._kernel}: {len(args)} arguments are ({self._shown(positions)}), and {self._names[i]!r} is "
                    f"compiled in as {constant!r}\nhint: pass all {len(self._names)} arguments, or the "
                    f"{len(self._runtime)} run-time ones"
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
