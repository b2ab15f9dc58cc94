"""Types of values made of several others, and of compile-time values; signature strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects import arith, tt
from ..ir import Builder, IntegerType, TensorType, Type, Value
from ..support.patterns import pattern
from .errors import LanguageError
from .scalar_types import (
    BaseType,
    bfloat16,
    block_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)

__all__ = [
    "NAMES",
    "constexpr_type",
    "descriptor_argument_type",
    "str_to_ty",
    "str_to_type",
    "tensor_descriptor_base_type",
    "tensor_descriptor_type",
    "tuple_type",
    "type_of",
    "with_sign",
]


class constexpr_type(BaseType):
    """The type of one compile-time value: no IR value, equal when the values are."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        while type(value).__name__ == "constexpr" and hasattr(value, "value"):  # as kernels pass it
            value = value.value
        self.value = value

    def _flatten_ir_types(self, out: list[Type]) -> None:
        pass

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        value = self.value
        return (BaseType.make_constexpr(value) if isinstance(value, (bool, int, float, str)) else value), at

    def mangle(self) -> str:
        """`c` and the value, by its own name for symbols where it has one."""
        own = getattr(self.value, "mangle", None)
        return f"c{own() if callable(own) else repr(self.value)}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, constexpr_type)
            and type(self.value) is type(other.value)
            and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash((constexpr_type, repr(self.value)))

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"


class tuple_type(BaseType):
    """The type of a tuple: the types of its elements, and the names of its fields if it has names."""

    __slots__ = ("fields", "types")

    def __init__(self, types: list[Any], fields: list[str] | None = None) -> None:
        self.types = list(types)
        self.fields = list(fields) if fields else None

    def _flatten_ir_types(self, out: list[Type]) -> None:
        for ty in self.types:
            if isinstance(ty, BaseType) and ty is not void:
                ty._flatten_ir_types(out)

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        values = []
        for ty in self.types:
            value, at = ty._unflatten_ir(handles, at)
            values.append(value)
        return BaseType.make_tuple(values, fields=self.fields), at

    def mangle(self) -> str:
        """`T` elements `T`."""
        return f"T{'_'.join(ty.mangle() for ty in self.types)}T"

    def __getitem__(self, index: int) -> Any:
        return self.types[index]

    def __iter__(self) -> Any:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple_type) and self.types == other.types and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((tuple(self.types), tuple(self.fields or ())))

    @property
    def name(self) -> str:
        """The printed form."""
        return repr(self)

    def __repr__(self) -> str:
        if self.fields:
            return "[" + ", ".join(f"{n}:{t}" for n, t in zip(self.fields, self.types)) + "]"
        return "[" + ", ".join(map(str, self.types)) + "]"


class tensor_descriptor_type(BaseType):
    """The type of a tensor descriptor: the block it moves, then its shape (i32) and strides (i64) as values."""

    __slots__ = ("block_type", "ir", "shape_type", "strides_type")
    make_descriptor: Any = None  # the value class, which imports this module

    def __init__(self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type) -> None:
        self.block_type = block_type
        self.shape_type = shape_type
        self.strides_type = strides_type
        self.ir: Type = tt.TensorDescType(with_sign(block_type))

    @property
    def nbytes(self) -> int:
        """The bytes of a block."""
        return self.block_type.nbytes

    def to_ir(self, builder: Any = None) -> Type:
        """The IR type of the descriptor itself."""
        return self.ir

    def _flatten_ir_types(self, out: list[Type]) -> None:
        out.append(self.ir)
        self.shape_type._flatten_ir_types(out)
        self.strides_type._flatten_ir_types(out)

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        handle = handles[at]
        shape, at = self.shape_type._unflatten_ir(handles, at + 1)
        strides, at = self.strides_type._unflatten_ir(handles, at)
        return tensor_descriptor_type.make_descriptor(handle, shape, strides, self), at

    def mangle(self) -> str:
        """`TD` and the block."""
        return f"TD{self.block_type.mangle()}_{self.shape_type.mangle()}_{self.strides_type.mangle()}TD"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_type)
            and self.block_type is other.block_type
            and self.shape_type == other.shape_type
            and self.strides_type == other.strides_type
        )

    def __hash__(self) -> int:
        return hash((tensor_descriptor_type, self.block_type))

    def __repr__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


def with_sign(block: block_type) -> TensorType:
    """A descriptor's block: the only IR type that distinguishes signed from unsigned integers."""
    element = block.element_ty
    ir = element.to_ir()
    if element.is_int() and isinstance(ir, IntegerType) and element is not int1:
        ir = IntegerType(ir.width, "s" if element.is_int_signed() else "u")
    return TensorType(tuple(block.shape), ir)


tensor_descriptor_base_type = tensor_descriptor_type


class descriptor_argument_type(BaseType):
    """A descriptor that the host passes to a kernel: base pointer, then shape and strides as i64.

    Its value is a descriptor, built from these arguments at the end of their block. `uneven`:
    rows of the tensor do not end at a multiple of 16 bytes.
    """

    __slots__ = ("block_type", "padding", "uneven")

    def __init__(self, block: block_type, padding: str = "zero", uneven: bool = False) -> None:
        self.block_type = block
        self.padding = padding
        self.uneven = uneven

    @property
    def native(self) -> tensor_descriptor_type:
        """The type of the argument on targets with TMA, where the descriptor itself is passed."""
        rank = len(self.block_type.shape)
        return tensor_descriptor_type(self.block_type, tuple_type([int32] * rank), tuple_type([int64] * rank))

    def _flatten_ir_types(self, out: list[Type]) -> None:
        out.append(pointer_type(self.block_type.element_ty).to_ir())
        out += [int64.to_ir()] * (2 * len(self.block_type.shape))

    def _unflatten_ir(self, handles: list[Value], at: int) -> tuple[Any, int]:
        rank = len(self.block_type.shape)
        base, sizes, steps = handles[at], handles[at + 1 : at + 1 + rank], handles[at + 1 + rank : at + 1 + 2 * rank]
        builder = Builder(base.block)
        sizes = [builder.add(arith.TruncI(v, out=int32.to_ir())) for v in sizes]
        ty = self.native
        padding = tt.PaddingOption.pad_nan if self.padding == "nan" else None
        handle = builder.add(tt.MakeTensorDescriptor(base, sizes, steps, padding, result=ty.ir))
        shape = BaseType.make_tuple([BaseType.make_tensor(v, int32) for v in sizes], None)
        strides = BaseType.make_tuple([BaseType.make_tensor(v, int64) for v in steps], None)
        return tensor_descriptor_type.make_descriptor(handle, shape, strides, ty), at + 1 + 2 * rank

    def mangle(self) -> str:
        """`HD` and the block."""
        return f"HD{self.block_type.mangle()}"

    def __repr__(self) -> str:
        return f"tensordesc<{self.block_type}>"


def type_of(value: Any) -> Any:
    """The type of a value of the language; a compile-time value has a type of its own."""
    ty = getattr(value, "type", None)
    return ty if isinstance(ty, BaseType) and hasattr(value, "_flatten_ir") else constexpr_type(value)


NAMES: dict[str, dtype] = {
    "B": int1,
    "i1": int1,
    "u1": int1,
    "i8": int8,
    "i16": int16,
    "i32": int32,
    "i64": int64,
    "u8": uint8,
    "u16": uint16,
    "u32": uint32,
    "u64": uint64,
    "fp16": float16,
    "bf16": bfloat16,
    "fp32": float32,
    "fp64": float64,
    "f16": float16,
    "f32": float32,
    "f64": float64,
    "fp8e5": float8e5,
    "fp8e5b16": float8e5b16,
    "fp8e4nv": float8e4nv,
    "fp8e4b8": float8e4b8,
    "fp8e4b15": float8e4b15,
    "void": void,
}
"""Signature strings of scalars."""

DESCRIPTORS_WITH_LAYOUT: list[Callable[[str, list[int], str], BaseType]] = []
"""Make the types of descriptors, tiled and im2col, that say the layout of their blocks; Gluon's frontend adds them."""
_DESCRIPTOR = pattern(r"tensordesc<\s*(\w+)\s*\[([\d,\s]*)\]\s*(,.*)?>")
_IM2COL = pattern(r"tensordesc_im2col<\s*(\w+)\s*\[([\d,\s]*)\]\s*(,.*)>")
_known: dict[str, Any] = {}


def str_to_type(name: Any) -> Any:
    """The type a signature names: `fp32`, `*fp16`, `*kfp32` (read-only), `i32`, `u64`, `B`, `tensordesc<fp16[64, 32]>`.

    Raises LanguageError for others.
    """
    if isinstance(name, BaseType):
        return name
    found = _known.get(name)
    if found is None:
        found = _known[name] = _parse(name)
    return found


def str_to_ty(name: Any, c: Any = None) -> Any:
    """`str_to_type`; `c` has no meaning."""
    return str_to_type(name)


def _parse(name: str) -> Any:
    text = name.strip()
    if text.startswith("*"):
        is_const = text.startswith("*k")
        return pointer_type(str_to_type(text[2:] if is_const else text[1:]), 1, is_const)
    if text in NAMES:
        return NAMES[text]
    match = _DESCRIPTOR.fullmatch(text)
    if match is None and DESCRIPTORS_WITH_LAYOUT:
        windows = _IM2COL.fullmatch(text)
        if windows is not None:
            return DESCRIPTORS_WITH_LAYOUT[1](windows[1], _sizes(windows[2]), windows[3])
    if match is None:
        raise LanguageError(f"TypeError: unknown type {name!r} in a signature", f"scalars are {', '.join(NAMES)}")
    shape = _sizes(match[2])
    if "Layout(" in (match[3] or "") and DESCRIPTORS_WITH_LAYOUT:
        return DESCRIPTORS_WITH_LAYOUT[0](match[1], shape, match[3])
    said = [word.strip() for word in (match[3] or "").split(",")]
    padding = "nan" if "nan" in said else "zero"
    return descriptor_argument_type(block_type(str_to_type(match[1]), shape), padding, "uneven" in said)


def _sizes(text: str) -> list[int]:
    return [int(d) for d in text.split(",") if d.strip()]
