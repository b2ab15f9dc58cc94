"""`triton._C.libtriton.gluon_ir`: the builder of Gluon, another language than Triton's; refused by name."""

from __future__ import annotations

from ...dropin.refusal import refused_attributes

_NAMES = (
    "GluonOpBuilder MAX MIN TMEM_LOAD_REDUCE_MODIFIER WarpSpecializeOp "
    "compute_amd_efficient_padded_shared_layout compute_tmem_reg_layout get_amd_mfma_scale_layout "
    "get_amd_wmma_scale_layout get_layout_view make_cga_layout"
)
_INSTEAD = "kernels are written in the Triton language, not in Gluon"

__getattr__ = refused_attributes(__name__, {_NAMES: _INSTEAD})
