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

A launch starts as many programs as run at once, at most `%n`, the extent of its grid, which it passes. With loads
raised to TMA and a producer warp, the operands of the next tile are loaded while this one is stored, and no CTA waits
for the first loads of its tile.

The order of programs changes, and how many run at once. So kernels stay as they are if programs may wait for each
other (`raise-loads-to-tma` has the list), use the number of programs, or program ids of other dimensions; the launch
predicate includes that the grid has one dimension. Only kernels with dots in loops are transformed, all of whose loads
can be raised then. Results are the same bits.
"""

from __future__ import annotations

from ..analysis.program_order import communicates
from ..analysis.tma import EXPANDED, LAUNCH_VALUE, PROGRAMS
from ..dialects import tt
from ..dialects.tt_types import ProgramDim
from ..dialects.ttg_switches import is_on
from ..ir import (
    CONSTANT,
    ArrayAttr,
    Builder,
    CountedLoop,
    DictionaryAttr,
    FunctionType,
    Operation,
    StringAttr,
    TypeAttr,
    count,
    functions_of,
    i32,
    is_tensor_dot,
    may_change,
    pass_on,
    remark,
)
from .raise_loads_to_tma import RaiseOptions, raises_all

__all__ = ["make_persistent"]


@pass_on("module", statistics={"kernels": "kernels whose programs compute several tiles"})
def make_persistent(module: Operation) -> bool:
    """Put a loop over programs around the body of a module's kernel."""
    kernels = [f for f in functions_of(module) if isinstance(f, tt.Func) and f.sym_visibility != "private"]
    if len(kernels) != 1 or not is_on(module, "persistent") or not is_on(module, "warp-specialization"):
        return False
    (kernel,) = kernels
    why = _refused(kernel)
    if why:
        remark(kernel, f"the kernel is not made persistent: {why}")
        return False
    if not may_change("make-persistent", kernel):
        return False
    kept = kernel.clone({})
    _wrap(kernel)
    if not raises_all(kernel, RaiseOptions()):
        assert kernel.parent is not None
        Builder(kernel.parent, kernel, kernel.loc).insert(kept)
        kernel.erase()
        remark(kept, "the kernel is not made persistent: not all loads of dots in loops can be raised to TMA")
        return False
    count("kernels", 1)
    return True


def _refused(kernel: tt.Func) -> str:
    """Why a kernel has to stay as it is; "" if it has not."""
    ops = list(kernel.walk())
    if len(kernel.regions[0].blocks) > 1 or EXPANDED in kernel.attributes:
        return "it has branches between blocks, or descriptors that are lowered to pointers"
    if any(isinstance(op, tt.GetNumPrograms) for op in ops):
        return "it uses the number of programs"
    if any(isinstance(op, tt.GetProgramId) and int(op.axis) for op in ops):
        return "it uses program ids of two dimensions"
    if not any(isinstance(op, tt.GetProgramId) for op in ops):
        return "it does not use the program id"
    loops = [op for op in kernel.entry if isinstance(op, CountedLoop)]
    if not any(is_tensor_dot(op) for loop in loops for op in loop.body):
        return "no loop of its body has a dot"
    return next((f"programs may wait for each other: {text}" for text in map(communicates, ops) if text), "")


def _wrap(kernel: tt.Func) -> None:
    entry = kernel.entry
    like = next(op for op in entry if isinstance(op, CountedLoop))
    programs = entry.add_argument(i32, kernel.loc)
    programs.hint = "programs"
    rows = [DictionaryAttr({})] * (len(entry.args) - 1) if kernel.arg_attrs is None else list(kernel.arg_attrs.elements)
    kernel.attributes["arg_attrs"] = ArrayAttr((*rows, DictionaryAttr({LAUNCH_VALUE: StringAttr(PROGRAMS)})))
    ty = FunctionType(tuple(a.type for a in entry.args), kernel.function_type.results)
    kernel.attributes["function_type"] = TypeAttr(ty)
    *ops, end = entry
    b = Builder(entry, end, kernel.loc)
    first, step = b.add(tt.GetProgramId(ProgramDim.x)), b.add(tt.GetNumPrograms(ProgramDim.x))
    loop = b.insert(type(like).build(first, programs, step, []))
    for op in ops:
        if isinstance(op, tt.GetProgramId):
            op.replace_with([loop.induction_variable])
        elif not op.traits & CONSTANT:
            op.detach()
            loop.body.append(op)
    for op in list(loop.body):
        for inner in op.walk():
            if isinstance(inner, tt.GetProgramId):
                inner.replace_with([loop.induction_variable])
    loop.body.append(loop.make_yield([]))
