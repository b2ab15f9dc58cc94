"""Packing of elements into the words of memory instructions, and unpacking."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith
from ...dialects.tt_types import PointerType
from ...ir import FloatType, IntegerType, Type, Value, element_type
from ...ir.attributes import float_bits
from .context import FunctionContext
from .types import bit_width, llvm_type

__all__ = ["constant_bits", "pack", "parts_of", "unpack", "vector_of", "word_bits"]


def word_bits(ty: Type, count: int) -> int:
    """The width of the words that hold `count` elements: 32 bits, less for fewer, 64 for wider elements."""
    width = max(8, bit_width(ty))
    return max(width, min(32, width * count))


def _in_memory(e: FunctionContext, value: str, ty: Type) -> tuple[str, str]:
    """The type and operand of an element as stored in memory: i1 is a byte, a pointer an integer."""
    if isinstance(element_type(ty), PointerType):
        return "i64", e.op(f"ptrtoint {llvm_type(ty)} {value} to i64")
    if bit_width(ty) == 1:
        return "i8", e.op(f"zext i1 {value} to i8")
    return llvm_type(ty), value


def pack(e: FunctionContext, values: Sequence[str], ty: Type, width: int) -> list[str]:
    """Elements as words of type i`width`, the first in the lowest bits."""
    elements = [_in_memory(e, v, ty) for v in values]
    narrow, size = elements[0][0], max(8, bit_width(ty))
    per_word = width // size
    out = []
    for first in range(0, len(values), per_word):
        group = [v for _, v in elements[first : first + per_word]]
        known = e.words.get(tuple(group))
        if known is not None:
            out.append(known)
            continue
        word, kind = group[0], narrow
        if per_word > 1:
            kind, word = f"<{per_word} x {narrow}>", "poison"
            for i, v in enumerate(group):
                word = e.op(f"insertelement {kind} {word}, {narrow} {v}, i32 {i}")
        out.append(word if kind == f"i{width}" else e.op(f"bitcast {kind} {word} to i{width}"))
    return out


def unpack(e: FunctionContext, words: Sequence[str], ty: Type, width: int) -> list[str]:
    """The elements in words of type i`width`."""
    size = max(8, bit_width(ty))
    per_word = width // size
    pointer = isinstance(element_type(ty), PointerType)
    narrow = "i64" if pointer else "i8" if bit_width(ty) == 1 else llvm_type(ty)
    out = []
    for word in words:
        if per_word > 1:
            vector = f"<{per_word} x {narrow}>"
            whole = e.op(f"bitcast i{width} {word} to {vector}")
            parts = [e.op(f"extractelement {vector} {whole}, i32 {i}") for i in range(per_word)]
            e.words[tuple(parts)] = word
            out += parts
        else:
            out.append(word if narrow == f"i{width}" else e.op(f"bitcast i{width} {word} to {narrow}"))
    if pointer:
        return [e.op(f"inttoptr i64 {v} to {llvm_type(ty)}") for v in out]
    return [e.op(f"icmp ne i8 {v}, 0") for v in out] if bit_width(ty) == 1 else out


def vector_of(e: FunctionContext, element: str, parts: Sequence[str]) -> tuple[str, str]:
    """The LLVM type and operand of values of type `element` as one vector; a single one stays itself."""
    if len(parts) == 1:
        return element, parts[0]
    vector, whole = f"<{len(parts)} x {element}>", "poison"
    for i, part in enumerate(parts):
        whole = e.op(f"insertelement {vector} {whole}, {element} {part}, i32 {i}")
    return vector, whole


def parts_of(e: FunctionContext, vector: str, whole: str, count: int) -> list[str]:
    """The `count` values of what `vector_of` made, or of one such as it."""
    return [whole] if count == 1 else [e.op(f"extractelement {vector} {whole}, i32 {i}") for i in range(count)]


def constant_bits(value: Value) -> int | None:
    """The bits of a splat constant; None for other values."""
    op, ty = value.defining_op, element_type(value.type)
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    if number is None:
        return None
    if isinstance(ty, FloatType):
        return float_bits(number, ty)
    return int(number) & ((1 << bit_width(ty)) - 1) if isinstance(ty, IntegerType) else None
