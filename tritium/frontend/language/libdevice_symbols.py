"""Symbols and overloads of the device library functions in the libraries of the GPU vendors.

A group maps a pattern to the names that share it. A pattern lists overloads as `types:symbol`, with one letter a type:
i and u for 32-bit integers, l and U for 64-bit ones, f for fp32, d for fp64. The result has the type of the last
argument unless `>` names another. `*` in a symbol stands for the function's name. Symbols have the library's prefix,
except those that start with `!`.

Sources: the user's guide of NVIDIA's libdevice, and the headers of AMD's OCML and OCKL.
"""

from __future__ import annotations

from functools import lru_cache

from ..dtypes import dtype, float32, float64, int32, int64, uint32, uint64

__all__ = ["PREDICATES", "library_names", "overloads"]

_CUDA = {
    "f:*f d:*": "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv"
    " erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt"
    " rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1",
    "ff:f* dd:d*": "add_rd add_rn add_ru add_rz div_rd div_rn div_ru div_rz mul_rd mul_rn mul_ru mul_rz sub_rd sub_rn"
    " sub_ru sub_rz",
    "ff:*f dd:*": "atan2 copysign fdim fmod hypot nextafter remainder rhypot",
    "fff:*f ddd:*": "fma norm3d rnorm3d",
    "ffff:*f dddd:*": "norm4d rnorm4d",
    "fff:fmaf_rd ddd:*": "fma_rd",
    "fff:fmaf_rn ddd:*": "fma_rn",
    "fff:fmaf_ru ddd:*": "fma_ru",
    "fff:fmaf_rz ddd:*": "fma_rz",
    "f:f* d:d*": "rcp_rd rcp_rn rcp_ru rcp_rz sqrt_rd sqrt_rn sqrt_ru sqrt_rz",
    "f:f*": "rsqrt_rn",
    "d:*": "rcp64h",
    "f:*": "fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf saturatef",
    "f:tanhf": "fast_tanhf",
    "ff:*": "fast_powf",
    "ff:fast_fdividef": "fast_dividef",
    "f:fabsf d:fabs": "fabs",
    "i:* l:ll* f:f*f d:f*": "abs",
    "fi>f:*if di>d:*i ff:*f dd:*": "pow",
    "fi>f:*f di>d:*": "ldexp scalbn",
    "if:*f id:*": "jn yn",
    "f>i:*f d>i:*": "ilogb",
    "f>i:*f d>i:*d": "isinf isnan signbit",
    "f>l:*f d>l:*": "llrint llround",
    "i:* l>i:*ll": "clz ffs popc",
    "i:* l:*ll": "brev",
    "ii:* uu:u*": "hadd mul24 rhadd",
    "ii:* uu:u* ll:mul64hi UU:umul64hi": "mulhi",
    "iii:*": "byte_perm",
    "iiu>i:* uuu:u*": "sad",
    "ii>d:*": "hiloint2double",
    "f>i:*": "finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn float2uint_ru"
    " float2uint_rz float_as_int float_as_uint",
    "f>l:*": "float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz",
    "d>f:*": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "d>i:*": "double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint double2uint_rd"
    " double2uint_rn double2uint_ru double2uint_rz isfinited",
    "d>l:*": "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru"
    " double2ull_rz double_as_longlong",
    "i>f:*": "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float",
    "i>d:*": "int2double_rn",
    "u>f:*": "uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float",
    "u>d:*": "uint2double_rn",
    "l>f:*": "ll2float_rd ll2float_rn ll2float_ru ll2float_rz",
    "l>d:*": "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double",
    "U>f:*": "ull2float_rd ull2float_rn ull2float_ru ull2float_rz",
    "U>d:*": "ull2double_rd ull2double_rn ull2double_ru ull2double_rz",
}
_HIP = {
    "f:*_f32 d:*_f64": "acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfcx erfinv exp exp2 expm1 floor j0 j1"
    " lgamma log log10 log1p log2 nearbyint round rsqrt sin sinh sqrt tan tanh trunc y0 y1",
    "f:i0_f32 d:i0_f64": "cyl_bessel_i0",
    "f:i1_f32 d:i1_f64": "cyl_bessel_i1",
    "ff:*_f32 dd:*_f64": "atan2 copysign fmod hypot nextafter",
    "fff:*_f32 ddd:*_f64": "fma",
    "fi>f:*n_f32 di>d:*n_f64 ff:*_f32 dd:*_f64": "pow",
    "fi>f:*_f32 di>d:*_f64": "ldexp",
    "f>i:*_f32 d>i:*_f64": "ilogb isinf isnan signbit",
    "f>i:isfinite_f32": "finitef",
    "d>i:isfinite_f64": "isfinited",
    "f:!__triton_hip_*": "fast_expf fast_tanhf",
    "ff:!__triton_hip_fast_fdividef": "fast_dividef",
    "f:!__triton_hip_* d:!__triton_hip_*": "rint",
    "f>l:!__triton_hip_* d>l:!__triton_hip_*": "llrint",
    "i:!__triton_hip_iabs l:!__triton_hip_iabs f:!__triton_hip_fabs d:!__triton_hip_fabs": "abs",
    "f:!__triton_hip_fabs d:!__triton_hip_fabs": "fabs",
    "i:!__ockl_clz_u32 l:!__ockl_clz_u64": "clz",
    "i:!__ockl_popcount_u32 l>i:!__ockl_popcount_u64": "popc",
}
_LIBRARIES = {"cuda": ("__nv_", _CUDA), "hip": ("__ocml_", _HIP)}
_TYPES = {"i": int32, "u": uint32, "l": int64, "U": uint64, "f": float32, "d": float64}

NOT_LOWERED = frozenset((
    "cyl_bessel_i0", "cyl_bessel_i1", "erfcx", "fast_dividef", "fast_expf", "fast_tanhf", "ilogb", "j0", "j1",
    "nextafter", "y0", "y1",
))  # fmt: skip
"""Functions of OCML that have no lowering for AMD GPUs: they are written in the language, as on CPUs."""

PREDICATES = frozenset({"isinf", "isnan", "finitef", "isfinited"})
"""Functions whose integer result 0 or 1 becomes int1."""


@lru_cache
def _patterns(backend: str) -> dict[str, str]:
    prefix_and_groups = _LIBRARIES.get(backend)
    if prefix_and_groups is None:
        return {}
    return {name: pattern for pattern, names in prefix_and_groups[1].items() for name in names.split()}


def library_names(backend: str) -> frozenset[str]:
    """The functions that the library of a backend has; empty without a library."""
    return frozenset(_patterns(backend))


@lru_cache
def overloads(backend: str, name: str) -> dict[tuple[dtype, ...], tuple[str, dtype]] | None:
    """Types of the arguments -> (symbol, type of the result); None if the library has no such function."""
    pattern = _patterns(backend).get(name)
    if pattern is None:
        return None
    prefix = _LIBRARIES[backend][0]
    found = {}
    for overload in pattern.split():
        types, symbol = overload.split(":")
        arguments, _, result = types.partition(">")
        symbol = symbol[1:] if symbol[0] == "!" else prefix + symbol
        key = tuple(_TYPES[t] for t in arguments)
        found[key] = (symbol.replace("*", name), _TYPES[result or arguments[-1]])
    return found
