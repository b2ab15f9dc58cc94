"""The dot micro-kernel inside a blocked f32 matrix multiplication, one thread, against torch on one thread.

    python benchmarks/dot_matmul.py [--size 1024] [--all]

The driver is what the compiler makes of the tutorial kernel, written here as LLVM text: each program computes a
BM x BN tile of C; for each block of K it copies a tile of A and packs a tile of B into panels, then calls the
micro-kernel. Prints GFLOP/s, the ratio to torch, and the share of the FMA peak measured in the same run; figures are
medians of interleaved repeats.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from dataclasses import dataclass

import numpy as np

from tritium.backends.cpu import compile_llvm, load_kernel, named_target
from tritium.conversion.llvm.abi import pack_arguments
from tritium.conversion.llvm.dot import DotPlan, plan_dot
from tritium.conversion.llvm.emitter import Emitter


@dataclass(frozen=True)
class Blocks:
    bm: int
    bn: int
    bk: int
    tile: tuple[int, int] | None = None
    prefetch: bool = False
    in_place: bool = False  # the micro-kernel reads A where it is


def loop(e: Emitter, end: str, step: int, body) -> None:
    """`for i in range(0, end, step): body(i)`, at least one turn."""
    name, out, before = e.fresh_label("for"), e.fresh_label("end"), e.block
    e.stmt(f"br label %{name}")
    e.label(name)
    at = len(e.lines)
    i = e.op(f"phi i64 [ 0, %{before} ]")
    body(i)
    following = e.op(f"add nuw nsw i64 {i}, {step}")
    more = e.op(f"icmp slt i64 {following}, {end}")
    e.lines[at] += f", [ {following}, %{e.block} ]"
    e.stmt(f"br i1 {more}, label %{name}, label %{out}")
    e.label(out)


def element(e: Emitter, pointer: str, index: str) -> str:
    return e.op(f"getelementptr float, ptr {pointer}, i64 {index}")


def copy_row(e: Emitter, target: str, source: str, count: int, lanes: int, ahead: str = "") -> None:
    """Copy `count` floats; where `ahead` names the row copied next time, ask for it to be in L2."""
    for at in range(0, count, 16):
        if ahead:
            e.stmt(f"call void @llvm.prefetch.p0(ptr {element(e, ahead, str(at))}, i32 0, i32 2, i32 1)")
    for at in range(0, count, lanes):
        v = e.op(f"load <{lanes} x float>, ptr {element(e, source, str(at))}, align 4")
        e.stmt(f"store <{lanes} x float> {v}, ptr {element(e, target, str(at))}, align 4")


def matmul_text(n: int, blocks: Blocks, plan: DotPlan) -> str:
    """C = A @ B for n x n row-major f32; arguments A, B, C; one program per tile of C."""
    e = Emitter()
    e.label("entry")
    a, b, c = (e.op(f"load ptr, ptr {e.op(f'getelementptr ptr, ptr %args, i64 {i}')}") for i in range(3))
    buffers = [
        e.op(f"alloca [{size} x float], align 64") for size in (plan.acc_elements, plan.a_elements, plan.b_elements)
    ]
    acc, packed_a, packed_b = buffers
    lanes, columns = min(plan.lanes, 16), n // blocks.bn

    def program(i: str) -> None:
        pid = e.op(f"add i64 %begin, {i}")
        row = e.op(f"mul i64 {e.op(f'udiv i64 {pid}, {columns}')}, {blocks.bm}")
        column = e.op(f"mul i64 {e.op(f'urem i64 {pid}, {columns}')}, {blocks.bn}")
        e.stmt(f"call void @llvm.memset.p0.i64(ptr align 64 {acc}, i8 0, i64 {4 * plan.acc_elements}, i1 false)")
        a_row = element(e, a, e.op(f"mul i64 {row}, {n}"))
        b_column = element(e, b, column)

        def k_block(k: str) -> None:
            a_tile = element(e, a_row, k)
            b_tile = element(e, b_column, e.op(f"mul i64 {k}, {n}"))

            def copy_a(m: str) -> None:
                source = element(e, a_tile, e.op(f"mul i64 {m}, {n}"))
                ahead = element(e, source, str(blocks.bk)) if blocks.prefetch else ""
                target = element(e, packed_a, e.op(f"mul i64 {m}, {blocks.bk}"))
                copy_row(e, target, source, blocks.bk, lanes, ahead)

            def pack_b(r: str) -> None:
                source = element(e, b_tile, e.op(f"mul i64 {r}, {n}"))
                ahead = element(e, source, str(blocks.bk * n)) if blocks.prefetch else ""
                for first in range(0, blocks.bn, plan.nr):
                    width = min(plan.nr, blocks.bn - first)
                    within = e.op(f"mul i64 {r}, {width}")
                    target = element(e, packed_b, e.op(f"add i64 {within}, {plan.b_offset(0, first)}"))
                    next_row = element(e, ahead, str(first)) if ahead else ""
                    copy_row(e, target, element(e, source, str(first)), width, lanes, next_row)

            if not blocks.in_place:
                loop(e, str(blocks.bm), 1, copy_a)
            loop(e, str(blocks.bk), 1, pack_b)
            rows = (a_tile, packed_b, str(4 * n)) if blocks.in_place else (packed_a, packed_b)
            e.stmt(plan.call(acc, *rows))

        loop(e, str(n), blocks.bk, k_block)
        c_tile = element(e, c, e.op(f"add i64 {e.op(f'mul i64 {row}, {n}')}, {column}"))
        loop(
            e,
            str(blocks.bm),
            1,
            lambda m: copy_row(
                e,
                element(e, c_tile, e.op(f"mul i64 {m}, {n}")),
                element(e, acc, e.op(f"mul i64 {m}, {blocks.bn}")),
                blocks.bn,
                lanes,
            ),
        )

    loop(e, e.op("sub i64 %end, %begin"), 1, program)
    e.stmt("ret void")
    declares = "\n".join(sorted(plan.declares)) + "\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
    declares += "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
    head = "define void @kernel(ptr noalias %args, ptr noalias %ctx, i64 %begin, i64 %end) nounwind {"
    return f"{declares}{plan.function_text}{head}\n{e.text()}\n}}\n"


def peak_text(lanes: int, chains: int) -> str:
    """Independent FMAs and nothing else: `end` turns of `chains`."""
    v = f"<{lanes} x float>"
    e = Emitter()
    e.label("entry")
    x = e.op(f"load {v}, ptr %args, align 4")
    e.stmt("br label %loop")
    e.label("loop")
    i = e.op("phi i64 [ 0, %entry ], [ %next, %loop ]")
    sums = [f"%s{j}" for j in range(chains)]
    for j, s in enumerate(sums):
        e.lines.append(f"  {s} = phi {v} [ {x}, %entry ], [ %n{j}, %loop ]")
    for j, s in enumerate(sums):
        e.lines.append(f"  %n{j} = call {v} @llvm.fma.v{lanes}f32({v} {x}, {v} {x}, {v} {s})")
    e.lines.append(f"  %next = add i64 {i}, 1")
    more = e.op("icmp slt i64 %next, %end")
    e.stmt(f"br i1 {more}, label %loop, label %out")
    e.label("out")
    for j in range(chains):
        e.stmt(f"store volatile {v} %n{j}, ptr %args, align 4")
    e.stmt("ret void")
    declare = f"declare {v} @llvm.fma.v{lanes}f32({v}, {v}, {v})"
    return f"{declare}\ndefine void @kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end) nounwind {{\n{e.text()}\n}}\n"


def address(buffer: bytearray) -> int:
    return ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--all", action="store_true", help="compare block sizes and register tiles")
    parser.add_argument("--small", action="store_true", help="compare register tiles in small blocks")
    parser.add_argument("--target", default="host", help="a target this machine can run, such as x86-64-v3")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    target, n = named_target(options.target), options.size
    a, b = (np.random.default_rng(i).standard_normal((n, n), dtype=np.float32) for i in range(2))
    expected, c = a.astype(np.float64) @ b, np.zeros((n, n), np.float32)
    args = pack_arguments(a.ctypes.data, b.ctypes.data, c.ctypes.data)
    shapes = [(128, 128, 64), (128, 256, 64), (64, 256, 64), (128, 256, 128), (64, 64, 64), (64, 64, 32), (128, 64, 32)]
    choices = [Blocks(*shape, prefetch=ahead) for shape in shapes for ahead in (False, True)]
    choices += [Blocks(*shape, prefetch=ahead, in_place=True) for shape in shapes for ahead in (False, True)]
    if options.small:
        tiles = [(12, 32), (14, 32), (8, 32), (6, 64), (16, 16), (8, 48), (4, 64), (10, 32), (13, 32)]
        choices = [Blocks(m, w, k, t) for m, w, k in ((64, 64, 32), (32, 64, 32), (128, 64, 32)) for t in tiles]
    if options.all:
        tiles = [(12, 32), (14, 32), (8, 48), (8, 32), (6, 64), (16, 16), (28, 16), (9, 48)]
        choices += [Blocks(128, 256, 128, t) for t in tiles] + [Blocks(128, 128, 64, t) for t in tiles]
        choices += [Blocks(m, w, k) for m in (64, 128, 256) for w in (64, 128, 256) for k in (32, 64, 128, 256)]
    runs = {}
    for blocks in dict.fromkeys(choices):
        shape = (blocks.bm, blocks.bn, blocks.bk)
        plan = plan_dot(target, *shape, "f32", "f32", "f32", tile=blocks.tile, a_in_place=blocks.in_place)
        kernel = load_kernel(compile_llvm(matmul_text(n, blocks, plan), target), "kernel")
        programs = (n // blocks.bm) * (n // blocks.bn)
        c[:] = 0
        kernel.launch(address(args), programs, 1, 1, 1)
        assert np.abs(c - expected).max() < 1e-3
        label = f"{blocks.bm}x{blocks.bn}x{blocks.bk} tile {plan.mr}x{plan.nr}{' +prefetch' * blocks.prefetch}"
        label += " A in place" * blocks.in_place
        runs[label] = lambda kernel=kernel, programs=programs: kernel.launch(address(args), programs, 1, 1, 1)
    ta, tb = torch.from_numpy(a), torch.from_numpy(b)
    tc = torch.empty_like(ta)
    runs["numpy"] = lambda: np.matmul(a, b, out=c)
    runs["torch"] = lambda: torch.mm(ta, tb, out=tc)
    turns, chains = 2_000_000, target.vector_registers - 4
    peak_kernel = load_kernel(compile_llvm(peak_text(target.lanes(32), chains), target), "kernel")
    scratch = bytearray(256)
    runs["FMA peak"] = lambda: peak_kernel.launch(address(scratch), turns, 1, 1, 1)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    flops = dict.fromkeys(runs, 2.0 * n**3) | {"FMA peak": turns * chains * 2.0 * target.lanes(32)}
    rate = {name: flops[name] / statistics.median(t) / 1e9 for name, t in times.items()}
    best = {name: flops[name] / min(t) / 1e9 for name, t in times.items()}
    print(f"{n}^3 f32, one thread, {target.cpu}")
    print(f"{'':<34}{'GFLOP/s':>9}{'best':>8}{'/ torch':>9}{'/ peak':>8}")
    for name in sorted(rate, key=rate.get, reverse=True):
        ratio = statistics.median(x / y for x, y in zip(times["torch"], times[name], strict=True))
        shown = "" if name == "FMA peak" else f"{ratio:9.2f}"
        print(f"{name:<34}{rate[name]:9.1f}{best[name]:8.1f}{shown:>9}{rate[name] / rate['FMA peak']:8.2f}")


if __name__ == "__main__":
    main()
