"""The tutorial kernels compile for machines this is not: every stage is made, and the assembly calls no library.

A call to `expf` and its like would mean that LLVM took a vector apart into single elements.
"""

from __future__ import annotations

import re

import pytest

from tests.e2e.cpu.test_tutorials import dropout, fused_softmax, layer_norm, matmul, vector_add
from tritium import ASTSource, compile
from tritium.backends.cpu.target import named_target

P = "*fp32"
KERNELS = {
    "vector add": (vector_add.add_kernel, [P, P, P, "i32"], {"BLOCK_SIZE": 1024}),
    "softmax": (
        fused_softmax.softmax_kernel,
        [P, P, "i32", "i32", "i32", "i32"],
        {"BLOCK_SIZE": 1024, "num_stages": 2},
    ),
    "matmul": (matmul.matmul_kernel, [P, P, P] + ["i32"] * 9, {**matmul.BLOCKS, "ACTIVATION": "leaky_relu"}),
    "dropout": (dropout._seeded_dropout, [P, P, "i32", "fp32", "i32"], {"BLOCK_SIZE": 1024}),
    "layer norm": (layer_norm._layer_norm_fwd_fused, [P] * 6 + ["i32", "i32", "fp32"], {"BLOCK_SIZE": 512}),
}
#: Calls that may stand in the assembly: memory functions of every C library, and what the runtime provides.
ALLOWED = re.compile(r"^(mem(cpy|set|move)|tritium_\w+|tt\.\S+)$")


def calls(asm: str, name: str) -> set[str]:
    """The symbols an x86-64 or AArch64 assembly calls, other than its own."""
    found = re.findall(r"^\s+(?:callq?|jmp|bl|b)\s+([A-Za-z_][\w.$]*)(?:@PLT)?\s*$", asm, re.M)
    own = set(re.findall(r"^([\w.$]+):", asm, re.M)) | {name}
    return {symbol for symbol in found if symbol not in own and not ALLOWED.match(symbol)}


@pytest.mark.parametrize("target", ["aarch64", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_compiles_for(target: str, kernel: str) -> None:
    fn, types, constants = KERNELS[kernel]
    runtime_names = [n for n in fn.arg_names if n not in constants]
    assert len(runtime_names) == len(types)
    signature = {n: dict(zip(runtime_names, types)).get(n, "constexpr") for n in fn.arg_names}
    compiled = compile(ASTSource(fn, signature, constants), target=named_target(target))
    assert list(compiled.asm) == ["source", "ttir", "ttcir", "llir", "asm", "obj"]
    asm = compiled.asm["asm"]
    assert isinstance(compiled.asm["obj"], bytes)
    assert compiled.asm["obj"].startswith(b"\x7fELF")
    assert calls(asm, compiled.name) == set()
    width = {"aarch64": r"\bv\d+\.4s|\bq\d+", "x86-64-v3": r"%ymm\d+", "x86-64-v4": r"%zmm\d+"}[target]
    assert re.search(width, asm), "no instruction uses the target's vectors"


def test_calls_are_found() -> None:
    """The instrument itself: a call to libm is seen, jumps to labels and own functions are not."""
    asm = "kernel:\n.LBB0_1:\n\tcallq\texpf@PLT\n\tjmp\t.LBB0_1\n\tbl\tsinf\n\tcallq\tmemcpy@PLT\n\tcallq\tkernel\n"
    assert calls(asm, "kernel") == {"expf", "sinf"}
