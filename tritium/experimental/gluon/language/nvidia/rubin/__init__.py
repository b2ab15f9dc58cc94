"""Names of Rubin GPUs, for programs that import them; refused where a kernel uses them."""

from ......frontend.gluon.refused import refused_functions
from ..blackwell import *
from ..blackwell import __all__ as _BLACKWELL

globals().update(
    refused_functions("add4 fma4 mul4 sub4", "is an instruction of Rubin GPUs, which are not supported yet")
)
__all__ = [*_BLACKWELL]
