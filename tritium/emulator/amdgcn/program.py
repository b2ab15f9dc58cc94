"""A kernel ready to execute: its resources, and its code in segments.

A segment is a run of instructions that ends with a branch, a barrier, or before a label. Segments are built when they
are first reached.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import AssemblyError, LaunchError, UnknownInstruction
from ..memory import LOCAL_WINDOW, SHARED_WINDOW
from ..types import Array
from . import instructions  # registers them
from .alu import build
from .assembly import INSTRUCTION_BYTES, Instruction, Module, Operand, parse
from .metadata import Metadata
from .operands import Builder, Limits
from .state import EXEC, VCC, State
from .waits import Flights, Step, waits_of

__all__ = ["Program", "Segment", "program_of"]

assert instructions

#: Where code and data of a module are, as programs see it: above every array, below the apertures of flat addresses.
CODE_BASE = 1 << 49
_BRANCHES = ("s_branch", "s_setpc_b64", "s_swappc_b64", "s_endpgm", "s_endpgm_saved", "s_barrier", "s_call_b64")
_APERTURES = {
    "src_shared_base": SHARED_WINDOW >> 32,
    "src_shared_limit": 0xFFFFFFFF,
    "src_private_base": LOCAL_WINDOW >> 32,
    "src_private_limit": 0xFFFFFFFF,
}


class Segment(NamedTuple):
    """Steps, what the wait check needs of each instruction, and how the segment ends.

    `end` is "next", "branch", "barrier" or "exit"; `condition` says which waves branch, to the instruction `target`, or
    to what `register` holds.
    """

    first: int
    last: int  # the index after its last instruction
    steps: tuple[tuple[Instruction, Callable[[State], None]], ...]
    checks: tuple[Step, ...]
    end: str
    condition: Callable[[State], Array] | None = None
    target: int = 0
    register: int | None = None
    link: int | None = None


class Program:
    """A kernel of a module. `generation` is 9 for gfx90a and gfx942, 11 for gfx11."""

    def __init__(self, module: Module, name: str) -> None:
        self.module, self.name = module, name
        self.descriptor = module.descriptors[name]
        self.metadata = module.metadata.get(name, Metadata((), {}))
        self.generation = _generation(module.architecture)
        self.lanes = 32 if self.number("wavefront_size32") else 64
        self.kernarg_size = self.number("kernarg_size")
        self.lds_size = self.number("group_segment_fixed_size")
        self.scratch_size = self.number("private_segment_fixed_size")
        self.segments: dict[int, Segment] = {}
        self.flights = Flights(self.generation)
        self.data = np.frombuffer(bytes(module.data), np.uint8).copy()
        vectors, accumulators = self.allocated()
        self.vectors, self.accumulators = vectors, accumulators
        self.limits = Limits(self.generation, self.lanes, vectors, accumulators, self.symbol, CODE_BASE)
        self.starts = {0, *module.labels.values()}
        self.entry = self.entry_point()
        for field in ("float_round_mode_32", "float_round_mode_16_64"):
            if self.number(field):
                raise LaunchError(f"{name}: {field} is not 0: only rounding to nearest even is supported")

    def number(self, field: str, default: int = 0) -> int:
        """A directive of the kernel descriptor, by its name without `.amdhsa_`."""
        text = self.descriptor.get(field)
        if text is None:
            return default
        try:
            return int(text, 0)
        except ValueError:
            return self.module.constants.get(text, default)

    def allocated(self) -> tuple[int, int]:
        """(vector registers, accumulation registers) that the kernel allocates."""
        total = self.number("next_free_vgpr", 256)
        if self.generation != 9:
            return total, 0
        offset = self.number("accum_offset", total)
        return (min(total, offset), max(total - offset, 0)) if total > offset else (offset, 0)

    @property
    def lds_granule(self) -> int:
        """The bytes of the smallest access to LDS in the module."""
        names = {i.name for i in self.module.instructions if i.name.startswith(("ds_", "flat_"))}
        if any(re.search("_(u8|i8|b8|[us]byte|byte)", name) for name in names):
            return 1
        return 2 if any(re.search("_(u16|i16|b16|[us]?short)", name) for name in names) else 4

    @property
    def sets_priorities(self) -> bool:
        """Whether the module sets priorities of waves."""
        return any(i.name == "s_setprio" for i in self.module.instructions)

    def entry_point(self) -> int:
        """The first instruction. Firmware that preloads arguments enters 256 bytes after the kernel's label."""
        labels = self.module.labels
        if self.name not in labels:
            raise AssemblyError(f"{self.name}: the text has no code for the kernel")
        first = labels[self.name]
        if self.number("user_sgpr_kernarg_preload_length"):
            return next((at for at in self.module.aligned if at > first), first)
        return first

    def symbol(self, op: Operand, i: Instruction) -> int:
        """The value of a symbol operand: a constant, a label relative to the instruction, an aperture."""
        module, name = self.module, op.name
        if name in _APERTURES:
            return _APERTURES[name] << 32 if name.endswith("base") else _APERTURES[name]
        if name in module.constants and op.kind == "word":
            return module.constants[name]
        if name in module.lds or op.half.startswith("abs32"):
            return self.lds_offset(name, i) + int(op.value)
        address = self.address(name)
        if address is None:
            raise AssemblyError(f"{i.name}: unknown operand {name!r}", i)
        if op.half.startswith(("rel32", "gotpcrel32")):
            value = address + int(op.value) - (CODE_BASE + i.address + 4)
            return value >> 32 & 0xFFFFFFFF if op.half.endswith("hi") else value & 0xFFFFFFFF
        return address

    def lds_offset(self, name: str, i: Instruction) -> int:
        """Where a variable is in LDS: in order of declaration; one without a size follows the kernel's static ones."""
        offset = 0
        for other, (size, alignment) in self.module.lds.items():
            offset = -(-offset // alignment) * alignment
            if other == name:
                return offset if size else -(-self.lds_size // alignment) * alignment
            offset += size
        raise AssemblyError(f"{i.name}: {name} is no variable in LDS", i)

    def address(self, name: str) -> int | None:
        """The address of a label."""
        if name in self.module.labels:
            return CODE_BASE + self.module.labels[name] * INSTRUCTION_BYTES
        if name in self.module.symbols:
            return int(self.data.ctypes.data) + self.module.symbols[name]
        return None

    # -- segments ------------------------------------------------------------------------------------------------------

    def segment(self, first: int) -> Segment:
        """The segment that begins at an instruction."""
        found = self.segments.get(first)
        if found is None:
            found = self.segments[first] = self.build(first)
        return found

    def build_reachable(self) -> None:
        """Build all code that branches reach, so that unknown instructions are errors before anything runs."""
        pending = [self.entry]
        while pending:
            at = pending.pop()
            if at in self.segments:
                continue
            segment = self.segment(at)
            if segment.end in ("next", "barrier") or segment.condition is not None or segment.link is not None:
                pending.append(segment.last)
            if segment.end == "branch" and segment.register is None:
                pending.append(segment.target)

    def build(self, first: int) -> Segment:
        code = self.module.instructions
        steps: list[tuple[Instruction, Callable[[State], None]]] = []
        checks: list[Step] = []
        at = first
        while True:
            if at >= len(code):
                raise AssemblyError(f"{self.name}: the code has no end", code[-1] if code else None)
            i = code[at]
            if i.name in _BRANCHES or i.name.startswith("s_cbranch"):
                return self.ended(first, at, i, steps, checks)
            b = Builder(i, self.limits)
            action = build(i, b)
            steps.append((i, action.run))
            waits = waits_of(i, self.generation)
            checks.append(Step(i, frozenset(b.reads), frozenset(b.writes), action.event, waits))
            at += 1
            if at in self.starts:
                return Segment(first, at, tuple(steps), tuple(checks), "next")

    def ended(
        self,
        first: int,
        at: int,
        i: Instruction,
        steps: list[tuple[Instruction, Callable[[State], None]]],
        checks: list[Step],
    ) -> Segment:
        """A segment that the instruction `at` ends."""
        reads: set[int] = set()
        end, condition, target, register, link = "branch", None, 0, None, None
        if i.name in ("s_endpgm", "s_endpgm_saved"):
            end = "exit"
        elif i.name == "s_barrier":
            end = "barrier"
        elif i.name in ("s_setpc_b64", "s_swappc_b64"):
            register = i.operands[-1].number
            reads = {register, register + 1}
            link = i.operands[0].number if i.name == "s_swappc_b64" else None
        else:
            link = i.operands[0].number if i.name == "s_call_b64" else None
            target = self.target(i)
            condition = _condition(i, self.lanes, reads)
        checks.append(Step(i, frozenset(reads), frozenset(), None, None))
        return Segment(first, at + 1, tuple(steps), tuple(checks), end, condition, target, register, link)

    def target(self, i: Instruction) -> int:
        name = i.operands[-1].name
        if name not in self.module.labels:
            raise AssemblyError(f"{i.name}: unknown label {name!r}", i)
        return self.module.labels[name]


def _condition(i: Instruction, lanes: int, reads: set[int]) -> Callable[[State], Array] | None:
    """Which waves branch."""
    if i.name in ("s_branch", "s_call_b64"):
        return None
    which = i.name.removeprefix("s_cbranch_")
    if which in ("scc0", "scc1"):
        wanted = which == "scc1"
        return lambda s: s.scc[s.at] == wanted
    for name, register in (("vcc", VCC), ("exec", EXEC)):
        if which in (f"{name}z", f"{name}nz"):
            wanted = which.endswith("nz")
            words = lanes // 32
            reads.update(range(register, register + words))
            return lambda s: s.scalars[register : register + words, s.at].any(axis=0) == wanted
    raise UnknownInstruction(f"the emulator has no {i.name}", i)


def _generation(architecture: str) -> int:
    if architecture.startswith("gfx11"):
        return 11
    if architecture in ("gfx90a", "gfx940", "gfx941", "gfx942"):
        return 9
    raise LaunchError(f"the emulator has gfx942 and gfx11, not {architecture or 'a target without a name'}")


@functools.lru_cache(maxsize=64)
def program_of(text: str, name: str | None) -> Program:
    """The kernel of a text; its only one without a name."""
    module = parse(text)
    kernels = list(module.descriptors)
    if name is None:
        if len(kernels) != 1:
            raise LaunchError(f"the text has {len(kernels)} kernels ({', '.join(kernels)}): say which with name=")
        name = kernels[0]
    if name not in module.descriptors:
        raise LaunchError(f"the text has no kernel {name}: it has {', '.join(kernels) or 'none'}")
    program = Program(module, name)
    program.build_reachable()
    return program
