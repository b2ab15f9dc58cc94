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

from ...hardware.nvidia import NvidiaGPU
from ...hardware.nvidia_features import Feature
from ...ir import Operation, Type
from ...support import InternalError, Location, UnsupportedOperation
from ...support.dataclasses import dataclass, field
from ..llvm import module as llvm_module
from ..llvm.emitter import Emitter
from ..lowerings import LoweringFunction

__all__ = ["SHARED_ALIGNMENT", "GlobalAccess", "ModuleContext", "TargetInfo", "ThreadEmitter", "Warps", "require"]


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
    global memory that a launch provides for each program. `high_register_pressure`: dot accumulators leave so few
    registers that addresses are rematerialized, not kept live. `loads_limit_occupancy`: loads in flight are worth more
    registers than occupancy. `has_wgmma`: a function of the module has a WGMMA. `mergeable_accesses`: LLVM's
    load/store vectorizer might merge accesses to global memory.
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
    loads_limit_occupancy: bool = False
    has_wgmma: bool = False
    mergeable_accesses: bool = False

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
    def gpu(self) -> NvidiaGPU:
        """The NVIDIA GPU that is compiled for; InternalError on other targets, where no lowering may ask."""
        return self.target.nvidia_gpu()

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

    def conditional(self, name: str) -> None:
        """Start a basic block of a few instructions that compute no positions; `continue_at` follows it."""
        super().label(name)

    def continue_at(self, name: str, before: str) -> None:
        """Start a basic block that `before`, the block before a conditional one, dominates: what was known of values
        there is known."""
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
        self.target.check_assembly(self.current)
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

    def barrier(self, global_memory: bool = False) -> None:
        """Wait for all threads that run what is lowered; what they wrote to shared memory is seen after it, and what
        they wrote to `global_memory` if that is asked for."""
        self.target.barrier(self, global_memory)

    def cluster_barrier(self, relaxed: bool = False) -> None:
        """Wait for all threads of all CTAs of the cluster; what they wrote is seen after it, unless `relaxed`."""
        self.target.cluster_barrier(self, relaxed)


def require(e: ThreadEmitter, op: Operation, feature: Feature, of: str = "") -> None:
    """Refuse an operation, `of` some types, whose instruction the GPU does not have."""
    gpu = e.module.gpu
    if not gpu.has(feature):
        raise UnsupportedOperation(op, f"{of}needs {feature.requirement}; this is compiled for {gpu.name}")


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

    def note_mergeable(self, e: ThreadEmitter) -> None:
        """Note that the access is an ordinary load or store of LLVM, whose load/store vectorizer is then disabled where
        it would consider one of this size.

        That of LLVM 22 takes two addresses for the same one if their `getelementptr` agree in all but the type of the
        elements, `i16, %p, %i` and `i8, %p, %i` (llvm-project, pull request 186671). Strength reduction derives the
        second form, for a dot of `x + 32 * i + j` and `x + 16 * i + j`. What a thread can access at once is one
        instruction already, so that nothing is lost there. Addresses of shared memory are not extended to 64 bits,
        and not affected.
        """
        if 2 * self.alignment <= e.target.vectorized_bytes:
            e.module.mergeable_accesses = True

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
    #: the longest access to global memory that LLVM's load/store vectorizer makes (`getLoadStoreVecRegBitWidth`)
    vectorized_bytes: int
    #: the attribute of functions in which LLVM's load/store vectorizer must not run
    no_access_merging: ClassVar[str] = "noimplicitfloat"
    #: the FMAs of a large dot between two scheduling barriers; 0: there are none
    fmas_per_region: ClassVar[int] = 0
    #: whether buffers may be divided into partitions of shared memory
    has_partitions: ClassVar[bool] = False

    def nvidia_gpu(self) -> NvidiaGPU:
        """The machine model of an NVIDIA GPU; InternalError on others, where no lowering may ask."""
        raise InternalError(f"a lowering for {self.name} asks for the model of an NVIDIA GPU")

    def lowering_of(self, cls: type[Operation]) -> LoweringFunction | None:
        """The lowering of an operation that is this target's own; None for the shared one."""
        return None

    def word_of_bytes(self, e: ThreadEmitter, elements: Sequence[str], words: dict[tuple[str, ...], str]) -> str:
        """The i32 of four i8 operands, the first in the lowest bits; `words`: those that operands were taken from."""
        word = "poison"
        for i, element in enumerate(elements):
            word = e.op(f"insertelement <4 x i8> {word}, i8 {element}, i32 {i}")
        return e.op(f"bitcast <4 x i8> {word} to i32")

    # -- kernels --------------------------------------------------------------------------------------------------

    @abstractmethod
    def shared_alignment(self, context: ModuleContext) -> int:
        """The alignment in bytes of a CTA's shared memory."""

    @abstractmethod
    def kernel_attributes(self, context: ModuleContext) -> str:
        """The LLVM attributes of a kernel."""

    def parameter_attributes(self) -> str:
        """The attributes that LLVM gets for every parameter of a kernel."""
        return ""

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

    def reduces_warps(self, operation: str, ty: str) -> bool:
        """Whether one instruction combines "i32" or "float" over all lanes by an operation such as "arith.addi"."""
        return False

    def reduce_warp(self, e: ThreadEmitter, operation: str, ty: str, word: str) -> str:
        """That instruction."""
        raise InternalError(f"{self.name} have no instruction that reduces a warp by {operation}")

    @abstractmethod
    def barrier(self, e: ThreadEmitter, global_memory: bool = False) -> None:
        """Synchronize the threads that run what is lowered, and order their accesses to shared memory; those to global
        memory at least where that is asked for."""

    @abstractmethod
    def uniform(self, e: ThreadEmitter, word: str) -> str:
        """An i32 operand that is equal in all lanes, so that the compiler knows it."""

    @abstractmethod
    def warp_barrier(self, e: ThreadEmitter) -> None:
        """Order accesses to shared memory among the lanes of a warp."""

    def scheduling_barrier(self, e: ThreadEmitter) -> None:  # noqa: B027
        """Divide a basic block into parts that LLVM schedules by themselves."""

    @abstractmethod
    def cluster_barrier(self, e: ThreadEmitter, relaxed: bool) -> None:
        """Synchronize all threads of a cluster."""

    # -- memory ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def global_access(self, e: ThreadEmitter, op: Operation, bits: int, count: int, stores: bool) -> GlobalAccess:
        """The access of a load or store `op` that moves `count` words of `bits`; UnsupportedOperation for a cache
        policy without an instruction."""

    @abstractmethod
    def add_shared(self, e: ThreadEmitter, address: str, condition: str) -> None:
        """Add 1 atomically to an i32 in shared memory where a condition holds."""

    @abstractmethod
    def cta_scope(self) -> str:
        """LLVM's synchronization scope of a CTA."""

    @abstractmethod
    def store_shared(self, e: ThreadEmitter, address: str, words: Sequence[str], bits: int, condition: str) -> None:
        """Store words of `bits` each side by side to shared memory where a condition holds."""

    # -- floats ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def has_fma(self, ty: Type) -> bool:
        """Whether there is a fused multiply-add of this element type."""

    @abstractmethod
    def has_min_max(self, ty: Type) -> bool:
        """Whether there are minimum and maximum of this element type."""

    @abstractmethod
    def rounds_integers_to_bf16(self) -> bool:
        """Whether an integer becomes bf16 with one rounding."""

    @abstractmethod
    def exp2(self, e: ThreadEmitter, value: str) -> str:
        """2 ** value of f32, approximate."""

    @abstractmethod
    def sqrt(self, e: ThreadEmitter, value: str) -> str:
        """The square root of f32, approximate."""

    @abstractmethod
    def divide(self, e: ThreadEmitter, a: str, b: str, approximate: bool = False) -> str:
        """a / b of f32 to within 2.5 units in the last place; `approximate` with a reduced range."""

    @abstractmethod
    def reciprocal(self, e: ThreadEmitter, value: str) -> str:
        """1 / value of a normal f32 whose reciprocal is normal."""

    @abstractmethod
    def directed(self, e: ThreadEmitter, op: Operation, name: str, mode: str, ty: str, a: str, b: str) -> str:
        """The operation `name` ("add") rounded as `mode` ("rm", "rp", "rz")."""

    @abstractmethod
    def function(self, e: ThreadEmitter, op: Operation, name: str, ty: str, *operands: tuple[str, str]) -> str:
        """A math function of libdevice's name without prefix and suffix ("log1p") on "float" or "double"."""

    @abstractmethod
    def library_function(
        self, e: ThreadEmitter, op: Operation, symbol: str, pure: bool, ty: str, operands: list[tuple[str, str]]
    ) -> str:
        """A function of the target's device library, or of bitcode that the user links, by its symbol."""

    def check_assembly(self, op: Operation | None) -> None:  # noqa: B027
        """UnsupportedOperation where inline assembly cannot be compiled."""

    # -- conversions ----------------------------------------------------------------------------------------------

    @abstractmethod
    def to_integer(self, e: ThreadEmitter, value: str, ty: str, signed: bool, bits: int) -> str:
        """ "float" or "double" as an integer of 32 or 64 bits, towards zero; saturates, NaN becomes 0."""

    @abstractmethod
    def narrow_double(self, e: ThreadEmitter, op: Operation | None, value: str, mode: str) -> str:
        """f64 as f32 with directed rounding."""

    @abstractmethod
    def narrow_single(self, e: ThreadEmitter, op: Operation, value: str, target: str, mode: str) -> str:
        """The bits (i16) of f32 as f16 or bf16 with directed rounding."""

    @abstractmethod
    def narrows_singles(self, target: str) -> bool:
        """Whether `narrow_single` has an instruction."""

    @property
    def native_small_floats(self) -> frozenset[str]:
        """The 8-bit floats that `narrow_floats` converts by PTX's `cvt`."""
        return frozenset()

    @abstractmethod
    def byte_permute(self, e: ThreadEmitter, word: str, selector: int) -> str:
        """Four bytes of `word` (0 to 3) or zeros (4 to 7), one per nibble of the selector, the lowest first."""

    # -- integers -------------------------------------------------------------------------------------------------

    @abstractmethod
    def long_shift(self, e: ThreadEmitter, name: str, a: str, b: str) -> str:
        """An i64 shifted by an i64 of at most 64: 0 for 64."""

    @abstractmethod
    def wide_multiply(self, e: ThreadEmitter, a: str, b: str) -> str:
        """The lower and upper half of an unsigned 32-bit multiplication, as {i32, i32}."""
