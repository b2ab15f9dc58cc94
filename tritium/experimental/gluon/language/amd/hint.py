"""Hints to the scheduler of instructions: refused where a kernel uses them."""

from .....frontend.gluon.refused import AMD, refused_functions

globals().update(
    refused_functions(
        "sched_barrier",
        AMD,
    )
)
