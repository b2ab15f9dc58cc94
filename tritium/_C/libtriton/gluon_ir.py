"""`triton._C.libtriton.gluon_ir`: helpers of layouts; the builder of Triton's IR is refused by name."""

from __future__ import annotations

from collections.abc import Sequence

from ...dropin.refusal import refused_attributes

__all__ = ["make_cga_layout"]

_NAMES = (
    "GluonOpBuilder MAX MIN TMEM_LOAD_REDUCE_MODIFIER WarpSpecializeOp "
    "compute_amd_efficient_padded_shared_layout compute_tmem_reg_layout get_amd_mfma_scale_layout "
    "get_amd_wmma_scale_layout get_layout_view"
)
_INSTEAD = "the IR has other builders here; kernels use tritium.experimental.gluon"

__getattr__ = refused_attributes(__name__, {_NAMES: _INSTEAD})


def make_cga_layout(ctas: Sequence[int], split: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """The bases of CTAs, the fastest dimension of `order` first.

    Along dimension d there are `ctas[d]` of them, which divide the tensor into `split[d]` parts; the others repeat.

    >>> make_cga_layout([4, 2], [2, 1], [1, 0])
    [[0, 0], [1, 0], [0, 0]]
    """
    return [
        [1 << bit if d == dim and 1 << bit < split[dim] else 0 for d in range(len(ctas))]
        for dim in order
        for bit in range(ctas[dim].bit_length() - 1)
    ]
