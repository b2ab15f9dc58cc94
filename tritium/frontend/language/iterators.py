"""Iterables of loops: `tl.range`, `tl.static_range`; and `tl.condition` for `while`."""

from __future__ import annotations

from typing import Any

from ..constexpr import constexpr, unwrap
from .builtin import flag

__all__ = ["condition", "range", "static_range"]


class _Range:
    """start, end, step of a loop; `range(end)` and `range(start, end)` as in Python."""

    __slots__ = ("end", "start", "step")

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None) -> None:
        if arg2 is None:
            self.start, self.end = constexpr(0), arg1
        else:
            self.start, self.end = arg1, arg2
        self.step = constexpr(1) if step is None else step

    def __iter__(self) -> Any:
        raise RuntimeError(f"tl.{type(self).__name__} can only be used in @triton.jit'd functions")


class static_range(_Range):
    """`for i in tl.static_range(n)`: the loop is unrolled, `i` is known at compile time."""

    __slots__ = ()

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None, _semantic: Any = None) -> None:
        super().__init__(arg1, arg2, step)


class range(_Range):
    """`for i in tl.range(n, num_stages=3)`: a run-time loop with hints to the compiler.

    `num_stages`: depth of software pipelining. `loop_unroll_factor`: copies of the body.
    `disallow_acc_multi_buffer`, `flatten`, `warp_specialize`: hints for GPUs. `disable_licm`: no
    loop-invariant code motion.
    """

    __slots__ = (
        "disable_licm",
        "disallow_acc_multi_buffer",
        "flatten",
        "loop_unroll_factor",
        "num_stages",
        "warp_specialize",
    )

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: Any = False,
        flatten: Any = False,
        warp_specialize: Any = False,
        disable_licm: Any = False,
        _semantic: Any = None,
    ) -> None:
        super().__init__(arg1, arg2, step)
        self.num_stages = unwrap(num_stages)
        self.loop_unroll_factor = unwrap(loop_unroll_factor)
        self.disallow_acc_multi_buffer = flag(disallow_acc_multi_buffer)
        self.flatten = flag(flatten)
        self.warp_specialize = flag(warp_specialize)
        self.disable_licm = flag(disable_licm)


class condition:
    """`while tl.condition(c, disable_licm=True)`: a loop condition with a hint."""

    __slots__ = ("condition", "disable_licm")

    def __init__(self, arg1: Any, disable_licm: Any = False, _semantic: Any = None) -> None:
        self.condition = arg1
        self.disable_licm = flag(disable_licm)
