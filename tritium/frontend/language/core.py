"""All basic names of the language in one module, as `triton.language.core` has them."""

# ruff: noqa: F401, F403
from ..callee import constexpr_function
from ..constexpr import constexpr
from ..constexpr import unwrap as _unwrap_if_constexpr
from ..dtypes import *
from ..tensor import tensor, tensor_descriptor, tensor_descriptor_base
from ..tuples import tuple
from .builtin import builtin, is_builtin
from .creation import *
from .hints import *
from .hints import CONSTEXPR_0
from .iterators import condition, range, static_range
from .mathematics import PropagateNan, abs, clamp, maximum, minimum, umulhi
from .memory import *
from .operators import add, mul, sub
from .reductions import associative_scan, dot, dot_scaled, expect_zero, histogram, map_elementwise, reduce, where
