"""The tt dialect: tile programs over tensors of pointers and values, as Triton spells them."""

from __future__ import annotations

import enum

from ..ir import (
    COMMUTATIVE,
    ELEMENTWISE,
    ISOLATED,
    PURE,
    READ,
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    SYMBOL,
    TERMINATOR,
    WRITE,
    AnyAttr,
    Attribute,
    Block,
    Body,
    Bool,
    Flag,
    FunctionType,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Region,
    Result,
    Str,
    Symbol,
    TensorType,
    Type,
    TypeField,
    Value,
    VariadicOperand,
    VariadicResult,
    element_type,
    i32,
    with_element,
)
from ..ir import I32 as I32Field
from ..ir.definition import enum_field

__all__ = [
    "AddPtr",
    "Advance",
    "Assert",
    "AtomicCAS",
    "AtomicOp",
    "AtomicRMW",
    "Bitcast",
    "Broadcast",
    "CacheModifier",
    "Call",
    "Cat",
    "ClampF",
    "DescriptorLoad",
    "DescriptorStore",
    "Dot",
    "EvictionPolicy",
    "ExpandDims",
    "ExternElementwise",
    "FpToFp",
    "Func",
    "Gather",
    "GetNumPrograms",
    "GetProgramId",
    "Histogram",
    "InlineAsm",
    "InputPrecision",
    "IntToPtr",
    "Join",
    "Load",
    "MakeRange",
    "MakeTensorDescriptor",
    "MakeTensorPtr",
    "MemSemantic",
    "MemSyncScope",
    "MulhiUI",
    "PaddingOption",
    "PointerType",
    "PreciseDivF",
    "PreciseSqrt",
    "Print",
    "ProgramDim",
    "PropagateNan",
    "PtrToInt",
    "Reduce",
    "ReduceReturn",
    "Reshape",
    "Return",
    "RoundingMode",
    "ScaleDotElemType",
    "Scan",
    "ScanReturn",
    "Splat",
    "Split",
    "Store",
    "TensorDescType",
    "Trans",
    "Unsplat",
    "pointee_type",
]

_TO = "$src attr-dict `:` type($src) `->` type($result)"
_ACCESS = "(`cacheModifier` `=` $cache^)? (`evictionPolicy` `=` $evict^)? attr-dict `:` "


class PointerType(Type):
    """`!tt.ptr<f32>`: the address of a value of type `pointee`, or of a whole tile (block pointer)."""

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

    def __str__(self) -> str:
        space = f", {self.address_space}" if self.address_space != 1 else ""
        return f"!tt.ptr<{self.pointee}{space}>"


class TensorDescType(Type):
    """`!tt.tensordesc<tensor<64x32xf16>>`: a strided tensor in memory, accessed in blocks of type `block`.

    `signed` tells integer blocks apart in printing (`si`/`ui` element types); None for the rest.
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

    def __str__(self) -> str:
        return f"!tt.tensordesc<{self.block}>"


class CacheModifier(enum.IntEnum):
    """Where a load or store should be cached."""

    none = 1
    ca = 2
    cg = 3
    wb = 4
    cs = 5
    wt = 6
    cv = 7


class EvictionPolicy(enum.IntEnum):
    """How long a cache line should stay."""

    evict_normal = 1
    evict_first = 2
    evict_last = 3


class PaddingOption(enum.IntEnum):
    """What an out-of-bounds element reads as."""

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


class MemSemantic(enum.IntEnum):
    """The memory order of an atomic."""

    relaxed = 1
    acquire = 2
    release = 3
    acq_rel = 4


class MemSyncScope(enum.IntEnum):
    """Who sees an atomic in order."""

    gpu = 1
    cta = 2
    sys = 3


class ProgramDim(enum.IntEnum):
    """An axis of the grid."""

    x = 0
    y = 1
    z = 2


class RoundingMode(enum.IntEnum):
    """How a float conversion rounds."""

    rtz = 0
    rtne = 1


class PropagateNan(enum.IntEnum):
    """Whether min and max hand on NaN."""

    none = 0
    all = 0xFFFF


class InputPrecision(enum.IntEnum):
    """How f32 operands of `dot` are multiplied."""

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


CacheField = enum_field(CacheModifier)
EvictField = enum_field(EvictionPolicy)
PaddingField = enum_field(PaddingOption)
AtomicField = enum_field(AtomicOp)
SemField = enum_field(MemSemantic)
ScopeField = enum_field(MemSyncScope)
DimField = enum_field(ProgramDim)
RoundingField = enum_field(RoundingMode)
NanField = enum_field(PropagateNan)
PrecisionField = enum_field(InputPrecision)
ScaleElemField = enum_field(ScaleDotElemType)


def pointee_type(ty: Type) -> Type:
    """What a load through `ty` gives: pointers of tensors element by element, a block pointer its tile."""
    element = element_type(ty)
    assert isinstance(element, PointerType), f"{ty} is no pointer"
    return with_element(ty, element.pointee)


class _PointerResult:
    """Mixin: the result is what operand 0 points to."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The pointee type in the shape of the pointer."""
        return [pointee_type(operands[0].type)]


# -- functions ----------------------------------------------------------------------------------------------------


class Func(Op, name="tt.func", traits=ISOLATED | SYMBOL):
    """A function; kernels are public. `arg_attrs` holds one dictionary an argument (tt.divisibility, …)."""

    body_region: Body
    sym_name: Str
    function_type: TypeField
    sym_visibility: Str = None
    arg_attrs: AnyAttr = None
    res_attrs: AnyAttr = None
    noinline: Bool = None

    @classmethod
    def build(cls, name: str, ty: FunctionType, visibility: str = "public", noinline: bool = False) -> Func:
        """A function whose entry block has its arguments and no operation yet."""
        return cls(Region(Block(ty.inputs)), name, ty, visibility, noinline=noinline)

    @property
    def entry(self) -> Block:
        """The first block."""
        return self.regions[0].blocks[0]

    @property
    def is_declaration(self) -> bool:
        """True without a body."""
        return not self.regions[0].blocks


class Return(Op, name="tt.return", traits=TERMINATOR | RETURN_LIKE, assembly="attr-dict ($srcs^ `:` type($srcs))?"):
    """Leave the function with `srcs`."""

    srcs: VariadicOperand


class Call(Op, name="tt.call", assembly="$callee `(` $args `)` attr-dict `:` functional-type($args, $results_)"):
    """results = callee(args)"""

    callee: Symbol
    args: VariadicOperand
    arg_attrs: AnyAttr = None
    res_attrs: AnyAttr = None
    results_: VariadicResult


# -- programs -----------------------------------------------------------------------------------------------------


class _I32Result:
    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32"""
        return [i32]


class GetProgramId(_I32Result, Op, name="tt.get_program_id", traits=PURE, assembly="$axis attr-dict `:` type($result)"):
    """result = the position of this program along `axis`."""

    axis: DimField
    result: Result


class GetNumPrograms(
    _I32Result, Op, name="tt.get_num_programs", traits=PURE, assembly="$axis attr-dict `:` type($result)"
):
    """result = the size of the grid along `axis`."""

    axis: DimField
    result: Result


# -- casts and pointers -------------------------------------------------------------------------------------------


class IntToPtr(Op, name="tt.int_to_ptr", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the address `src`."""

    src: Operand
    result: Result


class PtrToInt(Op, name="tt.ptr_to_int", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the address as an integer."""

    src: Operand
    result: Result


class Bitcast(Op, name="tt.bitcast", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the bits of `src` in another type of the same width; pointers may change what they point to."""

    src: Operand
    result: Result


class FpToFp(
    Op,
    name="tt.fp_to_fp",
    traits=PURE | ELEMENTWISE,
    assembly="$src (`,` `rounding` `=` $rounding^)? attr-dict `:` type($src) `->` type($result)",
):
    """result = `src` in another float type; `rounding` is required when bits are lost."""

    src: Operand
    rounding: RoundingField = None
    result: Result


class AddPtr(
    Op,
    name="tt.addptr",
    traits=PURE | ELEMENTWISE,
    assembly="$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)",
):
    """result = ptr + offset * sizeof(pointee), the offset sign-extended."""

    ptr: Operand
    offset: Operand
    result: Result


# -- arithmetic ---------------------------------------------------------------------------------------------------


class ClampF(
    Op,
    name="tt.clampf",
    traits=PURE | ELEMENTWISE,
    assembly="$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($x)",
):
    """result = min(max(x, min), max); a NaN in x stays when `propagateNan` is all, else becomes min."""

    x: Operand
    min: Operand
    max: Operand
    propagateNan: NanField
    result: Result


class PreciseSqrt(Op, name="tt.precise_sqrt", traits=PURE | ELEMENTWISE, assembly="$x attr-dict `:` type($x)"):
    """result = sqrt(x), correctly rounded."""

    x: Operand
    result: Result


class PreciseDivF(Op, name="tt.precise_divf", traits=PURE | ELEMENTWISE, assembly="$x `,` $y attr-dict `:` type($x)"):
    """result = x / y, correctly rounded."""

    x: Operand
    y: Operand
    result: Result


class MulhiUI(
    Op, name="tt.mulhiui", traits=PURE | ELEMENTWISE | COMMUTATIVE, assembly="$x `,` $y attr-dict `:` type($x)"
):
    """result = the high half of the unsigned product."""

    x: Operand
    y: Operand
    result: Result


class ExternElementwise(
    Op,
    name="tt.extern_elementwise",
    traits=ELEMENTWISE,
    assembly="operands attr-dict `:` functional-type(operands, $result)",
):
    """result = the library function `symbol` of the operands; no effect when `pure`."""

    srcs: VariadicOperand
    libname: Str
    libpath: Str
    symbol: Str
    pure: Bool
    result: Result

    @property
    def effects(self) -> int:
        """None when pure."""
        return 0 if self.pure else READ | WRITE


class InlineAsm(
    Op,
    name="tt.elementwise_inline_asm",
    traits=ELEMENTWISE,
    assembly="$asm_string attr-dict ($args^ `:` type($args))? `->` type($results_)",
):
    """results = the assembly text applied to groups of `packed_element` elements."""

    asm_string: Str
    args: VariadicOperand
    constraints: Str
    pure: Bool
    packed_element: I32Field
    results_: VariadicResult

    @property
    def effects(self) -> int:
        """None when pure."""
        return 0 if self.pure else READ | WRITE


# -- creation and shape -------------------------------------------------------------------------------------------


class MakeRange(Op, name="tt.make_range", traits=PURE, assembly="attr-dict `:` type($result)"):
    """result = [start, start + 1, …, end - 1]"""

    start: I32Field
    end: I32Field
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A tensor of i32."""
        n = attributes["end"].value - attributes["start"].value  # type: ignore[attr-defined]
        return [TensorType((n,), i32)]


class Splat(Op, name="tt.splat", traits=PURE, assembly=_TO):
    """result[i…] = src, a scalar."""

    src: Operand
    result: Result


class Unsplat(Op, name="tt.unsplat", traits=PURE, assembly="$src attr-dict `:` type($src)"):
    """result = the only element of `src`."""

    src: Operand
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The element type."""
        return [element_type(operands[0].type)]


class ExpandDims(Op, name="tt.expand_dims", traits=PURE, assembly=_TO):
    """result = `src` with a dimension of size 1 put in at `axis`."""

    src: Operand
    axis: I32Field
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The shape with a 1 at `axis`."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        axis = attributes["axis"].value  # type: ignore[attr-defined]
        return [TensorType((*ty.shape[:axis], 1, *ty.shape[axis:]), ty.element)]


class Broadcast(Op, name="tt.broadcast", traits=PURE, assembly=_TO):
    """result = `src` with its dimensions of size 1 repeated."""

    src: Operand
    result: Result


class Reshape(
    Op,
    name="tt.reshape",
    traits=PURE,
    assembly="$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict"
    " `:` type($src) `->` type($result)",
):
    """result = the elements of `src` in row-major order in another shape (in any order with `allow_reorder`)."""

    src: Operand
    allow_reorder: Flag = None
    efficient_layout: Flag = None
    result: Result


class Cat(Op, name="tt.cat", traits=PURE, assembly="$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"):
    """result = lhs followed by rhs along dimension 0."""

    lhs: Operand
    rhs: Operand
    result: Result


class Join(Op, name="tt.join", traits=PURE, assembly="$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"):
    """result[…, 0] = lhs, result[…, 1] = rhs."""

    lhs: Operand
    rhs: Operand
    result: Result


class Split(Op, name="tt.split", traits=PURE, assembly="$src attr-dict `:` type($src) `->` type($outLHS)"):
    """outLHS = src[…, 0], outRHS = src[…, 1]."""

    src: Operand
    outLHS: Result
    outRHS: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The shape without its last dimension, or the element type for rank 1."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        half = TensorType(ty.shape[:-1], ty.element)
        return [half, half]


class Trans(Op, name="tt.trans", traits=PURE, assembly=_TO):
    """result = `src` with dimension k of the result being dimension order[k] of `src`."""

    src: Operand
    order: I32Array
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The permuted shape."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        order = attributes["order"].values  # type: ignore[attr-defined]
        return [TensorType(tuple(ty.shape[k] for k in order), ty.element)]


class Gather(
    Op,
    name="tt.gather",
    traits=PURE,
    assembly="$src `[` $indices `]` attr-dict `:` functional-type(operands, $result)",
):
    """result[i…] = src[i… with the coordinate at `axis` replaced by indices[i…]]"""

    src: Operand
    indices: Operand
    axis: I32Field
    efficient_layout: Flag = None
    result: Result


# -- memory -------------------------------------------------------------------------------------------------------


class Load(
    _PointerResult,
    Op,
    name="tt.load",
    traits=READ,
    assembly="$ptr (`,` $mask^)? (`,` $other^)? " + _ACCESS + "type($ptr)",
):
    """result = *ptr where `mask`, `other` elsewhere (undefined without one).

    Block pointers carry `boundaryCheck` (dimensions) and `padding` instead of a mask.
    """

    ptr: Operand
    mask: OptionalOperand
    other: OptionalOperand
    boundaryCheck: I32Array = ()
    padding: PaddingField = None
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal
    isVolatile: Bool = False
    result: Result

    @property
    def effects(self) -> int:
        """A volatile load must not be moved or removed."""
        return READ | WRITE if self.isVolatile else READ


class Store(
    Op,
    name="tt.store",
    traits=WRITE,
    assembly="$ptr `,` $value (`,` $mask^)? " + _ACCESS + "type($ptr)",
):
    """*ptr = value where `mask`."""

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    boundaryCheck: I32Array = ()
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal


class AtomicRMW(
    _PointerResult,
    Op,
    name="tt.atomic_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict"
    " `:` functional-type(operands, $result)",
):
    """result = *ptr; *ptr = op(*ptr, val) in one step, where `mask`."""

    atomic_rmw_op: AtomicField
    ptr: Operand
    val: Operand
    mask: OptionalOperand
    sem: SemField = MemSemantic.acq_rel
    scope: ScopeField = MemSyncScope.gpu
    result: Result


class AtomicCAS(
    _PointerResult,
    Op,
    name="tt.atomic_cas",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr; if it equals `cmp`, *ptr = val, in one step."""

    ptr: Operand
    cmp: Operand
    val: Operand
    sem: SemField = MemSemantic.acq_rel
    scope: ScopeField = MemSyncScope.gpu
    result: Result


class MakeTensorPtr(
    Op,
    name="tt.make_tensor_ptr",
    traits=PURE,
    assembly="$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)",
):
    """result = a pointer to the tile at `offsets` of the tensor at `base` (a block pointer).

    `shape` and `strides` are i64 elements of the whole tensor; `order` lists the dimensions, fastest first.
    """

    base: Operand
    shape: VariadicOperand
    strides: VariadicOperand
    offsets: VariadicOperand
    order: I32Array
    result: Result


class Advance(Op, name="tt.advance", traits=PURE, assembly="$ptr `,` `[` $offsets `]` attr-dict `:` type($result)"):
    """result = the block pointer moved by `offsets` elements in each dimension."""

    ptr: Operand
    offsets: VariadicOperand
    result: Result


class MakeTensorDescriptor(
    Op,
    name="tt.make_tensor_descriptor",
    traits=PURE,
    assembly="$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)",
):
    """result = a descriptor of the tensor at `base`: `shape` in i32 elements, `strides` in i64 elements."""

    base: Operand
    shape: VariadicOperand
    strides: VariadicOperand
    padding: PaddingField = PaddingOption.pad_zero
    result: Result


class DescriptorLoad(
    Op,
    name="tt.descriptor_load",
    traits=READ,
    assembly="$desc `[` $indices `]` " + _ACCESS + "type($desc) `->` type($result)",
):
    """result = the block at `indices`; elements outside read as the descriptor's padding."""

    desc: Operand
    indices: VariadicOperand
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal
    result: Result


class DescriptorStore(
    Op,
    name="tt.descriptor_store",
    traits=WRITE,
    assembly="$desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)",
):
    """The block at `indices` = src; elements outside are dropped."""

    desc: Operand
    src: Operand
    indices: VariadicOperand


# -- tiles as a whole ---------------------------------------------------------------------------------------------


class Dot(
    Op,
    name="tt.dot",
    traits=PURE,
    assembly="$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict"
    " `:` type($a) `*` type($b) `->` type($d)",
):
    """d = a @ b + c; a is (…, M, K), b is (…, K, N), c and d are (…, M, N)."""

    a: Operand
    b: Operand
    c: Operand
    inputPrecision: PrecisionField = InputPrecision.ieee
    maxNumImpreciseAcc: I32Field = 0
    d: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the accumulator."""
        return [operands[2].type]


class Reduce(Op, name="tt.reduce", traits=PURE | SINGLE_BLOCK | RECURSIVE_EFFECTS):
    """results = srcs combined along `axis` by the region, a function of (a…, b…) taken to be associative."""

    srcs: VariadicOperand
    axis: I32Field
    combine: Body
    results_: VariadicResult


class ReduceReturn(
    Op, name="tt.reduce.return", traits=TERMINATOR | RETURN_LIKE, assembly="$values attr-dict `:` type($values)"
):
    """Hand the combined values to `tt.reduce`."""

    values: VariadicOperand


class Scan(Op, name="tt.scan", traits=PURE | SINGLE_BLOCK | RECURSIVE_EFFECTS):
    """results[i] = srcs[0…i] combined along `axis` by the region (from the end when `reverse`)."""

    srcs: VariadicOperand
    axis: I32Field
    reverse: Bool
    combine: Body
    results_: VariadicResult


class ScanReturn(
    Op, name="tt.scan.return", traits=TERMINATOR | RETURN_LIKE, assembly="$values attr-dict `:` type($values)"
):
    """Hand the combined values to `tt.scan`."""

    values: VariadicOperand


class Histogram(
    Op,
    name="tt.histogram",
    traits=PURE,
    assembly="$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)",
):
    """result[k] = how many elements of `src` (where `mask`) equal k."""

    src: Operand
    mask: OptionalOperand
    result: Result


# -- debugging ----------------------------------------------------------------------------------------------------


class Print(Op, name="tt.print", traits=WRITE, assembly="$prefix attr-dict (`:` $args^ `:` type($args))?"):
    """Print `prefix` and the values of `args`; `isSigned` holds one number an argument, `hex` asks for hexadecimal."""

    prefix: Str
    hex: Bool
    args: VariadicOperand
    isSigned: I32Array


class Assert(Op, name="tt.assert", traits=WRITE, assembly="$condition `,` $message attr-dict `:` type($condition)"):
    """Stop the launch with `message` unless every element of `condition` holds."""

    condition: Operand
    message: Str
