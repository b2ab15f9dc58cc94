"""ELF files of AMD GPUs, relocatable objects and code objects: sections, symbols, relocations, notes.

Source: the ELF-64 gABI (chapters 4 and 5), and LLVM's user guide for AMDGPU targets, section "Code Object".
"""

from __future__ import annotations

import struct

from ...support.dataclasses import dataclass
from ..errors import BackendError

__all__ = ["ELF_HEADER", "MACHINE_AMDGPU", "Elf", "Relocation", "Section", "Symbol", "parse_elf"]

MACHINE_AMDGPU = 224
ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
NOTE = struct.Struct("<III")
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 1, 2, 3, 4, 7, 8, 11
SHF_WRITE, SHF_ALLOC, SHF_EXEC = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its index in the file, its header's fields, and its contents (empty for NOBITS)."""

    index: int
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol; `section` is the index of its section, 0 where it is undefined."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_global(self) -> bool:
        """Whether other objects see it."""
        return self.info >> 4 != 0


@dataclass(frozen=True, slots=True)
class Relocation:
    """Patch `section` at `offset` with the value of symbol number `symbol`, plus `addend`, as `kind` says."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """A file: `kind` is 1 for relocatable objects, 3 for code objects; `flags` name the processor."""

    kind: int
    abi_version: int
    flags: int
    sections: list[Section]
    symbols: list[Symbol]
    relocations: list[Relocation]

    def section(self, name: str) -> Section | None:
        """The section of this name."""
        return next((s for s in self.sections if s.name == name), None)

    def notes(self) -> list[tuple[str, int, bytes]]:
        """(owner, type, description) of every note."""
        found = []
        for section in self.sections:
            at = 0
            while section.kind == SHT_NOTE and at + NOTE.size <= len(section.data):
                name_size, size, kind = NOTE.unpack_from(section.data, at)
                start = at + NOTE.size
                end = start + -(-name_size // 4) * 4
                owner = section.data[start : start + name_size].rstrip(b"\0").decode()
                found.append((owner, kind, section.data[end : end + size]))
                at = end + -(-size // 4) * 4
        return found


def parse_elf(data: bytes) -> Elf:
    """The contents of an ELF file for AMD GPUs; BackendError if it is something else or damaged."""
    try:
        return _parse(data)
    except (struct.error, LookupError, ValueError) as error:
        raise BackendError(f"damaged code object: {error}") from None


def _parse(data: bytes) -> Elf:
    if data[:6] != b"\x7fELF\x02\x01":
        raise BackendError("not a little-endian ELF-64 file")
    header = ELF_HEADER.unpack_from(data)
    ident, kind, machine, flags, table = header[0], header[1], header[2], header[7], header[6]
    if machine != MACHINE_AMDGPU:
        raise BackendError(f"not an ELF file for AMD GPUs (machine {machine})")
    rows = [SECTION_HEADER.unpack_from(data, table + i * header[11]) for i in range(header[12])]
    names = rows[header[13]]
    sections = []
    for i, row in enumerate(rows):
        body = b"" if row[1] in (0, SHT_NOBITS) else data[row[4] : row[4] + row[5]]
        if row[1] not in (0, SHT_NOBITS) and len(body) < row[5]:
            raise ValueError("a section extends beyond the end of the file")
        _, kind_, flags_, address, offset, size, link, info, alignment, entry = row
        name = _text(data, names[4] + row[0])
        sections.append(Section(i, name, kind_, flags_, address, offset, size, link, info, alignment, entry, body))
    relocations = [r for s in sections if s.kind == SHT_RELA for r in _relocations(s)]
    return Elf(kind, ident[8], flags, sections, _symbols(sections), relocations)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _symbols(sections: list[Section]) -> list[Symbol]:
    """Those of .symtab; of .dynsym where that is all there is."""
    table = next((s for kind in (SHT_SYMTAB, SHT_DYNSYM) for s in sections if s.kind == kind), None)
    if table is None:
        return []
    names = sections[table.link].data
    return [Symbol(_text(names, row[0]), *row[1:]) for row in SYMBOL.iter_unpack(table.data)]


def _relocations(section: Section) -> list[Relocation]:
    return [
        Relocation(section.info, offset, info & 0xFFFF_FFFF, info >> 32, addend)
        for offset, info, addend in RELA.iter_unpack(section.data)
    ]
