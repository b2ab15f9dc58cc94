"""The kernels of examples/ checked at every stage, right as they are and with a mistake planted in each.

    python -m tests.tools.check.tutorials [--target cpu|cuda:90|cuda ...] [--only NAME] [--planted | --lowered]

A row a kernel and target: how many steps ran and agree, and the seconds. With `--planted` a pass behind `canonicalize` in
`ttir` makes the first sum, difference, product or quotient of floats a maximum, and the row says whether the check named
that pass and operation. With `--lowered` sums, products, quotients and maxima of floats are lowered as other
operations, and the row says which one was named. The status is 1 where a row is not as it should be.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tritium
from tritium.compiler import default_target
from tritium.conversion.ttc_to_llvm.context import LOWERINGS as CPU
from tritium.conversion.ttg_to_llvm.context import LOWERINGS as GPU
from tritium.dialects import arith
from tritium.ir import FloatType, RuleTable, element_type, pass_on, rewrite_greedily, rule
from tritium.plugins import insert_pass, remove_pass
from tritium.runtime import TensorDescriptor
from tritium.tools.check.oracle import Report
from tritium.tools.check.report import render
from tritium.tools.request import parse_target
from tritium.tools.workloads import example

_WITHOUT = ("matmul by descriptors",)  # it has none of these
_BINARY = (arith.AddF, arith.SubF, arith.MulF, arith.DivF)


@pass_on("function")
def plant_a_mistake(function: Any) -> bool:
    """Make a maximum of the first sum, difference, product or quotient of floats."""
    made: list[Any] = []

    @rule(*_BINARY)
    def mistake(op: Any) -> Any:
        """x + y = max(x, y)"""
        if made or not isinstance(element_type(op.result.type), FloatType):
            return None
        made.append(arith.MaximumF(op.lhs, op.rhs))
        return made[0]

    return rewrite_greedily(function, RuleTable([mistake]))


def arrays(*shapes: Any, dtype: Any = np.float32) -> list[np.ndarray]:
    """Numbers of a normal distribution in arrays that begin at multiples of 128."""
    rng, made = np.random.default_rng(11), []
    for shape in shapes:
        values = rng.standard_normal(shape).astype(dtype)
        raw = np.empty(values.nbytes + 128, np.uint8)
        made.append(raw[-raw.ctypes.data % 128 :][: values.nbytes].view(dtype).reshape(shape))
        made[-1][...] = values
    return made


Case = tuple[str, Callable[[Any], Report]]


def cases() -> Iterator[Case]:
    """Name, and what checks it on a target."""

    def one(name: str, kernel: Any, grid: Any, *args: Any, **given: Any) -> Case:
        return name, lambda target: tritium.check(kernel, *args, grid=grid, target=target, **given)

    x, y, o = arrays(300, 300, 300)
    yield one("vector add", example("vector_add").add_kernel, (3,), x, y, o, 300, BLOCK_SIZE=128)
    a, b = arrays((10, 70), (10, 70))
    yield one(
        "softmax", example("fused_softmax").softmax_kernel, (4,), b, a, 70, 70, 10, 70, BLOCK_SIZE=128, num_stages=2
    )
    keep = (x > 0).astype(np.int32)
    dropout = example("low_memory_dropout")
    yield one("dropout", dropout._dropout, (3,), x, keep, o, 300, 0.5, BLOCK_SIZE=128)
    yield one("seeded dropout", dropout._seeded_dropout, (3,), x, o, 300, 0.5, 123, BLOCK_SIZE=128)
    w, c, mean, rstd = arrays(70, 70, 10, 10)
    norm = example("layer_norm")
    yield one("layer norm", norm._layer_norm_fwd_fused, (10,), a, b, w, c, mean, rstd, 70, 70, 1e-5, BLOCK_SIZE=128)
    yield from products(one)
    yield from attention(one)


def products(one: Any) -> Iterator[Case]:
    """Matrix products, by pointers and descriptors."""
    a, b, c = arrays((72, 64), (64, 80), (72, 80), dtype=np.float16)
    blocks = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2}
    sizes = (72, 80, 64, 64, 1, 80, 1, 80, 1)
    yield one("matmul", example("matmul").matmul_kernel, (4,), a, b, c, *sizes, ACTIVATION="leaky_relu", **blocks)
    maps = [
        TensorDescriptor(v, list(v.shape), [v.shape[1], 1], [64, 32]) for v in arrays((64, 64), (64, 64), dtype="f2")
    ]
    out = TensorDescriptor(arrays((64, 64), dtype="f2")[0], [64, 64], [64, 1], [64, 64])
    kernel = example("persistent_matmul").matmul_host_descriptors_kernel
    names = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    yield one("matmul by descriptors", kernel, (1, 1), *maps, out, 64, **names)


def attention(one: Any) -> Iterator[Case]:
    """Attention forward, with and without warps of their own, and backward."""
    module, n = example("attention"), 100
    q, k, v, out, d_out, d_k, d_v = arrays(*[(1, n, 32)] * 7, dtype=np.float16)
    logsum, delta = arrays((1, n), (1, n))
    blocks = {"HEAD_DIM": 32, "BLOCK_M": 64, "BLOCK_N": 32, "CAUSAL": True}
    for specialize in (False, True):
        name = "attention" + ", warp-specialized" * specialize
        yield one(
            name, module.attention_forward, (2, 1), q, k, v, out, logsum, n, 0.2, WARP_SPECIALIZE=specialize, **blocks
        )
    gradients = (q, k, v, d_out, logsum, delta, d_k, d_v, n, 0.2)
    yield one("attention, gradient of keys", module.attention_backward_keys, (4, 1), *gradients, **blocks)


_OTHERS = {arith.AddF: arith.SubF, arith.MulF: arith.AddF, arith.DivF: arith.MulF, arith.MaxNumF: arith.MinNumF}
_LOWERED = (*(cls.name for cls in _OTHERS), "arith.truncf", "tt.reduce")


def lower_wrongly() -> None:
    """Lower operations on floats as others, and narrow them with another sign."""
    for table in (CPU, GPU):
        right = {cls: table.find(cls) for cls in (*_OTHERS, *_OTHERS.values(), arith.TruncF)}
        for cls, other in _OTHERS.items():
            table[cls] = _as_another(other, right[other])
        table[arith.TruncF] = _with_another_sign(right[arith.TruncF])


def _as_another(cls: Any, right: Any) -> Any:
    def wrong(e: Any, op: Any) -> None:
        own = op.__class__
        op.__class__ = cls
        try:
            right(e, op)
        finally:
            op.__class__ = own

    return wrong


def _with_another_sign(right: Any) -> Any:
    def wrong(e: Any, op: Any) -> None:
        right(e, op)
        (ty, *_), parts = e.types_of(op.out.type), e.parts(op.out)
        e.bind_parts(op.out, [e.op(f"fneg {ty} {part}") for part in parts])

    return wrong


def row(name: str, run: Callable[[Any], Report], target: Any, planted: str) -> tuple[str, bool]:
    """What is told of one kernel and target, and whether it is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = run(target)
    ran = [v for v in report.verdicts if v.verdict in ("same", "within tolerance")]
    left = [v for v in report.verdicts if v.verdict == "not run"]
    told = f"{name:<30} {report.target:<8} {len(report.verdicts):>3} steps {report.seconds:6.1f} s  "
    found = report.finding
    if not planted:
        good = found is None
        return told + (f"{len(ran)} agree, {len(left)} not run" if good else render(report)), good
    if planted == "lowered":
        good = found is not None and found.suspect is not None
        good = good and any(f"{n} " in found.suspect.operation or f'"{n}"' in found.suspect.operation for n in _LOWERED)
        return told + (f"found: {found.suspect.operation[:60]}" if good else f"NOT FOUND: {render(report)}"), good
    good = found is not None and "plant-a-mistake" in found.step and found.suspect is not None
    good = good and "arith.maximumf" in found.suspect.operation and found.difference is not None
    return told + (f"found: {found.suspect.operation[:60]}" if good else f"NOT FOUND: {found}"), good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--planted", action="store_const", const="planted", default="")
    parser.add_argument("--lowered", action="store_const", const="lowered", dest="planted")
    chosen = parser.parse_args()
    good, seconds = True, []
    if chosen.planted == "lowered":
        lower_wrongly()
    elif chosen.planted:
        insert_pass(plant_a_mistake, "ttir", after="canonicalize")
    for text in chosen.target or ["cpu", "cuda:90"]:
        target = default_target() if text == "cpu" else text if text == "cuda" else parse_target(text)
        for name, run in cases():
            if chosen.only in name and not (chosen.planted == "planted" and name in _WITHOUT):
                told, fine = row(name, run, target, chosen.planted)
                print(told, flush=True)
                good &= fine
                seconds.append(float(told.split(" steps ")[1].split(" s ")[0]))
    if chosen.planted == "planted":
        remove_pass(plant_a_mistake)
    print(f"{len(seconds)} checks, the longest took {max(seconds):.1f} s", "" if good else "NOT ALL AS THEY SHOULD BE")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
