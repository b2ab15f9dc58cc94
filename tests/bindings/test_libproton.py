"""`triton._C.libproton.proton`: what programs that call Triton's compiled profiler directly find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritium._C.libproton import proton as libproton
from tritium.support import OptionError


@pytest.fixture(autouse=True)
def _no_sessions() -> Iterator[None]:
    yield
    libproton.finalize_all()


def test_sessions_scopes_and_data_by_position(tmp_path: Path) -> None:
    session = libproton.start(str(tmp_path / "p"), "shadow", "tree", "cpu")
    assert session is not None
    outer, op = libproton.record_scope(), libproton.record_scope()
    assert op == outer + 1
    libproton.enter_scope(outer, "outer")
    libproton.add_metrics(outer, {"a": 1.0, "v": [1, 2]})
    libproton.enter_state("state")
    libproton.enter_op(op, "op")
    libproton.add_metrics(op, {"bytes": 4})
    libproton.exit_op(op, "op")
    libproton.exit_state()
    assert libproton.get_context_depth(session) == 1
    libproton.exit_scope(outer, "outer")
    libproton.deactivate(session, False)
    [scope] = json.loads(libproton.get_data(session, 0))[0]["children"]
    assert scope["metrics"] == {"a": 1.0, "v": [1, 2]}
    assert scope["children"][0]["children"][0]["metrics"] == {"bytes": 4}
    assert libproton.get_data_msgpack(session, 0)
    libproton.activate(session)
    assert libproton.advance_data_phase(session) == 1
    libproton.deactivate_all(True)
    assert libproton.is_data_phase_complete(session, 0)
    libproton.clear_data(session, 0, True)
    libproton.activate_all()
    libproton.set_metric_kernels(0, 0, 0)
    libproton.finalize(session, "hatchet")
    assert (tmp_path / "p.part_1.hatchet").exists()


def test_profilers_by_backend() -> None:
    assert libproton.select_profiler_from_triton_backend("cuda") == "cupti"
    assert {"cpu", "cupti", "instrumentation", "rocprofiler"} <= set(libproton.get_available_profilers())
    with pytest.raises(ValueError, match="No profiler registered for triton backend other"):
        libproton.select_profiler_from_triton_backend("other")


def test_addresses_and_instrumentation_are_refused() -> None:
    metric = libproton.TensorMetric(123, libproton.metric_type_int64_index)
    assert (metric.ptr, metric.index, metric.size) == (123, libproton.metric_type_int64_index, 1)
    with pytest.raises(OptionError, match="the metrics a are addresses"):
        libproton.add_metrics(1, {}, {"a": metric})
    with pytest.raises(OptionError, match="enter_instrumented_op is not supported"):
        libproton.enter_instrumented_op(0, 0, 0, 0)
