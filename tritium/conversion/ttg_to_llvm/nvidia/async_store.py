"""Asynchronous stores of registers to shared memory of the cluster, whose bytes count at an mbarrier.

    ttng.async_shared_store %x, %buffer, %barrier

    mapa.shared::cluster.u32 %a, %buffer, %rank; mapa.shared::cluster.u32 %b, %barrier, %rank;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%a], {…}, [%b];

Each CTA's elements count at its own barrier: that at the same place of the CTA which holds them. Where CTAs have copies
of a buffer, each stores to its own. Source: PTX ISA 8.7, section 9.7.9.12.
"""

from __future__ import annotations

from ....dialects import ttng
from ....dialects.ttg_maps import linear_layout_of
from ....hardware.nvidia_features import TMA
from ....ir import TensorType
from ....layout.buffer_access import plan_cluster_access, reaches_other_ctas
from ....support import UnsupportedOperation
from ..context import FunctionContext, lowers
from ..shared_access import cluster_words, emit_cluster_words, owner, to_memory
from ..shared_memory import buffer_of
from ..target_info import require
from .mbarrier import blocks_sharing

__all__: list[str] = []

_FORM = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{many}.{suffix} [$0], {words}, [$1];"


@lowers(ttng.AsyncSharedStore)
def _async_store(e: FunctionContext, op: ttng.AsyncSharedStore) -> None:
    require(e, op, TMA)
    ty = op.src.type
    assert isinstance(ty, TensorType)
    buffer = buffer_of(e, op, op.dst)
    layout, copies = linear_layout_of(ty), buffer.layout.redundant()["block"]
    if blocks_sharing(op.mbarrier) or (copies and reaches_other_ctas(layout, buffer.layout)):
        raise UnsupportedOperation(op, "to memory, or with a barrier, that several CTAs share is not supported")
    access, bit = plan_cluster_access(layout, buffer.layout, buffer.bits, buffer.gaps)
    if access.width * access.bits < 32:
        raise UnsupportedOperation(op, f"needs 32 bits of a thread that are adjacent in {op.dst.type}")
    idle = layout.redundant()
    owns = owner(e, idle["lane"], idle["warp"], idle.get("block", 0) & ~copies)
    into = buffer.addresses(e, access, bit)
    barrier = e(op.mbarrier)[0]
    values = [to_memory(e, ty, v) for v in e(op.src)]
    for constant, registers in access.moves:
        words, width = cluster_words(e, access, ty, [values[r] for r in registers])
        signal = into.same_cta(constant, barrier)
        emit_cluster_words(e, _FORM, into.in_cluster(constant), words, width, owns, [("i32", signal)])
