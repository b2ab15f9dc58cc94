"""The values of one program of a launch: the IR is evaluated with NumPy, and every result is kept.

The program runs alone: what other programs of the grid would have written before it is not there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..interpreter import AssertionFailed, Evaluator, OutOfBoundsError, UndefinedError
from ..interpreter.evaluator import Buffer, TensorDesc, argument_values, pick_kernel, shaped
from ..ir import Operation, parse_module
from ..ir import Value as IRValue
from ..support import TritiumError
from .arguments import evaluated
from .json_types import Json, Record
from .model import Op, Text, Value, as_json
from .texts import mlir_text

__all__ = ["evaluate_program"]

MAX_ELEMENTS = 1 << 16
MAX_ITERATIONS = 64
MAX_EVENTS = 20_000
MAX_STEPS = 2_000_000
MAX_BAD = 1000
"""Elements of an access outside of memory that are named."""

_ERRORS = (OutOfBoundsError, AssertionFailed, UndefinedError, TritiumError)


class _Recorder(Evaluator):
    """An evaluator that keeps results by value, masks of accesses, and the operation that failed."""

    def __init__(self, module: Operation, grid: tuple[int, int, int]) -> None:
        super().__init__(module, grid)
        self.kept: dict[IRValue, list[np.ndarray]] = {}
        self.masks: dict[Operation, np.ndarray] = {}
        self.outside: dict[IRValue, np.ndarray] = {}  # by pointer: elements of an access outside of memory
        self.events = 0
        self.failing: Operation | None = None

    def execute(self, op: Operation, env: dict[IRValue, Json]) -> Json:
        """Run an operation, and keep its results."""
        self._note_access(op, env)
        try:
            out = super().execute(op, env)
        except _ERRORS:
            if self.failing is None:
                self.failing = op
            raise
        if isinstance(out, (list, tuple)):
            for result, value in zip(op.results, out):
                self._keep(result, value)
        return out

    def _keep(self, result: IRValue, value: object) -> None:
        rows = self.kept.setdefault(result, [])
        self.events += 1
        if len(rows) >= MAX_ITERATIONS or self.events >= MAX_EVENTS:
            return
        value = shaped(value, result.type)
        value = value.array if isinstance(value, Buffer) else value
        if isinstance(value, (np.ndarray, np.generic, int, float)):
            rows.append(np.array(value))

    def _note_access(self, op: Operation, env: Mapping[IRValue, Json]) -> None:
        """The mask of an access, and which of its elements are outside of memory."""
        mask_value = getattr(op, "mask", None)
        mask = np.asarray(env[mask_value]).astype(bool) if isinstance(mask_value, IRValue) else None
        if mask is not None:
            self.masks[op] = mask
        pointer = next((v for v in op.operands if _is_pointer(v)), None)
        if pointer is None or not op.name.startswith("tt.") or op.name in ("tt.addptr", "tt.splat", "tt.broadcast"):
            return
        if "load" not in op.name and "store" not in op.name and "atomic" not in op.name:
            return
        addresses = np.asarray(env[pointer])
        outside = ~inside(addresses, [(low, high) for low, high, _ in self.memory.extents])
        if mask is not None and mask.shape == outside.shape:
            outside &= mask
        if outside.any():
            self.outside[pointer] = outside


def _is_pointer(value: IRValue) -> bool:
    return "!tt.ptr" in str(value.type)


def inside(addresses: np.ndarray, ranges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Which addresses are in one of the ranges `[low, high)`."""
    out = np.zeros(addresses.shape, bool)
    for low, high in ranges:
        out |= (addresses >= low) & (addresses < high)
    return out


def evaluate_program(
    folder: str,
    record: Mapping[str, Json],
    program: Sequence[int],
    grid: Sequence[int],
    arguments: Mapping[str, object],
    inputs: str,
) -> Record:
    """Evaluate one program of the text of `record`; the summary of its values, whose numbers are files in `folder`."""
    text = mlir_text(record)
    module = parse_module(text.text, "text")
    x, y, z = (*program, 0, 0, 0)[:3]
    gx, gy, gz = (*grid, 1, 1, 1)[:3]
    if not (0 <= x < gx and 0 <= y < gy and 0 <= z < gz):
        raise TritiumError(f"the grid {gx}x{gy}x{gz} has no program ({x}, {y}, {z})")
    evaluator = _Recorder(module, (gx, gy, gz))
    evaluator.masked_zeros = True
    evaluator.program = (x, y, z)
    evaluator.max_steps = MAX_STEPS
    models = dict(zip(module.walk(), text.ops))
    function = pick_kernel(module)
    copies = {name: evaluated(v) for name, v in arguments.items()}
    errors = []
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            evaluator.call(function, argument_values(evaluator.memory, function, list(copies.values())))
    except _ERRORS as error:
        errors.append(_error(evaluator, models, str(error), text))
    return {
        "text": record["hash"],
        "program": [x, y, z],
        "grid": [gx, gy, gz],
        "inputs": inputs,
        "values": list(_values(folder, evaluator, models, text, copies)),
        "errors": errors,
        "truncated": evaluator.events >= MAX_EVENTS,
    }


def _values(
    folder: str, evaluator: _Recorder, models: Mapping[Operation, Op], text: Text, arguments: Mapping[str, object]
) -> Iterator[Record]:
    number = 0
    for result, arrays in evaluator.kept.items():
        op = result.defining_op
        model = None if op is None else models.get(op)
        if op is None or model is None or not arrays:
            continue
        index = next(i for i, one in enumerate(op.results) if one is result)
        if index >= len(model.results):
            continue
        value = text.values[model.results[index]]
        marks = {
            "masked": _where(evaluator.masks.get(op), False, arrays[-1].size),
            "out_of_bounds": _where(evaluator.outside.get(result), True, arrays[-1].size),
        }
        names = _Pointers(arguments) if _is_pointer(result) else None
        _write(folder, number, value, arrays, marks, names)
        yield _summary(number, value, model, arrays, marks, names is not None)
        number += 1


def _where(flags: np.ndarray | None, which: bool, size: int) -> list[int]:
    """The indices of flags that are `which`, if they are of a value's size."""
    if flags is None or flags.size != size:
        return []
    return [int(i) for i in np.flatnonzero(flags.reshape(-1) == which)]


class _Pointers:
    """Addresses as texts such as `x_ptr + 128`, in elements of the array that they point into."""

    def __init__(self, arguments: Mapping[str, object]) -> None:
        bases = {n: v.base if isinstance(v, TensorDesc) else v for n, v in arguments.items()}
        arrays = [(name, v) for name, v in bases.items() if isinstance(v, np.ndarray)]
        self.arrays = [(v.ctypes.data, v.ctypes.data + v.nbytes, v.itemsize, name) for name, v in arrays]

    def name(self, address: int) -> str:
        """The text; an address outside of all arrays is relative to the nearest."""
        if not self.arrays:
            return hex(address)
        low, _, size, name = min(self.arrays, key=lambda a: max(a[0] - address, address - a[1] + 1, 0))
        offset = address - low
        at = f"{abs(offset) // size}" if offset % size == 0 else f"{abs(offset)} bytes"
        return f"{name} {'-' if offset < 0 else '+'} {at}" if offset else name


def _write(
    folder: str,
    id: int,
    value: Value,
    arrays: Sequence[np.ndarray],
    marks: Mapping[str, list[int]],
    names: _Pointers | None,
) -> None:
    """The answer for each iteration, as a file."""
    for i, array in enumerate(arrays):
        flat = array.reshape(-1)[:MAX_ELEMENTS].tolist()
        answer = {
            "id": id,
            "iteration": i,
            "iterations": len(arrays),
            "shape": list(array.shape),
            "type": value.type,
            "numbers": as_json(flat) if names is None else [names.name(address) for address in flat],
            "marks": marks,
            "truncated": array.size > MAX_ELEMENTS,
        }
        with open(os.path.join(folder, f"{id}-{i}.json"), "w", encoding="utf-8") as file:
            json.dump(answer, file)


def _summary(
    id: int, value: Value, op: Op, arrays: Sequence[np.ndarray], marks: Mapping[str, list[int]], pointer: bool
) -> Record:
    every = np.concatenate([array.reshape(-1) for array in arrays]) if len(arrays) > 1 else arrays[0].reshape(-1)
    floats = every.dtype.kind == "f"
    wide = every.astype(np.float64) if floats else every.astype(np.int8) if every.dtype.kind == "b" else every
    finite = wide[np.isfinite(wide)] if floats else wide
    known = finite.size and not pointer
    summary: Record = as_json(
        {
            "id": id,
            "line": op.line,
            "name": value.name,
            "op": op.name,
            "type": value.type,
            "shape": list(arrays[-1].shape),
            "iterations": len(arrays),
            "min": finite.min().item() if known else None,
            "max": finite.max().item() if known else None,
            "nan": int(np.isnan(wide).sum()) if floats else 0,
            "inf": int(np.isinf(wide).sum()) if floats else 0,
            "out_of_bounds": len(marks["out_of_bounds"]),
            "masked": len(marks["masked"]),
        }
    )
    return summary


def _error(evaluator: _Recorder, models: Mapping[Operation, Op], message: str, text: Text) -> Record:
    op = evaluator.failing
    model = None if op is None else models.get(op)
    elements: list[int] = []
    for pointer in () if op is None else op.operands:
        if pointer in evaluator.outside:
            elements = [int(i) for i in np.flatnonzero(evaluator.outside[pointer])[:MAX_BAD]]
    place = None
    if model is not None and model.place is not None:
        file, line, column = model.place
        place = {"file": text.files[file], "line": line, "column": column}
    return {"line": None if model is None else model.line, "message": message, "elements": elements, "place": place}
