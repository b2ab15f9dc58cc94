"""The hook of `start(hook="triton")`: names and metrics of kernels from their `launch_metadata`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from numbers import Number
from typing import Any

from ..metric import transform_tensor_metrics
from ..session import sessions
from ..state import metadata_state
from .hook import Hook

__all__ = ["LaunchHook"]

# of the launch that was recorded last in this context; programs read them under these names
op_name: ContextVar[str | None] = ContextVar("op_name", default=None)
id: ContextVar[int | None] = ContextVar("id", default=None)
enabled: ContextVar[Any] = ContextVar("enabled", default=None)  # the metadata of the launch under way
in_hook: ContextVar[bool] = ContextVar("in_hook", default=False)

_RESERVED = frozenset({"name", "function", "stream"})  # what every launch's metadata has, beside its metrics


class LaunchHook(Hook):
    """Records launches under the name of their metadata, with its numbers and tensors as metrics.

    There is one instance. Kernels launched while metadata is computed are recorded in a state of their own.
    """

    priority = 100

    _instance: LaunchHook | None = None
    _include: re.Pattern[str] | None = None
    _exclude: re.Pattern[str] | None = None

    def __new__(cls) -> LaunchHook:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def configure(self, *, include: str | None = None, exclude: str | None = None) -> None:
        """Use the metadata only of kernels whose name begins with a match of `include`, and none of `exclude`."""
        self._include = re.compile(include) if include else None
        self._exclude = re.compile(exclude) if exclude else None

    def _wants(self, kernel: str) -> bool:
        if self._include is not None and self._include.match(kernel) is None:
            return False
        return self._exclude is None or self._exclude.match(kernel) is None

    def init_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """Loads are of no interest."""

    def activate(self) -> None:
        """Nothing to prepare."""

    def deactivate(self) -> None:
        """Nothing to undo."""

    def enter(self, metadata: Any) -> None:
        """Name the launch, and add its metrics."""
        if in_hook.get():
            return
        self._leave()  # a launch that failed has not told
        kernel = metadata.kernel.name
        if not self._wants(kernel):
            return
        in_hook.set(True)
        try:
            with metadata_state(kernel):
                told = metadata.get()
                metrics = transform_tensor_metrics(_metrics(told))
        finally:
            in_hook.set(False)
        name = str(told["name"])
        if not self._wants(name):
            return
        number = sessions.new_scope()
        sessions.enter_op(number, name)
        sessions.add_metrics(number, *metrics)
        id.set(number)
        op_name.set(name)
        enabled.set(metadata)

    def exit(self, metadata: Any) -> None:
        """The launch has returned."""
        if not in_hook.get() and enabled.get() is metadata:
            self._leave()

    def _leave(self) -> None:
        number = id.get()
        if enabled.get() is not None and number is not None:
            sessions.exit_op(number)
        enabled.set(None)


def _metrics(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a launch's metadata that are numbers or tensors."""
    return {
        name: value
        for name, value in metadata.items()
        if name not in _RESERVED and (isinstance(value, Number) or hasattr(value, "data_ptr"))
    }
