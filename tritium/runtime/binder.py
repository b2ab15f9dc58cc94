"""Python's own argument binding for kernels: a function with the kernel's parameters, written for each kernel.

Its parameters are those of the kernel, behind the grid; a parameter without a default has a mark as default, so that
one message can name all that are missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .errors import ArgumentError

__all__ = ["MISS", "MISSING", "make_binder"]

_missing = object()
MISSING = id(_missing)
"""The id of the mark that stands for an argument that was not given (compared by id: tensors have their own ==)."""

MISS = object()
"""What a quick launcher returns if a launch is not of its kind."""

_Kind = inspect.Parameter


def make_binder(
    name: str, params: Sequence[Any], quick: list[Callable[..., Any]], launch: Callable[..., Any]
) -> Callable[..., Any]:
    """`bind(grid, *args, **kwargs)`: calls `quick[0](grid, *values, options)`, with a value for each parameter.

    If that returns MISS, `launch(grid, values, options)` is called; with an `*args` parameter, straight away.
    Keywords that are no parameters are the options. ArgumentError for too many arguments and for
    a `**kwargs` parameter.
    """
    scope: dict[str, Any] = {"_tt_quick": quick, "_tt_launch": launch, "_tt_missing": _missing}
    parts, names, variadic = ["_tt_grid"], [], False
    for i, p in enumerate(params):
        if p.kind is _Kind.VAR_KEYWORD:
            raise ArgumentError(f"{name}: a kernel cannot have a parameter **{p.name}")
        names.append(p.name)
        if p.kind is _Kind.VAR_POSITIONAL:
            variadic = True
            parts.append(f"*{p.name}")
            continue
        if p.kind is _Kind.KEYWORD_ONLY and not variadic:
            variadic = True
            parts.append("*_tt_extra")
        scope[f"_tt_default{i}"] = p.default if p.has_default else _missing
        parts.append(f"{p.name}=_tt_default{i}")
    if not variadic:
        parts.append("*_tt_extra")
    check = "*_tt_extra" in parts
    lines = [f"def bind({', '.join(parts)}, **_tt_options):"]
    if check:
        lines += ["    if _tt_extra:", "        _tt_too_many(_tt_extra)"]
        scope["_tt_too_many"] = _complaint(name, [p.name for p in params])
    values = "".join(f"{n}, " for n in names)
    if check:
        scope["_tt_miss"] = MISS
        lines += [
            f"    _tt_result = _tt_quick[0](_tt_grid, {values}_tt_options)",
            "    if _tt_result is not _tt_miss:",
            "        return _tt_result",
        ]
    lines.append(f"    return _tt_launch(_tt_grid, ({values}), _tt_options)")
    exec(compile("\n".join(lines), f"<arguments of {name}>", "exec"), scope)
    bind = scope["bind"]
    bind.__name__ = bind.__qualname__ = name
    return bind  # type: ignore[no-any-return]


def _complaint(name: str, names: Sequence[str]) -> Callable[[tuple[Any, ...]], None]:
    def complain(extra: tuple[Any, ...]) -> None:
        raise ArgumentError(
            f"{name}: takes {len(names)} arguments, but {len(names) + len(extra)} were given; "
            f"the parameters are ({', '.join(names)})"
        )

    return complain
