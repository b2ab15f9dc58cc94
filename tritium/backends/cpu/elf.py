"""Relocatable ELF objects -> bytes and relocations: what a loader needs, and no more (ELF-64 gABI, chapter 4).

Only sections that live in memory (SHF_ALLOC) are read, except unwind tables: kernels never unwind.
"""

from __future__ import annotations

import struct

from ...support.dataclasses import dataclass
from .errors import BackendError

__all__ = ["MACHINE_AARCH64", "MACHINE_X86_64", "ElfObject", "Relocation", "Section", "Symbol", "parse_elf"]

MACHINE_X86_64 = 62
MACHINE_AARCH64 = 183

_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL = 2, 4, 8, 9
_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR, _SHF_TLS = 1, 2, 4, 0x400
_SHN_ABS, _SHN_COMMON = 0xFFF1, 0xFFF2


@dataclass(slots=True)
class Section:
    """A section that occupies memory; `data` is None for zero-filled ones."""

    name: str
    size: int
    alignment: int
    executable: bool
    writable: bool
    data: memoryview | None


@dataclass(slots=True)
class Symbol:
    """`section` is an index into `ElfObject.sections`, None for an undefined symbol, -1 for an absolute value."""

    name: str
    section: int | None
    value: int
    is_function: bool
    is_global: bool


@dataclass(slots=True)
class Relocation:
    """Patch `section` at `offset` by the value of `symbol` + `addend`, in the way of `kind`."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(slots=True)
class ElfObject:
    machine: int
    sections: dict[int, Section]
    symbols: list[Symbol]
    relocations: list[Relocation]


def parse_elf(data: bytes) -> ElfObject:
    """The loadable parts of a little-endian ELF-64 relocatable; BackendError if it is something else or damaged."""
    try:
        return _parse(data)
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise BackendError(f"damaged object file: {error}") from None


def _parse(data: bytes) -> ElfObject:
    if data[:6] != b"\x7fELF\x02\x01":
        raise BackendError("not a little-endian ELF-64 object file")
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind != 1 or machine not in (MACHINE_X86_64, MACHINE_AARCH64):
        raise BackendError(f"not a relocatable object for x86-64 or AArch64 (type {kind}, machine {machine})")
    (table,) = struct.unpack_from("<Q", data, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(count)]
    names = _body(data, headers[names_index])
    sections = _sections(data, headers, names)
    relocations = [r for h in headers if h[7] in sections for r in _relocations(data, h)]
    return ElfObject(machine, sections, _symbols(data, headers, sections), relocations)


def _body(data: bytes, header: tuple[int, ...]) -> memoryview:
    offset, size = header[4], header[5]
    if offset + size > len(data):
        raise ValueError("a section reaches beyond the end of the file")
    return memoryview(data)[offset : offset + size]


def _text(names: memoryview, offset: int) -> str:
    raw = bytes(names[offset:])
    return raw[: raw.index(b"\0")].decode()


def _sections(data: bytes, headers: list[tuple[int, ...]], names: memoryview) -> dict[int, Section]:
    sections = {}
    for index, header in enumerate(headers):
        name_at, kind, flags, _, _, size, _, _, alignment, _ = header
        if not flags & _SHF_ALLOC or size == 0:
            continue
        name = _text(names, name_at)
        if flags & _SHF_TLS:
            raise BackendError(f"thread-local section {name} is not supported")
        if name.startswith(".eh_frame"):
            continue
        body = None if kind == _SHT_NOBITS else _body(data, header)
        sections[index] = Section(
            name, size, max(alignment, 1), bool(flags & _SHF_EXECINSTR), bool(flags & _SHF_WRITE), body
        )
    return sections


def _symbols(data: bytes, headers: list[tuple[int, ...]], sections: dict[int, Section]) -> list[Symbol]:
    symbols: list[Symbol] = []
    for header in headers:
        if header[1] != _SHT_SYMTAB:
            continue
        names = _body(data, headers[header[6]])
        for name_at, info, _, index, value, _ in struct.iter_unpack("<IBBHQQ", _body(data, header)):
            name = _text(names, name_at)
            if index == _SHN_COMMON:
                raise BackendError(f"common symbol {name} is not supported")
            where = -1 if index == _SHN_ABS else index if index in sections else None
            symbols.append(Symbol(name, where, value, info & 15 == 2, info >> 4 != 0))
    return symbols


def _relocations(data: bytes, header: tuple[int, ...]) -> list[Relocation]:
    if header[1] == _SHT_REL:
        raise BackendError("relocations without addends are not supported")
    if header[1] != _SHT_RELA:
        return []
    return [
        Relocation(header[7], offset, info & 0xFFFF_FFFF, info >> 32, addend)
        for offset, info, addend in struct.iter_unpack("<QQq", _body(data, header))
    ]
