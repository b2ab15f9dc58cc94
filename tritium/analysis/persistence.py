"""Persistence: a model of the time of a tile, which says for which kernels and launches several tiles a program pay.

    one CTA per SM:    | prologue |  trips * iteration  | epilogue || prologue | …
    persistent:        | prologue |  trips * iteration  | trips * iteration | …
                                                          epilogue, beside the loads and MMAs of the next tile

A CTA starts with the latency of its first loads, and ends with the store of its tile. Where several CTAs share an SM,
one computes meanwhile, and nothing is exposed. So the model asks:

1. Does one CTA fill an SM? Registers are those of the accumulators and of addresses, shared memory that of the stages.
2. Can one warp group compute while the other stores? With four warps there is only one.
3. Do a producer warp group and the ring fit beside the consumers?
4. Is the exposed time more than `OVERHEAD` of a tile? That bounds the trip count, which the launch knows.
5. Are there more tiles than SMs? A program of one tile has no other to overlap it with.
6. Are all tiles of the same length? Programs take every n-th tile; trip counts may depend on arguments only.

Only loops whose dots multiply loaded tiles are judged: the time of others (attention) is not that of MMAs and loads.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..dialects import tt
from ..dialects.constraints import bit_width
from ..dialects.tt_types import PointerType
from ..hardware.nvidia import NvidiaGPU
from ..hardware.occupancy import occupancy
from ..ir import (
    READ,
    BlockArgument,
    CountedLoop,
    Operation,
    PlainLoad,
    Value,
    constant_of,
    constant_trip_count,
    element_type,
    is_pointer_store,
    is_tensor_dot,
    memory_effects,
    shape_of,
)
from .register_pressure import max_accumulators

__all__ = ["Profit", "exposed_cycles", "iteration_cycles", "profit"]

OTHER_REGISTERS = 40
"""Registers of a thread beside accumulators and the addresses of loads, as in `warp_specialize.occupancy`."""

BYTES_PER_ADDRESS = 16
"""Of one asynchronous copy, whose address is two registers of a thread. With 8 warps, tiles of 128 x 256 x 64 are
estimated at 192 registers and have 204, 128 x 128 x 64 120 and 105, with 4 warps 200 and 201 (tutorial 03, sm_90)."""

CONSUMER_WARPS = 8
"""Two warp groups. 16 warps and a producer's have 96 registers a thread, fewer than most accumulators need."""

CONSUMER_LIMIT = 232
"""Registers of a thread of 8 consumer warps, after those of the producer are reallocated."""

PROLOGUE = 1000
"""Cycles from the start of a CTA to its first MMA: the latency of loads from DRAM, and of starting a CTA."""

STORED_BYTES_PER_CYCLE = 30
"""Of an epilogue: 2,150 cycles for a tile of 64 KiB (H100, 128 x 256, f16, rows stored by the warps that own them)."""

LOADED_BYTES_PER_CYCLE = 48
"""From L2, of an SM: what a matmul of 128 x 256 tiles reads (H200, November 2026)."""

OVERHEAD = 0.015
"""What specialization costs: tutorial 09 raised and specialized takes 0.3 to 1.3 % longer than raised alone (H200), and
tutorial 03 0.4 to 3.1 % longer than by pointers where each program has one tile (128, 98, 72, 32 tiles)."""


class Profit(NamedTuple):
    """The launches for which persistence pays: at most `max_trips` iterations of each loop, and at least `min_programs`
    programs; or `why` it never does."""

    max_trips: dict[CountedLoop, int]
    min_programs: int
    why: str = ""


def profit(kernel: tt.Func, gpu: NvidiaGPU, warps: int, stages: int) -> Profit:
    """For which launches it pays that a program of this kernel computes several tiles."""
    if warps != CONSUMER_WARPS:
        return Profit({}, 0, f"{warps} warps are not two warp groups")
    if stages < 2:
        return Profit({}, 0, "its loads are not pipelined")
    loops = [op for op in kernel.entry if isinstance(op, CountedLoop) and any(map(is_tensor_dot, op.body))]
    if len(loops) != 1:
        return Profit({}, 0, "it has no loop with dots, or several")
    (loop,) = loops
    why = _refused(kernel, loop, gpu, warps, stages)
    if why:
        return Profit({}, 0, why)
    cycles = iteration_cycles(loop)
    trips = int(exposed_cycles(kernel) / (OVERHEAD * cycles))
    known = constant_trip_count(constant_of(loop.lb), constant_of(loop.ub), constant_of(loop.step))
    if known is not None and known > trips:
        return Profit({}, 0, f"{known} iterations of {cycles:.0f} cycles hide its prologue and epilogue")
    return Profit({loop: trips}, gpu.sms + 1)


def _refused(kernel: tt.Func, loop: CountedLoop, gpu: NvidiaGPU, warps: int, stages: int) -> str:
    loads = _loads(loop)
    if loads is None:
        return "an operand of a dot is not loaded"
    if not (_is_uniform(loop.lb, kernel) and _is_uniform(loop.ub, kernel)):
        return "the trip count of its loop depends on the program"
    accumulators, stage = max_accumulators(loop, warps), sum(map(_bytes, loads))
    registers = accumulators + OTHER_REGISTERS + 2 * stage // (BYTES_PER_ADDRESS * gpu.warp_size * warps)
    ctas = occupancy(gpu, min(registers, gpu.registers_per_thread), warps, stages * stage).ctas
    if ctas > 1:
        return f"{ctas} CTAs share an SM"
    if accumulators + OTHER_REGISTERS > CONSUMER_LIMIT:
        return f"accumulators of {accumulators} registers leave no registers for a producer warp group"
    if 2 * stage + _stored(kernel) > gpu.shared_memory_per_cta:
        return "shared memory does not hold two stages beside the tile that is stored"
    return ""


def iteration_cycles(loop: CountedLoop) -> float:
    """Cycles of an SM for an iteration: its MMAs, or its loads from L2 if these take longer."""
    dots = [op for op in loop.body if is_tensor_dot(op)]
    multiplied = sum(
        prod(shape_of(dot.results[0].type)) * shape_of(dot.operands[0].type)[-1]
        / NvidiaGPU.multiplications_per_cycle(bit_width(element_type(dot.operands[0].type)))
        for dot in dots
    )  # fmt: skip
    return max(multiplied, sum(map(_bytes, _loads(loop) or ())) / LOADED_BYTES_PER_CYCLE)


def exposed_cycles(kernel: tt.Func) -> float:
    """Cycles of a CTA before the first and after the last iteration."""
    return PROLOGUE + _stored(kernel) / STORED_BYTES_PER_CYCLE


def _stored(kernel: tt.Func) -> int:
    """The bytes of the tiles that a program stores."""
    return sum(_size(v) for op in kernel.walk() if is_pointer_store(op) for v in op.operands if _is_stored(v))


def _is_stored(value: Value) -> bool:
    """Whether an operand of a store is what it stores, and not pointers or a mask."""
    element = element_type(value.type)
    return not isinstance(element, PointerType) and bit_width(element) > 1


def _loads(loop: CountedLoop) -> set[Operation] | None:
    """The loads whose results are the operands of the dots of a loop; None if an operand is anything else."""
    found = [_loaded(operand) for op in loop.body if is_tensor_dot(op) for operand in op.operands[:2]]
    loads = {load for load in found if load is not None and load.parent is loop.body}
    return loads if None not in found and len(loads) == len(set(found)) else None


def _loaded(operand: Value) -> Operation | None:
    op = operand.defining_op
    while isinstance(op, tt.Trans):
        op = op.src.defining_op
    return op if isinstance(op, PlainLoad) else None


def _bytes(load: Operation) -> int:
    return _size(load.results[0])


def _size(value: Value) -> int:
    ty = value.type
    return prod(shape_of(ty)) * bit_width(element_type(ty)) // 8


def _is_uniform(value: Value, kernel: tt.Func) -> bool:
    """Whether a value is the same in all programs: computed from constants and arguments."""
    pending, seen = [value], set[Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op: Operation | None = value.defining_op
        if op is None:
            if not isinstance(value, BlockArgument) or value.owner is not kernel.entry:
                return False
        elif isinstance(op, tt.GetProgramId) or op.regions or memory_effects(op) & READ:
            return False
        else:
            pending += op.operands
    return True
