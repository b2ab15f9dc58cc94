"""Names of Gluon that programs may import, and that are refused by name where a kernel uses them."""

from __future__ import annotations

from typing import Any

from ..errors import LanguageError
from ..language.builtin import builtin
from .layout_base import LayoutValue

__all__ = ["AMD", "BLACKWELL", "CDNA4", "CDNA5", "refused_class", "refused_functions"]

AMD = "is not supported in Gluon on AMD GPUs yet"
"""The reason for what AMD GPUs could do that others have, too."""
CDNA4 = "is an instruction of CDNA4 GPUs (gfx950), for which Gluon is not compiled yet"
"""The reason for instructions since CDNA4."""
CDNA5 = "is an instruction of CDNA5 GPUs (gfx1250), for which Gluon is not compiled yet"
"""The reason for instructions since CDNA5."""
BLACKWELL = "needs tensor memory, which Blackwell GPUs have: they are not supported yet"
"""The reason for instructions of Blackwell GPUs."""


def refused_functions(names: str, why: str) -> dict[str, Any]:
    """Functions of the language that raise LanguageError, by name."""
    return {name: _function(name, why) for name in names.split()}


def _function(name: str, why: str) -> Any:
    def refused(*args: object, _semantic: object = None, **kwargs: object) -> Any:
        raise LanguageError(f"NotImplementedError: {name} {why}")

    refused.__name__ = name
    refused.__doc__ = f"Refused: {name} {why}."
    return builtin(refused)


def refused_class(name: str, why: str) -> Any:
    """A class that annotations and tests of instances may name; making an instance raises LanguageError."""

    def make(self: object, *args: object, **kwargs: object) -> None:
        raise LanguageError(f"NotImplementedError: {name} {why}")

    return type(name, (LayoutValue,), {"__init__": make, "__doc__": f"Refused: {name} {why}."})
