"""`tritium.language.core`: the basic names of the language."""

# ruff: noqa: F401
from ..frontend.aggregates import aggregate as _aggregate
from ..frontend.aggregates import aggregate_replace
from ..frontend.language.core import *  # noqa: F403
from ..frontend.language.core import (
    _unwrap_if_constexpr,
    abs,
    add,
    builtin,
    clamp,
    condition,
    constexpr,
    constexpr_function,
    is_builtin,
    maximum,
    minimum,
    mul,
    range,
    static_range,
    sub,
    tensor,
    tensor_descriptor,
    tensor_descriptor_base,
    tuple,
)
from ..frontend.language.library_support import *  # noqa: F403
