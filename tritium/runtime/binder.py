"""Argument binding by Python itself: a generated function with the parameters of the kernel.

A parameter without a default gets a sentinel as default, so that one message can name all missing arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import ArgumentError

__all__ = ["MISSING", "make_binder"]

_missing = object()
MISSING = id(_missing)
"""The id of the sentinel for a missing argument (compared by id: tensors overload ==)."""


def make_binder(name: str, params: Sequence[Any]) -> Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]:
    """`bind(*args, **kwargs)`: a value for each parameter, and the other keywords (the options).

    ArgumentError for too many arguments and for a `**kwargs` parameter.
    """
    scope: dict[str, Any] = {"_tt_missing": _missing}
    parts, names, variadic = [], [], False
    for i, p in enumerate(params):
        if p.takes_keywords:
            raise ArgumentError(f"{name}: a kernel cannot have a parameter **{p.name}")
        names.append(p.name)
        if p.takes_rest:
            variadic = True
            parts.append(f"*{p.name}")
            continue
        if p.keyword_only and not variadic:
            variadic = True
            parts.append("*_tt_extra")
        scope[f"_tt_default{i}"] = p.default if p.has_default else _missing
        parts.append(f"{p.name}=_tt_default{i}")
    if not variadic:
        parts.append("*_tt_extra")
    lines = [f"def bind({', '.join(parts)}, **_tt_options):"]
    if "*_tt_extra" in parts:
        lines += ["    if _tt_extra:", "        _tt_too_many(_tt_extra)"]
        scope["_tt_too_many"] = _complaint(name, [p.name for p in params])
    lines.append(f"    return ({''.join(f'{n}, ' for n in names)}), _tt_options")
    exec(compile("\n".join(lines), f"<arguments of {name}>", "exec"), scope)
    bind = scope["bind"]
    bind.__name__ = bind.__qualname__ = name
    return bind  # type: ignore[no-any-return]


def _complaint(name: str, names: Sequence[str]) -> Callable[[tuple[Any, ...]], None]:
    def complain(extra: tuple[Any, ...]) -> None:
        raise ArgumentError(
            f"{name}: takes {len(names)} argument{'s' * (len(names) != 1)}, but {len(names) + len(extra)} were given; "
            f"the parameters are ({', '.join(names)})"
        )

    return complain
