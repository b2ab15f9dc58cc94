"""What a kernel may be compiled without: each means of speed can be switched off, to see what it brings.

    kernel[grid](..., without="tma,multicast")        a launch
    tritium.without = "tma,multicast"                 the attribute of the module that passes then read

Results do not depend on them, except for the order in which the terms of a dot are added. Passes and lowerings ask
`is_on(op, name)`; the option `without` of the NVIDIA backend is checked against `SWITCHES`.
"""

from __future__ import annotations

from ..ir import Operation, StringAttr

__all__ = ["SWITCHES", "WITHOUT", "current_names", "is_on"]

WITHOUT = "tritium.without"

#: name -> what the kernel then does in its place
SWITCHES = {
    "wgmma": "dots use mma.sync (one warp), not wgmma (four warps)",
    "async-copies": "loads of loops are not pipelined: they are issued where they are used",
    "wgmma-in-flight": "each WGMMA is waited for where it is issued",
    "first-dot-early": "attention's first dot is issued in the iteration that uses it, not one earlier",
    "hoist-waits": "async copies are waited for right before the dot that reads them",
    "accumulator-init": "accumulators start as zeros in registers, not by an MMA with useAcc = false",
    "tma": "tensor descriptors are lowered to pointers",
    "host-maps": "kernels build the tensor maps of descriptors that they make from their arguments",
    "raise-loads": "with `raise_loads`, loads by pointers stay loads by pointers",
    "persistent": "with `persistent`, each program computes its own tile only",
    "tma-store-in-flight": "each TMA store is waited for where it is issued",
    "multicast": "each CTA of a cluster loads its own copy",
    "late-sums": "row sums of attention are reduced across lanes in their iteration, not one later",
    "warp-specialization": "all warps run the whole program",
    "intra-warpgroup-overlap": "attention runs the softmax of an iteration after its dots, not beside them",
    "ping-pong": "two consumer warp groups of attention issue WGMMAs when they get there, not alternately",
    "register-reallocation": "producer warps keep as many registers as consumer warps",
    "stmatrix": "results go to shared memory by plain stores",
    "store-mma-rows-per-warp": "dot results are redistributed across warps through shared memory before the store",
    "fence-elimination": "each WGMMA that reads writes of threads has a proxy fence, redundant or not",
    "speculate-loads": "loads in a branch are issued only once its condition is known",
    "cluster-loads": "a load to be copied to shared memory is issued after the copies of earlier loads",
    "cache-hints": "loads that a later loop repeats have no eviction policy but that of the kernel",
    "rematerialize-after-loops": "values used after a loop of high register pressure stay live across it",
    "ldmatrix-scheduling": "kernels that spill are not retried with operands of mma.sync loaded as late as possible",
    "register-pressure-scheduling": "kernels that spill are not retried with schedules for register pressure",
    "one-more-cta": "kernels whose registers allow one or two CTAs per SM are not assembled again for one more",
    "warps-for-accumulators": "kernels run with the warps asked for, even where accumulators exceed the registers",
    "one-trip-loops": "loops that read the same row have no copy for rows of one block, which reads them once",
    "keep-rows": "each loop that reads a row loads it, and no copy is kept in shared memory",
    "alignment-versions": "accesses by addresses from memory have no copy for aligned ones, with vectors",
    "widen-loops": "loops of narrow dots run one iteration at a time, not two in one",
    "flatten": "nested loops are not fused",
}

_FORMER = {
    "early-waits": "hoist-waits",
    "store-own-rows": "store-mma-rows-per-warp",
    "early-loads": "speculate-loads",
    "behind-loops": "rematerialize-after-loops",
    "products-ahead": "first-dot-early",
    "zero-first": "accumulator-init",
    "overlap": "intra-warpgroup-overlap",
    "turns": "ping-pong",
    "idle-fences": "fence-elimination",
    "late-reads": "ldmatrix-scheduling",
    "few-registers": "register-pressure-scheduling",
    "more-warps": "warps-for-accumulators",
}
"""Former spellings, accepted for one release: former name -> name in `SWITCHES`."""


_REMOVED = frozenset({"descriptor-prefetch"})
"""Names of what is not done any more, accepted for one release."""


def current_names(without: str) -> list[str]:
    """The names in a comma-separated text, each once: former spellings as current ones, removed ones left out."""
    names = (_FORMER.get(name, name) for name in without.split(","))
    return list(dict.fromkeys(name for name in names if name and name not in _REMOVED))


def is_on(op: Operation, name: str) -> bool:
    """Whether the module around `op` may use what `SWITCHES` calls `name`."""
    assert name in SWITCHES, name
    while (parent := op.parent_op) is not None:
        op = parent
    said = op.attributes.get(WITHOUT)
    return not (isinstance(said, StringAttr) and name in current_names(said.value))
