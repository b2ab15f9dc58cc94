"""Classes of options, annotations and settings: the contract with the user.

| class | contract |
|---|---|
| semantic | takes effect, or is an error |
| instrumentation | takes effect, or is refused by name |
| hint | may have no effect on a target, which is documented; never a warning |

The class is declared beside the definition, and read from there by tests and by the generated page of options:
fields of a backend's options are made by `semantic`, `instrumentation`, `hint` and `ignored_hint`, settings have a
`kind`, parameters of the language and of launches have a table each (`frontend.language.parameters`,
`runtime.parameters`).

>>> from tritium.support.dataclasses import dataclass, fields
>>> @dataclass(frozen=True)
... class Options:
...     num_warps: int = hint(4, "warps of a CTA")
>>> Options().num_warps, declared(fields(Options)[0]).kind
(4, 'hint')
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .dataclasses import field

__all__ = [
    "HINT",
    "INSTRUMENTATION",
    "KINDS",
    "SEMANTIC",
    "Declaration",
    "declared",
    "hint",
    "ignored_hint",
    "instrumentation",
    "semantic",
]

SEMANTIC, INSTRUMENTATION, HINT = KINDS = ("semantic", "instrumentation", "hint")


class Declaration(NamedTuple):
    """The class of an option, and its effect on the target that declares it; `ignored`: it has none."""

    kind: str
    effect: str
    ignored: bool = False


def _option(default: Any, kind: str, effect: str, ignored: bool = False) -> Any:
    return field(default=default, metadata={"option": Declaration(kind, effect, ignored)})


def semantic(default: Any, effect: str) -> Any:
    """A field of options that takes effect, or whose value is an error."""
    return _option(default, SEMANTIC, effect)


def instrumentation(default: Any, effect: str) -> Any:
    """A field of options that takes effect, or whose value is refused by name."""
    return _option(default, INSTRUMENTATION, effect)


def hint(default: Any, effect: str) -> Any:
    """A field of options that takes effect here, and may have none on another target."""
    return _option(default, HINT, effect)


def ignored_hint(default: Any, why: str) -> Any:
    """A field of options that has no effect here; `why` is the reason."""
    return _option(default, HINT, why, ignored=True)


def declared(option: Any) -> Declaration | None:
    """The declaration of a field of options; None without one."""
    found: Declaration | None = option.metadata.get("option")
    return found
