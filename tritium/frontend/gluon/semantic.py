"""`GluonSemantic`: the typing rules of tensors with explicit layouts.

A result's layout follows from its operands by the rules that passes propagate layouts by (`transforms.layout_flow`);
what has no operand to follow has the layout that is asked for, or `AutoLayout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...dialects import arith, gluon, tt, ttg
from ...dialects.ttg_inference import of_pairs
from ...dialects.ttg_layouts import Distributed, Slice
from ...dialects.ttg_maps import linear_layout_of
from ...ir import Attribute, DenseElementsAttr, Operation, TensorType
from ...support.lazy import LazyMethod
from ...transforms.layout_flow import forward
from ..constexpr import unwrap
from ..dtypes import bfloat16, dtype, float16, int8, uint8
from ..semantics import Semantic, promotion, shape
from ..semantics.errors import type_error, value_error
from ..tensor import tensor
from .layout_base import DistributedLayout, plain
from .layouts import AutoLayout, BlockedLayout, DotOperandLayout, SliceLayout, layout_of
from .types import distributed_type

if TYPE_CHECKING:
    from ..semantics.context import Operand

__all__ = ["GluonSemantic", "checked", "type_of_pairs"]

_AUTO = AutoLayout()


def layout_argument(layout: object, what: str = "layout") -> DistributedLayout:
    """A layout of registers; AutoLayout for None. Raises LanguageError for anything else."""
    layout = plain(layout)
    if layout is None:
        return _AUTO
    if not isinstance(layout, DistributedLayout):
        raise type_error(f"expected '{what}' to be a DistributedLayout but got {layout!r}", "such as gl.BlockedLayout")
    return layout


def _layout(x: tensor) -> DistributedLayout | None:
    return x.type.layout if isinstance(x.type, distributed_type) else None


class GluonSemantic(Semantic):
    """The operations of Gluon: those of the Triton language, with layouts, and those on layouts and shared memory."""

    warps: int | None = None
    """The number of warps of the partition under construction; None outside `warp_specialize`."""

    # -- results --------------------------------------------------------------------------------------------------

    def block(self, element: dtype, shape: Sequence[int]) -> dtype:  # type: ignore[override]
        """A block whose layout is still to be chosen."""
        return distributed_type(element, shape, _AUTO)

    def emit(self, op: Operation, ty: dtype) -> tensor:  # type: ignore[override]
        """Insert `op`; its result, whose layout follows from the operands unless `ty` has one."""
        return self.emit_all(op, [ty])[0]

    def emit_all(self, op: Operation, types: Sequence[dtype]) -> list[tensor]:  # type: ignore[override]
        """Insert `op`; its results, likewise."""
        found = [
            ty if isinstance(ty, distributed_type) or not ty.is_block() else self._inferred(op, ty) for ty in types
        ]
        for result, ty in zip(op.results, found):
            result.type = ty.to_ir()
        self.builder.insert(op)
        return [tensor(result, ty) for result, ty in zip(op.results, found)]

    def _inferred(self, op: Operation, ty: dtype) -> distributed_type:
        """The type of a result that has the shape and elements of `ty`."""
        follows = 1 if isinstance(op, tt.Gather) else 0
        operand = op.operands[follows].type
        encoding = operand.encoding if isinstance(operand, TensorType) else None
        if encoding is None or isinstance(encoding, (gluon.AutoEncoding, gluon.CoalescedEncoding)):
            layout: object = _AUTO if encoding is None else layout_of(encoding, ty.shape)
            return distributed_type(ty.scalar, ty.shape, layout)
        result = _cut(op, encoding) or forward(op, follows, encoding)
        if result is None:
            assert isinstance(operand, TensorType)
            source = layout_of(encoding, operand.shape)
            raise value_error(
                f"{op.name}: no layout of the result, of shape {list(ty.shape)}, follows from {source}",
                "convert the operand first: gl.convert_layout(x, layout)",
            )
        return distributed_type(ty.scalar, ty.shape, layout_of(result, ty.shape))

    # -- creation -------------------------------------------------------------------------------------------------

    def arange(self, start: object, end: object, layout: object = None) -> tensor:
        """[start, start + 1, …, end - 1] in int32."""
        return self._retyped(shape.arange(self, start, end), layout_argument(layout))

    def splat(self, x: tensor, shape: Sequence[int], layout: object = None) -> tensor:
        """The scalar `x` in every element of a block of `shape`."""
        if not len(shape):
            return x
        ty = distributed_type(x.dtype, shape, layout_argument(layout))
        constant = x.handle.defining_op
        if isinstance(constant, arith.Constant):
            value = DenseElementsAttr((constant.value.value,), ty.ir)
            return self.emit(arith.Constant(value, result=ty.ir), ty)
        return self.emit(tt.Splat(x.handle, result=ty.ir), ty)

    def full(self, shape: Sequence[int], value: Operand, ty: dtype, layout: object = None) -> tensor:  # type: ignore[override]
        """A block of `shape` filled with the scalar `value`."""
        return self.splat(promotion.full(self, (), value, ty), shape, layout)

    @staticmethod
    def _retyped(x: tensor, layout: DistributedLayout) -> tensor:
        """A result just emitted in AutoLayout, in another layout."""
        ty = distributed_type(x.dtype, x.type.shape, layout)
        x.handle.type = ty.ir
        return tensor(x.handle, ty)

    # -- shapes ---------------------------------------------------------------------------------------------------

    def expand_dims(self, x: tensor, axis: int) -> tensor:
        """`x` with a dimension of size 1 at `axis`: from a slice along it to the parent."""
        layout = _layout(x)
        if layout is not None and layout.is_chosen:
            if not isinstance(layout, SliceLayout):
                raise value_error(
                    f"expected expand_dims input to have a SliceLayout, but got: {layout}",
                    f"make the tensor in gl.SliceLayout({axis}, parent), or convert it with gl.convert_layout",
                )
            if layout.dim != axis:
                raise value_error(
                    f"expected expand_dims input layout to be sliced in axis {axis} but got {layout.dim}",
                    f"gl.SliceLayout({axis}, parent) is the layout that takes a new dimension at {axis}",
                )
        return shape.expand_dims(self, x, axis)

    def broadcast_value(
        self, lhs: tensor, rhs: tensor, roles: tuple[str, str] = ("lhs", "rhs")
    ) -> tuple[tensor, tensor]:
        """Both values in one shape and layout; a scalar, or a tensor in AutoLayout, takes the other's."""
        a, b = _layout(lhs), _layout(rhs)
        if a is None and b is None:
            return lhs, rhs
        if b is None:
            return lhs, self.splat(rhs, lhs.type.shape, a)
        if a is None:
            return self.splat(lhs, rhs.type.shape, b), rhs
        if len(lhs.type.shape) != len(rhs.type.shape):
            raise value_error(
                f"Cannot broadcast, rank mismatch: {list(lhs.type.shape)}, {list(rhs.type.shape)}",
                "add dimensions: x[None, :] or x[:, None]",
            )
        if a != b:
            if isinstance(a, AutoLayout):
                lhs = self.set_auto_layout(lhs, b)
            elif isinstance(b, AutoLayout):
                rhs = self.set_auto_layout(rhs, a)
            else:
                raise value_error(
                    f"Layout mismatch in broadcast: {a} vs {b}", "convert one of them: gl.convert_layout(x, layout)"
                )
        return shape.broadcast_value(self, lhs, rhs, roles)

    def broadcast_like(self, x: tensor, like: dtype, roles: tuple[str, str] | None = None) -> tensor:  # type: ignore[override]
        """`x` in the shape and layout of a value of the type `like`."""
        if isinstance(like, distributed_type):
            if not x.type.is_block():
                return self.splat(x, like.shape, like.layout)
            open_layout = isinstance(x.type, distributed_type) and isinstance(x.type.layout, AutoLayout)
            if open_layout and not isinstance(like.layout, AutoLayout):
                x = self.set_auto_layout(x, like.layout)
        return self.broadcast_to(x, like.shape, roles)

    def broadcast_to(self, x: tensor, to: Sequence[int], roles: tuple[str, str] | None = None) -> tensor:
        """`x` with its dimensions of size 1 repeated, in its layout."""
        if not isinstance(x.type, distributed_type):
            return self.splat(x, to)
        if tuple(to) == x.type.shape:
            return x
        return shape.broadcast_to(self, x, to, roles)

    def reshape(self, x: tensor, to: Sequence[int], can_reorder: bool = False) -> tensor:
        """The elements of `x` in another shape, in row-major order; no element moves between threads."""
        if can_reorder:
            raise value_error("can_reorder is not supported in gluon", "the layout says which thread has which element")
        return shape.reshape(self, x, to)

    def join(self, lhs: tensor, rhs: tensor) -> tensor:
        """A block with a new last dimension of size 2: [..., 0] is `lhs`, [..., 1] is `rhs`."""
        if _layout(lhs) is None and _layout(rhs) is None:
            raise value_error("Cannot join scalars in gluon")
        return shape.join(self, lhs, rhs)

    def cat(self, lhs: tensor, rhs: tensor, can_reorder: bool, dim: int = 0, layout: object = None) -> tensor:
        """`lhs` followed by `rhs`, elements in any order, in `layout`."""
        if plain(layout) is None:
            raise value_error("cat requires a destination layout")
        if not can_reorder:
            raise value_error("current implementation of `cat` always may reorder elements")
        ty = distributed_type(lhs.dtype, [lhs.type.shape[0] + rhs.type.shape[0]], layout_argument(layout))
        return self.emit(tt.Cat(lhs.handle, rhs.handle, result=ty.ir), ty)

    # -- layouts --------------------------------------------------------------------------------------------------

    def convert_layout(self, x: object, layout: object, assert_trivial: bool = False) -> tensor:
        """`x` in `layout`; with `assert_trivial`, raises where elements would move between threads."""
        x = checked(x, "convert_layout")
        ty: distributed_type = x.type
        target = ty.with_layout(layout_argument(layout))
        if assert_trivial and not _moves_nothing(ty, target):
            raise type_error(
                f"layout conversion from {ty.layout} to {target.layout} is not trivial.",
                "elements would move between threads",
            )
        return self.emit(ttg.ConvertLayout(x.handle, result=target.ir), target)

    def set_auto_layout(self, x: object, layout: object) -> tensor:
        """`x`, which is in AutoLayout, in `layout`."""
        x = checked(x, "set_auto_layout")
        ty: distributed_type = x.type
        target = layout_argument(layout)
        if not isinstance(ty.layout, AutoLayout):
            raise value_error(
                f"set_auto_layout input must have auto layout but got {ty.layout}",
                "gl.convert_layout changes a layout that is chosen",
            )
        to = ty.with_layout(target)
        return self.emit(gluon.SetAutoLayout(x.handle, result=to.ir), to)

    # -- reductions, histograms, dots -----------------------------------------------------------------------------

    def reduce(
        self, inputs: Sequence[tensor], axis: object, combine_fn: object, generator: object, keep_dims: bool = False
    ) -> list[tensor]:
        """As in the Triton language, of inputs that have one layout."""
        layouts = [checked(x, "reduce").type.layout for x in inputs]
        if any(layout != layouts[0] for layout in layouts):
            raise value_error(f"Expected inputs to have matching layouts, but got: {layouts}")
        return Semantic.reduce(self, inputs, axis, combine_fn, generator, keep_dims)

    def histogram(self, x: tensor, num_bins: object, mask: object = None, layout: object = None) -> tensor:  # type: ignore[override]
        """The number of elements of `x` equal to 0, 1, …, num_bins - 1, in `layout`."""
        if plain(layout) is None:
            raise value_error("histogram requires a destination layout")
        if num_bins.__class__ is not int:
            num_bins = unwrap(num_bins)
        counts = Semantic.histogram(self, x, num_bins, mask)
        return self._retyped(counts, layout_argument(layout))

    def dot_fma(self, a: object, b: object, acc: object) -> tensor:
        """a @ b + acc by multiply-adds of scalars: operands in DotOperandLayout of the accumulator's BlockedLayout."""
        a, b, acc = checked(a, "dot_fma"), checked(b, "dot_fma"), checked(acc, "dot_fma")
        _check_fma_layouts(a, b, acc)
        op = tt.Dot(a.handle, b.handle, acc.handle, tt.InputPrecision.ieee, None)
        return self.emit(op, acc.type)

    def fp4_to_fp(self, src: object, element: object, axis: object) -> tensor:
        """The two e2m1 numbers in each byte of `src`, next to each other along `axis`: low bits first."""
        src, element = checked(src, "fp4_to_fp"), unwrap(element)
        if src.dtype not in (int8, uint8) or element not in (float16, bfloat16):
            raise type_error(
                f"fp4_to_fp converts int8 or uint8 to float16 or bfloat16, not {src.dtype} to {element}",
                "pack two numbers in a byte; convert the float16 to others",
            )
        axis, out = type_of_pairs(src, element, axis, "fp4_to_fp")
        return self.emit(ttg.Fp4ToFp(src.handle, axis, result=out.ir), out)

    # -- the machine ----------------------------------------------------------------------------------------------

    def num_warps(self) -> int:
        """The number of warps that execute the current code."""
        return self.warps or int(self.options.num_warps)

    def num_ctas(self) -> int:
        """The number of CTAs in a cluster."""
        return int(getattr(self.options, "num_ctas", 1))

    allocate_shared = LazyMethod(".shared_memory", __package__)
    shared_load = LazyMethod(".shared_memory", __package__)
    shared_store = LazyMethod(".shared_memory", __package__)
    shared_gather = LazyMethod(".shared_memory", __package__)
    shared_scatter = LazyMethod(".shared_memory", __package__)
    shared_atomic_scatter = LazyMethod(".shared_memory", __package__)
    shared_dealloc = LazyMethod(".shared_memory", __package__)
    memdesc_slice = LazyMethod(".shared_memory", __package__)
    memdesc_index = LazyMethod(".shared_memory", __package__)
    memdesc_trans = LazyMethod(".shared_memory", __package__)
    memdesc_reshape = LazyMethod(".shared_memory", __package__)
    memdesc_reinterpret = LazyMethod(".shared_memory", __package__)


def checked(x: object, name: str) -> tensor:
    """A tensor with a layout. Raises LanguageError for another value."""
    if not isinstance(x, tensor) or not isinstance(x.type, distributed_type):
        kind = x.type if isinstance(x, tensor) else repr(unwrap(x))
        raise type_error(f"{name} takes a tensor with a layout, got {kind}")
    return x


def type_of_pairs(src: tensor, element: dtype, axis: object, name: str) -> tuple[int, distributed_type]:
    """The axis from the front, and the type of the result where each element of `src` holds two neighbours along it.

    Raises LanguageError where no layout of them follows from that of `src`; `name` is the function's.
    """
    ty: distributed_type = src.type
    rank, along = len(ty.shape), unwrap(axis)
    if not isinstance(along, int) or not -rank <= along < rank:
        raise value_error(f"{name}: axis {along} is out of range for a tensor of rank {rank}")
    along %= rank
    encoding = src.handle.type.encoding
    layout = of_pairs(encoding, tuple(ty.shape), along) if isinstance(encoding, Distributed) else None
    dims = [2 * n if d == along else n for d, n in enumerate(ty.shape)]
    if layout is None:
        raise value_error(
            f"{name}: no layout of the result follows from {ty.layout}", "set one: gl.set_auto_layout(x, layout)"
        )
    return along, distributed_type(element, dims, layout_of(layout, dims))


def _cut(op: Operation, encoding: Attribute) -> Slice | None:
    """The layout of the halves of a split: a slice of its operand's, whose join is in the operand's layout again.

    Passes choose among names of equal layouts; a kernel that combines a half with others must find this one. They also
    avoid reductions between the CTAs of a cluster, which a kernel may ask for.
    """
    if isinstance(op, tt.Reduce):
        return Slice(op.axis, encoding) if isinstance(encoding, Distributed) and encoding.rank > 1 else None
    if not isinstance(op, tt.Split):
        return None
    operand = op.src.type
    assert isinstance(operand, TensorType)
    return Slice(len(operand.shape) - 1, encoding)


def _moves_nothing(source: distributed_type, target: distributed_type) -> bool:
    """Whether both layouts are chosen and one map."""
    chosen = source.layout.is_chosen and target.layout.is_chosen
    return source.layout == target.layout or (chosen and linear_layout_of(source.ir) is linear_layout_of(target.ir))


def _check_fma_layouts(a: tensor, b: tensor, acc: tensor) -> None:
    """Raise unless a and b are the operands 0 and 1 of a dot with the accumulator's layout."""
    parent = acc.type.layout
    if not isinstance(parent, BlockedLayout):
        raise value_error(f"the accumulator of dot_fma must have a BlockedLayout, not {parent}")
    for number, x in enumerate((a, b)):
        layout = x.type.layout
        if not isinstance(layout, DotOperandLayout) or layout.operand_index != number or layout.parent != parent:
            raise value_error(
                f"operand {number} of dot_fma must have the layout gl.DotOperandLayout({number}, parent, k_width) of"
                f" the accumulator's layout, not {layout}"
            )
