"""Atomics on LDS and memory (MI300 ISA, sections 9.1.10, 10 and 11; RDNA3 ISA, sections 9, 11, 12 and 13).

Lanes act one after the other, in order; the old value returns in the instruction's first operand where `sc0` (GFX9:
gfx942) or `glc` (GFX11) asks for it, and in the `_rtn` forms of LDS.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...memory import Piece
from ...types import Array
from ..access import Lanes, aligned, lds_piece
from ..assembly import Instruction
from ..operands import Builder
from ..registry import Action, special
from ..state import State
from ..waits import Event
from .floating import fmax, fmin
from .memory import Form, counters_of, flat_row, target_of, vector32, write_lanes

U16, U32, U64 = np.uint16, np.uint32, np.uint64
F16, F32, F64 = np.float16, np.float32, np.float64
Combine = Callable[[Array, Array], Array]


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _pk_add_f16(old: Array, value: Array) -> Array:
    return (old.view(F16) + value.view(F16)).view(U32)


def _pk_add_bf16(old: Array, value: Array) -> Array:
    return _to_bf16(_from_bf16(old) + _from_bf16(value))


def _from_bf16(word: Array) -> Array:
    return (word.view(U16).astype(U32) << U32(16)).view(F32)


def _to_bf16(value: Array) -> Array:
    bits = value.view(U32)
    rounded = (bits + U32(0x7FFF) + (bits >> U32(16) & U32(1))) >> U32(16)
    return np.where(np.isnan(value), U32(0x7FC0), rounded).astype(U16).view(U32)


#: By name: the type, and the new value of the old one and the operand.
OPERATIONS: dict[str, tuple[type[np.generic], Combine]] = {}
for _bits, _unsigned, _signed in ((32, U32, np.int32), (64, U64, np.int64)):
    _gfx9 = "" if _bits == 32 else "_x2"
    for _name, _type, _combine, _spelled in (
        ("add", _unsigned, lambda a, b: a + b, "u"),
        ("sub", _unsigned, lambda a, b: a - b, "u"),
        ("rsub", _unsigned, lambda a, b: b - a, "u"),
        ("umin", _unsigned, np.minimum, "u"),
        ("umax", _unsigned, np.maximum, "u"),
        ("smin", _signed, np.minimum, "i"),
        ("smax", _signed, np.maximum, "i"),
        ("and", _unsigned, lambda a, b: a & b, "b"),
        ("or", _unsigned, lambda a, b: a | b, "b"),
        ("xor", _unsigned, lambda a, b: a ^ b, "b"),
        ("inc", _unsigned, _increment, "u"),
        ("dec", _unsigned, _decrement, "u"),
        ("swap", _unsigned, lambda a, b: b, "b"),
    ):
        OPERATIONS[f"{_name}{_gfx9}"] = (_type, _combine)
        _short = _name[1:] if _name[:2] in ("um", "sm") else _name
        OPERATIONS[f"{_short}_{_spelled}{_bits}"] = (_type, _combine)
OPERATIONS["wrxchg_rtn_b32"] = OPERATIONS["storexchg_rtn_b32"] = (U32, lambda a, b: b)
OPERATIONS["wrxchg_rtn_b64"] = OPERATIONS["storexchg_rtn_b64"] = (U64, lambda a, b: b)
for _ty, _float in (("f32", F32), ("f64", F64)):
    OPERATIONS[f"add_{_ty}"] = (_float, lambda a, b: a + b)
    OPERATIONS[f"min_{_ty}"] = (_float, fmin)
    OPERATIONS[f"max_{_ty}"] = (_float, fmax)
OPERATIONS["pk_add_f16"] = (U32, _pk_add_f16)
OPERATIONS["pk_add_bf16"] = (U32, _pk_add_bf16)
COMPARE_SWAP: dict[str, tuple[type[np.generic], bool]] = {
    "cmpswap": (U32, False),
    "cmpswap_x2": (U64, False),
    "cmpswap_b32": (U32, False),
    "cmpswap_b64": (U64, False),
    "cmpst_b32": (U32, True),
    "cmpst_b64": (U64, True),
    "cmpstore_b32": (U32, False),
    "cmpstore_b64": (U64, False),
}


def elements(piece: Piece, dtype: type[np.generic]) -> tuple[Array, Array]:
    start, view = piece.store.view(np.dtype(dtype))
    return view, (piece.at - (start - piece.store.base)) // np.dtype(dtype).itemsize


def update(piece: Piece, dtype: type[np.generic], value: Array, combine: Combine, compare: Array | None) -> Array:
    """Apply the lanes' operations one after the other; returns the old values.

    Lanes with places of their own act at once; those that share one in as many rounds as share it.
    """
    view, at = elements(piece, dtype)
    old = np.empty(len(at), dtype)
    left = np.arange(len(at))
    while left.size:
        _, first = np.unique(at[left], return_index=True)
        now = left[np.sort(first)]
        old[now] = view[at[now]]
        new = np.asarray(combine(old[now], value[now]), dtype)
        if compare is not None:
            new = np.where(old[now] == compare[now], new, old[now])
        view[at[now]] = new
        left = np.setdiff1d(left, now, assume_unique=True)
    return old


def _values(s: State, rows: list[int], lanes: Array, dtype: type[np.generic]) -> Array:
    """Registers of lanes as elements."""
    words = [flat_row(s, row)[lanes] for row in rows]
    if len(words) == 1:
        return words[0].view(dtype)
    return (words[0].astype(U64) | words[1].astype(U64) << U64(32)).view(dtype)


class _Atomic:
    """An atomic instruction: its operands' registers, and how its lanes update memory."""

    def __init__(self, i: Instruction, b: Builder, dtype: type[np.generic], combine: Combine, order: str) -> None:
        self.i, self.dtype, self.combine, self.order = i, dtype, combine, order
        self.words = np.dtype(dtype).itemsize // 4
        self.returned: list[int] = []
        self.data: list[int] = []
        self.comparand: list[int] = []
        self.b = b

    def returns(self, n: int) -> None:
        op = self.i.operands[n]
        self.b.use(op, self.words, write=True)
        self.returned = [self.b.row(op, k) for k in range(self.words)]

    def takes(self, n: int, skip: int = 0) -> list[int]:
        op = self.i.operands[n]
        self.b.use(op, skip + self.words)
        return [self.b.row(op, skip + k) for k in range(self.words)]

    def apply(self, s: State, piece: Piece) -> None:
        size = 4 * self.words
        aligned(s, piece.at + piece.store.base, piece.lanes, size, atomic=True)
        if piece.store is s.lds and s.races is not None:
            s.races.write(s.at_instruction, piece, size, np.zeros(len(piece.at), bool), atomic=True)
        value = _values(s, self.data, piece.lanes, self.dtype)
        compare = _values(s, self.comparand, piece.lanes, self.dtype) if self.comparand else None
        old = update(piece, self.dtype, value, self.combine, compare)
        bits = old.view(U32 if self.words == 1 else U64)
        for n, row in enumerate(self.returned):
            word = bits if self.words == 1 else (bits >> U64(32 * n)).astype(U32)
            write_lanes(s, row, piece.lanes, word, Form(4))


def _memory(dtype: type[np.generic], combine: Combine, compares: bool) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        kind = i.name.split("_")[0]
        atomic = _Atomic(i, b, dtype, combine, kind)
        returns = "sc0" in i.modifiers or "glc" in i.modifiers
        size = np.dtype(dtype).itemsize
        if kind == "buffer":
            target = target_of(i, b, size, data_first=True)
            n = 0
        else:
            # With a result the operands are: result, address, data, base.
            operands = i.operands[1:] if returns else i.operands
            plain = Instruction(i.name, i.encoding, operands, i.modifiers, i.text, i.line, i.loc, i.address)
            target = target_of(plain, b, size, data_first=False)
            n = 2 if returns else 1
        atomic.data = atomic.takes(n)
        if compares:
            atomic.comparand = atomic.takes(n, skip=atomic.words)
        if returns:
            atomic.returns(0)
        counters, order = counters_of(kind, not returns, b.limits.generation)

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if lanes.count:
                for piece, _ in target.pieces(s, lanes, True):
                    atomic.apply(s, piece)

        return Action(run, Event(counters, order, i, frozenset(b.writes)))

    return build


def _lds(
    dtype: type[np.generic], combine: Combine, compares: bool, comparand_first: bool
) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        returns = "_rtn_" in i.name
        atomic = _Atomic(i, b, dtype, combine, "lds")
        first = int(returns)
        address, offset = vector32(b, i.operands[first]), i.number("offset")
        atomic.data = atomic.takes(first + 1)
        if compares:
            atomic.comparand = atomic.takes(first + 2)
            if comparand_first:
                atomic.data, atomic.comparand = atomic.comparand, atomic.data
        if returns:
            atomic.returns(0)

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if lanes.count:
                size = np.dtype(dtype).itemsize
                atomic.apply(s, lds_piece(s, address(s, lanes) + offset, lanes.number, size, True))

        return Action(run, Event(("lgkm",), "lds", i, frozenset(b.writes), "write"))

    return build


def _with_return(name: str) -> str:
    """The name of the LDS form that returns: `add_u32` becomes `add_rtn_u32`."""
    operation, _, ty = name.rpartition("_")
    return f"{operation}_rtn_{ty}"


for _name, (_type, _combine) in OPERATIONS.items():
    for _kind in ("global", "flat", "buffer"):
        special(f"{_kind}_atomic_{_name}")(_memory(_type, _combine, False))
    if _name.endswith(("32", "64", "f16")):
        _both = f"ds_{_name}" if "_rtn_" in _name else f"ds_{_name} ds_{_with_return(_name)}"
        special(_both)(_lds(_type, _combine, False, False))
for _name, (_type, _comparand_first) in COMPARE_SWAP.items():
    for _kind in ("global", "flat", "buffer"):
        special(f"{_kind}_atomic_{_name}")(_memory(_type, lambda a, b: b, True))
    if _name.startswith("cmpst"):
        special(f"ds_{_name} ds_{_with_return(_name)}")(_lds(_type, lambda a, b: b, True, _comparand_first))
