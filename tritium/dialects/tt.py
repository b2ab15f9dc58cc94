"""The tt dialect: tile programs over tensors of pointers and values, as Triton spells them."""

from __future__ import annotations

from ..ir import (
    COMMUTATIVE,
    DEBUG,
    ELEMENTWISE,
    PURE,
    READ,
    RECURSIVE_EFFECTS,
    REMATERIALIZABLE,
    RETURN_LIKE,
    SINGLE_BLOCK,
    SURROUNDINGS,
    TERMINATOR,
    WRITE,
    Attribute,
    Body,
    Bool,
    DenseArrayAttr,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Result,
    Str,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    i32,
    shape_of,
)
from ..ir import I32 as I32Field
from . import tt_checks
from .constraints import all_floats, all_integers
from .tt_descriptor import (
    DescriptorGather,
    DescriptorLoad,
    DescriptorReduce,
    DescriptorScatter,
    DescriptorStore,
    MakeTensorDescriptor,
)
from .tt_dot import Dot, DotScaled
from .tt_func import Call, Func, Return
from .tt_memory import (
    Advance,
    AtomicCAS,
    AtomicLoad,
    AtomicPoll,
    AtomicRMW,
    AtomicStore,
    GridDependencyLaunchDependents,
    GridDependencyWait,
    Load,
    MakeTensorPtr,
    Store,
)
from .tt_shape import (
    Broadcast,
    Cat,
    ExpandDims,
    Gather,
    Join,
    MakeRange,
    Reshape,
    Splat,
    Split,
    Trans,
    Unsplat,
)
from .tt_types import (
    AtomicOp,
    CacheModifier,
    CachePolicy,
    DescriptorReduceKind,
    DimField,
    EvictionPolicy,
    InputPrecision,
    MemSemantic,
    MemSyncScope,
    NanField,
    PaddingOption,
    PointerType,
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
    "ApproxDivF",
    "Assert",
    "AtomicCAS",
    "AtomicLoad",
    "AtomicOp",
    "AtomicPoll",
    "AtomicRMW",
    "AtomicStore",
    "Bitcast",
    "Broadcast",
    "CacheModifier",
    "CachePolicy",
    "Call",
    "Cat",
    "ClampF",
    "DescriptorGather",
    "DescriptorLoad",
    "DescriptorReduce",
    "DescriptorReduceKind",
    "DescriptorScatter",
    "DescriptorStore",
    "Dot",
    "DotScaled",
    "EvictionPolicy",
    "ExpandDims",
    "ExternElementwise",
    "FpToFp",
    "Func",
    "Gather",
    "GetNumPrograms",
    "GetProgramId",
    "GridDependencyLaunchDependents",
    "GridDependencyWait",
    "Histogram",
    "InlineAsm",
    "InputPrecision",
    "IntToPtr",
    "Join",
    "Load",
    "MakeRange",
    "MakeTensorDescriptor",
    "MakeTensorPtr",
    "MapElementwise",
    "MapElementwiseReturn",
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
    """result = the program id along `axis`."""

    verify_op = tt_checks.result_i32

    axis: DimField
    result: Result


class GetNumPrograms(
    _I32Result, Op, name="tt.get_num_programs", traits=PURE, assembly="$axis attr-dict `:` type($result)"
):
    """result = the number of programs along `axis`."""

    verify_op = tt_checks.result_i32

    axis: DimField
    result: Result


# -- casts and pointers -------------------------------------------------------------------------------------------


class IntToPtr(Op, name="tt.int_to_ptr", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the address `src`."""

    verify_op = tt_checks.int_to_ptr

    src: Operand
    result: Result


class PtrToInt(Op, name="tt.ptr_to_int", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the address as an integer."""

    verify_op = tt_checks.ptr_to_int

    src: Operand
    result: Result


class Bitcast(Op, name="tt.bitcast", traits=PURE | ELEMENTWISE, assembly=_TO):
    """result = the bits of `src` as another type of the same width; pointers may change their pointee type."""

    verify_op = tt_checks.bitcast

    src: Operand
    result: Result


class FpToFp(
    Op,
    name="tt.fp_to_fp",
    traits=PURE | ELEMENTWISE,
    assembly="$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)",
):
    """result = `src` converted to another float type; `rounding` is required for narrowing conversions."""

    verify_op = tt_checks.fp_to_fp

    src: Operand
    rounding: RoundingField = None
    result: Result


class AddPtr(
    Op,
    name="tt.addptr",
    traits=PURE | ELEMENTWISE | REMATERIALIZABLE,
    assembly="$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)",
):
    """result = ptr + offset * sizeof(pointee), the offset sign-extended."""

    verify_op = tt_checks.addptr

    ptr: Operand
    offset: Operand
    result: Result


# -- arithmetic ---------------------------------------------------------------------------------------------------


class ClampF(
    Op,
    name="tt.clampf",
    traits=PURE | ELEMENTWISE,
    assembly="$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)",
):
    """result = min(max(x, min), max); a NaN in x propagates if `propagateNan` is all, else becomes min."""

    verify_op = all_floats

    x: Operand
    min: Operand
    max: Operand
    propagateNan: NanField
    result: Result


class PreciseSqrt(Op, name="tt.precise_sqrt", traits=PURE | ELEMENTWISE, assembly="$x attr-dict `:` type($x)"):
    """result = sqrt(x), correctly rounded."""

    verify_op = all_floats

    x: Operand
    result: Result


class PreciseDivF(Op, name="tt.precise_divf", traits=PURE | ELEMENTWISE, assembly="$x `,` $y attr-dict `:` type($x)"):
    """result = x / y, correctly rounded."""

    verify_op = all_floats

    x: Operand
    y: Operand
    result: Result


class ApproxDivF(Op, name="tt.approx_divf", traits=PURE | ELEMENTWISE, assembly="$x `,` $y attr-dict `:` type($x)"):
    """result = x / y for f32, approximately: about 2 ulp, except for very small or large y."""

    verify_op = tt_checks.floats_32

    x: Operand
    y: Operand
    result: Result


class MulhiUI(
    Op, name="tt.mulhiui", traits=PURE | ELEMENTWISE | COMMUTATIVE, assembly="$x `,` $y attr-dict `:` type($x)"
):
    """result = the high half of x * y, unsigned."""

    verify_op = all_integers

    x: Operand
    y: Operand
    result: Result


class ExternElementwise(
    Op,
    name="tt.extern_elementwise",
    traits=ELEMENTWISE,
    assembly="operands attr-dict `:` functional-type(operands, $result)",
):
    """result = symbol(operands), a library function; without side effects if `pure`."""

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
    """results = inline assembly applied to groups of `packed_element` elements."""

    verify_op = tt_checks.inline_asm

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


# -- tiles as a whole ---------------------------------------------------------------------------------------------


class Reduce(Op, name="tt.reduce", traits=PURE | SINGLE_BLOCK | RECURSIVE_EFFECTS):
    """results = srcs reduced along `axis` by the region, an associative function of (a…, b…)."""

    verify_op = tt_checks.reduce

    srcs: VariadicOperand
    axis: I32Field
    combine: Body
    results_: VariadicResult


class ReduceReturn(
    Op, name="tt.reduce.return", traits=TERMINATOR | RETURN_LIKE, assembly="$values attr-dict `:` type($values)"
):
    """Return the combined values to `tt.reduce`."""

    values: VariadicOperand


class Scan(Op, name="tt.scan", traits=PURE | SINGLE_BLOCK | RECURSIVE_EFFECTS):
    """results[i] = srcs[0…i] reduced along `axis` by the region (from the end if `reverse`)."""

    verify_op = tt_checks.scan

    srcs: VariadicOperand
    axis: I32Field
    reverse: Bool
    combine: Body
    results_: VariadicResult


class ScanReturn(
    Op, name="tt.scan.return", traits=TERMINATOR | RETURN_LIKE, assembly="$values attr-dict `:` type($values)"
):
    """Return the combined values to `tt.scan`."""

    values: VariadicOperand


class MapElementwise(Op, name="tt.map_elementwise", traits=RECURSIVE_EFFECTS):
    """results = the region applied to the elements of srcs, `pack` adjacent elements at a time.

    The region, which may have several blocks, has `pack` arguments for each operand and returns `pack` values for
    each result by `tt.map_elementwise.return`. It must not write to memory.
    """

    verify_op = tt_checks.map_elementwise

    srcs: VariadicOperand
    pack: I32Field
    scalarOp: Body
    results_: VariadicResult


class MapElementwiseReturn(
    Op,
    name="tt.map_elementwise.return",
    traits=TERMINATOR | RETURN_LIKE,
    assembly="attr-dict ($values^ `:` type($values))?",
):
    """Return the elements of the results to `tt.map_elementwise`."""

    values: VariadicOperand


class Histogram(
    Op,
    name="tt.histogram",
    traits=PURE,
    assembly="$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)",
):
    """result[k] = the number of elements of `src` (where `mask`) that equal k."""

    verify_op = tt_checks.histogram

    src: Operand
    mask: OptionalOperand
    result: Result


# -- debugging ----------------------------------------------------------------------------------------------------


class Print(Op, name="tt.print", traits=WRITE | DEBUG, assembly="$prefix attr-dict (`:` $args^ `:` type($args))?"):
    """Print `prefix` and the values of `args`; `isSigned` has one integer per argument, `hex` selects hexadecimal.

    With the attribute `tt.format`, `prefix` is a text of Python's `str.format` with `args` as its fields. Of padded
    tiles the attribute `tt.shapes` says what is printed: the sizes of all tiles, one after another.
    """

    verify_op = tt_checks.print_op

    prefix: Str
    hex: Bool
    args: VariadicOperand
    isSigned: I32Array

    def shown(self) -> list[tuple[int, ...]]:
        """The shape of what is printed of each argument."""
        shapes = [shape_of(v.type) for v in self.args]
        said = self.attributes.get("tt.shapes")
        if not isinstance(said, DenseArrayAttr):
            return shapes
        sizes = iter(said.values)
        return [tuple(next(sizes) for _ in shape) for shape in shapes]


class Assert(
    Op, name="tt.assert", traits=WRITE | DEBUG, assembly="$condition `,` $message attr-dict `:` type($condition)"
):
    """Abort the launch with `message` unless all elements of `condition` are true."""

    verify_op = tt_checks.assert_op

    condition: Operand
    message: Str


SURROUNDINGS.append(tt_checks.tensor_sizes)
