"""How many blocks of a specialized kernel run on a multiprocessor at once, and what follows for each.

Eight warps that multiply are two warp groups: one multiplies while the other waits, computes or stores. With four
there is one, and the tensor cores rest whenever it does something else; what fills the gap is a second block on the
same multiprocessor. Both must fit: half of the shared memory, and half of the registers.

    4 + 4 warps begin with 65536 / 2 / 256 = 128 registers a thread
    the producer's group keeps 40; the consumer's gets 2 * 128 - 40 = 216

So for four warps the rings are no deeper than half of the shared memory allows (but have two slots at least), and the
kernel asks for no more than 128 registers a thread (`ttg.maxnreg`), if the tensors of its loops leave room in 216. A
loop around the loop with the products is over tiles: such kernels are launched with one block for a multiprocessor.

Measured on an H200, 4096^3 in f16 with tiles of 128 x 128, four warps (2026-11): 708 TFLOP/s not specialized, with two
blocks; 525 specialized with one block.

For eight warps, with four more that load, one block is all there is: 168 registers each, 40 and 232 once they are
given out anew.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....dialects import scf, ttng
from ....dialects.ttg_memory import element_bits
from ....ir import TensorType, Value
from .partition import Span

__all__ = ["ALL_SHARED", "HALF_REGISTERS", "HALF_SHARED", "PRODUCER_REGISTERS", "may_share", "registers_of"]

ALL_SHARED = 232448
"""Bytes of shared memory that a block may have on sm_90: 227 KiB (CUDA programming guide, compute capabilities)."""

HALF_SHARED = (233472 - 2 * 1024) // 2
"""Bytes for each of two blocks: of the 228 KiB of a multiprocessor, less 1 KiB that each block costs."""

HALF_REGISTERS = 128
"""Registers of each of 2 * 256 threads."""

PRODUCER_REGISTERS = 40
"""As CUTLASS's kernels with one producer and two consumers; a multiple of 8, 24 at least (PTX ISA, `setmaxnreg`)."""

ROOM = 40
"""Registers beside tensors: addresses, counters, descriptors; products of 128 x 128 took 154 with 128 of a sum."""


def may_share(span: Span, warps: int) -> bool:
    """Whether two blocks are wanted on a multiprocessor, and their loops' tensors have room in the registers."""
    loops = [op for op in span.ops if op.__class__ is scf.For]
    nested = any(op.__class__ is scf.For for loop in loops for op in loop.body)
    most = max(_held(loop, warps) for loop in loops)
    return warps == 4 and not nested and most + ROOM <= 2 * HALF_REGISTERS - PRODUCER_REGISTERS


def _held(loop: Any, warps: int) -> int:
    """Registers of what a loop carries, and of its products' results and operands beside that."""
    carried = {v for v in loop.body.last.operands if isinstance(v.type, TensorType)}
    dots = [op for op in loop.body if op.__class__ is ttng.WarpGroupDot]
    beside = {v for dot in dots for v in (dot.results[0], dot.operands[0]) if isinstance(v.type, TensorType)}
    return sum(registers_of(v, warps) for v in carried | beside)


def registers_of(value: Value, warps: int) -> int:
    """Registers of each thread that a tensor takes, in a layout that repeats nothing."""
    ty: Any = value.type
    return prod(ty.shape) * element_bits(ty.element) // 32 // (32 * warps)
