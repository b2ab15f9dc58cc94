"""Warp specialization: functions that run on different warps at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...dialects import ttg
from ...ir import Attribute, Block, DenseArrayAttr, Region, i32
from ..callee import SourceFunction, unwrap_callee
from ..constexpr import unwrap
from ..errors import LanguageError
from ..language.builtin import builtin, static_int
from ..tuples import tuple as tl_tuple
from ..visitor.values import flatten, has_handles, rebuild, types_of

__all__ = ["warp_specialize"]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""
Work: TypeAlias = tuple[SourceFunction, list[Any]]
"""A function of the language and its arguments."""


@builtin
def warp_specialize(
    functions_and_args: Sequence[Any],
    worker_num_warps: Sequence[Any],
    worker_num_regs: Sequence[Any] | None = None,
    _semantic: Semantics = None,
    _generator: Any = None,
) -> Any:
    """Run the first function on the warps of the kernel, and each other one on further warps, at the same time.

    `functions_and_args` is a list of pairs of a function and a tuple of its arguments; `worker_num_warps` has the
    number of warps of each function after the first, `worker_num_regs` the registers of each of their threads. The
    result is that of the first function; the others return nothing, and take no tensors: their values are in shared
    memory.
    """
    default, *workers = [_work(pair) for pair in functions_and_args]
    warps = [static_int(n, "a number of warps") for n in worker_num_warps]
    registers = None if unwrap(worker_num_regs) is None else [static_int(n, "registers") for n in worker_num_regs or ()]
    _check_counts(len(workers), warps, registers)
    sem, builder = _semantic, _semantic.builder
    if sem.warps is not None:
        raise LanguageError("ValueError: warp_specialize cannot be called in a partition of another")
    block = Block()
    with builder.saved():
        builder.at_end(block)
        result = _generator.call_callee(default[0], default[1], {})
        yielded = flatten(result)
        builder.insert(ttg.WarpYield(yielded))
    captured = [handle for _, arguments in workers for value in arguments for handle in flatten(value)]
    regions = []
    begin = 0
    for (function, arguments), count in zip(workers, warps):
        regions.append(_partition(sem, _generator, (function, arguments), count, types_of(captured), begin))
        begin += sum(len(flatten(value)) for value in arguments)
    holder = Block()
    holder.append(ttg.WarpSpecializePartitions.create(captured, [], {}, regions))
    attributes: dict[str, Attribute] = {"partitionNumWarps": DenseArrayAttr(tuple(warps), i32)}
    if registers is not None:
        attributes["requestedRegisters"] = DenseArrayAttr(tuple(registers), i32)
    op = ttg.WarpSpecialize.create([], types_of(yielded), attributes, [Region(block), Region(holder)])
    builder.insert(op)
    return rebuild(result, list(op.results)) if yielded else result


def _work(pair: Any) -> Work:
    """A function and its arguments. Raises LanguageError for anything else."""
    values = list(pair) if isinstance(pair, (tuple, list, tl_tuple)) else []
    function = unwrap_callee(unwrap(values[0])) if len(values) == 2 else None
    if not isinstance(function, SourceFunction) or not isinstance(values[1], (tuple, list, tl_tuple)):
        raise LanguageError(
            "TypeError: warp_specialize takes pairs of a function and a tuple of its arguments",
            "gl.warp_specialize([(consumer, (a, b)), (producer, (a, b))], [1], [24])",
        )
    return function, list(values[1])


def _check_counts(workers: int, warps: list[int], registers: list[int] | None) -> None:
    """Raise unless there is a number for each partition."""
    if len(warps) != workers:
        raise LanguageError(f"ValueError: warp specialize got {workers} partitions but {len(warps)} warp counts")
    if registers is not None and len(registers) != workers:
        raise LanguageError(
            f"ValueError: warp specialize got {workers} partitions but {len(registers)} register counts"
        )


def _partition(sem: Semantics, generator: Any, work: Work, warps: int, types: list[Any], begin: int) -> Region:
    """The region of one partition, whose arguments are all values that partitions capture."""
    function, arguments = work
    block = Block(types)
    values = []
    for value in arguments:
        if has_handles(value):
            count = len(flatten(value))
            value = rebuild(value, list(block.args[begin : begin + count]))
            begin += count
        values.append(value)
    builder = sem.builder
    with builder.saved():
        builder.at_end(block)
        sem.warps = warps
        try:
            generator.call_callee(function, values, {})
        finally:
            sem.warps = None
        builder.insert(ttg.WarpReturn())
    return Region(block)
