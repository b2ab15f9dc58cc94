"""A pass stopped after its first rewrites."""

from __future__ import annotations

from .. import conversion as _conversion  # noqa: F401  (passes register themselves)
from .. import transforms as _transforms  # noqa: F401
from ..dialects import all as _dialects
from ..ir import PassManager, parse_module
from ..ir.rewriter import Fuel, spending
from ..support import TritiumError

__all__ = ["after_rewrites", "can_run_alone"]

assert _dialects.MODULES  # texts may have operations of all dialects


def can_run_alone(pass_text: str) -> bool:
    """Whether a pass, with its options, can be run on a text by itself."""
    try:
        PassManager(f"builtin.module({pass_text})")
    except (TritiumError, ValueError, TypeError, KeyError):
        return False
    return True


def after_rewrites(text: str, pass_text: str, count: int) -> str:
    """The text after the first `count` rewrites of a pass."""
    module = parse_module(text, "text")
    with spending(Fuel(count)):
        PassManager(f"builtin.module({pass_text})").run(module)
    return str(module)
