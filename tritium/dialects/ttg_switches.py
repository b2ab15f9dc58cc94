"""What a kernel may be compiled without: each means of speed can be switched off, to see what it brings.

    kernel[grid](..., without="tma,multicast")        a launch
    tritium.without = "tma,multicast"                 the attribute of the module that passes then read

Results do not depend on them, but for the order in which a product's terms are added. Passes and lowerings ask
`is_on(op, name)`; the option `without` of the NVIDIA backend is checked against `SWITCHES`.
"""

from __future__ import annotations

from ..ir import Operation, StringAttr

__all__ = ["FORMER", "SWITCHES", "WITHOUT", "is_on"]

WITHOUT = "tritium.without"

#: name -> what the kernel then does in its place
SWITCHES = {
    "wgmma": "products by one warp (mma.sync), not by four (wgmma)",
    "async-copies": "loops load where they use, not iterations ahead (no pipelining of loads)",
    "wgmma-in-flight": "each product is waited for where it is issued",
    "products-ahead": "attention's first product is begun in the iteration that needs it, not one ahead",
    "hoist-waits": "async copies are waited for right before the dot that reads them",
    "zero-first": "sums start with zeros in registers, not with a product that adds nothing",
    "tma": "descriptors become pointers, and are loaded thread by thread",
    "descriptor-prefetch": "a descriptor of the host is fetched by the first copy that it directs",
    "tma-store-in-flight": "a store of the copy engine is waited for where it is issued",
    "multicast": "each block of a cluster loads its own copy",
    "warp-specialization": "all warps run the whole program",
    "overlap": "products of an iteration end before the next begins (attention: products and softmax in turn)",
    "turns": "warp groups of attention multiply when they come to it, not in turns",
    "register-reallocation": "warps that load keep as many registers as warps that multiply",
    "stmatrix": "results go to shared memory by plain stores",
    "store-mma-rows-per-warp": "dot results are redistributed across warps through shared memory before the store",
    "idle-fences": "each product that reads what threads wrote has a fence of its own, needed or not",
    "speculate-loads": "loads in a branch are issued only once its condition is known",
    "rematerialize-after-loops": "values used after a loop of high register pressure stay live across it",
    "late-reads": "kernels that spill are not tried with operands of products (mma.sync) read as late as may be",
    "few-registers": "kernels that spill are not tried as LLVM orders them for few registers, nor as ptxas does",
    "more-warps": "kernels have as many warps as asked for, though the sums of their products find no room",
    "flatten": "nested loops stay nested",
}

FORMER = {
    "early-waits": "hoist-waits",
    "store-own-rows": "store-mma-rows-per-warp",
    "early-loads": "speculate-loads",
    "behind-loops": "rematerialize-after-loops",
}
"""Former spellings, accepted for one release: former name -> name in `SWITCHES`."""


def is_on(op: Operation, name: str) -> bool:
    """Whether the module around `op` may use what `SWITCHES` calls `name`."""
    assert name in SWITCHES, name
    while (parent := op.parent_op) is not None:
        op = parent
    said = op.attributes.get(WITHOUT)
    return not (isinstance(said, StringAttr) and any(FORMER.get(s, s) == name for s in said.value.split(",")))
