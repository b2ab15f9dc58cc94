"""Asynchronous copies, mbarriers, TMA and matrix instructions in Gluon."""

from __future__ import annotations

from ...dialects import arith, tt, ttg, ttng
from ...dialects.constraints import bit_width
from ...dialects.tt_types import TensorDescType
from ...dialects.ttg_layouts import Blocked
from ...ir import IntegerAttr, Operation, Value, constant_of
from .layouts import tensor_type
from .printer import Expressions, KernelPrinter, NoGluon, Statements, keywords, policy

__all__ = ["EXPRESSIONS", "STATEMENTS"]

_HOPPER = "tritium.experimental.gluon.language.nvidia.hopper"
EXACT = 1 << 30
"""This many imprecise accumulations or more: all, which is what Gluon's default asks for."""
_MAPS = (
    "ttng.tensormap_create",
    "ttng.tensormap_fenceproxy_acquire",
    "ttng.reinterpret_tensor_descriptor",
)


def _dot(p: KernelPrinter, op: tt.Dot) -> str:
    a, b, c = (p.use(v) for v in (op.a, op.b, op.c))
    if isinstance(tensor_type(op.result).encoding, Blocked):
        return f"gl.dot_fma({a}, {b}, {c})"
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import mma_v2")
    return f"mma_v2({a}, {b}, {c}{_precision(p, op)})"


def _precision(p: KernelPrinter, op: tt.Dot) -> str:
    return f', "{op.inputPrecision.name}"' if str(p.element(op.a)) == "f32" else ""


def _wgmma(p: KernelPrinter, op: ttng.WarpGroupDot) -> str:
    _hopper(p, "warpgroup_mma")
    text = f"warpgroup_mma({p.use(op.a)}, {p.use(op.b)}, {p.use(op.c)}{keywords(p, use_acc=op.useC)}"
    if str(p.element(op.a)) == "f32":
        text += f', precision="{op.inputPrecision.name}"'
    if 0 < op.maxNumImpreciseAcc < EXACT:
        text += f", max_num_imprecise_acc={op.maxNumImpreciseAcc}"
    return f"{text}{', is_async=True' * op.isAsync})"


def _wgmma_wait(p: KernelPrinter, op: ttng.WarpGroupDotWait) -> None:
    _hopper(p, "warpgroup_mma_wait")
    inputs = ", ".join(p.use(v) for v in op.inputs)
    p.bind_all(op, f"warpgroup_mma_wait({op.pendings}, ({inputs},))")


def _async_copy(p: KernelPrinter, op: ttg.AsyncCopyGlobalToLocal) -> None:
    made = None if op.other is None else op.other.defining_op
    if op.other is not None and not (isinstance(made, arith.Constant) and made.splat_value() == 0):
        raise NoGluon(op, "with elements other than zero where the mask is false")
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import async_copy")
    volatile = ", volatile=True" if op.isVolatile else ""
    arguments = f"{p.use(op.result)}, {p.use(op.src)}{keywords(p, mask=op.mask)}{policy(op)}{volatile}"
    p.line(f"async_copy.async_load({arguments})")


def _commit(p: KernelPrinter, op: Operation) -> None:
    p.line("async_copy.commit_group()")


def _wait(p: KernelPrinter, op: ttg.AsyncWait) -> None:
    p.imports.add("from tritium.experimental.gluon.language.nvidia.ampere import async_copy")
    p.line(f"async_copy.wait_group({op.num})")


def _fence(p: KernelPrinter, op: Operation) -> None:
    _hopper(p, "fence_async_shared")
    p.line("fence_async_shared()")


# -- descriptors and TMA ------------------------------------------------------------------------------------------


def _hopper(p: KernelPrinter, name: str) -> str:
    p.imports.add(f"from {_HOPPER} import {name}")
    return name


def _scratch(p: KernelPrinter, op: ttg.GlobalScratchAlloc) -> None:
    """Memory of a descriptor: `make_tensor_descriptor` allocates it."""
    if not all(user.name in _MAPS for user in op.result.users):
        raise NoGluon(op, "other than for descriptors")


def _tensormap(p: KernelPrinter, op: ttng.TensormapCreate) -> None:
    """A descriptor, where the map of the operation is read by one `reinterpret_tensor_descriptor`."""
    readers = [user for user in op.desc_ptr.users if isinstance(user, ttng.ReinterpretTensorDesc)]
    if len(readers) != 1:
        raise NoGluon(op, "with a map that is not read as one descriptor")
    ty = readers[0].result.type
    assert isinstance(ty, TensorDescType)
    block = ty.block
    size = bit_width(block.element) // 8
    strides = [_elements(p, stride, size) for stride in reversed(op.global_stride)]
    shape = ", ".join(map(p.use, reversed(op.global_dim)))
    padding = ', padding_option="nan"' if op.fill_mode else ""
    made = (
        f"{_hopper(p, 'tma')}.make_tensor_descriptor({p.use(op.global_address)}, [{shape}],"
        f" [{', '.join([*strides, '1'])}], {list(block.shape)}, {p.layouts.of(block)}{padding})"
    )
    p.texts[readers[0].result] = name = p.names.of(readers[0].result, "desc")
    p.line(f"{name} = {made}")


def _elements(p: KernelPrinter, stride: Value, size: int) -> str:
    """A stride in bytes as one in elements."""
    number, made = constant_of(stride), stride.defining_op
    if isinstance(number, IntegerAttr):
        return str(number.value // size)
    if isinstance(made, arith.MulI):
        for factor, other in (made.operands, made.operands[::-1]):
            value = constant_of(factor)
            if isinstance(value, IntegerAttr) and value.value == size:
                return p.use(other)
    return p.use(stride) if size == 1 else f"{p.use(stride)} // {size}"


def _tma_load(p: KernelPrinter, op: ttng.AsyncTMACopyGlobalToLocal) -> None:
    if op.offsets or op.cachePolicy is not None or op.isVolatile:
        raise NoGluon(op, "with a cache policy or offsets")
    multicast = ", multicast=True" if op.multicast else ""
    where = ", ".join(map(p.use, op.coord))
    arguments = f"{p.use(op.desc)}, [{where}], {p.use(op.barrier)}, {p.use(op.result)}{_where(p, op.pred)}{multicast}"
    p.line(f"{_hopper(p, 'tma')}.async_load({arguments})")


def _where(p: KernelPrinter, pred: Value | None) -> str:
    """The predicate as an argument, if it is not always true."""
    return "" if pred is None or p.use(pred) == "True" else f", pred={p.use(pred)}"


def _tma_store(p: KernelPrinter, op: ttng.AsyncTMACopyLocalToGlobal | ttng.AsyncTMAReduce) -> None:
    if isinstance(op, ttng.AsyncTMACopyLocalToGlobal):
        if op.cachePolicy is not None:
            raise NoGluon(op, "with a cache policy")
        name = "async_store"
    else:
        name = f"async_atomic_{op.kind.name.strip('_')}"
    where = ", ".join(map(p.use, op.coord))
    p.line(f"{_hopper(p, 'tma')}.{name}({p.use(op.desc)}, [{where}], {p.use(op.src)})")


def _store_wait(p: KernelPrinter, op: ttng.TMAStoreWait) -> None:
    p.line(f"{_hopper(p, 'tma')}.store_wait({op.pendings}{'' if op.read_only else ', read_only=False'})")


# -- mbarriers ----------------------------------------------------------------------------------------------------


def _init(p: KernelPrinter, op: ttng.InitBarrier) -> None:
    p.line(f"{_hopper(p, 'mbarrier')}.init({p.use(op.alloc)}, count={op.count})")


def _invalidate(p: KernelPrinter, op: ttng.InvalBarrier) -> None:
    p.line(f"{_hopper(p, 'mbarrier')}.invalidate({p.use(op.alloc)})")


def _expect(p: KernelPrinter, op: ttng.BarrierExpect) -> None:
    text = f"{p.use(op.alloc)}, {op.size}{_where(p, op.pred)}{_from_cta(op.fromCTA)}"
    p.line(f"{_hopper(p, 'mbarrier')}.expect({text})")


def _wait_barrier(p: KernelPrinter, op: ttng.WaitBarrier) -> None:
    deps = f", deps=[{', '.join(map(p.use, op.deps))}]" if op.deps else ""
    p.line(f"{_hopper(p, 'mbarrier')}.wait({p.use(op.alloc)}, {p.use(op.phase)}{_where(p, op.pred)}{deps})")


def _arrive(p: KernelPrinter, op: ttng.ArriveBarrier) -> None:
    if op.multicastCTA:
        raise NoGluon(op, "with a multicast")
    text = f"{p.use(op.alloc)}, count={op.count}{_where(p, op.pred)}{_from_cta(op.fromCTA)}"
    p.line(f"{_hopper(p, 'mbarrier')}.arrive({text})")


def _from_cta(mask: int | None) -> str:
    return "" if mask is None else f", from_cta={mask}"


def _nothing(p: KernelPrinter, op: Operation) -> None:
    """Written with another operation."""


EXPRESSIONS: Expressions = {
    "tt.dot": _dot,
    "ttng.warp_group_dot": _wgmma,
}
STATEMENTS: Statements = {
    "ttg.async_copy_global_to_local": _async_copy,
    "ttg.async_commit_group": _commit,
    "ttg.async_wait": _wait,
    "ttng.fence_async_shared": _fence,
    "ttng.warp_group_dot_wait": _wgmma_wait,
    "ttg.global_scratch_alloc": _scratch,
    "ttng.tensormap_create": _tensormap,
    "ttng.tensormap_fenceproxy_acquire": _nothing,
    "ttng.reinterpret_tensor_descriptor": _nothing,
    "ttng.async_tma_copy_global_to_local": _tma_load,
    "ttng.async_tma_copy_local_to_global": _tma_store,
    "ttng.async_tma_reduce": _tma_store,
    "ttng.async_tma_store_wait": _store_wait,
    "ttng.init_barrier": _init,
    "ttng.inval_barrier": _invalidate,
    "ttng.barrier_expect": _expect,
    "ttng.wait_barrier": _wait_barrier,
    "ttng.arrive_barrier": _arrive,
}
