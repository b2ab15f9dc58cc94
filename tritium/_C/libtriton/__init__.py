"""`from triton._C.libtriton import ir, passes, llvm, nvidia`: Triton's bindings over the IR and passes of this package.

| submodule | what it has |
|---|---|
| `ir` | contexts, modules from text, pass managers, builders of types and attributes |
| `passes`, `nvidia.passes` | functions that add passes by Triton's names (`_C.pass_table`) |
| `llvm` | LLVM modules of what the passes made, and their assembly |
| `nvidia` | cuBLASLt, and the switches of `llvm` modules |
| `amd`, `gluon_ir`, `gsan_testing`, `interpreter`, `proton` | names that are refused when they are used |

Modules are `tritium.dialects.builtin.Module`s, the same that stages of a compile pass on.
"""

from __future__ import annotations

import os

from ...dropin.refusal import Refused
from ...support.settings import invalidating_environment as get_cache_invalidating_env_vars
from . import amd, gluon_ir, gsan_testing, interpreter, ir, llvm, nvidia, passes, proton

__all__ = [
    "amd",
    "get_cache_invalidating_env_vars",
    "getenv",
    "getenv_bool",
    "gluon_ir",
    "gsan_testing",
    "interpreter",
    "ir",
    "llvm",
    "make_tensordesc_args",
    "nvidia",
    "passes",
    "proton",
]

make_tensordesc_args = Refused("make_tensordesc_args", "tritium.backends.driver.wrap_handle_tensordesc_impl does it")


def getenv(name: str, default: str | None = None) -> str | None:
    """An environment variable."""
    return os.environ.get(name, default)


def getenv_bool(name: str, default: bool) -> bool:
    """An environment variable as Triton reads truth values."""
    value = os.environ.get(name)
    return default if value is None else value.lower() in ("1", "true", "yes", "on", "y")
