"""A kernel as an object file for C programs: its code, a launcher, and the thread pool that runs it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from string import Template
from typing import Any

from ...conversion.llvm.abi import ERROR_RECORD, ERROR_RECORD_BYTES
from ...support.text import encode
from . import export_ir
from .errors import BackendError
from .llvm import emit_object
from .pool import MOST_THREADS
from .pool_ir import LIMIT_OFFSET, pool_text
from .target import CPUTarget

__all__ = ["export_object", "site_messages"]

_SHARED = ("@tt.pool", "@tt.mutex", "@tt.condition")  # by all objects of a program
_DECLARED = re.compile(r"^declare [^\n]*?@([\w.]+)\([^\n]*\n", re.M)


def export_object(kernel: str, name: str, launcher: str, target: CPUTarget, metadata: Mapping[str, Any]) -> bytes:
    """The object with the kernel (its optimized LLVM text, of which `name` is the symbol) and LLVM text that calls it.

    In the text of `launcher`, `@tritium.kernel.state` is what `@tritium.run` wants of the kernel, and `@tritium.sites`
    its messages. BackendError for what is compiled, but cannot run without Python.
    """
    _check(metadata)
    code, found = re.subn(
        rf'^define (?:dso_local )?void @"?{re.escape(name)}"?\(',
        "define internal void @tritium.kernel(",
        kernel,
        flags=re.M,
    )
    if found != 1:
        raise BackendError(f"the LLVM text of {name} does not define it once")
    text = "\n".join([code, runtime_text(target), _state(metadata.get("sites") or ()), launcher])
    return emit_object(_declared_once(text), target, metadata.get("opt_level", 2))


def runtime_text(target: CPUTarget) -> str:
    """The pool, and what starts it, for a kernel of this target."""
    mac = "apple" in target.triple
    pool = pool_text(target.arch, futex=not mac, clock=6 if mac else 1, sig_setmask=3 if mac else 2, python=False)
    key = sha256(pool.encode()).hexdigest()[:8]
    amx = export_ir.REQUEST_AMX if target.has_amx and not mac else ""
    runtime = Template(export_ir.RUNTIME.replace("$tell", export_ir.TELL)).substitute(
        {name: field.offset for name, field in ERROR_RECORD.items()},
        key=key,
        request_amx=amx,
        most_threads=MOST_THREADS,
        limit=LIMIT_OFFSET,
        record_bytes=ERROR_RECORD_BYTES,
    )
    text = pool + runtime + (export_ir.COUNT_OTHER if mac else export_ir.COUNT_LINUX)
    for name in _SHARED:
        text = re.sub(
            rf"^{re.escape(name)} = (?:internal )?global", f"{name} = weak_odr hidden global", text, flags=re.M
        )
        text = text.replace(name, f"@tritium.{name[4:]}.{key}")
    return re.sub(r"^define (void|i32) @tt\.", r"define internal \1 @tt.", text, flags=re.M)


def _check(metadata: Mapping[str, Any]) -> None:
    if metadata.get("sanitize"):
        raise BackendError("sanitize checks accesses against the bounds of arrays, which a C program does not pass")
    if metadata.get("guard_stores"):
        raise BackendError("guard_stores asks which arrays are read-only, which a C program does not say")
    for site in metadata.get("sites") or ():
        if site["kind"] == "print":
            raise BackendError(f"{_position(site)}: device_print prints through Python, and none is there")


def _position(site: Mapping[str, object]) -> str:
    return f"{site['file']}:{site['line']}:{site['column']}"


def site_messages(sites: Sequence[Mapping[str, Any]]) -> list[str]:
    """The messages of traps, by site."""
    return [f"{_position(site)}: {site['kind']}: {site['details'].get('message', '')}".rstrip(": ") for site in sites]


def _state(sites: Sequence[Mapping[str, Any]]) -> str:
    """The launcher's state (see `launch._State`) and the messages."""
    state = "{ ptr @tritium.kernel, ptr null, i64 0, ptr null, i32 0, i32 0 }"
    lines = [f"@tritium.kernel.state = internal global {{ ptr, ptr, i64, ptr, i32, i32 }} {state}"]
    messages = site_messages(sites) or [""]
    for i, message in enumerate(messages):
        data = encode(message)[:400].replace(b"\0", b" ") + b"\0"
        lines.append(f'@tritium.site.{i} = internal constant [{len(data)} x i8] c"{_escaped(data)}"')
    rows = ", ".join(f"ptr @tritium.site.{i}" for i in range(len(messages)))
    lines.append(f"@tritium.sites = internal constant [{len(messages)} x ptr] [{rows}]")
    return "\n".join(lines) + "\n"


def _escaped(data: bytes) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)


def _declared_once(text: str) -> str:
    """Without declarations of functions that were declared before."""
    seen: set[str] = set()

    def keep(found: re.Match[str]) -> str:
        if found[1] in seen:
            return ""
        seen.add(found[1])
        return found[0]

    return _DECLARED.sub(keep, text)
