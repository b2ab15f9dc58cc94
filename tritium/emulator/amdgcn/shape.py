"""The shape of a batch of workgroups, and how errors name its waves and lanes."""

from __future__ import annotations

import numpy as np

__all__ = ["Shape"]


class Shape:
    """How many workgroups of which shape a batch has, and how its waves and lanes are numbered."""

    def __init__(self, name: str, block: tuple[int, int, int], workgroups: int, lanes: int) -> None:
        self.name, self.block, self.workgroups, self.lanes = name, block, workgroups, lanes
        self.threads = block[0] * block[1] * block[2]
        self.waves_per_group = -(-self.threads // lanes)
        self.waves = self.waves_per_group * workgroups
        self.group_of_wave = np.arange(self.waves) // self.waves_per_group
        self.grid = (1, 1, 1)
        self.numbers = np.zeros(workgroups, np.int64)

    def coordinates(self, number: int) -> tuple[int, int, int]:
        """Where the workgroup with a linear number is in the grid."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // x // y

    def where(self, wave: int, lane: int | None = None) -> str:
        """A wave, or a lane of it, in words."""
        x, y, z = self.coordinates(int(self.numbers[self.group_of_wave[wave]]))
        group = f"{x}" if self.grid[1:] == (1, 1) else f"({x}, {y}, {z})"
        within = wave % self.waves_per_group
        which = f"wave {within}" if lane is None else f"lane {lane} of wave {within}"
        return f"{which} of workgroup {group}"
