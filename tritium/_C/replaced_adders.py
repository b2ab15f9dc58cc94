"""Programs that replace a function of the bindings, `passes.ttgpuir.add_coalesce = mine`.

In Triton this changes what the compiler's own stages run. Here their pipelines are tables of passes: where a table has
the pass that the function adds, what the replacement adds to a pass manager runs instead. It is called with the
arguments that Triton's stages pass, as far as the row of the table has them among its options, or refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..dropin.refusal import UnsupportedBinding
from ..ir.passes import Pass, Row
from ..ir.passes.insertion import Replacement, replace_pass
from ..ir.passes.registry import PASSES
from ..support.hashing import sha256
from .pass_table import ADDERS

__all__ = ["replace_adder"]


class _Recorder:
    """Stands for a pass manager: `rows` are those that functions add."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def enable_debug(self) -> bool:
        """False."""
        return False


def replace_adder(path: str, function: Callable[..., Any] | None) -> None:
    """Have the compiler's own pipelines run what `function` adds where they have the pass of the binding `path`; None:
    the pass again. UnsupportedBinding where an argument of the function is not known to them."""
    name = _pass_of(path)
    known = PASSES.find(name)
    if known is None:  # a pass that only checks: it is in no pipeline here
        return
    if function is None:
        replace_pass(name, None)
        return
    parameters = list(inspect.signature(ADDERS[path]).parameters.values())
    for p in parameters:
        if p.default is p.empty and p.name.replace("_", "-") not in known.option_names:
            raise UnsupportedBinding(
                f"replacing {path}",
                f"its argument {p.name} is not known to the stages; replace one with add_stages_inspection_hook",
            )

    def rows(row: Pass) -> Sequence[Row]:
        recorder, options = _Recorder(), row.chosen
        function(recorder, *(getattr(options, p.name, p.default) for p in parameters))
        return recorder.rows

    replace_pass(name, Replacement(rows, _version(function)))


def _pass_of(path: str) -> str:
    """The pass that a function adds; the last of several, which the others prepare."""
    parameters = inspect.signature(ADDERS[path]).parameters.values()
    some = {"target": "cuda:80"}
    last = ADDERS[path](*(some.get(p.name, 1) for p in parameters if p.default is p.empty))[-1]
    return last.name if isinstance(last, Pass) else PASSES.canonical(last.partition("{")[0])


def _version(function: Callable[..., Any]) -> str:
    """What is equal for the same function, and differs with its code."""
    code = getattr(function, "__code__", None)
    text = repr(function) if code is None else f"{code.co_code!r}{code.co_consts!r}{code.co_names!r}"
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
    return f"{name} {sha256(text.encode()).hexdigest()[:16]}"
