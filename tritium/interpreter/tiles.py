"""The evaluator's tt operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects import tt
from ..ir import TensorType, element_type
from .evaluator import BlockPointer, Jump, TensorDesc, UndefinedError, undefined
from .extremes import maximum_number, minimum_number
from .library import library_function
from .meanings import meaning
from .numbers import byte_size, dtype_of, fit
from .operations import signed, unsigned

# -- programs and shapes ------------------------------------------------------------------------------------------


@meaning("tt.call")
def _call(ev: object, op: Any, *args: Any) -> Any:
    return tuple(ev.call(ev.function(op.callee), list(args)))


@meaning("tt.get_program_id")
def _program_id(ev: object, op: Any) -> Any:
    return ev.program[int(op.axis)]


@meaning("tt.get_num_programs")
def _num_programs(ev: object, op: Any) -> Any:
    return ev.grid[int(op.axis)]


@meaning("tt.make_range")
def _range(ev: object, op: Any) -> Any:
    return np.arange(op.start, op.end, dtype=np.int32)


@meaning("tt.splat", "tt.broadcast")
def _broadcast(ev: object, op: Any, x: Any) -> Any:
    return np.broadcast_to(x, op.results[0].type.shape)


@meaning("tt.unsplat")
def _unsplat(ev: object, op: Any, x: Any) -> Any:
    return x.reshape(())


@meaning("ttg.convert_layout")
def _convert_layout(ev: object, op: Any, x: Any) -> Any:
    return x  # where elements stand is nothing that a value tells


@meaning("tt.expand_dims")
def _expand(ev: object, op: Any, x: Any) -> Any:
    return np.expand_dims(x, op.axis)


@meaning("tt.reshape")
def _reshape(ev: object, op: Any, x: Any) -> Any:
    return x.reshape(op.results[0].type.shape)


@meaning("amdg.extract_slice")
def _extract_slice(ev: object, op: Any, x: Any) -> Any:
    return x[tuple(slice(at, at + n) for at, n in zip(op.static_offsets, op.results[0].type.shape))]


@meaning("amdg.concat")
def _concat(ev: object, op: Any, *parts: Any) -> Any:
    whole = np.empty(op.results[0].type.shape, parts[0].dtype)
    grid = [extent // size for extent, size in zip(whole.shape, parts[0].shape)]
    for at, part in zip(np.ndindex(*grid), parts, strict=True):
        whole[tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, part.shape))] = part
    return whole


@meaning("tt.cat")
def _cat(ev: object, op: Any, a: Any, b: Any) -> Any:
    return np.concatenate([a, b])


@meaning("tt.join")
def _join(ev: object, op: Any, a: Any, b: Any) -> Any:
    return np.stack([a, b], axis=-1)


@meaning("tt.split")
def _split(ev: object, op: Any, x: Any) -> Any:
    return x[..., 0], x[..., 1]


@meaning("tt.trans")
def _trans(ev: object, op: Any, x: Any) -> Any:
    return np.transpose(x, op.order)


@meaning("tt.gather")
def _gather(ev: object, op: Any, x: Any, indices: Any) -> Any:
    return np.take_along_axis(x, indices.astype(np.int64), op.axis)


@meaning("tt.histogram")
def _histogram(ev: object, op: Any, x: Any, mask: Any = None) -> Any:
    bins = op.results[0].type.shape[0]
    x = np.asarray(x) if mask is None else np.asarray(x)[mask]
    return np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)


# -- pointers and memory ------------------------------------------------------------------------------------------


@meaning("tt.ptr_to_int")
def _address(ev: object, op: Any, x: Any) -> Any:
    return x


@meaning("tt.int_to_ptr")
def _pointer(ev: object, op: Any, x: Any) -> Any:
    """Addresses in a program may be of any memory of this process."""
    ev.memory.open(np.asarray(x))
    return x


@meaning("tt.addptr")
def _addptr(ev: object, op: Any, ptr: Any, offset: Any) -> Any:
    size = byte_size(element_type(op.results[0].type).pointee)
    return np.asarray(ptr) + signed(offset).astype(np.int64) * size


@meaning("tt.make_tensor_ptr")
def _make_tensor_ptr(ev: object, op: Any, base: Any, *rest: Any) -> Any:
    numbers = tuple(int(v) for v in rest)
    n = len(numbers) // 3
    return BlockPointer(int(base), numbers[:n], numbers[n : 2 * n], numbers[2 * n :])


@meaning("tt.advance")
def _advance(ev: object, op: Any, ptr: BlockPointer, *offsets: Any) -> Any:
    moved = tuple(a + int(b) for a, b in zip(ptr.offsets, offsets))
    return BlockPointer(ptr.base, ptr.shape, ptr.strides, moved)


def _tile(base: int, shape: Any, strides: Any, offsets: Any, tile: TensorType, axes: Any) -> tuple[Any, Any]:
    """Addresses of a tile's elements, and which are inside along `axes`."""
    address = np.full(tile.shape, base, np.int64)
    inside = np.ones(tile.shape, bool)
    for d, size in enumerate(tile.shape):
        index = offsets[d] + np.arange(size, dtype=np.int64)
        index = index.reshape([-1 if k == d else 1 for k in range(tile.rank)])
        address = address + index * strides[d] * byte_size(tile)
        if d in axes:
            inside = inside & (index >= 0) & (index < shape[d])
    return address, inside


def _padding(nan: bool, tile: TensorType) -> Any:
    return undefined(tile) if nan and dtype_of(tile).kind == "f" else np.zeros(tile.shape, dtype_of(tile))


@meaning("tt.load")
def _load(ev: object, op: Any, ptr: Any, *rest: Any) -> Any:
    ty = op.results[0].type
    if isinstance(ptr, BlockPointer):
        address, inside = _tile(ptr.base, ptr.shape, ptr.strides, ptr.offsets, ty, op.boundaryCheck)
        return ev.memory.load(address, inside, _padding(op.padding == tt.PaddingOption.pad_nan, ty), ty, 0)
    values = list(rest)
    mask = values.pop(0) if op.mask is not None else None
    other = values.pop(0) if op.other is not None else None
    loaded = ev.memory.load(np.asarray(ptr), mask, other, ty, ev.masked(element_type(ty)))
    if isinstance(element_type(ty), tt.PointerType):
        ev.memory.open(loaded if mask is None else loaded[np.broadcast_to(mask, loaded.shape)])
    return loaded


@meaning("tt.store")
def _store(ev: object, op: Any, ptr: Any, value: Any, mask: Any = None) -> None:
    ty = op.value.type
    if isinstance(ptr, BlockPointer):
        ptr, mask = _tile(ptr.base, ptr.shape, ptr.strides, ptr.offsets, ty, op.boundaryCheck)
    ev.memory.store(np.asarray(ptr), value, mask, ty)


def _buffer_addresses(op: Any, base: Any, offsets: Any, mask: Any) -> tuple[Any, Any]:
    """(addresses, mask) of a buffer operation: what is 2 GB or more from the base is not accessed."""
    size = byte_size(op.ptr.type.pointee)
    at = unsigned(np.asarray(offsets)).astype(np.int64) * size & 0xFFFFFFFF
    inside = at + size < 1 << 31
    return np.asarray(base) + at, inside if mask is None else inside & np.asarray(mask)


def _optional(op: Any, values: tuple[Any, ...], *names: str) -> list[Any]:
    """The values of optional operands; None for absent ones."""
    rest = iter(values)
    return [None if getattr(op, name) is None else next(rest) for name in names]


@meaning("amdg.buffer_load")
def _buffer_load(ev: object, op: Any, base: Any, offsets: Any, *rest: Any) -> Any:
    ty = op.results[0].type
    _, mask, other = _optional(op, rest, "stride", "mask", "other")
    address, inside = _buffer_addresses(op, base, offsets, mask)
    return ev.memory.load(address, inside, other, ty, ev.masked(element_type(ty)))


@meaning("amdg.buffer_store")
def _buffer_store(ev: object, op: Any, value: Any, base: Any, offsets: Any, *rest: Any) -> None:
    _, mask = _optional(op, rest, "stride", "mask")
    address, inside = _buffer_addresses(op, base, offsets, mask)
    ev.memory.store(address, value, inside, op.value.type)


@meaning("amdg.buffer_atomic_rmw")
def _buffer_atomic(ev: object, op: Any, base: Any, offsets: Any, value: Any, *rest: Any) -> Any:
    _, mask = _optional(op, rest, "stride", "mask")
    address, inside = _buffer_addresses(op, base, offsets, mask)
    return _atomic_rmw(ev, op, address, value, inside)


@meaning("rocdl.sched.barrier")
def _sched_barrier(ev: object, op: Any) -> None:
    """Nothing: the order of instructions is nothing that a value tells."""


@meaning("tt.make_tensor_descriptor")
def _make_descriptor(ev: object, op: Any, base: Any, *rest: Any) -> Any:
    numbers = tuple(int(v) for v in rest)
    n = len(numbers) // 2
    padding = "nan" if op.padding == tt.PaddingOption.pad_nan else "zero"
    return TensorDesc(int(base), numbers[:n], numbers[n:], padding)


@meaning("tt.descriptor_load")
def _descriptor_load(ev: object, op: Any, desc: TensorDesc, *indices: Any) -> Any:
    block = op.desc.type.block
    offsets = [int(i) for i in indices]
    address, inside = _tile(desc.base, desc.shape, desc.strides, offsets, block, range(block.rank))
    loaded = ev.memory.load(address, inside, _padding(desc.padding == "nan", block), block, 0)
    return loaded.reshape(op.result.type.shape)  # of a tile, or the buffer that an asynchronous copy writes


@meaning("tt.descriptor_store")
def _descriptor_store(ev: object, op: Any, desc: TensorDesc, src: Any, *indices: Any) -> None:
    block = op.desc.type.block
    offsets = [int(i) for i in indices]
    address, inside = _tile(desc.base, desc.shape, desc.strides, offsets, block, range(block.rank))
    ev.memory.store(address, np.asarray(src).reshape(block.shape), inside, block)


def _row_addresses(op: Any, desc: TensorDesc, rows: Any, column: Any, ty: Any) -> tuple[Any, Any]:
    """(addresses, mask) of a gather's or scatter's elements of type `ty`."""
    rows = np.asarray(rows).astype(np.int64)[:, None]
    columns = (int(column) + np.arange(ty.shape[1], dtype=np.int64))[None, :]
    inside = (rows >= 0) & (rows < desc.shape[0]) & (columns >= 0) & (columns < desc.shape[1])
    steps = rows * desc.strides[0] + columns * desc.strides[1]
    return desc.base + steps * byte_size(ty.element), inside


@meaning("tt.descriptor_gather")
def _descriptor_gather(ev: object, op: Any, desc: TensorDesc, rows: Any, column: Any) -> Any:
    ty = op.results[0].type
    address, inside = _row_addresses(op, desc, rows, column, ty)
    return ev.memory.load(address, inside, _padding(desc.padding == "nan", ty), ty, 0)


@meaning("tt.descriptor_scatter")
def _descriptor_scatter(ev: object, op: Any, desc: TensorDesc, rows: Any, column: Any, src: Any) -> None:
    address, inside = _row_addresses(op, desc, rows, column, op.src.type)
    ev.memory.store(address, np.asarray(src), inside, op.src.type)


@meaning("tt.descriptor_reduce")
def _descriptor_reduce(ev: object, op: Any, desc: TensorDesc, src: Any, *indices: Any) -> None:
    """Element by element; blocks of integers without a sign are signed."""
    block, element = op.desc.type.tile, op.desc.type.block.element
    address, inside = _tile(desc.base, desc.shape, desc.strides, [int(i) for i in indices], block, range(block.rank))
    old = ev.memory.load(address, inside, _padding(False, block), block, 0)
    src = np.asarray(src).reshape(block.shape)
    fn, view = _REDUCE[op.kind.name], unsigned if getattr(element, "signedness", "") == "u" else lambda x: x
    ev.memory.store(address, fit(np.asarray(fn(view(old), view(src))), block), inside, block)


_REDUCE = {
    "add": lambda a, b: unsigned(a) + unsigned(b) if a.dtype.kind in "iu" else a + b,
    "min": minimum_number,
    "max": maximum_number,
    "_and": np.bitwise_and,
    "_or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


RMW = {
    "_and": lambda a, b: a & b,
    "_or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: unsigned(a) + unsigned(b),
    "fadd": lambda a, b: a + b,
    "max": maximum_number,
    "min": minimum_number,
    "umax": lambda a, b: np.maximum(unsigned(a), unsigned(b)),
    "umin": lambda a, b: np.minimum(unsigned(a), unsigned(b)),
    "exch": lambda a, b: b,
}


def _one_by_one(ev: object, op: Any, ptr: Any, mask: Any, change: Any) -> Any:
    """Lanes in row-major order: read, write `change(lane, old)`, return the values read."""
    ty = op.results[0].type
    element = element_type(ty)
    ptr = np.asarray(ptr)
    old = np.array(np.broadcast_to(undefined(element), ptr.shape), order="C")
    flat, pointers = old.reshape(-1), ptr.reshape(-1)
    active = np.broadcast_to(True if mask is None else mask, ptr.shape).reshape(-1)
    for lane in np.flatnonzero(active):
        at = pointers[lane : lane + 1]
        before = ev.memory.load(at, None, None, element, 0)
        flat[lane] = before[0]
        after = change(lane, before)
        if after is not None:
            ev.memory.store(at, fit(np.asarray(after), element), None, element)
    return old


@meaning("tt.atomic_rmw")
def _atomic_rmw(ev: object, op: Any, ptr: Any, val: Any, mask: Any = None) -> Any:
    values = np.broadcast_to(val, np.shape(ptr)).reshape(-1)
    fn = RMW[op.atomic_rmw_op.name]
    return _one_by_one(ev, op, ptr, mask, lambda lane, old: fn(old, values[lane : lane + 1]))


@meaning("tt.atomic_cas")
def _atomic_cas(ev: object, op: Any, ptr: Any, cmp: Any, val: Any) -> Any:
    expected = np.broadcast_to(cmp, np.shape(ptr)).reshape(-1)
    values = np.broadcast_to(val, np.shape(ptr)).reshape(-1)
    return _one_by_one(ev, op, ptr, None, lambda lane, old: values[lane] if old[0] == expected[lane] else None)


@meaning("tt.atomic_load")
def _atomic_load(ev: object, op: Any, ptr: Any, mask: Any = None) -> Any:
    return ev.memory.load(np.asarray(ptr), mask, None, op.results[0].type, undefined(element_type(op.results[0].type)))


@meaning("tt.atomic_store")
def _atomic_store(ev: object, op: Any, ptr: Any, value: Any, mask: Any = None) -> None:
    ev.memory.store(np.asarray(ptr), value, mask, op.value.type)


@meaning("tt.atomic_poll")
def _atomic_poll(ev: object, op: Any, ptr: Any, expected: Any, timeout: Any = None) -> Any:
    """Programs run one after the other: what is not there now never comes."""
    ty = op.expected.type
    seen = ev.memory.load(np.asarray(ptr), None, None, ty, undefined(element_type(ty))) == expected
    if timeout is None and not np.all(seen):
        raise UndefinedError("the program waits for another that runs later, and programs run one after the other here")
    return seen


# -- tiles as a whole ---------------------------------------------------------------------------------------------


@meaning("tt.dot")
def _dot(ev: object, op: Any, a: Any, b: Any, c: Any) -> Any:
    if np.asarray(c).dtype.kind == "f":
        return np.matmul(a.astype(np.float64), b.astype(np.float64)) + c.astype(np.float64)
    return np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)


def _combine(ev: object, op: Any, env: Any, left: list[Any], right: list[Any]) -> list[Any]:
    """Apply the region to two lists of elements; a region of one operation is evaluated directly."""
    block = op.regions[0].blocks[0]
    only = block.first
    if only.next is block.last and not only.regions and list(block.last.operands) == only.results:
        made = ev.execute(only, dict(zip(block.args, [*left, *right])))
        return [fit(np.asarray(value), r.type) for value, r in zip(made, only.results)]
    return ev.block(block, [*left, *right], env).values


@meaning("tt.reduce")
def _reduce(ev: object, op: Any, env: Any, *srcs: Any) -> Any:
    """Neighbours are combined pairwise until one is left, in order: the region need not be commutative."""
    values = [np.moveaxis(np.asarray(s), op.axis, 0) for s in srcs]
    while values[0].shape[0] > 1:
        even = values[0].shape[0] // 2 * 2
        left, right = [v[0:even:2] for v in values], [v[1:even:2] for v in values]
        halves = _combine(ev, op, env, left, right)
        values = [np.concatenate([np.broadcast_to(h, l.shape), v[even:]]) for h, l, v in zip(halves, left, values)]
    return tuple(v[0] for v in values)


@meaning("tt.scan")
def _scan(ev: object, op: Any, env: Any, *srcs: Any) -> Any:
    """One after the other; `reverse` runs from the end."""
    values = [np.moveaxis(np.asarray(s), op.axis, 0) for s in srcs]
    if op.reverse:
        values = [v[::-1] for v in values]
    rows = [[v[0] for v in values]]
    for i in range(1, values[0].shape[0]):
        rows.append(_combine(ev, op, env, rows[-1], [v[i] for v in values]))
    results = [np.stack([np.broadcast_to(row[k], values[k].shape[1:]) for row in rows]) for k in range(len(values))]
    if op.reverse:
        results = [r[::-1] for r in results]
    return tuple(np.moveaxis(r, 0, op.axis) for r in results)


@meaning("tt.map_elementwise.return")
def _map_return(ev: object, op: Any, *values: Any) -> Jump:
    return Jump("leave", list(values))


@meaning("tt.map_elementwise")
def _map_elementwise(ev: object, op: Any, env: Any, *srcs: Any) -> Any:
    """The region may branch: it runs for one group of `pack` neighbours after the other, in row-major order."""
    pack, shape = int(op.pack), np.shape(srcs[0])
    groups = [np.reshape(s, (-1, pack)) for s in srcs]
    results = [np.empty((groups[0].shape[0], pack), dtype_of(r.type)) for r in op.results]
    for row in range(groups[0].shape[0]):
        values = [g[row, k] for g in groups for k in range(pack)]
        returned = ev.blocks(op.regions[0].blocks[0], values, env).values
        for number, result in enumerate(results):
            result[row] = returned[number * pack : (number + 1) * pack]
    return tuple(r.reshape(shape) for r in results)


@meaning("tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents", "ttg.barrier")
def _in_order(ev: object, op: Any) -> None:
    """Grids run one after the other, and so do the threads of a program."""


@meaning("tt.print")
def _print(ev: object, op: Any, *values: Any) -> None:
    if "tt.format" in op.attributes:
        ev.printed.append(op.prefix.format(*(v if np.ndim(v) else np.asarray(v).item() for v in values)))
        return
    ev.printed.append(
        " ".join([f"pid {ev.program}", op.prefix.strip(), *(str(np.asarray(v).tolist()) for v in values)])
    )


@meaning("tt.extern_elementwise", "tt.elementwise_inline_asm")
def _foreign(ev: object, op: Any, *values: Any) -> Any:
    known = library_function(op.libname, op.symbol) if op.name == "tt.extern_elementwise" else None
    if known is not None:
        return known(*(np.asarray(v, np.float64) for v in values))
    what = f"the library function {op.symbol}" if op.name == "tt.extern_elementwise" else "inline assembly"
    raise UndefinedError(f"{what} is machine code, which the interpreter cannot run")
