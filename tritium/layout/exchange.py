"""Plan the cheapest conversion between two layouts of a tensor.

| method | when | cost |
|---|---|---|
| registers | each thread owns its elements, in known registers | nothing |
| lanes | each warp owns its elements | 2 per shuffle, 1 per select, 1 per value packed into or unpacked from a word |
| memory | always | 1 per instruction, 1 per wavefront, the barriers between stores and loads, the addresses |

The unit is an issue slot of a scheduler. A shuffle uses the same crossbar as one wavefront of shared memory, hence 2. A
CTA barrier costs about 16 slots where warps arrive together, a warp barrier 2, a cluster barrier 64 (from published
microbenchmarks, rounded; only the order matters), the addresses of both sides about 10.
"""

from __future__ import annotations

import functools

from .access import Access
from .linear import LinearLayout
from .shuffles import LanePlan, plan_lanes
from .swizzle import MemoryPlan, memory_cost, plan_memory

__all__ = ["Plan", "cost", "describe", "kind", "plan_exchange"]

Plan = LanePlan | MemoryPlan

BARRIER = {"warp": 2, "block": 16, "cluster": 64}
ADDRESSES = 10


def cost(plan: Plan) -> int:
    """Issue slots, as far as they differ between plans."""
    if isinstance(plan, LanePlan):
        return 2 * plan.shuffles + plan.selects + plan.packing()
    barriers = 2 * plan.rounds - 1
    return memory_cost(plan) + barriers * BARRIER[plan.sync] + ADDRESSES


def kind(plan: Plan) -> str:
    """ "nothing", "registers", "lanes" or "memory"."""
    if isinstance(plan, MemoryPlan):
        return "memory"
    if plan.shuffles or plan.selects:
        return "lanes"
    return "nothing" if plan.moves_nothing() else "registers"


def describe(plan: Plan) -> str:
    """A one-line description of a plan."""
    if isinstance(plan, LanePlan):
        if kind(plan) != "lanes":
            return kind(plan)
        return f"lanes: {plan.shuffles} shuffles, {plan.selects} selects"
    rounds = "1 round" if plan.rounds == 1 else f"{plan.rounds} rounds"
    sides = f"{_side('stores', plan.store.access)}, {_side('loads', plan.load.access)}"
    return f"memory: {rounds} of {plan.bytes} bytes, {sides}; waits for the {plan.sync}"


def _side(what: str, access: Access) -> str:
    size = f"{access.instructions} {what} of {access.width * access.bits // 8} bytes"
    if access.kind != "vector":
        size += " as matrices" if access.kind == "matrix" else " as transposed matrices"
    return size + (f" with {access.conflicts} conflicts" if access.conflicts else "")


@functools.lru_cache(4096)
def plan_exchange(
    source: LinearLayout,
    target: LinearLayout,
    bits: int,
    load_matrix: bool = False,
    store_matrix: bool = False,
    within_warps: bool = False,
) -> Plan:
    """The plan for a tensor of elements of `bits` (8, 16, 32 or 64) from the layout `source` to `target`.

    Both map register, lane, warp, block to the same dimensions. `load_matrix`, `store_matrix`: whether the target has
    ldmatrix and stmatrix. `within_warps` forbids shared memory: `ValueError` where elements must move between warps, or
    where CTAs of a cluster hold elements of each other.
    """
    lanes = plan_lanes(source, target, bits)
    if within_warps:
        if lanes is None:
            raise ValueError("elements must move between warps")
        return lanes
    if lanes is not None and not lanes.shuffles and not lanes.selects:
        return lanes
    memory = plan_memory(source, target, bits, load_matrix, store_matrix)
    return lanes if lanes is not None and cost(lanes) <= cost(memory) else memory
