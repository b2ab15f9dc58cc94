"""Copies by the Tensor Data Mover of CDNA5 GPUs: refused where a kernel uses them."""

from ......frontend.gluon.refused import CDNA5, refused_class, refused_functions

globals().update(
    refused_functions(
        "async_gather async_load async_load_fused async_scatter async_store async_wait "
        "make_tensor_descriptor prefetch update_tensor_descriptor",
        CDNA5,
    )
)
tensor_descriptor, tensor_descriptor_type = (
    refused_class(_name, CDNA5) for _name in ("tensor_descriptor", "tensor_descriptor_type")
)
