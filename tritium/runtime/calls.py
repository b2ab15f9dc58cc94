"""The compile inputs of a kernel call, without launching it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..backends.instrumentation import EMULATED
from ..compiler import ASTSource
from .binder import MISSING
from .jit import JITFunction
from .specialize import describe_specialization

__all__ = ["source_of_call"]


def source_of_call(
    fn: JITFunction[Any], target: Any, args: Sequence[Any], given: Mapping[str, Any]
) -> tuple[ASTSource, dict[str, Any], tuple[Any, ...]]:
    """The source, the options of the compile, and a value for each parameter; errors are those of a launch."""
    fn.create_binder()
    values, options = fn._binder(*args, **given)
    if MISSING in map(id, values):
        fn._complain_missing(values, options)
    types = describe_specialization(fn.arg_names, fn._specialize(values))
    return fn.ASTSource(fn, *types), fn._options(values, options, target, EMULATED), values
