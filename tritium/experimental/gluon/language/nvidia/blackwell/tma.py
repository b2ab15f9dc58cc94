"""TMA of Blackwell GPUs: Hopper's; gathers and scatters are refused where a kernel uses them."""

from ......frontend.gluon.refused import refused_functions
from ..hopper.tma import *  # noqa: F403
from ..hopper.tma import __all__ as _HOPPER

globals().update(
    refused_functions("async_gather async_scatter", "is an instruction of Blackwell GPUs, which are not supported yet")
)
__all__ = [*_HOPPER]
