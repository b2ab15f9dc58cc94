"""Libraries of bitcode: read from files, and linked into LLVM modules of GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ..support.files import read_regular
from .errors import BackendError
from .llvm import gpu_library, owning

__all__ = ["defined_functions", "hide_library", "link_bitcode", "read_library"]


class Function(Protocol):
    """A function of an LLVM module, as llvmlite has it."""

    name: str
    is_declaration: bool
    linkage: str


class Module(Protocol):
    """An LLVM module, as llvmlite has it."""

    @property
    def functions(self) -> Iterable[Function]: ...


def defined_functions(module: Module) -> set[str]:
    """The names of the functions that a module has a body of."""
    return {f.name for f in module.functions if not f.is_declaration}


def hide_library(module: Module, visible: set[str]) -> None:
    """Internalize library functions, so that they are removed once inlined."""
    for f in module.functions:
        if not f.is_declaration and f.name not in visible:
            f.linkage = "internal"


def link_bitcode(module: Any, bitcode: bytes) -> None:
    """Link bitcode into a module; BackendError where LLVM refuses it."""
    other = None
    try:
        other = gpu_library().parse_bitcode(bitcode, module._context)
        other.triple, other.data_layout = module.triple, module.data_layout
        module.link_in(other)
    except RuntimeError as error:
        if other is not None:
            other.close()  # before the context, which is `module`'s
        raise BackendError(f"a library cannot be linked: {str(error).strip()}") from None


def read_library(name: str, path: str) -> bytes:
    """The bitcode of a library: a file of bitcode, or of LLVM text."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise BackendError(f"the library {name!r} cannot be read: {error}") from None
    if data[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        return data
    try:
        llvm = gpu_library()
        return bytes(owning(llvm.parse_assembly(data.decode(), llvm.create_context())).as_bitcode())
    except (RuntimeError, UnicodeDecodeError) as error:
        raise BackendError(f"the library {name!r} ({path}) is neither bitcode nor LLVM text: {error}") from None
