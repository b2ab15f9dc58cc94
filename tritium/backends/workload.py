"""A lower bound of the work of a launch: bytes of its arguments, operations of its dots and of other arithmetic.

    work = workload_of(module, {"x": 1 << 26, "n": 1 << 24}, grid=(16384,))
    work.bytes, work.dots, work.flops

The tile program (`ttir`) is evaluated with the given scalars: loop bounds, conditions and program ids are computed,
tiles are only counted. For a large grid, counts are extrapolated from a sample of programs. Operations that depend on
an unknown number (loaded from memory, or not given) are left out and noted, so that every count is a lower bound.

A dot of M x N x K elements counts as 2 M N K operations; an operation or function on floats as one for each element; a
fused multiply-add as two. Bytes are those of the pointer arguments that are read, and of those that are written, each
once, however often programs access them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import gcd, prod
from typing import Any

from ..dialects import arith, cf, math, tt
from ..dialects.constraints import is_float
from ..dialects.tt_types import InputPrecision, PointerType, TensorDescType
from ..dialects.ttg_memory import element_bits
from ..ir import (
    CAST,
    CONSTANT,
    READ,
    WRITE,
    Attribute,
    Block,
    CountedLoop,
    IntegerAttr,
    IntegerType,
    LoopLike,
    Memory,
    MemoryAccess,
    Operation,
    RegionBranch,
    TensorType,
    Value,
    accessed_values,
    functions_of,
    i32,
    is_private,
    predecessor_operands,
)
from ..ir.folding import fold
from ..ir.rewriter import RuleTable
from ..support import TritiumError
from ..support.dataclasses import dataclass
from ..support.suggestions import did_you_mean
from ..transforms.rules import ARITH_RULES, TT_RULES

__all__ = ["Workload", "WorkloadError", "bytes_of", "parameters_of", "workload_of"]

SAMPLE = 256
"""Maximum number of programs evaluated, spread over the grid."""

MAX_STEPS = 200_000
"""Maximum number of loop iterations evaluated, over all programs; further ones count as the last."""

_RULES = RuleTable([*ARITH_RULES, *TT_RULES])


class WorkloadError(TritiumError):
    """Arguments or a grid that do not fit the kernel."""


@dataclass(frozen=True)
class Workload:
    """`read` and `written`: argument -> bytes; `requested`: bytes that all programs load and store; `dots`: kind of
    operands ("f16", "tf32", "f8", …) -> operations; `flops`: width of floats ("f32", …) -> operations on elements.
    `programs` is the size of the grid, of which `sampled` were evaluated; `notes` name what is not counted."""

    grid: tuple[int, ...]
    programs: int
    sampled: int
    read: dict[str, int]
    written: dict[str, int]
    requested: int
    dots: dict[str, int]
    flops: dict[str, int]
    notes: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Bytes transferred between memory and the GPU, at least."""
        return sum(self.read.values()) + sum(self.written.values())


def parameters_of(module: Operation) -> dict[str, Value]:
    """Name -> parameter of the kernel of a `ttir` module."""
    kernel = _kernel(module)
    return {getattr(arg, "hint", None) or f"arg{i}": arg for i, arg in enumerate(kernel.entry.args)}


def workload_of(module: Operation, arguments: Mapping[str, Any], grid: Sequence[int]) -> Workload:
    """The work of one launch of a module's kernel over `grid` programs.

    `arguments` gives numbers for integers, and for pointers what they point to: a number of elements, a shape, or an
    array (anything with `nbytes`). Raises WorkloadError for names that are no parameters, and for a grid that is none.
    """
    parameters = parameters_of(module)
    for name in arguments:
        if name not in parameters:
            hint = did_you_mean(name, parameters)
            raise WorkloadError(
                f"the kernel has no parameter {name!r}{hint and '; ' + hint}; it has: {', '.join(parameters)}"
            )
    grid = tuple(grid)
    if not 1 <= len(grid) <= 3 or not all(isinstance(n, int) and n > 0 for n in grid):
        raise WorkloadError(f"a grid is one to three positive numbers, not {grid}")
    numbers: dict[Value, Attribute] = {}
    for name, value in arguments.items():
        ty = parameters[name].type
        if isinstance(ty, IntegerType):
            if not isinstance(value, int):
                raise WorkloadError(f"{name} is an integer, not {value!r}")
            numbers[parameters[name]] = IntegerAttr(value, ty)
        elif isinstance(ty, (PointerType, TensorDescType)) and bytes_of(value, ty) is None:
            raise WorkloadError(
                f"{name} is a pointer: give it a number of elements, a shape, or an array, not {value!r}"
            )
    programs = prod(grid)
    walk = _Walk(module, grid, numbers)
    ids = _sample(programs)
    for n in ids:
        walk.program((n % grid[0], n // grid[0] % (*grid, 1)[1], n // prod((*grid, 1, 1)[:2])))
    total = {key: count * programs // len(ids) for key, count in walk.counts.items()}
    read, written = _touched(module, parameters, arguments, walk)
    return Workload(
        grid,
        programs,
        len(ids),
        read,
        written,
        total.pop(("requested", ""), 0),
        {kind: n for (what, kind), n in total.items() if what == "dot"},
        {kind: n for (what, kind), n in total.items() if what == "flop"},
        tuple(dict.fromkeys(walk.notes)),
    )


def _sample(programs: int) -> list[int]:
    """The programs to evaluate: all of a small grid, else every k-th for a k coprime to their number, so that the
    sample covers all positions of every axis.

    >>> _sample(4), len({n % 64 for n in _sample(64 * 64)})
    ([0, 1, 2, 3], 64)
    """
    if programs <= SAMPLE:
        return list(range(programs))
    step = int(programs * 0.6180339887)  # the golden section: any number of its multiples are spread evenly
    while gcd(step, programs) != 1:
        step += 1
    return [n * step % programs for n in range(SAMPLE)]


def bytes_of(value: Any, ty: Any) -> int | None:
    """The bytes that an argument for a pointer (or descriptor) parameter of type `ty` stands for; None: unknown."""
    found = getattr(value, "nbytes", None)
    if found is not None:
        return int(found)
    elements = value if isinstance(value, int) else prod(value) if isinstance(value, (tuple, list)) else None
    element = ty.block if isinstance(ty, TensorDescType) else ty.pointee
    return None if elements is None else elements * element_bits(element) // 8


def _kernel(module: Operation) -> tt.Func:
    return next(
        f for f in functions_of(module) if isinstance(f, tt.Func) and not is_private(f) and not f.is_declaration
    )


def _touched(
    module: Operation, parameters: Mapping[str, Value], arguments: Mapping[str, Any], walk: _Walk
) -> tuple[dict[str, int], dict[str, int]]:
    """Argument -> bytes of those that are read, and of those that are written."""
    names = {value: name for name, value in parameters.items()}
    sides: tuple[set[str], set[str]] = (set(), set())
    for op in _kernel(module).walk():
        for side, addresses in zip(sides, _addresses(op)):
            for address in addresses:
                roots = _roots(address, set())
                side.update(names[r] for r in roots if r in names)
                if not all(r in names for r in roots):
                    walk.note(op, "accesses memory through pointers from memory, whose bytes are not known")
    known = {
        name: bytes_of(arguments[name], parameters[name].type) for name in sides[0] | sides[1] if name in arguments
    }
    for name in sorted((sides[0] | sides[1]) - {n for n, size in known.items() if size is not None}):
        walk.notes.append(f"the size of {name} is not given: its bytes are left out")
    read, written = ({n: size for n in sorted(side) if (size := known.get(n)) is not None} for side in sides)
    return read, written


def _addresses(op: Operation) -> tuple[Sequence[Value], Sequence[Value]]:
    """The addresses and descriptors that an operation reads through, and those that it writes through."""
    read, written = (list(accessed_values(op, effect, Memory.GLOBAL)) for effect in (READ, WRITE))
    return read, written


def _is_address(value: Value) -> bool:
    ty: Any = value.type
    return isinstance(ty.element if isinstance(ty, TensorType) else ty, (PointerType, TensorDescType))


def _roots(value: Value, seen: set[Value]) -> set[Value]:
    """The values that an address is computed from: parameters, and results of loads."""
    if value in seen:
        return set()
    seen.add(value)
    op, passed = value.defining_op, predecessor_operands(value)
    if passed is not None:
        sources = [source.operands[i] for source, i in passed]
    else:
        sources = [] if op is None or isinstance(op, MemoryAccess) else [v for v in op.operands if _is_address(v)]
    return {value} if not sources else set().union(*(_roots(v, seen) for v in sources))


# -- following a program ----------------------------------------------------------------------------------------------


class _Walk:
    """Counts over programs: `counts` by (what, kind), multiplied by how often it happens."""

    def __init__(self, module: Operation, grid: tuple[int, ...], numbers: Mapping[Value, Attribute]) -> None:
        self.functions = {f.sym_name: f for f in functions_of(module) if isinstance(f, tt.Func)}
        self.kernel = _kernel(module)
        self.sizes = (*grid, 1, 1)
        self.given = numbers
        self.counts: Counter[tuple[str, str]] = Counter()
        self.notes: list[str] = []
        self.steps = 0
        self.known: dict[Value, Attribute] = {}
        self.at = (0, 0, 0)

    def program(self, at: tuple[int, int, int]) -> None:
        """Count what one program does."""
        self.at, self.known = at, dict(self.given)
        self.function(self.kernel)

    def function(self, func: Any, times: int = 1) -> None:
        """From the first block on, as far as branches are known."""
        block: Block | None = func.entry
        while block is not None:
            self.block(block, times)
            block = self.next_block(block.last)

    def next_block(self, op: Any) -> Block | None:
        """The successor of a terminator."""
        if isinstance(op, cf.Br):
            return op.successors[0]  # type: ignore[no-any-return]
        if isinstance(op, cf.CondBr):
            condition = self.number(op.operands[0])
            if condition is not None:
                return op.successors[0 if condition else 1]  # type: ignore[no-any-return]
            self.note(op, "a condition is not known: what follows is left out")
        return None

    def block(self, block: Block, times: int) -> None:
        """Count a block's operations, each `times`."""
        for op in block:
            handle = _FLOW.get(op.__class__)
            if handle is not None:
                handle(self, op, times)
            elif isinstance(op, CountedLoop):
                self.loop(op, times)
            elif isinstance(op, RegionBranch):
                self.follow(op, times)
            else:
                self.count(op, times)
                self.evaluate(op)

    def count(self, op: Operation, times: int) -> None:
        """Count one operation."""
        cost = _COSTS.get(op.__class__)
        if cost is not None:
            for what, kind, number in cost(op):
                self.counts[what, kind] += number * times
        elif op.results and is_float[op.results[0].type] and op.name.partition(".")[0] in ("arith", "math"):
            if not op.traits & (CONSTANT | CAST) and not isinstance(op, (arith.Select, arith.NegF)):
                ty = op.results[0].type
                number = 2 if isinstance(op, math.Fma) else 1
                self.counts["flop", f"f{element_bits(ty)}"] += number * _elements(ty) * times

    def evaluate(self, op: Operation) -> None:
        """The result of an operation on known integers."""
        if len(op.results) != 1 or not isinstance(op.results[0].type, IntegerType):
            return
        known = [self.known.get(v) for v in op.operands]
        if isinstance(op, arith.Constant) or any(k is not None for k in known):
            answer = fold(op, _RULES, known, dialect=op.name.partition(".")[0])
            found = answer[0] if answer else None
            if isinstance(found, Value):
                found = self.known.get(found)
            if found is not None:
                self.known[op.results[0]] = found

    def number(self, value: Value) -> int | None:
        """A scalar, where it is known."""
        found = self.known.get(value)
        return found.value if isinstance(found, IntegerAttr) else None

    def set(self, values: Iterable[Value], sources: Iterable[Value | Attribute | None]) -> None:
        """Give values what others are; what is not known is forgotten."""
        found = [self.known.get(s) if isinstance(s, Value) else s for s in sources]
        for value, attribute in zip(values, found):
            if attribute is None:
                self.known.pop(value, None)
            else:
                self.known[value] = attribute

    def forget(self, values: Iterable[Value]) -> None:
        """Nothing is known of these."""
        for value in values:
            self.known.pop(value, None)

    def note(self, op: Operation, text: str) -> None:
        """Something that could not be counted."""
        at = op.loc.user_position()
        self.notes.append(f"{at.text(folder=False)}: {text}" if at else text)

    # -- loops and conditions -------------------------------------------------------------------------------------

    def loop(self, op: CountedLoop, times: int) -> None:
        """A counted loop: one iteration for all where nothing in it depends on which it is."""
        lower, upper, step = (self.number(v) for v in (op.lb, op.ub, op.step))
        if lower is None or upper is None or not step:
            self.note(op, "the number of iterations is not known: the loop is left out")
            self.forget(op.results)
            return
        trips = max(0, -(-(upper - lower) // step))
        if trips == 0:
            self.set(op.results, op.init_args)
        elif any(inner.regions and not isinstance(inner, (tt.Reduce, tt.Scan)) for inner in op.body):
            self.iterate(op, range(lower, upper, step), times)
        else:
            self.forget(op.body.args)
            self.block(op.body, times * trips)
            self.forget(op.results)

    def iterate(self, op: CountedLoop, indices: range, times: int) -> None:
        """Iteration by iteration, until there were too many of them."""
        values: Sequence[Value | Attribute | None] = op.init_args
        followed = list(islice(indices, max(1, MAX_STEPS - self.steps)))
        self.steps += len(followed)
        for n, index in enumerate(followed):
            self.set(op.body.args, [IntegerAttr(index, op.lb.type), *values])
            left = len(indices) - n if n == len(followed) - 1 else 1
            self.block(op.body, times * left)
            values = [self.known.get(v) for v in op.yielded]
        if len(followed) < len(indices):
            self.note(op, f"of {len(indices)} iterations {len(followed)} are evaluated, the others count as the last")
            values = [None] * len(op.results)
        self.set(op.results, values)

    def follow(self, op: RegionBranch, times: int) -> None:
        """Any other operation with regions, from one to the next for as long as it is known which one that is."""
        source: Operation | None = op
        is_loop = isinstance(op, LoopLike)
        while source is not None and self.steps < MAX_STEPS:
            edges = op.feasible_edges(source, self.known.get)
            if len(edges) != 1:
                unknown = "the number of iterations is not known: the loop is left out"
                self.note(op, unknown if is_loop else "a condition is not known: what depends on it is left out")
                self.forget(op.results)
                return
            (edge,) = edges
            self.set(edge.inputs, edge.operands)
            if edge.target is None:
                return
            self.steps += is_loop and edge.target is op.regions[0]
            self.block(edge.target.blocks[0], times)
            source = edge.target.blocks[0].last
        self.note(op, "the loop has too many iterations to follow")
        self.forget(op.results)

    def call(self, op: tt.Call, times: int) -> None:
        """A function that was not inlined."""
        func = self.functions.get(op.callee)
        if func is not None and not func.is_declaration:
            self.set(func.entry.args, op.operands)
            self.function(func, times)
        self.forget(op.results)

    def program_id(self, op: tt.GetProgramId, times: int) -> None:
        """Which program this is."""
        self.known[op.result] = IntegerAttr(self.at[op.axis], i32)

    def num_programs(self, op: tt.GetNumPrograms, times: int) -> None:
        """How many there are."""
        self.known[op.result] = IntegerAttr(self.sizes[op.axis], i32)


_FLOW: dict[type, Callable[[_Walk, Any, int], None]] = {
    tt.Call: _Walk.call,
    tt.GetProgramId: _Walk.program_id,
    tt.GetNumPrograms: _Walk.num_programs,
}

Costs = Iterable[tuple[str, str, int]]


def _elements(ty: Any) -> int:
    return prod(ty.shape) if isinstance(ty, TensorType) else 1


def _transfer_cost(ty: Any) -> Costs:
    yield "requested", "", _elements(ty) * max(8, element_bits(ty)) // 8


def _dot_cost(op: tt.Dot) -> Costs:
    a: Any = op.a.type
    kind = str(a.element)
    if kind == "f32" and op.inputPrecision not in (InputPrecision.ieee,):
        kind = "tf32" if op.inputPrecision.name.startswith("tf32") else "bf16"
    yield "dot", kind, 2 * _elements(op.d.type) * a.shape[-1]


def _dot_scaled_cost(op: tt.DotScaled) -> Costs:
    a: Any = op.a.type
    packed = 2 if op.a_elem_type.name == "e2m1" and op.lhs_k_pack else 1
    yield "dot", "scaled", 2 * _elements(op.operands[2].type) * a.shape[-1] * packed


def _combine_cost(op: Any) -> Costs:
    """A reduction or scan: its region once an element, but the first."""
    inner = sum(1 for inside in op.regions[0].blocks[0] if inside.results and is_float[inside.results[0].type])
    ty = op.operands[0].type
    if inner:
        yield "flop", f"f{element_bits(ty)}", inner * (_elements(ty) - _elements(op.results[0].type) or _elements(ty))


_COSTS: dict[type, Callable[[Any], Costs]] = {
    tt.Dot: _dot_cost,
    tt.DotScaled: _dot_scaled_cost,
    tt.Reduce: _combine_cost,
    tt.Scan: _combine_cost,
    tt.Load: lambda op: _transfer_cost(op.result.type),
    tt.Store: lambda op: _transfer_cost(op.value.type),
    tt.AtomicRMW: lambda op: _transfer_cost(op.result.type),
    tt.AtomicCAS: lambda op: _transfer_cost(op.result.type),
    tt.DescriptorLoad: lambda op: _transfer_cost(op.result.type),
    tt.DescriptorGather: lambda op: _transfer_cost(op.result.type),
    tt.DescriptorStore: lambda op: _transfer_cost(op.src.type),
    tt.DescriptorReduce: lambda op: _transfer_cost(op.src.type),
    tt.DescriptorScatter: lambda op: _transfer_cost(op.src.type),
}
