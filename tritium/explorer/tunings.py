"""The tables of autotuners, made of the messages of a script while it runs."""

from __future__ import annotations

from collections.abc import Mapping

from .json_types import Json
from .model import Tuning, TuningRow

__all__ = ["Tunings"]


class Tunings:
    """One table for each search of an autotuner."""

    def __init__(self) -> None:
        self.tables: dict[str, Tuning] = {}
        self._running: Tuning | None = None

    def receive(self, message: Mapping[str, Json]) -> str | None:
        """Add what a message says; the id of the table that changed."""
        if message["type"] == "timed":
            return self._timed(message)
        if message["state"] == "running":
            configs = message["configs"]
            names = list(dict.fromkeys(name for config in configs for name in config))
            rows = [TuningRow(config, None, "waiting") for config in configs]
            found = Tuning(f"t{len(self.tables) + 1}", message["kernel"], message["key"], "running", names, "ms", rows)
            self.tables[found.id] = self._running = found
            return found.id
        table = self._running
        if table is None:
            return None
        self._running = None
        table.state = "done"
        for row in table.rows:
            row.best = row.config == message["best"]
            if row.state == "waiting":
                row.state, row.message = "pruned", "not timed"
        return table.id

    def _timed(self, message: Mapping[str, Json]) -> str | None:
        table = self._running
        row = None if table is None else next((r for r in table.rows if r.config == message["config"]), None)
        if table is None or row is None:
            return None
        if "error" in message:
            row.state, row.message = "failed", message["error"]
        else:
            row.state, row.ms = "done", message["ms"]
        return table.id
