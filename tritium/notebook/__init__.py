"""Objects in notebooks: kernels with all stages, IR, layouts as pictures, inspections and autotuning as tables.

Everything shows itself as the last value of a cell. `%load_ext tritium.notebook` adds the magic `%%tritium`, which runs
a cell and shows the stages of the kernels in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..support.lazy import LazyModule
from . import kernels, layouts, modules, tables

if TYPE_CHECKING:
    from .magic import Shell

__all__ = ["kernels", "layouts", "load_ipython_extension", "modules", "tables"]

_magic = LazyModule(".magic", __package__)


def load_ipython_extension(shell: Shell) -> None:
    """What `%load_ext tritium.notebook` calls."""
    _magic.register(shell)
