"""Object code -> callable addresses in this process, without a linker and without LLVM.

`load_object` lays the sections of a relocatable object into one anonymous mapping, applies its relocations and
makes the code executable and read-only (no page is ever writable and executable at once). A small object takes
0.1 to 0.2 ms, against 100 ms in a process that would have to import llvmlite for it.

The image is `code | constants | table of addresses and stubs | page boundary | writable data`. Symbols that the object
does not define are looked up in the caller's `symbols` first, then in the process (libc, libm, libpython).

Where objects are not ELF (macOS), LLVM's own JIT loads them.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from collections.abc import Mapping
from typing import Any

from .elf import MACHINE_AARCH64, MACHINE_X86_64, ElfObject, parse_elf
from .errors import BackendError
from .relocate import ARCHITECTURES, Architecture

__all__ = ["LoadedObject", "load_object", "process_symbol"]

_PAGE = mmap.PAGESIZE
_LARGEST = 1 << 30
_SLOT = 16  # one address, or a stub with its address

_process_symbols: dict[str, int] = {}
_libraries: list[Any] = []


class LoadedObject:
    """Machine code in this process. The mapping lives as long as this object: keep it while addresses are in use."""

    def __init__(self, mapping: Any, base: int, functions: dict[str, int]) -> None:
        self._mapping = mapping
        self.base = base
        self.functions = functions

    def address(self, name: str) -> int:
        """The address of the global function or variable `name`; BackendError if there is none."""
        try:
            return self.functions[name]
        except KeyError:
            known = ", ".join(sorted(self.functions)) or "none"
            raise BackendError(f"the object defines no symbol {name!r} (it has: {known})") from None

    @property
    def code_range(self) -> tuple[int, int]:
        """Where the image begins and ends; (0, 0) if that is not known."""
        return (self.base, self.base + len(self._mapping)) if self.base else (0, 0)

    def keep_forever(self) -> None:
        """Never unmap: for code that threads may be running when the interpreter ends."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._mapping))


def load_object(data: bytes, symbols: Mapping[str, int] | None = None) -> LoadedObject:
    """Load a relocatable object made for this machine; `symbols` maps names to addresses it may refer to.

    Raises BackendError for a damaged object, one for another machine, or a symbol that is nowhere defined.
    """
    if data[:4] != b"\x7fELF":
        return _load_with_llvm(data, symbols or {})
    elf = parse_elf(data)
    if elf.machine != _own_machine():
        raise BackendError("the object was made for another machine")
    try:
        return _Image(elf, symbols or {}).map()
    except (LookupError, ValueError, OverflowError, OSError) as error:
        raise BackendError(f"damaged object file: {type(error).__name__}: {error}") from None


def _own_machine() -> int:
    name = os.uname().machine
    return {"x86_64": MACHINE_X86_64, "aarch64": MACHINE_AARCH64, "arm64": MACHINE_AARCH64}.get(name, 0)


def process_symbol(name: str) -> int:
    """The address of a function of this process (libc, libm, Python); BackendError if there is none."""
    address = _process_symbols.get(name)
    if address is None:
        if not _libraries:
            _libraries.append(ctypes.CDLL(None))
            _libraries.append(ctypes.pythonapi)
            for extra in ("libm.so.6", "libpthread.so.0"):
                with contextlib.suppress(OSError):  # part of libc there
                    _libraries.append(ctypes.CDLL(extra))
        for library in _libraries:
            try:
                address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                break
            except AttributeError:
                continue
        if not address:
            raise BackendError(f"undefined symbol {name!r}: neither in the object nor in this process")
        _process_symbols[name] = address
    return address


def _align(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


class _Image:
    """The layout of an object in memory. Offsets are known first, addresses once it is mapped."""

    def __init__(self, elf: ElfObject, symbols: Mapping[str, int]) -> None:
        if elf.machine not in ARCHITECTURES:
            raise BackendError(f"no loader for ELF machine {elf.machine}")
        self.elf = elf
        self.symbols = symbols
        self.arch: Architecture = ARCHITECTURES[elf.machine]
        self.offsets: dict[int, int] = {}
        self.slots: dict[tuple[int, bool], int] = {}  # (symbol, is it a stub) -> offset
        size = self._place([i for i, s in elf.sections.items() if not s.writable], 0)
        self.slots_at = size = _align(size, _SLOT)
        for r in elf.relocations:
            if r.kind in self.arch.via_table:
                self.slots.setdefault((r.symbol, False), 0)
            elif r.kind in self.arch.branches and elf.symbols[r.symbol].section is None:
                self.slots.setdefault((r.symbol, True), 0)
        for n, key in enumerate(self.slots):
            self.slots[key] = self.slots_at + n * _SLOT
        self.sealed = _align(size + len(self.slots) * _SLOT, _PAGE)  # read-only from here on down
        self.size = _align(self._place([i for i, s in elf.sections.items() if s.writable], self.sealed), _PAGE)
        if self.size > _LARGEST:
            raise BackendError(f"the object wants {self.size} bytes of memory")

    def _place(self, indices: list[int], at: int) -> int:
        for i in sorted(indices, key=lambda i: not self.elf.sections[i].executable):
            section = self.elf.sections[i]
            if section.alignment > _PAGE:
                raise BackendError(f"section {section.name} wants an alignment of {section.alignment} bytes")
            at = _align(at, section.alignment)
            self.offsets[i] = at
            at += section.size
        return at

    def map(self) -> LoadedObject:
        # private: a child of fork has data of its own (Python's default is a mapping shared with it)
        mapping = mmap.mmap(-1, max(self.size, _PAGE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        view = memoryview(mapping)
        anchor = ctypes.c_char.from_buffer(mapping)
        base = ctypes.addressof(anchor)
        del anchor
        for i, offset in self.offsets.items():
            body = self.elf.sections[i].data
            if body is not None:
                view[offset : offset + len(body)] = body
        self._fill_slots(view, base)
        self._relocate(view, base)
        view.release()
        # Both kernels we support make the instruction cache coherent when a page first becomes executable.
        _protect(base, self.sealed)
        return LoadedObject(mapping, base, self._exports(base))

    def _value(self, index: int, base: int) -> int:
        symbol = self.elf.symbols[index]
        if symbol.section is None:
            address = self.symbols.get(symbol.name)
            return process_symbol(symbol.name) if address is None else address
        return symbol.value + (0 if symbol.section < 0 else base + self.offsets[symbol.section])

    def _fill_slots(self, view: memoryview, base: int) -> None:
        for (index, is_stub), at in self.slots.items():
            if is_stub:
                view[at : at + len(self.arch.stub)] = self.arch.stub
                at += self.arch.stub_slot
            view[at : at + 8] = self._value(index, base).to_bytes(8, "little")

    def _relocate(self, view: memoryview, base: int) -> None:
        arch = self.arch
        for r in self.elf.relocations:
            at = self.offsets[r.section] + r.offset
            if not 0 <= r.offset <= self.elf.sections[r.section].size - 4 or r.symbol >= len(self.elf.symbols):
                raise BackendError("damaged object file: a relocation points nowhere")
            place = base + at
            if r.kind in arch.direct:
                arch.direct[r.kind](view, at, self._value(r.symbol, base) + r.addend, place)
            elif r.kind in arch.via_table:
                arch.via_table[r.kind](view, at, base + self.slots[r.symbol, False] + r.addend, place)
            elif r.kind in arch.branches:
                stub = self.slots.get((r.symbol, True))
                target = self._value(r.symbol, base)
                if stub is not None and not -arch.branch_reach <= target + r.addend - place < arch.branch_reach:
                    target = base + stub
                arch.branches[r.kind](view, at, target + r.addend, place)
            else:
                raise BackendError(f"relocation type {r.kind} is not supported")

    def _exports(self, base: int) -> dict[str, int]:
        return {
            s.name: base + self.offsets[s.section] + s.value
            for s in self.elf.symbols
            if s.is_global and s.section is not None and s.section >= 0
        }


_libc: Any = None


def _protect(base: int, size: int) -> None:
    """Read and execute, no longer write."""
    global _libc
    if _libc is None:
        library = ctypes.CDLL(None, use_errno=True)
        library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        _libc = library
    if _libc.mprotect(base, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise BackendError(f"this system does not let the process make code executable: {reason}")


def _load_with_llvm(data: bytes, symbols: Mapping[str, int]) -> LoadedObject:
    """For object formats that only LLVM's JIT reads here (Mach-O)."""
    if sys.platform == "linux" or data[:4] != b"\xcf\xfa\xed\xfe":
        raise BackendError("not an object file of this system")
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in symbols.items():
        llvm.add_symbol(name, address)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return _JitObject(engine)


class _JitObject(LoadedObject):
    """An object inside LLVM's execution engine, which resolves names on demand."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine, 0, {})

    def address(self, name: str) -> int:
        address = self._mapping.get_function_address(name)
        if not address:
            raise BackendError(f"the object defines no symbol {name!r}")
        self.functions[name] = address
        return address
