"""Comparisons of the vector ALU (MI300 ISA, section 12.9; RDNA3 ISA, section 16.9).

`v_cmp` writes one bit a lane to scalar registers, 0 for disabled lanes; `v_cmpx` writes it to EXEC.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Array
from ..alu import vector_readers
from ..assembly import Instruction
from ..operands import Builder
from ..registry import Action, special, vector
from ..state import EXEC, State

Compare = Callable[[Array, Array], Array]


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _constant(value: bool) -> Compare:
    return lambda a, b: np.full(np.broadcast_shapes(a.shape, b.shape), value)


INTEGERS: dict[str, Compare] = {
    "f": _constant(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
    "t": _constant(True),
}
#: The negated ones are true for NaN.
FLOATS: dict[str, Compare] = {
    "f": _constant(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": np.greater_equal,
    "o": lambda a, b: ~_unordered(a, b),
    "u": _unordered,
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": np.not_equal,
    "nlt": lambda a, b: ~(a < b),
    "tru": _constant(True),
    "t": _constant(True),
}


def float_class(a: Array, mask: Array) -> Array:
    """Whether a number is of one of the classes whose bits are set (V_CMP_CLASS_F32).

    Bits: 0 signaling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal,
    9 +infinity.
    """
    word = a.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize])
    mantissa = {2: 10, 4: 23, 8: 52}[a.dtype.itemsize]
    quiet = (word >> word.dtype.type(mantissa - 1)) & word.dtype.type(1) == 1
    smallest = np.finfo(a.dtype).tiny
    magnitude = np.where(np.isinf(a), 0, np.where(np.abs(a) >= smallest, 1, np.where(a != 0, 2, 3)))
    index = np.where(np.isnan(a), quiet.astype(np.int64), np.where(np.signbit(a), 2 + magnitude, 9 - magnitude))
    return mask.astype(np.int64) >> index & 1 == 1


def _declare(name: str, sources: str, compare: Compare) -> None:
    vector(f"v_cmp_{name}", f"mask = {sources}")(compare)

    def build(i: Instruction, b: Builder) -> Action:
        """EXEC = comparison; GFX9 writes its mask operand too, which GFX11 does not have."""
        has_mask = len(i.operands) == 3
        first, second = vector_readers(i, b, sources.split(), int(has_mask))
        write = b.destination(0, "mask") if has_mask else None
        b.writes.update(range(EXEC, EXEC + b.limits.lanes // 32))

        def run(s: State) -> None:
            value = np.broadcast_to(compare(first(s), second(s)), s.exec.shape) & s.exec
            if write is not None:
                write(s, value)
            s.set_mask(EXEC, value)

        return Action(run)

    special(f"v_cmpx_{name}")(build)


for _ty in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for _name, _compare in INTEGERS.items():
        _declare(f"{_name}_{_ty}", f"{_ty} {_ty}", _compare)
for _ty in ("f16", "f32", "f64"):
    for _name, _compare in FLOATS.items():
        _declare(f"{_name}_{_ty}", f"{_ty} {_ty}", _compare)
    _declare(f"class_{_ty}", f"{_ty} {'u16' if _ty == 'f16' else 'u32'}", float_class)
