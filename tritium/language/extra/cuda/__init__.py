"""Functions of NVIDIA GPUs."""

from ....frontend.language.device import (
    convert_custom_float8,
    convert_custom_float8_sm70,
    convert_custom_float8_sm80,
    convert_float16_to_fp8e4b15,
    convert_fp8e4b15_to_float16,
    gdc_launch_dependents,
    gdc_wait,
    globaltimer,
    num_threads,
    num_warps,
    smid,
)
from . import libdevice
