"""What a run of a pipeline did: a tree of times, what changed, what passes counted."""

from __future__ import annotations

from collections.abc import Iterator

from ...support.dataclasses import dataclass, field

__all__ = ["PassRun", "PipelineReport"]


@dataclass
class PassRun:
    """What one row of a pipeline did: seconds, whether it changed anything, what it counted, times by function.

    For a nest, `children` are the runs of its rows, over all that it ran on.
    """

    name: str
    seconds: float = 0.0
    changed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    functions: list[tuple[str, float]] = field(default_factory=list)
    children: list[PassRun] = field(default_factory=list)

    def walk(self) -> Iterator[PassRun]:
        """This run and those in it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class PipelineReport:
    """What a pipeline did. `extra` are times around it that belong to the whole, such as parsing and printing."""

    stage: str
    runs: list[PassRun] = field(default_factory=list)
    verify_seconds: float = 0.0
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The time of all passes, of verifying, and of what else was measured."""
        return sum(r.seconds for r in self.runs) + self.verify_seconds + sum(self.extra.values())

    @property
    def changed(self) -> bool:
        """Whether any pass changed anything."""
        return any(run.changed for top in self.runs for run in top.walk())

    def add(self, other: PipelineReport) -> None:
        """Add what the same pipeline did elsewhere."""
        _merge(self.runs, other.runs)
        self.verify_seconds += other.verify_seconds
        for name, seconds in other.extra.items():
            self.extra[name] = self.extra.get(name, 0.0) + seconds

    def tree(self) -> str:
        """Times as a tree, in seconds and percent of the whole."""
        total = self.seconds
        lines = [f"pass times of {self.stage}: {total:.6f} seconds", "", "  -----Wall Time------  ----Name----"]

        def line(seconds: float, depth: int, name: str) -> None:
            lines.append(f"  {seconds:10.6f} ({100 * seconds / (total or 1e-9):5.1f}%)  {'  ' * depth}{name}")

        def add(run: PassRun, depth: int) -> None:
            line(run.seconds, depth, run.name)
            if len(run.functions) > 1:
                for name, seconds in run.functions:
                    line(seconds, depth + 1, name)
            for child in run.children:
                add(child, depth + 1)

        parse = {name: s for name, s in self.extra.items() if name == "Parser"}
        for name, seconds in parse.items():
            line(seconds, 0, name)
        for run in self.runs:
            add(run, 0)
        line(self.verify_seconds, 0, "(verify)")
        for name, seconds in self.extra.items():
            if name not in parse:
                line(seconds, 0, name)
        line(total, 0, "Total")
        return "\n".join(lines)

    def statistics(self) -> str:
        """What passes counted, a line each, such as `cse: operations merged: 1`."""
        return "\n".join(
            f"{run.name}: {what}: {n}" for top in self.runs for run in top.walk() for what, n in run.counts.items()
        )


def _merge(runs: list[PassRun], others: list[PassRun]) -> None:
    for i, other in enumerate(others):
        if i == len(runs):
            runs.append(other)
            continue
        run = runs[i]
        run.seconds += other.seconds
        run.changed |= other.changed
        run.functions += other.functions
        for what, n in other.counts.items():
            run.counts[what] = run.counts.get(what, 0) + n
        _merge(run.children, other.children)
