"""`tritium gluon`: print a kernel of the Triton language as a kernel in Gluon. Nothing is run.

    tritium gluon matmul.py::matmul_kernel --target cuda:90 --signature '*fp16:16, *fp16:16, *fp16:16, ...'

The kernel is compiled for the target, and its `ttgir` is printed: see docs/gluon.md.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from ...backends.errors import BackendError
from ...ir import parse_module
from ...support import TritiumError
from ..compile_command import compile_request
from ..kernel_file import CommandError
from ..request import Request
from .operations import EXPRESSIONS, STATEMENTS
from .printer import print_kernel

__all__ = ["main", "translate"]


def main(request: Request) -> int:
    """Compile to `ttgir` and print it, or write it to the request's output; the exit status."""
    try:
        text = translate(request)
    except (TritiumError, BackendError, OSError) as error:
        shown = str(error)
        print(shown if "error:" in shown.split("\n")[0] else f"tritium gluon: error: {shown}", file=sys.stderr)
        return 1
    if request.output:
        Path(request.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def translate(request: Request) -> str:
    """The source in Gluon. Raises UnsupportedOperation, at its line, for what cannot be written yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks are about the machine code, which is not shown
        kernel = compile_request(request)
    if "ttgir" not in kernel.asm or kernel.backend.describe().backend != "cuda":
        raise CommandError("only kernels for NVIDIA GPUs have layouts to print: --target cuda:90")
    return print_kernel(parse_module(str(kernel.asm["ttgir"])), EXPRESSIONS, STATEMENTS)
