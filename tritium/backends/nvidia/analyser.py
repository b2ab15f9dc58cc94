"""What a kernel for an NVIDIA GPU needs and does: memory, registers, products, copies, conflicts, occupancy.

    kernel.analysis().occupancy.limit        # "shared memory"

Three texts are read: the `ttgir` (which buffers there are, and how threads access them), the PTX (which instructions),
and what the assembler said (registers, spills, remarks). Nothing is run and no GPU is asked; counts are of the
program's text, wavefronts follow from the layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...analysis.allocation import allocated
from ...analysis.buffers import is_shared_alloc
from ...analysis.shared_traffic import Traffic, stages_of, traffic_of
from ...dialects import all as _dialects
from ...dialects import scf
from ...ir import IntegerAttr, Operation
from ...ir.parser import parse_module
from ...ir.passes import run_pipeline
from ...support.dataclasses import asdict, dataclass
from ...transforms.ttgir.allocate_shared_memory import callees_first
from ...transforms.ttgir.pipelines import LOWERING
from .instructions import Count, count_instructions, in_flight, register_moves
from .occupancy import Occupancy, occupancy, register_limit
from .remarks import Remark, explain
from .target import CUDATarget

__all__ = ["Access", "Analysis", "Buffer", "Partition", "Registers", "analyse"]

_ = _dialects  # whatever the text names


@dataclass(frozen=True)
class Registers:
    """Of a thread: what it has, the most that it could have in a block of this size, what is kept in memory instead
    (in registers, and bytes stored and loaded), and bytes of stack."""

    each: int
    limit: int
    spilled: int
    stack: int


@dataclass(frozen=True)
class Buffer:
    """A piece of shared memory: `stages` tiles of type `tile` behind each other, or what an operation needs inside."""

    name: str
    place: str
    tile: str
    bytes: int
    offset: int
    stages: int


@dataclass(frozen=True)
class Access:
    """How the threads of a warp access shared memory for one operation: `instructions` of `wavefronts` each, of which
    `conflicts` are for bank conflicts. `looped`: it stands in a loop."""

    name: str
    place: str
    instruction: str
    instructions: int
    wavefronts: int
    conflicts: int
    looped: bool


@dataclass(frozen=True)
class Partition:
    """Warps that have a program of their own: how many, and the registers of their threads (0: as they start)."""

    name: str
    warps: int
    registers: int


@dataclass(frozen=True)
class Analysis:
    """Everything that is known of a compiled kernel; `as_json` has it as plain values.

    `instructions` are counted by group (see `instructions.GROUPS`), `in_flight` says how many groups of copies and
    products the waits in loops leave unfinished.
    """

    kernel: str
    target: str
    warps: int
    blocks: int
    registers: Registers
    shared: int
    shared_limit: int
    buffers: tuple[Buffer, ...]
    accesses: tuple[Access, ...]
    instructions: dict[str, list[Count]]
    in_flight: dict[str, int]
    partitions: tuple[Partition, ...]
    occupancy: Occupancy
    remarks: tuple[Remark, ...]

    @property
    def conflicts(self) -> int:
        """Wavefronts of a warp for bank conflicts, over all accesses."""
        return sum(a.instructions * a.conflicts for a in self.accesses)

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, numbers and texts."""
        plain: dict[str, Any] = asdict(self)
        for name in ("occupancy",):
            plain[name] = getattr(self, name)._asdict()
        plain["remarks"] = [remark._asdict() for remark in self.remarks]
        plain["instructions"] = {g: [c._asdict() for c in counts] for g, counts in self.instructions.items()}
        return plain


def analyse(asm: Mapping[str, Any], metadata: Mapping[str, Any], target: CUDATarget) -> Analysis:
    """The analysis of a kernel that was compiled down to machine code."""
    ptx, warps = asm["ptx"], metadata["num_warps"]
    module = _placed(asm["ttgir"]) if "ttgir" in asm else None
    functions = {} if module is None else callees_first(module, allocated)
    registers = metadata.get("n_regs", 0)
    shared = metadata["shared"] + metadata.get("static_shared", 0)
    return Analysis(
        kernel=metadata["name"],
        target=target.key,
        warps=warps,
        blocks=metadata["num_ctas"],
        registers=Registers(
            registers, register_limit(warps), metadata.get("n_spills", 0), metadata.get("stack_size", 0)
        ),
        shared=shared,
        shared_limit=target.shared_memory,
        buffers=tuple(b for allocation in functions.values() for b in _buffers(allocation.buffers.values())),
        accesses=tuple(a for function in functions for a in _accesses(function)),
        instructions=count_instructions(ptx),
        in_flight=in_flight(ptx),
        partitions=() if module is None else tuple(_partitions(module, ptx)),
        occupancy=occupancy(target.capability, registers, warps, shared),
        remarks=tuple(explain(text) for text in metadata.get("remarks", ())),
    )


def _placed(text: str) -> Operation:
    """The module with its places in shared memory, as lowering sees it."""
    module = parse_module(text, "kernel.ttgir")
    run_pipeline(module, LOWERING, stage="llir")
    return module


def _place(op: Operation) -> str:
    at = op.loc.file_position()
    return "" if at is None else f"{at.file.rpartition('/')[2]}:{at.line}"


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


def _accesses(function: Operation) -> list[Access]:
    return [_access(t) for op in function.walk() for t in traffic_of(op)]


def _access(t: Traffic) -> Access:
    looped = any(isinstance(op, (scf.For, scf.While)) for op in _around(t.op))
    return Access(t.op.name, _place(t.op), t.instruction, t.instructions, t.wavefronts, t.conflicts, looped)


def _around(op: Operation) -> Iterable[Operation]:
    parent = op.parent_op
    while parent is not None:
        yield parent
        parent = parent.parent_op


def _partitions(module: Operation, ptx: str) -> Iterable[Partition]:
    """The warps of each `ttg.warp_specialize`, with the registers that were asked for."""
    for op in module.walk():
        if op.name != "ttg.warp_specialize":
            continue
        default = module.attributes.get("ttg.num-warps")
        registers = getattr(op.attributes.get("actualRegisters"), "values", ())
        warps = [default.value if isinstance(default, IntegerAttr) else 0, *op.partitionNumWarps]
        names = ["default", *(f"partition{i}" for i in range(len(warps) - 1))]
        moved = bool(register_moves(ptx))
        for i, (name, n) in enumerate(zip(names, warps)):
            yield Partition(name, n, registers[i] if moved and i < len(registers) else 0)
