"""From a Gluon function with its signature and constants to a module of the dialects tt, ttg and gluon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialects import builtin, tt
from ...dialects.ttg_context import NUM_CTAS, NUM_WARPS, TARGET, THREADS_PER_WARP
from ...ir import IntegerAttr, StringAttr, i32
from ..callee import SourceFunction
from ..visitor import ast_to_ttir
from ..visitor.unit import Unit
from . import descriptors
from .semantic import GluonSemantic

__all__ = ["gluon_to_ttgir"]

_ = descriptors  # its types are named in signatures

_WARP = 32
"""Threads of a warp in layouts, on targets without warps: those of NVIDIA's GPUs."""


class GluonUnit(Unit):
    """State shared by the visitors of all functions of one module in Gluon."""

    typing_rules = GluonSemantic
    semantic: GluonSemantic

    def surroundings(self) -> str:
        """The partition of a call: its number of warps, which the layouts in the function must fit."""
        return "" if self.semantic.warps is None else f"_NW{self.semantic.warps}"

    def insert_function(self, func: tt.Func, position: int) -> None:
        """Insert a function into the module; one that partitions call says for how many warps it is."""
        if self.semantic.warps is not None:
            func.attributes[NUM_WARPS] = IntegerAttr(self.semantic.warps, i32)
        super().insert_function(func, position)


def gluon_to_ttgir(
    fn: SourceFunction,
    signature: Mapping[str, Any],
    constants: Mapping[Any, Any],
    attrs: Mapping[Any, Any],
    options: Any,
    name: str,
    target: str,
) -> builtin.Module:
    """Compile the kernel `fn`; the arguments are those of `ast_to_ttir`, and the target's name, "cuda:90".

    The module says how many warps and CTAs there are, which the layouts of its types must fit. Layouts may still be
    automatic. Raises CompilationError with the position in the source.
    """
    unit = GluonUnit(options)
    attributes = unit.module.attributes
    attributes[TARGET] = StringAttr(target)
    numbers = {
        NUM_WARPS: options.num_warps,
        NUM_CTAS: getattr(options, "num_ctas", 1),
        THREADS_PER_WARP: options.warp_size if options.warp_size > 1 else _WARP,
    }
    attributes.update({key: IntegerAttr(number, i32) for key, number in numbers.items()})
    return ast_to_ttir(fn, signature, constants, attrs, options, name, unit)
