"""The error of a kernel that needs more shared memory than a CTA can have: which loads need it, how much, what fits.

OutOfResources: kernel matmul: out of resource: shared memory, Required: 294912, Hardware limit: 232448.
matmul.py:31:38: note: 196608 bytes: 6 stages of 64x256 fp16, loaded from b
matmul.py:31:22: note: 98304 bytes: 6 stages of 128x64 fp16, loaded from a
hint: each stage takes 49152 bytes: num_stages=4 fits
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from ..analysis.allocation import OFFSET, buffer_bytes
from ..analysis.buffers import buffers_of, is_shared_alloc
from ..analysis.dataflow import reachable
from ..analysis.scratch import scratch_bytes
from ..analysis.written_arguments import arguments_of
from ..dialects import tt
from ..dialects.ttg_memory import MemDescType
from ..ir import PURE, READ, WRITE, BlockArgument, Memory, Operation, Value, accessed_values
from ..support import Diagnostic
from .errors import OutOfResources

__all__ = ["too_much_shared_memory"]

MAX_NOTES = 4
SMALL = 0.02  # allocations below this part of what is required are not named


_USES = {
    "ttg.convert_layout": "a layout conversion",
    "tt.reduce": "a reduction",
    "tt.scan": "a scan",
    "tt.histogram": "tl.histogram",
    "tt.gather": "tl.gather",
}


class _Need(NamedTuple):
    """`size` bytes that `op` asks for: `stages` buffers (0 for one that is not staged), described by `text`."""

    size: int
    stages: int
    text: str
    op: Operation


def too_much_shared_memory(
    module: Operation, required: int, limit: int, kernel: str, num_stages: int
) -> OutOfResources:
    """The error of the kernel in `module`, a `ttgir` module whose shared memory is allocated."""
    needs = [need for func in module.walk() if isinstance(func, tt.Func) for need in _needs(func)]
    named = sorted((need for need in needs if need.size >= SMALL * required), key=lambda need: -need.size)
    texts = (Diagnostic.at(need.op.loc, need.text, severity="note", context=0).render() for need in named)
    notes = list(dict.fromkeys(texts))[:MAX_NOTES]
    hint = _hint(needs, required, limit, num_stages)
    return OutOfResources(required, limit, "shared memory", kernel, "\n".join(notes), hint)


def _hint(needs: Sequence[_Need], required: int, limit: int, num_stages: int) -> str:
    staged = [need for need in needs if need.stages > 1]
    if not staged:
        return "use smaller blocks"
    buffers = max(need.stages for need in staged)
    each = sum(need.size // need.stages for need in staged)
    fit = (limit - required) // each + buffers  # buffers per operand; negative differences round down
    fewer = num_stages - (buffers - fit)
    if fit < 1 or fewer < 1:
        return "use smaller blocks"
    return f"each stage takes {each} bytes: num_stages={fewer} fits; or use smaller blocks"


def _needs(func: Operation) -> Iterator[_Need]:
    """The allocations of a function, and the scratch of its operations."""
    writers: dict[Operation, Operation] = {}
    values = buffers_of(func)
    for op in func.walk():
        for buffer in accessed_values(op, WRITE, Memory.SHARED):
            for alloc in values.get(buffer, ()):
                writers.setdefault(alloc, op)
    for op in func.walk():
        if is_shared_alloc(op):
            yield _of_buffer(op, writers.get(op, op))
        elif OFFSET in op.attributes and (size := scratch_bytes(op)):
            yield _Need(size, 0, f"{size} bytes of scratch for {_USES.get(op.name, op.name)}", op)


def _of_buffer(alloc: Operation, writer: Operation) -> _Need:
    """What a buffer that `writer` fills is for; an error is at the load of its elements, where there is one."""
    ty = alloc.results[0].type
    assert isinstance(ty, MemDescType)
    size = buffer_bytes(ty)
    layout_rank = getattr(ty.encoding, "rank", len(ty.shape))
    stages = prod(ty.allocShape[:-layout_rank])
    tile = f"{'x'.join(map(str, ty.shape[-layout_rank:]))} {_dtype(str(ty.element))}"
    count = f"{stages} stages of {tile}" if stages > 1 else tile
    load = _load_of(writer)
    source = _arguments(load) if load is not None else ""
    return _Need(size, stages, f"{size} bytes: {count}{f', loaded from {source}' if source else ''}", load or writer)


def _load_of(writer: Operation) -> Operation | None:
    """The operation that reads global memory for what `writer` puts into a buffer; None if the values are computed."""
    if any(accessed_values(writer, READ, Memory.GLOBAL)):
        return writer
    loads: list[Operation] = []

    def sources(value: Value) -> Sequence[Value]:
        op = value.defining_op
        if op is None:
            return ()
        if any(accessed_values(op, READ, Memory.GLOBAL)):
            loads.append(op)
            return ()
        return op.operands if op.traits & PURE and not op.regions else ()

    reachable([v for v in writer.operands if not isinstance(v.type, MemDescType)], sources)
    return loads[0] if len(loads) == 1 else None


def _arguments(load: Operation) -> str:
    """The names of the kernel's arguments that a load reads from."""
    found = {arg for address in accessed_values(load, READ, Memory.GLOBAL) for arg in arguments_of(address)}
    names = sorted({name for arg in found if isinstance(arg, BlockArgument) and (name := arg.hint)})
    return " or ".join(names)


def _dtype(element: str) -> str:
    """An element type as kernels name it: fp16, int32."""
    for short, long in (("f", "fp"), ("i", "int")):
        if element[:1] == short and element[1:].isdigit():
            return long + element[1:]
    return element
