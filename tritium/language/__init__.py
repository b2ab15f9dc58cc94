"""The kernel language: `import tritium.language as tl`.

Every name of `triton.language` is here; a function that is not supported yet raises an error when a kernel uses it.
"""

# ruff: noqa: E402, F405
from typing import TYPE_CHECKING

from ..support.lazy import lazy_attributes, load
from ..support.limits import MAX_TENSOR_ELEMENTS

load(".core", __package__)  # first: it imports nearly all of the frontend

from ..frontend.aggregate_types import *
from ..frontend.aggregates import aggregate_replace
from ..frontend.callee import constexpr_function
from ..frontend.dtypes import *
from ..frontend.language.core import *
from ..frontend.language.device import unsupported
from ..frontend.language.mathematics import *
from ..frontend.language.standard import *
from ..frontend.language.standard import bitonic_merge
from . import core

if TYPE_CHECKING:
    from ..frontend.language.random import *
    from . import extra, math, random, standard, target_info
    from .extra import libdevice

_RANDOM = (
    *("N_ROUNDS_DEFAULT", "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x"),
    *("randn", "randn4x", "uint_to_uniform_float"),
)
__getattr__ = lazy_attributes(  # rarely used by kernels
    __name__,
    {
        **{name: f".{name}:" for name in ("extra", "math", "random", "standard", "target_info")},
        "libdevice": ".extra.libdevice:",
        **dict.fromkeys(_RANDOM, ".random"),
    },
    globals(),
)

TRITON_MAX_TENSOR_NUMEL = MAX_TENSOR_ELEMENTS
constexpr = core.constexpr
tensor = core.tensor
tensor_descriptor = core.tensor_descriptor
tuple = core.tuple
slice = slice  # a slice in a kernel is Python's own
range = core.range
static_range = core.static_range
condition = core.condition
abs = core.abs

_NOT_YET = {
    "inline_asm": "use tl.inline_asm_elementwise",
}
for _name, _hint in _NOT_YET.items():
    globals()[_name] = unsupported(f"tl.{_name}", _hint)

_experimental_make_tensor_descriptor = core.make_tensor_descriptor
_experimental_descriptor_load = core.load_tensor_descriptor
_experimental_descriptor_store = unsupported("tl._experimental_descriptor_store", "use tl.make_tensor_descriptor")

__all__ = [
    "PropagateNan",
    "TRITON_MAX_TENSOR_NUMEL",
    "abs",
    "add",
    "advance",
    "aggregate_replace",
    "arange",
    "argmax",
    "argmin",
    "associative_scan",
    "assume",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "bfloat16",
    "bitonic_merge",
    "block_type",
    "broadcast",
    "broadcast_to",
    "cast",
    "cat",
    "cdiv",
    "ceil",
    "clamp",
    "condition",
    "const",
    "constexpr",
    "constexpr_function",
    "constexpr_type",
    "cos",
    "cumprod",
    "cumsum",
    "debug_barrier",
    "device_assert",
    "device_print",
    "div_rn",
    "dot",
    "dot_scaled",
    "dtype",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "expect_zero",
    "extern_elementwise",
    "extra",
    "fdiv",
    "flip",
    "float16",
    "float32",
    "float64",
    "float8e4b15",
    "float8e4b8",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "floor",
    "fma",
    "full",
    "gather",
    "histogram",
    "inline_asm_elementwise",
    "int1",
    "int16",
    "int32",
    "int64",
    "int8",
    "interleave",
    "item",
    "join",
    "libdevice",
    "load",
    "load_tensor_descriptor",
    "log",
    "log2",
    "make_block_ptr",
    "make_tensor_descriptor",
    "map_elementwise",
    "math",
    "max",
    "max_constancy",
    "max_contiguous",
    "maximum",
    "min",
    "minimum",
    "mul",
    "multiple_of",
    "num_programs",
    "pair_uniform_to_normal",
    "permute",
    "philox",
    "philox_impl",
    "pi32_t",
    "pointer_type",
    "program_id",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "range",
    "ravel",
    "reduce",
    "reduce_or",
    "reshape",
    "rsqrt",
    "sigmoid",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "sqrt_rn",
    "squeeze",
    "static_assert",
    "static_print",
    "static_range",
    "store",
    "store_tensor_descriptor",
    "str_to_ty",
    "sub",
    "sum",
    "swizzle2d",
    "target_info",
    "tensor",
    "tensor_descriptor",
    "tensor_descriptor_type",
    "to_tensor",
    "topk",
    "trans",
    "tuple",
    "tuple_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uint_to_uniform_float",
    "umulhi",
    "unsqueeze",
    "view",
    "void",
    "where",
    "xor_sum",
    "zeros",
    "zeros_like",
]
