"""Whether profiling is on in this process, as one object that scopes test before they do anything."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ProfilerFlags", "flags"]


@dataclass
class ProfilerFlags:
    """`profiling_on`: a session exists. `command_line`: the `proton` command owns the session.

    `instrumentation_on` is always False: instrumentation inside kernels is not supported.
    """

    profiling_on: bool = False
    instrumentation_on: bool = False
    command_line: bool = False


flags = ProfilerFlags()
