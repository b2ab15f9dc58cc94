"""`launch`: a kernel's assembly of AMD GPUs run on NumPy arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..arguments import encode, triple
from ..errors import DeviceTrap, LaunchError
from ..kept_machines import KeptMachines
from ..memory import Memory, Store
from ..report import Report
from ..types import Array
from .machine import Machine
from .metadata import Argument
from .printing import PrintBuffer, assertion_of, formats_of
from .program import Program, program_of
from .shape import Shape
from .state import EXEC

__all__ = ["launch"]

#: Lanes that run at once: enough to make NumPy's cost per call small.
BATCH_LANES = 16384
#: Registers, LDS and scratch memory of a batch stay below this many bytes.
BATCH_BYTES = 256 << 20
#: The LDS of a workgroup (MI300 ISA, section 11.1; RDNA3 ISA, section 12.1).
LDS_LIMIT = 64 << 10
BLOCK_LIMIT = 1024

_machines: KeptMachines[Machine] = KeptMachines()


def launch(
    text: str,
    grid: int | Sequence[int],
    arguments: Sequence[object] | bytes = (),
    *,
    name: str | None = None,
    block: int | Sequence[int] | None = None,
    shared_bytes: int = 0,
    check_races: bool = True,
    check_alignment: bool = False,
    cooperative: bool = False,
    memory: Memory | None = None,
    max_steps: int = 50_000_000,
    batch_lanes: int = BATCH_LANES,
) -> Report:
    """Run a kernel of AMDGCN assembly on `grid` workgroups, and return what it did.

    `arguments` follow the kernel's metadata: a NumPy array is passed as a pointer to its first element, and changed in
    place; numbers are converted to the argument's size; None is a null pointer. Trailing pointers may be left out.
    `bytes` are the kernarg segment, with or without the hidden arguments. `block` is the workgroup's size (default:
    what the metadata requires, or its maximum), `shared_bytes` its dynamic LDS. All workgroups of a `cooperative`
    launch run at once: they may wait for each other.

    Raises EmulationError: an access outside all arrays, a register that is accessed before the wait for the load that
    writes it (MissingWait), a race in LDS (with `check_races`), a deadlock, an unknown instruction. Only atomics must
    be aligned, unless `check_alignment` asks that all accesses are, to a dword at most.
    """
    program = program_of(text, name)
    shape3 = block_of(program, block)
    grid3 = triple(grid, "grid")
    lds = program.lds_size + shared_bytes
    if lds > LDS_LIMIT:
        raise LaunchError(f"{program.name} needs {lds} bytes of LDS, a workgroup has at most {LDS_LIMIT}")
    memory = memory if memory is not None else Memory()
    if program.data.size:
        memory.place_raw(int(program.data.ctypes.data), program.data.size, "constant data", False, program.data)
    buffer = None
    if any(a.kind == "hidden_printf_buffer" for a in program.metadata.arguments):
        buffer = PrintBuffer(formats_of(program.module.formats), memory)
    values = kernarg_bytes(program, arguments, memory, grid3, shape3, buffer)
    groups = grid3[0] * grid3[1] * grid3[2]
    report = Report(program.name, groups, groups * shape3[0] * shape3[1] * shape3[2])
    whole = [np.arange(groups)] if cooperative else None
    for batch in whole or batches(program, shape3, lds, groups, batch_lanes):
        machine = machine_for(program, shape3, len(batch), lds, check_races)
        machine.memory, machine.max_steps = memory, max_steps
        machine.executed = machine.barriers = 0
        machine.check_alignment = check_alignment
        try:
            machine.reset()
            prepare(machine, batch, grid3, values)
            machine.run()
        except DeviceTrap as trap:
            raise assertion_of(trap, buffer) or trap from None
        finally:
            machine.memory = Memory()
        report.instructions += machine.executed * program.lanes
        report.barriers += machine.barriers
    if buffer is not None:
        report.prints += buffer.text(0)
    return report


def block_of(program: Program, block: int | Sequence[int] | None) -> tuple[int, int, int]:
    """The size of a workgroup: asked for, or what the kernel requires."""
    if block is not None:
        shape = triple(block, "block")
    elif program.metadata.fields.get(".max_flat_workgroup_size"):
        shape = (program.metadata.number(".max_flat_workgroup_size"), 1, 1)
    else:
        raise LaunchError(f"{program.name} has no workgroup size: say how many threads a workgroup has with block=")
    limit = program.metadata.number(".max_flat_workgroup_size", BLOCK_LIMIT)
    if shape[0] * shape[1] * shape[2] > limit:
        raise LaunchError(f"{program.name}: a workgroup has at most {limit} threads, not {shape}")
    return shape


def batches(program: Program, block: tuple[int, int, int], lds: int, groups: int, lanes: int) -> Iterator[Array]:
    """Workgroups that run at once."""
    padded = -(-block[0] * block[1] * block[2] // program.lanes) * program.lanes
    per_lane = 4 * (program.vectors + program.accumulators) + program.scratch_size + 64
    at_once = max(min(lanes // padded, BATCH_BYTES // (padded * per_lane + lds * 32)), 1)
    for first in range(0, groups, at_once):
        yield np.arange(first, min(first + at_once, groups))


def machine_for(program: Program, block: tuple[int, int, int], groups: int, lds: int, races: bool) -> Machine:
    """A machine of this shape: a new one, or one that an earlier launch has used."""

    def new() -> Machine:
        return Machine(program, Shape(program.name, block, groups, program.lanes), lds, races)

    return _machines.get(program, (block, groups, lds, races), new)


# -- arguments ---------------------------------------------------------------------------------------------------------


def kernarg_bytes(
    program: Program,
    arguments: Sequence[object] | bytes,
    memory: Memory,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    buffer: PrintBuffer | None = None,
) -> bytes:
    """The kernarg segment: explicit arguments, then hidden ones."""
    explicit = [a for a in program.metadata.arguments if not a.hidden]
    if isinstance(arguments, bytes):
        size = max((a.offset + a.size for a in explicit), default=0)
        if len(arguments) not in (program.kernarg_size, size, -(-size // 8) * 8):
            raise LaunchError(f"{program.name} has {program.kernarg_size} bytes of arguments, not {len(arguments)}")
        out = bytearray(arguments.ljust(program.kernarg_size, b"\0"))
        if len(arguments) < program.kernarg_size:
            add_hidden(program, out, grid, block, buffer)
        return bytes(out)
    missing = explicit[len(arguments) :]
    if len(arguments) > len(explicit) or any(not a.pointer for a in missing):
        raise LaunchError(f"{program.name} has {len(explicit)} arguments, not {len(arguments)}")
    out = bytearray(program.kernarg_size)
    for number, argument in enumerate(explicit):
        value = arguments[number] if number < len(arguments) else None
        name = f"argument {number} of {program.name}"
        out[argument.offset : argument.offset + argument.size] = encode(
            value, argument.size, argument.pointer or argument.size == 8, name, memory
        )
    add_hidden(program, out, grid, block, buffer)
    return bytes(out)


def add_hidden(
    program: Program,
    out: bytearray,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    buffer: PrintBuffer | None = None,
) -> None:
    """Write the hidden arguments."""
    for argument in program.metadata.arguments:
        if argument.hidden:
            place = slice(argument.offset, argument.offset + argument.size)
            out[place] = hidden(argument, grid, block, buffer.address if buffer is not None else 0)


def hidden(
    argument: Argument, grid: tuple[int, int, int], block: tuple[int, int, int], printf_buffer: int = 0
) -> bytes:
    """A hidden argument ("Code Object V5 Metadata" of LLVM's user guide); those without meaning here are zero."""
    if argument.kind == "hidden_hostcall_buffer":
        raise LaunchError("the kernel prints through the host, which the emulator does not have")
    value = printf_buffer if argument.kind == "hidden_printf_buffer" else 0
    for kind, numbers in (("hidden_block_count", grid), ("hidden_group_size", block)):
        if found := re.fullmatch(kind + "_([xyz])", argument.kind):
            value = numbers["xyz".index(found.group(1))]
    if argument.kind == "hidden_grid_dims":
        value = 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1
    return value.to_bytes(argument.size, "little")


# -- initial registers -------------------------------------------------------------------------------------------------


def prepare(machine: Machine, batch: Array, grid: tuple[int, int, int], kernarg: bytes) -> None:
    """Set the initial registers of all waves ("Initial Kernel Execution State" of LLVM's user guide)."""
    program, shape = machine.program, machine.shape
    shape.grid, shape.numbers = grid, batch
    padded = np.frombuffer(kernarg.ljust(16, b"\0"), np.uint8).copy()
    machine.kernarg = Store(padded, int(padded.ctypes.data), "the kernel arguments", writable=False)
    set_scalars(machine, program, kernarg)
    set_lanes(machine)


def set_scalars(machine: Machine, program: Program, kernarg: bytes) -> None:
    """The user registers in their order, then the workgroup's numbers."""
    scalars = machine.scalars
    n = 0
    for field, words in (
        ("dispatch_ptr", 2),
        ("queue_ptr", 2),
        ("kernarg_segment_ptr", 2),
        ("dispatch_id", 2),
        ("private_segment_size", 1),
    ):
        if not program.number(f"user_sgpr_{field}"):
            continue
        if field == "kernarg_segment_ptr":
            scalars[n], scalars[n + 1] = machine.kernarg.base & 0xFFFFFFFF, machine.kernarg.base >> 32
        elif field not in ("dispatch_id", "private_segment_size"):
            raise LaunchError(f"{program.name} asks for {field}, which the emulator does not have")
        else:
            scalars[n : n + words] = program.scratch_size if words == 1 else 0
        n += words
    length, offset = (program.number(f"user_sgpr_kernarg_preload_{what}") for what in ("length", "offset"))
    for k in range(length):
        at = 4 * (offset + k)
        scalars[n + k] = int.from_bytes(kernarg[at : at + 4].ljust(4, b"\0"), "little")
    n = program.number("user_sgpr_count", n + length)
    x, y, _ = machine.shape.grid
    number = machine.shape.numbers[machine.shape.group_of_wave]
    for axis, value in zip("xyz", (number % x, number // x % y, number // x // y)):
        if program.number(f"system_sgpr_workgroup_id_{axis}", int(axis == "x")):
            scalars[n] = value
            n += 1


def set_lanes(machine: Machine) -> None:
    """EXEC of each wave, and v0: the three numbers of a work-item, ten bits each."""
    shape = machine.shape
    lane = np.arange(shape.lanes)[None, :]
    linear = (np.arange(shape.waves) % shape.waves_per_group)[:, None] * shape.lanes + lane
    machine.select(np.arange(shape.waves))
    machine.set_mask(EXEC, linear < shape.threads)
    bx, by, _ = shape.block
    x, y, z = linear % bx, linear // bx % by, linear // bx // by
    machine.vectors[0][:] = x | y << 10 | z << 20
