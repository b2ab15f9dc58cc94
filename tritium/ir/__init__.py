"""The multi-level IR, shaped and spelt like MLIR: types, attributes, operations, text, passes."""

from typing import TYPE_CHECKING

from ..support.lazy import lazy_attributes
from .attributes import *
from .attributes import scalar_attr
from .builder import Builder
from .builtin_attributes import *
from .builtin_types import *
from .definition import *
from .dominance import Dominance, value_dominates
from .floats import *
from .folding import *
from .interfaces import *
from .interning import *
from .operation import *
from .operation import clone_region_into
from .passes import (
    LAZY,
    PASSES,
    Nest,
    Pass,
    PassInfo,
    PassRegistry,
    PassRun,
    PipelineReport,
    Row,
    Spelling,
    check_order,
    count,
    functions_of,
    pass_on,
    run_pipeline,
    symbol_name,
)
from .printer import print_op
from .registry import load_dialect, register_dialects, registered_dialects
from .remarks import listening, remark, warn
from .resources import *
from .rewriter import *
from .symbols import *
from .traits import *
from .types import *
from .verifier import SURROUNDINGS, VerificationError, verify

if TYPE_CHECKING:
    from .parser import ParseError, parse_attribute, parse_module, parse_modules, parse_type
    from .passes import (
        Bisection,
        PassError,
        PassInterrupted,
        PassManager,
        PipelineError,
        bisect,
        parse_pipeline,
        print_pipeline,
    )

_PARSER = ("ParseError", "parse_attribute", "parse_module", "parse_modules", "parse_type")  # kernels are no text

__getattr__ = lazy_attributes(
    __name__, {**dict.fromkeys(LAZY, ".passes"), **dict.fromkeys(_PARSER, ".parser")}, globals()
)
