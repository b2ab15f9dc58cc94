"""Names of Rubin GPUs, for programs that import them; refused where a kernel uses them."""

from ......frontend.gluon.refused import refused_functions
from ......frontend.gluon.tensor_memory import OrderedTensorMemoryScalesLayout as TensorMemoryScalesLayout
from .. import blackwell
from . import mbarrier

_SAME = {*blackwell.NAMES, *blackwell.__all__} - {"TensorMemoryScalesLayout", "mbarrier"}
globals().update({name: getattr(blackwell, name) for name in _SAME})
globals().update(
    refused_functions("add4 fma4 mul4 sub4", "is an instruction of Rubin GPUs, which are not supported yet")
)
__all__ = ["TensorMemoryScalesLayout", "mbarrier"]
