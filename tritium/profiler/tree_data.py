"""The data of a session as a tree of frames with aggregated metrics (`data="tree"`), and its hatchet form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import msgpack
from .kernels import KernelRun, KernelTotals
from .values import Metrics, Scalar

__all__ = ["TreeData", "TreeEntry"]


class TreeEntry:
    """A frame: a scope, a line of Python, a state or a kernel."""

    __slots__ = ("children", "kernels", "metrics", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.children: dict[str, TreeEntry] = {}
        self.kernels: KernelTotals | None = None
        self.metrics = Metrics()

    def child(self, name: str) -> TreeEntry:
        """The child of this name, made if there is none."""
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = TreeEntry(name)
        return found

    def walk(self) -> Iterator[TreeEntry]:
        """This frame and all below it, in preorder."""
        yield self
        for child in self.children.values():
            yield from child.walk()

    def add_kernel(self, run: KernelRun) -> None:
        """Add a run of the kernel that this frame is."""
        if self.kernels is None:
            self.kernels = KernelTotals()
        self.kernels.add(run)

    def add_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Aggregate user metrics."""
        self.metrics.add(metrics)

    def literal(self) -> dict[str, Any]:
        """The frame and all below it as hatchet reads them."""
        own = {} if self.kernels is None else self.kernels.as_metrics()
        return {
            "children": [c.literal() for c in self.children.values()],
            "frame": {"name": self.name, "type": "function"},
            "metrics": {**own, **{m.name: m.value for m in self.metrics.values()}},
        }


class TreeData:
    """A tree of frames; frames of the same path are one."""

    formats = ("hatchet", "hatchet_msgpack")

    def __init__(self) -> None:
        self.root = TreeEntry("ROOT")

    def enter_scope(self, scope: int, frames: Sequence[str]) -> TreeEntry:
        """The frame of a scope that begins."""
        return self.add_op(frames)

    def exit_scope(self, entry: TreeEntry) -> None:
        """Scopes have no time of their own."""

    def add_op(self, frames: Sequence[str]) -> TreeEntry:
        """The frame of a kernel that is launched."""
        entry = self.root
        for name in frames:
            entry = entry.child(name)
        return entry

    def devices(self) -> set[tuple[str, str]]:
        """(type, number) of each device that a kernel ran on."""
        return {(e.kernels.device_type, e.kernels.device) for e in self.root.walk() if e.kernels is not None}

    def literal(self, devices: Mapping[str, Any]) -> list[Any]:
        """The tree and its devices as hatchet reads them.

        The root has a zero of every inclusive metric: viewers take the root's metrics for the inclusive ones, and show
        `nan` on the frames above a kernel for all others.
        """
        root = self.root.literal()
        root["metrics"] = {**self._zeros(), **root["metrics"]}
        return [root, dict(devices)]

    def _zeros(self) -> dict[str, Scalar]:
        zeros: dict[str, Scalar] = {}
        for entry in self.root.walk():
            if entry.kernels is not None:
                zeros |= {"count": 0, "time (ns)": 0}
            zeros |= {m.name: type(m.value)(0) for m in entry.metrics.values() if m.is_inclusive}
        return zeros

    def dump(self, output_format: str, devices: Mapping[str, Any]) -> bytes:
        """The content of a file in one of `formats`."""
        literal = self.literal(devices)
        if output_format == "hatchet_msgpack":
            return msgpack.packed(literal)
        return (json.dumps(literal, indent=4) + "\n").encode()
