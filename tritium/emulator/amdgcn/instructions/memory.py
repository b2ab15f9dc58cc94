"""Loads and stores of vector memory: global, flat, scratch and buffer instructions.

MI300 ISA, sections 9 "Vector Memory Operations" and 10 "Flat Memory Instructions"; RDNA3 ISA, sections 9 and 11. The
generations spell the same accesses differently: `global_load_dwordx4` (GFX9), `global_load_b128` (GFX11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...errors import AssemblyError
from ...memory import Piece
from ...types import Array
from ..access import Index, Lanes, flat_pieces, global_pieces, lds_piece, load, save, scratch_piece
from ..assembly import Instruction, Operand
from ..operands import Builder
from ..registry import Action, special
from ..state import M0, State
from ..waits import Event

__all__ = ["FORMS", "Form", "Target", "target_of"]

U16, U32, I64 = np.uint16, np.uint32, np.int64


class Form(NamedTuple):
    """An access of a lane: bytes, whether it extends a sign, and the half of the register it uses ("low", "high")."""

    size: int
    signed: bool = False
    half: str = ""

    @property
    def words(self) -> int:
        return max(self.size // 4, 1)


_LOW, _HIGH = "low", "high"
FORMS = {
    "load": {
        **dict.fromkeys(("ubyte", "u8"), Form(1)),
        **dict.fromkeys(("sbyte", "i8"), Form(1, True)),
        **dict.fromkeys(("ushort", "u16"), Form(2)),
        **dict.fromkeys(("sshort", "i16"), Form(2, True)),
        **dict.fromkeys(("ubyte_d16", "d16_u8"), Form(1, False, _LOW)),
        **dict.fromkeys(("sbyte_d16", "d16_i8"), Form(1, True, _LOW)),
        **dict.fromkeys(("short_d16", "d16_b16"), Form(2, False, _LOW)),
        **dict.fromkeys(("ubyte_d16_hi", "d16_hi_u8"), Form(1, False, _HIGH)),
        **dict.fromkeys(("sbyte_d16_hi", "d16_hi_i8"), Form(1, True, _HIGH)),
        **dict.fromkeys(("short_d16_hi", "d16_hi_b16"), Form(2, False, _HIGH)),
    },
    "store": {
        **dict.fromkeys(("byte", "b8"), Form(1)),
        **dict.fromkeys(("short", "b16"), Form(2)),
        **dict.fromkeys(("byte_d16_hi", "d16_hi_b8"), Form(1, False, _HIGH)),
        **dict.fromkeys(("short_d16_hi", "d16_hi_b16"), Form(2, False, _HIGH)),
    },
}
for _forms in FORMS.values():
    _forms.update({"dword": Form(4), "dwordx2": Form(8), "dwordx3": Form(12), "dwordx4": Form(16)})
    _forms.update({f"b{32 * n}": Form(4 * n) for n in (1, 2, 3, 4)})

Pieces = Iterator[tuple[Piece, Index]]


class Target(NamedTuple):
    """The address of an instruction: `pieces(state, lanes, write)` finds the stores that its accesses fall into."""

    pieces: Callable[[State, Lanes, bool], Pieces]
    kind: str


def flat_row(s: State, row: int) -> Array:
    """A vector register as an array over all lanes of the batch."""
    return s.vectors[row].reshape(-1)


def address64(b: Builder, op: Operand) -> Callable[[State, Lanes], Array]:
    """A pair of vector registers as addresses."""
    low, high = b.row(op), b.row(op, 1)
    b.use(op, 2)

    def read(s: State, lanes: Lanes) -> Array:
        return flat_row(s, low)[lanes.number].astype(I64) | flat_row(s, high)[lanes.number].astype(I64) << 32

    return read


def scalar64(b: Builder, op: Operand) -> Callable[[State, Lanes], Array]:
    """A pair of scalar registers as addresses."""
    b.use(op, 2)
    n = op.number

    def read(s: State, lanes: Lanes) -> Array:
        base = s.scalars[n].astype(I64) | s.scalars[n + 1].astype(I64) << 32
        return base[s.waves][lanes.row]

    return read


def scalar32(b: Builder, op: Operand) -> Callable[[State, Lanes], Array]:
    """A scalar register or constant."""
    if op.kind == "s":
        b.use(op, 1)
        n = op.number
        return lambda s, lanes: s.scalars[n][s.waves][lanes.row].astype(I64)
    value = 0 if op.kind == "word" else b.constant_bits(op, "u32", 32)
    return lambda s, lanes: np.full(lanes.count, value, I64)


def vector32(b: Builder, op: Operand) -> Callable[[State, Lanes], Array]:
    row = b.row(op)
    b.use(op, 1)
    return lambda s, lanes: flat_row(s, row)[lanes.number].astype(I64)


def target_of(i: Instruction, b: Builder, size: int, data_first: bool) -> Target:
    """The address operands of a memory instruction; data operands stand before or between them."""
    kind = i.name.split("_")[0]
    operands = [op for n, op in enumerate(i.operands) if n != (0 if data_first else 1)]
    if kind == "buffer":
        return buffer_target(i, b, i.operands[-3:], size)
    if kind == "scratch":
        return scratch_target(i, b, operands, size)
    offset = i.number("offset")
    if kind == "flat":
        address = address64(b, operands[0])
        return Target(
            lambda s, lanes, write: flat_pieces(s, address(s, lanes) + offset, lanes.number, size, write), kind
        )
    if len(operands) < 2:
        raise b.fail("an address operand is missing")
    if operands[1].kind == "s":
        base, index = scalar64(b, operands[1]), vector32(b, operands[0])

        def address(s: State, lanes: Lanes) -> Array:
            return base(s, lanes) + index(s, lanes)

    else:
        address = address64(b, operands[0])
    return Target(lambda s, lanes, write: global_pieces(s, address(s, lanes) + offset, lanes.number, size, write), kind)


def scratch_target(i: Instruction, b: Builder, operands: list[Operand], size: int) -> Target:
    """Private memory: registers that may be `off`, plus an offset."""
    parts = [vector32(b, op) if op.is_register and op.kind == "v" else scalar32(b, op) for op in operands[:2]]
    offset = i.number("offset")

    def pieces(s: State, lanes: Lanes, write: bool) -> Pieces:
        address = np.full(lanes.count, offset, I64)
        for part in parts:
            address = address + part(s, lanes)
        yield scratch_piece(s, address & 0xFFFFFFFF, lanes.number, size, write), slice(None)

    return Target(pieces, "scratch")


# -- buffers -----------------------------------------------------------------------------------------------------------


def buffer_target(i: Instruction, b: Builder, operands: tuple[Operand, ...], size: int) -> Target:
    """A buffer resource: base, stride, number of records (MI300 ISA, section 9.1; RDNA3 ISA, section 9.1).

    Accesses out of range read zero and write nothing; an access of several dwords is checked dword by dword.
    """
    address, resource, offset = operands
    if resource.kind != "s" or resource.width != 4:
        raise b.fail("a buffer resource is four scalar registers")
    b.use(resource, 4)
    first, immediate = resource.number, i.number("offset")
    soffset = scalar32(b, offset)
    by_offset, by_index = "offen" in i.modifiers, "idxen" in i.modifiers
    index = offsets = None
    if by_index:
        index = vector32(b, address)
    if by_offset:
        offsets = vector32(b, address._replace(number=address.number + 1) if by_index else address)
    generation = b.limits.generation

    def pieces(s: State, lanes: Lanes, write: bool) -> Pieces:
        words = s.scalars[first : first + 4][:, s.waves][:, lanes.row].astype(I64)
        base = words[0] | (words[1] & 0xFFFF) << 32
        stride, records = words[1] >> 16 & 0x3FFF, words[2]
        if (words[1] >> 31 & 1 if generation == 9 else words[1] >> 30 & 3).any():
            raise AssemblyError(f"{i.name}: swizzled buffers are not supported", i)
        which = index(s, lanes) if index is not None else np.zeros(lanes.count, I64)
        at = (offsets(s, lanes) if offsets is not None else 0) + np.full(lanes.count, immediate, I64)
        scalar = soffset(s, lanes)
        inside = _in_range(generation, words[3], which, at, stride, records, scalar, min(size, 4))
        kept = np.nonzero(inside)[0]
        if kept.size:
            where = (base + scalar + at + which * stride)[kept]
            for piece, chosen in global_pieces(s, where, lanes.number[kept], min(size, 4), write):
                yield piece, kept[chosen]

    return Target(pieces, "buffer")


def _in_range(
    generation: int, flags: Array, index: Array, at: Array, stride: Array, records: Array, scalar: Array, size: int
) -> Array:
    """Which accesses of `size` bytes are in range."""
    total = at + index * stride
    raw = total + size <= records - scalar
    if generation == 9:
        return raw
    select = flags >> 28 & 3
    structured = (index < records) & ((stride == 0) | (at + size <= stride))
    return np.select([select == 0, select == 1, select == 2], [structured, index < records, records != 0], raw)


# -- loads and stores --------------------------------------------------------------------------------------------------


def counters_of(kind: str, write: bool, generation: int) -> tuple[tuple[str, ...], str]:
    """(counters, class) of an access."""
    vector = "vs" if write and generation != 9 else "vm"
    return ((vector, "lgkm"), "flat") if kind == "flat" else ((vector,), vector)


def _loaded(word: Array, form: Form) -> Array:
    if form.signed:
        return word.astype({1: np.int8, 2: np.int16}[form.size]).astype(np.int32).view(U32)
    return word


def write_lanes(s: State, row: int, lanes: Array, word: Array, form: Form) -> None:
    """Write what was loaded to a register, or to one half of it."""
    target = flat_row(s, row)
    if form.half == "":
        target[lanes] = word
    elif form.half == "low":
        target[lanes] = (target[lanes] & U32(0xFFFF0000)) | (word & U32(0xFFFF))
    else:
        target[lanes] = (target[lanes] & U32(0xFFFF)) | (word << U32(16))


def _targets(i: Instruction, b: Builder, form: Form, data_first: bool) -> list[tuple[int, int, Target]]:
    """(first word, words, target): one for each dword of a buffer access, else one."""
    if not i.name.startswith("buffer") or form.words == 1:
        return [(0, form.words, target_of(i, b, form.size, data_first))]
    out = []
    for n in range(form.words):
        modifiers = {**i.modifiers, "offset": str(i.number("offset") + 4 * n)}
        part = Instruction(i.name, i.encoding, i.operands, modifiers, i.text, i.line, i.loc, i.address)
        out.append((n, 1, target_of(part, b, 4, data_first)))
    return out


def _build_load(form: Form) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        if "lds" in i.modifiers or "_lds_" in i.name:
            return _load_to_lds(i, b, form)
        op = i.operands[0]
        used = form._replace(half="high") if op.half == "h" else form
        targets = _targets(i, b, form, data_first=True)
        b.use(op, form.words, write=True)
        rows = [b.row(op, n) for n in range(form.words)]
        if used.half:
            b.use(op, 1, write=True)
        counters, order = counters_of(targets[0][2].kind, False, b.limits.generation)
        event = Event(counters, order, i, frozenset(b.writes))

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if not lanes.count:
                return
            results = []
            for first, count, target in targets:
                words = [np.zeros(lanes.count, U32) for _ in range(count)]
                for piece, chosen in target.pieces(s, lanes, False):
                    if piece.store is s.lds and s.races is not None:
                        s.races.read(s.at_instruction, piece, form.size)
                    for n, word in enumerate(load(piece, form.size if count > 1 or form.size < 4 else 4)):
                        words[n][chosen] = _loaded(word, form)
                results.append((first, words))
            for first, words in results:
                for n, word in enumerate(words):
                    write_lanes(s, rows[first + n], lanes.number, word, used)

        return Action(run, event)

    return build


def _build_store(form: Form) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        buffer = i.name.startswith("buffer")
        op = i.operands[0 if buffer else 1]
        targets = _targets(i, b, form, data_first=buffer)
        b.use(op, form.words)
        rows = [b.row(op, n) for n in range(form.words)]
        shift = U32(16 if form.half == "high" or op.half == "h" else 0)
        counters, order = counters_of(targets[0][2].kind, True, b.limits.generation)
        event = Event(counters, order, i, frozenset())

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if not lanes.count:
                return
            for first, count, target in targets:
                for piece, _ in target.pieces(s, lanes, True):
                    words = [flat_row(s, rows[first + n])[piece.lanes] >> shift for n in range(count)]
                    store_words(s, piece, form.size if count > 1 or form.size < 4 else 4, words)

        return Action(run, event)

    return build


def store_words(s: State, piece: Piece, size: int, words: list[Array]) -> None:
    """Store words; in LDS, check for races."""
    if piece.store is not s.lds or s.races is None:
        save(piece, size, words)
        return
    mask = U32((1 << 8 * size) - 1 if size < 4 else 0xFFFFFFFF)
    same = np.ones(len(piece.at), bool)
    for old, word in zip(load(piece, size), words):
        same &= old == word & mask
    s.races.write(s.at_instruction, piece, size, same)
    save(piece, size, words)
    lost = np.zeros(len(piece.at), bool)
    for new, word in zip(load(piece, size), words):
        lost |= new != word & mask
    if lost.any():
        s.races.collided(s.at_instruction, piece, size, lost)


def _load_to_lds(i: Instruction, b: Builder, form: Form) -> Action:
    """Lane n's data goes to LDS at M0 + offset + 4 n (MI300 ISA, section 9.1.9 "Memory Buffer Load to LDS")."""
    name = i.name.replace("_lds_", "_")
    operands = (Operand("word", name="off"), *i.operands)
    plain = Instruction(name, i.encoding, operands, i.modifiers, i.text, i.line, i.loc, i.address)
    if form.size != 4:
        raise b.fail("only dwords are loaded to LDS")
    target = target_of(plain, b, form.size, data_first=True)
    b.reads.add(M0)
    event = Event(("vm",), "vm", i, frozenset(), "write")
    offset = i.number("offset")

    def run(s: State) -> None:
        lanes = Lanes(s, s.exec)
        if not lanes.count:
            return
        words = np.zeros(lanes.count, U32)
        for piece, chosen in target.pieces(s, lanes, False):
            words[chosen] = load(piece, form.size)[0]
        base = s.scalars[M0][s.waves][lanes.row].astype(I64) & 0xFFFF
        at = base + offset + lanes.column * 4
        store_words(s, lds_piece(s, at, lanes.number, 4, True), 4, [words])

    return Action(run, event)


for _kind in ("global", "flat", "scratch", "buffer"):
    for _name, _form in FORMS["load"].items():
        special(f"{_kind}_load_{_name}")(_build_load(_form))
    for _name, _form in FORMS["store"].items():
        special(f"{_kind}_store_{_name}")(_build_store(_form))
for _kind in ("global", "buffer"):
    special(f"{_kind}_load_lds_dword")(_build_load(Form(4)))
