"""Assembly text of AMD GPUs -> a relocatable object, by an assembler of this machine.

llvmlite has no assembler for AMDGPU. Text that LLVM did not write the object of is assembled by clang: kernels with
inline assembly, and assembly that a person wrote or edited. It is looked for in this order:

1. the setting `amd.assembler_path` (TRITIUM_AMD_ASSEMBLER);
2. the package `ziglang`, which contains clang (`pip install tritium[amd]`);
3. ROCm: ROCM_PATH, /opt/rocm;
4. PATH.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Iterator

from ...support import Diagnostic
from ...support.patterns import pattern
from ...support.settings import amd
from ..compiler import UserText
from ..errors import BackendError, ToolMissing
from .codegen import TRIPLE, AMDGPUTarget

__all__ = ["assemble", "find_assembler", "is_assembly"]

TIMEOUT = 120.0
_KERNEL = pattern(r"^\s*\.amdhsa_kernel\s", re.M)
_LOC = pattern(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = pattern(r"^\s*\.file\s+(\d+)\s+(?:\"([^\"]*)\"\s+)?\"([^\"]*)\"")
_ERROR = pattern(r"^[^\n]*?:(\d+):(\d+): error: (.*)$", re.M)


def is_assembly(text: str) -> bool:
    """Whether a text is assembly with a kernel descriptor."""
    return _KERNEL.search(text) is not None


def find_assembler() -> list[str] | None:
    """The command of a clang that assembles for AMD GPUs, or None. BackendError where the setting names no file."""
    named = amd.assembler_path
    if named:
        if not os.path.isfile(named):
            raise BackendError(f"TRITIUM_AMD_ASSEMBLER says that the assembler is {named!r}, and there is no such file")
        return [named]
    return next((command for command in _candidates() if os.access(command[0], os.X_OK)), None)


def _candidates() -> Iterator[list[str]]:
    spec = importlib.util.find_spec("ziglang")
    if spec is not None and spec.origin is not None:
        yield [os.path.join(os.path.dirname(spec.origin), "zig"), "clang"]
    for root in (os.environ.get("ROCM_PATH", ""), "/opt/rocm"):
        if root:
            yield [os.path.join(root, "llvm", "bin", "clang")]
    found = shutil.which("clang")
    if found is not None:
        yield [found]


def assemble(text: str, target: AMDGPUTarget) -> bytes:
    """The object of assembly text. ToolMissing where there is no assembler, BackendError with its messages."""
    command = find_assembler()
    if command is None:
        raise ToolMissing(
            f"inline assembly and edited assembly for {target.arch} need an assembler, which is not found: install one "
            "with `pip install tritium[amd]` (ziglang, which contains clang), or ROCm, or let TRITIUM_AMD_ASSEMBLER "
            "name clang\nhint: TRITIUM_TARGET=emulated:" + target.arch + " executes the kernel without one"
        )
    import subprocess  # 3 ms that other kernels do not pay

    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "kernel.s"), os.path.join(folder, "kernel.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        features = [
            f"-m{name[1:]}" if name[0] == "+" else f"-mno-{name[1:]}" for name in target.features.split(",") if name
        ]
        flags = ["-target", TRIPLE, f"-mcpu={target.arch}", *features, "-c", source, "-o", made]
        try:
            done = subprocess.run([*command, *flags], capture_output=True, timeout=TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BackendError(f"the assembler {command[0]} cannot be run: {error}") from None
        if done.returncode != 0:
            raise BackendError(_located(done.stderr.decode(errors="replace"), text, command[0], target))
        with open(made, "rb") as file:
            return file.read()


def _located(message: str, text: str, command: str, target: AMDGPUTarget) -> str:
    """The assembler's first error at its line of the text, and the line of the kernel that it comes from."""
    found = _ERROR.search(message)
    if found is None:
        return f"the assembler {command} failed for {target.arch}: {message.strip()[-2000:]}"
    name = getattr(text, "name", "the assembly") if isinstance(text, UserText) else "<amdgcn>"
    lines = text.split("\n")
    problem = f"{found[3]} (assembler: {command})"
    shown = Diagnostic(problem, name, int(found[1]), int(found[2]), lines).render()
    place = _source_place(lines[: int(found[1])])
    return f"{shown}\nnote: from {place}" if place else shown


def _source_place(before: list[str]) -> str:
    """`file:line:column` of the instruction after these lines, by their line table; empty if it has none."""
    located = next((m for m in map(_LOC.match, reversed(before)) if m is not None), None)
    if located is None:
        return ""
    files = {m[1]: f"{m[2]}/{m[3]}" if m[2] else m[3] for m in map(_FILE.match, before) if m is not None}
    return f"{files.get(located[1], '?')}:{located[2]}:{located[3]}"
