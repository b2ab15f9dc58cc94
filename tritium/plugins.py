"""Plugins: modules that extend the compiler without changing it.

A plugin is a Python module that registers its extensions on import: operations and types (by defining their classes),
passes, positions of passes in the pipelines (`insert_pass`), functions of the language (`builtin`). It is imported by
its user, like any module; or `TRITIUM_PLUGINS` (`knobs.compilation.plugins`) lists it, separated by commas, and it is
imported for every compile, in compiler workers too.

docs/plugins.md is the tutorial, docs/define-a-dialect.md defines a dialect.
"""

from __future__ import annotations

from . import transforms as _transforms  # noqa: F401  (passes that places are named after)
from .compiler.plugins import load_plugins
from .frontend.language.builtin import builtin
from .ir.passes.insertion import PluginError, insert_pass, insertions, remove_pass

__all__ = ["PluginError", "builtin", "insert_pass", "insertions", "load_plugins", "remove_pass"]
