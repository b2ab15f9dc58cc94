"""Plugins: modules that teach the compiler something without a line of it being changed.

A plugin is a Python module. Whatever it does when it is imported is what it brings: operations and types (their classes
are known once they are defined), passes, places of passes in the pipelines (`insert_pass`), functions of the language
(`builtin`). It is imported by who uses it, as any module; or `TRITIUM_PLUGINS` (`knobs.compilation.plugins`) names it,
with commas between several, and it is there in every compile, in processes that compile for others too.

docs/plugins.md goes through all of it, docs/define-a-dialect.md makes a dialect.
"""

from __future__ import annotations

from . import transforms as _transforms  # noqa: F401  (passes that places are named after)
from .compiler.plugins import load_plugins
from .frontend.language.builtin import builtin
from .ir.passes.insertion import PluginError, insert_pass, insertions, remove_pass

__all__ = ["PluginError", "builtin", "insert_pass", "insertions", "load_plugins", "remove_pass"]
