"""Errors that running kernels report, mapped to the kernel's source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..compiler import CompiledKernel
from ..conversion.llvm.abi import BOUNDS_BYTES, ErrorKind, ErrorRecord
from ..support.diagnostics import Diagnostic
from ..support.errors import read_only_store
from .errors import DeviceAssertError, ReadOnlyError, SanitizerError

__all__ = ["report"]

_VERBS = {
    ErrorKind.LOAD_OUT_OF_BOUNDS: "load",
    ErrorKind.STORE_OUT_OF_BOUNDS: "store",
    ErrorKind.ATOMIC_OUT_OF_BOUNDS: "atomic",
}


def report(data: bytes, kernel: CompiledKernel, labels: Sequence[str], to_read: Sequence[str] = ()) -> None:
    """Raise the error of the error record `data`. `labels` names the parameter of each argument slot, `to_read` those
    of the read-only memory spans."""
    record = ErrorRecord.from_bytes(data)
    sites: list[Mapping[str, Any]] = kernel.values.get("sites", [])
    site = sites[record.site] if 0 <= record.site < len(sites) else {}
    if record.kind == ErrorKind.ASSERT:
        message = f"device-side assertion failed: {site.get('details', {}).get('message') or 'no message'}"
        raise DeviceAssertError(*_told(message, kernel, site, record))
    if record.kind == ErrorKind.STORE_TO_READ_ONLY:
        raise _read_only_error(record, kernel, site, to_read)
    raise _sanitizer_error(record, kernel, site, labels)


def _read_only_error(
    record: ErrorRecord, kernel: CompiledKernel, site: Mapping[str, Any], to_read: Sequence[str]
) -> ReadOnlyError:
    argument = to_read[record.lower // BOUNDS_BYTES]
    message, hint = read_only_store(argument)
    error = ReadOnlyError(*_told(message, kernel, site, record, hint))
    error.argument, error.address = argument, record.address
    return error


def _sanitizer_error(
    record: ErrorRecord, kernel: CompiledKernel, site: Mapping[str, Any], labels: Sequence[str]
) -> SanitizerError:
    verb = _VERBS.get(ErrorKind(record.kind), "access")
    slot = site.get("details", {}).get("argument", -1)
    argument = labels[slot] if 0 <= slot < len(labels) else None
    size = _element_bytes(kernel, argument)
    index, count = None, None
    if size:
        index, count = (record.address - record.lower) // size, (record.upper - record.lower) // size
    where = f"of {argument!r}" if argument else "of an array"
    if index is None:
        found = f"address {record.address:#x}, allowed are {record.lower:#x} to {record.upper:#x} (exclusive)"
    else:
        found = f"index {index}, allowed are 0 to {count} (exclusive)"
    message = f"out-of-bounds {verb} {where}: {found}; element {record.index} of the tile"
    error = SanitizerError(*_told(message, kernel, site, record))
    error.access, error.argument, error.address = verb, argument, record.address
    error.lower, error.upper, error.index, error.count = record.lower, record.upper, index, count
    return error


def _told(
    message: str, kernel: CompiledKernel, site: Mapping[str, Any], record: ErrorRecord, hint: str = ""
) -> tuple[str, str, Any, Any, Any, tuple[int, int, int]]:
    """The arguments of a kernel error: its text and position."""
    file, line, column = site.get("file") or None, site.get("line") or None, site.get("column") or None
    message = f"{message}\nin kernel {kernel.name}, program {record.program}"
    callers = site.get("details", {}).get("callers", ())
    notes = [_diagnostic(kernel, "inlined here", *caller, severity="note") for caller in callers]
    text = _diagnostic(kernel, message, file, line, column, notes=notes, hint=hint).render()
    return text, kernel.name, file, line, column, record.program


def _diagnostic(
    kernel: CompiledKernel, message: str, file: str | None, line: int | None, column: int | None, **how: Any
) -> Diagnostic:
    """A message with a position, and the source line if it is in the kernel's own file."""
    path, lines = _text_of(kernel.src)
    if file is None or os.path.basename(path) != file:
        path, lines = file or "", ()
    return Diagnostic(message, path, line or 0, column or 0, lines, **how)


def _text_of(source: Any) -> tuple[str, Sequence[str]]:
    """The file of a kernel, and its lines."""
    if hasattr(source, "fn"):
        return source.fn.source.file, source.fn.source.lines
    return str(source.path), source.src.splitlines()


def _element_bytes(kernel: CompiledKernel, argument: str | None) -> int:
    ty = kernel.src.signature.get(argument, "") if argument else ""
    if not isinstance(ty, str) or ty[:1] != "*":
        return 0
    name = ty.lstrip("*").removeprefix("k")
    digits = "".join(c for c in name.split("e")[0] if c.isdigit())
    return max(int(digits or 8) // 8, 1)
