"""Kernels from text, for tests with many small ones: a JIT function needs a source file, so each text gets one."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from textwrap import dedent
from types import ModuleType

_numbers = itertools.count()
HEADER = "import tritium as triton\nimport tritium.language as tl\n\n"


def module_from(text: str, folder: Path) -> ModuleType:
    """The module of `text` (Python source, dedented, with triton and tl imported), from a new file in `folder`."""
    path = folder / f"kernels_{next(_numbers)}.py"
    path.write_text(HEADER + dedent(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_from(text: str, folder: Path):
    """The function `kernel` of `text`."""
    return module_from(text, folder).kernel
