"""The dot micro-kernel alone, on packed tiles in cache, by element type: billions of operations a second, one thread.

python benchmarks/dot_kernels.py [--target NAME] [--shape 128,128,64]
"""

from __future__ import annotations

import argparse
import ctypes
import time

import numpy as np

from tritium.backends.cpu import compile_llvm, load_object, named_target
from tritium.conversion.llvm.dot import plan_dot

TYPES = ("f32 f32 f32", "f64 f64 f64", "bf16 bf16 f32", "i8 i8 i32", "i32 i32 i32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="host", help="a target this machine can run, such as x86-64-v3")
    parser.add_argument("--shape", default="128,128,64", help="M,N,K of the tile")
    options = parser.parse_args()
    target = named_target(options.target)
    m, n, k = map(int, options.shape.split(","))
    print(f"{m}x{n}x{k}, {target.cpu}\n{'types':<22}{'instruction':<12}{'tile':>8}{'Gop/s':>9}{'compile ms':>12}")
    for types in TYPES:
        for pairs in (False, True) if "bf16" in types else (False,):
            plan = plan_dot(target, m, n, k, *types.split(), allow_bf16_pairs=pairs)
            text = (
                "\n".join(sorted(plan.declares))
                + f"\n{plan.function_text}define void @run(ptr %acc, ptr %a, ptr %b) {{"
            )
            start = time.perf_counter()
            module = compile_llvm(f"{text}\n  {plan.call('%acc', '%a', '%b')}\n  ret void\n}}\n", target)
            compile_ms = (time.perf_counter() - start) * 1e3
            loaded = load_object(module.object)
            run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(loaded.address("run"))
            buffers = [np.zeros(8 * size + 64, np.uint8) for size in (m * n, m * plan.k_padded, n * plan.k_padded)]
            addresses = [b.ctypes.data + -b.ctypes.data % 64 for b in buffers]
            best = float("inf")
            for _ in range(200):
                start = time.perf_counter()
                for _ in range(5):
                    run(*addresses)
                best = min(best, (time.perf_counter() - start) / 5)
            row = f"{types:<22}{plan.step.instruction:<12}{f'{plan.mr}x{plan.nr}':>8}"
            print(f"{row}{2e-9 * m * n * k / best:9.0f}{compile_ms:12.1f}")


if __name__ == "__main__":
    main()
