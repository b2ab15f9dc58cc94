"""What passes may assume of an operation: traits (bits of `Op.traits`), and interfaces to memory and of dots.

Passes ask for these, never for lists of op classes, so that a new op needs no pass edited. An op implements an
interface by inheriting from it, before `Op`, and declares the facts once:

    class LocalLoad(MemoryAccess, Op, name="ttg.local_load", traits=READ):
        accesses = (Access("src", READ, Memory.SHARED),)
        src: Operand
        result: Result

Asking is `isinstance(op, MemoryAccess)`, or one of the functions below for questions that many passes have. An op
without an interface gets the conservative answer, which follows from its memory effects. Control flow has interfaces
of its own (`interfaces`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .interning import Attribute
    from .operation import Operation, OpResult, Value

__all__ = [
    "ALLOC",
    "CAST",
    "COMMUTATIVE",
    "CONSTANT",
    "DEBUG",
    "EXTENDS",
    "ELEMENTWISE",
    "IDEMPOTENT",
    "INVOLUTION",
    "ISOLATED",
    "NAMED_RESULTS",
    "NO_TERMINATOR",
    "ORDERING",
    "PURE",
    "READ",
    "REMATERIALIZABLE",
    "REPEATS",
    "REARRANGES",
    "RECURSIVE_EFFECTS",
    "RETURN_LIKE",
    "SAME_TYPE",
    "SINGLE_BLOCK",
    "SYMBOL",
    "SYMBOL_TABLE",
    "TERMINATOR",
    "TRAPS",
    "WRITE",
    "Access",
    "BufferAccess",
    "Completion",
    "DescriptorAccess",
    "DotLike",
    "Memory",
    "MemoryAccess",
    "PlainLoad",
    "PointerAccess",
    "ViewLike",
    "WaitLike",
    "accessed_values",
    "has_trait",
    "is_atomic",
    "is_buffer_load",
    "is_buffer_store",
    "is_descriptor_load",
    "is_descriptor_store",
    "is_global_load",
    "is_pointer_load",
    "is_pointer_store",
    "is_pure",
    "is_register_dot",
    "is_tensor_dot",
    "is_tma_copy",
    "memory_effects",
]

# -- traits -------------------------------------------------------------------------------------------------------

PURE = 1 << 0  # no effect, may be duplicated, moved and removed (and speculated, unless TRAPS)
COMMUTATIVE = 1 << 1
ELEMENTWISE = 1 << 2  # acts per element; operands and results have one shape (scalars included)
SAME_TYPE = 1 << 3  # all operands and results have one type
TERMINATOR = 1 << 4  # ends its block
ISOLATED = 1 << 5  # regions use no value from outside
SYMBOL = 1 << 6  # has a `sym_name`
SYMBOL_TABLE = 1 << 7  # holds symbols
CONSTANT = 1 << 8  # its `value` attribute is its result
READ = 1 << 9  # reads memory
WRITE = 1 << 10  # writes memory, or has another effect that must stay in order
ALLOC = 1 << 11  # makes fresh memory
RECURSIVE_EFFECTS = 1 << 12  # its effects are those of the ops in its regions
SINGLE_BLOCK = 1 << 13  # every region has at most one block
NO_TERMINATOR = 1 << 14  # blocks of its regions end without a terminator
IDEMPOTENT = 1 << 16  # f(f(x)) = f(x)
INVOLUTION = 1 << 17  # f(f(x)) = x
RETURN_LIKE = 1 << 18  # passes its operands to the parent operation
TRAPS = 1 << 19  # may stop the program for some operands (integer division): must not run where it did not before
DEBUG = 1 << 21  # its effect is on no memory, but can be observed: output, or the end of the program
ORDERING = 1 << 22  # its effect is to order, group or await accesses of the thread that runs it
REARRANGES = 1 << 23  # every element of a result is an element of an operand; its index follows from the types
REPEATS = 1 << 24  # as REARRANGES, of one operand, whose elements may be repeated
EXTENDS = 1 << 25  # each element is that of the operand, exactly, in a type with more bits
CAST = 1 << 26  # each element is that of the operand in another type
REMATERIALIZABLE = 1 << 27  # of indices: cheaper to compute again than to keep in registers
NAMED_RESULTS = 1 << 20  # several declared results, which text calls as the definition does (set by the definition)


def has_trait(op: Any, trait: int) -> bool:
    """True when all bits of `trait` are set on the op's class."""
    return op.traits & trait == trait


def memory_effects(op: Any) -> int:
    """READ, WRITE, ALLOC bits; an op that says nothing is taken to read and write. No PURE one has an `effects`."""
    override = getattr(op, "effects", None)
    if override is not None:
        return override
    traits = op.traits
    if traits & (PURE | CONSTANT):
        return 0
    bits = traits & (READ | WRITE | ALLOC)
    if traits & RECURSIVE_EFFECTS:
        for region in op.regions:
            for block in region.blocks:
                for inner in block:
                    if not inner.traits & (PURE | CONSTANT):
                        bits |= memory_effects(inner)
        return bits
    if bits or traits & TERMINATOR:
        return bits
    return READ | WRITE


def is_pure(op: Any) -> bool:
    """True when the op has no memory effect, nested ones included."""
    return bool(op.traits & PURE) or memory_effects(op) == 0


# -- interfaces ---------------------------------------------------------------------------------------------------


class ViewLike:
    """The result is a view of the memory of one operand: it aliases it, and nothing moves."""

    __slots__ = ()

    operands: list[Value]

    @property
    def view_source(self) -> Value:
        """The operand whose memory the result aliases; operand 0 unless the op says otherwise."""
        return self.operands[0]


class Memory(enum.Enum):
    """A kind of memory on the device."""

    GLOBAL = "global"
    SHARED = "shared"
    TENSOR = "tensor"


class Completion(enum.Enum):
    """The mechanism that tells when an asynchronous operation has finished."""

    MBARRIER = "mbarrier"
    COPY_GROUP = "groups of asynchronous copies by threads"
    BULK_GROUP = "groups of bulk copies out of shared memory"
    WGMMA_GROUP = "groups of WGMMAs"


class Access:
    """One access of a `MemoryAccess`: the memory reached through the field `name`, an operand or a result.

    `effects` are READ and WRITE bits. Atomic updates whose order does not matter (arrivals at an mbarrier) are
    declared as reads: two of them are no hazard. `async_proxy`: the access goes through the async proxy, so that it
    needs a fence after ordinary writes (PTX ISA 8.7, section 8.5.2).
    """

    __slots__ = ("async_proxy", "effects", "memory", "name")

    def __init__(self, name: str, effects: int, memory: Memory, async_proxy: bool = False) -> None:
        self.name = name
        self.effects = effects
        self.memory = memory
        self.async_proxy = async_proxy

    def values(self, op: object) -> tuple[Value, ...] | list[Value]:
        """The values of the field; none where an optional operand is absent."""
        found = getattr(op, self.name)
        if found is None:
            return ()
        return found if isinstance(found, list) else (found,)

    def __repr__(self) -> str:
        return f"Access({self.name!r}, {self.effects}, {self.memory.name}, {self.async_proxy})"


class MemoryAccess:
    """The op accesses memory through operands (or makes a buffer and fills it), as `accesses` tells.

    `completes`: the op only starts its accesses, and this is how their completion is observed; None for an op whose
    accesses are done when the next one runs. `atomic`: it reads and writes each element in one step, or is ordered
    with respect to such accesses of other threads. `vectorized`: all tensors have one layout, by which an instruction
    may access several adjacent elements.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # class attributes, or properties where they depend on the op
        barrier: Value
        traits: int

        @property
        def accesses(self) -> tuple[Access, ...]: ...
        @property
        def completes(self) -> Completion | None: ...
    else:
        accesses = ()
        completes = None
    atomic: ClassVar[bool] = False
    vectorized: ClassVar[bool] = False

    @property
    def releases(self) -> bool:
        """True when a thread that observes the write of this op also observes what its CTA accessed before."""
        return False

    @property
    def completion_barrier(self) -> Value:
        """The mbarrier that tracks completion, for an op with `completes = Completion.MBARRIER`."""
        return self.barrier


class PointerAccess(MemoryAccess):
    """Each thread accesses the elements that `pointer` points to, where `mask`; a scalar or a tensor of pointers.

    `vectorized`: an instruction may access several adjacent elements, so that the layout of the pointers matters.
    """

    __slots__ = ()

    vectorized: ClassVar[bool] = True

    operands: list[Value]

    @property
    def pointer(self) -> Value:
        """The operand that holds the addresses: operand 0."""
        return self.operands[0]

    @property
    def stored(self) -> Value:
        """The values that a store writes: operand 1."""
        return self.operands[1]

    @property
    def access_mask(self) -> Value | None:
        """The operand that predicates each element, or None."""
        return getattr(self, "mask", None)


class PlainLoad(PointerAccess):
    """result = *pointer where `access_mask`, `fallback` elsewhere.

    Anything that moves the same bytes may replace it, such as an asynchronous copy to shared memory and a load from
    there.
    """

    __slots__ = ()

    @property
    def fallback(self) -> Value | None:
        """The operand `other`; elements that are masked off are undefined without one."""
        return getattr(self, "other", None)

    @property
    def cache_policy(self) -> Attribute | None:
        """The attribute `cachePolicy`: a hint."""
        return getattr(self, "cachePolicy", None)

    @property
    def volatile(self) -> bool:
        """True where each execution must read memory."""
        return bool(getattr(self, "isVolatile", False))


class DescriptorAccess(MemoryAccess):
    """A block of the tensor that `desc` describes is loaded to, or stored from, a tensor in registers."""

    __slots__ = ()

    results: list[OpResult]

    if TYPE_CHECKING:
        desc: Value
        src: Value
        indices: list[Value]

    @property
    def offsets(self) -> list[Value]:
        """The coordinates of the block, outermost first."""
        return self.indices

    @property
    def block(self) -> Value:
        """The tensor that is loaded or stored."""
        if self.results:
            return self.results[0]
        return self.src


class BufferAccess(MemoryAccess):
    """The contents of a buffer in shared memory are loaded to, or stored from, one tensor in registers."""

    __slots__ = ()

    results: list[OpResult]

    if TYPE_CHECKING:
        src: Value
        dst: Value

    @property
    def tensor(self) -> Value:
        """The tensor."""
        return self.results[0] if self.results else self.src

    @property
    def buffer(self) -> Value:
        """The buffer."""
        return self.src if self.results else self.dst


class DotLike:
    """result = a @ b + accumulator, the accumulator optional where the op has a flag for that.

    `a`, `b` and the accumulator are the first three operands: tensors, or descriptors of buffers.
    """

    __slots__ = ()

    operands: list[Value]

    if TYPE_CHECKING:
        a: Value
        b: Value

    accumulates_in_registers: ClassVar[bool] = True
    traits: int

    @property
    def accumulator(self) -> Value:
        """The value that a @ b is added to: a tensor, or the buffer that is updated."""
        return self.operands[2]

    @property
    def scales(self) -> list[Value]:
        """The scales of `a` and `b` that the op has."""
        found = (getattr(self, name, None) for name in ("a_scale", "b_scale"))
        return [v for v in found if v is not None]


class WaitLike:
    """The op waits until asynchronous operations that complete by the mechanism `waits_for` have finished."""

    __slots__ = ()

    waits_for: ClassVar[Completion]


def accessed_values(op: Operation, effects: int = READ | WRITE, memory: Memory | None = None) -> Iterator[Value]:
    """The values through which `op` has one of `effects` on `memory` (None: any), as far as it declares accesses."""
    if isinstance(op, MemoryAccess):
        for access in op.accesses:
            if access.effects & effects and (memory is None or access.memory is memory):
                yield from access.values(op)


def is_register_dot(op: Operation | None) -> bool:
    """True for a dot whose accumulator and result are tensors in registers."""
    return isinstance(op, DotLike) and op.accumulates_in_registers


def is_tensor_dot(op: Operation | None) -> bool:
    """True for a dot of tensors, not of buffers."""
    return isinstance(op, DotLike) and bool(op.traits & PURE)


def is_atomic(op: Operation) -> bool:
    """True for an atomic access to memory."""
    return isinstance(op, MemoryAccess) and op.atomic


def _loads_to_registers(op: MemoryAccess) -> bool:
    """A plain load: results are what is read from global memory, and nothing else happens."""
    return op.traits & (READ | WRITE) == READ and any(a.memory is Memory.GLOBAL for a in op.accesses)


def is_global_load(op: Operation | None) -> bool:
    """True for an op whose results are loaded from global memory, by pointers or by a descriptor; not for atomics."""
    return isinstance(op, MemoryAccess) and _loads_to_registers(op)


def is_pointer_load(op: Operation | None) -> bool:
    """True for an op whose results are loaded from global memory by pointers."""
    return isinstance(op, PointerAccess) and _loads_to_registers(op)


def is_pointer_store(op: Operation | None) -> bool:
    """True for an op that stores to global memory by pointers and does nothing else; not for atomics."""
    return isinstance(op, PointerAccess) and op.traits & (READ | WRITE) == WRITE and not op.atomic


def is_descriptor_load(op: Operation | None) -> bool:
    """True for an op whose result is loaded from global memory by a descriptor."""
    return isinstance(op, DescriptorAccess) and _loads_to_registers(op)


def is_descriptor_store(op: Operation | None) -> bool:
    """True for an op that writes, or updates, global memory by a descriptor."""
    return isinstance(op, DescriptorAccess) and any(a.effects & WRITE for a in op.accesses)


def is_buffer_load(op: Operation | None) -> bool:
    """True for an op whose result is the contents of a buffer."""
    return isinstance(op, BufferAccess) and op.traits & (READ | WRITE) == READ


def is_buffer_store(op: Operation | None) -> bool:
    """True for an op that stores a tensor to a buffer."""
    return isinstance(op, BufferAccess) and op.traits & (READ | WRITE) == WRITE


def is_tma_copy(op: Operation) -> bool:
    """True for an op that starts a copy between global and shared memory through the async proxy."""
    if not isinstance(op, MemoryAccess) or isinstance(op, DescriptorAccess):
        return False
    asynchronous = any(a.async_proxy for a in op.accesses)
    return asynchronous and any(a.memory is Memory.GLOBAL for a in op.accesses)
