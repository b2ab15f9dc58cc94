"""Errors of emulated kernels: each names the instruction and, if known, the source line."""

from __future__ import annotations

from typing import Protocol

from ..support.errors import TritiumError
from ..support.files import source_line

__all__ = [
    "AssemblyError",
    "AsynchronyError",
    "BarrierError",
    "DataRace",
    "Deadlock",
    "DeviceAssertion",
    "DeviceTrap",
    "EmulationError",
    "LaunchError",
    "MemoryAccessError",
    "MisalignedAccess",
    "MissingWait",
    "OutOfBounds",
    "PTXError",
    "RunawayKernel",
    "TensorMapError",
    "UninitializedRead",
    "UnknownInstruction",
]


class Instruction(Protocol):
    """What a message needs of an instruction of any language."""

    @property
    def text(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def loc(self) -> tuple[str, int, int] | None: ...
    @property
    def language(self) -> str: ...


_LONGEST = 160  # characters of an instruction in a message: WGMMAs name hundreds of registers


class EmulationError(TritiumError):
    """Base of what the emulator reports. `instruction` is where it happened, None where there is no such place."""

    def __init__(self, message: str, instruction: Instruction | None = None) -> None:
        self.message = message
        self.instruction = instruction
        where = place(instruction) if instruction is not None else ""
        super().__init__(f"{message}\n{where}" if where else message)


class PTXError(EmulationError):
    """The text is no PTX, or PTX of a form that the emulator does not read."""


class AssemblyError(EmulationError):
    """The text is no assembly of AMD GPUs, or of a form that the emulator does not read."""


class UnknownInstruction(EmulationError):
    """An instruction, or a variant of one, that the emulator does not have."""


class LaunchError(EmulationError):
    """The arguments, the grid or the block do not fit the kernel."""


class MemoryAccessError(EmulationError):
    """Base of the errors of loads, stores and atomics."""


class OutOfBounds(MemoryAccessError):
    """An access outside every array, or outside shared, local or parameter memory."""


class MisalignedAccess(MemoryAccessError):
    """An address that is no multiple of the access's size."""


class UninitializedRead(MemoryAccessError):
    """A read of shared memory that nothing has written."""


class TensorMapError(EmulationError):
    """A tensor map that TMA does not accept, or a copy that does not fit it."""


class DataRace(EmulationError):
    """Two threads access the same location, one of them writes, and nothing orders the two.

    `other` is the instruction of the earlier access.
    """

    def __init__(self, message: str, instruction: Instruction | None, other: Instruction | None = None) -> None:
        self.other = other
        earlier = f"\nthe other access:\n{place(other)}" if other is not None else ""
        super().__init__(message, instruction)
        self.args = (self.args[0] + earlier,)


class AsynchronyError(DataRace):
    """An operand or result of an asynchronous operation is accessed before it completes, or without a fence.

    In shared memory or in registers; `other` is the operation.
    """


class MissingWait(EmulationError):
    """A register is accessed while a memory operation that has not been waited for may still write it.

    `other` is the memory operation.
    """

    def __init__(self, message: str, instruction: Instruction, other: Instruction) -> None:
        self.other = other
        super().__init__(message, instruction)
        self.args = (f"{self.args[0]}\nthe memory operation:\n{place(other)}",)


class Deadlock(EmulationError):
    """Every thread that has not exited waits at a barrier that cannot be released."""


class BarrierError(EmulationError):
    """A barrier or a warp's instruction used against its rules."""


class RunawayKernel(EmulationError):
    """The kernel did not end within the allowed number of steps."""


class DeviceTrap(EmulationError):
    """The kernel executed `trap`."""


class DeviceAssertion(EmulationError):
    """A device assertion failed; `assertion`, `file`, `line` and `function` are what the kernel passed.

    `block` says where in the grid, (x, y, z).
    """

    def __init__(
        self,
        assertion: str,
        file: str,
        line: int,
        function: str,
        where: str,
        instruction: Instruction | None = None,
        block: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        self.assertion, self.file, self.line, self.function = assertion, file, line, function
        self.block = block
        loc = instruction.loc if instruction is not None else None
        column = f":{loc[2]}" if loc is not None and loc[1] == line else ""  # the kernel passes no column
        super().__init__(f"{file}:{line}{column}: {function}: {where}: assertion failed: {assertion}", instruction)


def place(instruction: Instruction) -> str:
    """The line of an instruction in its text, and its line in the source where the text names one."""
    text = instruction.text if len(instruction.text) <= _LONGEST else instruction.text[: _LONGEST - 1] + "…"
    lines = [f"  {instruction.language} line {instruction.line}: {text}"]
    if instruction.loc is not None:
        file, line, column = instruction.loc
        lines.append(f"  from {file}:{line}:{column}")
        source = source_line(file, line).strip()
        if source:
            lines[-1] += f": {source}"
    return "\n".join(lines)
