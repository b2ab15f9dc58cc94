"""What a kernel may be compiled without: each means of speed can be switched off, to see what it brings.

    kernel[grid](..., without="tma,multicast")        a launch
    tritium.without = "tma,multicast"                 the attribute of the module that passes then read

Results do not depend on them, but for the order in which a product's terms are added. Passes and lowerings ask
`is_on(op, name)`; the option `without` of the NVIDIA backend is checked against `SWITCHES`.
"""

from __future__ import annotations

from ..ir import Operation, StringAttr

__all__ = ["SWITCHES", "WITHOUT", "is_on"]

WITHOUT = "tritium.without"

#: name -> what the kernel then does in its place
SWITCHES = {
    "wgmma": "products by one warp (mma.sync), not by four (wgmma)",
    "async-copies": "loops load where they use, not iterations ahead (no pipelining of loads)",
    "wgmma-in-flight": "each product is waited for where it is issued",
    "products-ahead": "attention's first product is begun in the iteration that needs it, not one ahead",
    "early-waits": "copies are waited for in front of the product that reads them, behind what is computed for it",
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
    "store-own-rows": "results of products go to other warps before they are stored, through memory of the whole block",
    "idle-fences": "each product that reads what threads wrote has a fence of its own, needed or not",
    "early-loads": "loads of a branch that hangs on memory begin when it is known to be taken",
    "behind-loops": "what is needed behind a loop is kept in registers, though its products leave few",
    "late-reads": "kernels that spill are not tried with operands of products (mma.sync) read as late as may be",
    "few-registers": "kernels that spill are not tried as LLVM orders them for few registers, nor as ptxas does",
    "more-warps": "kernels have as many warps as asked for, though the sums of their products find no room",
    "flatten": "nested loops stay nested",
}


def is_on(op: Operation, name: str) -> bool:
    """Whether the module around `op` may use what `SWITCHES` calls `name`."""
    assert name in SWITCHES, name
    while (parent := op.parent_op) is not None:
        op = parent
    said = op.attributes.get(WITHOUT)
    return not (isinstance(said, StringAttr) and name in said.value.split(","))
