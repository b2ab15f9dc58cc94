"""Planned accesses to shared memory: vectors, matrices, memory of other CTAs of a cluster.

An address is `base + (thread ^ constant)`, where `thread` is what lane and warp contribute. The bits of a constant that
no thread has are added as the immediate of the instruction; those that threads have need an exclusive or, made once for
all constants that share them. Gaps of padded layouts add up the same way, since bits apart never carry.

Each exclusive or that the thread has is the same in all iterations of a loop, and LLVM keeps it in a register for as
long. Where the address of a buffer is `aligned` to more than the constant, `(base + thread) ^ constant` is the same
address, and there is only `thread` to keep: as many instructions in the loop, but for where an address may have two
parts, so that this is for programs with few registers left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...dialects.tt_types import PointerType
from ...ir import Type, element_type
from ...layout import LinearLayout
from ...layout.access import Access
from .context import FunctionContext
from .positions import linear_image, thread_of
from .types import bit_width, llvm_type

__all__ = [
    "Addresses",
    "Gaps",
    "cluster_address",
    "cluster_words",
    "emit_cluster_words",
    "from_memory",
    "load_access",
    "load_cluster_element",
    "memory_type",
    "owner",
    "store_access",
    "store_cluster_element",
    "store_element",
    "to_memory",
]

SHARED = "ptr addrspace(3)"
Gaps = Sequence[tuple[int, int]]
"""(interval, padding) in bytes: padding after each interval."""


class Addresses:
    """The addresses of one access: `at(constant)` for each of its moves, constants in elements.

    `base` is the address of the buffer, `extra` an i32 operand of bytes that is combined with what the thread
    contributes by exclusive or and has no other bits than `extra_bits`. `block_bit` is the bit (of an offset in
    elements) from which on the number of a block stands; such addresses are i32 operands in the memory of the cluster.
    `base` is known to be a multiple of `aligned` bytes, a power of two. `first_block` is the rank of the CTA that has
    the first element.
    """

    def __init__(
        self,
        e: FunctionContext,
        access: Access,
        base: str,
        gaps: Gaps = (),
        extra: tuple[str, int] = ("0", 0),
        block_bit: int | None = None,
        aligned: int = 1,
        first_block: int = 0,
    ) -> None:
        self.e, self.base, self.gaps, self.aligned = e, base, gaps, aligned
        self.size = access.bits // 8
        self.block_bit, self.first_block = block_bit, first_block
        columns = {"lane": access.lane, "warp": access.warp, "block": access.block}
        inside = (1 << block_bit) - 1 if block_bit is not None else -1
        known = extra[0].isdigit()
        self.start = int(extra[0]) if known else 0  # one more constant: it need not be combined with the thread
        self.bits = 0 if known else extra[1]
        offsets = {n: [(c & inside) * self.size for c in cs] for n, cs in columns.items()}
        for cs in offsets.values():
            for c in cs:
                self.bits |= c
        self.thread = _image(e, offsets)
        if not known:
            self.thread = extra[0] if self.thread == "0" else e.op(f"xor i32 {self.thread}, {extra[0]}")
        self.block = "0"
        if block_bit is not None:
            self.block = _image(e, {n: [c >> block_bit for c in cs] for n, cs in columns.items()})
        self._bases: dict[int, str] = {}
        self._remote: dict[tuple[int, int], str] = {}
        self._places: dict[tuple[int, str], str] = {}

    def _based(self, flipped: int) -> str:
        """The address of `thread ^ flipped`."""
        found = self._bases.get(flipped)
        if found is None:
            e = self.e
            offset = self.thread
            if 0 < flipped < self.aligned and offset != "0" and not self.gaps:
                whole = e.op(f"ptrtoint {SHARED} {self._based(0)} to i32")
                found = e.op(f"inttoptr i32 {e.op(f'xor i32 {whole}, {flipped}')} to {SHARED}")
                self._bases[flipped] = found
                return found
            if flipped:
                offset = str(flipped) if offset == "0" else e.op(f"xor i32 {offset}, {flipped}")
            total = offset
            for interval, padding in self.gaps:
                total = _add(e, total, _gap(e, offset, interval, padding))
            found = self.base if total == "0" else e.op(f"getelementptr i8, {SHARED} {self.base}, i32 {total}")
            self._bases[flipped] = found
        return found

    def at(self, constant: int) -> str:
        """The address of a move in this block's memory."""
        offset = constant * self.size ^ self.start
        flipped = offset & self.bits
        rest = offset ^ flipped
        base = self._based(flipped)
        rest += sum(rest // interval * padding for interval, padding in self.gaps)
        return base if not rest else self.e.op(f"getelementptr i8, {SHARED} {base}, i32 {rest}")

    def in_cluster(self, constant: int) -> str:
        """The address, in the memory of the cluster, of a move that may go to another block."""
        assert self.block_bit is not None
        key = constant >> self.block_bit ^ self.first_block, constant & ((1 << self.block_bit) - 1)
        if key not in self._remote:
            self._remote[key] = cluster_address(self.e, self.at(key[1]), self._rank(key[0]))
        return self._remote[key]

    def same_cta(self, constant: int, place: str) -> str:
        """The address of another place in the memory of the CTA that a move goes to."""
        assert self.block_bit is not None
        among = constant >> self.block_bit ^ self.first_block
        key = among, place
        if key not in self._places:
            self._places[key] = cluster_address(self.e, place, self._rank(among))
        return self._places[key]

    def _rank(self, among: int) -> str:
        if not among:
            return self.block
        return str(among) if self.block == "0" else self.e.op(f"xor i32 {self.block}, {among}")


def cluster_address(e: FunctionContext, at: str, block: str) -> str:
    """An address in this CTA's memory as the i32 address of the same place in the memory of a CTA of the cluster."""
    operands = [("i32", e.op(f"ptrtoint {SHARED} {at} to i32")), ("i32", block)]
    return e.asm("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", operands, "i32", side_effects=False)


def _add(e: FunctionContext, a: str, b: str) -> str:
    if "0" in (a, b):
        return b if a == "0" else a
    return e.op(f"add i32 {a}, {b}")


def _gap(e: FunctionContext, offset: str, interval: int, padding: int) -> str:
    """offset // interval * padding"""
    if offset.isdigit():
        return str(int(offset) // interval * padding)
    which = e.op(f"lshr i32 {offset}, {interval.bit_length() - 1}")
    return e.op(f"shl i32 {which}, {padding.bit_length() - 1}")


def _image(e: FunctionContext, columns: dict[str, list[int]]) -> str:
    """The number that the thread's bits make, by exclusive or."""
    top = max((c for cs in columns.values() for c in cs), default=0).bit_length()
    if not top:
        return "0"
    layout = LinearLayout({n: [(c,) for c in cs] for n, cs in columns.items()}, {"offset": 1 << top})
    return linear_image(e, layout, thread_of(e))["offset"]


def owner(e: FunctionContext, idle_lanes: int, idle_warps: int, idle_blocks: int = 0) -> str | None:
    """Whether none of these bits is set in this thread's lane, warp and CTA; None where there are no bits."""
    whole = None
    for operand, mask in ((e.lane, idle_lanes), (e.warp, idle_warps), (e.block_id, idle_blocks)):
        if mask:
            term = e.op(f"and i32 {operand}, {mask}")
            whole = term if whole is None else e.op(f"or i32 {whole}, {term}")
    if whole is None:
        return None
    return e.op(f"icmp eq i32 {whole}, 0")


# -- elements ---------------------------------------------------------------------------------------------------


def memory_type(ty: Type) -> str:
    """The LLVM type of an element in shared memory."""
    if isinstance(element_type(ty), PointerType):
        return f"i{bit_width(ty)}"
    return "i8" if bit_width(ty) < 8 else llvm_type(ty)


def to_memory(e: FunctionContext, ty: Type, operand: str) -> str:
    """An element as memory holds it."""
    source, target = llvm_type(ty), memory_type(ty)
    if source == target:
        return operand
    return e.op(f"{'ptrtoint' if source.startswith('ptr') else 'zext'} {source} {operand} to {target}")


def from_memory(e: FunctionContext, ty: Type, operand: str) -> str:
    """The other way round."""
    source, target = memory_type(ty), llvm_type(ty)
    if source == target:
        return operand
    return e.op(f"{'inttoptr' if target.startswith('ptr') else 'trunc'} {source} {operand} to {target}")


def _vector(e: FunctionContext, kind: str, elements: Sequence[str]) -> tuple[str, str]:
    """Elements as one operand, with its type. Bytes go as words: LLVM takes long vectors of them apart."""
    if len(elements) == 1:
        return kind, elements[0]
    known = _known_words(e, kind, elements)
    if known is not None:
        return ("i32", known[0]) if len(known) == 1 else _side_by_side(e, "i32", known)
    if kind == "i8" and len(elements) % 4 == 0:
        words = [e.target.word_of_bytes(e, elements[i : i + 4], e.words) for i in range(0, len(elements), 4)]
        return ("i32", words[0]) if len(words) == 1 else _side_by_side(e, "i32", words)
    return _side_by_side(e, kind, elements)


_PER_WORD = {"half": 2, "bfloat": 2, "i16": 2, "i8": 4}


def _known_words(e: FunctionContext, kind: str, elements: Sequence[str]) -> list[str] | None:
    """The words of 32 bits that all the elements were taken from, in their order; None where there are none."""
    count = _PER_WORD.get(kind)
    if count is None or len(elements) % count:
        return None
    found = [e.words.get(tuple(elements[i : i + count])) for i in range(0, len(elements), count)]
    return None if None in found else [word for word in found if word is not None]


def _side_by_side(e: FunctionContext, kind: str, elements: Sequence[str]) -> tuple[str, str]:
    vector = f"<{len(elements)} x {kind}>"
    out = "poison"
    for i, v in enumerate(elements):
        out = e.op(f"insertelement {vector} {out}, {kind} {v}, i32 {i}")
    return vector, out


def _words(e: FunctionContext, kind: str, bits: int, elements: Sequence[str], width: int) -> list[str]:
    """Elements in words of `width` bits (at least their own)."""
    per_word = max(1, width // bits)
    out = []
    for i in range(0, len(elements), per_word):
        known = e.words.get(tuple(elements[i : i + per_word]))
        if known is not None:
            out.append(known)
            continue
        vector, whole = _vector(e, kind, elements[i : i + per_word])
        out.append(whole if vector == f"i{width}" else e.op(f"bitcast {vector} {whole} to i{width}"))
    return out


def _elements(e: FunctionContext, kind: str, bits: int, words: Sequence[str], width: int) -> list[str]:
    """The other way round."""
    per_word = max(1, width // bits)
    out = []
    for word in words:
        vector = kind if per_word == 1 else f"<{per_word} x {kind}>"
        whole = word if vector == f"i{width}" else e.op(f"bitcast i{width} {word} to {vector}")
        if per_word == 1:
            out.append(whole)
        else:
            parts = [e.op(f"extractelement {vector} {whole}, i32 {i}") for i in range(per_word)]
            e.words[tuple(parts)] = word
            out += parts
    return out


# -- stores -----------------------------------------------------------------------------------------------------


def store_access(
    e: FunctionContext,
    access: Access,
    addresses: Addresses,
    values: Sequence[str],
    ty: Type,
    owns: str | None = None,
    remote: bool = False,
) -> None:
    """Store the registers of an access, as memory holds them; only threads that `owns` holds for, if it is given.

    `remote`: to the memory of the cluster.
    """
    kind = memory_type(ty)
    for constant, registers in access.moves:
        elements = [values[r] for r in registers]
        if remote:
            _store_to_cluster(e, access, kind, elements, addresses.in_cluster(constant), owns)
            continue
        at = addresses.at(constant)
        if access.kind != "vector":
            _store_matrices(e, access, kind, elements, at, owns)
        elif owns is None:
            vector, whole = _vector(e, kind, elements)
            e.stmt(f"store {vector} {whole}, {SHARED} {at}, align {access.width * access.bits // 8}")
        else:
            _guarded_store(e, access, kind, elements, at, owns)


def _store_matrices(
    e: FunctionContext, access: Access, kind: str, elements: Sequence[str], at: str, owns: str | None
) -> None:
    """stmatrix; `owns` is the same in all lanes of a warp, since all of them must execute the instruction."""
    words = [("i32", w) for w in _words(e, kind, access.bits, elements, 32)]
    trans = ".trans" if access.kind == "transposed" else ""
    form = f"stmatrix.sync.aligned.m8n8.x{len(words)}{trans}"
    if owns is None:
        e.call_void(f"llvm.nvvm.{form}.b16.p3", (SHARED, at), *words, attributes=" #1")
        return
    place = e.op(f"ptrtoint {SHARED} {at} to i32")
    names = ", ".join(f"${i + 2}" for i in range(len(words)))
    constraints = ",".join(["r", "b", *["r"] * len(words), "~{memory}"])
    e.asm(f"@$1 {form}.shared.b16 [$0], {{{names}}};", constraints, [("i32", place), ("i1", owns), *words])


def _store_to_cluster(
    e: FunctionContext, access: Access, kind: str, elements: Sequence[str], at: str, owns: str | None
) -> None:
    words, width = _cluster_words(e, access, kind, elements)
    emit_cluster_words(e, "st.shared::cluster{many}.{suffix} [$0], {words};", at, words, width, owns)


def _cluster_words(e: FunctionContext, access: Access, kind: str, elements: Sequence[str]) -> tuple[list[str], int]:
    width = _word_width(access)
    return _words(e, kind, access.bits, elements, width), width


def cluster_words(e: FunctionContext, access: Access, ty: Type, elements: Sequence[str]) -> tuple[list[str], int]:
    """Elements as memory holds them in the words that one instruction writes, and their width."""
    return _cluster_words(e, access, memory_type(ty), elements)


def emit_cluster_words(
    e: FunctionContext,
    text: str,
    at: str,
    words: Sequence[str],
    width: int,
    owns: str | None,
    more: Sequence[tuple[str, str]] = (),
) -> None:
    """An instruction that writes words of `width` bits at an address of the cluster; `text` has `{many}` (`.v2`),
    `{suffix}` (`b32`), `{words}`, `$0` for the address and `$1`, … for the i32 operands `more`."""
    suffix, letter, ty = _ASM[width]
    if width == 8:
        words = [e.op(f"zext i8 {w} to i16") for w in words]
    first = 1 + len(more)
    names = ", ".join(f"${first + i}" for i in range(len(words)))
    listed = names if len(words) == 1 else f"{{{names}}}"
    text = text.format(many="" if len(words) == 1 else f".v{len(words)}", suffix=suffix, words=listed)
    operands = [("i32", at), *more, *((ty, w) for w in words)]
    constraints = [*["r"] * first, *[letter] * len(words)]
    if owns is not None:
        operands.append(("i1", owns))
        constraints.append("b")
        text = f"@${len(operands) - 1} {text}"
    e.asm(text, ",".join(constraints) + ",~{memory}", operands)


def store_cluster_element(e: FunctionContext, ty: Type, operand: str, at: str, owns: str | None) -> None:
    """Store one element, as memory holds it, at an address of the cluster."""
    bits = max(8, bit_width(ty))
    one = Access("vector", bits, 1, (), (), (), (), (), 1)
    _store_to_cluster(e, one, memory_type(ty), [operand], at, owns)


def load_cluster_element(e: FunctionContext, ty: Type, at: str) -> str:
    """One element at an address of the cluster, as memory holds it."""
    bits = max(8, bit_width(ty))
    one = Access("vector", bits, 1, (), (), (), (), (), 1)
    return _load_from_cluster(e, one, memory_type(ty), at)[0]


def store_element(e: FunctionContext, ty: Type, operand: str, at: str, owns: str | None) -> None:
    """Store one element, as memory holds it, at an address."""
    bits = max(8, bit_width(ty))
    if owns is None:
        e.stmt(f"store {memory_type(ty)} {operand}, {SHARED} {at}, align {bits // 8}")
        return
    _guarded_store(e, Access("vector", bits, 1, (), (), (), (), (), 1), memory_type(ty), [operand], at, owns)


_ASM = {8: ("b8", "h", "i16"), 16: ("b16", "h", "i16"), 32: ("b32", "r", "i32"), 64: ("b64", "l", "i64")}


def _word_width(access: Access) -> int:
    """The width of the words that an instruction moves."""
    total = access.width * access.bits
    return total if total <= 32 else max(32, access.bits)


def _guarded_store(e: FunctionContext, access: Access, kind: str, elements: Sequence[str], at: str, owns: str) -> None:
    width = _word_width(access)
    e.target.store_shared(e, at, _words(e, kind, access.bits, elements, width), width, owns)


# -- loads ------------------------------------------------------------------------------------------------------


def load_access(
    e: FunctionContext, access: Access, addresses: Addresses, ty: Type, remote: bool = False
) -> dict[int, str]:
    """For each register of an access what is loaded, as memory holds it. `remote`: from the memory of the cluster."""
    kind = memory_type(ty)
    out: dict[int, str] = {}
    for constant, registers in access.moves:
        if remote:
            found = _load_from_cluster(e, access, kind, addresses.in_cluster(constant))
        elif access.kind == "vector":
            found = _load_vector(e, access, kind, addresses.at(constant))
        else:
            found = _load_matrix(e, access, kind, addresses.at(constant))
        out.update(zip(registers, found, strict=True))
    return {r: out[same] for r, same in enumerate(access.same)}


def _load_vector(e: FunctionContext, access: Access, kind: str, at: str) -> list[str]:
    vector = kind if access.width == 1 else f"<{access.width} x {kind}>"
    whole = e.op(f"load {vector}, {SHARED} {at}, align {access.width * access.bits // 8}")
    if access.width == 1:
        return [whole]
    return [e.op(f"extractelement {vector} {whole}, i32 {i}") for i in range(access.width)]


def _struct(kinds: Iterable[str]) -> str:
    return f"{{ {', '.join(kinds)} }}"


def _load_matrix(e: FunctionContext, access: Access, kind: str, at: str) -> list[str]:
    count = access.width * access.bits // 32
    trans = ".trans" if access.kind == "transposed" else ""
    result = "i32" if count == 1 else _struct(["i32"] * count)
    name = f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{trans}.b16.p3"
    whole = e.call(result, name, (SHARED, at), attributes=" #1")
    words = [whole] if count == 1 else e.fields(result, whole, count)
    return _elements(e, kind, access.bits, words, 32)


def _load_from_cluster(e: FunctionContext, access: Access, kind: str, at: str) -> list[str]:
    width = _word_width(access)
    suffix, letter, ty = _ASM[width]
    count = access.width * access.bits // width
    names = ", ".join(f"${i}" for i in range(count))
    listed = names if count == 1 else f"{{{names}}}"
    many = "" if count == 1 else f".v{count}"
    constraints = ",".join([*[f"={letter}"] * count, "r"]) + ",~{memory}"
    result: Any = ty if count == 1 else _struct([ty] * count)
    text = f"ld.shared::cluster{many}.{suffix} {listed}, [${count}];"
    whole = e.asm(text, constraints, [("i32", at)], result)
    words = [whole] if count == 1 else e.fields(result, whole, count)
    if width == 8:
        words = [e.op(f"trunc i16 {w} to i8") for w in words]
    return _elements(e, kind, access.bits, words, width)
