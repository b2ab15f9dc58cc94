"""The types of the language: scalars, pointers, blocks, and those of compile-time values.

All of them are interned, so that `==` is identity. Each has its IR type (`ir`), its spelling in signatures
(`str_to_type`), and the conversion of its values from and to IR values:

    _flatten_ir_types(out)            appends the IR types of a value of this type
    _unflatten_ir(handles, at)        (a value of this type from handles[at:…], the position after them)
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, ClassVar

from ..dialects import tt
from ..ir import FLOATS, IntegerType, TensorType, Type, Value, bf16, f16, f32, f64
from ..support.limits import MAX_TENSOR_ELEMENTS
from .errors import LanguageError

__all__ = [
    "pi32_t",
    "BaseType",
    "base_type",
    "bfloat16",
    "block_type",
    "const",
    "dtype",
    "float16",
    "float32",
    "float64",
    "float8e4b15",
    "float8e4b8",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "get_int_dtype",
    "int1",
    "int16",
    "int32",
    "int64",
    "int8",
    "pointer_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "void",
]


class BaseType:
    """Base of all types of the language."""

    __slots__ = ()
    make_tensor: ClassVar[Callable[[Value, Any], Any]]  # these three are the value classes, which import this module
    make_tuple: ClassVar[Callable[..., Any]]
    make_constexpr: ClassVar[Callable[[Any], Any]]

    def _flatten_ir_types(self, out: list[Type]) -> None:
        raise NotImplementedError

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        raise NotImplementedError

    def mangle(self) -> str:
        """A short name for symbols."""
        raise NotImplementedError

    def merges_with(self, other: BaseType) -> bool:
        """Whether a field of an aggregate may have either type, at different times: both are the same in the IR."""
        return self == other

    def __copy__(self) -> BaseType:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BaseType:
        return self


base_type = BaseType


class dtype(BaseType):
    """A scalar type, by its name: int1, int8 … uint64, fp16, bf16, fp32, fp64, fp8e4nv …, void.

    `primitive_bitwidth` and `int_bitwidth` in bits, `itemsize` in bytes (1 for int1), `fp_mantissa_width` in stored
    bits, `exponent_bias`. int1 counts as an unsigned integer, as C's bool does.

    >>> dtype("fp16") is float16, str(int32), repr(float16)
    (True, 'int32', 'triton.language.float16')
    """

    class SIGNEDNESS(enum.Enum):
        """Of integers."""

        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        """Kinds in the order of promotion."""

        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    __slots__ = (
        "_kind",
        "exponent_bias",
        "fp_mantissa_width",
        "int_bitwidth",
        "int_signedness",
        "ir",
        "itemsize",
        "name",
        "primitive_bitwidth",
        "short_name",
    )
    _kind: KIND | None
    exponent_bias: int
    fp_mantissa_width: int
    int_bitwidth: int
    int_signedness: SIGNEDNESS | None
    ir: Any  # an ir.Type; None for void
    itemsize: int
    name: str
    primitive_bitwidth: int
    short_name: str

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]
    _table: ClassVar[dict[str, dtype]] = {}

    def __new__(cls, name: Any) -> dtype:
        name = getattr(name, "value", name)
        found = dtype._table.get(name)
        if found is None:
            raise LanguageError(f"TypeError: unknown dtype {name!r}", f"one of {', '.join(dtype._table)}")
        return found

    @classmethod
    def _define(cls, name: str, ir: Type | None, bits: int, mantissa: int = 0, bias: int = 0) -> dtype:
        self = object.__new__(cls)
        self.name = name
        self.ir = ir
        self.primitive_bitwidth = bits
        self.itemsize = max(1, bits // 8)
        self.fp_mantissa_width = mantissa
        self.exponent_bias = bias
        is_int = "int" in name
        self.int_bitwidth = bits if is_int else 0
        signed = name in cls.SINT_TYPES
        self.int_signedness = (cls.SIGNEDNESS.SIGNED if signed else cls.SIGNEDNESS.UNSIGNED) if is_int else None
        self.short_name = f"{'i' if signed or bits == 1 else 'u'}{bits}" if is_int else name
        self._kind = None
        if name in cls.FP_TYPES:
            self._kind = cls.KIND.FLOATING
        elif is_int:
            self._kind = cls.KIND.BOOLEAN if bits == 1 else cls.KIND.INTEGRAL
        cls._table[name] = self
        return self

    @property
    def scalar(self) -> dtype:
        """Itself."""
        return self

    @property
    def element_ty(self) -> dtype:
        """Itself: the type of the elements."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """()"""
        return ()

    @staticmethod
    def is_dtype(name: str) -> bool:
        """True for the name of a dtype."""
        return name in dtype._table

    def kind(self) -> KIND:
        """BOOLEAN, INTEGRAL or FLOATING."""
        assert self._kind is not None, f"{self} has no kind"
        return self._kind

    def is_fp8(self) -> bool:
        """True for any 8-bit float."""
        return self.name.startswith("fp8")

    def is_fp8e4nv(self) -> bool:
        """4 exponent bits, no infinities."""
        return self is float8e4nv

    def is_fp8e4b8(self) -> bool:
        """4 exponent bits, bias 8, one zero."""
        return self is float8e4b8

    def is_fp8e4b15(self) -> bool:
        """4 exponent bits, bias 15, neither NaN nor infinities."""
        return self is float8e4b15

    def is_fp8e5(self) -> bool:
        """5 exponent bits, as IEEE."""
        return self is float8e5

    def is_fp8e5b16(self) -> bool:
        """5 exponent bits, bias 16, one zero."""
        return self is float8e5b16

    def is_fp16(self) -> bool:
        """True for float16."""
        return self is float16

    def is_bf16(self) -> bool:
        """True for bfloat16."""
        return self is bfloat16

    def is_fp32(self) -> bool:
        """True for float32."""
        return self is float32

    def is_fp64(self) -> bool:
        """True for float64."""
        return self is float64

    def is_int1(self) -> bool:
        """True for int1."""
        return self is int1

    def is_int8(self) -> bool:
        """True for int8."""
        return self is int8

    def is_int16(self) -> bool:
        """True for int16."""
        return self is int16

    def is_int32(self) -> bool:
        """True for int32."""
        return self is int32

    def is_int64(self) -> bool:
        """True for int64."""
        return self is int64

    def is_uint8(self) -> bool:
        """True for uint8."""
        return self is uint8

    def is_uint16(self) -> bool:
        """True for uint16."""
        return self is uint16

    def is_uint32(self) -> bool:
        """True for uint32."""
        return self is uint32

    def is_uint64(self) -> bool:
        """True for uint64."""
        return self is uint64

    def is_floating(self) -> bool:
        """True for all floats, 8-bit ones too."""
        return self._kind is dtype.KIND.FLOATING

    def is_standard_floating(self) -> bool:
        """True for float16, bfloat16, float32, float64."""
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int(self) -> bool:
        """True for integers, int1 too."""
        return self.int_bitwidth != 0

    is_integer = is_int

    def is_int_signed(self) -> bool:
        """True for int8 … int64."""
        return self.int_signedness is dtype.SIGNEDNESS.SIGNED

    def is_int_unsigned(self) -> bool:
        """True for int1, uint8 … uint64."""
        return self.int_signedness is dtype.SIGNEDNESS.UNSIGNED

    def is_bool(self) -> bool:
        """True for int1."""
        return self is int1

    def is_void(self) -> bool:
        """True for the type of no value."""
        return self is void

    @staticmethod
    def is_block() -> bool:
        """False."""
        return False

    @staticmethod
    def is_ptr() -> bool:
        """False."""
        return False

    @staticmethod
    def is_const() -> bool:
        """False."""
        return False

    def get_int_max_value(self) -> int:
        """The greatest value of an integer type."""
        return (1 << (self.int_bitwidth - (1 if self.is_int_signed() else 0))) - 1

    def get_int_min_value(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    def with_element_ty(self, element: dtype) -> dtype:
        """`element`: a scalar has no shape to keep."""
        return element

    def to_ir(self, builder: Any = None) -> Type:
        """The IR type."""
        assert self.ir is not None, f"{self} has no IR type"
        return self.ir

    def mangle(self) -> str:
        """`i32`, `u8`, `fp16`, `V`."""
        return "V" if self is void else self.short_name

    def _flatten_ir_types(self, out: list[Type]) -> None:
        out.append(self.to_ir())

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        return BaseType.make_tensor(handles[at], self), at + 1

    def __reduce__(self) -> Any:
        return (dtype, (self.name,))

    def __str__(self) -> str:
        return self.name

    def codegen_name(self) -> str:
        """The name in `triton.language`: `float16`."""
        for short, whole in (("fp", "float"), ("bf", "bfloat")):
            if self.name.startswith(short):
                return whole + self.name.removeprefix(short)
        return self.name

    @property
    def cache_key_part(self) -> str:
        """The key of the type: its name."""
        return self.name

    def __repr__(self) -> str:
        """Evaluates back to the type: `triton.language.float16`."""
        return f"triton.language.{self.codegen_name()}"


void = dtype._define("void", None, 0)
int1 = dtype._define("int1", IntegerType(1), 1)
int8 = dtype._define("int8", IntegerType(8), 8)
int16 = dtype._define("int16", IntegerType(16), 16)
int32 = dtype._define("int32", IntegerType(32), 32)
int64 = dtype._define("int64", IntegerType(64), 64)
uint8 = dtype._define("uint8", IntegerType(8), 8)
uint16 = dtype._define("uint16", IntegerType(16), 16)
uint32 = dtype._define("uint32", IntegerType(32), 32)
uint64 = dtype._define("uint64", IntegerType(64), 64)
float8e5 = dtype._define("fp8e5", FLOATS["f8E5M2"], 8, 2, 15)
float8e5b16 = dtype._define("fp8e5b16", FLOATS["f8E5M2FNUZ"], 8, 2, 16)
float8e4nv = dtype._define("fp8e4nv", FLOATS["f8E4M3FN"], 8, 3, 7)
float8e4b8 = dtype._define("fp8e4b8", FLOATS["f8E4M3FNUZ"], 8, 3, 8)
float8e4b15 = dtype._define("fp8e4b15", IntegerType(8), 8, 3, 15)  # MLIR has no such type: its bits are stored as i8
float16 = dtype._define("fp16", f16, 16, 10, 15)
bfloat16 = dtype._define("bf16", bf16, 16, 7, 127)
float32 = dtype._define("fp32", f32, 32, 23, 127)
float64 = dtype._define("fp64", f64, 64, 52, 1023)

_INTEGERS = {(d.int_bitwidth, d.is_int_signed()): d for d in dtype._table.values() if d.is_int()}
_INTEGERS[1, True] = int1


def get_int_dtype(bitwidth: Any, signed: Any) -> dtype:
    """The integer dtype of `bitwidth` bits. Raises where there is none."""
    bits, sign = getattr(bitwidth, "value", bitwidth), bool(getattr(signed, "value", signed))
    found = _INTEGERS.get((bits, sign))
    if found is None:
        raise LanguageError(f"ValueError: no integer dtype of {bits} bits")
    return found


class const:
    """Annotation of pointer parameters that are only read: `def kernel(x: tl.const, …)`."""


class pointer_type(dtype):
    """`pointer_type(float32)`: an address of values of `element_ty` (a dtype, or a block for block pointers)."""

    __slots__ = ("address_space", "const", "element_ty")
    address_space: int
    const: bool
    element_ty: dtype
    _pointers: ClassVar[dict[Any, pointer_type]] = {}

    def __new__(cls, element_ty: Any, address_space: Any = 1, const: Any = False) -> pointer_type:
        element_ty = getattr(element_ty, "value", element_ty)
        address_space, const = getattr(address_space, "value", address_space), bool(getattr(const, "value", const))
        key = (element_ty, address_space, const)
        found = cls._pointers.get(key)
        if found is not None:
            return found
        if not isinstance(element_ty, dtype) or element_ty is void:
            raise LanguageError(f"TypeError: pointer_type needs a dtype, got {type(element_ty).__name__}")
        self = object.__new__(cls)
        self.element_ty, self.address_space, self.const = element_ty, address_space, const
        self.name = f"const_pointer<{element_ty}>" if const else f"pointer<{element_ty}>"
        self.ir = tt.PointerType(element_ty.to_ir(), address_space)
        self.primitive_bitwidth, self.itemsize = 64, 8
        self.int_bitwidth = self.fp_mantissa_width = self.exponent_bias = 0
        self.int_signedness = self._kind = None
        self.short_name = f"P{element_ty.mangle()}"
        return cls._pointers.setdefault(key, self)

    @staticmethod
    def is_ptr() -> bool:
        """True."""
        return True

    def is_const(self) -> bool:  # type: ignore[override]
        """True when stores through it are refused."""
        return self.const

    def __reduce__(self) -> Any:
        return (pointer_type, (self.element_ty, self.address_space, self.const))

    def __repr__(self) -> str:
        return self.name


class block_type(dtype):
    """`block_type(float32, (16, 32))`: a block of `shape` with elements of `element_ty` (a dtype or pointer)."""

    __slots__ = ("element_ty", "numel", "shape", "shape_value")
    element_ty: dtype
    numel: int
    shape: tuple[int, ...]
    shape_value: Any
    _blocks: ClassVar[dict[Any, block_type]] = {}

    def __new__(cls, element_ty: dtype, shape: Any) -> block_type:
        key = (element_ty, tuple(shape))
        found = cls._blocks.get(key)
        if found is not None:
            return found
        shape = tuple(int(getattr(d, "value", d)) for d in shape)
        if not shape:
            raise LanguageError("TypeError: a block has at least one dimension", "scalars are not blocks")
        self = cls._of(element_ty, shape)
        self.ir = TensorType(shape, element_ty.to_ir())
        cls._blocks[element_ty, tuple(shape)] = self
        return self

    @classmethod
    def _of(cls, element_ty: dtype, shape: tuple[int, ...]) -> Any:
        """A new type; `ir` is still to be set."""
        self = object.__new__(cls)
        self.element_ty, self.shape = element_ty, shape
        self.shape_value = None  # the tuple of constexpr that `x.shape` gives, made on first use
        self.numel = padded = 1
        for d in shape:
            self.numel *= d
            padded *= 1 << (d - 1).bit_length() if d > 0 else 0
        if padded > MAX_TENSOR_ELEMENTS:
            raise LanguageError(
                f"ValueError: numel ({padded}) exceeds the maximum number of elements of a block"
                f" ({MAX_TENSOR_ELEMENTS})",
                "work in smaller blocks, more programs",
            )
        self.name = f"<{list(shape)}, {element_ty}>"
        self.primitive_bitwidth, self.itemsize = element_ty.primitive_bitwidth, element_ty.itemsize
        self.int_bitwidth, self.int_signedness = element_ty.int_bitwidth, element_ty.int_signedness
        self.fp_mantissa_width, self.exponent_bias = element_ty.fp_mantissa_width, element_ty.exponent_bias
        self._kind = None
        self.short_name = f"{element_ty.mangle()}S{'_'.join(map(str, shape))}S"
        return self

    @property
    def scalar(self) -> dtype:
        """The type of the elements."""
        return self.element_ty

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.numel * self.itemsize

    @staticmethod
    def is_block() -> bool:
        """True."""
        return True

    def is_floating(self) -> bool:
        """Of the elements."""
        return self.element_ty.is_floating()

    def get_block_shapes(self) -> tuple[int, ...]:
        """The shape."""
        return self.shape

    def get_block_strides(self) -> tuple[int, ...]:
        """Row-major strides in elements."""
        out, step = [], 1
        for d in reversed(self.shape):
            out.append(step)
            step *= d
        return tuple(reversed(out))

    def with_element_ty(self, element: dtype) -> block_type:
        """The same shape with other elements."""
        return block_type(element, self.shape)

    def __reduce__(self) -> Any:
        return (block_type, (self.element_ty, self.shape))

    def __repr__(self) -> str:
        return self.name


pi32_t = pointer_type(int32)
