"""Between the float types LLVM knows, to nearest even.

bf16 is kept as its bits and converted in integers: AVX512_BF16's `vcvtneps2bf16`, which LLVM would choose for its own
`bfloat`, flushes denormals, and without that unit LLVM calls a library that is not there. Arithmetic on bf16 is done
in f32.
"""

from __future__ import annotations

from ...ir import IntegerType, Type, bf16, element_type, f32, f64, i32, with_element
from .context import FunctionContext
from .types import bit_width, lanes_of, llvm_type, mangled

__all__ = ["resize", "through_single", "to_single"]


def resize(e: FunctionContext, value: str, source: Type, target: Type) -> str:
    """`value` of type `source` as `target`; both of one shape."""
    if source is target:
        return value
    if element_type(source) is f64 and bit_width(target) == 16:
        single = with_element(source, f32)
        return resize(e, _to_odd_single(e, value, source), single, target)
    if element_type(target) is bf16 and element_type(source) is not bf16:
        single = with_element(source, f32)
        return _to_bfloat(e, resize(e, value, source, single), single)
    if element_type(source) is bf16:
        single = with_element(source, f32)
        return resize(e, _from_bfloat(e, value, source), single, target)
    name = "fpext" if bit_width(target) > bit_width(source) else "fptrunc"
    return e.op(f"{name} {llvm_type(source)} {value} to {llvm_type(target)}")


def to_single(e: FunctionContext, value: str, source: Type) -> str:
    """A float as f32 that is to be rounded to fewer bits next: f64 to odd, so that it is rounded once."""
    if element_type(source) is f64:
        return _to_odd_single(e, value, source)
    return resize(e, value, source, with_element(source, f32))


def through_single(e: FunctionContext, ty: Type, operands: list[str]) -> tuple[Type, list[str]]:
    """16-bit floats as f32; wider ones as they are."""
    if bit_width(ty) >= 32:
        return ty, operands
    wide = with_element(ty, f32)
    return wide, [resize(e, v, ty, wide) for v in operands]


def _to_odd_single(e: FunctionContext, value: str, ty: Type) -> str:
    """f64 as f32 rounded to odd, so that the rounding to 16 bits that follows is as if it were the only one.

    (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008: two bits more are enough.) Directly,
    LLVM calls a library function that is not there.
    """
    single, int_type = with_element(ty, f32), llvm_type(with_element(ty, i32))
    double, mask = llvm_type(ty), llvm_type(with_element(ty, IntegerType(1)))
    near = e.op(f"fptrunc {double} {value} to {llvm_type(single)}")
    back = e.op(f"fpext {llvm_type(single)} {near} to {double}")
    sizes = [e.call(ty, f"llvm.fabs.{mangled(ty)}", (double, x)) for x in (back, value)]
    beyond = e.op(f"zext {mask} {e.op(f'fcmp ogt {double} {sizes[0]}, {sizes[1]}')} to {int_type}")
    lost = e.op(f"zext {mask} {e.op(f'fcmp one {double} {back}, {value}')} to {int_type}")
    bits = e.op(f"bitcast {llvm_type(single)} {near} to {int_type}")
    cut = e.op(f"sub {int_type} {bits}, {beyond}")
    return e.op(f"bitcast {int_type} {e.op(f'or {int_type} {cut}, {lost}')} to {llvm_type(single)}")


def _to_bfloat(e: FunctionContext, value: str, ty: Type) -> str:
    int_type = llvm_type(with_element(ty, i32))
    mask = llvm_type(with_element(ty, IntegerType(1)))

    def number(n: int) -> str:
        return str(n) if lanes_of(ty) == 1 and int_type == "i32" else f"splat (i32 {n})"

    bits = e.op(f"bitcast {llvm_type(ty)} {value} to {int_type}")
    odd = e.op(f"and {int_type} {e.op(f'lshr {int_type} {bits}, {number(16)}')}, {number(1)}")
    half = e.op(f"add {int_type} {odd}, {number(0x7FFF)}")
    rounded = e.op(f"add {int_type} {bits}, {half}")
    quiet = e.op(f"or {int_type} {bits}, {number(0x400000)}")
    is_nan = e.op(f"fcmp uno {llvm_type(ty)} {value}, {value}")
    chosen = e.op(f"select {mask} {is_nan}, {int_type} {quiet}, {int_type} {rounded}")
    top = e.op(f"lshr {int_type} {chosen}, {number(16)}")
    return e.op(f"trunc {int_type} {top} to {llvm_type(with_element(ty, bf16))}")


def _from_bfloat(e: FunctionContext, value: str, ty: Type) -> str:
    """Exact: bf16 is the upper half of f32."""
    int_type = llvm_type(with_element(ty, i32))
    wide = e.op(f"zext {llvm_type(ty)} {value} to {int_type}")
    shift = "16" if int_type == "i32" else "splat (i32 16)"
    placed = e.op(f"shl {int_type} {wide}, {shift}")
    return e.op(f"bitcast {int_type} {placed} to {llvm_type(with_element(ty, f32))}")
