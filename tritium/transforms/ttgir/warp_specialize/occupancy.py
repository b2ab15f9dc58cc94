"""How many blocks of a specialized kernel run on a multiprocessor at once, and what follows for each.

Eight warps that multiply are two warp groups: one multiplies while the other waits, computes or stores. With four
there is one, and the tensor cores rest whenever it does something else; what fills the gap are other blocks on the
same multiprocessor. All must fit into its shared memory and its registers:

    2 blocks of 4 + 4 warps begin with 65536 / 512 = 128 registers a thread
    the producer's group keeps 40, the consumer's gets 2 * 128 - 40 = 216
    3 blocks begin with 80; the producer's group keeps 24, the consumer's gets 136

So for four warps the rings are no deeper than their part of the shared memory allows, and the kernel asks for no more
registers than that (`ttg.maxnreg`), if the tensors of its loops leave room in the consumer's. Three blocks must have
all stages that were asked for, two are content with two. A loop around the loop with the products is over tiles: such
kernels are launched with one block for a multiprocessor.

Measured on an H200, 4096^3 in f16 with tiles of 128 x 128, four warps (2026-11): 708 TFLOP/s not specialized, with two
blocks; 525 specialized with one block, 680 with two.

For eight warps, with four more that load, one block is all there is: 168 registers each, 40 and 232 once they are
given out anew.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....dialects import scf, ttng
from ....dialects.ttg_memory import element_bits
from ....ir import TensorType, Value
from ....support.namedtuples import NamedTuple
from .partition import Span

__all__ = ["Occupancy", "registers_of", "occupancies"]


class Occupancy(NamedTuple):
    """`blocks` on a multiprocessor, whose threads begin with `registers`, or with all there are; the producer's."""

    blocks: int
    registers: int | None
    producer: int

    @property
    def shared(self) -> int:
        """Bytes of shared memory for each block: of the 228 KiB, less 1 KiB that a block costs (CUDA guide, sm_90)."""
        return (SHARED - RESERVED * self.blocks) // self.blocks

    @property
    def consumer(self) -> int:
        """Registers of a thread of the one warp group that multiplies, beside one that loads."""
        return 2 * (self.registers or 0) - self.producer


SHARED, RESERVED = 233472, 1024

ONE_CTA = Occupancy(1, None, 40)
"""40 as CUTLASS's kernels with one producer and two consumers; a multiple of 8, 24 at least (PTX ISA, `setmaxnreg`)."""

SEVERAL_CTAS = (Occupancy(3, 80, 24), Occupancy(2, 128, 40))

NON_TENSOR_REGISTERS = 40
"""Registers beside tensors: addresses, counters, descriptors; products of 128 x 128 took 154 with 128 of a sum."""


WGMMA_OVERHEAD_REGISTERS = 36
"""Registers beside the sums of one `wgmma` that a block must begin with: ptxas refuses such an instruction with 64 sums
in 80 registers, and names 94 as the least (C7602, ptxas 13.0)."""


def occupancies(span: Span, warps: int) -> list[Occupancy]:
    """What would be good for a span, the best first: its loops' tensors have room in the registers."""
    loops = [op for op in span.ops if op.__class__ is scf.For]
    nested = any(op.__class__ is scf.For for loop in loops for op in loop.body)
    if warps != 4 or nested:
        return [ONE_CTA]
    held = NON_TENSOR_REGISTERS + max(_tensor_registers(loop, warps) for loop in loops)
    least = WGMMA_OVERHEAD_REGISTERS + max((_accumulator_registers(loop) for loop in loops), default=0)
    return [*(one for one in SEVERAL_CTAS if held <= one.consumer and least <= (one.registers or 0)), ONE_CTA]


def _accumulator_registers(loop: Any) -> int:
    """The most registers that one instruction of a loop's products adds to."""
    sums: list[Any] = [op.results[0].type for op in loop.body if op.__class__ is ttng.WarpGroupDot]
    return max((ty.encoding.instrShape[1] * element_bits(ty.element) // 64 for ty in sums), default=0)


def _tensor_registers(loop: Any, warps: int) -> int:
    """Registers of what a loop carries, and of its products' results and operands beside that."""
    carried = {v for v in loop.body.last.operands if isinstance(v.type, TensorType)}
    dots = [op for op in loop.body if op.__class__ is ttng.WarpGroupDot]
    beside = {v for dot in dots for v in (dot.results[0], dot.operands[0]) if isinstance(v.type, TensorType)}
    return sum(registers_of(v, warps) for v in carried | beside)


def registers_of(value: Value, warps: int) -> int:
    """Registers of each thread that a tensor takes, in a layout that repeats nothing."""
    ty: Any = value.type
    return prod(ty.shape) * element_bits(ty.element) // 32 // (32 * warps)
