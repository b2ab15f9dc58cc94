"""amd-schedule-loops: Schedule the loads of loops ahead of the dots that use them.

    scf.for … {                                          kernel with num_stages = 2          stage
      %a = tt.load %pa                                     %a = tt.load %pa                    0
      %x = ttg.convert_layout %a                     =>    %x = ttg.convert_layout %a          1
      %acc = tt.dot %x, …                                  %acc = tt.dot %x, …                 1
    }                                                    } {tt.scheduled_max_stage = 1}

Latencies are assigned to loads as `assign-latencies` does, and operations are scheduled as `schedule-loops` does;
`amd-pipeline` expands the loop. Loads of less than 4 bytes for each lane are left alone on CDNA 1 to 3, as there. (The
pipelines for AMD GPUs run these two passes, which have switches of their own; this is Triton's name for both.)
"""

from __future__ import annotations

from ....dialects.ttg_context import target_of
from ....hardware.amd import amd_gpu
from ....ir import Operation, pass_on
from ....support.dataclasses import dataclass
from .assign_latencies import assign_to_loads
from .schedule_loops import schedule_loops

__all__ = ["ScheduleOptions", "amd_schedule_loops"]


@dataclass(frozen=True)
class ScheduleOptions:
    """`num_stages`: the number of stages of loops that do not state it."""

    num_stages: int = 2


@pass_on("module")
def amd_schedule_loops(module: Operation, options: ScheduleOptions = ScheduleOptions()) -> bool:
    """Assign stages and clusters to the operations of the loops of a module."""
    kind, _, arch = target_of(module).partition(":")
    gpu = amd_gpu(arch) if kind == "hip" else None
    assigned = assign_to_loads(module, options.num_stages, gpu is None or gpu.mfma_version in (1, 2, 3))
    return schedule_loops(module) or assigned
