"""`triton._C.libtriton.gsan_testing`: the state of Triton's sanitizer of global memory; refused by name."""

from __future__ import annotations

from ...dropin.refusal import refused_attributes

_NAMES = (
    "AtomicScope GLOBAL_STATE_SIZE_BYTES GlobalState PER_DEVICE_STATE_STRIDE_BYTES SHADOW_CELL_SIZE_BYTES "
    "ScalarClock ShadowCell THREAD_STATE_HEADER_SIZE_BYTES ThreadState decode_global_state decode_shadow_cell "
    "decode_thread_state decode_write_once_clock is_write_once_address shadow_cell_address shadow_cell_size "
    "shadow_granularity thread_state_address thread_state_stride_bytes"
)
_INSTEAD = "the emulator checks launches for races, and keeps no state in global memory"

__getattr__ = refused_attributes(__name__, {_NAMES: _INSTEAD})
