"""The types and enumerations of the tt dialect, and the fields that hold them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import (
    DIALECT_ATTRIBUTES,
    DIALECT_TYPES,
    Attribute,
    IntegerType,
    TensorType,
    Type,
    element_type,
    enum_field,
    with_element,
)
from ..ir.assembly import custom_syntax

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "AtomicField",
    "AtomicOp",
    "CacheModifier",
    "CachePolicy",
    "DescriptorReduceKind",
    "DimField",
    "EvictionPolicy",
    "KNOWS_WARPS",
    "InputPrecision",
    "MemSemantic",
    "MemSyncScope",
    "NanField",
    "PaddingField",
    "PaddingOption",
    "PointerType",
    "PrecisionField",
    "ProgramDim",
    "PropagateNan",
    "ReduceKindField",
    "RoundingField",
    "RoundingMode",
    "ScaleDotElemType",
    "ScaleElemField",
    "ScopeField",
    "SemField",
    "TensorDescType",
    "pointee_type",
    "is_descriptor",
]

KNOWS_WARPS = "tritium.knows-warps"
"""The attribute of a module whose program has asked for the number of its warps."""


class PointerType(Type):
    """`!tt.ptr<f32>`: the address of a value of type `pointee`, or of a tile (block pointer)."""

    __slots__ = ("address_space", "pointee")
    pointee: Type
    address_space: int

    def __new__(cls, pointee: Type, address_space: int = 1) -> PointerType:
        found = cls._table.get((pointee, address_space))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.pointee, self.address_space = pointee, address_space
        return cls._table.setdefault((pointee, address_space), self)

    def spell(self, texts: dict[Any, str]) -> str:
        space = f", {self.address_space}" if self.address_space != 1 else ""
        return f"!tt.ptr<{texts[self.pointee]}{space}>"


def _parse_pointer(parser: Parser) -> PointerType:
    parser.expect("<")
    pointee = parser.type()
    space = parser.integer() if parser.accept(",") else 1
    parser.expect(">")
    return PointerType(pointee, space)


def is_descriptor(ty: Type) -> bool:
    """Whether values of a type are tensor maps: `!tt.tensordesc`, or `!ttng.tensordesc_im2col`."""
    return isinstance(ty, TensorDescType) or getattr(ty, "name", "") == "ttng.tensordesc_im2col"


class TensorDescType(Type):
    """`!tt.tensordesc<64x32xf16, #shared>`: a strided tensor in memory, accessed in blocks of type `block`.

    Elements of integer blocks have a sign (`si32`, `ui8`), those of the tensors loaded have none. The encoding of the
    block, where there is one, is the layout that blocks have in shared memory.
    """

    __slots__ = ("block",)
    block: TensorType

    def __new__(cls, block: TensorType) -> TensorDescType:
        found = cls._table.get(block)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.block = block
        return cls._table.setdefault(block, self)

    @property
    def tile(self) -> TensorType:
        """The type of a block that was loaded: integers have no sign there."""
        element = self.block.element
        if not isinstance(element, IntegerType) or not element.signedness:
            return self.block
        return TensorType(self.block.shape, IntegerType(element.width), self.block.encoding)

    def spell(self, texts: dict[Any, str]) -> str:
        block = self.block
        layout = "" if block.encoding is None else f", {texts[block.encoding]}"
        return f"!tt.tensordesc<{''.join(f'{n}x' for n in block.shape)}{texts[block.element]}{layout}>"


def _parse_descriptor(parser: Parser) -> TensorDescType:
    """Also the older spelling, with the block written as a tensor: `<tensor<64x32xf16>>`."""
    at = parser.pos
    parser.expect("<")
    if not parser.peek("tensor"):
        parser.skip_to(at)
        return TensorDescType(parser.shaped("tensor", at))
    at, block = parser.pos, parser.type()
    if not isinstance(block, TensorType):
        raise parser.error(f"a descriptor describes tensors, not {block}", at)
    parser.expect(">")
    return TensorDescType(block)


DIALECT_TYPES["tt.ptr"] = _parse_pointer
DIALECT_TYPES["tt.tensordesc"] = _parse_descriptor


class CacheModifier(enum.IntEnum):
    """Cache levels of a load or store."""

    none = 1
    ca = 2
    cg = 3
    wb = 4
    cs = 5
    wt = 6
    cv = 7


class EvictionPolicy(enum.IntEnum):
    """Eviction priority of a cache line."""

    evict_normal = 1
    evict_first = 2
    evict_last = 3


class CachePolicy(Attribute):
    """`#tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>`: hints to caches."""

    __slots__ = ("cache_modifier", "eviction_policy")
    cache_modifier: CacheModifier
    eviction_policy: EvictionPolicy

    def __new__(cls, cache_modifier: CacheModifier, eviction_policy: EvictionPolicy) -> CachePolicy:
        found = cls._table.get((cache_modifier, eviction_policy))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.cache_modifier, self.eviction_policy = cache_modifier, eviction_policy
        return cls._table.setdefault((cache_modifier, eviction_policy), self)

    @classmethod
    def of(cls, modifier: CacheModifier | None = None, eviction: EvictionPolicy | None = None) -> CachePolicy | None:
        """The policy of both; None, which stands for no policy, where neither hints at anything."""
        modifier, eviction = modifier or CacheModifier.none, eviction or EvictionPolicy.evict_normal
        usual = modifier is CacheModifier.none and eviction is EvictionPolicy.evict_normal
        return None if usual else cls(modifier, eviction)

    def spell(self, texts: dict[Any, str]) -> str:
        hints = f"cache_modifier = {self.cache_modifier.name}, eviction_policy = {self.eviction_policy.name}"
        return f"#tt.cache_policy<{hints}>"


def _keyword(parser: Parser, cls: type[enum.IntEnum]) -> enum.IntEnum:
    at, word = parser.pos, parser.word("a keyword")
    if word not in cls.__members__:
        raise parser.error(f"'{word}' is not one of {', '.join(cls.__members__)}", at)
    return cls[word]


def _parse_policy(parser: Parser) -> CachePolicy:
    known = {"cache_modifier": CacheModifier, "eviction_policy": EvictionPolicy}
    given: dict[str, Any] = {}
    parser.expect("<")
    while len(given) < len(known):
        if given:
            parser.expect(",")
        at, name = parser.pos, parser.word("a parameter")
        if name not in known or name in given:
            raise parser.error(f"'{name}' is not the name of a further parameter of #tt.cache_policy", at)
        parser.expect("=")
        given[name] = _keyword(parser, known[name])
    parser.expect(">")
    return CachePolicy(**given)


def _parse_former_policy(parser: Parser) -> tuple[CachePolicy | None]:
    """`cacheModifier = ca evictionPolicy = evict_last`, each where it says something, in any order."""
    kinds: dict[str, Any] = {"cacheModifier": CacheModifier, "evictionPolicy": EvictionPolicy}
    given: dict[str, Any] = {}
    while (word := parser.accept_any(*(kinds.keys() - given.keys()))) is not None:
        parser.expect("=")
        given[word] = _keyword(parser, kinds[word])
    return (CachePolicy.of(given.get("cacheModifier"), given.get("evictionPolicy")),)


DIALECT_ATTRIBUTES["tt.cache_policy"] = _parse_policy
custom_syntax("CachePolicy", lambda printer: "", _parse_former_policy)


class PaddingOption(enum.IntEnum):
    """The value of out-of-bounds elements."""

    pad_zero = 1
    pad_nan = 2


class AtomicOp(enum.IntEnum):
    """The operation of an atomic read-modify-write."""

    _and = 1
    _or = 2
    xor = 3
    add = 4
    fadd = 5
    max = 6
    min = 7
    umax = 8
    umin = 9
    exch = 10


class DescriptorReduceKind(enum.IntEnum):
    """The operation of a reducing store through a descriptor."""

    add = 1
    min = 2
    max = 3
    inc = 4
    dec = 5
    _and = 6
    _or = 7
    xor = 8


class MemSemantic(enum.IntEnum):
    """The memory order of an atomic."""

    relaxed = 1
    acquire = 2
    release = 3
    acq_rel = 4


class MemSyncScope(enum.IntEnum):
    """The scope in which an atomic is ordered."""

    gpu = 1
    cta = 2
    sys = 3


class ProgramDim(enum.IntEnum):
    """An axis of the grid."""

    x = 0
    y = 1
    z = 2


class RoundingMode(enum.IntEnum):
    """The rounding mode of a float conversion."""

    rtz = 0
    rtne = 1


class PropagateNan(enum.IntEnum):
    """Whether min and max propagate NaN."""

    none = 0
    all = 0xFFFF


class InputPrecision(enum.IntEnum):
    """The precision of f32 operands of `dot`."""

    tf32 = 0
    tf32x3 = 1
    ieee = 2
    bf16x3 = 3
    bf16x6 = 4


class ScaleDotElemType(enum.IntEnum):
    """The element formats of `dot_scaled`."""

    e4m3 = 0
    e5m2 = 1
    e2m3 = 2
    e3m2 = 3
    e2m1 = 4
    bf16 = 5
    fp16 = 6


PaddingField = Annotated[PaddingOption, enum_field(PaddingOption)]
OptionalPaddingField = Annotated[PaddingOption | None, enum_field(PaddingOption)]
AtomicField = Annotated[AtomicOp, enum_field(AtomicOp)]
ReduceKindField = Annotated[DescriptorReduceKind, enum_field(DescriptorReduceKind)]
SemField = Annotated[MemSemantic, enum_field(MemSemantic)]
ScopeField = Annotated[MemSyncScope, enum_field(MemSyncScope)]
DimField = Annotated[ProgramDim, enum_field(ProgramDim)]
RoundingField = Annotated[RoundingMode | None, enum_field(RoundingMode)]
NanField = Annotated[PropagateNan, enum_field(PropagateNan)]
PrecisionField = Annotated[InputPrecision, enum_field(InputPrecision)]
ScaleElemField = Annotated[ScaleDotElemType, enum_field(ScaleDotElemType)]


def pointee_type(ty: Type) -> Type:
    """What a load through `ty` gives: pointers of tensors element by element, a block pointer its tile."""
    element = element_type(ty)
    assert isinstance(element, PointerType), f"{ty} is no pointer"
    return with_element(ty, element.pointee)
