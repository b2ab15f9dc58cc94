"""The kernel language: `import tritium.language as tl`.

Every name of `triton.language` is here; what is not supported yet says so when a kernel uses it.
"""

from ..frontend.aggregate_types import *
from ..frontend.aggregates import aggregate_replace
from ..frontend.callee import constexpr_function
from ..frontend.dtypes import *
from ..frontend.language.core import *
from ..frontend.language.device import unsupported
from ..frontend.language.mathematics import *
from ..frontend.language.random import *
from ..frontend.language.standard import *
from ..frontend.language.standard import bitonic_merge
from . import core, extra, math, random, standard, target_info
from .extra import libdevice

TRITON_MAX_TENSOR_NUMEL = 1048576
constexpr = core.constexpr
tensor = core.tensor
tensor_descriptor = core.tensor_descriptor
tuple = core.tuple
range = core.range
static_range = core.static_range
condition = core.condition
abs = core.abs

_NOT_YET = {
    "atomic_load": "use tl.load(ptr, volatile=True), or tl.atomic_add(ptr, 0)",
    "atomic_store": "use tl.atomic_xchg",
    "atomic_poll": "use a while loop with tl.atomic_cas",
    "inline_asm": "use tl.inline_asm_elementwise",
}
for _name, _hint in _NOT_YET.items():
    globals()[_name] = unsupported(f"tl.{_name}", _hint)

_experimental_make_tensor_descriptor = core.make_tensor_descriptor
_experimental_descriptor_load = core.load_tensor_descriptor
_experimental_descriptor_store = unsupported("tl._experimental_descriptor_store", "use tl.make_tensor_descriptor")
