"""Functions of a bitcode library as functions of the language: a Python module written from the library's LLVM text.

    python -m tritium.tools.build_extern --llvm-dis llvm-dis --lib-path libdevice.10.bc --output out

`triton.language.extra.libdevice` has these functions already; this is for other versions of the library.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# by their whole names: the file can be run by its path, as people run Triton's
from tritium.frontend.language.libdevice_symbols import library_names, overloads
from tritium.support import TritiumError

__all__ = [
    "ExternLibrary",
    "ExternLibraryError",
    "LLVMDisassembler",
    "Libdevice",
    "Symbol",
    "build",
    "convert_type",
    "extern_libs",
    "to_unsigned",
]

extern_libs = ["libdevice"]

_TYPES = {"i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "float": "fp32", "double": "fp64"}
_DEFINITION = re.compile(r"define\s+(?P<words>[^@]*?)(?P<ret>\w+)\s+@(?P<name>\w+)\((?P<args>[^)]*)\)")
_PREFIX = "__nv_"


class ExternLibraryError(TritiumError):
    """A library that cannot be read, or is not known."""


class Symbol:
    """A function of a library: its name there, the name it gets (`op_name`), and the types of the language."""

    def __init__(
        self, name: str, op_name: str, ret_type: str, arg_names: Sequence[str], arg_types: Sequence[str]
    ) -> None:
        self.name = name
        self.op_name = op_name
        self.ret_type = ret_type
        self.arg_names = list(arg_names)
        self.arg_types = list(arg_types)


def convert_type(type_str: str) -> str | None:
    """The name in the language of a type of LLVM; None for one that kernels do not pass.

    >>> convert_type("float"), convert_type("ptr")
    ('fp32', None)
    """
    return _TYPES.get(type_str)


def to_unsigned(type_str: str) -> str:
    """The unsigned integer type of the same width; other types unchanged."""
    return f"u{type_str}" if type_str in ("int32", "int64") else type_str


class ExternLibrary(ABC):
    """A library of external functions. With `format` the module that is written is laid out for reading."""

    def __init__(self, name: str, path: str, format: bool = True, grouping: bool = True) -> None:
        self.name = name
        self.path = path
        self.format = format
        self.grouping = grouping
        self.symbols: dict[str, Symbol] = {}

    @abstractmethod
    def parse_symbols(self, input_file: str) -> None:
        """Fill `symbols` from the LLVM text of the library."""

    @abstractmethod
    def _output_stubs(self) -> str:
        """The text of the module."""

    def generate_stub_file(self, output_dir: str) -> None:
        """Write `<name>.py` into a folder. ExternLibraryError where there are no functions."""
        text = self._output_stubs()
        if not text:
            raise ExternLibraryError(f"{self.path} has no functions that kernels can call")
        Path(output_dir, f"{self.name}.py").write_text(ast.unparse(ast.parse(text)) + "\n" if self.format else text)


class Libdevice(ExternLibrary):
    """NVIDIA's libdevice. With `grouping`, the functions of one meaning for several types are one function."""

    def __init__(self, path: str, format: bool = True, grouping: bool = True) -> None:
        super().__init__("libdevice", path, format, grouping)
        self.is_pure = True

    def parse_symbols(self, input_file: str) -> None:
        """Fill `symbols` from the LLVM text of the library, unless they are known."""
        if self.symbols:
            return
        names = _names_of_symbols()
        for line in Path(input_file).read_text().splitlines():
            symbol = _symbol(line)
            if symbol is not None:
                symbol.op_name = names.get(symbol.name, symbol.op_name) if self.grouping else symbol.op_name
                self.symbols[symbol.name] = symbol

    def _output_stubs(self) -> str:
        groups: dict[tuple[str, int], list[Symbol]] = {}
        for symbol in self.symbols.values():
            groups.setdefault((symbol.op_name, len(symbol.arg_names)), []).append(symbol)
        if not groups:
            return ""
        return "\n\n".join(["from triton.language import core", *map(self._function, groups.values())]) + "\n"

    def _function(self, symbols: Sequence[Symbol]) -> str:
        first = symbols[0]
        rows = [f"({_dtypes(s.arg_types)}): ({s.name!r}, {_dtypes([s.ret_type]).rstrip(', ')})" for s in symbols]
        table = "{" + ", ".join(rows) + "}"
        call = f"core.extern_elementwise({self.name!r}, {self.path!r}, [{', '.join(first.arg_names)}], {table}"
        parameters = ", ".join([*first.arg_names, "_semantic=None"])
        return (
            f"@core.extern\ndef {first.op_name}({parameters}):\n"
            f"    return {call}, is_pure={self.is_pure}, _semantic=_semantic)"
        )


def _dtypes(types: Iterable[str]) -> str:
    return "".join(f"core.dtype({ty!r}), " for ty in types)


def _names_of_symbols() -> dict[str, str]:
    """Symbol of libdevice -> name of its function in the language, which has one for several types."""
    found: dict[str, str] = {}
    for name in library_names("cuda"):
        for symbol, _ in (overloads("cuda", name) or {}).values():
            found.setdefault(symbol, name)
    return found


def _symbol(line: str) -> Symbol | None:
    """The function that a line of LLVM text defines; None for internal ones, and those of types without a name."""
    found = _DEFINITION.match(line)
    if found is None or "internal" in found["words"].split() or "ieee" in found["name"]:
        return None
    parameters = [text.split()[0] for text in found["args"].split(",") if text.strip()]
    types, result = [convert_type(ty) for ty in parameters], convert_type(found["ret"])
    if result is None or None in types:
        return None
    op_name = found["name"].removeprefix(_PREFIX)
    known: list[Any] = types
    if op_name == "sad":
        known = [*types[:-1], to_unsigned(str(types[-1]))]
    elif op_name.startswith("u"):  # LLVM's integers have no sign, these functions do
        known, result = [to_unsigned(str(ty)) for ty in types], to_unsigned(result)
    return Symbol(found["name"], op_name, result, [f"arg{i}" for i in range(len(known))], known)


class LLVMDisassembler:
    """The program llvm-dis; `ll_file` is the text that it writes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ll_file = str(Path(tempfile.mkdtemp(prefix="extern-"), "library.ll"))

    def disasm(self, lib_path: str) -> None:
        """Disassemble a bitcode library. ExternLibraryError where llvm-dis fails."""
        try:
            subprocess.run([self.path, lib_path, "-o", self.ll_file], check=True, capture_output=True, text=True)
        except OSError as error:
            raise ExternLibraryError(f"{self.path} cannot be run: {error}") from None
        except subprocess.CalledProcessError as error:
            raise ExternLibraryError(f"{self.path}: {error.stderr.strip()}") from None


def build(llvm_dis_path: str, lib_path: str, lib_name: str, output_dir: str) -> None:
    """Write the module for the library at `lib_path`, which is one of `extern_libs`, into a folder."""
    if lib_name not in extern_libs:
        raise ExternLibraryError(f"unknown library {lib_name!r}: it is one of {', '.join(extern_libs)}")
    library, disassembler = Libdevice(lib_path), LLVMDisassembler(llvm_dis_path)
    disassembler.disasm(lib_path)
    library.parse_symbols(disassembler.ll_file)
    library.generate_stub_file(output_dir)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llvm-dis", dest="llvm_dis_path", default="llvm-dis", help="Path of llvm-dis")
    parser.add_argument("--lib-path", dest="lib_path", required=True, help="Path of the bitcode library")
    parser.add_argument("--lib-name", dest="lib_name", default="libdevice", help="Name of the library")
    parser.add_argument("--output", dest="output_dir", default=".", help="Folder of the generated module")
    build(**vars(parser.parse_args()))
