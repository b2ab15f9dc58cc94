"""`triton._C.libtriton.ir`: contexts, modules from text, pass managers, builders, enumerations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...compiler.module_views import (
    BlockView,
    Context,
    FunctionView,
    LocationView,
    ModuleView,
    OperationView,
    RegionView,
    TypeView,
    ValueView,
    module_of,
)
from ...compiler.text import read_module
from ...dialects import builtin
from ...dropin.refusal import refused_attributes
from ...ir import Attribute, DenseElementsAttr, IntegerAttr, IntegerType, TensorType, UnitAttr, verify
from ...ir.passes import Row, print_pipeline, run_pipeline
from ...ir.passes.run import RunSettings
from ...support import dataclasses
from .ir_builder import builder
from .ir_enums import ENUMERATIONS, flat_member

__all__ = [
    "attribute",
    "block",
    "block_argument",
    "builder",
    "context",
    "function",
    "integer_attr",
    "load_dialects",
    "location",
    "make_attr",
    "module",
    "op_result",
    "operation",
    "parse_mlir_module",
    "pass_manager",
    "region",
    "type",
    "unit_attr",
    "value",
]

context, module, operation, function = Context, builtin.Module, OperationView, FunctionView
value = op_result = block_argument = ValueView
block, region, location, type = BlockView, RegionView, LocationView, TypeView
attribute, integer_attr, unit_attr = Attribute, IntegerAttr, UnitAttr
_ = ModuleView


def load_dialects(context: Context) -> None:
    """Nothing: dialects are imported when text or a pass names them."""


def parse_mlir_module(path: str, context: Context) -> builtin.Module:
    """The verified module of a file with MLIR text; ParseError or VerificationError with the place in the file."""
    return read_module(Path(path).read_text(encoding="utf-8"), str(path))


def make_attr(values: list[int], context: Context) -> Attribute:
    """Integers as a tensor<Nxi32> attribute."""
    return DenseElementsAttr(tuple(values), TensorType((len(values),), IntegerType(32)))


class pass_manager:
    """A list of passes, which the functions of `passes` and `nvidia.passes` add to, and `run`.

    MLIR_ENABLE_DUMP, MLIR_ENABLE_TIMING, MLIR_ENABLE_DIAGNOSTICS and TRITON_REPRODUCER_PATH apply as in Triton.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rows: list[Row] = []
        self._debug = False

    def enable_debug(self) -> bool:
        """Let MLIR_ENABLE_DUMP apply to `run`; True when it asks for the IR of all kernels."""
        self._debug = True
        dump = RunSettings.of_environment().dump
        return dump is not None and not dump.functions

    def get_pipeline_str(self) -> str:
        """The passes as text: `any(inliner,canonicalize)`."""
        return f"any({print_pipeline(self.rows)})"

    def run(self, module: Any, name: str = "passes") -> None:
        """Run the passes on a module, then verify it; `name` is that of the stage, such as "make_ttir"."""
        settings = RunSettings.of_environment()
        if settings.dump is not None:
            dump = dataclasses.replace(settings.dump, locations=True) if self._debug else None
            settings = settings.replace(dump=dump)
        stage = name.removeprefix("make_")
        run_pipeline(module_of(module), self.rows, stage=stage, verifier=verify, settings=settings, as_given=True)


_STATE = "modules are walked with mod.walk(fn), and built by the frontend"
_refused = refused_attributes(
    __name__,
    {
        "ConditionOp ForOp IfOp OpState WhileOp YieldOp op_builder": _STATE,
        "InsertPoint": "builder.get_insertion_point() gives one",
        "bool_attr": "builder.get_bool_attr(value) makes one",
        "deduce_scale_factor": "tl.dot_scaled computes it",
        "extend_dialects_with": "extensions are Python modules, see docs/plugins.md",
        "function_type": "builder.get_function_ty(inputs, results) makes one",
        "source_mgr_diag": "diagnostics go to stderr, see MLIR_ENABLE_DIAGNOSTICS",
    },
)


def __getattr__(name: str) -> Any:
    if name in ENUMERATIONS:
        return ENUMERATIONS[name]
    member = flat_member(name)
    return _refused(name) if member is None else member
