"""The evaluator of tile programs: runs them on NumPy arrays, operation by operation, program by program.

    run(module, grid=(4,), args=[x, y, out, n])

changes the arrays as a launch would. Programs run in order, x fastest. Lanes that are masked off touch no memory; any
other access outside of the arrays given raises `OutOfBoundsError`. Where a program reads what is undefined (a masked
lane without `other`, `ub.poison`) it gets a conspicuous number: NaN, or the least integer.

Floats: every operation is rounded to its type. Transcendental functions and the inner products of `tt.dot` are
computed in float64 and rounded once, sums of `tt.reduce` pairwise in the element's type: a compiler's results differ
from these by rounding. Integers are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dialects import tt
from ..ir import (
    Attribute,
    Block,
    CountedLoop,
    FloatType,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    RegionBranch,
    ShapedType,
    TensorType,
    Type,
    Value,
    VectorType,
    element_type,
    functions_of,
    region_branch_of,
)
from ..support.recursion import with_deep_recursion
from .meanings import OPERATIONS
from .memory import Memory, OutOfBoundsError
from .numbers import dtype_of, fit

__all__ = ["AssertionFailed", "Evaluator", "OutOfBoundsError", "TensorDesc", "UndefinedError", "run"]


class AssertionFailed(Exception):
    """`tt.assert` or `cf.assert` did not hold."""


class UndefinedError(Exception):
    """The program does something that has no meaning, or that this evaluator does not know."""


@dataclass(frozen=True)
class TensorDesc:
    """A tensor descriptor: where a strided tensor is. Shape and strides in elements; `padding` "zero" or "nan"."""

    base: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str = "zero"


@dataclass(frozen=True)
class BlockPointer:
    """The tile at `offsets` of a strided tensor."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass
class Jump:
    """The terminator `source` was reached: where to continue, with which values."""

    kind: str
    values: list[Any]
    block: Block | None = None
    source: Operation | None = None


@dataclass
class Evaluator:
    """The state of a launch: memory, the grid, what was printed, which program runs.

    `extra` is what operations keep. `max_steps` operations of regions and functions are run at most. With
    `masked_zeros` lanes of loads that are masked off without `other` read zeros, as they do in compiled code. `target`
    is the CPU whose layout the operands of `ttc.dot` have; None is this machine's.
    """

    module: Operation
    grid: tuple[int, int, int]
    memory: Memory = field(default_factory=Memory)
    printed: list[str] = field(default_factory=list)
    program: tuple[int, int, int] = (0, 0, 0)
    extra: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    max_steps: int = 50_000_000
    masked_zeros: bool = False
    target: object = None

    def masked(self, ty: Type) -> Any:
        """The value of masked-off lanes of a load of `ty` without `other`."""
        return np.zeros((), dtype_of(ty)) if self.masked_zeros else undefined(ty)

    def function(self, name: str) -> Any:
        """The function `name` of the module, to which functions may be added."""
        found = self.functions.get(name)
        if found is None:
            self.functions = {f.attributes["sym_name"].value: f for f in functions_of(self.module)}  # type: ignore[attr-defined]
            found = self.functions.get(name)
        if found is None:
            raise UndefinedError(f"no function @{name}")
        return found

    def call(self, func: Any, values: list[Any]) -> list[Any]:
        """Run a function; what it returns."""
        return self.blocks(func.regions[0].blocks[0], values, {}).values

    def blocks(self, block: Block, values: list[Any], env: dict[Value, Any]) -> Jump:
        """Run from `block` on until something but a branch is reached."""
        while True:
            jump = self.block(block, values, env)
            if jump.block is None:
                return jump
            block, values = jump.block, jump.values

    def block(self, block: Block, values: Sequence[Any], env: dict[Value, Any]) -> Jump:
        """Run one block; the terminator's jump."""
        for arg, value in zip(block.args, values, strict=True):
            env[arg] = value
        for op in block:
            self.steps += 1
            if self.steps > self.max_steps:
                raise UndefinedError("the program does not end")
            outcome = self.execute(op, env)
            if isinstance(outcome, Jump):
                return outcome
            for r, value in zip(op.results, outcome, strict=True):
                env[r] = shaped(value, r.type)
        raise UndefinedError("a block ends without a terminator")

    def execute(self, op: Operation, env: dict[Value, Any]) -> Any:
        """Run one operation whose operands are in `env`: a list of its results, or the Jump of a terminator."""
        fn = OPERATIONS.get(op.name) or meaning_of_interface(op)
        if fn is None:
            raise UndefinedError(f"the evaluator does not know {op.name}")
        values = [env[v] for v in op.operands]
        out = fn(self, op, env, *values) if op.regions else fn(self, op, *values)
        if isinstance(out, Jump):
            out.source = op
            return out
        count = len(op.results)
        return [out] if count == 1 and not isinstance(out, tuple) else (out if count else ())


# -- control flow, by interface --------------------------------------------------------------------------------------


def meaning_of_interface(op: Operation) -> Callable[..., Any] | None:
    """The evaluation of operations without an entry in the table: loops, region branches and terminators."""
    if isinstance(op, CountedLoop):
        return _counted_loop
    if isinstance(op, RegionBranch):
        return _region_branch
    return _end_of_region if region_branch_of(op) is not None else None


def _end_of_region(ev: Evaluator, op: Operation, *values: Any) -> Jump:
    return Jump("leave", list(values))


def _counted_loop(ev: Evaluator, op: CountedLoop, env: dict[Value, Any], *operands: Any) -> Any:
    lb, ub, step = (int(env[v]) for v in op.bounds)
    dtype: Any = dtype_of(op.lb.type)
    values = [env[v] for v in op.init_args]
    for i in range(lb, ub, step):
        values = ev.block(op.body, [dtype.type(i), *values], env).values
    return tuple(values)


def _region_branch(ev: Evaluator, op: RegionBranch, env: dict[Value, Any], *operands: Any) -> Any:
    """Follow the one edge that the values known so far leave, from region to region."""

    def known(value: Value) -> Attribute | None:
        if isinstance(value.type, (IntegerType, IndexType)):
            return IntegerAttr(int(env[value]), value.type)
        return None

    source: Operation = op
    while True:
        edges = op.feasible_edges(source, known)
        if len(edges) != 1:
            raise UndefinedError(f"{op.name} continues in {len(edges)} places")
        (edge,) = edges
        values = [env[v] for v in edge.operands]
        if edge.target is None:
            return tuple(values)
        end = ev.blocks(edge.target.blocks[0], values, env).source
        if end is None:
            raise UndefinedError(f"a region of {op.name} ends without a terminator")
        source = end


@dataclass(frozen=True)
class Token:
    """A placeholder of an asynchronous operation."""


@dataclass(frozen=True)
class Buffer:
    """A buffer in shared memory, or a part of one: a view of an array."""

    array: np.ndarray


def shaped(value: Any, ty: Type) -> Any:
    """A computed value in the element type and, for tensors, checked to have the shape of `ty`.

    In the region of a reduction a scalar stands for many at once, so that scalars may have any shape.
    """
    if isinstance(value, (TensorDesc, BlockPointer, Buffer, Token)):
        return value
    value = fit(np.asarray(value), ty)
    if isinstance(ty, (TensorType, VectorType)) and value.shape != ty.shape:
        raise UndefinedError(f"a value of shape {value.shape} where the type says {ty}")
    return value


def undefined(ty: Type) -> Any:
    """A conspicuous value of type `ty`."""
    element = element_type(ty)
    shape = ty.shape if isinstance(ty, ShapedType) else ()
    dtype = dtype_of(ty)
    if isinstance(element, FloatType):
        return np.full(shape, np.nan, dtype)
    return np.full(shape, True if dtype == np.bool_ else np.iinfo(dtype).min, dtype)


def pick_kernel(module: Operation) -> Any:
    """The only public function, or the only function."""
    functions = functions_of(module)
    public = [f for f in functions if f.sym_visibility != "private"]  # type: ignore[attr-defined]
    if len(public) != 1:
        raise UndefinedError(f"{len(public)} kernels in the module: name one")
    return public[0]


def argument_values(memory: Memory, func: Any, args: Sequence[Any]) -> list[Any]:
    """The arguments of a launch as values of the function's argument types.

    A descriptor stands for its base, shape and strides where the types are those, and in front of shape and strides
    where these are parameters too.
    """
    types = [a.type for a in func.entry.args]
    told = sum(1 + 2 * len(a.shape) if isinstance(a, TensorDesc) else 1 for a in args) == len(types)
    flat: list[Any] = []
    for arg in args:
        if isinstance(arg, TensorDesc):
            whole = isinstance(types[len(flat)], tt.TensorDescType)
            flat += [arg if whole else arg.base, *((*arg.shape, *arg.strides) if told or not whole else ())]
        else:
            flat.append(arg)
    if len(flat) != len(types):
        raise UndefinedError(f"{len(flat)} arguments for {len(types)} parameters")
    values = []
    for arg, ty in zip(flat, types):
        if isinstance(arg, np.ndarray):
            values.append(np.int64(memory.add(arg)))
        elif isinstance(arg, TensorDesc):
            values.append(TensorDesc(memory.add(arg.base), arg.shape, arg.strides, arg.padding))
        else:
            values.append(fit(np.asarray(arg), ty))
    return values


@with_deep_recursion("the interpreter")
def run(
    module: Operation,
    grid: Sequence[int] | int,
    args: Sequence[Any],
    kernel: str | None = None,
    target: object = None,
) -> Evaluator:
    """Launch a kernel of `module` (`tt.func`) over `grid` (1 to 3 numbers); the evaluator, for what was printed.

    `args`: NumPy arrays for pointers (bf16 and fp8 as arrays of their bits), numbers, `TensorDesc`.
    `target` is the CPU that IR of the stage `ttcir` was made for, by default this machine's.
    """
    sizes = (grid,) if isinstance(grid, int) else tuple(grid)
    sizes = sizes + (1,) * (3 - len(sizes))
    evaluator = Evaluator(module, sizes, target=target)  # type: ignore[arg-type]
    func = pick_kernel(module) if kernel is None else evaluator.function(kernel)
    values = argument_values(evaluator.memory, func, args)
    with np.errstate(all="ignore"):
        for z in range(sizes[2]):
            for y in range(sizes[1]):
                for x in range(sizes[0]):
                    evaluator.program = (x, y, z)
                    evaluator.call(func, list(values))
    return evaluator
