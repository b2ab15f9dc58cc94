"""Errors of backends. Autotuning scripts catch these by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..support import TritiumError

__all__ = ["BackendError", "OutOfResources", "PTXASError", "PerformanceWarning", "ToolMissing", "stage_of"]


class BackendError(TritiumError, RuntimeError):
    """LLVM, an assembler, the loader or the thread pool failed; the message has the details."""


def stage_of(asm: Mapping[str, Any], name: str) -> Any:
    """A stage of a kernel that something is read from; BackendError where it was not kept."""
    if name not in asm:
        raise BackendError(
            f"the kernel's {name} is needed for this, and what is at hand of it is: {', '.join(asm)}; "
            "compile it with TRITON_STORE_BINARY_ONLY=0 and TRITON_ALWAYS_COMPILE=1"
        )
    return asm[name]


class OutOfResources(TritiumError):
    """The kernel needs more of something than the hardware has.

    `required` and `limit` are amounts of the resource `name`; `kernel` is the kernel's name, `place` notes on the
    lines of its source that need the most, `hint` what to change, where these are known.
    """

    def __init__(self, required: int, limit: int, name: str, kernel: str = "", place: str = "", hint: str = "") -> None:
        self.required = required
        self.limit = limit
        self.name = name
        self.kernel = kernel
        self.place = place
        self.hint = hint
        head = f"{f'kernel {kernel}: ' if kernel else ''}out of resource: {name}, Required: {required}, "
        head += f"Hardware limit: {limit}."
        if not hint:
            head += " Reducing block sizes or `num_stages` may help."
        super().__init__("\n".join(part for part in (head, place, hint and f"hint: {hint}") if part))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.required, self.limit, self.name, self.kernel, self.place, self.hint))


class PerformanceWarning(UserWarning):
    """A kernel is slow for a reason that its assembler or LLVM reports: registers spill, or WGMMAs are serialized."""


class PTXASError(TritiumError):
    """The assembler of NVIDIA GPUs failed, or there is none. No CPU compile raises it."""


class ToolMissing(PTXASError):
    """A required program or library of NVIDIA is not installed; the message explains how to install it."""
