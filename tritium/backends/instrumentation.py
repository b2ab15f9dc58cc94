"""Modes of the option `instrumentation_mode`: which checks a compile builds into a kernel, and which are refused.

| mode | what Triton's sanitizer of this name reports |
|---|---|
| consan | races on buffers of shared and tensor memory, missing waits and barriers, deadlocks |
| iisan | tensor descriptors whose base or strides are not multiples of 16 bytes |
| gsan | races of programs and kernels in global memory |
| fpsan | nothing itself: it maps floating point to a ring, so that kernels of equal dataflow give equal bits |

`iisan` is built by the frontend as device assertions. A mode that a target does not build is refused with what to use
instead. Checks that a device makes by itself (the emulator) never get here: see `DriverBase.checks`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..support import OptionError
from ..support.suggestions import did_you_mean

__all__ = ["BOUNDS", "EMULATED", "MODES", "instrumented", "mode_names", "split_modes"]

MODES: Mapping[str, str] = {
    "consan": "launch on the emulator (TRITIUM_TARGET=emulated:90), which checks every launch for races, missing waits "
    "and deadlocks; `tritium check` runs one launch there",
    "iisan": "compile for NVIDIA GPUs or the CPU",
    "gsan": "launch on the emulator (TRITIUM_TARGET=emulated:90), which then finds races of CTAs in global memory",
    "fpsan": "`tritium check` compares a launch after each pass with the kernel's Python, and allows for rounding",
}
"""The modes, and what to use where one is refused."""

BOUNDS = "bounds"
"""The check of accesses outside of arrays: `sanitize=True`, `runtime.sanitize`, `compilation.enable_asan`."""

EMULATED = frozenset(("consan", BOUNDS))
"""The checks of the emulator in every launch."""


def mode_names(text: str) -> list[str]:
    """The modes that a value of the option names, with commas between; OptionError for names that are none."""
    names = [name for part in text.split(",") if (name := part.strip())]
    for name in names:
        if name not in MODES:
            hint = did_you_mean(name, MODES) or f"modes are: {', '.join(MODES)}"
            raise OptionError(f"instrumentation_mode: there is no mode {name!r}; {hint}")
    return names


def split_modes(text: str, checked: Collection[str]) -> tuple[str, str]:
    """The modes of a value of the option that are to be compiled in, and those that a device checks by itself."""
    names = mode_names(text)
    return ",".join(n for n in names if n not in checked), ",".join(n for n in names if n in checked)


def instrumented(given: Mapping[str, Any], built: Collection[str], target: str) -> dict[str, Any]:
    """The options that follow from the requested instrumentation: `debug` where checks are assertions.

    `built` are the modes that are built for `target`; OptionError for any other, and for options of `fpsan`.
    """
    modes = mode_names(given.get("instrumentation_mode") or "")
    for name in modes:
        if name not in built:
            raise OptionError(f"instrumentation_mode={name!r} is not supported for {target}\nhint: {MODES[name]}")
    if given.get("fpsan_homomorphic_casts"):
        raise OptionError(
            f"fpsan_homomorphic_casts=True is not supported for {target}: it belongs to instrumentation_mode='fpsan'"
            f"\nhint: {MODES['fpsan']}"
        )
    return {"debug": True, "sanitize_overflow": False} if modes else {}
