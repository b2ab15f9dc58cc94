"""The conversion of a module: inline all calls, then lower each kernel."""

from __future__ import annotations

from ...dialects import builtin, tt
from ...ir.passes.definition import functions_of
from ...support import UnsupportedOperation
from ...transforms.inliner import inline
from ...transforms.structure_returns import structure_returns
from ..llvm.dot import CPUFeatures
from . import control, dot, effects, map_elementwise, scan, shape_ops  # noqa: F401  (they register lowerings)
from .iter_args import uniform_iter_args
from .lowering import TileLowering

__all__ = ["convert_tt_to_ttc"]


def convert_tt_to_ttc(
    module: builtin.Module, target: CPUFeatures, sanitize: bool = False, guard: bool = False
) -> builtin.Module:
    """A new module with the kernel of `module` as loops over vectors and buffers.

    `sanitize` emits a bounds check before each access, `guard` before each store a check that the memory is writable.
    `module` is consumed: calls in it are inlined and its loops rewritten.
    """
    result = builtin.Module.empty()
    result.loc = module.loc
    for func in _kernels(module):
        uniform_iter_args(func)
        result.body.append(TileLowering(func, target, sanitize, guard).run())
    return result


def _kernels(module: builtin.Module) -> list[tt.Func]:
    """The public functions, with all that they call in line: tiles are not passed between functions on a CPU."""
    if any(isinstance(op, tt.Call) for op in module.walk()):
        for func in functions_of(module):
            func.attributes.pop("noinline", None)
            structure_returns(func)
        inline(module)
    for call in module.walk():
        if isinstance(call, tt.Call):
            raise UnsupportedOperation(call, f"of @{call.callee}, a recursive function, is not supported on the CPU")
    return [op for op in module.body if isinstance(op, tt.Func) and op.sym_visibility == "public"]
