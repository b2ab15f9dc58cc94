"""Bitcode libraries of AMD GPUs that a launch names (`extern_libs`): OCML, OCKL, or a user's own.

ROCm's libraries read control constants (`__oclc_…`), which are defined here as Triton's AMD backend defines them.
Source: the documentation of ROCm-Device-Libs, "Controls".
"""

from __future__ import annotations

from typing import Any

from ...support.patterns import pattern
from ..bitcode import defined_functions, hide_library, link_bitcode, read_library
from ..errors import BackendError
from ..llvm import gpu_library
from .target import HIPTarget

__all__ = ["link_libraries"]

_DECLARED = pattern(r"^@(__oclc_\w+) = external .*addrspace\(4\) constant (i\d+)", 8)
_UNDEFINED = pattern(r"^declare [^@\n]*@([\w.$]+)\(", 8)


def link_libraries(module: Any, libraries: tuple[tuple[str, str], ...], arch: str) -> None:
    """Link whole libraries; BackendError where one cannot be read, or a function is in none of them."""
    own = defined_functions(module)
    for name, path in libraries:
        link_bitcode(module, read_library(name, path))
    text = str(module)
    constants = [
        f"@{name} = linkonce_odr hidden addrspace(4) constant {ty} {_control(name, arch)}"
        for name, ty in _DECLARED.findall(text)
    ]
    if constants:
        module.link_in(gpu_library().parse_assembly("\n".join(constants), module._context))
    missing = [name for name in _UNDEFINED.findall(text) if not name.startswith("llvm.")]
    if missing:
        names = ", ".join(name for name, _ in libraries)
        raise BackendError(f"the library function {missing[0]} is in none of the libraries {names}")
    hide_library(module, own)


def _control(name: str, arch: str) -> int:
    """The value of a control constant: exact arithmetic, subnormals kept, code object version 5."""
    target = HIPTarget(arch)
    numbers = arch.removeprefix("gfx")
    version = int(numbers[:-2]) * 1000 + int(numbers[-2], 16) * 100 + int(numbers[-1], 16)
    return {
        "__oclc_ISA_version": version,
        "__oclc_ABI_version": 500,
        "__oclc_wavefrontsize64": int(target.warp_size == 64),
        "__oclc_correctly_rounded_sqrt32": 1,
    }.get(name, 0)
