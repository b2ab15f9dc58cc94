"""Two versions of a kernel: one that only some launches can run, and the one for all others.

A kernel whose descriptors the launcher encodes cannot run where no tensor map describes one. One whose loads were
raised to TMA (`transforms/raise_loads_to_tma`) cannot run where its launch predicate does not hold. The other version
has the same source and an entry of its own in the cache; it is compiled by the first launch that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..compiler import CompiledKernel
from .device_caches import Specialization
from .errors import LaunchError
from .grid import normalize_grid
from .packing import Packer
from .tensor_maps import NotEncodable

__all__ = ["PLAIN", "Versioned", "has_maps", "is_conditional", "persistent_grid", "version_for"]


PLAIN = {"raise_loads": False, "persistent": False, "launch_versions": False}
"""Options of the version that any launch can run."""


def is_conditional(kernel: CompiledKernel) -> bool:
    """Whether a kernel has a launch predicate."""
    return bool(kernel.values.get("launch_predicate"))


def has_maps(values: Mapping[str, object]) -> bool:
    """Whether a launch passes more than the arguments of a kernel with this metadata (`host_maps`)."""
    return bool(values.get("argument_maps") or values.get("persistent_grid"))


def persistent_grid(grid: tuple[int, int, int], resident: int) -> tuple[int, int, int]:
    """The programs that a launch of a persistent kernel starts: at most `resident`, which run at once."""
    return min(grid[0], max(1, resident)), grid[1], grid[2]


def version_for(
    found: Specialization,
    grid: object,
    args: Sequence[object],
    device: object,
    plain: Callable[[], Specialization | None],
) -> Specialization | None:
    """The version of a conditional kernel for a launch: itself, or the one without raised loads."""
    return found if found.kernel.launcher.runs(grid, args, device) else plain()


class Versioned:
    """A launcher of a kernel that may have another version."""

    kernel: CompiledKernel
    packer: Packer
    _other: CompiledKernel | None = None

    @property
    def other_version(self) -> CompiledKernel:
        """The kernel for launches that this one cannot run; LaunchError where its source is one version only."""
        if self._other is None:
            kernel, conditional = self.kernel, is_conditional(self.kernel)
            other = kernel.compiled_with(**(PLAIN if conditional else {"host_maps": False}))
            if is_conditional(other) or (other.values.get("argument_maps") and not conditional):
                what = "its launch predicate" if conditional else "tensor maps made from its arguments"
                raise LaunchError(
                    f"{kernel.name} was compiled from the text of a later stage, which is only for launches that meet "
                    f"{what}; this one does not"
                )
            self._other = other
        return self._other

    def runs(self, grid: object, args: Sequence[object], device: int) -> bool:
        """Whether a launch with a value for each parameter runs this kernel, by its launch predicate."""
        if not is_conditional(self.kernel):
            return True
        try:
            self.packer(args, device, normalize_grid(grid, None, self.kernel.name))
        except NotEncodable:
            return False
        return True
