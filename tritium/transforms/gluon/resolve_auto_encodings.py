"""resolve-auto-encodings: Choose automatic layouts from the tensors that are set to a layout.

    %x = tt.make_range {…} : tensor<128xi32, #gluon.auto_encoding>
    %y = gluon.set_auto_layout %x : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>

    %x = tt.make_range {…} : tensor<128xi32, #blocked>                          and %y is %x

Layouts are propagated both ways (`layout_inference`). A tensor that no layout reaches is an error.
"""

from __future__ import annotations

from ...dialects import gluon
from ...ir import Operation, count, functions_of, pass_on
from .layout_inference import LayoutInference

__all__ = ["resolve_auto_encodings"]


@pass_on("module", statistics={"layouts inferred": "tensors whose automatic layout was chosen"})
def resolve_auto_encodings(module: Operation) -> bool:
    """Choose the automatic layouts of a module's functions."""
    changed = 0
    for func in functions_of(module):
        inference = LayoutInference(func, gluon.AutoEncoding)
        sets = [op for op in func.walk() if isinstance(op, gluon.SetAutoLayout)]
        inference.infer([(op.src, op.result.type.encoding) for op in sets])  # type: ignore[attr-defined]
        changed += inference.apply() + len(sets)
        for op in sets:
            op.result.replace_all_uses_with(op.src)
            op.erase()
        inference.require_all("has a tensor in AutoLayout, and no layout follows for it: use gl.set_auto_layout")
        count("layouts inferred", len(inference.found))
    return changed > 0
