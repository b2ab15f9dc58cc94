"""`launch`: a kernel's PTX run on NumPy arrays."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import instructions  # registers them
from .arguments import encode, triple
from .errors import LaunchError
from .global_races import GlobalRaces
from .kept_machines import KeptMachines
from .machine import Machine
from .memory import Memory
from .parser import parse
from .program import Program, build
from .ptx import Immediate, Variable
from .report import Report
from .types import TYPES, Array

__all__ = ["launch"]

#: Threads that run at once: enough to make NumPy's cost per call small.
BATCH_THREADS = 8192
#: Registers, shared and local memory of a batch stay below this many bytes.
BATCH_BYTES = 512 << 20
BLOCK_LIMIT = 1024
SHARED_LIMIT = 1 << 20

assert instructions


@functools.lru_cache(maxsize=64)
def program_of(ptx: str, name: str | None) -> Program:
    return build(parse(ptx), name)


_machines: KeptMachines[Machine] = KeptMachines()


def launch(
    ptx: str,
    grid: int | Sequence[int],
    arguments: Sequence[object] | bytes = (),
    *,
    name: str | None = None,
    block: int | Sequence[int] | None = None,
    shared_bytes: int = 0,
    cluster: int | Sequence[int] | None = None,
    check_races: bool = True,
    warp_lockstep: bool = False,
    check_uninitialized: bool = False,
    check_global_races: bool = False,
    cooperative: bool = False,
    memory: Memory | None = None,
    max_steps: int = 5_000_000,
    batch_threads: int = BATCH_THREADS,
) -> Report:
    """Run a kernel of PTX text on `grid` CTAs, and return what it did.

    `arguments` follow the kernel's parameters: a NumPy array is passed as a pointer to its first element, and changed
    in place (a tuple `(array, offset)` points `offset` bytes further); numbers are converted to the parameter's size;
    `bytes` fill it; None is a null pointer. Up to two trailing parameters may be left out: they are null pointers.
    `bytes` in place of the list are all parameters as they stand in memory.

    `name` says which kernel, where there are several; `block` the threads of a block (default: the kernel's
    `.reqntid`); `shared_bytes` the size of its dynamic shared memory; `cluster` the CTAs of a cluster.

    Raises EmulationError: an access outside all arrays or misaligned, a failed device assertion or trap, a deadlock,
    a kernel that does not end within `max_steps` segments of code, an unknown instruction. With `check_races`, also
    DataRace: two threads meet in shared memory without a barrier between; `warp_lockstep` trusts that threads of one
    warp run in the order of the program, as they did before compute capability 7.0. With `check_uninitialized`, reads
    of shared memory that nothing has written are errors; otherwise they give ones. With `check_global_races`, DataRace
    also for accesses of two blocks to one place of global memory that no atomic operation orders (`global_races`). All
    blocks of a `cooperative` launch run at once, so that they may wait for each other. The package's docstring has an
    example.
    """
    program = program_of(ptx, name)
    shape = block_of(program, block)
    cluster_shape = cluster_of(program, cluster)
    grid3 = triple(grid, "grid")
    size = cluster_shape[0] * cluster_shape[1] * cluster_shape[2]
    if any(g % c for g, c in zip(grid3, cluster_shape)):
        raise LaunchError(f"{program.name}: the grid {grid3} is no multiple of the cluster {cluster_shape}")
    if program.shared_size + shared_bytes > SHARED_LIMIT:
        raise LaunchError(f"{program.name} needs {program.shared_size + shared_bytes} bytes of shared memory")
    memory = memory if memory is not None else Memory()
    values = parameter_bytes(program, arguments, memory)
    blocks = grid3[0] * grid3[1] * grid3[2]
    report = Report(program.name, blocks, blocks * shape[0] * shape[1] * shape[2])
    numbers = block_numbers(grid3, cluster_shape)
    options = (shared_bytes, cluster_shape, check_races, warp_lockstep, check_uninitialized)
    global_races = GlobalRaces(blocks) if check_global_races else None
    whole = [numbers] if cooperative else None
    for batch in whole or batches(program, shape, shared_bytes, numbers, size, batch_threads):
        machine = machine_for(program, shape, len(batch), *options)
        run(machine, batch, grid3, memory, values, report, max_steps, global_races)
        report.instructions += machine.instructions
        report.barriers += machine.barriers.passed
    return report


def run(
    machine: Machine,
    blocks: Array,
    grid: tuple[int, int, int],
    memory: Memory,
    values: bytes,
    report: Report,
    max_steps: int,
    global_races: GlobalRaces | None = None,
) -> None:
    """Execute some CTAs of a launch. The machine forgets the arrays, so that it keeps none alive."""
    machine.memory, machine.prints, machine.max_steps = memory, report.prints, max_steps
    machine.global_races = global_races
    machine.instructions = machine.barriers.passed = 0
    try:
        set_parameters(machine, values)
        machine.reset(blocks, grid)
        machine.run()
    finally:
        machine.memory, machine.prints, machine.global_races = Memory(), [], None


def machine_for(
    program: Program,
    block: tuple[int, int, int],
    ctas: int,
    shared_bytes: int,
    cluster: tuple[int, int, int],
    *checks: bool,
) -> Machine:
    """A machine of this shape: a new one, or one that an earlier launch has used."""
    shape = (block, ctas, shared_bytes, cluster, checks)
    return _machines.get(program, shape, lambda: Machine(program, block, ctas, shared_bytes, cluster, *checks))


def block_of(program: Program, block: int | Sequence[int] | None) -> tuple[int, int, int]:
    """The shape of a block: asked for, or what the kernel requires."""
    required = program.kernel.directives.get("reqntid")
    if block is None:
        if required is None:
            raise LaunchError(f"{program.name} has no .reqntid: pass the number of threads per CTA as block=")
        return triple(required, "block")
    shape = triple(block, "block")
    if required is not None and shape != triple(required, "block"):
        raise LaunchError(f"{program.name} requires blocks of {triple(required, 'block')} threads, not {shape}")
    if shape[0] * shape[1] * shape[2] > BLOCK_LIMIT:
        raise LaunchError(f"a CTA has at most {BLOCK_LIMIT} threads, not {shape}")
    return shape


def cluster_of(program: Program, cluster: int | Sequence[int] | None) -> tuple[int, int, int]:
    required = program.kernel.directives.get("reqnctapercluster")
    return triple(cluster if cluster is not None else required or 1, "cluster")


def block_numbers(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> Array:
    """The linear indices of all CTAs; those of a cluster are adjacent, in the order of their rank."""
    z, y, x = np.indices(grid[::-1])
    number = x + grid[0] * (y + grid[1] * z)
    (gx, gy, gz), (cx, cy, cz) = grid, cluster
    parts = number.reshape(gz // cz, cz, gy // cy, cy, gx // cx, cx)
    return parts.transpose(0, 2, 4, 1, 3, 5).ravel()


def batches(
    program: Program, block: tuple[int, int, int], shared_bytes: int, numbers: Array, cluster: int, threads: int
) -> Iterator[Array]:
    """CTAs that run at once, whole clusters."""
    padded = -(-block[0] * block[1] * block[2] // 32) * 32
    per_thread = sum(TYPES[t].bits // 8 + 1 for t in program.registers.values()) + program.local_size + 256
    per_block = padded * per_thread + (program.shared_size + shared_bytes) * 8
    at_once = max(min(threads // padded, BATCH_BYTES // per_block) // cluster, 1) * cluster
    for first in range(0, len(numbers), at_once):
        yield numbers[first : first + at_once]


# -- arguments ---------------------------------------------------------------------------------------------------------


def parameter_bytes(program: Program, arguments: Sequence[Any] | bytes, memory: Memory) -> bytes:
    """The kernel's parameters as it sees them in memory."""
    if isinstance(arguments, bytes):
        if len(arguments) != program.param_size:
            raise LaunchError(f"{program.name} has {program.param_size} bytes of parameters, not {len(arguments)}")
        return arguments
    parameters = program.kernel.parameters
    missing = parameters[len(arguments) :]
    if len(arguments) > len(parameters) or len(missing) > 2 or any(p.size != 8 for p in missing):
        raise LaunchError(f"{program.name} has {len(parameters)} parameters, not {len(arguments)}")
    out = bytearray(program.param_size)
    for number, parameter in enumerate(parameters):
        value = arguments[number] if number < len(arguments) else None
        name = f"argument {number} of {program.name}"
        data = encode(value, parameter.size, parameter.pointer, name, memory, parameter.type)
        offset = program.symbols[parameter.name].offset
        out[offset : offset + parameter.size] = data
    return bytes(out)


def set_parameters(machine: Machine, values: bytes) -> None:
    """Write the parameters, and the module's variables as the module has them."""
    machine.param.raw[: len(values)] = np.frombuffer(values, np.uint8)
    for variable in machine.program.globals:
        array = machine.module_arrays[variable.name]
        base = machine.module_address(variable.name)
        start = base - int(array.ctypes.data)
        view = array[start : start + variable.size]
        view[:] = np.frombuffer(initial_bytes(machine, variable), np.uint8)
        if variable.size:
            machine.memory.place_raw(base, variable.size, variable.name, variable.space == "global", array)


def initial_bytes(machine: Machine, variable: Variable) -> bytes:
    """The initial value of a module variable."""
    size = TYPES[variable.type].bytes
    out = b""
    for value in variable.initial or ():
        if isinstance(value, Immediate):
            bits = int(value.value)
            if value.float_bits == 64 and size == 4:
                bits = int.from_bytes(struct.pack("<f", struct.unpack("<d", bits.to_bytes(8, "little"))[0]), "little")
        else:
            assert isinstance(value, tuple)
            bits = machine.module_address(value[0]) + value[1]
        out += (bits & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    return out.ljust(variable.size, b"\0")
