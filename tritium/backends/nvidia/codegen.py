"""LLVM text -> optimized LLVM -> PTX.

Which passes LLVM runs is `simplify`'s to say. Instruction selection runs at level 2: level 3 numbers values once more
in each of its steps, which took half of its time and changed at most six lines of PTX (six kernels of examples/, LLVM
22).

`.version` is what the assembler at hand reads, `.target` the chip with the suffix `a` where instructions depend on it.
Whether products and sums may become one FMA stands on the operations (`contract`), which is the lowering's to say.

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
from .halves import with_halves_apart
from .libdevice import link_libraries
from .negations import with_signs_computed
from .simplify import simplified

__all__ = ["Chip", "OptimizedModule", "emit_ptx", "emit_text", "gpu_library", "optimize", "optimized_module"]

_asm = LazyModule(".asm_constraints", __package__)

SELECTION_LEVEL = 2
TRIPLE = "nvptx64-nvidia-cuda"
TIMEOUT = 300.0

_WORKER = "tritium.backends.nvidia.llvm_worker"

# The least version of PTX that knows a chip (PTX ISA, table of target architectures), and of LLVM.
_KNOWN = {
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

# The versions of PTX that a release of LLVM knows by name.
_PTX_OF_LLVM = {20: (*range(80, 88),), 21: (*range(80, 89),), 22: (*range(80, 89), 90)}

#: Without an assembler at hand: a release that is read widely, for what needs no newer one.
DEFAULT_PTX = 84


@dataclass(frozen=True)
class Chip:
    """What code is made for: the compute capability times ten, and the version of PTX times ten that is read.

    BackendError for a capability that is unknown here, or that this version of PTX does not have.
    """

    capability: int
    ptx: int

    def __post_init__(self) -> None:
        if self.capability not in _KNOWN:
            known = ", ".join(f"sm_{c}" for c in _KNOWN)
            raise BackendError(f"code for sm_{self.capability} cannot be made; there are: {known}")
        least, _ = _KNOWN[self.capability]
        if self.ptx < least:
            raise BackendError(
                f"sm_{self.capability} needs PTX {_dotted(least)}, and the assembler (or the option ptx_version) reads "
                f"only {_dotted(self.ptx)}: install a newer one"
            )

    @classmethod
    def of(cls, capability: int, ptx: int | None) -> Chip:
        """The chip; for a version of PTX that nobody chose, one that has it."""
        return cls(capability, ptx if ptx is not None else max(DEFAULT_PTX, _KNOWN.get(capability, (0, 0))[0]))

    @property
    def name(self) -> str:
        """`sm_80`, `sm_90a`: the suffix allows what only chips of this very architecture have."""
        return f"sm_{self.capability}{'a' if self.capability >= 90 else ''}"

    def machine(self) -> Machine:
        """LLVM's description; BackendError if this LLVM is too old for the chip."""
        release = gpu_library().llvm_version_info[0]
        least = _KNOWN[self.capability][1]
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
    """An optimized module: `str()` is its text. PTX is made of it without reading the text again, once."""

    def __init__(self, module: Any, text: str) -> None:
        self._module = module
        self._text = text

    def __str__(self) -> str:
        return self._text

    def take(self) -> Any:
        """LLVM's module, which making code of it changes; None the second time."""
        module, self._module = self._module, None
        return module


def _commented(text: str, comment: str) -> str:
    return f"; {comment}\n{text}" if comment else text


def optimize(
    text: str,
    chip: Chip,
    libraries: tuple[tuple[str, str], ...] = (),
    ftz: bool = True,
    comment: str = "",
    foreign_asm: bool = True,
) -> Any:
    """LLVM `text`, linked with the library functions it calls and optimized: an OptimizedModule, or its text.

    `libraries` are (name, path) of bitcode; the name `libdevice` is what NVIDIA's math functions are taken from. `ftz`
    lets these flush subnormals; a `comment` is put before the text; `foreign_asm` says whether inline assembly may be
    in it that no lowering of ours wrote. BackendError with LLVM's message where the text is malformed.
    """
    if isinstance(text, UserText) or (foreign_asm and not _asm.asm_is_plain(text)):
        request = {**asdict(chip), "stage": "llir", "libraries": libraries, "ftz": ftz}
        return UserText(_commented(run_isolated(_WORKER, request, text, TIMEOUT).decode(), comment))
    module, optimized = optimized_module(text, chip, libraries, ftz)
    return OptimizedModule(module, _commented(optimized, comment))


def optimized_module(text: str, chip: Chip, libraries: tuple[tuple[str, str], ...], ftz: bool) -> tuple[Any, str]:
    """The same in this process, as LLVM's module and its text."""
    machine = chip.machine()
    module = read(text, machine)
    link_libraries(module, text, libraries, ftz)
    dump("Before", module)
    optimized = simplified(module, text, target_machine(machine), not compilation.disable_llvm_opt)
    dump("After", module)
    return module, optimized


def emit_ptx(llir: Any, chip: Chip, fewer_registers: bool = False) -> str:
    """The PTX of what `optimize` made, or of a person's text. With `fewer_registers` instructions are ordered for it.

    BackendError where LLVM refuses the text.
    """
    if isinstance(llir, UserText) or fewer_registers:
        request = {**asdict(chip), "stage": "ptx", "fewer_registers": fewer_registers}
        source = llir if isinstance(llir, UserText) else str(llir)
        text = run_isolated(_WORKER, request, source, TIMEOUT).decode()
    else:
        source = without_minmax_selects(str(llir))
        same = isinstance(llir, OptimizedModule) and source == str(llir)
        module = llir.take() if same else None
        text = emit_text(read(source, chip.machine()) if module is None else module, chip)
    text = _finished(text, chip)
    if nvidia.dump_nvptx:
        print(f"// -----// NVPTX Dump //----- //\n{text}", file=sys.stderr, flush=True)
    return text


def emit_text(module: Any, chip: Chip) -> str:
    """LLVM's PTX of a module, which is no longer of use then."""
    try:
        made: bytes = target_machine(chip.machine())._emit_to_memory(module, use_object=False)
    except RuntimeError as error:
        raise BackendError(f"LLVM could not make PTX for {chip.name}: {error}") from None
    return with_octal_quotes(made.decode())


_GLOBAL = pattern(r"^(\t// \.globl\t(\S+))$", re.M)
_LOCATION = pattern(r"^(\t\.loc\t(\d+) (\d+) (\d+)[^\n]*)$", re.M)
_FILE = pattern(r"^\t\.file\t(\d+) \"([^\"]*)\"", re.M)


def _annotated(text: str) -> str:
    """The text with LLVM's comments for people, which tools read in Triton's: where functions begin and end, and the
    file, line and column of each `.loc`."""
    names = {number: os.path.basename(path) for number, path in _FILE.findall(text)}

    def located(found: re.Match[str]) -> str:
        line, number, row, column = found.groups()
        return f"{line.ljust(40)}// {names.get(number, '')}:{row}:{column}"

    parts = _GLOBAL.split(_LOCATION.sub(located, text) if names else text)
    out = [parts[0]]
    for line, name, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        first, brace, rest = body.partition("\n}\n")
        ended = f"{first}\n                                        // -- End function\n}}\n{rest}" if brace else body
        out += [f"{line.ljust(48)}// -- Begin function {name}", ended]
    return "".join(out)


def _finished(text: str, chip: Chip) -> str:
    """The version that is read, what the assembler gets right, and no `debug`, which keeps it from optimizing."""
    head, mark, rest = text.partition(".address_size")
    head = re.sub(r"\.version \d+\.\d+", f".version {_dotted(chip.ptx)}", head)
    head = re.sub(r",\s*debug\b", "", head)
    return head + mark + _annotated(with_halves_apart(with_signs_computed(rest, chip.capability)))
