"""Compiles kernels for several targets in an order of its own, and prints a hash of each stage: for test_determinism.py.

    python tests/stress/determined.py SEED [users]

The seed shuffles what is compiled. With `users` it also shuffles, in front of every pass, in which order each value knows
who uses it: an order that means nothing, and that no pass may show.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    os.environ["TRITIUM_CACHE_DISABLE"] = "1"  # what is found there was not compiled

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget
from tritium.ir.passes import run as runs
from tritium.tools.workloads import example


@tritium.jit
def several(x, o, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    order = tl.sort(v)
    tl.store(o + at, tl.cumsum(v, 0) + order * tl.max(v) + tl.exp(v) / (1 + tl.sum(v)), mask=at < n)


def wanted() -> list[tuple[ASTSource, GPUTarget, str]]:
    """Sources, targets, and the last stage."""
    softmax, matmul = example("fused_softmax").softmax_kernel, example("matmul").matmul_kernel
    names = ["output_ptr", "input_ptr", "input_row_stride", "output_row_stride", "n_rows", "n_cols"]
    types = dict(zip(names, ["*fp32", "*fp32", "i32", "i32", "i32", "i32"]))
    blocks = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 4, "ACTIVATION": "leaky_relu"}
    pointers = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16")
    product = {n: pointers.get(n, "i32") for n in matmul.arg_names if n not in blocks}
    sources = [
        ASTSource(several, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"B": 128}),
        ASTSource(softmax, types, {"BLOCK_SIZE": 256, "num_stages": 2}),
        ASTSource(matmul, product, blocks),
    ]
    targets = [(GPUTarget("cpu", "x86-64-v3", 1), "obj"), (GPUTarget("cuda", 90, 32), "ptx")]
    return [(source, *target) for source in sources for target in targets]


def shuffle_users(seed: int) -> list[int]:
    """Let every pass meet values whose users are in another order; how many were turned around is added up in a list."""
    rng, run_pass, turned = random.Random(seed), runs.call_pass, [0]

    def call_pass(p: Any, op: Any, run: Any) -> None:
        for each in op.walk():
            arguments = [a for region in each.regions for block in region.blocks for a in block.args]
            for value in (*each.results, *arguments):
                if len(value.users) > 1:
                    users = list(value.users.items())
                    rng.shuffle(users)
                    value.users.clear()
                    value.users.update(users)
                    turned[0] += 1
        run_pass(p, op, run)

    runs.call_pass = call_pass
    return turned


def main(seed: int, users: bool = False) -> None:
    work = wanted()
    turned = shuffle_users(seed) if users else [1]
    random.Random(seed).shuffle(work)
    lines = []
    for source, target, until in work:
        kernel = tritium.compile(source, target, until=until)
        lines.append(f"{source.name} {target.backend} key {kernel.hash}")
        for stage in kernel.asm:
            if stage != "asm":
                text = kernel.asm[stage]
                data = text if isinstance(text, bytes) else str(text).encode()
                lines.append(f"{source.name} {target.backend} {stage} {hashlib.sha256(data).hexdigest()[:16]}")
    print("\n".join(sorted(lines)))
    if not turned[0]:
        raise SystemExit("no value had two users")


if __name__ == "__main__":
    main(int(sys.argv[1]), "users" in sys.argv[2:])
