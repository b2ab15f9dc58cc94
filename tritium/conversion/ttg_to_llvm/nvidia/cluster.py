"""Cluster barriers and the id of a CTA in its cluster."""

from __future__ import annotations

from ....dialects import nvg, ttng
from ..context import FunctionContext, lowers

__all__: list[str] = []

MEMORY = "~{memory}"


@lowers(ttng.ClusterArrive)
def _cluster_arrive(e: FunctionContext, op: ttng.ClusterArrive) -> None:
    e.asm(f"barrier.cluster.arrive{'.relaxed' if op.relaxed else ''}.aligned;", MEMORY, [])


@lowers(ttng.ClusterWait)
def _cluster_wait(e: FunctionContext, op: ttng.ClusterWait) -> None:
    e.asm("barrier.cluster.wait.aligned;", MEMORY, [])


@lowers(ttng.ClusterBarrier)
def _cluster_barrier(e: FunctionContext, op: ttng.ClusterBarrier) -> None:
    e.cluster_barrier(bool(op.relaxed))


@lowers(nvg.ClusterCTAId)
def _block_of_cluster(e: FunctionContext, op: nvg.ClusterCTAId) -> None:
    e.bind(op.result, [e.block_id])
