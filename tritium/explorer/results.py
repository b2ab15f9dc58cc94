"""Comparison of what two versions of a kernel write for the same arguments."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence

import numpy as np

from ..interpreter import AssertionFailed, Evaluator, OutOfBoundsError, UndefinedError
from ..interpreter.evaluator import TensorDesc
from ..ir import parse_module
from ..support import TritiumError
from ..tools.check.runs import evaluate
from .arguments import evaluated
from .json_types import Json, Record
from .model import as_json

__all__ = ["compare_results"]

MAX_STEPS = 400_000
"""Operations of each version that are evaluated: a few seconds."""


class _Stopped(TritiumError):
    """A version that cannot be run, and why."""


def compare_results(a: str, b: str, arguments: Mapping[str, Json], grid: Sequence[int]) -> Record:
    """Run the texts of two versions on copies of the arguments, and compare all arrays."""
    try:
        first, second = (_outputs(name, text, arguments, grid) for name, text in (("the first", a), ("the second", b)))
    except _Stopped as error:
        return {"available": False, "message": str(error), "arguments": []}
    rows = [_compared(name, first[name], second[name]) for name in first if name in second]
    wrong = [row["name"] for row in rows if row["different"]]
    message = f"{', '.join(wrong)} differ{'s' * (len(wrong) == 1)}" if wrong else "all arrays agree"
    return as_json({"available": True, "message": message, "arguments": rows})


def _outputs(version: str, text: str, arguments: Mapping[str, Json], grid: Sequence[int]) -> dict[str, np.ndarray]:
    copies = {name: evaluated(v) for name, v in arguments.items()}
    module = parse_module(text, "text")
    x, y, z = (*grid, 1, 1, 1)[:3]
    evaluator = Evaluator(module, (x, y, z))
    evaluator.masked_zeros = True
    evaluator.max_steps = MAX_STEPS
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            evaluate(evaluator, list(copies.values()))
    except (TritiumError, AssertionFailed, OutOfBoundsError, UndefinedError) as error:
        raise _Stopped(f"{version} does not come to its end: {error}") from None
    bases = {n: v.base if isinstance(v, TensorDesc) else v for n, v in copies.items()}
    return {name: value for name, value in bases.items() if isinstance(value, np.ndarray)}


def _compared(name: str, a: np.ndarray, b: np.ndarray) -> Record:
    x, y = a.reshape(-1), b.reshape(-1)
    same = x == y
    if x.dtype.kind == "f":
        same |= np.isnan(x) & np.isnan(y)
    wrong = np.flatnonzero(~same)
    largest = np.abs(x.astype(np.float64) - y.astype(np.float64))
    finite = largest[np.isfinite(largest)]
    return {
        "name": name,
        "different": len(wrong),
        "elements": x.size,
        "first": int(wrong[0]) if wrong.size else None,
        "largest": float(finite.max()) if finite.size else 0.0,
    }
