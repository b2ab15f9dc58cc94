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
from ..support.lazy import lazy_attributes

__getattr__ = lazy_attributes(  # for authors of libraries
    __name__,
    dict.fromkeys(
        (
            *(
                "_tensor_member_fn",
                "base_value",
                "binary_op_type_legalization",
                "check_bit_width",
                "dataclass_transform",
                "dispatch",
            ),
            *("is_enabled", "is_negative_zero", "slice", "slice_type"),
        ),
        "..frontend.language.library_support",
    ),
    globals(),
    __package__,
)
