"""Occupancy of warp-specialized kernels: CTAs per SM, and the registers and shared memory of each.

Eight consumer warps are two warp groups: one computes MMAs while the other waits, post-processes or stores. With four
warps there is one group, and the tensor cores idle whenever it does anything else; other CTAs on the same SM fill the
gap. All CTAs must fit into its shared memory and its registers:

    2 CTAs of 4 + 4 warps start with 65536 / 512 = 128 registers per thread
    the producer's warp group keeps 40, the consumer's gets 2 * 128 - 40 = 216
    3 CTAs start with 80; the producer's warp group keeps 24, the consumer's gets 136

So for four warps the depth of rings is limited by a CTA's share of the shared memory, and the kernel requests no more
registers than that (`ttg.maxnreg`), if the tensors of its loops fit into the consumer's. Three CTAs must have all
stages requested, two CTAs accept two stages. A nested loop is over the tiles of a persistent kernel, which is launched
with one CTA per SM.

Measured on an H200, 4096^3 in f16 with tiles of 128 x 128, four warps (2026-11): 708 TFLOP/s unspecialized with two
CTAs; specialized 525 with one CTA, 680 with two.

With eight consumer warps and a producer warp group, only one CTA fits: 168 registers per thread, and 40 and 232 after
reallocation.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ....dialects import ttng
from ....dialects.ttg_memory import element_bits
from ....hardware.nvidia import nvidia_gpu
from ....ir import CountedLoop, TensorType, Value
from .partition import Span

__all__ = ["Occupancy", "registers_of", "occupancies"]


class Occupancy(NamedTuple):
    """`blocks` CTAs per SM, whose threads start with `registers` (None: the maximum), and those of the producer."""

    blocks: int
    registers: int | None
    producer: int

    @property
    def shared(self) -> int:
        """Bytes of shared memory per CTA, less those that the system reserves."""
        return _HOPPER.shared_memory // self.blocks - _HOPPER.reserved_shared_memory

    @property
    def consumer(self) -> int:
        """Registers per thread of the one consumer warp group, beside one producer warp group."""
        return 2 * (self.registers or 0) - self.producer


_HOPPER = nvidia_gpu(90)  # the GPUs whose kernels are specialized

ONE_CTA = Occupancy(1, None, 40)
"""40 as in CUTLASS kernels with one producer, two consumers; a multiple of 8, at least 24 (PTX ISA, `setmaxnreg`)."""

SEVERAL_CTAS = (Occupancy(3, 80, 24), Occupancy(2, 128, 40))

NON_TENSOR_REGISTERS = 40
"""Registers for addresses, counters, descriptors; a 128 x 128 tile took 154, 128 of them for the accumulator."""


WGMMA_OVERHEAD_REGISTERS = 36
"""Registers beside the accumulator of one `wgmma` that a CTA must start with: ptxas refuses 64 accumulator registers
out of 80, and names 94 as the minimum (C7602, ptxas 13.0)."""


def occupancies(span: Span, warps: int) -> list[Occupancy]:
    """Possible occupancies of a span, best first, in which the tensors of its loops fit into registers."""
    loops = [op for op in span.ops if isinstance(op, CountedLoop)]
    nested = any(isinstance(op, CountedLoop) for loop in loops for op in loop.body)
    if warps != 4 or nested:
        return [ONE_CTA]
    held = NON_TENSOR_REGISTERS + max(_tensor_registers(loop, warps) for loop in loops)
    least = WGMMA_OVERHEAD_REGISTERS + max((_accumulator_registers(loop) for loop in loops), default=0)
    return [*(one for one in SEVERAL_CTAS if held <= one.consumer and least <= (one.registers or 0)), ONE_CTA]


def _accumulator_registers(loop: CountedLoop) -> int:
    """The maximum number of accumulator registers of one instruction in a loop."""
    sums: list[Any] = [op.results[0].type for op in loop.body if op.__class__ is ttng.WarpGroupDot]
    return max((ty.encoding.instrShape[1] * element_bits(ty.element) // 64 for ty in sums), default=0)


def _tensor_registers(loop: CountedLoop, warps: int) -> int:
    """Registers of loop-carried tensors, and of results and operands of dots beside those."""
    carried = {v for v in loop.yielded if isinstance(v.type, TensorType)}
    dots = [op for op in loop.body if op.__class__ is ttng.WarpGroupDot]
    live = {v for dot in dots for v in (dot.results[0], dot.operands[0]) if isinstance(v.type, TensorType)}
    return sum(registers_of(v, warps) for v in carried | live)


def registers_of(value: Value, warps: int) -> int:
    """Registers per thread of a tensor in a layout without copies."""
    ty: Any = value.type
    return prod(ty.shape) * element_bits(ty.element) // 32 // (32 * warps)
