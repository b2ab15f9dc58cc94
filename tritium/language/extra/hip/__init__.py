"""What only AMD GPUs have."""

from ....frontend.language.device import num_threads, num_warps, unsupported
from . import libdevice

memrealtime = unsupported("tl.extra.hip.memrealtime")
smid = unsupported("tl.extra.hip.smid")
