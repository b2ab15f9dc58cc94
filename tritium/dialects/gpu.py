"""The operations of the gpu dialect that occur in tile programs."""

from __future__ import annotations

from ..ir import READ, WRITE, AnyAttr, Op

__all__ = ["Barrier"]


class Barrier(Op, name="gpu.barrier", traits=READ | WRITE, assembly="(`memfence` $address_spaces^)? attr-dict"):
    """CTA barrier; `address_spaces` are the memories whose accesses it orders."""

    address_spaces: AnyAttr = None
