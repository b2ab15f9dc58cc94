"""`triton._filecheck`: tests of the frontend's output for a kernel by FileCheck comments in the kernel.

    @filecheck_test
    @triton.jit
    def test_splat():
        # CHECK: arith.constant dense<1>
        tl.full((8,), 1, tl.int32)

No device is needed: kernels are compiled for a Blackwell GPU. The texts are checked by the Python package
`filecheck`.
"""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from ..backends.compiler import GPUTarget
from ..compiler import ASTSource, make_backend
from ..compiler.gluon_source import GluonASTSource
from ..ir.printer import print_op
from ..runtime.specialize import describe_specialization
from ..support import TritiumError
from ..support.lazy import LazyModule, loaded

__all__ = [
    "ASTSource",
    "GluonASTSource",
    "MatchError",
    "filecheck_test",
    "run_filecheck",
    "run_filecheck_test",
    "run_parser",
    "stub_target",
]

stub_target = GPUTarget("cuda", 100, 32)

_finput, _matcher = LazyModule("filecheck.finput"), LazyModule("filecheck.matcher")
_options, _parser = LazyModule("filecheck.options"), LazyModule("filecheck.parser")


class MatchError(TritiumError, ValueError):
    """A text does not match the comments; `module_str` is the text."""

    def __init__(self, message: str, module_str: str) -> None:
        super().__init__(f"{message}\n{module_str}")
        self.module_str = module_str


class ParsedModule:
    """The module of the frontend: `op` is our operation; its text has no locations."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def str_nodebug(self) -> str:
        """The text without names of the source and without locations."""
        values = [v for op in self.op.walk() for v in (*op.results, *_arguments(op))]
        hints = [value.hint for value in values]
        for value in values:
            value.hint = None
        try:
            return str(print_op(self.op))
        finally:
            for value, hint in zip(values, hints):
                value.hint = hint

    __str__ = str_nodebug


def _arguments(op: Any) -> list[Any]:
    return [arg for region in op.regions for block in region.blocks for arg in block.args]


def run_parser(
    kernel_fn: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}, target: Any = stub_target
) -> ParsedModule:
    """The TTIR of a kernel for these arguments, before any pass; CompilationError if it does not compile."""
    kernel_fn.create_binder()
    values, options = kernel_fn._binder(*args, **{"sanitize_overflow": False, **kwargs})
    types = describe_specialization(kernel_fn.arg_names, kernel_fn._specialize(values))
    return ParsedModule(
        kernel_fn.ASTSource(kernel_fn, *types).make_ir(target, make_backend(target).parse_options(options))
    )


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """MatchError (a ValueError) if `module_str` does not match the CHECK lines of the template."""
    try:
        loaded(_finput)
    except ModuleNotFoundError as error:
        raise TritiumError("triton._filecheck needs the package `filecheck`\nhint: pip install filecheck") from error
    options, said = _options.Options(match_filename=name), io.StringIO()
    checks = _parser.Parser(options, io.StringIO(check_template), *_parser.pattern_for_opts(options))
    with redirect_stderr(said), redirect_stdout(said):
        status = _matcher.Matcher(options, _finput.FInput(name, module_str), checks).run()
    if status:
        raise MatchError(said.getvalue(), module_str)


def run_filecheck_test(
    kernel_fn: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}, target: Any = stub_target
) -> None:
    """Check a kernel's TTIR by the comments in the kernel."""
    text = run_parser(kernel_fn, args, kwargs, target).str_nodebug()
    run_filecheck("placeholder", text, inspect.getsource(kernel_fn.fn))


def filecheck_test(fn: Any) -> Callable[[], None]:
    """Decorator: the kernel `fn`, which takes no arguments, as a test."""

    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
