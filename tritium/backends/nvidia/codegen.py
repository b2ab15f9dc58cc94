"""LLVM text -> optimized LLVM -> PTX.

`simplify` chooses the passes that LLVM runs. Instruction selection runs at level 2: level 3 numbers values once more
in each of its steps, which took half of its time and changed at most six lines of PTX (six kernels of examples/, LLVM
22).

`.version` is the highest that the assembler at hand reads, `.target` has the suffix `a` where instructions depend on
it. The lowering marks the operations that may be contracted to FMAs (`contract`).

LLVM ends the process on what it cannot select, such as constraints of inline assembly that no register fits. Text that
a person wrote (`UserText`) is therefore compiled in a process of its own, and so is a kernel with inline assembly of
its author's whose constraints are not of the plain kind.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from ...support.dataclasses import asdict, dataclass
from ...support.lazy import LazyModule
from ...support.patterns import pattern
from ...support.settings import compilation, nvidia
from ...support.text import with_octal_quotes
from ..compiler import UserText
from ..errors import BackendError
from ..llvm import Machine, dump, gpu_library, read, run_isolated, target_machine
from ..minmax_selects import without_minmax_selects
from .libdevice import link_libraries
from .packed_f16_fixups import fix_packed_f16
from .signed_arithmetic_fixups import fix_signed_arithmetic
from .simplify import simplified

__all__ = ["NVPTXTarget", "OptimizedModule", "emit_ptx", "emit_text", "gpu_library", "optimize", "optimized_module"]

_asm = LazyModule(".asm_constraints", __package__)

SELECTION_LEVEL = 2
TRIPLE = "nvptx64-nvidia-cuda"
TIMEOUT = 300.0

_WORKER = "tritium.backends.nvidia.llvm_worker"

# The minimum versions of PTX (PTX ISA, table of target architectures) and of LLVM for an SM version.
_MIN_VERSIONS = {
    75: (63, 20),
    80: (70, 20),
    86: (71, 20),
    87: (74, 20),
    88: (90, 22),
    89: (78, 20),
    90: (80, 20),
    100: (86, 20),
    101: (86, 20),
    103: (88, 21),
    110: (90, 22),
    120: (87, 20),
    121: (88, 21),
}

# The versions of PTX that a release of LLVM has features for.
_PTX_OF_LLVM = {20: (*range(80, 88),), 21: (*range(80, 89),), 22: (*range(80, 89), 90)}

#: Without an assembler: a widely supported version, for targets that need no newer one.
DEFAULT_PTX = 84


@dataclass(frozen=True)
class NVPTXTarget:
    """The target of code generation: the compute capability times ten, and the version of PTX times ten.

    BackendError for an unknown capability, or one that this version of PTX does not support.
    """

    capability: int
    ptx: int

    def __post_init__(self) -> None:
        if self.capability not in _MIN_VERSIONS:
            known = ", ".join(f"sm_{c}" for c in _MIN_VERSIONS)
            raise BackendError(f"unsupported target sm_{self.capability}; supported targets: {known}")
        least, _ = _MIN_VERSIONS[self.capability]
        if self.ptx < least:
            raise BackendError(
                f"sm_{self.capability} needs PTX {_dotted(least)}, and the assembler (or the option ptx_version) "
                f"supports only {_dotted(self.ptx)}: install a newer one"
            )

    @classmethod
    def of(cls, capability: int, ptx: int | None) -> NVPTXTarget:
        """The target; without a version of PTX, one that supports the capability."""
        return cls(capability, ptx if ptx is not None else max(DEFAULT_PTX, _MIN_VERSIONS.get(capability, (0, 0))[0]))

    @property
    def name(self) -> str:
        """`sm_80`, `sm_90a`: the suffix enables instructions specific to this architecture."""
        return f"sm_{self.capability}{'a' if self.capability >= 90 else ''}"

    def machine(self) -> Machine:
        """LLVM's target machine; BackendError if this LLVM is too old."""
        release = gpu_library().llvm_version_info[0]
        least = _MIN_VERSIONS[self.capability][1]
        if release < least:
            raise BackendError(
                f"LLVM {release} does not know sm_{self.capability}: llvmlite with LLVM {least} is needed"
            )
        versions = _PTX_OF_LLVM[min(max(release, 20), max(_PTX_OF_LLVM))]
        feature = max((v for v in versions if v <= self.ptx), default=versions[0])
        return Machine(TRIPLE, self.name, f"+ptx{feature}", SELECTION_LEVEL)


def _dotted(version: int) -> str:
    return f"{version // 10}.{version % 10}"


class OptimizedModule:
    """An optimized module: `str()` is its text. PTX is emitted from it once without parsing the text again."""

    def __init__(self, module: Any, text: str) -> None:
        self._module = module
        self._text = text

    def __str__(self) -> str:
        return self._text

    def take(self) -> Any:
        """LLVM's module, which code generation changes; None the second time."""
        module, self._module = self._module, None
        return module


def _commented(text: str, comment: str) -> str:
    return f"; {comment}\n{text}" if comment else text


def optimize(
    text: str,
    target: NVPTXTarget,
    libraries: tuple[tuple[str, str], ...] = (),
    ftz: bool = True,
    comment: str = "",
    foreign_asm: bool = True,
) -> Any:
    """LLVM `text`, linked with the library functions it calls and optimized: an OptimizedModule, or its text.

    `libraries` are (name, path) of bitcode; the name `libdevice` replaces NVIDIA's library of math functions. `ftz`
    lets these flush subnormals; a `comment` is prepended to the text; `foreign_asm` is set where the text may contain
    inline assembly that a user wrote. BackendError with LLVM's message where the text is malformed.
    """
    if isinstance(text, UserText) or (foreign_asm and not _asm.asm_is_plain(text)):
        request = {**asdict(target), "stage": "llir", "libraries": libraries, "ftz": ftz}
        return UserText(_commented(run_isolated(_WORKER, request, text, TIMEOUT).decode(), comment))
    module, optimized = optimized_module(text, target, libraries, ftz)
    return OptimizedModule(module, _commented(optimized, comment))


def optimized_module(
    text: str, target: NVPTXTarget, libraries: tuple[tuple[str, str], ...], ftz: bool
) -> tuple[Any, str]:
    """The same in this process, as LLVM's module and its text."""
    machine = target.machine()
    module = read(text, machine)
    link_libraries(module, text, libraries, ftz)
    dump("Before", module)
    optimized = simplified(module, text, target_machine(machine), not compilation.disable_llvm_opt)
    dump("After", module)
    return module, optimized


def emit_ptx(llir: Any, target: NVPTXTarget, fewer_registers: bool = False) -> str:
    """The PTX of the result of `optimize`, or of a user's text. `fewer_registers` schedules for register pressure.

    BackendError where LLVM refuses the text.
    """
    if isinstance(llir, UserText) or fewer_registers:
        request = {**asdict(target), "stage": "ptx", "fewer_registers": fewer_registers}
        source = llir if isinstance(llir, UserText) else str(llir)
        text = run_isolated(_WORKER, request, source, TIMEOUT).decode()
    else:
        source = without_minmax_selects(str(llir))
        same = isinstance(llir, OptimizedModule) and source == str(llir)
        module = llir.take() if same else None
        text = emit_text(read(source, target.machine()) if module is None else module, target)
    text = _finished(text, target)
    if nvidia.dump_nvptx:
        print(f"// -----// NVPTX Dump //----- //\n{text}", file=sys.stderr, flush=True)
    return text


def emit_text(module: Any, target: NVPTXTarget) -> str:
    """LLVM's PTX of a module, which is consumed."""
    try:
        made: bytes = target_machine(target.machine())._emit_to_memory(module, use_object=False)
    except RuntimeError as error:
        raise BackendError(f"LLVM could not emit PTX for {target.name}: {error}") from None
    return with_octal_quotes(made.decode())


# each begins with the end of the line before: such a pattern is tried once a line
_GLOBAL = pattern(r"\n(\t// \.globl\t(\S+))(?=\n)")
_LOCATION = pattern(r"\n(\t\.loc\t(\d+) (\d+) (\d+)[^\n]*)")
_FILE = pattern(r"\n\t\.file\t(\d+) \"([^\"]*)\"")


def _annotated(text: str) -> str:
    """The text with LLVM's comments for people, which tools read in Triton's: where functions begin and end, and the
    file, line and column of each `.loc`."""
    names = {number: os.path.basename(path) for number, path in _FILE.findall(text)}

    def located(found: re.Match[str]) -> str:
        line, number, row, column = found.groups()
        return f"\n{line.ljust(40)}// {names.get(number, '')}:{row}:{column}"

    parts = _GLOBAL.split(_LOCATION.sub(located, text) if names else text)
    out = [parts[0]]
    for line, name, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        first, brace, rest = body.partition("\n}\n")
        ended = f"{first}\n                                        // -- End function\n}}\n{rest}" if brace else body
        out += [f"\n{line.ljust(48)}// -- Begin function {name}", ended]
    return "".join(out)


def _finished(text: str, target: NVPTXTarget) -> str:
    """Set the version, apply the workarounds for ptxas bugs, and remove `debug`, which disables optimizations."""
    head, mark, rest = text.partition(".address_size")
    head = re.sub(r"\.version \d+\.\d+", f".version {_dotted(target.ptx)}", head)
    head = re.sub(r",\s*debug\b", "", head)
    return head + mark + _annotated(fix_packed_f16(fix_signed_arithmetic(rest, target.capability)))
