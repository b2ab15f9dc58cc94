"""Cluster barriers and the id of a CTA in its cluster."""

from __future__ import annotations

from ....dialects import nvg, ttng
from ..context import FunctionContext, lowers
from .target import meet_cluster

__all__: list[str] = []


@lowers(ttng.ClusterArrive)
def _cluster_arrive(e: FunctionContext, op: ttng.ClusterArrive) -> None:
    meet_cluster(e, f"llvm.nvvm.barrier.cluster.arrive{'.relaxed' if op.relaxed else ''}.aligned")


@lowers(ttng.ClusterWait)
def _cluster_wait(e: FunctionContext, op: ttng.ClusterWait) -> None:
    meet_cluster(e, "llvm.nvvm.barrier.cluster.wait.aligned")


@lowers(ttng.ClusterBarrier)
def _cluster_barrier(e: FunctionContext, op: ttng.ClusterBarrier) -> None:
    e.cluster_barrier(bool(op.relaxed))


@lowers(nvg.ClusterCTAId)
def _block_of_cluster(e: FunctionContext, op: nvg.ClusterCTAId) -> None:
    e.bind(op.result, [e.block_id])
