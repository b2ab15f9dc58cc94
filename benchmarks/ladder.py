"""What each means of speed brings: the same kernels without it, one after the other (`dialects.ttg_switches`).

    python benchmarks/ladder.py [--rounds 15] [--compile-only]

Two kernels: a persistent product of 8192 with descriptors and specialized warps (bf16, tiles of 128x256x64, 8 warps),
and attention (4 x 32 heads, 4096 keys, d128, tiles of 128x128). Times as in `tensor_cores.py`; beside them what the PTX
has of the instructions in question. With `--compile-only` no GPU is needed, and the SASS is counted instead.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

PRODUCT = ("", "register-reallocation", "warp-specialization", "tma-store-in-flight", "stmatrix",
           "accumulator-init", "wgmma-in-flight,warp-specialization", "tma", "tma,async-copies", "wgmma")  # fmt: skip
ATTENTION = ("", "host-maps", "late-sums", "ping-pong", "intra-warpgroup-overlap", "register-reallocation",
             "warp-specialization", "first-dot-early,warp-specialization", "wgmma-in-flight,warp-specialization",
             "tma", "wgmma")  # fmt: skip

#: what is counted -> how it is spelt in PTX, and in the machine code of sm_90
COUNTED = {
    "wgmma": (r"wgmma\.mma_async", r"\b[HQI]GMMA\."),
    "mma": (r"\bmma\.sync", r"\b[HQI]MMA\."),
    "TMA loads": (r"bulk\.tensor\.\dd\.shared", r"\bUTMALDG"),
    "TMA stores": (r"bulk\.tensor\.\dd\.global", r"\bUTMASTG"),
    "cp.async": (r"cp\.async\.c[ag]", r"\bLDGSTS"),
    "stmatrix": (r"\bstmatrix", r"\bSTSM"),
    "setmaxnreg": (r"\bsetmaxnreg", r"\bUSETMAXREG"),
    "waits of wgmma": (r"wgmma\.wait_group", r"WARPGROUP\.DEPBAR"),
}


def counts(kernel: Any, sass: bool) -> str:
    """How often each instruction stands in the kernel."""
    text = kernel.asm["sass"] if sass else kernel.asm["ptx"]
    found = {name: len(re.findall(spelt[sass], text)) for name, spelt in COUNTED.items()}
    return ", ".join(f"{n} {name}" for name, n in found.items() if n)


def rows(
    title: str, flops: float, without: tuple[str, ...], compiled: Callable[[str], Any], launched: Any, rounds: int
) -> None:
    """One table: a line each for the whole and for what is left without one means or two."""
    print(f"\n### {title}\n\n| without | TFLOP/s | of the whole | registers | instructions |\n|---|---:|---:|---:|---|")
    whole = 0.0
    for off in without:
        try:
            kernel = compiled(off)
            speed = flops / launched(off, rounds) / 1e9 if launched else 0.0
        except Exception as error:
            print(f"| {off} | {type(error).__name__}: {str(error).splitlines()[0][:120]} | | | |", flush=True)
            continue
        whole = whole or speed
        registers = f"{kernel.metadata.n_regs}+{kernel.metadata.n_spills}".removesuffix("+0")
        share = f"{speed / whole:.3f}" if whole else ""
        print(
            f"| {off or '(nothing)'} | {speed:.0f} | {share} | {registers} | {counts(kernel, not launched)} |",
            flush=True,
        )


def compile_only() -> None:
    """The machine code of each, made without a GPU."""
    from examples import attention, persistent_matmul
    from tritium.compiler import ASTSource, GPUTarget, compile

    def source(fn: Any, types: str, constants: dict[str, Any]) -> Any:
        names = [n for n in fn.arg_names if n not in constants]
        signature = {n: t.removesuffix(":16") for n, t in zip(names, types.split())}
        known = [n for n, t in zip(names, types.split()) if t.endswith(":16")]
        attrs = {(fn.arg_names.index(n),): [["tt.divisibility", 16]] for n in known}
        ordered = {n: signature.get(n, "constexpr") for n in fn.arg_names}
        return ASTSource(fn, ordered, constants, attrs)

    blocks = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8, "PROGRAMS": 132, "HALVES": True}
    product = source(persistent_matmul.matmul_descriptors_kernel, "*bf16:16 *bf16:16 *bf16:16 i32:16 i32:16 i32:16",
                     {**blocks, "WARP_SPECIALIZE": True})  # fmt: skip
    tiles = {"HEAD_DIM": 128, "BLOCK_M": 128, "BLOCK_N": 128, "CAUSAL": False, "WARP_SPECIALIZE": True}
    scores = source(attention.attention_forward, "*fp16:16 *fp16:16 *fp16:16 *fp16:16 *fp32:16 i32:16 fp32", tiles)
    target = GPUTarget("cuda", 90, 32)
    for title, src, without, stages in (
        ("product", product, PRODUCT, 3),
        ("attention", scores, ATTENTION, 2),
    ):
        rows(
            title, 0.0, without,
            lambda off, src=src, stages=stages: compile(
                src, target=target, options={"num_warps": 8, "num_stages": stages, "without": off}
            ),
            None, 0,
        )  # fmt: skip


def measured(rounds: int) -> None:
    """Both tables, with times."""
    import torch
    from gpu import medians
    from tensor_cores import BATCH, HEADS, ROWS, cdiv, near, poisoned, rand

    import tritium
    from examples.attention import attention_forward
    from examples.persistent_matmul import matmul_descriptors_kernel

    tritium.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    cache = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    n, bf16 = 8192, torch.bfloat16
    a, b, c = rand(n, n, dtype=bf16), rand(n, n, dtype=bf16), poisoned(n, n, dtype=bf16)

    def product(off: str) -> Any:
        return matmul_descriptors_kernel[(132,)](
            a, b, c, n, n, n, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, PROGRAMS=132, HALVES=True,
            WARP_SPECIALIZE=True, num_warps=8, num_stages=3, without=off,
        )  # fmt: skip

    def checked(launch: Callable[[str], Any], check: Callable[[], None]) -> Callable[[str], Any]:
        def run(off: str) -> Any:
            kernel = launch(off)
            torch.cuda.synchronize()
            check()
            return kernel

        return run

    def timed(launch: Callable[[str], Any]) -> Callable[[str, int], float]:
        return lambda off, rounds: medians({"it": lambda: launch(off)}, cache, rounds)["it"]

    def right() -> None:
        near(c[:256], a[:256].float() @ b.float().T, 1e-2)

    rows("product", 2.0 * n**3, PRODUCT, checked(product, right), timed(product), rounds)
    depth = 128
    q, k, v = (rand(BATCH, HEADS, ROWS, depth, dtype=torch.float16) for _ in range(3))
    out, logsum = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda")

    def scores(off: str) -> Any:
        return attention_forward[(cdiv(ROWS, 128), BATCH * HEADS)](
            q, k, v, out, logsum, ROWS, depth**-0.5, HEAD_DIM=depth, BLOCK_M=128, BLOCK_N=128, CAUSAL=False,
            WARP_SPECIALIZE=True, num_warps=8, num_stages=2, without=off,
        )  # fmt: skip

    def seen() -> None:
        near(out, torch.nn.functional.scaled_dot_product_attention(q, k, v), 4e-3)

    flops = 4.0 * BATCH * HEADS * ROWS * ROWS * depth
    rows("attention", flops, ATTENTION, checked(scores, seen), timed(scores), rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--compile-only", action="store_true")
    chosen = parser.parse_args()
    if chosen.compile_only:
        compile_only()
    else:
        measured(chosen.rounds)


if __name__ == "__main__":
    main()
