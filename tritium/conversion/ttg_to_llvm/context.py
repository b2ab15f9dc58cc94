"""What lowering one function for a GPU carries along.

Every value is a list of LLVM operands, its parts (see `types`). The text is what one thread does; what differs between
threads comes from `lane`, `warp` and `block`, which are operands too.

>>> from tritium.conversion.ttg_to_llvm.context import FunctionContext
>>> from tritium.conversion.ttg_to_llvm.nvidia.target import NVIDIATarget
>>> from tritium.conversion.ttg_to_llvm.target_info import ModuleContext
>>> e = FunctionContext(ModuleContext(NVIDIATarget()), "@global_smem")
>>> e.op(f"add i32 {e.lane}, 1")
'%t0'
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...analysis.axis_info import AxisInfoAnalysis
from ...dialects.ttg_maps import linear_layout_of
from ...dialects.ttg_memory import MemDescType
from ...ir import Block, IntegerAttr, IntegerType, Operation, ShapedType, TensorType, Type, Value
from ...layout import LinearLayout
from ...support import InternalError, TooManyElements, TooManyOperations, UnsupportedOperation
from ...support.settings import compilation
from ..lowerings import Lowerings
from .files import FILES
from .target_info import ModuleContext, ThreadEmitter, Warps
from .types import types_of

__all__ = [
    "LOWERINGS",
    "OFFSET",
    "FunctionContext",
    "copied_bits",
    "elementwise",
    "elementwise_several",
    "lowers",
]

OFFSET = "allocation.offset"

MAX_REGISTERS = 2048
"""Elements per thread beyond which an operation is wide. A thread has 255 registers, so that most are spilled."""

MAX_WIDE_LINES = 20_000
"""Instructions that wide operations may take in a kernel. LLVM and ptxas need more than linear time for them. Measured
2026-11 (2 cores, sm_90), a copy takes 5 s with 2,048 elements per thread (14,000 instructions), 29 s with 4,096,
40 s with 8,192; an inner product of 8,192 elements takes 87 s in LLVM. Triton 3.9 takes as long."""


WIDEST = 16
"""Bytes of the widest access to memory: scratch, like all shared memory, begins at a multiple of it."""


class FunctionContext(ThreadEmitter):
    """The emitter of one function, with the parts of each SSA value.

    `shared` is the operand of the function's shared memory; `lane` (of a warp), `warp` (of those that run this), both
    together as `thread`, and `block` (of a cluster) say which thread this is. `warps` are those that run this: all of
    the block, or the ones of a partition of `ttg.warp_specialize`.
    """

    __slots__ = (
        "arriving",
        "entry",
        "entry_lines",
        "entry_positions",
        "func",
        "joins",
        "known_facts",
        "known_values",
        "most_lines",
        "known_positions",
        "multiples",
        "names",
        "offsets",
        "shared",
        "wide_lines",
        "words",
    )

    def __init__(self, module: ModuleContext, shared: str, block_id: str = "0", func: Any = None) -> None:
        super().__init__(module, block_id)
        self.shared = shared
        self.func = func
        self.entry = self.block  # the block in which what is lowered begins
        self.names: dict[Value, list[str]] = {}
        self.arriving: dict[Value, Iterator[dict[int, str]]] = {}  # parts by register, of what comes in rounds
        self.known_positions: dict[Any, Any] = {}
        self.entry_positions: dict[Any, Any] = {}
        self.entry_lines: list[str] = []  # what the function begins with
        self.joins: list[tuple[str, list[tuple[list[list[str]], str]]]] = []  # where inlined regions return to
        self.known_values: dict[str, str] = {}  # of this block, by their text
        self.offsets: dict[str, tuple[str, int, bool]] = {}  # see `offsets`; whether the two have no bit in common
        self.words: dict[tuple[str, ...], str] = {}  # elements -> the word that they were taken from, an integer
        self.multiples: dict[str, int] = {}  # see `multiple_of`
        self.known_facts: AxisInfoAnalysis | None = None
        self.most_lines = compilation.max_operations or sys.maxsize
        self.wide_lines = 0  # of operations with more than MAX_REGISTERS elements per thread

    @property
    def is_kernel(self) -> bool:
        """Whether this is what a launch runs, and not a function that it calls."""
        return self.shared.startswith("@")

    def of_other_warps(self, label: str, warps: Warps, first: int) -> FunctionContext:
        """A context for what `warps`, the first of which has the number `first`, run from the block `label` on.

        Of values it knows the arguments of the function; what it emits is added by `append`.
        """
        out = FunctionContext(self.module, self.shared, self.block_id, self.func)
        out.warps, out.specialization, out.entry_lines = warps, self.specialization, self.entry_lines
        out.known_facts = self.facts
        out.names = {v: self.names[v] for v in self.func.regions[0].entry.args}
        out.continue_from(self)
        out.lines.append(f"{label}:")
        out.block = out.entry = label
        if first % warps.count:
            out.thread = out.op(f"sub nuw nsw i32 %thread, {self.module.warp_size * first}")
        else:  # its bits are known then, and so are those of addresses
            out.thread = out.op(f"and i32 %thread, {self.module.warp_size * warps.count - 1}")
        out.warp = out.op(f"lshr i32 {out.thread}, {self.module.warp_size.bit_length() - 1}")
        return out

    def append(self, other: FunctionContext) -> None:
        """What `of_other_warps` gave, and what it has emitted since, follows."""
        self.lines += other.lines
        self.continue_from(other)

    # -- emitting -------------------------------------------------------------------------------------------------

    def label(self, name: str) -> None:
        """Start a basic block: of positions it knows what the function's entry has computed."""
        if self.block == self.entry:
            self.entry_positions = self.known_positions
        super().label(name)
        self.known_positions = dict(self.entry_positions)
        self.known_values = {}

    def continue_at(self, name: str, before: str) -> None:
        """Start a block that `before` dominates: positions and other known values stay known."""
        if before == self.entry:
            self.entry = name
        super().continue_at(name, before)

    def reload_thread_id(self) -> None:
        """Read the thread ID again, in a block that dominates everything after it.

        Values computed from the new one are not common subexpressions of earlier values for LLVM and ptxas, which
        would otherwise keep those live.
        """
        lanes = self.module.warp_size
        number = self.target.reload_thread_id(self)
        self.thread = self.op(f"and i32 {number}, {lanes * self.num_warps - 1}")
        self.lane = self.op(f"and i32 {self.thread}, {lanes - 1}")
        self.warp = self.op(f"lshr i32 {self.thread}, {lanes.bit_length() - 1}")
        self.entry = self.block
        self.entry_positions, self.known_positions, self.known_values = {}, {}, {}

    # -- values ---------------------------------------------------------------------------------------------------

    def __call__(self, value: Value) -> list[str]:
        """The parts of a value; all of them, if they arrive in rounds."""
        found = self.names.get(value)
        if found is None:
            if value not in self.arriving:
                raise InternalError(f"{value!r} is used before it is lowered")
            parts = {r: v for some in self.arriving.pop(value) for r, v in some.items()}
            found = self.names[value] = [parts[r] for r in range(len(parts))]
        return found

    parts = __call__

    def scalar(self, value: Value) -> str:
        """The operand of a scalar."""
        (part,) = self(value)
        return part

    def bind(self, value: Value, parts: Sequence[str]) -> None:
        """Give a value its parts: as many as `types_of` its type."""
        self.names[value] = list(parts)

    def bind_parts(self, value: Value, parts: Sequence[str]) -> None:
        """Give its parts to what control flow carries. Of a buffer that is seen as a whole, by its type, it is known
        that the view begins at 0, which a phi would hide: addresses are then combined from fewer registers."""
        ty = value.type
        if isinstance(ty, MemDescType) and ty.shape == ty.allocShape[-len(ty.shape) :]:
            parts = [parts[0], *["0"] * len(ty.shape)]
        self.bind(value, parts)

    types_of = staticmethod(types_of)

    def layout(self, value: Value) -> LinearLayout:
        """The linear layout of a tensor or a buffer: from register, lane, warp, block (or offset, block)."""
        ty = value.type
        assert isinstance(ty, ShapedType)
        return linear_layout_of(ty)

    @property
    def facts(self) -> AxisInfoAnalysis:
        """The axis analysis of this function."""
        if self.known_facts is None:
            self.known_facts = AxisInfoAnalysis(self.func)
        return self.known_facts

    # -- memory ---------------------------------------------------------------------------------------------------

    def scratch(self, op: Operation) -> str:
        """The address (`ptr addrspace(3)`) of what allocate-shared-memory gave to `op`; InternalError if nothing."""
        offset = op.attributes.get(OFFSET)
        if not isinstance(offset, IntegerAttr):
            raise InternalError(f"{op.name} has no shared memory: allocate-shared-memory has not run")
        address = self.shared_at(offset.value)
        self.multiples[address] = WIDEST
        return address

    def multiple_of(self, operand: str) -> int:
        """A power of two of which an i32 operand, or an address in shared memory, is known to be a multiple."""
        if operand.isdigit():
            number = int(operand)
            return number & -number or WIDEST
        return self.multiples.get(operand, 1)

    def shared_at(self, offset: int) -> str:
        """The address of a byte of the function's shared memory."""
        if offset == 0:
            return self.shared
        if self.is_kernel:
            return f"getelementptr (i8, ptr addrspace(3) {self.shared}, i32 {offset})"
        return self.op(f"getelementptr i8, ptr addrspace(3) {self.shared}, i32 {offset}")

    # -- operations -----------------------------------------------------------------------------------------------

    def block_body(self, block: Block) -> None:
        """Lower all operations of a block."""
        for op in block:
            lower = self.target.lowering_of(type(op)) or LOWERINGS.find(type(op))
            if lower is None:
                raise UnsupportedOperation(op, f"is not supported on {self.target.name}")
            self.debug = self.module.debug_location(op.loc)
            self.current = op
            before = len(self.lines)
            lower(self, op)
            own = len(self.lines) - before
            if own > MAX_REGISTERS:
                self.check_width(op, own)
            if len(self.lines) > self.most_lines:
                raise _too_many(self, op, before)

    def check_width(self, op: Operation, own: int) -> None:
        """Count the `own` instructions of an operation if it is wide; TooManyElements beyond MAX_WIDE_LINES."""
        width = max((len(self.names.get(v, ())) for v in (*op.operands, *op.results)), default=0)
        if width <= MAX_REGISTERS or not compilation.max_operations:
            return
        self.wide_lines += own
        if self.wide_lines > MAX_WIDE_LINES:
            raise TooManyElements(
                op,
                f"has {width:,} elements per thread, and operations with more than {MAX_REGISTERS:,} take more than "
                f"{MAX_WIDE_LINES:,} instructions in this kernel: use smaller tensors, or more warps than "
                f"{self.num_warps}",
            )


def _too_many(e: FunctionContext, op: Operation, before: int) -> TooManyOperations:
    """Of an operation with which a function has too many instructions; `before` is how many there were without it."""
    own = len(e.lines) - before
    return TooManyOperations(
        op, f"takes {own:,} instructions a thread, with which the kernel has more than {e.most_lines:,}"
    )


LOWERINGS = Lowerings(__package__, FILES)
"""How each operation is written in LLVM IR."""
lowers = LOWERINGS.lowers


def elementwise(
    e: FunctionContext, op: Any, write: Callable[..., str], columns: Sequence[Sequence[str]] | None = None
) -> None:
    """Lower an operation with one result element by element: `write(*operands) -> operand`.

    What is the same in several registers (copies of one element, or neighbours of which it is known, as of a mask that
    rows share) is computed once. `columns` are the parts to work on, where they are not those of the operands.
    """
    elementwise_several(e, op, lambda *row: (write(*row),), columns)


def elementwise_several(
    e: FunctionContext,
    op: Any,
    write: Callable[..., Sequence[str]],
    columns: Sequence[Sequence[str]] | None = None,
) -> None:
    """The same for several results of one shape: `write(*operands)` gives an operand for each."""
    rows = zip(*(columns or [e(v) for v in op.operands]))
    copies = _equal_bits(e, op.results) if isinstance(op.results[0].type, TensorType) else 0
    out: list[Sequence[str]] = []
    for i, row in enumerate(rows):
        out.append(out[i & ~copies] if i & copies else write(*row))
    for result, parts in zip(op.results, zip(*out)):
        e.bind(result, parts)


def _equal_bits(e: FunctionContext, results: Sequence[Any]) -> int:
    """The bits of a register's number that make no difference to any of the results."""
    ty = results[0].type
    bits = copied_bits(ty)
    if e.func is None or not all(isinstance(r.type.element, IntegerType) for r in results):
        return bits
    equal = [min(n, *(e.facts.of(r).constancy[axis] for r in results)) for axis, n in enumerate(ty.shape)]
    if max(equal) > 1:  # elements whose numbers differ only inside of aligned groups of equal ones
        for bit, basis in enumerate(linear_layout_of(ty).bases["register"]):
            if all(step < n for step, n in zip(basis, equal)):
                bits |= 1 << bit
    return bits


def copied_bits(ty: Type) -> int:
    """The bits of a register's number that make no difference to which element it holds."""
    mask = _COPIES.get(ty)
    if mask is None:
        columns = linear_layout_of(ty).columns_of("register")  # type: ignore[arg-type]
        mask = _COPIES[ty] = sum(1 << i for i, c in enumerate(columns) if not c)
    return mask


_COPIES: dict[Type, int] = {}
