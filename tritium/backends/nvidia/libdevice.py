"""Library functions of bitcode: NVIDIA's libdevice, and libraries that a launch names (`extern_libs`).

libdevice has some 350 functions in 470 KB: linking all of it into a kernel takes 50 ms. So each function is cut out
once, with what it calls, and kept on disk (a few KB); linking that takes half a millisecond.
"""

from __future__ import annotations

import os
from typing import Any

from ...support import settings
from ...support.files import read_regular
from ...support.folders import read_record, write_record
from ...support.hashing import sha256
from ...support.patterns import pattern
from ...support.suggestions import did_you_mean
from ..bitcode import defined_functions, hide_library, link_bitcode, read_library
from ..errors import BackendError, ToolMissing
from ..llvm import gpu_library, owning, run_passes
from .toolchain import require_tool

__all__ = ["link_libraries"]

_CALLED = pattern(r"@(__nv_\w+)\(")
_FORMAT = "2"  # of the files with slices
_REFLECT = pattern(r"(?:tail )?call i32 @__nvvm_reflect\([^\n]*")

#: functions that are operators of the language: they keep subnormals, as the other targets do (0 % 1e-40 is 0)
_KEEPS_SUBNORMALS = frozenset({"__nv_fmodf"})
_FLUSH = '!llvm.module.flags = !{!0}\n!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}'

_slices: dict[tuple[str, str], bytes] = {}


def link_libraries(module: Any, text: str, libraries: tuple[tuple[str, str], ...], ftz: bool) -> None:
    """Link what `module`, whose text this is, calls: whole libraries that are named, then functions of libdevice.

    `ftz` lets library functions flush subnormals. BackendError where a function is in none of them or a file is no
    bitcode; ToolMissing where libdevice is needed and not installed.
    """
    given = dict(libraries)
    own = defined_functions(module)
    called = set(_CALLED.findall(text)) - own if "@__nv_" in text else set()
    whole = [(name, path) for name, path in given.items() if name != "libdevice"]
    if not called and not whole:
        return
    for name, path in whole:
        link_bitcode(module, read_library(name, path))
    for name in sorted(called):
        if module.get_function(name).is_declaration:  # what is linked already may have brought it along
            path = given.get("libdevice") or require_tool("libdevice", f"the library function {name}").path
            link_bitcode(module, _slice(path, name))
    hide_library(module, own)
    if ftz:
        llvm = gpu_library()
        module.link_in(llvm.parse_assembly(_FLUSH, module._context))


def _slice(path: str, name: str) -> bytes:
    """Bitcode of the function `name` of a library, and of what it calls."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise ToolMissing(
            f"the library function {name} is taken from libdevice, which is not at {path!r}: {error.strerror}\n"
            "hint: TRITON_LIBDEVICE_PATH and the option extern_libs name it; without them it is searched for"
        ) from None
    release = ".".join(map(str, gpu_library().llvm_version_info))
    identity = f"{_FORMAT}|{path}|{status.st_size}|{status.st_mtime_ns}|{release}"
    key = (identity, name)
    if key not in _slices:
        record = f"libdevice-{sha256(identity.encode()).hexdigest()[:16]}-{name}"
        found = read_record(record)
        if found is None:
            found = _cut(path, name)
            if not settings.cache.disable:
                write_record(record, found)
        _slices[key] = found
    return _slices[key]


def _cut(path: str, name: str) -> bytes:
    llvm = gpu_library()
    try:
        module = owning(llvm.parse_bitcode(read_regular(path), llvm.create_context()))
        defined = defined_functions(module)
    except (RuntimeError, OSError) as error:
        raise BackendError(f"libdevice ({path}) cannot be read: {str(error).strip()}") from None
    if name not in defined:
        hint = did_you_mean(name, sorted(defined))
        raise BackendError(f"libdevice ({path}) has no function {name}{hint and '; ' + hint}")
    for f in module.functions:
        if not f.is_declaration and f.name != name:
            f.linkage = "internal"
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    run_passes(manager, module, llvm.create_pass_builder(None, llvm.create_pipeline_tuning_options(speed_level=0)))
    if name in _KEEPS_SUBNORMALS:  # each question of the function whether to flush is answered here
        text = _REFLECT.sub("add i32 0, 0", str(module))
        return bytes(owning(llvm.parse_assembly(text, llvm.create_context())).as_bitcode())
    return bytes(module.as_bitcode())
