"""Communication between threads: warp shuffles, and elements in shared memory.

A shuffle moves 32 bits. Wider elements take several; of narrower ones several share one where there are several to
move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.tt_types import PointerType
from ...ir import FloatType, IntegerType, Type
from .context import WIDEST, FunctionContext
from .types import bit_width, byte_width, llvm_type

__all__ = [
    "Element",
    "bits_of",
    "element_at",
    "from_bits",
    "load_elements",
    "load_of_block",
    "memory_type",
    "select",
    "shuffle_by",
    "shuffle_from",
    "shuffle_xor",
    "store_element",
]

Element = tuple[Type, str]
"""An element type, and the operand of a value of it."""


def bits_of(e: FunctionContext, ty: Type, operand: str) -> str:
    """The bits of an element as an integer of its width."""
    source = llvm_type(ty)
    if isinstance(ty, PointerType):
        return e.op(f"ptrtoint {source} {operand} to i{bit_width(ty)}")
    return operand if source.startswith("i") else e.op(f"bitcast {source} {operand} to i{bit_width(ty)}")


def from_bits(e: FunctionContext, ty: Type, bits: str) -> str:
    """The other way round."""
    target = llvm_type(ty)
    if isinstance(ty, PointerType):
        return e.op(f"inttoptr i{bit_width(ty)} {bits} to {target}")
    return bits if target.startswith("i") else e.op(f"bitcast i{bit_width(ty)} {bits} to {target}")


def select(e: FunctionContext, condition: str, ty: Type, yes: str, no: str) -> str:
    """condition ? yes : no"""
    t = llvm_type(ty)
    return yes if yes == no else e.op(f"select i1 {condition}, {t} {yes}, {t} {no}")


# -- shuffles ---------------------------------------------------------------------------------------------------------


def shuffle_xor(e: FunctionContext, elements: Sequence[Element], mask: int) -> list[str]:
    """For each element that of the lane whose number differs in the bits of `mask`."""
    return _shuffled(e, elements, lambda word: e.target.shuffle(e, "bfly", word, str(mask)))


def shuffle_from(e: FunctionContext, elements: Sequence[Element], lane: str) -> list[str]:
    """For each element that of `lane`, an i32 operand."""
    return _shuffled(e, elements, lambda word: e.target.shuffle(e, "idx", word, lane))


def shuffle_by(e: FunctionContext, elements: Sequence[Element], distance: int) -> list[str]:
    """For each element that of the lane `distance` further up; lanes that have none there get their own."""
    kind = "down" if distance > 0 else "up"
    return _shuffled(e, elements, lambda word: e.target.shuffle(e, kind, word, str(abs(distance))))


def _shuffled(e: FunctionContext, elements: Sequence[Element], move: Callable[[str], str]) -> list[str]:
    """Elements of 8 and 16 bits are moved in words of several."""
    out: list[str] = [""] * len(elements)
    narrow: dict[int, list[int]] = {}
    for i, (ty, operand) in enumerate(elements):
        width = max(8, bit_width(ty))
        if width < 32:
            narrow.setdefault(width, []).append(i)
        else:
            out[i] = _moved_wide(e, ty, operand, move)
    for width, members in narrow.items():
        count = 32 // width
        for start in range(0, len(members), count):
            chunk = members[start : start + count]
            for i, moved in zip(chunk, _moved_narrow(e, [elements[i] for i in chunk], width, move)):
                out[i] = moved
    return out


def _moved_wide(e: FunctionContext, ty: Type, operand: str, move: Callable[[str], str]) -> str:
    bits = bits_of(e, ty, operand)
    if bit_width(ty) == 32:
        return from_bits(e, ty, move(bits))
    words = bit_width(ty) // 32
    vector = f"<{words} x i32>"
    halves = e.op(f"bitcast i{bit_width(ty)} {bits} to {vector}")
    moved = "poison"
    for i in range(words):
        word = move(e.op(f"extractelement {vector} {halves}, i32 {i}"))
        moved = e.op(f"insertelement {vector} {moved}, i32 {word}, i32 {i}")
    return from_bits(e, ty, e.op(f"bitcast {vector} {moved} to i{bit_width(ty)}"))


def _moved_narrow(e: FunctionContext, elements: Sequence[Element], width: int, move: Callable[[str], str]) -> list[str]:
    """Up to 32 / width elements in one word."""
    own = [_widened(e, ty, bits_of(e, ty, operand), width) for ty, operand in elements]
    if len(own) == 1:
        word = move(e.op(f"zext i{width} {own[0]} to i32"))
        return [_narrowed(e, elements[0][0], e.op(f"trunc i32 {word} to i{width}"), width)]
    vector = f"<{32 // width} x i{width}>"
    packed = "poison"
    for i, bits in enumerate(own):
        packed = e.op(f"insertelement {vector} {packed}, i{width} {bits}, i32 {i}")
    word = move(e.op(f"bitcast {vector} {packed} to i32"))
    unpacked = e.op(f"bitcast i32 {word} to {vector}")
    return [
        _narrowed(e, ty, e.op(f"extractelement {vector} {unpacked}, i32 {i}"), width)
        for i, (ty, _) in enumerate(elements)
    ]


def _widened(e: FunctionContext, ty: Type, bits: str, width: int) -> str:
    return bits if bit_width(ty) == width else e.op(f"zext i{bit_width(ty)} {bits} to i{width}")


def _narrowed(e: FunctionContext, ty: Type, bits: str, width: int) -> str:
    if bit_width(ty) < width:
        bits = e.op(f"trunc i{width} {bits} to i{bit_width(ty)}")
    return from_bits(e, ty, bits)


# -- shared memory ----------------------------------------------------------------------------------------------------


def memory_type(ty: Type) -> Type:
    """The type whose loads and stores move elements of type `ty`: bytes for i1, integers for 8-bit floats."""
    if isinstance(ty, IntegerType) and ty.width < 8:
        return IntegerType(8)
    if isinstance(ty, (IntegerType, FloatType)) and llvm_type(ty) == "i8":
        return IntegerType(8)
    return IntegerType(64) if isinstance(ty, PointerType) else ty


def element_at(e: FunctionContext, base: str, ty: Type, index: str) -> str:
    """The address of element `index` (an i32 operand) of an array of elements in shared memory."""
    size = byte_width(ty)
    if index == "0":
        return base
    if index.isdigit():
        out = e.op(f"getelementptr i8, ptr addrspace(3) {base}, i32 {int(index) * size}")
    else:
        out = e.op(f"getelementptr i{8 * size}, ptr addrspace(3) {base}, i32 {index}")
    e.multiples[out] = min(e.multiple_of(base), e.multiple_of(index) * size)
    return out


def store_element(e: FunctionContext, ty: Type, operand: str, address: str) -> None:
    """Write an element to shared memory."""
    store_elements(e, ty, [operand], address)


def store_elements(e: FunctionContext, ty: Type, operands: Sequence[str], address: str) -> None:
    """Write neighbours to shared memory by one access of at most 16 bytes, to which `address` is aligned."""
    moved, count = memory_type(ty), len(operands)
    element = kind = llvm_type(moved)
    if isinstance(ty, PointerType):
        operands = [bits_of(e, ty, v) for v in operands]
    elif moved is not ty and bit_width(ty) < 8:
        operands = [e.op(f"zext i{bit_width(ty)} {v} to i8") for v in operands]
    whole = operands[0]
    if count > 1:
        kind, whole = f"<{count} x {element}>", "poison"
        for i, v in enumerate(operands):
            whole = e.op(f"insertelement {kind} {whole}, {element} {v}, i32 {i}")
    alignment = _alignment(e, address, count * byte_width(ty))
    e.stmt(f"store {kind} {whole}, ptr addrspace(3) {address}, align {alignment}")


def _alignment(e: FunctionContext, address: str, least: int) -> int:
    """The known alignment of an address, from which LLVM forms accesses of up to 16 bytes."""
    return max(least, min(WIDEST, e.multiple_of(address)))


def load_elements(e: FunctionContext, ty: Type, address: str, count: int) -> list[str]:
    """Read `count` neighbours from shared memory, in accesses of up to 16 bytes; `address` is aligned to them."""
    moved = llvm_type(memory_type(ty))
    most = max(1, min(count, 16 // byte_width(ty)))
    out = []
    for start in range(0, count, most):
        at = address if not start else element_at(e, address, ty, str(start))
        vector = f"<{most} x {moved}>" if most > 1 else moved
        alignment = _alignment(e, at, most * byte_width(ty))
        whole = e.op(f"load {vector}, ptr addrspace(3) {at}, align {alignment}")
        found = [whole] if most == 1 else [e.op(f"extractelement {vector} {whole}, i32 {i}") for i in range(most)]
        out += [_loaded(e, ty, v) for v in found]
    return out


def load_of_block(e: FunctionContext, ty: Type, address: str, block: str) -> str:
    """Read what another block of the cluster has at this address of its shared memory; `block` is its number there."""
    width, moved = 8 * byte_width(ty), llvm_type(memory_type(ty))
    near = e.op(f"ptrtoint ptr addrspace(3) {address} to i32")
    operands = [("i32", near), ("i32", block)]
    far = e.asm("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", operands, "i32", side_effects=False)
    register, letter = {8: ("i16", "h"), 16: ("i16", "h"), 32: ("i32", "r"), 64: ("i64", "l")}[width]
    line = f"ld.shared::cluster.b{width} $0, [$1];"
    word = e.asm(line, f"={letter},r,~{{memory}}", [("i32", far)], register)
    if width == 8:
        word = e.op(f"trunc i16 {word} to i8")
    if not moved.startswith("i"):
        word = e.op(f"bitcast i{width} {word} to {moved}")
    return _loaded(e, ty, word)


def _loaded(e: FunctionContext, ty: Type, operand: str) -> str:
    if isinstance(ty, PointerType):
        return from_bits(e, ty, operand)
    return e.op(f"trunc i8 {operand} to i{bit_width(ty)}") if bit_width(ty) < 8 else operand
