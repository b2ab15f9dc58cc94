"""What a launch did."""

from __future__ import annotations

from ..support.dataclasses import dataclass, field

__all__ = ["Report"]


@dataclass
class Report:
    """What a launch did.

    `instructions` counts instructions times threads, `barriers` the barriers of blocks that were passed. `prints` has
    the text of every device print, in the order of execution.
    """

    kernel: str
    blocks: int
    threads: int
    instructions: int = 0
    barriers: int = 0
    prints: list[str] = field(default_factory=list)

    @property
    def output(self) -> str:
        """All that was printed."""
        return "".join(self.prints)
