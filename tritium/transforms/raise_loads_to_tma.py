"""raise-loads-to-tma: Load the operands of dots by tensor descriptors instead of pointers, where a launch allows it.

    for %k {                                              %d = tt.make_tensor_descriptor %x, [%M, %K], [%stride, 1]
      %x_k = tt.load %ptrs, %mask                         for %k {
      %acc = tt.dot %x_k, …                         =>      %x_k = tt.descriptor_load %d[%row, %k * 64]
      %ptrs += 64                                           %acc = tt.dot %x_k, …
    }                                                     }

A load of an affine address (`analysis/strided_tiles`) reads a tile of a tensor whose base, extents and strides are
functions of the kernel's arguments. TMA copies such a tile with one instruction of one thread, without addresses, masks
or predicates in registers. `host-tensor-maps` makes parameters of the descriptors, which the launcher encodes.

That the copy equals the load is partly known only at launch: the attribute `tritium.launch_predicate` of the kernel has
the conditions (`analysis/launch_conditions`), and launches that do not meet them run the kernel compiled without this
pass. The conditions are:

- base and strides are multiples of 16 bytes, extents positive: the launcher can encode the descriptor;
- no index is negative, where a load reads what TMA replaces by zeros, or exceeds 31 bits;
- no arithmetic on addresses overflows, which wraps around in the kernel;
- the modulus of wrapped indices is a multiple of the tile's size;
- no store that may come before a load reaches the bytes that are loaded.

Which loads qualify:

- those whose result is an operand of a dot in a counted loop, directly or transposed; of one dot all or none;
- plain ones: not volatile, without a cache modifier or an eviction policy, of an array that the kernel does not write;
- elements that are masked off are 0 or undefined (no `other`), and the mask bounds indices from above (or at 0);
- exactly one dimension has the stride 1, its tiles begin at multiples of 16 bytes, and TMA supports the tile
  (`fits_tma`).

Kernels whose programs may wait for each other are left alone: those that use results of atomics, have loops without a
trip count, inline assembly with effects, volatile loads, or calls. The results are the same bits.

With `everything` (the option `raise_loads`), and in kernels that `make-persistent` has transformed, all loads that
qualify are raised, a remark names the reason of each one that stays, and loops over tiles are warp-specialized.
Otherwise, as in every launch, only those of dots in a loop nested in a flattened loop over tiles are raised, for the
warps and accumulators for which that was measured to pay.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from ..analysis.affine_addresses import AffineAddresses, Divides, Fits, NotAffine, Remainder
from ..analysis.axis_info import AxisInfoAnalysis
from ..analysis.descriptors import MAX_BYTES
from ..analysis.launch_conditions import LaunchConditions
from ..analysis.polynomials import Polynomial
from ..analysis.program_order import communicates
from ..analysis.strided_tiles import Dimension, StridedTile, reached_tile, strided_tile
from ..analysis.tma import (
    EXPANDED,
    LAUNCH_PREDICATE,
    LAUNCH_VALUE,
    MAX_TRIPS,
    MIN_PROGRAMS,
    MIN_ROW_BYTES,
    fits_tma,
)
from ..analysis.written_arguments import arguments_of
from ..dialects import arith, tt
from ..dialects.constraints import bit_width
from ..dialects.tt_types import TensorDescType
from ..dialects.ttg_switches import is_on
from ..hardware.nvidia import NvidiaGPU
from ..ir import (
    UNIT,
    WRITE,
    Block,
    Builder,
    CountedLoop,
    IntegerAttr,
    IntegerType,
    LoopLike,
    Memory,
    Operation,
    PlainLoad,
    PointerAccess,
    StringAttr,
    TensorType,
    Type,
    Value,
    accessed_values,
    count,
    element_type,
    functions_of,
    i32,
    i64,
    is_tensor_dot,
    may_change,
    pass_on,
    remark,
    shape_of,
)
from ..ir.dominance import ancestor_in
from ..support.dataclasses import dataclass
from ..support.launch_predicate import OtherVersion, allows
from .host_tensor_maps import MAX_MAPS
from .rules.constants import splat_of

__all__ = ["RaiseOptions", "raise_loads_to_tma", "raises_all"]

UNLIMITED = (1 << 31) - 1
"""The extent of a dimension without a mask; indices are below it."""

ONE = Polynomial.of(1)

WARPS = 8
"""Warps of a program for which raising pays. Tutorial 09, persistent by pointers, f16, 128 x 256 x 64, 3 stages, 2048,
4096 and 8192: 580, 609, 615 TFLOP/s by pointers, 607, 634, 657 raised (H200, November 2026)."""

MIN_ACCUMULATORS = 128
"""Registers of a thread for the accumulator, those of that tile: pointers and masks of the loads, kept across the loop,
compete with them (216 registers a thread instead of 190)."""

_SPECIALIZE, _FLATTEN = "tt.warp_specialize", "tt.flatten"


@dataclass(frozen=True)
class RaiseOptions:
    """`everything`: raise all loads that qualify, with a remark for each that does not; otherwise those of persistent
    kernels for which it pays. `warps`: of a program. `launch`: JSON with the `arguments` and the `grid` of the launch
    that this compile is for; `OtherVersion` is raised where it cannot run the result."""

    everything: bool = True
    warps: int = 4
    launch: str = ""


@pass_on("module", options=RaiseOptions, statistics={"loads raised": "loads by pointers that became loads by TMA"})
def raise_loads_to_tma(module: Operation, options: RaiseOptions = RaiseOptions()) -> bool:
    """Raise the loads of a module's kernel that feed dots in loops."""
    kernels = [f for f in functions_of(module) if isinstance(f, tt.Func) and f.sym_visibility != "private"]
    if len(kernels) != 1 or not is_on(module, "tma") or not is_on(module, "raise-loads"):
        return False
    raised = _Kernel(kernels[0], options).run()
    count("loads raised", raised)
    return raised > 0


def raises_all(kernel: tt.Func, options: RaiseOptions) -> bool:
    """Whether all dots in loops have loads that can be raised."""
    return _Kernel(kernel, options).covers()


class _Refused(Exception):
    """A load is not raised; `op` is the reason where it is another operation."""

    def __init__(self, why: str, op: Operation | None = None) -> None:
        super().__init__(why)
        self.op = op


class _Plan(NamedTuple):
    """A load to raise: its tile, and the dimensions of the descriptor, the one of stride 1 last."""

    load: PlainLoad
    tile: StridedTile
    dimensions: list[Dimension]
    conflicts: list[StridedTile]


class _Kernel:
    """The loads of one kernel."""

    def __init__(self, kernel: tt.Func, options: RaiseOptions) -> None:
        self.kernel, self.options = kernel, options
        self.passed = _passed_to(kernel)
        self.addresses = AffineAddresses(kernel.entry, self.passed)
        self.everything = options.everything or bool(self.passed)
        self.conditions = LaunchConditions(self.addresses, self.passed)
        self.writes = [(op, v) for op in kernel.walk() for v in accessed_values(op, WRITE, Memory.GLOBAL)]
        self.dots = [op for op in kernel.walk() if is_tensor_dot(op) and _loop_of(op) is not None]
        self._made: dict[object, Value] = {}  # descriptors
        self._facts: AxisInfoAnalysis | None = None

    def run(self) -> int:
        """Raise what qualifies; the number of loads."""
        found = [plan for plan in self.plans() if may_change("raise-loads-to-tma", plan.load)]
        if len(found) > MAX_MAPS:
            self._tell(self.kernel, f"loads are not raised to TMA: {len(found)} are more than {MAX_MAPS} descriptors")
            found = []
        for plan in found:
            self._require(plan)
        if self.everything:
            self._specialize({plan.load for plan in found})
        for plan in found:
            self._replace(plan)
        if self.passed:
            self._require_launch()
        if found or self.passed:
            text = self.conditions.text()
            if self.options.launch and not allows(text, json.loads(self.options.launch)):
                raise OtherVersion(text)
            self.kernel.attributes[LAUNCH_PREDICATE] = StringAttr(text)
        return len(found)

    def _require_launch(self) -> None:
        """Add the conditions of a persistent kernel: on its grid, and those under which it pays."""
        if len(self.passed) == 1:
            self.conditions.one_dimension()
        least = self.kernel.attributes.pop(MIN_PROGRAMS, None)
        self.conditions.programs(least.value if isinstance(least, IntegerAttr) else 1, 32)
        for loop in [op for op in self.kernel.walk() if isinstance(op, CountedLoop)]:
            most = loop.attributes.pop(MAX_TRIPS, None)
            if isinstance(most, IntegerAttr):
                self.conditions.most_trips(loop, most.value)

    def plans(self) -> list[_Plan]:
        """The plans for loads that can be raised, and whose dots have no other loads."""
        plans: dict[PlainLoad, _Plan | None] = {}
        for dot in self.dots:
            if not self.everything and not self._pays(dot):
                continue
            loads = _loads_of(dot)
            for load in loads:
                if load not in plans:
                    plans[load] = self._planned(load)
            if any(plans[load] is None for load in loads):
                plans.update(dict.fromkeys(loads))
        return [plan for plan in plans.values() if plan is not None]

    def covers(self) -> bool:
        """Whether all dots in loops have loads, which can all be raised."""
        planned = {plan.load for plan in self.plans()}
        return all(loads and planned.issuperset(loads) for loads in map(_loads_of, self.dots))

    def _specialize(self, raised: set[PlainLoad]) -> None:
        """Request warp specialization for loops over tiles all of whose dots have raised loads."""
        nests: dict[CountedLoop, bool] = {}
        for dot in self.dots:
            nest = _nest_of(dot)
            if nest is not None:
                nests[nest] = nests.get(nest, True) and raised.issuperset(_loads_of(dot))
        for nest, whole in nests.items():
            if whole and raised and is_on(self.kernel, "warp-specialization"):
                nest.attributes[_SPECIALIZE] = UNIT

    def _pays(self, dot: Operation) -> bool:
        """Whether raising the operands of a dot makes a kernel faster, as measured for flattened loops over tiles."""
        nest = _nest_of(dot)
        registers = _elements(dot.results[0].type) // (NvidiaGPU.warp_size * self.options.warps)
        return (
            nest is not None
            and _starts_at_program(nest)
            and _FLATTEN in nest.attributes
            and self.options.warps == WARPS
            and registers >= MIN_ACCUMULATORS
        )

    def _tell(self, op: Operation, text: str) -> None:
        if self.everything:
            remark(op, text)

    # -- legality -----------------------------------------------------------------------------------------------------

    def _planned(self, load: PlainLoad) -> _Plan | None:
        """The plan for a load; a remark says why there is none."""
        try:
            return self._plan(load)
        except NotAffine as error:
            self._tell(load, f"the load is not raised to TMA: {error}")
        except _Refused as error:
            self._tell(error.op or load, f"the load is not raised to TMA: {error}")
        return None

    def _plan(self, load: PlainLoad) -> _Plan:
        self._check_kernel()
        _check_plain(load)
        tile = strided_tile(self.addresses, load)
        inner = [d for d in tile.dimensions if d.stride == ONE and d.size > 1]
        if len(inner) != 1:
            raise _Refused("no dimension, or more than one, is known to have the stride 1")
        outer = [d for d in tile.dimensions if d is not inner[0]]
        dimensions = [*(d for d in outer if d.axis is None), *(d for d in outer if d.axis is not None), inner[0]]
        for dimension in dimensions:
            if dimension.extent is not None and not self.addresses.is_of_arguments(dimension.extent):
                raise _Refused("a mask whose bound is no function of the kernel's arguments")
        element = element_type(load.results[0].type)
        block = TensorType(tuple(d.size for d in dimensions), element)
        problem = fits_tma(block)
        if problem is None and block.numel * bit_width(element) // 8 > MAX_BYTES:
            problem = f"tiles exceed {MAX_BYTES} bytes of shared memory"
        if problem is not None:
            raise _Refused(problem)
        each = max(1, MIN_ROW_BYTES * 8 // bit_width(element))
        if not self._is_multiple(inner[0].start, each, tile):
            raise _Refused(f"tiles do not begin at multiples of {MIN_ROW_BYTES} bytes of a row")
        return _Plan(load, tile, dimensions, self._conflicts(load, tile))

    def _check_kernel(self) -> None:
        """Whether the kernel's arguments and effects allow raising at all."""
        if EXPANDED in self.kernel.attributes:
            raise _Refused("the kernel has parameters of descriptors that are lowered to pointers", self.kernel)
        for op in self.kernel.walk():
            why = communicates(op)
            if why:
                raise _Refused(f"programs may wait for each other: {why}", op)

    def _conflicts(self, load: PlainLoad, tile: StridedTile) -> list[StridedTile]:
        """The tiles of stores that may come before the load, which must not overlap it."""
        found = []
        for op, address in self.writes:
            arguments = arguments_of(address)
            if tile.base in arguments:
                raise _Refused("the kernel writes the array that it loads from", op)
            if not _may_precede(op, load):
                continue
            if None in arguments or not isinstance(op, PointerAccess):
                raise _Refused("memory that is not known may be written before it", op)
            try:
                found.append(reached_tile(self.addresses, op))
            except NotAffine as error:
                raise _Refused(f"what is written before it is not known: {error}", op) from None
        return found

    def _is_multiple(self, start: Polynomial, number: int, tile: StridedTile) -> bool:
        """Whether a polynomial is a multiple of a number under the requirements of a tile."""
        return all(
            n % number == 0 or any(self._divides(atom, number, tile) for atom in monomial) for monomial, n in start
        )

    def _divides(self, atom: int, number: int, tile: StridedTile) -> bool:
        remainder = self.addresses.atoms[atom]
        if isinstance(remainder, Value):
            if self._facts is None:
                self._facts = AxisInfoAnalysis(self.kernel)
            return self._facts.of(remainder).element_divisor() % number == 0
        assert isinstance(remainder, Remainder)
        if not self._is_multiple(remainder.dividend, number, tile):
            return False
        divisor = remainder.divisor.number
        if divisor is not None:
            return divisor % number == 0
        required = (r for r in tile.requirements if isinstance(r, Divides) and r.value == remainder.divisor)
        return any(r.divisor % number == 0 for r in required)

    def _require(self, plan: _Plan) -> None:
        """Add the conditions under which a load may be raised."""
        conditions, fits = self.conditions, set(plan.tile.requirements)
        for dimension in plan.dimensions:
            fits.add(Fits(dimension.start, (ONE,), (dimension.size,), 32))
            if dimension.extent is not None:
                fits.add(Fits(dimension.extent, (), (), 32))
        conditions.require(frozenset(fits))
        for dimension in plan.dimensions:
            if not dimension.above_zero:
                conditions.at_least(dimension.start, 0)
        for tile in plan.conflicts:
            conditions.require(tile.requirements)
            conditions.apart(plan.tile, tile)

    # -- code ---------------------------------------------------------------------------------------------------------

    def _replace(self, plan: _Plan) -> None:
        """Replace a load by one through a descriptor."""
        load, dimensions = plan.load, plan.dimensions
        ty = load.results[0].type
        assert isinstance(ty, TensorType)
        descriptor = self._descriptor(plan)
        indices = [self._integer(d.start, load, i32) for d in dimensions]
        b = Builder(load.parent, load, load.loc)
        axes = [d.axis for d in dimensions if d.axis is not None]
        rows = TensorType(tuple(ty.shape[axis] for axis in axes), ty.element)
        straight = axes == sorted(axes)
        made: Value = b.add(tt.DescriptorLoad(descriptor, indices, result=ty if straight else rows))
        if not straight:
            made = b.add(tt.Trans(made, [axes.index(axis) for axis in sorted(axes)]))
            if shape_of(made.type) != ty.shape:
                made = b.add(tt.Reshape(made, result=ty))
        made.hint = load.results[0].hint
        load.replace_with([made])

    def _descriptor(self, plan: _Plan) -> Value:
        """The descriptor of a tile; loads of the same tensor by the same tiles share one."""
        tile, dimensions = plan.tile, plan.dimensions
        key = tile.base, tile.offset, *((d.stride, d.size, d.extent) for d in dimensions)
        found = self._made.get(key)
        if found is not None:
            return found
        first = self.kernel.entry.first
        assert first is not None
        base = tile.base
        if tile.offset:
            offset = self._integer(tile.offset, first, i64)
            base = Builder(first.parent, first, plan.load.loc).add(tt.AddPtr(base, offset))
        shape = [
            self._integer(Polynomial.of(UNLIMITED) if d.extent is None else d.extent, first, i32) for d in dimensions
        ]
        strides = [self._integer(d.stride, first, i64) for d in dimensions]
        block = TensorType(tuple(d.size for d in dimensions), element_type(plan.load.results[0].type))
        b = Builder(first.parent, first, plan.load.loc)
        made: Value = b.add(tt.MakeTensorDescriptor(base, shape, strides, result=TensorDescType(block)))
        made.hint = tile.base.hint
        self._made[key] = made
        return made

    def _integer(self, polynomial: Polynomial, before: Operation, ty: IntegerType) -> Value:
        """The value of a polynomial for `before`, computed in the outermost block that has its atoms."""
        known = self._known(polynomial, before, ty)
        if known is not None:
            return known
        atoms = {n: self._atom(n, before, ty) for n in sorted(polynomial.atoms)}
        b = _builder_for(list(atoms.values()), before)
        total: Value | None = None
        for monomial, number in polynomial:
            term = b.add(arith.Constant.of(number, ty)) if number != 1 or not monomial else None
            for n in monomial:
                term = atoms[n] if term is None else b.add(arith.MulI(term, atoms[n]))
            total = term if total is None else b.add(arith.AddI(total, term))
        return b.add(arith.Constant.of(0, ty)) if total is None else total

    def _known(self, polynomial: Polynomial, before: Operation, ty: IntegerType) -> Value | None:
        """A scalar of the kernel that is the polynomial."""
        if polynomial.number is not None:
            return None
        for value in self.addresses.scalars(polynomial):
            if value.type is ty and _is_available(value, before):
                self.conditions.require(self.addresses.affine(value).requirements)
                return value
        return None

    def _atom(self, number: int, before: Operation, ty: IntegerType) -> Value:
        atom = self.addresses.atoms[number]
        if isinstance(atom, Remainder):
            dividend, divisor = (self._integer(p, before, ty) for p in atom)
            made: Value = _builder_for([dividend, divisor], before).add(arith.RemSI(dividend, divisor))
            return made
        assert isinstance(atom, Value)
        return atom if atom.type is ty else _cast(_builder_for([atom], before), atom, ty)


def _cast(b: Builder, value: Value, ty: Type) -> Value:
    wider = bit_width(ty) > bit_width(value.type)
    made: Value = b.add((arith.ExtSI if wider else arith.TruncI)(value, out=ty))
    return made


def _builder_for(values: list[Value], before: Operation) -> Builder:
    """A builder in the innermost block of some values, at the operation that is or contains `before`."""
    at = before
    while (around := at.parent_op) is not None and not isinstance(around, tt.Func):
        block = at.parent
        if any(_is_within(v, block) for v in values):
            break
        at = around
    return Builder(at.parent, at, before.loc)


def _is_within(value: Value, block: Block | None) -> bool:
    """Whether a value is defined in a block."""
    return value.block is block


def _is_available(value: Value, before: Operation) -> bool:
    """Whether a value is defined before an operation, in its block or one around it."""
    block = value.block
    at = None if block is None else ancestor_in(block, before)
    if at is None or value.defining_op is None:
        return at is not None
    following: Operation | None = value.defining_op.next
    while following is not None and following is not at:
        following = following.next
    return following is at


def _loop_of(op: Operation) -> CountedLoop | None:
    """The innermost loop around an operation, if it is counted."""
    around = op.parent_op
    while around is not None and not isinstance(around, LoopLike):
        around = around.parent_op
    return around if isinstance(around, CountedLoop) else None


def _passed_to(kernel: tt.Func) -> dict[Value, str]:
    """The parameters that the launcher adds, which a persistent kernel has, and what they are."""
    rows = () if kernel.arg_attrs is None else kernel.arg_attrs.elements
    names = [(arg, row.get(LAUNCH_VALUE)) for arg, row in zip(kernel.entry.args, rows)]
    return {arg: name.value for arg, name in names if isinstance(name, StringAttr)}


def _nest_of(load: Operation) -> CountedLoop | None:
    """The outermost loop around a load, if it contains the load's own loop: one over the tiles of a program."""
    loops = [op for block in _blocks_around(load) if isinstance(op := block.parent_op, LoopLike)]
    return loops[-1] if len(loops) > 1 and isinstance(loops[-1], CountedLoop) else None


def _starts_at_program(loop: CountedLoop) -> bool:
    """Whether a loop is over the tiles of one program: its first iteration is that of the program id."""
    return isinstance(loop.lb.defining_op, tt.GetProgramId)


def _elements(ty: Type) -> int:
    """The number of elements of a tensor."""
    return prod(shape_of(ty))


def _loads_of(dot: Operation) -> list[PlainLoad]:
    """The loads whose results are the operands of a dot."""
    return [load for load in map(_loaded, dot.operands[:2]) if load is not None]


def _loaded(operand: Value) -> PlainLoad | None:
    """The load in a loop whose result an operand of a dot is, directly or transposed."""
    op = operand.defining_op
    while isinstance(op, tt.Trans):
        op = op.src.defining_op
    if not isinstance(op, PlainLoad) or not shape_of(op.results[0].type):
        return None
    return op if _loop_of(op) is not None else None


def _check_plain(load: PlainLoad) -> None:
    """Whether TMA can do what the load asks for beside its addresses."""
    if load.volatile:
        raise _Refused("it is volatile")
    if load.cache_policy is not None:
        raise _Refused("it has a cache modifier or an eviction policy")
    if getattr(load, "boundaryCheck", ()):
        raise _Refused("it is by a block pointer")
    other = load.fallback
    if load.access_mask is not None and other is not None:
        value = splat_of(other)
        if value is None or value != 0 or str(value).startswith("-"):
            raise _Refused("elements that are masked off are not 0")


def _may_precede(write: Operation, load: Operation) -> bool:
    """Whether a write may be executed before a load of the same program: earlier in a block, or in a common loop."""
    for block in _blocks_around(load):
        one, other = ancestor_in(block, write), ancestor_in(block, load)
        if one is None:
            continue
        if one is other or any(isinstance(op, LoopLike) for op in _operations_around(block)):
            return True
        return _is_before(one, other)
    return True


def _blocks_around(op: Operation) -> Iterator[Block]:
    """The block of an operation and those around it, innermost first."""
    at: Operation | None = op
    while at is not None and at.parent is not None:
        yield at.parent
        at = at.parent_op


def _operations_around(block: Block) -> Iterator[Operation]:
    at = block.parent_op
    while at is not None:
        yield at
        at = at.parent_op


def _is_before(one: Operation, other: Operation | None) -> bool:
    following: Operation | None = one
    while following is not None and following is not other:
        following = following.next
    return following is other
