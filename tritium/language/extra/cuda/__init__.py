"""What only NVIDIA GPUs have."""

from ....frontend.language.device import (
    gdc_launch_dependents,
    gdc_wait,
    globaltimer,
    num_threads,
    num_warps,
    smid,
    unsupported,
)
from . import libdevice

convert_custom_float8_sm70 = unsupported("tl.extra.cuda.convert_custom_float8_sm70", "use x.to(dtype)")
convert_custom_float8_sm80 = unsupported("tl.extra.cuda.convert_custom_float8_sm80", "use x.to(dtype)")
