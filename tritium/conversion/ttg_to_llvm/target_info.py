"""The target of a lowering as one value: `TargetInfo`, and what its hooks may use of the function being lowered.

Lowerings that all targets share write plain LLVM IR, and ask `e.target` for instructions that differ: program and
thread IDs, shuffles, barriers, predicated accesses, approximate math. `nvidia/target` and `amd/target` implement it.
Operations that one target alone has, and those whose lowering differs as a whole, are in the folder of that target
(`TargetInfo.lowering_of`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ...ir import Operation
from ...support import InternalError, Location
from ...support.dataclasses import dataclass, field
from ..llvm import module as llvm_module
from ..llvm.emitter import Emitter
from ..lowerings import LoweringFunction

__all__ = ["SHARED_ALIGNMENT", "GlobalAccess", "ModuleContext", "TargetInfo", "ThreadEmitter", "Warps"]


SHARED_ALIGNMENT = 1024
"""Bytes: the alignment of a CTA's shared memory where swizzled rows of 128 bytes depend on it."""


@dataclass(frozen=True)
class Warps:
    """The warps that run what is lowered: `count` of them, which meet at the `barrier` of this number of their block.

    `alone`: no other warps are in the block.
    """

    count: int
    barrier: int = 0
    alone: bool = True


@dataclass
class ModuleContext(llvm_module.ModuleContext):
    """The `target` a module is for, `num_warps` of a function, `num_ctas` of a cluster.

    `total_warps` are those of a block, where there are more for the partitions of `ttg.warp_specialize`; `registers`
    is what a thread may have when a kernel begins, where something limits it. `debug` makes source locations, None
    where none are wanted; `texts` are the constants that are texts, by symbol; `global_scratch` counts the bytes of
    global memory that a launch provides for each program. `high_register_pressure`: dot
    accumulators leave so few registers that addresses are rematerialized, not kept live.
    """

    target: TargetInfo
    num_warps: int = 4
    total_warps: int = 0
    registers: int | None = None
    num_ctas: int = 1
    debug: Any = None
    texts: dict[str, str] = field(default_factory=dict)
    global_scratch: int = 0
    high_register_pressure: bool = False

    @property
    def warps(self) -> Warps:
        """Those that run a function, but for its partitions."""
        return Warps(self.num_warps, alone=self.total_warps <= self.num_warps)

    @property
    def most_registers(self) -> int:
        """Of 32 bits, that a thread can have where a block has so many warps, if there is nothing else to limit it."""
        return self.target.registers // (self.warp_size * max(self.num_warps, self.total_warps))

    @property
    def warp_size(self) -> int:
        """Threads of a warp."""
        return self.target.warp_size

    @property
    def capability(self) -> int:
        """The SM version (90 for sm_90); InternalError on other targets."""
        return self.target.sm_version()

    def debug_location(self, loc: Location) -> str:
        """What is written behind the instructions of an operation at `loc`: `, !dbg !7` or nothing."""
        return "" if self.debug is None else self.debug.at(loc)  # type: ignore[no-any-return]


class ThreadEmitter(Emitter):
    """The emitter of what one thread does: instructions, calls, inline assembly, and the operands that say which thread
    this is (`lane` of a warp, `warp`, both together as `thread`, and `block_id` of a cluster)."""

    __slots__ = (
        "block_id",
        "current",
        "debug",
        "lane",
        "module",
        "specialization",
        "target",
        "thread",
        "warp",
        "warps",
    )

    def __init__(self, module: ModuleContext, block_id: str = "0") -> None:
        super().__init__()
        self.module, self.target = module, module.target
        self.lane, self.warp, self.thread, self.block_id = "%lane", "%warp", "%thread", block_id
        self.warps = module.warps
        self.specialization: Any = None  # see `warp_specialize`
        self.debug = ""  # `, !dbg !7` behind every instruction
        self.current: Operation | None = None  # what is being lowered

    @property
    def num_warps(self) -> int:
        """How many warps run what is lowered."""
        return self.warps.count

    def op(self, text: str) -> str:
        """Emit `%tN = text`, with the source location of the operation that is being lowered."""
        return super().op(text + self.debug)

    def stmt(self, text: str) -> None:
        """Emit an instruction without a result, the same way."""
        super().stmt(text + self.debug)

    def continue_at(self, name: str) -> None:
        """Start a basic block that the current one dominates: what is known of values stays so."""
        super().label(name)

    # -- instructions ---------------------------------------------------------------------------------------------

    def call(self, result: str, function: str, *operands: tuple[str, str], attributes: str = "") -> str:
        """Call an external function or intrinsic on (type, operand) pairs, declaring it; `result` is an LLVM type."""
        self.module.declare(f"declare {result} @{function}({', '.join(t for t, _ in operands)}){attributes}")
        return self.op(f"call {result} @{function}({', '.join(f'{t} {v}' for t, v in operands)})")

    def call_void(self, function: str, *operands: tuple[str, str], attributes: str = "") -> None:
        """The same for a function without a result."""
        self.module.declare(f"declare void @{function}({', '.join(t for t, _ in operands)}){attributes}")
        self.stmt(f"call void @{function}({', '.join(f'{t} {v}' for t, v in operands)})")

    def asm(
        self,
        template: str,
        constraints: str,
        operands: Sequence[tuple[str, str]],
        result: str = "void",
        side_effects: bool = True,
        attributes: str | None = None,
    ) -> str:
        """Inline PTX. `$0`, `$1`, … are results then operands, in the order of `constraints` ("=r,r,l").

        `result` is an LLVM type, a struct `{i32, i32}` for several results (take them apart with `fields`). Without
        `side_effects` LLVM may merge, move or drop it; it must not read memory then. `attributes` are those of the
        call, where they are not the usual ones: that it belongs to a whole warp, or (without effects) to no memory.
        """
        effect = "sideeffect " if side_effects else ""
        arguments = ", ".join(f"{t} {v}" for t, v in operands)
        text = template.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
        # Convergent: an instruction of a whole warp must not come to stand behind a branch that lanes take apart.
        if attributes is None:
            attributes = " #1" if side_effects else " #2"
        line = f'call {result} asm {effect}"{text}", "{constraints}"({arguments}){attributes}'
        if result == "void":
            self.stmt(line)
            return ""
        return self.op(line)

    def fields(self, struct: str, value: str, count: int) -> list[str]:
        """The fields of a struct operand."""
        return [self.op(f"extractvalue {struct} {value}, {i}") for i in range(count)]

    def barrier(self) -> None:
        """Wait for all threads that run what is lowered; what they wrote to shared memory is seen after it."""
        self.target.barrier(self)

    def cluster_barrier(self, relaxed: bool = False) -> None:
        """Wait for all threads of all blocks of the cluster; what they wrote is seen after it, unless `relaxed`."""
        self.target.cluster_barrier(self, relaxed)


@dataclass(frozen=True)
class GlobalAccess(ABC):
    """An access to `count` words of `bits` each in global memory, with the cache policy of its operation."""

    bits: int
    count: int

    @property
    def type(self) -> str:
        """The LLVM type of the access."""
        return f"i{self.bits}" if self.count == 1 else f"<{self.count} x i{self.bits}>"

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.bits * self.count // 8

    @abstractmethod
    def load(self, e: ThreadEmitter, address: str, mask: str | None, others: Sequence[str]) -> list[str]:
        """The words at an address; where the i1 operand `mask` is false `others`, operands or decimal integers."""

    @abstractmethod
    def store(self, e: ThreadEmitter, address: str, values: Sequence[str], mask: str | None) -> None:
        """Store words where `mask` holds."""

    def _elements(self, e: ThreadEmitter, whole: str) -> list[str]:
        """The words of one value of `type`."""
        if self.count == 1:
            return [whole]
        return [e.op(f"extractelement {self.type} {whole}, i32 {i}") for i in range(self.count)]

    def _whole(self, e: ThreadEmitter, values: Sequence[str]) -> str:
        """Words as one value of `type`."""
        if self.count == 1:
            return values[0]
        whole = "poison"
        for i, v in enumerate(values):
            whole = e.op(f"insertelement {self.type} {whole}, i{self.bits} {v}, i32 {i}")
        return whole


class TargetInfo(ABC):
    """The instructions of one target that lowerings of all targets ask for.

    Hooks take the emitter of the function first. Operands are LLVM's, i1 for conditions; types are LLVM's as text.
    """

    #: in messages: "on NVIDIA GPUs"
    name: ClassVar[str]
    #: LLVM's target triple
    triple: ClassVar[str]
    #: the calling convention of kernels
    kernel_convention: ClassVar[str]
    #: 32-bit registers that all threads of a CTA can have together
    registers: ClassVar[int]
    #: threads of a warp
    warp_size: int

    def sm_version(self) -> int:
        """The compute capability of an NVIDIA GPU, times ten; InternalError on others, where no lowering may ask."""
        raise InternalError(f"a lowering for {self.name} asks for an SM version")

    def lowering_of(self, cls: type[Operation]) -> LoweringFunction | None:
        """The lowering of an operation that is this target's own; None for the shared one."""
        return None

    def refusal(self, op: Operation) -> str | None:
        """Why an operation cannot be lowered for this target although a shared lowering exists; None if it can."""
        return None

    # -- kernels --------------------------------------------------------------------------------------------------

    @abstractmethod
    def shared_alignment(self, context: ModuleContext) -> int:
        """The alignment in bytes of a CTA's shared memory."""

    @abstractmethod
    def kernel_attributes(self, context: ModuleContext) -> str:
        """The LLVM attributes of a kernel."""

    def module_flags(self, context: ModuleContext) -> list[str]:
        """Lines of metadata at the end of the module."""
        return []

    @abstractmethod
    def thread_ids(self, context: ModuleContext) -> list[str]:
        """The lines that define %thread, %lane, %warp, and in a cluster %block."""

    @abstractmethod
    def program_id(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """The position of this program along an axis; `anew`: read again, not a common subexpression."""

    @abstractmethod
    def num_programs(self, e: ThreadEmitter, axis: int, anew: bool = False) -> str:
        """The number of programs along an axis."""

    @abstractmethod
    def reload_thread_id(self, e: ThreadEmitter) -> str:
        """The thread's ID in its CTA, not a common subexpression of %thread."""

    @abstractmethod
    def opaque(self, e: ThreadEmitter, value: str) -> str:
        """An i64 operand that LLVM cannot relate to `value`, and so cannot hoist with it."""

    # -- threads of a warp and of a CTA ---------------------------------------------------------------------------

    @abstractmethod
    def shuffle(self, e: ThreadEmitter, kind: str, word: str, argument: str) -> str:
        """The i32 `word` of another lane: `kind` is "bfly" (lane ^ argument), "idx" (lane argument), "up" (lane -
        argument) or "down" (lane + argument); without such a lane a lane gets its own."""

    @abstractmethod
    def barrier(self, e: ThreadEmitter) -> None:
        """Synchronize the threads that run what is lowered, and order their accesses to shared memory."""

    @abstractmethod
    def uniform(self, e: ThreadEmitter, word: str) -> str:
        """An i32 operand that is equal in all lanes, so that the compiler knows it."""

    @abstractmethod
    def warp_barrier(self, e: ThreadEmitter) -> None:
        """Order accesses to shared memory among the lanes of a warp."""

    @abstractmethod
    def cluster_barrier(self, e: ThreadEmitter, relaxed: bool) -> None:
        """Synchronize all threads of a cluster."""

    # -- memory ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def global_access(self, e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> GlobalAccess:
        """The access of a load or store `op` that moves `count` words of `bits`; UnsupportedOperation for a cache
        policy without an instruction."""

    @abstractmethod
    def store_shared(self, e: ThreadEmitter, address: str, words: Sequence[str], bits: int, condition: str) -> None:
        """Store words of `bits` each side by side to shared memory where a condition holds."""
