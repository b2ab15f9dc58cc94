"""`import triton._C.libproton.proton`: sessions, scopes and data by the library's names, over `tritium.profiler`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ... import profiler
from ...profiler import data
from ...profiler.hooks.instrumentation import INSTRUMENTATION
from ...profiler.metric import set_metric_kernels as _set_metric_kernels
from ...profiler.session import sessions
from ...profiler.state import COMPUTE_METADATA_SCOPE_NAME, COMPUTE_METADATA_SCOPE_PREFIX
from ...support import OptionError

__all__ = [
    "TensorMetric",
    "activate",
    "activate_all",
    "add_metrics",
    "advance_data_phase",
    "clear_data",
    "deactivate",
    "deactivate_all",
    "destroy_function_metadata",
    "enter_instrumented_op",
    "enter_op",
    "enter_scope",
    "enter_state",
    "exit_instrumented_op",
    "exit_op",
    "exit_scope",
    "exit_state",
    "finalize",
    "finalize_all",
    "get_available_profilers",
    "get_context_depth",
    "get_data",
    "get_data_msgpack",
    "init_function_metadata",
    "is_data_phase_complete",
    "metadata_scope_name",
    "metadata_scope_prefix",
    "metric_type_double_index",
    "metric_type_int64_index",
    "metric_type_vector_double_index",
    "metric_type_vector_int64_index",
    "record_scope",
    "select_profiler_from_triton_backend",
    "set_metric_kernels",
    "start",
]

metadata_scope_name = COMPUTE_METADATA_SCOPE_NAME
metadata_scope_prefix = COMPUTE_METADATA_SCOPE_PREFIX
metric_type_int64_index, metric_type_double_index = 1, 2
metric_type_vector_int64_index, metric_type_vector_double_index = 5, 6

_PROFILERS = {"cpu": "cpu", "cuda": "cupti", "hip": "rocprofiler"}  # by Triton's back end


class TensorMetric:
    """The address of a metric's values on a device, their type and their number."""

    def __init__(self, ptr: int = 0, index: int = metric_type_double_index, size: int = 1) -> None:
        self.ptr, self.index, self.size = ptr, index, size


def start(path: str, contextSourceName: str, dataName: str, profilerName: str, mode: str = "") -> int | None:
    """`profiler.start`, by position."""
    return profiler.start(path, context=contextSourceName, data=dataName, backend=profilerName, mode=mode)


def activate(sessionId: int) -> None:
    """Record in a session."""
    profiler.activate(sessionId)


def activate_all() -> None:
    """Record in all sessions."""
    profiler.activate()


def deactivate(sessionId: int, flushing: bool = False) -> None:
    """Do not record in a session."""
    profiler.deactivate(sessionId, flushing)


def deactivate_all(flushing: bool = False) -> None:
    """Do not record in any session."""
    profiler.deactivate(None, flushing)


def finalize(sessionId: int, outputFormat: str = "") -> None:
    """End a session and write its file."""
    profiler.finalize(sessionId, outputFormat)


def finalize_all(outputFormat: str = "") -> None:
    """End all sessions and write their files."""
    profiler.finalize(None, outputFormat)


def record_scope() -> int:
    """A number for a scope or an operation."""
    return sessions.new_scope()


def enter_scope(scopeId: int, name: str) -> None:
    """Begin a scope in this thread."""
    sessions.enter_scope(scopeId, name)


def exit_scope(scopeId: int, name: str) -> None:
    """End a scope of this thread."""
    sessions.exit_scope(scopeId)


def enter_op(scopeId: int, name: str) -> None:
    """Record the next launch of this thread as `name`."""
    sessions.enter_op(scopeId, name)


def exit_op(scopeId: int, name: str) -> None:
    """The launch has returned."""
    sessions.exit_op(scopeId)


def enter_state(name: str) -> None:
    """Begin a state in this thread."""
    profiler.enter_state(name)


def exit_state() -> None:
    """End the state of this thread."""
    profiler.exit_state()


def add_metrics(
    scopeId: int, metrics: Mapping[str, Any], tensorMetrics: Mapping[str, TensorMetric] | None = None
) -> None:
    """Add metrics to a scope or an operation. OptionError for addresses: `proton.scope` takes tensors."""
    if tensorMetrics:
        raise OptionError(
            f"the metrics {', '.join(tensorMetrics)} are addresses on a device, which are not read\n"
            "hint: pass the tensors to proton.scope"
        )
    sessions.add_metrics(scopeId, metrics, {})


def set_metric_kernels(*kernels: int) -> None:
    """Metrics of devices are copied without kernels."""
    _set_metric_kernels()


def get_context_depth(sessionId: int) -> int:
    """How many scopes are open in this thread."""
    return sessions.depth(sessionId)


def get_data(sessionId: int, phase: int) -> str:
    """The data of a phase as JSON."""
    return json.dumps(data.get(sessionId, phase))


def get_data_msgpack(sessionId: int, phase: int) -> bytes | None:
    """The data of a phase in MessagePack."""
    return data.get_msgpack(sessionId, phase)


def clear_data(sessionId: int, phase: int, clearUpToPhase: bool = False) -> None:
    """Forget the data of a phase, or of all up to it."""
    data.clear(sessionId, phase, clearUpToPhase)


def advance_data_phase(sessionId: int) -> int | None:
    """Begin the next phase."""
    return data.advance_phase(sessionId)


def is_data_phase_complete(sessionId: int, phase: int) -> bool:
    """Whether a phase has ended and its kernels have been waited for."""
    return data.is_phase_complete(sessionId, phase)


def get_available_profilers() -> list[str]:
    """The names that `start` knows; it refuses those that need what is not there."""
    return sorted({*_PROFILERS.values(), "instrumentation", "roctracer"})


def select_profiler_from_triton_backend(tritonBackend: str) -> str:
    """The profiler for a back end of Triton's; OptionError for another."""
    if tritonBackend not in _PROFILERS:
        raise OptionError(f"No profiler registered for triton backend {tritonBackend}")
    return _PROFILERS[tritonBackend]


def _refused(name: str) -> Callable[..., NoReturn]:
    """A function for instrumented kernels, of which there are none."""

    def refuse(*arguments: Any) -> NoReturn:
        raise OptionError(f"libproton.proton.{name} is not supported: {INSTRUMENTATION}")

    refuse.__name__, refuse.__doc__ = name, "OptionError: kernels are not instrumented."
    return refuse


destroy_function_metadata = _refused("destroy_function_metadata")
enter_instrumented_op = _refused("enter_instrumented_op")
exit_instrumented_op = _refused("exit_instrumented_op")
init_function_metadata = _refused("init_function_metadata")
