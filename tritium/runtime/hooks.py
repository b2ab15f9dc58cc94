"""What launch hooks are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..compiler import CompiledKernel

__all__ = ["HookMetadata"]


class HookMetadata:
    """A launch; `get()` makes the dict. `stream()` is the handle of its stream."""

    def __init__(self, kernel: CompiledKernel, grid: Any, args: Sequence[Any], stream: Callable[[], Any]) -> None:
        self.kernel = kernel
        self.grid = grid
        self.args = args
        self.stream = stream

    def get(self) -> dict[str, Any]:
        """The launch as a dict: name, function, stream, and what the kernel's `launch_metadata` adds."""
        return self.kernel.launch_metadata(self.grid, self.stream(), *self.args)
