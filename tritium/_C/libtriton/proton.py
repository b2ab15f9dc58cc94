"""`triton._C.libtriton.proton`: the dialect of Triton's intra-kernel profiler; refused by name."""

from __future__ import annotations

from typing import Any

from ...dropin.refusal import refused_attributes

_NAMES = (
    "BUFFER_STRATEGY BUFFER_TYPE CIRCULAR CTA CYCLE FLUSH GLOBAL GRANULARITY METRIC_TYPE NONE SAMPLING_STRATEGY "
    "SELECTIVE SHARED WARP WARP_2 WARP_4 WARP_8 WARP_GROUP WARP_GROUP_2 WARP_GROUP_4 WARP_GROUP_8 "
    "add_allocate_proton_shared_memory add_convert_proton_amd_gpu_to_llvm add_convert_proton_nvidia_gpu_to_llvm "
    "add_convert_proton_to_protongpu add_sched_barriers add_schedule_buffer_store create_proton_allocate_event "
    "create_proton_event create_proton_record get_scope_id_names get_scope_id_parents"
)
_INSTEAD = "tritium.profiler measures whole kernels; instrumentation inside of them is not implemented"

__getattr__ = refused_attributes(__name__, {_NAMES: _INSTEAD})


def load_dialects(context: Any) -> None:
    """Nothing: dialects are imported when text names them."""
