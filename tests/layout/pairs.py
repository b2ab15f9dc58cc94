"""Random pairs of layouts of one tensor, as attributes: what a conversion may be asked to do."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from tritium.dialects.ttg_layouts import Blocked, DotOperand, Linear, NvidiaMma, Slice
from tritium.dialects.ttg_maps import linear_layout
from tritium.dialects.ttg_memory import NvmmaShared, PaddedShared, SharedLinear, SwizzledShared
from tritium.layout import LinearLayout

__all__ = ["Machine", "Pair", "permuted", "random_pair", "random_shared"]


class Machine(NamedTuple):
    warps: int
    ctas: int
    bits: int


class Pair(NamedTuple):
    shape: tuple[int, ...]
    source: Any
    target: Any
    machine: Machine

    def layouts(self) -> tuple[LinearLayout, LinearLayout]:
        return linear_layout(self.source, self.shape), linear_layout(self.target, self.shape)


def power(rng: random.Random, low: int, high: int) -> int:
    return 1 << rng.randint(low, high)


def spread(rng: random.Random, number: int, rank: int) -> tuple[int, ...]:
    """`number` as a product of `rank` factors."""
    out = [1] * rank
    for _ in range(number.bit_length() - 1):
        out[rng.randrange(rank)] *= 2
    return tuple(out)


def cluster(rng: random.Random, machine: Machine, rank: int) -> tuple[tuple[int, ...], ...]:
    """The parts of the blocks of a cluster: along some dimension, or copies."""
    if machine.ctas == 1:
        return ()
    d = rng.randrange(rank + 1)
    return (tuple(int(i == d) for i in range(rank)),)


def _blocked(rng: random.Random, machine: Machine, rank: int) -> Blocked:
    sizes = spread(rng, power(rng, 0, 4), rank), spread(rng, 32, rank), spread(rng, machine.warps, rank)
    return Blocked(*sizes, tuple(rng.sample(range(rank), rank)), cluster(rng, machine, rank))


def _slice(rng: random.Random, machine: Machine, rank: int) -> Slice:
    return Slice(rng.randrange(rank + 1), _blocked(rng, machine, rank + 1))


def _mma(rng: random.Random, machine: Machine, rank: int) -> Any:
    if rank != 2:
        return _blocked(rng, machine, rank)
    warps, blocks = spread(rng, machine.warps, 2), cluster(rng, machine, 2)
    return NvidiaMma(versionMajor=2, warpsPerCTA=warps, CGALayout=blocks, instrShape=(16, 8))


def _wgmma(rng: random.Random, machine: Machine, rank: int) -> Any:
    """What Hopper's products are left in: groups of four warps, one below the other."""
    if rank != 2 or machine.warps < 4:
        return _mma(rng, machine, rank)
    shape = (16, power(rng, 3, 6), 16)
    warps, blocks = (machine.warps, 1), cluster(rng, machine, 2)
    return NvidiaMma(versionMajor=3, warpsPerCTA=warps, CGALayout=blocks, instrShape=shape)


def _operand(rng: random.Random, machine: Machine, rank: int) -> Any:
    parent = _mma(rng, machine, rank)
    if rank != 2:
        return parent
    return DotOperand(rng.randrange(2), parent, max(1, 32 // machine.bits) if machine.bits < 64 else 1)


def _fma_operand(rng: random.Random, machine: Machine, rank: int) -> Any:
    return DotOperand(rng.randrange(2), _blocked(rng, machine, rank), 0) if rank == 2 else _slice(rng, machine, rank)


def _linear(rng: random.Random, machine: Machine, shape: tuple[int, ...]) -> Linear:
    """Any permutation of the bits."""
    rank = len(shape)
    bases = [
        tuple(1 << k if i == d else 0 for i in range(rank))
        for d in range(rank)
        for k in range(shape[d].bit_length() - 1)
    ]
    rng.shuffle(bases)
    zero = (0,) * rank
    wanted = 5 + machine.warps.bit_length() - 1 + machine.ctas.bit_length() - 1
    while len(bases) < wanted or rng.random() < 0.1:
        bases.insert(rng.randrange(len(bases) + 1), zero)
    warps = machine.warps.bit_length() - 1
    return Linear(
        tuple(bases[wanted:]), tuple(bases[:5]), tuple(bases[5 : 5 + warps]), tuple(bases[5 + warps : wanted])
    )


MAKERS: list[Callable[..., Any]] = [_blocked, _slice, _mma, _wgmma, _operand, _fma_operand]


def random_pair(rng: random.Random, most: int = 1 << 12, ctas: int = 1) -> Pair:
    """Two layouts of a tensor of at most `most` elements."""
    machine = Machine(power(rng, 0, 3), ctas, rng.choice([8, 16, 32, 64]))
    rank = rng.choice([1, 2, 2, 2, 3])
    shape = tuple(power(rng, 0, 7) for _ in range(rank))
    while prod(shape) > most:
        shape = tuple(max(1, n // 2) for n in shape)
    source, target = (
        _linear(rng, machine, shape) if rng.random() < 0.15 else rng.choice(MAKERS)(rng, machine, rank)
        for _ in range(2)
    )
    if rank == 2 and any(isinstance(a, (NvidiaMma, DotOperand)) for a in (source, target)):
        shape = (max(shape[0], 16), max(shape[1], 16))
        source, target = (_linear(rng, machine, shape) if isinstance(a, Linear) else a for a in (source, target))
    return Pair(shape, source, target, machine)


def permuted(rng: random.Random) -> tuple[LinearLayout, LinearLayout, int]:
    """Two layouts by any bits, and the width of an element: more than attributes can say."""
    registers, warps = rng.randint(0, 5), rng.randint(0, 2)
    total = 5 + registers + warps

    def make() -> LinearLayout:
        bases = [(1 << i,) for i in range(total)]
        rng.shuffle(bases)
        at = registers + 5
        split = {"register": bases[:registers], "lane": bases[registers:at], "warp": bases[at:], "block": []}
        return LinearLayout(split, {"dim0": 1 << total})

    return make(), make(), rng.choice([8, 16, 32, 64])


def random_shared(rng: random.Random, pair: Pair) -> Any:
    """A layout of shared memory for the tensor of a pair."""
    shape, bits = pair.shape, pair.machine.bits
    rank = len(shape)
    order = tuple(rng.sample(range(rank), rank))
    kind = rng.randrange(4)
    if kind == 0 and rank == 2 and bits <= 32:
        transposed = rng.random() < 0.5
        inner = shape[0 if transposed else 1] * bits // 8
        widths = [w for w in (0, 32, 64, 128) if w <= inner and shape[1 if transposed else 0] >= 8]
        if widths:
            return NvmmaShared(
                swizzlingByteWidth=rng.choice(widths), transposed=transposed, elementBitWidth=bits, rank=2
            )
    if kind == 1:
        most = prod(shape).bit_length() - 1
        intervals = tuple(sorted(rng.sample([1 << k for k in range(2, max(4, most + 1))], rng.randint(1, 2))))
        return PaddedShared.from_order(intervals, tuple(power(rng, 0, 4) for _ in intervals), order, shape)
    if kind == 2:
        bases = [b for d in order for b in bits_of(shape, d)]
        rng.shuffle(bases)
        if bases:
            return SharedLinear(tuple(bases), (), 16)
    return SwizzledShared(power(rng, 0, 3), power(rng, 0, 2), power(rng, 0, 3), order)


def bits_of(shape: tuple[int, ...], d: int) -> list[tuple[int, ...]]:
    return [tuple(1 << k if i == d else 0 for i in range(len(shape))) for k in range(shape[d].bit_length() - 1)]
