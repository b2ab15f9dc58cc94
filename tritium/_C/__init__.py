"""Names that scripts take from Triton's compiled library: what of them means something here."""

from . import libtriton

__all__ = ["libtriton"]
