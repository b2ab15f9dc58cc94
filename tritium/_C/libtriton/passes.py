"""`triton._C.libtriton.passes`: functions that add passes to an `ir.pass_manager`, as `_C.pass_table` says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...dropin.refusal import Refused
from ...ir.passes.registry import PASSES
from ...ir.passes.text import resolve_text
from ..pass_table import ADDERS, REFUSED, Adder
from ..replaced_adders import replace_adder

__all__ = ["analysis", "common", "convert", "gluon", "llvmir", "namespace", "plugin", "ttgpuir", "ttir"]


def _adding(path: str, adder: Adder) -> Callable[..., None]:
    """The function at `path`: its first argument is the pass manager, the rest are the adder's."""

    def add(manager: Any, *args: Any) -> None:
        try:
            signature.bind(*args)
        except TypeError as error:
            raise TypeError(f"{path}(pass_manager{_parameters(signature)}): {error}") from None
        for row in adder(*args):
            manager.rows.extend(resolve_text(row, PASSES, "builtin.module") if isinstance(row, str) else [row])

    signature = inspect.signature(adder)
    add.__name__ = add.__qualname__ = path.rpartition(".")[2]
    add.__doc__ = f"{path}(pass_manager{_parameters(signature)})"
    return add


def _parameters(signature: inspect.Signature) -> str:
    return "".join(f", {parameter}" for parameter in signature.parameters)


_ORIGINAL: dict[str, Callable[..., None]] = {}


class namespace:
    """The functions of the binding's submodule `path`, such as `passes.ttir`."""

    def __init__(self, path: str) -> None:
        self.__name__ = path
        for name, adder in ADDERS.items():
            if name.rpartition(".")[0] == path:
                _ORIGINAL[name] = _adding(name, adder)
                setattr(self, name.rpartition(".")[2], _ORIGINAL[name])
        for name, instead in REFUSED.items():
            if name.rpartition(".")[0] == path:
                setattr(self, name.rpartition(".")[2], Refused(name, instead))

    def __setattr__(self, name: str, value: Any) -> None:
        """Replace an `add_` function: the compiler's own pipelines run what it adds in the place of the pass."""
        path = f"{vars(self).get('__name__', '')}.{name}"
        if path in ADDERS and name in vars(self):
            replace_adder(path, None if value is _ORIGINAL[path] else value)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.__name__} has no {name!r}; it has: {', '.join(dir(self))}")

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(self) if not name.startswith("_"))


class _Plugins(namespace):
    """`passes.plugin`: `add_<name>(pm, options)` for every pass that is known by name, such as those of plugins."""

    def __getattr__(self, name: str) -> Any:
        known = PASSES.find(name[4:].replace("_", "-")) if name.startswith("add_") else None
        if known is None:
            if name.startswith("add_"):
                return Refused(f"passes.plugin.{name}", "no plugin has a pass of that name, see docs/plugins.md")
            return super().__getattr__(name)

        def add(manager: Any, options: Sequence[str] = ()) -> None:
            text = known.name + (f"{{{' '.join(options)}}}" if options else "")
            manager.rows.extend(resolve_text(text, PASSES, "builtin.module"))

        return add


common = namespace("passes.common")
ttir = namespace("passes.ttir")
ttgpuir = namespace("passes.ttgpuir")
convert = namespace("passes.convert")
gluon = namespace("passes.gluon")
llvmir = namespace("passes.llvmir")
analysis = namespace("passes.analysis")
plugin = _Plugins("passes.plugin")
