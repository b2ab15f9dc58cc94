"""infer-coalesced-encodings: Choose layouts in which adjacent threads access adjacent addresses.

    %x = tt.load %p : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>

    %x = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>          eight elements, 16 bytes, per thread and instruction

Loads and stores whose tensors are in CoalescedLayout get the layout that `coalesce` would choose; it is propagated to
all tensors in CoalescedLayout that they are computed from, and that are computed from them.
"""

from __future__ import annotations

from ...dialects import gluon
from ...ir import Operation, count, functions_of, pass_on
from ..layout_flow import layout_of
from ..ttgir.layout.coalesce import address_of, coalesced_layouts
from .layout_inference import LayoutInference

__all__ = ["infer_coalesced_encodings"]


@pass_on("module", statistics={"layouts inferred": "tensors whose coalesced layout was chosen"})
def infer_coalesced_encodings(module: Operation) -> bool:
    """Choose the coalesced layouts of a module's functions."""
    changed = 0
    for func in functions_of(module):
        accesses = [op for op in func.walk() if _is_open(op)]
        inference = LayoutInference(func, gluon.CoalescedEncoding)
        if accesses:
            chosen = coalesced_layouts(func, accesses)
            inference.infer([(address_of(op), layout) for op, layout in chosen.items()])  # type: ignore[misc]
            changed += inference.apply()
        inference.require_all("has a tensor in CoalescedLayout, and no load or store determines it")
        count("layouts inferred", len(inference.found))
    return changed > 0


def _is_open(op: Operation) -> bool:
    address = address_of(op)
    return address is not None and isinstance(layout_of(address), gluon.CoalescedEncoding)
