"""Live registers: the tensors that are live after each operation, in 32-bit registers of a thread.

    %x = tt.load %p     : tensor<128x64xf16, #blocked>   # 32 registers, from here
    %y = arith.extf %x  : … to tensor<128x64xf32>        # 64, and x is dead: 64 live
    %z = arith.addf %y, %y                               # y is dead: 64 live

The numbers come from layouts and liveness alone (`DenseBackward`), before LLVM and ptxas schedule anything. Results
that only rename elements of an operand (transpose, reshape, broadcast) occupy the operand's registers, a constant none.
Pointers and indices count as one value each: their tensors are a base and offsets that instructions encode.

LLVM orders pure elementwise operations element by element, so that intermediate tensors are never live as a whole.
The peak is therefore taken where all elements meet: at dots, memory accesses, barriers and the ends of loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..dialects import ttg
from ..dialects.ttg_maps import map_or_none
from ..ir import (
    REARRANGES,
    REMATERIALIZABLE,
    TERMINATOR,
    IntegerType,
    Operation,
    TensorType,
    Value,
    constant_of,
    element_type,
    is_pure,
)
from ..layout.views import unique_registers
from .dataflow import DenseBackward

__all__ = ["LiveRegisters", "Peak", "live_registers", "registers_of_tensor"]


class Peak(NamedTuple):
    """The operation with side effects or regions after which most registers are live, and how many."""

    op: Operation
    registers: int


def registers_of_tensor(value: Value) -> int:
    """The 32-bit registers of a thread that the elements of a tensor fill, packed; 0 for values without a layout.

    Booleans are predicates, and count as nothing; a tensor of pointers counts as one pointer of two registers.
    """
    ty = value.type
    if not isinstance(ty, TensorType) or ty.encoding is None:
        return 0
    width = getattr(ty.element, "width", None)
    if width is None:
        return 2
    layout = map_or_none(ty.encoding, ty.shape)
    return 0 if layout is None or width == 1 else -(-unique_registers(layout) * width // 32)


class LiveRegisters(DenseBackward[frozenset[Value]]):
    """The live tensors of a function; `after` an operation, as the values whose registers they are."""

    bottom: frozenset[Value] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.after: dict[Operation, frozenset[Value]] = {}
        self._registers: dict[Value, int] = {}

    def merge(self, first: frozenset[Value], second: frozenset[Value]) -> frozenset[Value]:
        """What is live on one path or the other."""
        return first | second

    def transfer(self, op: Operation, state: frozenset[Value]) -> frozenset[Value]:
        """Results are born here, operands are live before."""
        self.after[op] = self.after.get(op, self.bottom) | state
        state = state.difference(op.results) if op.results else state
        held = [v for operand in op.operands if (v := holder(operand)) is not None]
        return state.union(held) if held else state

    def edge(self, pairs: Iterable[tuple[Value, Value]], state: frozenset[Value]) -> frozenset[Value]:
        """An argument that is live makes its operand live."""
        passed = [(operand, argument) for operand, argument in pairs if argument in state]
        if not passed:
            return state
        held = [v for operand, _ in passed if (v := holder(operand)) is not None]
        return state.difference(argument for _, argument in passed).union(held)

    def registers(self, op: Operation) -> int:
        """The registers of a thread that are live after an operation."""
        return sum(map(self._of, self.after.get(op, ())))

    def values(self, op: Operation) -> list[tuple[Value, int]]:
        """The tensors that are live after an operation, with their registers, the largest first."""
        found = [(value, self._of(value)) for value in self.after.get(op, ())]
        return sorted(found, key=lambda row: -row[1])

    def peak(self) -> Peak | None:
        """Where most registers are live; None for a function whose operations are all pure."""
        found = (Peak(op, self.registers(op)) for op in self.after if not is_pure(op) or op.traits & TERMINATOR)
        return max(found, key=lambda peak: peak.registers, default=None)

    def _of(self, value: Value) -> int:
        found = self._registers.get(value)
        if found is None:
            found = self._registers[value] = _registers_held(value)
        return found


def live_registers(func: Operation) -> LiveRegisters:
    """The live registers of a function whose tensors have layouts."""
    found = LiveRegisters()
    for region in func.regions:
        found.region(region, found.bottom)
    return found


def holder(value: Value) -> Value | None:
    """The tensor whose registers hold the elements of `value`; None for scalars and constants."""
    while isinstance(value.type, TensorType):
        op = value.defining_op
        if op is None or not op.traits & REARRANGES or isinstance(op, ttg.ConvertLayout):
            return None if constant_of(value) is not None else value
        if not isinstance(op.operands[0].type, TensorType) or len(op.operands) > 1:
            return value
        value = op.operands[0]
    return None


def _registers_held(value: Value) -> int:
    op, whole = value.defining_op, registers_of_tensor(value)
    is_index = op is not None and op.traits & REMATERIALIZABLE and isinstance(element_type(value.type), IntegerType)
    return min(whole, 1) if is_index else whole
