"""Copies between global and shared memory by the Tensor Memory Accelerator (TMA)."""

from ......frontend.gluon.descriptors import (
    tensor_descriptor,
    tensor_descriptor_im2col,
    tensor_descriptor_im2col_type,
    tensor_descriptor_type,
)
from ......frontend.gluon.tma import (
    async_atomic_add,
    async_atomic_and,
    async_atomic_max,
    async_atomic_min,
    async_atomic_or,
    async_atomic_xor,
    async_load,
    async_load_im2col,
    async_store,
    make_tensor_descriptor,
    store_wait,
)

async_copy_global_to_shared, async_copy_shared_to_global = async_load, async_store  # names before Triton 3.9
async_copy_global_to_shared_im2col = async_load_im2col

__all__ = [
    "async_atomic_add",
    "async_atomic_and",
    "async_atomic_max",
    "async_atomic_min",
    "async_atomic_or",
    "async_atomic_xor",
    "async_copy_global_to_shared",
    "async_copy_global_to_shared_im2col",
    "async_copy_shared_to_global",
    "async_load",
    "async_load_im2col",
    "async_store",
    "make_tensor_descriptor",
    "store_wait",
    "tensor_descriptor",
    "tensor_descriptor_im2col",
    "tensor_descriptor_im2col_type",
    "tensor_descriptor_type",
]
