"""Relocatable object of LLVM -> code object (hsaco) that a ROCm loader reads, without a linker of others.

    .note .dynsym .hash .dynstr .rodata    read-only segment, address = offset
    .text                                            executable segment, on pages of its own
    .data .bss .dynamic                              writable segment
    .debug_* .comment .symtab .strtab .shstrtab      not loaded

A kernel `k` is found by two dynamic symbols: `k` (its code) and `k.kd` (its descriptor, 64 bytes in .rodata). The order
of sections and segments is that of LLD for this target, which writes a `.gnu.hash` too. Relocations are those of LLVM's
user guide for AMDGPU targets, section "Relocation Records"; everything is resolved here, so that none is left to the
loader.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ...support.dataclasses import dataclass, field
from ..errors import BackendError
from .elf import (
    ELF_HEADER,
    MACHINE_AMDGPU,
    SECTION_HEADER,
    SHF_ALLOC,
    SHF_EXEC,
    SHF_WRITE,
    SHT_DYNSYM,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_STRTAB,
    SHT_SYMTAB,
    SYMBOL,
    Elf,
    Section,
    parse_elf,
)

__all__ = ["link"]

PAGE = 0x1000
_SEGMENT = struct.Struct("<IIQQQQQQ")
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE, _PT_PHDR, _PT_STACK, _PT_RELRO = 1, 2, 4, 6, 0x6474E551, 0x6474E552
_PF_X, _PF_W, _PF_R = 1, 2, 4
_SHT_HASH, _SHT_DYNAMIC = 5, 6
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 4, 5, 6, 10, 11
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1
_KEPT = ("", ".symtab", ".strtab", ".shstrtab", ".note.GNU-stack")

_WORD, _LONG = struct.Struct("<I"), struct.Struct("<Q")
_LOW, _ALL = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF

# Relocation type -> the field, and its value from S + A (target) and P (place)
_RELOCATIONS: dict[int, tuple[struct.Struct, Callable[[int, int], int]]] = {
    1: (_WORD, lambda target, place: target & _LOW),  # R_AMDGPU_ABS32_LO
    2: (_WORD, lambda target, place: target >> 32 & _LOW),  # R_AMDGPU_ABS32_HI
    3: (_LONG, lambda target, place: target & _ALL),  # R_AMDGPU_ABS64
    4: (_WORD, lambda target, place: target - place & _LOW),  # R_AMDGPU_REL32
    5: (_LONG, lambda target, place: target - place & _ALL),  # R_AMDGPU_REL64
    6: (_WORD, lambda target, place: target & _LOW),  # R_AMDGPU_ABS32
    10: (_WORD, lambda target, place: target - place & _LOW),  # R_AMDGPU_REL32_LO
    11: (_WORD, lambda target, place: target - place >> 32 & _LOW),  # R_AMDGPU_REL32_HI
}
_LOADED_ABSOLUTE = (1, 2, 3, 6)  # addresses that the loader would have to add its base to


@dataclass
class _Output:
    """A section of the code object; `source` is the section of the object that it was."""

    name: str
    kind: int
    flags: int
    alignment: int
    data: bytearray
    size: int = 0
    link: str = ""
    info: int = 0
    entry_size: int = 0
    source: int = -1
    address: int = 0
    offset: int = 0

    def __post_init__(self) -> None:
        self.size = self.size or len(self.data)


def link(data: bytes) -> bytes:
    """The code object of a relocatable object; BackendError for one that refers to symbols that it does not define."""
    elf = parse_elf(data)
    if elf.kind != 1:
        raise BackendError("only relocatable objects can be linked")
    return _Link(elf).file()


@dataclass
class _Link:
    elf: Elf
    read_only: list[_Output] = field(default_factory=list)
    code: list[_Output] = field(default_factory=list)
    writable: list[_Output] = field(default_factory=list)
    unloaded: list[_Output] = field(default_factory=list)

    def file(self) -> bytes:
        """All parts laid out, relocated, and written."""
        for section in self.elf.sections:
            self._take(section)
        exported = [s for s in self.elf.symbols if s.is_global and s.section not in (_UNDEFINED, _ABSOLUTE)]
        names = b"\0" + b"".join(s.name.encode() + b"\0" for s in exported)
        count = len(exported) + 1
        dynsym = _Output(
            ".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, bytearray(24 * count), link=".dynstr", info=1, entry_size=24
        )
        self.read_only[len(self._notes()) : len(self._notes())] = [
            dynsym,
            _Output(".hash", _SHT_HASH, SHF_ALLOC, 4, _hash([s.name for s in exported]), link=".dynsym", entry_size=4),
            _Output(".dynstr", SHT_STRTAB, SHF_ALLOC, 1, bytearray(names)),
        ]
        dynamic = _Output(
            ".dynamic", _SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, bytearray(16 * 6), link=".dynstr", entry_size=16
        )
        self.writable.append(dynamic)
        segments = self._place()
        self._relocate()
        self._symbols(dynsym, dynamic, names)
        return self._write(segments)

    def _take(self, section: Section) -> None:
        """A section of the object goes to the segment of its access rights."""
        if section.name in _KEPT or section.kind in (4, 9) or section.name.startswith(".rela"):
            return
        if section.flags & SHF_ALLOC and section.name.startswith(".eh_frame"):
            return
        out = _Output(
            section.name,
            section.kind,
            section.flags,
            max(1, section.alignment),
            bytearray(section.data),
            section.size,
            entry_size=section.entry_size,
            source=section.index,
        )
        if not section.flags & SHF_ALLOC:
            self.unloaded.append(out)
        elif section.flags & SHF_EXEC:
            self.code.append(out)
        elif section.flags & SHF_WRITE:
            self.writable.append(out)
        elif section.kind == SHT_NOTE:
            self.read_only.insert(len(self._notes()), out)
        else:
            self.read_only.append(out)

    def _notes(self) -> list[_Output]:
        return [o for o in self.read_only if o.kind == SHT_NOTE]

    def _place(self) -> list[tuple[int, ...]]:
        """Assign offsets and addresses; the program headers."""
        self.writable.sort(key=lambda o: o.kind == SHT_NOBITS)
        loads = [(self.read_only, _PF_R), (self.code, _PF_R | _PF_X), (self.writable, _PF_R | _PF_W)]
        loads = [(outs, rights) for outs, rights in loads if outs]
        offset = address = ELF_HEADER.size + _SEGMENT.size * (len(loads) + 4 + bool(self._notes()))
        phdr = (
            _PT_PHDR,
            _PF_R,
            ELF_HEADER.size,
            ELF_HEADER.size,
            address - ELF_HEADER.size,
            address - ELF_HEADER.size,
            8,
        )
        out: list[tuple[int, ...]] = [phdr]
        for i, (outs, rights) in enumerate(loads):
            alignment = max(o.alignment for o in outs)
            offset = -(-offset // alignment) * alignment if i else offset
            address = address + PAGE + (offset - address) % PAGE if i else address
            first = (offset, address) if i else (0, 0)
            for o in outs:
                gap = -address % o.alignment
                address, offset = address + gap, offset + gap
                o.address, o.offset = address, offset
                address += o.size
                offset += len(o.data)
            out.append((_PT_LOAD, rights, *first, offset - first[0], address - first[1], PAGE))
        dynamic = next(o for o in self.writable if o.name == ".dynamic")
        out.append((_PT_DYNAMIC, _PF_R | _PF_W, dynamic.offset, dynamic.address, dynamic.size, dynamic.size, 8))
        out.append((_PT_RELRO, _PF_R, dynamic.offset, dynamic.address, dynamic.size, dynamic.size, 1))
        out.append((_PT_STACK, _PF_R | _PF_W, 0, 0, 0, 0, 0))
        notes = self._notes()
        if notes:
            size = notes[-1].offset + notes[-1].size - notes[0].offset
            out.append((_PT_NOTE, _PF_R, notes[0].offset, notes[0].address, size, size, 4))
        for o in self.unloaded:
            offset = -(-offset // o.alignment) * o.alignment
            o.offset = offset
            offset += len(o.data)
        return out

    def _outputs(self) -> list[_Output]:
        return [*self.read_only, *self.code, *self.writable, *self.unloaded]

    def _relocate(self) -> None:
        placed = {o.source: o for o in self._outputs() if o.source >= 0}
        for relocation in self.elf.relocations:
            out = placed.get(relocation.section)
            if out is None:
                continue
            symbol = self.elf.symbols[relocation.symbol]
            target = placed.get(symbol.section)
            if target is None and symbol.section != _ABSOLUTE:
                raise BackendError(f"undefined symbol {symbol.name or 'of a dropped section'}: it cannot be linked")
            if relocation.kind not in _RELOCATIONS:
                raise BackendError(f"relocation {relocation.kind} against {symbol.name} is not supported")
            if out.flags & SHF_ALLOC and relocation.kind in _LOADED_ABSOLUTE and target is not None:
                raise BackendError(
                    f"the absolute address of {symbol.name} would be relocated at load time: not supported"
                )
            packed, value = _RELOCATIONS[relocation.kind]
            base = 0 if target is None else target.address
            place = out.address + relocation.offset
            packed.pack_into(out.data, relocation.offset, value(base + symbol.value + relocation.addend, place))

    def _symbols(self, dynsym: _Output, dynamic: _Output, names: bytes) -> None:
        """Fill in .dynsym and .dynamic; add .symtab, .strtab and .shstrtab."""
        index = {o.source: i for i, o in enumerate(self._outputs(), 1) if o.source >= 0}
        placed = {o.source: o for o in self._outputs() if o.source >= 0}
        rows, strings = [SYMBOL.pack(0, 0, 0, 0, 0, 0)], bytearray(b"\0")
        locals_ = 1
        exported, at = 0, 1
        for symbol in sorted(self.elf.symbols, key=lambda s: s.is_global):
            found = placed.get(symbol.section)
            if found is None and symbol.section != _ABSOLUTE:
                continue
            if not symbol.name:
                continue
            value = symbol.value + (found.address if found is not None and found.flags & SHF_ALLOC else 0)
            section = _ABSOLUTE if found is None else index[symbol.section]
            rest = (symbol.info, symbol.other, section, value, symbol.size)
            rows.append(SYMBOL.pack(len(strings), *rest))
            strings += symbol.name.encode() + b"\0"
            locals_ += not symbol.is_global
            if symbol.is_global and found is not None:
                exported += 1
                SYMBOL.pack_into(dynsym.data, 24 * exported, at, *rest)
                at += len(symbol.name.encode()) + 1
        where = {o.name: o for o in self.read_only}
        tags = [
            (_DT_SYMTAB, where[".dynsym"].address),
            (_DT_SYMENT, SYMBOL.size),
            (_DT_STRTAB, where[".dynstr"].address),
            (_DT_STRSZ, len(names)),
            (_DT_HASH, where[".hash"].address),
            (0, 0),
        ]
        dynamic.data[:] = b"".join(struct.pack("<QQ", *tag) for tag in tags)
        table = _Output(
            ".symtab", SHT_SYMTAB, 0, 8, bytearray(b"".join(rows)), link=".strtab", info=locals_, entry_size=24
        )
        self.unloaded += [
            table,
            _Output(".shstrtab", SHT_STRTAB, 0, 1, bytearray()),
            _Output(".strtab", SHT_STRTAB, 0, 1, strings),
        ]

    def _write(self, segments: Sequence[tuple[int, ...]]) -> bytes:
        outputs = self._outputs()
        names = bytearray(b"\0")
        starts = []
        for o in outputs:
            starts.append(len(names))
            names += o.name.encode() + b"\0"
        own = next(o for o in outputs if o.name == ".shstrtab")
        own.data, own.size = names, len(names)
        number = {o.name: i for i, o in enumerate(outputs, 1)}
        last = max(o.offset + len(o.data) for o in outputs[:-3])
        for o in outputs[-3:]:
            o.offset = -(-last // o.alignment) * o.alignment
            last = o.offset + len(o.data)
        table = -(-last // 8) * 8
        file = bytearray(table)
        elf = self.elf
        ident = b"\x7fELF\x02\x01\x01\x40" + bytes([elf.abi_version]) + bytes(7)
        sizes = (
            ELF_HEADER.size,
            _SEGMENT.size,
            len(segments),
            SECTION_HEADER.size,
            len(outputs) + 1,
            number[".shstrtab"],
        )
        ELF_HEADER.pack_into(file, 0, ident, 3, MACHINE_AMDGPU, 1, 0, ELF_HEADER.size, table, elf.flags, *sizes)
        for i, segment in enumerate(segments):
            kind, rights, offset, address, *rest = segment
            _SEGMENT.pack_into(file, ELF_HEADER.size + i * _SEGMENT.size, kind, rights, offset, address, address, *rest)
        for o in outputs:
            file[o.offset : o.offset + len(o.data)] = o.data
        rows = [SECTION_HEADER.pack(*[0] * 10)]
        for start, o in zip(starts, outputs):
            rows.append(SECTION_HEADER.pack(
                start, o.kind, o.flags, o.address, o.offset, o.size, number.get(o.link, 0), o.info, o.alignment,
                o.entry_size,
            ))  # fmt: skip
        return bytes(file) + b"".join(rows)


def _hash(names: Sequence[str]) -> bytearray:
    """A System V hash table (gABI, chapter 5) of one bucket per symbol."""
    count = len(names) + 1
    buckets, chain = [0] * count, [0] * count
    for i, name in enumerate(names, 1):
        bucket = _hash_of(name) % count
        chain[i], buckets[bucket] = buckets[bucket], i
    return bytearray(struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chain))


def _hash_of(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF000_0000
        value = (value ^ high >> 24) & ~high & _LOW
    return value
