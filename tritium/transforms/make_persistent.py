"""make-persistent: Let each program compute the tiles of several programs, one after the other.

    tt.func @k(%x: …) {                            tt.func @k(%x: …, %n: i32 {tritium.launch_value = "programs"}) {
      %p = tt.get_program_id x                       %first = tt.get_program_id x
      …                                     =>       %step = tt.get_num_programs x
      for %k { load, dot }                           scf.for %p = %first to %n step %step {
      store                                            …
      tt.return                                        for %k { load, dot }
    }                                                  store
                                                     }
                                                     tt.return
                                                   }

A launch starts as many programs as run at once, at most `%n`, the number of programs of its grid, which it passes. With
loads raised to TMA and a producer warp, the operands of the next tile are loaded while this one is stored, and no CTA
waits for the first loads of its tile.

Of a grid with several dimensions the launcher also passes the extents, and program `%p` has the ids

    %x = %p % %nx, %y = %p / %nx % %ny, %z = %p / %nx / %ny

in the order in which a GPU starts CTAs. They replace `tt.get_num_programs`, too. A kernel that uses program ids of
one dimension only is for grids of one dimension, by its launch predicate.

The order of programs changes, and how many run at once. So kernels stay as they are if programs may wait for each
other (`raise-loads-to-tma` has the list), print, assert or depend on the CTA in another way
(`program_order.identifies_cta`). Only kernels with dots in loops are transformed, all of whose loads can be raised
then. Results are the same bits.

With `everything` (the option `persistent`) all such kernels are transformed, and a remark tells why others are not;
otherwise, as in every launch, those for which it pays by a model (`analysis/persistence`), whose bounds on trip counts
and programs become part of the launch predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..analysis.persistence import Profit, profit
from ..analysis.program_order import communicates, identifies_cta
from ..analysis.tma import EXPANDED, EXTENTS, LAUNCH_VALUE, MAX_TRIPS, MIN_PROGRAMS, PROGRAMS
from ..dialects import arith, tt
from ..dialects.tt_types import ProgramDim
from ..dialects.ttg_switches import is_on
from ..hardware.nvidia import nvidia_gpu
from ..ir import (
    CONSTANT,
    ArrayAttr,
    Builder,
    CountedLoop,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    Operation,
    StringAttr,
    TypeAttr,
    Value,
    count,
    functions_of,
    i32,
    is_tensor_dot,
    may_change,
    pass_on,
    remark,
)
from ..support.dataclasses import dataclass
from ..support.lazy import LazyModule

__all__ = ["PersistenceOptions", "make_persistent"]

_raising = LazyModule(".raise_loads_to_tma", __package__)


@dataclass(frozen=True)
class PersistenceOptions:
    """`everything`: transform all kernels that allow it, otherwise those for which it pays on a GPU of this
    `capability` with `warps` warps and `stages` stages."""

    everything: bool = True
    capability: int = 90
    warps: int = 4
    stages: int = 3


@pass_on("module", options=PersistenceOptions, statistics={"kernels": "kernels whose programs compute several tiles"})
def make_persistent(module: Operation, options: PersistenceOptions = PersistenceOptions()) -> bool:
    """Put a loop over programs around the body of a module's kernel."""
    kernels = [f for f in functions_of(module) if isinstance(f, tt.Func) and f.sym_visibility != "private"]
    if len(kernels) != 1 or not is_on(module, "persistent") or not is_on(module, "warp-specialization"):
        return False
    (kernel,) = kernels
    launches = None
    if not options.everything:  # first, since it refuses most kernels at once
        launches = profit(kernel, nvidia_gpu(options.capability), options.warps, options.stages)
    why = (launches.why if launches is not None else "") or _refused(kernel)
    if not why and not may_change("make-persistent", kernel):
        return False
    if not why and not _transformed(kernel, launches):
        why = "not all loads of dots in loops can be raised to TMA"
    if why:
        if options.everything:
            remark(kernel, f"the kernel is not made persistent: {why}")
        return False
    count("kernels", 1)
    return True


def _transformed(kernel: tt.Func, launches: Profit | None) -> bool:
    """Put a loop over programs around the body; False, with the kernel as it was, if not all loads can be raised."""
    kept = kernel.clone({})
    _wrap(kernel)
    if not _raising.raises_all(kernel, _raising.RaiseOptions()):
        assert kernel.parent is not None
        Builder(kernel.parent, kernel, kernel.loc).insert(kept)
        kernel.erase()
        return False
    if launches is not None:
        kernel.attributes[MIN_PROGRAMS] = IntegerAttr(launches.min_programs, i32)
        for loop, trips in launches.max_trips.items():
            loop.attributes[MAX_TRIPS] = IntegerAttr(trips, i32)
    return True


def _refused(kernel: tt.Func) -> str:
    """Why a kernel has to stay as it is; "" if it has not."""
    ops = list(kernel.walk())
    if len(kernel.regions[0].blocks) > 1 or EXPANDED in kernel.attributes:
        return "it has branches between blocks, or descriptors that are lowered to pointers"
    if not any(isinstance(op, tt.GetProgramId) for op in ops):
        return "it does not use the program id"
    loops = [op for op in kernel.entry if isinstance(op, CountedLoop)]
    if not any(is_tensor_dot(op) for loop in loops for op in loop.body):
        return "no loop of its body has a dot"
    for op in ops:
        if op is kernel:
            continue
        if why := communicates(op):
            return f"programs may wait for each other: {why}"
        if why := identifies_cta(op):
            return why
    return ""


def _wrap(kernel: tt.Func) -> None:
    """Put a loop over programs around the body of a kernel."""
    entry = kernel.entry
    like = next(op for op in entry if isinstance(op, CountedLoop))
    used = {int(op.axis) for op in kernel.walk() if isinstance(op, tt.GetProgramId)}
    counted = any(isinstance(op, tt.GetNumPrograms) for op in kernel.walk())
    programs, *extents = _add_parameters(kernel, [PROGRAMS, *(EXTENTS if counted or used != {0} else ())])
    *ops, end = entry
    b = Builder(entry, end, kernel.loc)
    first, step = b.add(tt.GetProgramId(ProgramDim.x)), b.add(tt.GetNumPrograms(ProgramDim.x))
    loop = b.insert(type(like).build(first, programs, step, []))
    for op in ops:
        if not op.traits & CONSTANT:
            op.detach()
            loop.body.append(op)
    assert loop.body.first is not None
    ids = _program_ids(Builder(loop.body, loop.body.first, kernel.loc), loop.induction_variable, extents, used)
    for op in [op for op in loop.walk() if isinstance(op, (tt.GetProgramId, tt.GetNumPrograms))]:
        op.replace_with([(ids if isinstance(op, tt.GetProgramId) else extents)[int(op.axis)]])
    loop.body.append(loop.make_yield([]))


def _add_parameters(kernel: tt.Func, names: Sequence[str]) -> list[Value]:
    """Add i32 parameters that the launcher passes."""
    rows = (
        [DictionaryAttr({})] * len(kernel.entry.args) if kernel.arg_attrs is None else list(kernel.arg_attrs.elements)
    )
    made: list[Value] = []
    for name in names:
        value = kernel.entry.add_argument(i32, kernel.loc)
        value.hint = name
        made.append(value)
        rows.append(DictionaryAttr({LAUNCH_VALUE: StringAttr(name)}))
    kernel.attributes["arg_attrs"] = ArrayAttr(tuple(rows))
    ty = FunctionType(tuple(a.type for a in kernel.entry.args), kernel.function_type.results)
    kernel.attributes["function_type"] = TypeAttr(ty)
    return made


def _program_ids(b: Builder, program: Value, extents: Sequence[Value], used: Collection[int]) -> dict[int, Value]:
    """The program id of each dimension that is used; `program` counts along x first, in a grid of these `extents`."""
    if not extents:
        return dict.fromkeys(used, program)
    rest, ids = program, {}
    for axis, extent in enumerate(extents):
        if axis in used:
            ids[axis] = b.add(arith.RemSI(rest, extent)) if axis < 2 else rest
        if axis < max(used):
            rest = b.add(arith.DivSI(rest, extent))
    return ids
