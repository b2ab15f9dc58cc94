"""The methods of `InterpreterBuilder` that access memory: pointers, block pointers, descriptors, atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialects import tt
from ..frontend import dtypes
from ..frontend.dtypes import dtype
from ..ir import TensorType
from .handle_values import held
from .handles import BlockPointerHandle, TensorDescHandle, TensorHandle, from_array, numpy_dtype, pointee, to_array
from .memory import Memory
from .numbers import byte_size, encode, fit

if TYPE_CHECKING:
    from ..ir import Operation

__all__ = ["MemoryOperations"]


def _everywhere(ptrs: TensorHandle) -> TensorHandle:
    return TensorHandle(np.ones(ptrs.data.shape, bool), dtypes.int1)


def _addresses(ptrs: TensorHandle) -> np.ndarray:
    return np.asarray(ptrs.data).astype(np.int64)


class MemoryOperations:
    """Loads and stores. All of them, but atomics, end in `create_masked_load` and `create_masked_store`.

    Hints to caches may be given as one policy or, as releases before 3.9 have it, as a modifier and an eviction policy:
    they change nothing here, so that methods that are replaced get both.
    """

    memory: Memory

    if TYPE_CHECKING:

        def evaluate(self, op: Operation, scalar: dtype | None = None) -> Any: ...

    def get_cache_policy(self, cache_modifier: Any, eviction_policy: Any) -> Any:
        """Hints as one attribute, None where they say nothing."""
        return tt.CachePolicy.of(cache_modifier, eviction_policy)

    def create_addptr(self, ptr: TensorHandle, offset: TensorHandle) -> TensorHandle:
        """Pointers `offset` elements further."""
        size = byte_size(pointee(ptr.dtype).to_ir())
        return TensorHandle(ptr.data + np.uint64(size) * offset.data.astype(np.uint64), ptr.dtype)

    def create_load(
        self, ptr: TensorHandle, cache_policy: Any = None, is_volatile: Any = False, *older: Any
    ) -> TensorHandle:
        """The elements at `ptr`."""
        return self.create_masked_load(ptr, _everywhere(ptr), None, cache_policy, is_volatile, *older)

    def create_store(self, ptr: TensorHandle, val: TensorHandle, cache_policy: Any = None, *older: Any) -> None:
        """Write `val` at `ptr`."""
        self.create_masked_store(ptr, val, _everywhere(ptr), cache_policy, *older)

    def create_masked_load(
        self,
        ptrs: TensorHandle,
        mask: TensorHandle,
        other: TensorHandle | None,
        cache_policy: Any = None,
        is_volatile: Any = False,
        *older: Any,
    ) -> TensorHandle:
        """The elements at `ptrs` where `mask` holds, elsewhere those of `other`, or zeros."""
        element = pointee(ptrs.dtype)
        ty = TensorType(ptrs.data.shape, element.to_ir())
        filler = None if other is None else to_array(other, TensorType(other.data.shape, element.to_ir()))
        loaded = self.memory.load(_addresses(ptrs), np.asarray(mask.data), filler, ty, 0)
        if element.is_ptr():
            self.memory.open(loaded[np.broadcast_to(mask.data, loaded.shape)])
        return from_array(loaded, ty, element)

    def create_masked_store(
        self, ptrs: TensorHandle, value: TensorHandle, mask: TensorHandle, cache_policy: Any = None, *older: Any
    ) -> None:
        """Write `value` at `ptrs` where `mask` holds."""
        ty = TensorType(value.data.shape, value.dtype.scalar.to_ir())
        self.memory.store(_addresses(ptrs), to_array(value, ty), np.asarray(mask.data), ty)

    # -- atomics ----------------------------------------------------------------------------------------------

    def create_atomic_rmw(
        self, rmwOp: Any, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle | None, sem: Any, scope: Any
    ) -> TensorHandle:
        """Combine `val` with what is at `ptr`, element by element; the old elements."""
        values = held(val)
        where = None if mask is None else held(mask)
        op = tt.AtomicRMW(rmwOp, held(ptr), values, where, sem, scope, result=values.type)
        return self.evaluate(op, val.dtype)

    def create_atomic_cas(
        self, ptr: TensorHandle, cmp: TensorHandle, val: TensorHandle, sem: Any, scope: Any
    ) -> TensorHandle:
        """Write `val` where the element at `ptr` has the bits of `cmp`; the old elements."""
        values = held(val)
        return self.evaluate(tt.AtomicCAS(held(ptr), held(cmp), values, sem, scope, result=values.type), cmp.dtype)

    def create_atomic_load(self, ptr: TensorHandle, mask: TensorHandle | None, sem: Any, scope: Any) -> TensorHandle:
        """The elements at `ptr`."""
        return self.create_masked_load(ptr, _everywhere(ptr) if mask is None else mask, None, None, True)

    def create_atomic_store(
        self, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle | None, sem: Any, scope: Any
    ) -> None:
        """Write `val` at `ptr`."""
        self.create_masked_store(ptr, val, _everywhere(ptr) if mask is None else mask, None)

    def create_atomic_poll(
        self, ptr: TensorHandle, expected: TensorHandle, timeout_ns: TensorHandle | None, sem: Any, scope: Any
    ) -> TensorHandle:
        """Do the elements at `ptr` equal `expected`? UndefinedError where a program would wait for a later one."""
        timeout = None if timeout_ns is None else held(timeout_ns)
        result = TensorType(ptr.data.shape, dtypes.int1.to_ir())
        return self.evaluate(tt.AtomicPoll(held(ptr), held(expected), timeout, sem, scope, result=result))

    # -- block pointers ---------------------------------------------------------------------------------------

    def create_make_block_ptr(
        self,
        base: TensorHandle,
        shape: list[TensorHandle],
        strides: list[TensorHandle],
        offsets: list[TensorHandle],
        block_shape: list[int],
        order: Sequence[int],
    ) -> BlockPointerHandle:
        """A pointer to a tile of the tensor at `base`."""
        return BlockPointerHandle(base, shape, strides, [o.clone() for o in offsets], block_shape, order)

    def create_advance(self, ptr: BlockPointerHandle, offsets: list[TensorHandle]) -> BlockPointerHandle:
        """The tile moved by `offsets` elements."""
        moved = [TensorHandle(a.data + b.data.astype(a.data.dtype), a.dtype) for a, b in zip(ptr.offsets, offsets)]
        return BlockPointerHandle(ptr.base, ptr.shape, ptr.strides, moved, ptr.block_shape, ptr.order)

    def create_tensor_pointer_load(
        self, ptr: BlockPointerHandle, boundary_check: Sequence[int], padding_option: Any, *hints: Any
    ) -> TensorHandle:
        """The tile; what is out of bounds along `boundary_check` reads as the padding."""
        ptrs, mask = ptr.materialize_pointers(boundary_check)
        return self.create_masked_load(ptrs, mask, _padding(ptrs, padding_option), *hints)

    def create_tensor_pointer_store(
        self, ptr: BlockPointerHandle, value: TensorHandle, boundary_check: Sequence[int], *hints: Any
    ) -> None:
        """Write the tile, but what is out of bounds along `boundary_check`."""
        ptrs, mask = ptr.materialize_pointers(boundary_check)
        self.create_masked_store(ptrs, value, mask, *hints)

    # -- descriptors ------------------------------------------------------------------------------------------

    def create_make_tensor_descriptor(
        self,
        base: TensorHandle,
        shape: list[TensorHandle],
        strides: list[TensorHandle],
        tensor_shape: list[int],
        is_signed: bool,
        padding: Any = tt.PaddingOption.pad_zero,
    ) -> TensorDescHandle:
        """A descriptor of the tensor at `base`."""
        return TensorDescHandle(base, shape, strides, tensor_shape, padding)

    def create_descriptor_load(
        self, desc: TensorDescHandle, indices: list[TensorHandle], cache_policy: Any = None, *older: Any
    ) -> TensorHandle:
        """The tile at `indices`; what is out of bounds reads as the padding."""
        ptrs, mask = desc.materialize_pointers(indices)
        tail = (cache_policy, *older, False) if older else (cache_policy, False)
        loaded = self.create_masked_load(ptrs, mask, _padding(ptrs, desc.padding), *tail)
        if desc.round_f32_to_tf32 and pointee(ptrs.dtype).is_fp32():
            bits = fit(_to_tf32(loaded.data), dtypes.float32.to_ir())
            return TensorHandle(bits, dtypes.float32)
        return loaded

    def create_descriptor_store(self, desc: TensorDescHandle, value: TensorHandle, indices: list[TensorHandle]) -> None:
        """Write the tile at `indices`, but what is out of bounds."""
        ptrs, mask = desc.materialize_pointers(indices)
        self.create_masked_store(ptrs, value, mask, None)

    def create_descriptor_gather(
        self, desc: TensorDescHandle, x_offsets: TensorHandle, y_offset: TensorHandle, type: Any
    ) -> TensorHandle:
        """The rows `x_offsets` from column `y_offset` on."""
        rows = [self.create_descriptor_load(desc, [row, y_offset], None) for row in _rows(x_offsets)]
        data = np.concatenate([np.asarray(r.data).reshape(1, -1) for r in rows])
        return TensorHandle(data, pointee(desc.base.dtype))

    def create_descriptor_scatter(
        self, desc: TensorDescHandle, value: TensorHandle, x_offsets: TensorHandle, y_offset: TensorHandle
    ) -> None:
        """Write the rows `x_offsets` from column `y_offset` on."""
        for number, row in enumerate(_rows(x_offsets)):
            part = TensorHandle(value.data[number : number + 1], value.dtype)
            self.create_descriptor_store(desc, part, [row, y_offset])


def _rows(x_offsets: TensorHandle) -> list[TensorHandle]:
    return [TensorHandle(x_offsets.data[i : i + 1], x_offsets.dtype) for i in range(x_offsets.data.shape[0])]


def _padding(ptrs: TensorHandle, option: Any) -> TensorHandle:
    """The value of out-of-bounds reads."""
    element = pointee(ptrs.dtype)
    nan = option == tt.PaddingOption.pad_nan and element.is_floating()
    filler = encode(np.array(np.nan), element.to_ir()) if nan else np.zeros((), numpy_dtype(element))
    return TensorHandle(np.full(ptrs.data.shape, filler.view(numpy_dtype(element))), element)


def _to_tf32(data: np.ndarray) -> np.ndarray:
    """Rounded to the 10 stored bits of a TF32 significand, to nearest even; infinity and NaN unchanged."""
    bits = np.array(data, np.float32).view(np.uint32)
    kept = 23 - 10
    half = np.uint32((1 << (kept - 1)) - 1) + ((bits >> np.uint32(kept)) & np.uint32(1))
    rounded = ((bits + half) >> np.uint32(kept)) << np.uint32(kept)
    return np.where(np.isfinite(data), rounded, bits).astype(np.uint32).view(np.float32)
