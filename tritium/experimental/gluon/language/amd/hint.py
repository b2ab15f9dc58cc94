"""Hints to the scheduler of instructions."""

from .....frontend.gluon.amd_values import sched_barrier

__all__ = ["sched_barrier"]
