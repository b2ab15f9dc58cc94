"""The kernels of a Python file, which is run for that."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from ..dropin.alias import install
from ..frontend.errors import triton_errors
from ..runtime.jit import JITFunction
from ..support import TritiumError
from ..support.errors import interrupts
from ..support.suggestions import did_you_mean
from .program_output import output_to_stderr

__all__ = ["CommandError", "kernel_of_file"]


class CommandError(TritiumError):
    """A command line that cannot be followed."""


def kernel_of_file(path: str, name: str = "") -> Any:
    """The kernel `name` of a Python file, or its only one; below `@autotune` and `@heuristics` the function itself.

    The file may say `import triton`. CommandError if it cannot be imported, or has no such kernel.
    """
    install()
    triton_errors.on = False  # the command prints the errors, no script of Triton reads them
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(module.__name__, module)
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        with output_to_stderr():
            spec.loader.exec_module(module)
    except TritiumError:
        raise
    except interrupts():
        raise KeyboardInterrupt from None
    except Exception as error:  # whatever the file does
        raise CommandError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        del sys.path[0]
    kernels = {n: fn for n, v in vars(module).items() if (fn := _function(v)) is not None}
    if name in kernels:  # also one that the file imports
        return kernels[name]
    found = {n: fn for n, fn in kernels.items() if fn.__module__ == spec.name}
    if not name and len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise CommandError(f"{path} defines no kernel")
    if not name:
        raise CommandError(f"{path} has several kernels: {', '.join(found)} (write {path}::NAME)")
    close = did_you_mean(name, kernels)
    raise CommandError(f"{path} has no kernel {name!r}{close and '; ' + close}\nhint: it has {', '.join(found)}")


def _function(value: Any) -> Any:
    """The function that `@jit` made, also below `@autotune` and `@heuristics`."""
    while not isinstance(value, JITFunction) and isinstance(getattr(value, "fn", None), object):
        value = getattr(value, "fn", None)
        if value is None:
            return None
    return value
