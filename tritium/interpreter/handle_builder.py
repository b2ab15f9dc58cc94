"""`InterpreterBuilder`: one method for each operation of the language, on handles; clients replace these methods.

The names, arguments and results are those of Triton's interpreter, whose clients (sanitizers, profilers, tracers) patch
them on the object `interpreter_builder`. `handle_dispatch` calls them for the operations that a kernel executes, always
through the object, so that a replacement takes effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dialects import arith, tt
from ..dialects import math as math_ops
from ..frontend import dtypes
from ..frontend.dtypes import block_type, dtype, pointer_type
from ..ir import Operation, TensorType
from .evaluator import AssertionFailed, Evaluator, UndefinedError
from .extremes import maximum, maximum_number, minimum, minimum_number
from .handle_memory import MemoryOperations
from .handle_values import held
from .handles import TensorHandle, from_array, numpy_dtype, retyped, to_array
from .immediate import Known
from .memory import Memory

__all__ = ["InterpreterBuilder", "InterpreterOptions"]


@dataclass(frozen=True)
class InterpreterOptions:
    """The capabilities of the interpreter: those of all targets."""

    extern_libs: dict[str, str] | None = None
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str | None = None
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e5b16", "fp8e4nv", "fp8e4b8", "fp8e4b15")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    backend_name: str = "interpreter"


def _shift(op: Any) -> Callable[[Any, Any], Any]:
    """A shift that yields what is left of the value, 0 or its sign, where the count reaches the width."""

    def shift(x: Any, y: Any) -> Any:
        width = x.dtype.itemsize * 8
        count = y.astype(np.uint64)
        far = count >= width
        count = np.where(far, width - 1, count).astype(x.dtype)
        shifted = op(x, count)
        return np.where(far & (op is np.left_shift or x.dtype.kind == "u"), 0, shifted).astype(x.dtype)

    return shift


_SHIFTS = {np.left_shift: _shift(np.left_shift), np.right_shift: _shift(np.right_shift)}
_TYPES = {
    "half": dtypes.float16,
    "bf16": dtypes.bfloat16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "fp8e4nv": dtypes.float8e4nv,
    "fp8e4b15": dtypes.float8e4b15,
    "fp8e4b8": dtypes.float8e4b8,
    "fp8e5": dtypes.float8e5,
    "fp8e5b16": dtypes.float8e5b16,
}
_INTEGERS = ("int1", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOATS = {"fp16": dtypes.float16, "bf16": dtypes.bfloat16, "fp32": dtypes.float32, "fp64": dtypes.float64}


class InterpreterBuilder(MemoryOperations):
    """The operations of the language on handles. Programs run one after the other; `grid_idx` is the one that runs."""

    def __init__(self) -> None:
        self.arch: str | None = None
        self.options = InterpreterOptions()
        self.codegen_fns: dict[str, Any] = {
            "convert_custom_types": ExtraFunctions._convert_custom_types,
            "min_dot_size": lambda lhs, rhs: (1, 1, 1),
        }
        self.evaluator = Evaluator(None, (1, 1, 1), Memory(), masked_zeros=True)  # type: ignore[arg-type]
        self.launched = False

    # -- the launch -------------------------------------------------------------------------------------------

    def set_grid_dim(self, nx: int, ny: int, nz: int) -> None:
        """Begin a launch of nx * ny * nz programs."""
        self.grid_dim = (nx, ny, nz)
        self.launched = True

    def set_grid_idx(self, x: int, y: int, z: int) -> None:
        """Choose the program that runs. ValueError outside of the grid."""
        for axis, at, size in zip("xyz", (x, y, z), self.grid_dim):
            if not 0 <= at < size:
                raise ValueError(f"program {at} of a grid of size {size} along {axis}")
        self.grid_idx = (x, y, z)

    @property
    def memory(self) -> Memory:
        """The arrays that kernels may access: those of the launch."""
        return self.evaluator.memory

    def arguments_memory(self) -> Memory:
        """The memory for the arguments of the next launch; what an earlier launch could access is forgotten."""
        if self.launched:
            self.evaluator.memory, self.launched = Memory(), False
        return self.evaluator.memory

    def evaluate(self, op: Operation, scalar: dtype | None = None) -> Any:
        """Run an IR operation; its result as a handle of elements of type `scalar`, a tuple of several."""
        results = self.evaluator.execute(op, Known())
        made = tuple(from_array(value, r.type, scalar) for value, r in zip(results, op.results))
        op.drop_references()
        return made[0] if len(made) == 1 else made

    # -- types and constants ----------------------------------------------------------------------------------

    def get_ptr_ty(self, elt_ty: dtype, addr_space: int) -> dtype:
        """The type of pointers to `elt_ty`."""
        return pointer_type(elt_ty, addr_space)

    def get_block_ty(self, dtype: dtype, shape: Sequence[int]) -> dtype:
        """The type of blocks of `dtype`."""
        return block_type(dtype, shape)

    def get_null_value(self, type: dtype) -> TensorHandle:
        """Zero."""
        return TensorHandle(np.zeros(1, numpy_dtype(type)), type.scalar)

    def get_all_ones_value(self, type: dtype) -> TensorHandle:
        """The integer whose bits are all set. TypeError for other types."""
        if not type.scalar.is_int():
            raise TypeError(f"unsupported type {type}")
        kind = numpy_dtype(type)
        ones = True if kind == np.bool_ else -1 if kind.kind == "i" else np.iinfo(kind).max
        return TensorHandle(np.full(1, ones, kind), type.scalar)

    # -- programs ---------------------------------------------------------------------------------------------

    def create_get_program_id(self, axis: int) -> TensorHandle:
        """The number of the running program along `axis`."""
        if self.grid_idx is None:
            raise ValueError("grid_idx is None")
        return TensorHandle(np.array([self.grid_idx[int(axis)]], np.int32), dtypes.int32)

    def create_get_num_programs(self, axis: int) -> TensorHandle:
        """The size of the grid along `axis`."""
        return TensorHandle(np.array([self.grid_dim[int(axis)]], np.int32), dtypes.int32)

    # -- elementwise ------------------------------------------------------------------------------------------

    def unary_op(self, arg: TensorHandle, op: Any) -> TensorHandle:
        """`op` of NumPy per element; of floats in double precision, rounded once."""
        x = _numeric(arg)
        result = op(x.astype(np.float64)) if x.dtype.kind == "f" else op(x)
        return from_array(result, arg.dtype.scalar.to_ir(), arg.dtype)

    def binary_op(self, lhs: TensorHandle, rhs: TensorHandle, op: Any) -> TensorHandle:
        """`op` of NumPy per element; int1 when it compares, else of the type of `lhs`. Integers wrap."""
        x, y = _numeric(lhs), _numeric(rhs)
        if x.dtype == y.dtype == np.bool_:
            x, y = x.astype(np.int8), y.astype(np.int8)  # 1 + 1 wraps to 0
        result = _SHIFTS.get(op, op)(x, y)
        if result.dtype == np.bool_:
            return TensorHandle(result, dtypes.int1)
        return from_array(result, lhs.dtype.scalar.to_ir(), lhs.dtype)

    def ternary_op(self, lhs: TensorHandle, rhs: TensorHandle, other: TensorHandle, op: Any) -> TensorHandle:
        """`op` of NumPy per element, of the type of `other`."""
        result = op(_numeric(lhs), _numeric(rhs), _numeric(other))
        return from_array(result, other.dtype.scalar.to_ir(), other.dtype)

    def create_idiv(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The quotient of integers, rounded towards zero."""
        op = arith.DivSI if lhs.dtype.is_int_signed() else arith.DivUI
        return self.evaluate(op(held(lhs), held(rhs)), lhs.dtype)

    def create_sdiv(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The quotient of signed integers."""
        return self.create_idiv(lhs, rhs)

    def create_udiv(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The quotient of unsigned integers."""
        return self.create_idiv(lhs, rhs)

    def create_ashr(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """lhs >> rhs that fills with the sign."""
        x, y = (TensorHandle(h.data.view(f"i{h.data.itemsize}"), h.dtype) for h in (lhs, rhs))
        return retyped(self.binary_op(x, y, np.right_shift), lhs.dtype.scalar)

    def create_umulhi(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The high half of an unsigned multiplication."""
        return self.evaluate(tt.MulhiUI(held(lhs), held(rhs)), lhs.dtype)

    def create_clampf(self, arg: TensorHandle, lo: TensorHandle, hi: TensorHandle, propagate_nans: Any) -> TensorHandle:
        """`arg`, at least `lo` and at most `hi`."""
        return self.evaluate(tt.ClampF(held(arg), held(lo), held(hi), propagate_nans), arg.dtype)

    def create_fma(self, x: TensorHandle, y: TensorHandle, z: TensorHandle) -> TensorHandle:
        """x * y + z, rounded once."""
        return self.evaluate(math_ops.Fma(held(x), held(y), held(z)), z.dtype)

    def create_fabs(self, arg: TensorHandle) -> TensorHandle:
        """The absolute value of floats."""
        return self.unary_op(arg, np.abs)

    def create_rsqrt(self, arg: TensorHandle) -> TensorHandle:
        """1 / sqrt(arg)"""
        return self.unary_op(arg, lambda x: 1 / np.sqrt(x))

    def create_erf(self, arg: TensorHandle) -> TensorHandle:
        """The error function."""
        return self.evaluate(math_ops.Erf(held(arg)), arg.dtype)

    # -- casts ------------------------------------------------------------------------------------------------

    def cast_impl(self, src: TensorHandle, dst_type: dtype) -> TensorHandle:
        """The values of `src` in the scalar type of `dst_type`, to nearest even where float bits are lost."""
        a, b = src.dtype.scalar, dst_type.scalar
        result = TensorType(src.data.shape, b.to_ir())
        if a.is_int() and b.is_int():
            return from_array(src.data.astype(numpy_dtype(b)) if b.int_bitwidth > 1 else src.data & 1, b.to_ir(), b)
        signed = (a if a.is_int() else b).is_int_signed()
        if a.is_int():
            op: Any = arith.SIToFP if signed else arith.UIToFP
        elif b.is_int():
            op = arith.FPToSI if signed else arith.FPToUI
        else:
            op = arith.TruncF if b.primitive_bitwidth < a.primitive_bitwidth else arith.ExtF
        return self.evaluate(op(held(src), out=result), b)

    def create_int_cast(self, src: TensorHandle, dst_type: dtype, is_signed: bool) -> TensorHandle:
        """An integer of another width."""
        return self.cast_impl(src, dst_type)

    def create_fp_to_fp(self, src: TensorHandle, dst_type: dtype, rounding_mode: Any) -> TensorHandle:
        """A float of another type, rounded as `rounding_mode` says."""
        result = TensorType(src.data.shape, dst_type.scalar.to_ir())
        return self.evaluate(tt.FpToFp(held(src), rounding_mode, result=result), dst_type.scalar)

    def create_bitcast(self, src: TensorHandle, dst_type: dtype) -> TensorHandle:
        """The bits of `src` as elements of another type."""
        return TensorHandle(src.data.view(numpy_dtype(dst_type)), dst_type.scalar)

    create_int_to_ptr = create_bitcast
    create_ptr_to_int = create_bitcast

    # -- shapes -----------------------------------------------------------------------------------------------

    def create_make_range(self, ret_ty: dtype, start: int, stop: int) -> TensorHandle:
        """start, …, stop - 1"""
        return TensorHandle(np.arange(start, stop, dtype=np.int32), dtypes.int32)

    def create_splat(self, ret_ty: dtype, arg: TensorHandle) -> TensorHandle:
        """A block of the shape of `ret_ty` filled with a scalar."""
        return TensorHandle(np.full(ret_ty.shape, arg.data.reshape(-1)[0], arg.data.dtype), arg.dtype.scalar)

    def create_unsplat(self, arg: TensorHandle) -> TensorHandle:
        """The only element of a block."""
        return TensorHandle(arg.data.reshape(-1)[:1].copy(), arg.dtype.scalar)

    def create_broadcast(self, arg: TensorHandle, shape: Sequence[int]) -> TensorHandle:
        """Dimensions of size 1 repeated to `shape`."""
        return TensorHandle(np.broadcast_to(arg.data, tuple(shape)), arg.dtype.scalar)

    def create_expand_dims(self, arg: TensorHandle, axis: int) -> TensorHandle:
        """A dimension of size 1 inserted at `axis`."""
        return TensorHandle(np.expand_dims(arg.data, axis), arg.dtype.scalar)

    def create_reshape(self, arg: TensorHandle, shape: Sequence[int], allow_reorder: bool) -> TensorHandle:
        """The elements in row-major order in another shape."""
        return TensorHandle(arg.data.reshape(tuple(shape)), arg.dtype.scalar)

    def create_trans(self, arg: TensorHandle, perm: Sequence[int]) -> TensorHandle:
        """The dimensions in the order `perm`."""
        return TensorHandle(np.transpose(arg.data, tuple(perm)), arg.dtype.scalar)

    def create_cat(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The elements of `lhs`, then those of `rhs`."""
        return TensorHandle(np.concatenate([lhs.data, rhs.data]), lhs.dtype.scalar)

    def create_join(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """Both along a new last dimension."""
        return TensorHandle(np.stack([lhs.data, rhs.data], axis=-1), lhs.dtype.scalar)

    def create_split(self, val: TensorHandle) -> tuple[TensorHandle, TensorHandle]:
        """The two halves along the last dimension, of size 2."""
        return TensorHandle(val.data[..., 0], val.dtype.scalar), TensorHandle(val.data[..., 1], val.dtype.scalar)

    def create_gather(self, src: TensorHandle, indices: TensorHandle, axis: int) -> TensorHandle:
        """The elements of `src` at `indices` along `axis`."""
        taken = np.take_along_axis(src.data, indices.data.astype(np.int64), axis)
        return TensorHandle(taken, src.dtype.scalar)

    def create_histogram(self, data: TensorHandle, bins: int, mask: TensorHandle | None) -> TensorHandle:
        """How many elements, where `mask`, equal 0, …, bins - 1."""
        result = TensorType((bins,), dtypes.int32.to_ir())
        return self.evaluate(tt.Histogram(held(data), None if mask is None else held(mask), result=result))

    # -- dot ---------------------------------------------------------------------------------------------------

    def create_dot(
        self, a: TensorHandle, b: TensorHandle, d: TensorHandle, input_precision: Any, max_num_imprecise_acc: Any
    ) -> TensorHandle:
        """a @ b + d; floats are summed in double precision and rounded once."""
        x, y, z = (_numeric(h).astype(np.float64 if d.dtype.is_floating() else np.int64) for h in (a, b, d))
        return from_array(np.matmul(x, y) + z, d.dtype.scalar.to_ir(), d.dtype)

    def create_dot_scaled(
        self,
        lhs: TensorHandle,
        lhs_scale_handle: TensorHandle | None,
        lhs_format_enum: Any,
        rhs: TensorHandle,
        rhs_scale_handle: TensorHandle | None,
        rhs_format_enum: Any,
        fast_math: bool,
        lhs_k_pack: bool,
        rhs_k_pack: bool,
        acc_handle: TensorHandle,
    ) -> TensorHandle:
        """The dot of block-scaled operands, added to `acc_handle`."""
        scales = [None if s is None else held(s) for s in (lhs_scale_handle, rhs_scale_handle)]
        formats = lhs_format_enum, rhs_format_enum
        op = tt.DotScaled(held(lhs), held(rhs), held(acc_handle), *scales, *formats, fast_math, lhs_k_pack, rhs_k_pack)
        return self.evaluate(op, acc_handle.dtype)

    # -- the rest ---------------------------------------------------------------------------------------------

    def create_extern_elementwise(
        self, libName: str, libPath: str, symbol: str, argList: Sequence[TensorHandle], retType: dtype, isPure: bool
    ) -> TensorHandle:
        """The function `symbol` of libdevice per element. UndefinedError for unknown functions."""
        result = TensorType(argList[0].data.shape, retType.scalar.to_ir())
        op = tt.ExternElementwise([held(a) for a in argList], libName, libPath, symbol, isPure, result=result)
        return self.evaluate(op, retType)

    def create_inline_asm(
        self, inlineAsm: str, constraints: str, values: Any, type: Any, isPure: bool, pack: int
    ) -> TensorHandle:
        """UndefinedError: no assembly can be interpreted."""
        raise UndefinedError("inline assembly is machine code, which the interpreter cannot run")

    def create_print(self, prefix: str, hex: bool, values: Sequence[TensorHandle], isSigned: Any) -> None:
        """Print the program's id, `prefix` and each of `values` on a line of its own."""
        head = " ".join(filter(None, (str(tuple(self.grid_idx)), prefix.strip())))
        with np.printoptions(formatter={"all": _hexadecimal} if hex else None):
            for value in values:
                print(f"{head} {_numeric(value)}")
        if not values:
            print(head)

    def create_assert(self, condition: TensorHandle, message: str) -> None:
        """AssertionFailed unless all elements hold."""
        if not condition:
            raise AssertionFailed(f"assertion failed: {message}")

    def create_assume(self, condition: TensorHandle) -> None:
        """AssertionFailed unless it holds."""
        if not condition:
            raise AssertionFailed("an assumption does not hold")

    def create_barrier(self) -> None:
        """A program is one thread here."""


class ExtraFunctions:
    """Functions of `codegen_fns`."""

    @staticmethod
    def _convert_custom_types(input: Any, dst_ty: dtype, fp_downcast_rounding: Any, _semantic: Any) -> Any:
        return _semantic.cast(input, dst_ty, fp_downcast_rounding)


def _numeric(handle: TensorHandle) -> np.ndarray:
    """The data as numbers; bf16 and 8-bit floats as float32."""
    if handle.dtype.scalar.is_floating():
        return to_array(handle, TensorType(handle.data.shape, handle.dtype.scalar.to_ir()))
    return handle.data


def _hexadecimal(x: Any) -> str:
    return float(x).hex() if isinstance(x, np.floating) else f"0x{int(x):0{x.dtype.itemsize * 2}x}"


# -- the methods that tables define -------------------------------------------------------------------------------

_BINARY = {
    **dict.fromkeys(("fadd", "add"), np.add),
    **dict.fromkeys(("fsub", "sub"), np.subtract),
    **dict.fromkeys(("fmul", "mul"), np.multiply),
    **dict.fromkeys(("fdiv", "precise_divf", "approx_divf"), np.divide),
    **dict.fromkeys(("frem", "srem", "urem"), np.fmod),
    "shl": np.left_shift,
    "lshr": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    **dict.fromkeys(("minsi", "minui"), np.minimum),
    **dict.fromkeys(("maxsi", "maxui"), np.maximum),
    "minimumf": minimum,
    "maximumf": maximum,
    "minnumf": minimum_number,
    "maxnumf": maximum_number,
    "icmpEQ": np.equal,
    "icmpNE": np.not_equal,
}
_ORDER = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal}
_BINARY |= {f"icmp{sign}{name}": op for name, op in _ORDER.items() if name != "EQ" for sign in "SU"}
_BINARY |= {f"fcmpO{name}": op for name, op in _ORDER.items()} | {"fcmpUNE": np.not_equal}
_UNARY = {
    "fneg": np.negative,
    "iabs": np.abs,
    **{name: getattr(np, name) for name in ("cos", "sin", "exp", "exp2", "log", "log2", "sqrt", "floor", "ceil")},
    "precise_sqrt": np.sqrt,
}


def _method(name: str, doc: str, fn: Callable[..., Any]) -> None:
    fn.__name__, fn.__qualname__, fn.__doc__ = name, f"InterpreterBuilder.{name}", doc
    setattr(InterpreterBuilder, name, fn)


def _define_binary(name: str, op: Any) -> None:
    def method(self: Any, lhs: Any, rhs: Any) -> Any:
        return self.binary_op(lhs, rhs, op)

    _method(f"create_{name}", f"{op.__name__} per element.", method)


def _define_comparison(name: str, op: Any, unordered: bool) -> None:
    def method(self: Any, lhs: Any, rhs: Any) -> Any:
        x, y = _numeric(lhs), _numeric(rhs)
        nan = np.isnan(x) | np.isnan(y)
        return TensorHandle(op(x, y) | nan if unordered else op(x, y) & ~nan, dtypes.int1)

    _method(f"create_fcmp{name}", f"numpy.{op.__name__}, {unordered} where one is NaN.", method)


def _define_unary(name: str, op: Any) -> None:
    def method(self: Any, arg: Any) -> Any:
        return self.unary_op(arg, op)

    _method(f"create_{name}", f"{op.__name__} per element.", method)


def _define_cast(name: str) -> None:
    def method(self: Any, src: Any, dst_type: Any) -> Any:
        return self.cast_impl(src, dst_type)

    _method(f"create_{name}", "The values in the type `dst_type`.", method)


def _define_type(name: str, ty: dtype) -> None:
    _method(f"get_{name}_ty", f"The type {ty}.", lambda self: ty)


def _define_constant(name: str, ty: dtype) -> None:
    def method(self: Any, value: Any) -> Any:
        return from_array(np.array([value]), ty.to_ir(), ty)

    _method(f"get_{name}", f"A constant of type {ty}.", method)


for _name, _op in _BINARY.items():
    _define_binary(_name, _op)
for _name, _op in _ORDER.items():
    _define_comparison(f"U{_name}", _op, True)
_define_comparison("ONE", np.not_equal, False)
for _name, _op in _UNARY.items():
    _define_unary(_name, _op)
for _name in ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc"):
    _define_cast(_name)
for _name, _ty in {**_TYPES, **{n: getattr(dtypes, n) for n in _INTEGERS}}.items():
    _define_type(_name, _ty)
for _name, _ty in {**_FLOATS, **{n: getattr(dtypes, n) for n in _INTEGERS}}.items():
    _define_constant(_name, _ty)


def _create_select(self: Any, cond: Any, lhs: Any, rhs: Any) -> Any:
    return self.ternary_op(cond, lhs, rhs, np.where)


_method("create_select", "`lhs` where `cond` holds, `rhs` elsewhere.", _create_select)
