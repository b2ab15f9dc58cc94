"""convert-triton-to-tritongpu: assign an initial layout to every tensor, and record the target in the module.

    %0 = tt.make_range … : tensor<256xi32>         %0 = tt.make_range … : tensor<256xi32, #blocked>

The layout is the plain one for the tensor's shape (`default_blocked`), one element a thread; the passes behind choose
better ones where it matters. Some operations leave no choice: what `tt.reduce` gives is a slice of its operand's
layout, `tt.expand_dims` wants a slice of its result's, operands of `tt.dot` have layouts of their own. Where such an
operation meets one that wants the plain layout, a `ttg.convert_layout` stands between them, once a value:

    %1 = tt.reduce(%0) : tensor<16x32xf32, #blocked> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %2 = ttg.convert_layout %1 : … -> tensor<16xf32, #blocked1>
    %3 = arith.addf %2, %2 : tensor<16xf32, #blocked1>
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dialects import tt, ttg
from ..dialects.ttg_context import NUM_CTAS, NUM_WARPS, TARGET, THREADS_PER_WARP
from ..dialects.ttg_defaults import blocked_for, default_blocked, expanded, joined, reduced, split, transposed
from ..dialects.ttg_layouts import Blocked, DotOperand, Slice
from ..ir import (
    Attribute,
    Block,
    DenseElementsAttr,
    FunctionType,
    IntegerAttr,
    Operation,
    StringAttr,
    TensorType,
    Type,
    TypeAttr,
    Value,
    i32,
)
from ..ir.passes.definition import count, pass_on
from ..support.dataclasses import dataclass
from ..support.lazy import LazyModule
from .packed_elements import split_packs

__all__ = ["ConvertOptions", "convert_triton_to_tritongpu"]

_inference = LazyModule("..dialects.ttg_inference", __package__)


@dataclass(frozen=True)
class ConvertOptions:
    """What a program runs on.

    `target`: "cuda:90" or the like; `num_warps`: warps a block; `threads_per_warp`: threads a warp; `num_ctas`: blocks
    a cluster; `enable_source_remat`: read for pipelines that Triton writes, and without effect (it lets a conversion
    of parts leave casts behind, and here no part is left out).
    """

    target: str = "cuda:80"
    num_warps: int = 4
    threads_per_warp: int = 32
    num_ctas: int = 1
    enable_source_remat: bool = False


@pass_on("module", statistics={"layouts converted": "operations that change a layout"})
def convert_triton_to_tritongpu(module: Operation, options: ConvertOptions = ConvertOptions()) -> bool:
    """Give every tensor of a module a layout for a machine of this size."""
    for name, value in (
        (NUM_CTAS, options.num_ctas),
        (NUM_WARPS, options.num_warps),
        (THREADS_PER_WARP, options.threads_per_warp),
    ):
        module.attributes[name] = IntegerAttr(value, i32)
    module.attributes[TARGET] = StringAttr(options.target)
    split_packs(module)
    conversion = _Conversion(options)
    for op in list(module.regions[0].blocks[0]):
        conversion.function(op)
    count("layouts converted", conversion.converted)
    return True


class _Conversion:
    def __init__(self, options: ConvertOptions) -> None:
        self.options = options
        self.defaults: dict[tuple[int, ...], Blocked] = {}
        self.copies: dict[tuple[Value, Type], Value] = {}
        self.converted = 0

    # -- types ----------------------------------------------------------------------------------------------------

    def blocked(self, shape: tuple[int, ...]) -> Blocked:
        """The plain layout for a shape."""
        found = self.defaults.get(shape)
        if found is None:
            o = self.options
            found = self.defaults[shape] = default_blocked(shape, o.num_warps, o.threads_per_warp, o.num_ctas)
        return found

    def type_of(self, ty: Type) -> Type:
        """A type with the plain layout, if it is a tensor without one."""
        if isinstance(ty, TensorType) and ty.encoding is None:
            return TensorType(ty.shape, ty.element, self.blocked(ty.shape))
        return ty

    def function_type(self, ty: FunctionType) -> FunctionType:
        """The type of a function whose tensors have the plain layout."""
        return FunctionType(tuple(map(self.type_of, ty.inputs)), tuple(map(self.type_of, ty.results)))

    # -- values ---------------------------------------------------------------------------------------------------

    def convert(self, value: Value, ty: Type) -> Value:
        """`value` with the plain layout `ty`: itself, or converted where it is defined, once for all uses."""
        if value.type is ty or not isinstance(ty, TensorType):
            return value
        found = self.copies.get((value, ty))
        if found is None:
            op = ttg.ConvertLayout(value, result=ty)
            maker = value.defining_op
            block = value.block
            assert block is not None
            anchor = block.first if maker is None else maker.next
            assert anchor is not None
            if maker is not None:
                op.loc = maker.loc
            block.insert_before(op, anchor)
            found = self.copies[value, ty] = op.result
            self.converted += 1
        return found

    def demanded(self, op: Operation, value: Value, layout: Attribute) -> Value:
        """`value` with the layout that `op` demands, converted where it is used: close to that, it is cheap to hold."""
        source: Any = value.type
        ty = TensorType(source.shape, source.element, layout)
        if source is ty:
            return value
        new = ttg.ConvertLayout(value, result=ty, loc=op.loc)
        block = op.parent
        assert block is not None
        block.insert_before(new, op)
        self.converted += 1
        return new.result

    def plain_operands(self, op: Operation) -> None:
        """All operands get the plain layout of their shapes."""
        operands = op.operands
        wanted = [self.convert(v, self._plain(v.type)) for v in operands]
        if any(v is not w for v, w in zip(operands, wanted)):
            op.set_operands(wanted)

    def _plain(self, ty: Type) -> Type:
        return TensorType(ty.shape, ty.element, self.blocked(ty.shape)) if isinstance(ty, TensorType) else ty

    # -- operations -----------------------------------------------------------------------------------------------

    def function(self, op: Operation) -> None:
        """A function and all in it."""
        ty = op.attributes.get("function_type")
        if isinstance(ty, TypeAttr) and isinstance(ty.type, FunctionType):
            op.attributes["function_type"] = TypeAttr(self.function_type(ty.type))
        for region in op.regions:
            for block in region.blocks:
                self.arguments(block)
            for block in region.blocks:
                self.block(block)

    def arguments(self, block: Block) -> None:
        """Arguments of a block get the plain layout."""
        for argument in block.args:
            argument.type = self.type_of(argument.type)

    def block(self, block: Block) -> None:
        """The operations of a block, those in regions first where their results follow from them."""
        for op in list(block):
            special = _SPECIAL.get(op.__class__)
            if special is not None:
                special(self, op)
            else:
                self.plain(op)

    def plain(self, op: Operation) -> None:
        """Operands and results with plain layouts, the same for what is in the regions."""
        self.plain_operands(op)
        for result in op.results:
            result.type = self.type_of(result.type)
        value = op.attributes.get("value")
        if isinstance(value, DenseElementsAttr):
            op.attributes["value"] = DenseElementsAttr(value.values, op.results[0].type)  # type: ignore[arg-type]
        self.regions(op)

    def regions(self, op: Operation) -> None:
        """Convert the regions of an operation."""
        for region in op.regions:
            for block in region.blocks:
                self.arguments(block)
            for block in region.blocks:
                self.block(block)

    def expand_dims(self, op: Any) -> None:
        """The operand is a slice of what the result has."""
        self.plain_operands(op)
        axis, source = op.axis, op.src.type
        layout = expanded(source.encoding, axis)
        op.set_operands([self.demanded(op, op.src, Slice(axis, layout))])
        self.result(op, layout)

    def result(self, op: Operation, layout: Attribute) -> None:
        """The results of an operation get this layout."""
        for result in op.results:
            ty: Any = result.type
            if isinstance(ty, TensorType):
                result.type = TensorType(ty.shape, ty.element, layout)

    def broadcast(self, op: Any) -> None:
        """The layout of the operand, for another shape."""
        self.plain_operands(op)
        self.result(op, op.src.type.encoding)

    def trans(self, op: Any) -> None:
        """The layout of the operand, turned."""
        self.plain_operands(op)
        self.result(op, transposed(op.src.type.encoding, op.order))

    def reduce(self, op: Any) -> None:
        """The results are slices of the operands, which have one layout."""
        self.plain_operands(op)
        for result in op.results:
            if isinstance(result.type, TensorType):
                ty = result.type
                result.type = TensorType(ty.shape, ty.element, reduced(op.operands[0].type.encoding, op.axis))

    def keep(self, op: Any) -> None:
        """The results have the layout of the operands."""
        self.plain_operands(op)
        self.result(op, op.operands[0].type.encoding)

    def join(self, op: Any) -> None:
        """Both parts in one thread."""
        self.plain_operands(op)
        self.result(op, joined(op.lhs.type.encoding))

    def split(self, op: Any) -> None:
        """Halves that a thread has, for which the operand may have to be converted."""
        self.plain_operands(op)
        half = split(op.src.type.encoding)
        if half is None:
            half = self.blocked(op.src.type.shape[:-1])
            op.set_operands([self.demanded(op, op.src, joined(half))])
        self.result(op, half)

    def cat(self, op: Any) -> None:
        """As many elements a thread as both operands have together."""
        self.plain_operands(op)
        shape = op.results[0].type.shape
        layout = self.blocked(shape)
        parts = sum(_elements(v.type.shape, v.type.encoding) for v in op.operands)
        more = _power_of_two_from(parts) // max(1, _elements(shape, layout))
        sizes = list(layout.sizePerThread)
        sizes[layout.order[0]] *= max(1, more)
        self.result(
            op, Blocked(tuple(sizes), layout.threadsPerWarp, layout.warpsPerCTA, layout.order, layout.CGALayout)
        )

    def reshape(self, op: Any) -> None:
        """The plain layout, unless it is not the operand's in another shape: in clusters, of few elements."""
        self.plain(op)
        if self.options.num_ctas > 1 and not op.allow_reorder:
            a, b = op.src.type, op.result.type
            follows = _inference.reshaped_to(a.encoding, a.shape, b.shape)
            if follows is not None and follows is not b.encoding:
                self.result(op, follows)

    def dot(self, op: Any) -> None:
        """A square tile of the result per thread, as large as the elements allow; dot operand layouts for the
        operands."""
        self.plain_operands(op)
        o = self.options
        shape = op.results[0].type.shape
        each = 1
        for size in shape:
            each *= size
        each //= o.num_warps * o.threads_per_warp
        side = 4 if each >= 16 else 2 if each >= 4 else 1
        sizes = [1] * len(shape)
        for d in (-1, -2):
            sizes[d] = min(side, shape[d])
        order = range(len(shape))[::-1]
        layout = blocked_for(shape, sizes, order, o.num_warps, o.threads_per_warp, o.num_ctas)
        a = self.demanded(op, op.a, DotOperand(0, layout))
        b = self.demanded(op, op.b, DotOperand(1, layout))
        op.set_operands([a, b, self.demanded(op, op.c, layout), *op.operands[3:]])
        self.result(op, layout)

    def gather4(self, op: Any) -> None:
        """Four neighbouring indices in each thread, all of them in every warp: what the instruction takes."""
        self.plain_operands(op)
        o = self.options
        bases = blocked_for((o.num_ctas,), (1,), (0,), 1, 1, o.num_ctas).CGALayout if o.num_ctas > 1 else ()
        parent = Blocked(
            (1, 4), (o.threads_per_warp, 1), (1, o.num_warps), (1, 0), tuple((0, basis[0]) for basis in bases)
        )
        operands = [self.demanded(op, v, Slice(0, parent)) if v is op.x_offsets else v for v in op.operands]
        op.set_operands(operands)
        for result in op.results:
            result.type = self.type_of(result.type)


def _elements(shape: Sequence[int], layout: Blocked) -> int:
    """How many elements of a tensor each thread has."""
    out = 1
    for n, size, lanes, warps in zip(shape, layout.sizePerThread, layout.threadsPerWarp, layout.warpsPerCTA):
        out *= size * max(1, -(-n // (size * lanes * warps)))
    return out


def _power_of_two_from(n: int) -> int:
    return 1 << (n - 1).bit_length()


_SPECIAL: dict[type, Callable[[_Conversion, Any], None]] = {
    tt.ExpandDims: _Conversion.expand_dims,
    tt.Broadcast: _Conversion.broadcast,
    tt.Trans: _Conversion.trans,
    tt.Reduce: _Conversion.reduce,
    tt.Scan: _Conversion.keep,
    tt.Join: _Conversion.join,
    tt.Split: _Conversion.split,
    tt.Cat: _Conversion.cat,
    tt.Reshape: _Conversion.reshape,
    tt.Dot: _Conversion.dot,
    tt.DescriptorGather: _Conversion.gather4,
    tt.DescriptorScatter: _Conversion.gather4,
}
