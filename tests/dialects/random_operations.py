"""Random operations whose operands and results have layouts that go together, or nearly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tritium.dialects.ttg_layouts import Blocked, DotOperand, Linear, NvidiaMma, Slice
from tritium.dialects.ttg_maps import linear_layout
from tritium.dialects.ttg_memory import (
    MemDescType,
    NvmmaShared,
    PaddedShared,
    SharedLinear,
    SharedMemorySpace,
    SwizzledShared,
)
from tritium.ir import TensorType, bf16, f16, f32, i8, i32
from tritium.layout.views import renamed_dims, reshaped, without_pairs

__all__ = ["MODULE", "random_operation"]

MODULE = """module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
tt.func @f({arguments}) {{
{line}
tt.return
}}
}}"""  # noqa: E501
SMEM = SharedMemorySpace()


class _Random:
    """One kind of operation a method: its operands' types and its text, in which operand i is `%ai`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def likely(self, often: float) -> bool:
        return self.rng.random() < often

    def spread(self, bits: int, rank: int) -> tuple[int, ...]:
        out = [1] * rank
        for _ in range(bits):
            out[self.rng.randrange(rank)] *= 2
        return tuple(out)

    def shape(self, rank: int, low: int = 1, high: int = 6) -> tuple[int, ...]:
        return tuple(1 << self.rng.randint(low, high) for _ in range(rank))

    def order(self, rank: int) -> tuple[int, ...]:
        return tuple(self.rng.sample(range(rank), rank))

    def rank(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def blocked(self, rank: int) -> Blocked:
        return Blocked(self.spread(self.rank(0, 3), rank), self.spread(5, rank), self.spread(2, rank), self.order(rank))

    def mma(self) -> NvidiaMma:
        return NvidiaMma(2, self.spread(2, 2), (16, 8))

    def layout(self, rank: int) -> Any:
        kind = self.rng.random()
        if rank == 2 and kind < 0.2:
            return self.mma()
        if rank == 2 and kind < 0.3:
            return DotOperand(self.rank(0, 1), self.mma(), 2)
        return Slice(self.rng.randrange(rank + 1), self.blocked(rank + 1)) if kind < 0.45 else self.blocked(rank)

    def linear(self, layout: Any) -> Linear:
        bases = layout.bases
        return Linear(*(tuple(bases[name]) for name in ("register", "lane", "warp", "block")))

    # -- tensors ------------------------------------------------------------------------------------------------------

    def trans(self) -> Any:
        rank = self.rank(2, 3)
        shape, order = self.shape(rank), self.order(rank)
        a = TensorType(shape, f16, self.layout(rank))
        follows = renamed_dims(linear_layout(a.encoding, shape), order)
        layout = self.linear(follows) if self.likely(0.5) else self.layout(rank)
        b = TensorType(tuple(shape[k] for k in order), f16, layout)
        return [a], f"%0 = tt.trans %a0 {{order = array<i32: {listed(order)}>}} : {a} -> {b}"

    def reshape(self) -> Any:
        shape = self.shape(self.rank(1, 3))
        bits = sum(n.bit_length() - 1 for n in shape)
        to = self.spread(bits, self.rank(1, 3))
        a = TensorType(shape, f16, self.blocked(len(shape)))
        follows = reshaped(linear_layout(a.encoding, shape), to)
        b = TensorType(to, f16, self.linear(follows) if self.likely(0.6) else self.blocked(len(to)))
        return [a], f"%0 = tt.reshape %a0 : {a} -> {b}"

    def pairs(self) -> Any:
        rank = self.rank(1, 2)
        shape = self.shape(rank)
        layout = self.layout(rank + 1)
        if self.likely(0.6):
            last = (rank, *self.order(rank))
            layout = Blocked((*self.spread(2, rank), 2), (*self.spread(5, rank), 1), (*self.spread(2, rank), 1), last)
        half = without_pairs(linear_layout(layout, (*shape, 2)), rank)
        part = self.linear(reshaped(half, shape)) if half is not None and self.likely(0.7) else self.layout(rank)
        whole, part = TensorType((*shape, 2), f16, layout), TensorType(shape, f16, part)
        if self.likely(0.5):
            return [whole], f"%0, %1 = tt.split %a0 : {whole} -> {part}"
        return [part, part], f"%0 = tt.join %a0, %a1 : {part} -> {whole}"

    def fp4_to_fp(self) -> Any:
        rank = self.rank(1, 2)
        shape, axis, layout = self.shape(rank, 2), self.rng.randrange(rank), self.layout(rank)
        whole = tuple(2 * n if d == axis else n for d, n in enumerate(shape))
        half = without_pairs(linear_layout(layout, whole), axis)
        part = self.linear(half) if half is not None and self.likely(0.7) else self.layout(rank)
        a, b = TensorType(shape, i8, part), TensorType(whole, f16, layout)
        return [a], f"%0 = ttg.fp4_to_fp %a0 {{axis = {axis} : i32}} : {a} -> {b}"

    def broadcast(self) -> Any:
        rank = self.rank(1, 3)
        shape, layout = self.shape(rank, 0, 4), self.layout(rank)
        a = TensorType(tuple(1 if self.likely(0.5) else n for n in shape), f16, layout)
        b = TensorType(shape, f16, layout if self.likely(0.6) else self.layout(rank))
        return [a], f"%0 = tt.broadcast %a0 : {a} -> {b}"

    def cat(self) -> Any:
        (n,), layout = self.shape(1, 2, 8), self.layout(1)
        a, b = TensorType((n,), f16, layout), TensorType((2 * n,), f16, layout if self.likely(0.5) else self.layout(1))
        return [a, a], f"%0 = tt.cat %a0, %a1 : {a} -> {b}"

    def expand_dims(self) -> Any:
        rank = self.rank(2, 3)
        shape, parent, dim = self.shape(rank - 1), self.layout(rank), self.rng.randrange(rank)
        axis = dim if self.likely(0.8) else self.rng.randrange(rank)
        a = TensorType(shape, f32, Slice(dim, parent))
        b = TensorType((*shape[:axis], 1, *shape[axis:]), f32, parent if self.likely(0.8) else self.layout(rank))
        return [a], f"%0 = tt.expand_dims %a0 {{axis = {axis} : i32}} : {a} -> {b}"

    def dot(self) -> Any:
        result = self.mma() if self.likely(0.5) else self.blocked(2)
        width = 2 if isinstance(result, NvidiaMma) else 0
        layouts = [DotOperand(i if self.likely(0.9) else 1 - i, result, width) for i in (0, 1)]
        element = self.rng.choice([f16, bf16, f32])
        a, b = TensorType((32, 16), element, layouts[0]), TensorType((16, 32), element, layouts[1])
        c = TensorType((32, 32), f32, result if self.likely(0.9) else self.blocked(2))
        precision = self.rng.choice([", inputPrecision = tf32", "", ", inputPrecision = tf32x3"])
        return [a, b, c], f"%0 = tt.dot %a0, %a1, %a2{precision} : {a} * {b} -> {c}"

    def shuffle(self) -> Any:
        shape = self.shape(self.rank(1, 2))
        layout = self.blocked(len(shape))
        near = layout.with_(threadsPerWarp=self.spread(5, len(shape))) if self.likely(0.5) else self.layout(len(shape))
        a, b = TensorType(shape, f16, layout), TensorType(shape, f16, near)
        return [a], f"%0 = ttg.convert_layout %a0 {{force_warp_shuffle}} : {a} -> {b}"

    # -- buffers ------------------------------------------------------------------------------------------------------

    def shared(self, rank: int) -> Any:
        if self.likely(0.6):
            return SwizzledShared(*self.shape(3, 0, 3), self.order(rank))
        # Without swizzling, what Triton makes of transposed buffers of more dimensions sends many offsets to 0.
        swizzle = self.rng.choice([0, 32, 64, 128])
        return NvmmaShared(swizzle, 16, self.likely(0.4) and (swizzle > 0 or rank == 2), False, rank)

    def memdesc_trans(self) -> Any:
        rank = self.rank(2, 3)
        shape, order, layout = self.shape(rank, 2, 7), self.order(rank), self.shared(rank)
        a = MemDescType(shape, f16, layout, SMEM)
        follows = renamed_dims(linear_layout(layout, shape), order)
        other = layout if self.likely(0.3) else SharedLinear(tuple(follows.bases["offset"]), (), layout.alignment)
        b = MemDescType(tuple(shape[k] for k in order), f16, other, SMEM)
        return [a], f"%0 = ttg.memdesc_trans %a0 {{order = array<i32: {listed(order)}>}} : {a} -> {b}"

    def memdesc_reshape(self) -> Any:
        shape = self.shape(self.rank(1, 3), 2, 6)
        layout = self.shared(len(shape))
        to = self.spread(sum(n.bit_length() - 1 for n in shape), self.rank(1, 3))
        follows = reshaped(linear_layout(layout, shape), to)
        other = SharedLinear(tuple(follows.bases["offset"]), (), layout.alignment)
        a = MemDescType(shape, f16, layout, SMEM)
        b = MemDescType(to, f16, other if self.likely(0.7) else self.shared(len(to)), SMEM)
        return [a], f"%0 = ttg.memdesc_reshape %a0 : {a} -> {b}"

    def memdesc_subslice(self) -> Any:
        rank = self.rank(1, 3)
        shape = self.shape(rank, 2, 7)
        layout = (
            PaddedShared.from_order((64,), (8,), self.order(rank), shape) if self.likely(0.2) else self.shared(rank)
        )
        part = tuple(max(1, n >> self.rank(0, 3)) for n in shape)
        offsets = [self.rng.choice([0, m, n - m]) if m < n else 0 for n, m in zip(shape, part)]
        offsets[0] += self.likely(0.1)
        a, b = MemDescType(shape, f16, layout, SMEM), MemDescType(part, f16, layout, SMEM, False, shape)
        return [a], f"%0 = ttg.memdesc_subslice %a0[{listed(offsets)}] : {a} -> {b}"

    def memdesc_index(self) -> Any:
        rank = self.rank(1, 2)
        shape, layout = self.shape(rank, 3, 6), self.shared(rank)
        a = MemDescType((self.rank(1, 3), *shape), f16, layout, SMEM)
        return [a, i32], f"%0 = ttg.memdesc_index %a0[%a1] : {a} -> {MemDescType(shape, f16, layout, SMEM)}"


def listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


_KINDS = (
    "trans reshape pairs fp4_to_fp broadcast cat expand_dims dot shuffle memdesc_trans memdesc_reshape memdesc_subslice"
    " memdesc_index"
).split()


def random_operation(rng: random.Random) -> str:
    """The text of a module with one such operation."""
    while True:
        try:
            types, line = getattr(_Random(rng), rng.choice(_KINDS))()
        except ValueError:  # no layout of this kind fits to the shape drawn
            continue
        arguments = ", ".join(f"%a{i}: {ty}" for i, ty in enumerate(types))
        return MODULE.format(arguments=arguments, line=line)
