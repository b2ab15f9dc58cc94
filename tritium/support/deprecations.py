"""Warnings of changes in Triton 3.10, each issued once per process."""

from __future__ import annotations

import functools
import os
import sys
import warnings

__all__ = [
    "CAT_CAN_REORDER_WARNING",
    "FP_FUSION_DEFAULT_WARNING",
    "RESHAPE_CAN_REORDER_WARNING",
    "prewarm_deprecation_warnings",
    "warn_once",
]

FP_FUSION_DEFAULT_WARNING = (
    "TRITON_DEFAULT_FP_FUSION is unset: kernels for GPUs may compute a * b + c as one fused multiply-add. From Triton "
    "3.10 on they may not by default; set TRITON_DEFAULT_FP_FUSION=1 to keep fusion on, =0 to turn it off"
)
CAT_CAN_REORDER_WARNING = (
    "tl.cat(can_reorder=True) is deprecated: Triton 3.10 removes the option and always keeps the order. "
    "Leave can_reorder out"
)
RESHAPE_CAN_REORDER_WARNING = (
    "tl.reshape(can_reorder=True) is deprecated: Triton 3.10 removes the option and always keeps the order. "
    "Leave can_reorder out"
)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@functools.cache
def warn_once(message: str) -> None:
    """A UserWarning at the user's line, once per process and text."""
    warnings.warn(message, UserWarning, stacklevel=_level_of_user())


def _level_of_user() -> int:
    """The stack level of the first frame outside of this package, above `warn_once`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def prewarm_deprecation_warnings() -> None:
    """Issue the warnings of this module invisibly, so that they are not issued later in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for message in (FP_FUSION_DEFAULT_WARNING, CAT_CAN_REORDER_WARNING, RESHAPE_CAN_REORDER_WARNING):
            warn_once(message)
