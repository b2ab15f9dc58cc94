"""Run the vector math functions on NumPy arrays, and measure their errors in units in the last place.

The references are the C library's long double functions (64 bits of mantissa on x86), called from loops compiled
here; elsewhere mpmath.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from tritium.conversion.llvm.vecmath import MATH_FUNCTIONS, MathFunction, vector_math_function

LLVM_TYPE = {"f32": "float", "f64": "double"}
DTYPE = {"f32": np.float32, "f64": np.float64}
HAS_LONG_DOUBLE = platform.machine() == "x86_64" and platform.system() == "Linux"
# C's names where they differ from ours.
C_NAMES = {"abs": "fabs"}


@cache
def initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if platform.system() == "Linux":
        llvm.load_library_permanently("libm.so.6")


def vector_type(element: str, lanes: int) -> str:
    return LLVM_TYPE[element] if lanes == 1 else f"<{lanes} x {LLVM_TYPE[element]}>"


def loop_text(function: MathFunction, arity: int) -> str:
    """A module with `void @loop(ptr out, ptr a, …, i64 n)`: out[i] = f(a[i], …); n is a multiple of the lanes."""
    vector, size = vector_type(function.element, function.lanes), int(function.element[1:]) // 8
    parts = function.all_functions()
    declares = sorted(set().union(*(p.declares for p in parts)))
    names = "abc"[:arity]
    loads = [
        f"  %p{n} = getelementptr {LLVM_TYPE[function.element]}, ptr %{n}, i64 %i\n"
        f"  %v{n} = load {vector}, ptr %p{n}, align {size}"
        for n in names
    ]
    arguments = ", ".join(f"{vector} %v{n}" for n in names)
    return "\n".join(
        [
            *declares,
            *(p.text for p in parts),
            f"define void @loop(ptr noalias %out, {''.join(f'ptr noalias %{n}, ' for n in names)}i64 %n) {{",
            "entry:\n  br label %body",
            "body:\n  %i = phi i64 [ 0, %entry ], [ %next, %body ]",
            *loads,
            f"  %r = call {vector} @{function.symbol}({arguments})",
            f"  %q = getelementptr {LLVM_TYPE[function.element]}, ptr %out, i64 %i",
            f"  store {vector} %r, ptr %q, align {size}",
            f"  %next = add i64 %i, {function.lanes}",
            "  %more = icmp slt i64 %next, %n\n  br i1 %more, label %body, label %exit",
            "exit:\n  ret void\n}",
        ]
    )


def optimized(text: str, machine: llvm.TargetMachine, triple: str) -> llvm.ModuleRef:
    """Parsed, verified and optimized for a target; the loops stay as wide as they are written."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple, module.data_layout = triple, str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def host_machine(cpu: str = "") -> llvm.TargetMachine:
    """This machine, or what `cpu`, an older one it can stand in for, has of it."""
    initialize()
    features = "" if cpu else llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu or llvm.get_host_cpu_name(), features=features, opt=3, jit=True
    )


def host_runs(cpu: str) -> bool:
    """Can this machine run code for an x86-64 level?"""
    needed = {"x86-64": "sse2", "x86-64-v3": "avx2"}
    return platform.machine() == "x86_64" and llvm.get_host_cpu_features().get(needed[cpu], False)


_ENGINES = []


def jitted(text: str, name: str, *types: type, cpu: str = "") -> Callable[..., None]:
    """The address of @name of a module, as a ctypes function without result."""
    machine = host_machine(cpu)
    module = optimized(text, machine, llvm.get_process_triple())
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    return ctypes.CFUNCTYPE(None, *types)(engine.get_function_address(name))


def pointer(array: np.ndarray) -> int:
    return array.ctypes.data


@cache
def compiled(name: str, element: str, lanes: int, cpu: str = "", avx512: bool = False) -> Callable[..., np.ndarray]:
    """`f(a, …) -> array` for the function `name` of the table."""
    function, arity = vector_math_function(name, element, lanes, avx512), MATH_FUNCTIONS[name].arity
    raw = jitted(loop_text(function, arity), "loop", *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64, cpu=cpu)

    def run(*arrays: np.ndarray) -> np.ndarray:
        count = arrays[0].size
        padded = -(-count // lanes) * lanes
        inputs = [np.resize(np.ascontiguousarray(a, DTYPE[element]), padded) for a in arrays]
        out = np.full(padded, -12345.0, DTYPE[element])
        raw(pointer(out), *(pointer(a) for a in inputs), padded)
        return out[:count]

    return run


def _reference_text(name: str, arity: int, c_type: str, size: int, suffix: str) -> str:
    """`void @loop(ptr out, ptr a, …, i64 n)` over the C library's function."""
    names = "abc"[:arity]
    c_name = C_NAMES.get(name, name) + suffix
    arguments = ", ".join(f"{c_type} %v{n}" for n in names)
    call = f"  %r = call {c_type} @{c_name}({arguments})"
    declares = [f"declare {c_type} @{c_name}({', '.join([c_type] * arity)})"]
    if name == "rsqrt":
        one = "0xK3FFF8000000000000000" if c_type == "x86_fp80" else "1.0"
        declares = [f"declare {c_type} @sqrt{suffix}({c_type})"]
        call = f"  %s = call {c_type} @sqrt{suffix}({c_type} %va)\n  %r = fdiv {c_type} {one}, %s"
    return "\n".join(
        [
            *declares,
            f"define void @loop(ptr noalias %out, {''.join(f'ptr noalias %{n}, ' for n in names)}i64 %n) {{",
            "entry:\n  br label %body",
            "body:\n  %i = phi i64 [ 0, %entry ], [ %next, %body ]",
            *(
                f"  %p{n} = getelementptr i8, ptr %{n}, i64 %o\n  %v{n} = load {c_type}, ptr %p{n}, align {size}"
                for n in names
            ),
            call,
            f"  %q = getelementptr i8, ptr %out, i64 %o\n  store {c_type} %r, ptr %q, align {size}",
            "  %next = add i64 %i, 1\n  %more = icmp slt i64 %next, %n\n  br i1 %more, label %body, label %exit",
            "exit:\n  ret void\n}",
        ]
    ).replace(
        "phi i64 [ 0, %entry ], [ %next, %body ]", f"phi i64 [ 0, %entry ], [ %next, %body ]\n  %o = mul i64 %i, {size}"
    )


@cache
def _long_double_loop(name: str, arity: int) -> Callable[..., None]:
    text = _reference_text(name, arity, "x86_fp80", 16, "l")
    return jitted(text, "loop", *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64)


@cache
def double_loop(name: str, arity: int) -> Callable[..., None]:
    """The C library's double function, for references of f32 results (its own error is 2^-29 of their unit)."""
    return jitted(
        _reference_text(name, arity, "double", 8, ""), "loop", *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64
    )


def has_double(name: str) -> bool:
    """Does the C library have it for doubles?"""
    return name not in ("erfinv",)


def has_reference(name: str) -> bool:
    """Is there anything better than the function itself to compare with here?"""
    return HAS_LONG_DOUBLE or MATH_FUNCTIONS[name].arity == 1


def _erfinv_reference(x: np.ndarray) -> np.ndarray:
    """erfinv in long double: SciPy's double and two steps of Newton's, on erfc where erf is close to 1."""
    from scipy.special import erfinv

    wide = np.abs(np.ascontiguousarray(x, np.longdouble))
    inside = np.where(wide < 1, wide, np.longdouble(0.5))
    y = erfinv(inside.astype(np.float64)).astype(np.longdouble)
    y = np.where(np.isfinite(y), y, np.longdouble(5.8))
    for _ in range(2):
        error = np.where(inside < 0.5, reference("erf", y) - inside, (1 - inside) - reference("erfc", y))
        y = y - error * reference("exp", y * y) * (np.sqrt(np.longdouble(np.pi)) / 2)
    y = np.where(wide < 1, y, np.where(wide == 1, np.inf, np.nan))
    return np.copysign(y, x.astype(np.longdouble))


def reference(name: str, *arrays: np.ndarray) -> np.ndarray:
    """The function in long double (x86), of float arrays of one shape; elsewhere through mpmath, rounded to double."""
    if HAS_LONG_DOUBLE and name == "erfinv":
        return _erfinv_reference(*arrays)
    if not HAS_LONG_DOUBLE:
        return _mpmath_reference(name, *arrays)
    wide = [np.ascontiguousarray(a, np.longdouble) for a in arrays]
    out = np.empty(wide[0].shape, np.longdouble)
    _long_double_loop(name, len(wide))(pointer(out), *(pointer(a) for a in wide), out.size)
    if name == "pow":
        # glibc 2.36's powl(-inf, -2^63) is inf.
        infinite = np.isinf(wide[0])
        out[infinite] = np.power(wide[0][infinite].astype(np.float64), wide[1][infinite].astype(np.float64))
    return out


def _mpmath_reference(name: str, *arrays: np.ndarray) -> np.ndarray:
    import mpmath

    special = {"rsqrt": lambda x: 1 / mpmath.sqrt(x), "exp2": lambda x: mpmath.power(2, x), "abs": abs}
    function = special.get(name) or getattr(mpmath, name)

    def one(*values: float) -> float:
        try:
            return float(function(*(mpmath.mpf(float(v)) for v in values)))
        except (ValueError, ZeroDivisionError, TypeError):
            return float("nan")

    return np.array([one(*values) for values in zip(*arrays, strict=True)], np.float64)


_LIMITS = {"f32": (-126, 23, 128), "f64": (-1022, 52, 1024)}


def ulp_errors(result: np.ndarray, exact: np.ndarray, element: str, scale: np.ndarray | None = None) -> np.ndarray:
    """|result - exact| in units in the last place of `scale`: of the exact value (subnormal: smallest normal).

    Infinity counts as the first number too large; NaN where NaN is right is no error, and infinite error anywhere else.
    """
    least, mantissa, top = _LIMITS[element]
    wide = np.longdouble if HAS_LONG_DOUBLE else np.float64
    r, e = result.astype(wide), exact.astype(wide)
    limit = wide(2) ** top if wide is np.longdouble or element == "f32" else np.float64(np.inf)
    with np.errstate(all="ignore"):
        r_clipped, e_clipped = np.clip(r, -limit, limit), np.clip(e, -limit, limit)
        unit = e_clipped if scale is None else np.clip(scale.astype(wide), -limit, limit)
        exponent = np.clip(np.frexp(unit)[1] - 1, least, top - 1)
        errors = np.where(r_clipped == e_clipped, 0, np.abs(np.ldexp(r_clipped - e_clipped, mantissa - exponent)))
    errors = np.where(np.isnan(e) & np.isnan(r), 0, errors)
    return np.where(np.isnan(e) != np.isnan(r), np.inf, errors).astype(np.float64)


def worst(name: str, element: str, lanes: int, *arrays: np.ndarray) -> tuple[float, tuple[float, ...]]:
    """The largest error over some arguments, and the arguments it belongs to."""
    inputs = [np.ascontiguousarray(a, DTYPE[element]) for a in arrays]
    exact, scale = reference(name, *inputs), None
    if name == "lgamma":  # left of 0 it is a difference of two terms, with zeros between all integers
        other = np.maximum(np.abs(reference(name, np.abs(inputs[0]))), 1)
        scale = np.where(inputs[0] < 0, np.maximum(np.abs(exact), other), exact)
    errors = ulp_errors(compiled(name, element, lanes)(*inputs), exact, element, scale)
    i = int(np.argmax(errors))
    return float(errors[i]), tuple(float(a[i]) for a in inputs)


def specials(element: str) -> np.ndarray:
    """Zeros, infinities, NaNs (some with a payload, some negative), the ends of both ranges, integers."""
    info = np.finfo(DTYPE[element])
    positive = [0.0, 1.0, np.inf, info.tiny, info.smallest_subnormal, info.max, info.eps, 1 + info.eps, 1 - info.epsneg]
    positive += [float(k) for k in range(2, 40)] + [k + 0.5 for k in range(12)] + [np.pi, np.pi / 2, np.pi / 4, np.e]
    positive += [2.0**k for k in range(info.minexp, info.maxexp, 3)] + [10.0**k for k in range(-30, 30)]
    values = np.array(positive, DTYPE[element])
    integer = np.dtype(f"u{values.itemsize}").type
    payload = np.array([integer(np.array(np.nan, DTYPE[element]).view(integer) + 0x155)]).view(DTYPE[element])
    near = np.concatenate(
        [values, np.nextafter(values, DTYPE[element](np.inf)), np.nextafter(values, DTYPE[element](0))]
    )
    return np.concatenate([near, -near, [DTYPE[element](np.nan)], payload, -payload])


def spread(element: str, count: int, seed: int = 0) -> np.ndarray:
    """Bit patterns evenly spread over the whole format, each moved a little at random, and all specials."""
    rng = np.random.default_rng(seed)
    bits = int(element[1:])
    step = 2**bits // count
    patterns = np.arange(count, dtype=np.uint64) * np.uint64(step) + rng.integers(0, step, count, dtype=np.uint64)
    return np.concatenate([patterns.astype(f"u{bits // 8}").view(DTYPE[element]), specials(element)])
