"""Every dialect there is: `import tritium.dialects.all` before reading text that may name any of them.

A compile imports the dialects it uses and no more; command lines, tests and readers of other compilers' files do not
know beforehand what they will meet. A module in this folder is found by being there.
"""

from __future__ import annotations

import importlib
import pkgutil

from .. import dialects

__all__ = ["MODULES"]

MODULES = [
    importlib.import_module(f"{dialects.__name__}.{info.name}")
    for info in pkgutil.iter_modules(dialects.__path__)
    if info.name != __name__.rpartition(".")[2]
]
"""The modules of all dialects, in the order of their names."""
