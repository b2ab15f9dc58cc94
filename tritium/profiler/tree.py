"""What a session has found: a tree of scopes and kernels with their sums."""

from __future__ import annotations

from typing import Any

__all__ = ["Node"]

TIME = "time (ns)"
COUNT = "count"


class Node:
    """A scope or a kernel: how often it ran, its own nanoseconds, and what its metrics add up to."""

    __slots__ = ("children", "kernel", "metrics", "name", "parent")

    def __init__(self, name: str, parent: Node | None = None, kernel: bool = False) -> None:
        self.name, self.parent, self.kernel = name, parent, kernel
        self.children: dict[str, Node] = {}
        self.metrics: dict[str, float] = {}

    def child(self, name: str, kernel: bool = False) -> Node:
        """The child of this name, made if there is none."""
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = Node(name, self, kernel)
        return found

    def add(self, metrics: dict[str, float]) -> None:
        """Add to each sum."""
        for name, value in metrics.items():
            self.metrics[name] = self.metrics.get(name, 0) + value

    @property
    def has_kernels(self) -> bool:
        """Whether a kernel's own time stands somewhere below."""
        return any(c.kernel or c.has_kernels for c in self.children.values())

    def literal(self) -> dict[str, Any]:
        """The form in which profiles are stored (that of the package `hatchet`)."""
        kind = "kernel" if self.kernel else "function"
        return {
            "frame": {"name": self.name, "type": kind},
            "metrics": dict(self.metrics),
            "children": [c.literal() for c in self.children.values()],
        }
