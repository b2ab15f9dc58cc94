"""Rules of the ttg dialect: redundant layout conversions, and buffers with the same content.

They preserve what every thread computes; only the intermediate locations of elements may change. `canonicalize`
includes them once the dialect is loaded.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt, ttg
from ...dialects.ttg_layouts import DotOperand, NvidiaMma
from ...dialects.ttg_operands import cluster_bases
from ...dialects.ttg_rules import equivalent
from ...ir import CHANGED, DenseElementsAttr, Rule, TensorType, Touched, i1, is_descriptor_load, rule
from ..layout_flow import forward, layout_of, moves_elements, reduces_within_cta, repeats, takes_any_result

__all__ = ["CONVERT_RULES", "TTG_RULES"]


def _converted(value: Any) -> Any:
    """The conversion that defines a value, if it may be removed; else None."""
    op = None if value is None else value.defining_op
    return op if op.__class__ is ttg.ConvertLayout and not op.force_warp_shuffle else None


def _feeds_dot(op: Any) -> bool:
    """From the result of a dot to the operand of another: passes on dots look for these conversions."""
    return isinstance(layout_of(op.result), DotOperand) and isinstance(layout_of(op.src), NvidiaMma)


def _between_ctas(op: Any) -> bool:
    """Whether a conversion moves elements between CTAs of a cluster."""
    ty, layout = op.src.type, layout_of(op.src)
    if layout is None or layout.ctas == 1:
        return False
    return cluster_bases(layout, ty.shape) != cluster_bases(layout_of(op.result), ty.shape)


def _free(op: Any) -> bool:
    return not op.force_warp_shuffle and not _feeds_dot(op)


# -- conversions of something -------------------------------------------------------------------------------------


@rule(ttg.ConvertLayout)
def convert_to_itself(op: Any) -> Any:
    """convert(x) = x to the layout that x has"""
    return op.src if op.src.type is op.result.type else None


@rule(ttg.ConvertLayout)
def convert_twice(op: Any) -> Any:
    """convert(convert(x)) = convert(x)"""
    inner = _converted(op.src)
    return ttg.ConvertLayout(inner.src, result=op.result.type) if inner is not None and _free(op) else None


@rule(ttg.ConvertLayout)
def convert_of_replicated(op: Any) -> Any:
    """convert(splat(x)) = splat(x), convert(c) = c, convert(make_range) = make_range"""
    inner = op.src.defining_op
    ty = op.result.type
    if not _free(op):
        return None
    if inner.__class__ is tt.Splat:
        return tt.Splat(inner.src, result=ty)
    if inner.__class__ is tt.MakeRange:
        return tt.MakeRange.create([], [ty], dict(inner.attributes))
    if inner.__class__ is arith.Constant and inner.splat_value() is not None:
        return DenseElementsAttr(inner.value.values, ty)
    return None


@rule(ttg.ConvertLayout)
def convert_of_histogram(op: Any) -> Any:
    """convert(histogram(x, m)) = histogram(x, m) in the new layout: it supports any layout of its counts"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.Histogram or not _free(op):
        return None
    return tt.Histogram.create(list(inner.operands), [op.result.type], dict(inner.attributes))


@rule(ttg.ConvertLayout)
def convert_of_local_load(op: Any) -> Any:
    """convert(local_load(m)) = local_load(m) in the new layout, read where it was read"""
    inner = op.src.defining_op
    if inner.__class__ is not ttg.LocalLoad or not _free(op) or _between_ctas(op):
        return None
    new = ttg.LocalLoad.create(list(inner.operands), [op.result.type], dict(inner.attributes), loc=op.loc)
    inner.parent.insert_before(new, inner)
    return Touched(new.result, [new])


@rule(ttg.ConvertLayout)
def convert_of_cat(op: Any) -> Any:
    """convert(cat(x, y)) = cat(x, y) in the new layout, if a thread holds as many elements as of both parts"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.Cat or not _free(op):
        return None
    if not takes_any_result(inner, layout_of(op.result)):
        return None
    return tt.Cat.create(list(inner.operands), [op.result.type], dict(inner.attributes))


@rule(ttg.ConvertLayout)
def convert_of_free_reshape(op: Any) -> Any:
    """convert(reshape(x)) = reshape(x) in the new layout, where the order is free and no element moves"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.Reshape or not _free(op) or not inner.allow_reorder or inner.efficient_layout:
        return None
    operands = isinstance(layout_of(op.src), DotOperand) or isinstance(layout_of(op.result), DotOperand)
    if operands or moves_elements(inner.src.type, op.result.type):
        return None
    return tt.Reshape.create([inner.src], [op.result.type], dict(inner.attributes))


# -- users that accept any layout --------------------------------------------------------------------------------


@rule(tt.Reshape)
def reshape_of_convert(op: Any) -> Any:
    """reshape(convert(x)) = reshape(x), where the layouts are equal, or the order is free and no element moves"""
    inner = _converted(op.src)
    if inner is None:
        return None
    free = op.allow_reorder and not moves_elements(inner.src.type, op.result.type)
    return _use_source(op, inner) if free or equivalent(inner.src.type, op.src.type) else None


@rule(tt.Trans)
def trans_of_convert(op: Any) -> Any:
    """trans(convert(x)) = trans(x), where the layouts are equal"""
    inner = _converted(op.src)
    return _use_source(op, inner) if inner is not None and equivalent(inner.src.type, op.src.type) else None


@rule(tt.Broadcast)
def broadcast_of_convert(op: Any) -> Any:
    """broadcast(convert(x)) = broadcast(x), where threads already hold what they broadcast and the conversion is
    removed"""
    inner = _converted(op.src)
    if inner is None or not inner.result.has_one_use:
        return None
    whole, ty = op.result.type, inner.src.type
    return _use_source(op, inner) if repeats(whole.shape, whole.encoding, ty.shape, ty.encoding) else None


@rule(tt.Trans)
def trans_in_place(op: Any) -> Any:
    """trans(x, identity) = convert(x)"""
    if op.order != tuple(range(len(op.order))) or op.src.type is op.result.type:
        return None
    return ttg.ConvertLayout(op.src, result=op.result.type)


@rule(tt.Histogram)
def histogram_of_convert(op: Any) -> Any:
    """histogram(convert(x), m) = histogram(x, convert(m)), for one CTA: a cluster must not split x"""
    inner = _converted(op.src)
    if inner is None or layout_of(inner.src).ctas > 1:
        return None
    operands = [inner.src]
    if op.mask is not None:
        ty = inner.src.type
        operands.append(ttg.ConvertLayout(op.mask, result=TensorType(ty.shape, i1, ty.encoding)).result)
    return tt.Histogram.create(operands, [op.result.type], dict(op.attributes))


@rule(tt.Gather)
def gather_of_convert(op: Any) -> Any:
    """gather(convert(x), i) = gather(x, i): x goes through shared memory, unless its layout was chosen to avoid that

    It must not be split along the axis over the CTAs of a cluster.
    """
    inner = _converted(op.src)
    if inner is None or op.efficient_layout or not reduces_within_cta(op, layout_of(inner.src)):
        return None
    return _use_source(op, inner)


@rule(tt.Split)
def split_of_convert(op: Any) -> Any:
    """split(convert(x)) = split(x), where the halves have the same layout"""
    inner = _converted(op.src)
    if inner is None or forward(op, 0, layout_of(inner.src)) is not layout_of(op.results[0]):
        return None
    return _use_source(op, inner)


@rule(ttg.LocalAlloc, ttg.LocalStore)
def store_of_convert(op: Any) -> Any:
    """local_alloc(convert(x)) = local_alloc(x), local_store(convert(x), m) = local_store(x, m)

    Only a conversion moves elements between CTAs of a cluster; but any CTA can load the data of a descriptor.
    """
    inner = _converted(op.src)
    if inner is None or (_between_ctas(inner) and not is_descriptor_load(inner.src.defining_op)):
        return None
    return _use_source(op, inner)


def _use_source(op: Any, conversion: Any) -> Touched:
    """Replace operand 0 by the operand of the conversion."""
    op.set_operand(0, conversion.src)
    return Touched(CHANGED, [conversion])


# -- buffers ------------------------------------------------------------------------------------------------------


@rule(ttg.LocalAlloc)
def alloc_of_load(op: Any) -> Any:
    """local_alloc(local_load(m)) = m, for buffers of one type that are not written again"""
    inner = None if op.src is None else op.src.defining_op
    if inner.__class__ is not ttg.LocalLoad or inner.src.type is not op.result.type or op.result.type.mutable:
        return None
    return inner.src


@rule(ttg.MemDescSubslice)
def part_of_part(op: Any) -> Any:
    """subslice(subslice(m, a), b) = subslice(m, a + b)"""
    inner = op.src.defining_op
    if inner.__class__ is not ttg.MemDescSubslice:
        return None
    return ttg.MemDescSubslice(inner.src, [a + b for a, b in zip(inner.offsets, op.offsets)], result=op.result.type)


CONVERT_RULES: list[Rule] = [
    convert_to_itself,
    convert_twice,
    convert_of_replicated,
    convert_of_histogram,
    convert_of_local_load,
    convert_of_cat,
    convert_of_free_reshape,
    reshape_of_convert,
    trans_of_convert,
    broadcast_of_convert,
    trans_in_place,
    histogram_of_convert,
    gather_of_convert,
    split_of_convert,
    store_of_convert,
]
"""Rules of layout conversions."""

TTG_RULES: list[Rule] = [*CONVERT_RULES, alloc_of_load, part_of_part]
