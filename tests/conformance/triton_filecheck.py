"""`triton._filecheck` for Triton's tests: kernels as TTIR, checked with the comments in them. Needs the package `filecheck`.

Triton's module of this name runs LLVM's FileCheck on what its own frontend makes; this one runs a FileCheck in Python on
what ours makes.
"""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest

from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, make_backend
from tritium.ir.printer import print_op
from tritium.runtime.jit import describe_specialization

stub_target = GPUTarget("cuda", 100, 32)


class Module:
    """A module of ours with the one method that tests call."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def str_nodebug(self) -> str:
        return str(print_op(self.op))

    __str__ = str_nodebug


def run_parser(
    kernel_fn: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}, target: Any = stub_target
) -> Module:
    """The module of a kernel for arguments; whatever the frontend raises."""
    kernel_fn.create_binder()
    values, options = kernel_fn._binder(*args, **{"sanitize_overflow": False, **kwargs})
    pairs = kernel_fn._specialize(values)
    types = describe_specialization(kernel_fn.arg_names, pairs)
    return Module(ASTSource(kernel_fn, *types).make_ir(target, make_backend(target).parse_options(options)))


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """ValueError with FileCheck's words where the text is not as the template says."""
    finput, matcher, options, parser = (
        pytest.importorskip(f"filecheck.{name}") for name in ("finput", "matcher", "options", "parser")
    )
    chosen = options.Options(match_filename=name)
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(said):
        checks = parser.Parser(chosen, io.StringIO(check_template), *parser.pattern_for_opts(chosen))
        status = matcher.Matcher(chosen, finput.FInput(name, module_str), checks).run()
    if status:
        raise ValueError(f"{said.getvalue()}\n{module_str}")


def run_filecheck_test(kernel_fn: Any) -> None:
    run_filecheck("placeholder", run_parser(kernel_fn).str_nodebug(), inspect.getsource(kernel_fn.fn))


def filecheck_test(fn: Any) -> Callable[[], None]:
    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
