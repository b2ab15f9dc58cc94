"""The tt dialect: tile programs over tensors of pointers and values, as Triton spells them."""

from __future__ import annotations

from ..ir import (
    COMMUTATIVE,
    ELEMENTWISE,
    PURE,
    READ,
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    WRITE,
    Attribute,
    Body,
    Bool,
    Flag,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Result,
    Str,
    TensorType,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    element_type,
    i32,
)
from ..ir import I32 as I32Field
from .tt_func import Call, Func, Return
from .tt_memory import (
    Advance,
    AtomicCAS,
    AtomicRMW,
    DescriptorLoad,
    DescriptorStore,
    Load,
    MakeTensorDescriptor,
    MakeTensorPtr,
    Store,
)
from .tt_types import (
    AtomicOp,
    CacheModifier,
    DimField,
    EvictionPolicy,
    InputPrecision,
    MemSemantic,
    MemSyncScope,
    NanField,
    PaddingOption,
    PointerType,
    PrecisionField,
    ProgramDim,
    PropagateNan,
    RoundingField,
    RoundingMode,
    ScaleDotElemType,
    TensorDescType,
    pointee_type,
)

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
