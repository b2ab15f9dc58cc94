"""The plugins named by the setting `compilation.plugins`, imported before the first compile with that setting."""

from __future__ import annotations

import importlib

from ..ir.passes.insertion import PluginError, insertions, replacements
from ..ir.passes.registry import PASSES
from ..support import TritiumError, settings
from ..support.errors import interrupts

__all__ = ["foreign_insertions", "load_plugins", "plugins_key"]

_loaded: dict[str, str] = {}  # name in the setting -> name of the module


def load_plugins(names: str | None = None) -> list[str]:
    """Import the comma-separated plugins `names` (default: the setting) once each, and return the modules' names.

    PluginError naming the plugin that cannot be imported, and why.
    """
    text = settings.compilation.plugins if names is None else names
    wanted = [name for name in map(str.strip, (text or "").split(",")) if name]
    for name in wanted:
        if name not in _loaded:
            _loaded[name] = _load(name)
    return [_loaded[name] for name in wanted]


def _load(name: str) -> str:
    try:
        module = importlib.import_module(name)
        PASSES.add_module(module)
        return module.__name__
    except TritiumError as error:
        raise PluginError(f"the plugin {name} cannot be used: {error}") from error
    except interrupts():
        raise
    except Exception as error:
        text = f"the plugin {name} cannot be imported: {type(error).__name__}: {error}{_line(error, name)}"
        raise PluginError(text + _path_hint(error, name)) from error


def _path_hint(error: Exception, name: str) -> str:
    """What to do where the plugin itself was not found: commands do not search the current folder."""
    if not isinstance(error, ModuleNotFoundError) or error.name != name.partition(".")[0]:
        return ""
    return f"\nhint: put the folder of {error.name} on PYTHONPATH"


def _line(error: Exception, name: str) -> str:
    """The position of an error in a file of the plugin."""
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == name.partition(".")[0]:
            found = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found


def plugins_key() -> str:
    """The inserted passes of users, as text for keys; empty without any."""
    replaced = (f"{name} replaced by {one.version}" for name, one in sorted(replacements().items()))
    return "; ".join((*(i.key for i in insertions()), *replaced))


def foreign_insertions() -> bool:
    """Whether a pass was inserted or replaced by other code than plugins of the setting: workers do not have it."""
    if replacements():
        return True
    mine = set(load_plugins())
    return any(not any(i.by == m or i.by.startswith(f"{m}.") for m in mine) for i in insertions())
