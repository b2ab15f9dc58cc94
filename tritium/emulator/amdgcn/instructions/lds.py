"""Loads and stores of LDS (MI300 ISA, section 11 "Data Share"; RDNA3 ISA, section 12 "Data Share Operations").

GFX9 says `ds_read` and `ds_write`, GFX11 `ds_load` and `ds_store`. The `2` forms access two places, whose offsets count
in elements, or in 64 of them (`st64`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...types import Array
from ..access import Lanes, lds_piece, load
from ..assembly import Instruction
from ..operands import Builder
from ..registry import Action, special
from ..state import M0, State
from ..waits import Event
from .lanes import PERMUTES
from .memory import FORMS, Form, flat_row, store_words, vector32, write_lanes

U32, I64 = np.uint32, np.int64


def lds_event(i: Instruction, b: Builder, kind: str) -> Event:
    return Event(("lgkm",), "lds", i, frozenset(b.writes), kind)


def _loaded(word: Array, form: Form) -> Array:
    if form.signed:
        return word.astype({1: np.int8, 2: np.int16}[form.size]).astype(np.int32).view(U32)
    return word


def _places(i: Instruction, size: int, pair: bool) -> list[int]:
    """The offsets in bytes of an instruction's accesses."""
    if not pair:
        return [i.number("offset")]
    scale = size * (64 if "st64" in i.name or "stride64" in i.name else 1)
    return [i.number("offset0") * scale, i.number("offset1") * scale]


def build_load(form: Form, pair: bool, added: bool = False) -> Callable[[Instruction, Builder], Action]:
    """`added`: the address is M0 plus the lane's number times 4 (ds_read_addtid)."""

    def build(i: Instruction, b: Builder) -> Action:
        op = i.operands[0]
        used = form._replace(half="high") if op.half == "h" else form
        address = None if added else vector32(b, i.operands[1])
        if added:
            b.reads.add(M0)
        offsets = _places(i, form.size, pair)
        words = form.words * len(offsets)
        b.use(op, words, write=True)
        rows = [b.row(op, n) for n in range(words)]

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if not lanes.count:
                return
            base = _addtid(s, lanes) if address is None else address(s, lanes)
            results: list[Array] = []
            for offset in offsets:
                piece = lds_piece(s, base + offset, lanes.number, form.size, False)
                if s.races is not None:
                    s.races.read(s.at_instruction, piece, form.size)
                results += load(piece, form.size)
            for row, word in zip(rows, results):
                write_lanes(s, row, lanes.number, _loaded(word, used), used)

        return Action(run, lds_event(i, b, "read"))

    return build


def _addtid(s: State, lanes: Lanes) -> Array:
    return (s.scalars[M0][s.waves][lanes.row].astype(I64) & 0xFFFF) + lanes.column * 4


def build_store(form: Form, pair: bool, added: bool = False) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        address = None if added else vector32(b, i.operands[0])
        if added:
            b.reads.add(M0)
        offsets = _places(i, form.size, pair)
        data = i.operands[0 if added else 1 :][: len(offsets)]
        for op in data:
            b.use(op, form.words)
        rows = [[b.row(op, n) for n in range(form.words)] for op in data]
        shift = U32(16 if form.half == "high" or data[0].half == "h" else 0)

        def run(s: State) -> None:
            lanes = Lanes(s, s.exec)
            if not lanes.count:
                return
            base = _addtid(s, lanes) if address is None else address(s, lanes)
            for offset, registers in zip(offsets, rows):
                words = [flat_row(s, row)[lanes.number] >> shift for row in registers]
                store_words(s, lds_piece(s, base + offset, lanes.number, form.size, True), form.size, words)

        return Action(run, lds_event(i, b, "write"))

    return build


_READ = {
    **FORMS["load"],
    "u8_d16": Form(1, False, "low"),
    "u8_d16_hi": Form(1, False, "high"),
    "i8_d16": Form(1, True, "low"),
    "i8_d16_hi": Form(1, True, "high"),
    "u16_d16": Form(2, False, "low"),
    "u16_d16_hi": Form(2, False, "high"),
}
_WRITE = {**FORMS["store"], "b8_d16_hi": Form(1, False, "high"), "b16_d16_hi": Form(2, False, "high")}
for _name, _form in _READ.items():
    special(f"ds_read_{_name} ds_load_{_name}")(build_load(_form, False))
for _name, _form in _WRITE.items():
    special(f"ds_write_{_name} ds_store_{_name}")(build_store(_form, False))
for _bits in (32, 64):
    _form = Form(_bits // 8)
    for _gfx9, _gfx11 in (("2", "2addr"), ("2st64", "2addr_stride64")):
        special(f"ds_read{_gfx9}_b{_bits} ds_load_{_gfx11}_b{_bits}")(build_load(_form, True))
        special(f"ds_write{_gfx9}_b{_bits} ds_store_{_gfx11}_b{_bits}")(build_store(_form, True))
special("ds_read_addtid_b32 ds_load_addtid_b32")(build_load(Form(4), False, added=True))
special("ds_write_addtid_b32 ds_store_addtid_b32")(build_store(Form(4), False, added=True))


def _permuting(build: Callable[[Instruction, Builder], Action]) -> Callable[[Instruction, Builder], Action]:
    """Exchanges between lanes go through the hardware of LDS, and are waited for like its loads."""

    def with_event(i: Instruction, b: Builder) -> Action:
        return Action(build(i, b).run, lds_event(i, b, ""))

    return with_event


for _name, _build in PERMUTES.items():
    special(_name)(_permuting(_build))


@special("ds_nop")
def nop(i: Instruction, b: Builder) -> Action:
    return Action(lambda s: None)
