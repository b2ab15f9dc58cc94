"""Static analysis of a kernel for NVIDIA GPUs: registers, shared memory, instructions, bank conflicts, occupancy.

    kernel.inspect().occupancy.limit        # "shared memory"

The sources are the `ttgir` (buffers, accesses to them and to global memory), the PTX and, where nvdisasm is installed,
the SASS (instructions), and the output of the assembler (registers, spills, remarks). Nothing is run and no GPU is
needed; counts are static, sectors and wavefronts follow from the layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...analysis.allocation import allocated
from ...analysis.buffers import is_shared_alloc
from ...analysis.global_access import global_accesses
from ...analysis.shared_traffic import Traffic, stages_of, traffic_of
from ...dialects import all as _dialects
from ...dialects.ttg_warps import WarpSpecialize
from ...hardware.nvidia import NvidiaGPU
from ...hardware.occupancy import Occupancy, ctas_by_limit, occupancy
from ...ir import IntegerAttr, Operation, enclosing_loop
from ...ir.parser import parse_module
from ...ir.passes import run_pipeline
from ...support.dataclasses import dataclass
from ...support.lazy import LazyMethod
from ...support.plain import plain
from ...transforms.ttgir.memory.allocate_shared_memory import callees_first
from ...transforms.ttgir.pipelines import LOWERING
from ..errors import ToolMissing, stage_of
from ..findings import Finding
from ..roofline import Launch, Roofline, roofline_of
from .disassembler import Instruction, instructions_of
from .findings import findings_of_accesses, findings_of_conflicts, findings_of_resources
from .instructions import Count, count_instructions, in_flight, register_moves
from .peak_rates import peak_rates_of
from .remarks import Remark, explain
from .sass import MemoryCount, instruction_mix, memory_by_width
from .target import CUDATarget

__all__ = ["Access", "Buffer", "Inspection", "Partition", "Registers", "inspect"]

_ = _dialects  # whatever the text names


@dataclass(frozen=True)
class Registers:
    """Per thread: registers, the maximum for a CTA of this size, registers spilled to local memory, bytes of spill
    stores and loads, and bytes of stack."""

    each: int
    limit: int
    spilled: int
    spill_stores: int
    spill_loads: int
    stack: int


@dataclass(frozen=True)
class Buffer:
    """An allocation in shared memory: `stages` adjacent tiles of type `tile`, or the scratch memory of an operation."""

    name: str
    place: str
    tile: str
    bytes: int
    offset: int
    stages: int


@dataclass(frozen=True)
class Access:
    """How the threads of a warp access shared memory for one operation: `instructions` of `wavefronts` each, of which
    `conflicts` are due to bank conflicts. `looped`: it is in a loop."""

    name: str
    place: str
    instruction: str
    instructions: int
    wavefronts: int
    conflicts: int
    looped: bool


@dataclass(frozen=True)
class Partition:
    """A partition of a warp-specialized kernel: its warps, and the registers of their threads (0: unchanged)."""

    name: str
    warps: int
    registers: int


@dataclass(frozen=True)
class Inspection:
    """The inspection of a compiled kernel; `as_json` returns it as plain values.

    `instructions` are PTX's by group (see `instructions.GROUPS`), `mix` are SASS's by kind (see `sass.KINDS`) and
    `memory` its accesses by width: both empty, with the reason in `no_sass`, where SASS cannot be read. `in_flight`
    has the groups of copies and WGMMAs that the waits in loops leave in flight, `limits` the CTAs per SM that each
    resource allows. `roofline` is None unless a launch is given.
    """

    kernel: str
    target: str
    warps: int
    blocks: int
    registers: Registers
    barriers: int
    shared: int
    shared_limit: int
    buffers: tuple[Buffer, ...]
    accesses: tuple[Access, ...]
    instructions: dict[str, list[Count]]
    mix: dict[str, list[Count]]
    memory: tuple[MemoryCount, ...]
    no_sass: str
    in_flight: dict[str, int]
    partitions: tuple[Partition, ...]
    occupancy: Occupancy
    limits: dict[str, int]
    roofline: Roofline | None
    remarks: tuple[Remark, ...]
    findings: tuple[Finding, ...]

    @property
    def conflicts(self) -> int:
        """Wavefronts per warp due to bank conflicts, over all accesses."""
        return sum(a.instructions * a.conflicts for a in self.accesses)

    @property
    def floor(self) -> Roofline | None:
        """The former name of `roofline`, accepted for one release."""
        return self.roofline

    _repr_mimebundle_ = LazyMethod("...support.display", __package__)  # what notebooks show

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, numbers and strings."""
        return {**plain(self), "roofline": None if self.roofline is None else self.roofline.as_json()}


def inspect(
    asm: Mapping[str, Any], metadata: Mapping[str, Any], target: CUDATarget, launch: Launch | None = None
) -> Inspection:
    """The inspection of a kernel that was compiled down to machine code; with the roofline bound of a `launch`."""
    ptx, warps = stage_of(asm, "ptx"), metadata["num_warps"]
    module = _placed(asm["ttgir"]) if "ttgir" in asm else None
    functions = {} if module is None else callees_first(module, allocated)
    shared = metadata["shared"] + metadata.get("static_shared", 0)
    registers = _registers(metadata)
    occupied = occupancy(target.gpu, registers.each, warps, shared)
    traffic = [t for function in functions for op in function.walk() for t in traffic_of(op)]
    remarks = tuple(explain(text, warps) for text in metadata.get("remarks", ()))
    code, no_sass = _sass(asm["cubin"], metadata["name"])
    return Inspection(
        kernel=metadata["name"],
        target=target.key,
        warps=warps,
        blocks=metadata["num_ctas"],
        registers=registers,
        barriers=metadata.get("barriers", 0),
        shared=shared,
        shared_limit=target.shared_memory,
        buffers=tuple(b for allocation in functions.values() for b in _buffers(allocation.buffers.values())),
        accesses=tuple(_access(t) for t in traffic),
        instructions=count_instructions(ptx),
        mix=instruction_mix(code),
        memory=tuple(memory_by_width(code)),
        no_sass=no_sass,
        in_flight=in_flight(ptx),
        partitions=() if module is None else tuple(_partitions(module, ptx)),
        occupancy=occupied,
        limits=ctas_by_limit(target.gpu, registers.each, warps, shared),
        roofline=None if launch is None else roofline_of(launch, asm, peak_rates_of(target.capability)),
        remarks=remarks,
        findings=(
            *findings_of_resources(module, registers, occupied, remarks, code, str(asm.get("llir", ""))),
            *findings_of_accesses(a for function in functions for a in global_accesses(function)),
            *findings_of_conflicts(traffic),
        ),
    )


def _registers(metadata: Mapping[str, Any]) -> Registers:
    names = ("n_spills", "spill_stores", "spill_loads", "stack_size")
    limit = NvidiaGPU.register_limit(metadata["num_warps"])
    return Registers(metadata.get("n_regs", 0), limit, *(metadata.get(name, 0) for name in names))


def _sass(cubin: bytes, kernel: str) -> tuple[list[Instruction], str]:
    """The machine code of a kernel, or why there is none to read."""
    try:
        return instructions_of(cubin, kernel)[kernel], ""
    except ToolMissing as error:
        return [], str(error)


def _placed(text: str) -> Operation:
    """The module with allocated shared memory, as lowering sees it."""
    module = parse_module(text, "kernel.ttgir")
    run_pipeline(module, LOWERING, stage="llir")
    return module


def _place(op: Operation) -> str:
    at = op.loc.user_position()
    return "" if at is None else at.text(folder=False)


def _buffers(placed: Iterable[Any]) -> list[Buffer]:
    found = []
    for buffer in sorted(placed, key=lambda b: (b.offset, b.size)):
        op = buffer.op
        tile, stages = "", 1
        if is_shared_alloc(op):
            ty = op.results[0].type
            tile, stages = _tile(ty), stages_of(ty)
        found.append(Buffer(op.name, _place(op), tile, buffer.size, buffer.offset, stages))
    return found


def _tile(ty: Any) -> str:
    """`128x64xf16` of a buffer's type, and its layout's kind."""
    shape = "x".join(map(str, ty.shape[len(ty.shape) - ty.encoding.rank :]))
    return f"{shape}x{ty.element} {str(ty.encoding).partition('<')[0].rpartition('.')[2]}"


def _access(t: Traffic) -> Access:
    looped = enclosing_loop(t.op) is not None
    return Access(t.op.name, _place(t.op), t.instruction, t.instructions, t.wavefronts, t.conflicts, looped)


def _around(op: Operation) -> Iterable[Operation]:
    parent = op.parent_op
    while parent is not None:
        yield parent
        parent = parent.parent_op


def _partitions(module: Operation, ptx: str) -> Iterable[Partition]:
    """The warps of each `ttg.warp_specialize`, with the requested registers."""
    for op in module.walk():
        if not isinstance(op, WarpSpecialize):
            continue
        default = module.attributes.get("ttg.num-warps")
        registers = getattr(op.attributes.get("actualRegisters"), "values", ())
        warps = [default.value if isinstance(default, IntegerAttr) else 0, *op.partitionNumWarps]
        names = ["default", *(f"partition{i}" for i in range(len(warps) - 1))]
        moved = bool(register_moves(ptx))
        for i, (name, n) in enumerate(zip(names, warps)):
            yield Partition(name, n, registers[i] if moved and i < len(registers) else 0)
