"""Two versions of a kernel: one that only some launches can run, and the one for all others.

A kernel whose descriptors the launcher encodes cannot run where no tensor map describes one. One whose loads were
raised to TMA (`transforms/raise_loads_to_tma`) cannot run where its launch predicate does not hold. The other version
has the same source and an entry of its own in the cache; it is compiled by the first launch that needs it.

A launch that compiles a kernel passes what the predicate is about (`launch_of`): where it does not hold, only the plain
version is compiled, whose attribute `deferred` is the predicate of the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

from ..compiler import CompiledKernel
from ..support.errors import interrupts
from ..support.lazy import LazyModule
from .arrays import describe
from .device_caches import Specialization
from .errors import LaunchError
from .grid import normalize_grid
from .packing import Packer
from .tensor_maps import NotEncodable

if TYPE_CHECKING:
    from .host_maps import HostMaps

__all__ = [
    "Versioned",
    "has_maps",
    "is_conditional",
    "launch_of",
    "persistent_grid",
    "version_for",
]

_host_maps = LazyModule(".host_maps", __package__)
_launch_predicate = LazyModule("..support.launch_predicate", __package__)


def is_conditional(kernel: CompiledKernel) -> bool:
    """Whether a kernel has a launch predicate."""
    return bool(kernel.values.get("launch_predicate"))


def has_maps(values: Mapping[str, object]) -> bool:
    """Whether a launch passes more than the arguments of a kernel with this metadata (`host_maps`)."""
    return bool(values.get("argument_maps") or values.get("persistent_grid"))


def persistent_grid(grid: tuple[int, int, int], resident: int) -> tuple[int, int, int]:
    """The programs that a launch of a persistent kernel starts: at most `resident`, which run at once."""
    return min(prod(grid), max(1, resident)), 1, 1


def launch_of(types: Sequence[object], args: Sequence[object], grid: Callable[[], object]) -> dict[str, object] | None:
    """The `grid` and the `arguments` of a launch, integers and addresses by parameter; None if any is not known.

    `types` are those of a signature, with "constexpr" for what is compiled in.
    """
    try:
        values = [_integer(ty, value) for ty, value in zip(types, args) if ty != "constexpr"]
        return None if None in values else {"grid": normalize_grid(grid(), None), "arguments": values}
    except interrupts():
        raise
    except Exception:  # of the user's grid function, or for wrong arguments: the launch reports it
        return None


def _integer(ty: object, value: Any) -> int | None:
    """An argument as an integer, 0 for a float; None for a descriptor, a tuple, or an array without memory."""
    if not isinstance(ty, str) or ty.startswith("tensordesc"):
        return None
    if ty[0] == "*":
        info = describe(value)
        return (info.address if info is not None else 0) or None
    return int(value) if ty[0] in "iu" else 0


class Find(Protocol):
    """Finds the kernel for some arguments, compiled now if needed; None if a hook forbids it."""

    def __call__(self, options: dict[str, object], *, grid: object = None) -> Specialization | None:
        """With options of the compile, in the version for a grid if one is given."""


def version_for(
    found: Specialization,
    grid: object,
    args: Sequence[object],
    device: int,
    find: Find,
    options: Mapping[str, object],
    kernels: MutableMapping[object, Specialization],
) -> tuple[Specialization | None, HostMaps | None]:
    """The version of a kernel for a launch, and the maps of the version that it cannot run.

    A deferred version is compiled by the first launch that can run it, and replaces the kernel among `kernels`.
    """
    if found.kernel.deferred:
        maps = _deferred_maps(found.kernel.deferred)
        if not _runs(maps, found, grid, args, device):
            return found, maps
        for key in [key for key, value in kernels.items() if value is found]:
            kernels.pop(key, None)
        compiled = find(dict(options), grid=grid)
        if compiled is None or compiled.kernel.deferred:
            return compiled, None
        found = compiled
    launcher = found.kernel.launcher
    if launcher.runs(grid, args, device):
        return found, None
    return find({**options, **_launch_predicate.PLAIN}), launcher.packer.maps


@lru_cache(256)
def _deferred_maps(predicate: str) -> HostMaps:
    """The maps, which are none, of a version that was not compiled: they decide whether a launch can run it."""
    made: HostMaps = _host_maps.HostMaps([], _no_map, _launch_predicate.LaunchPredicate(predicate))
    return made


def _runs(maps: HostMaps, found: Specialization, grid: object, args: Sequence[object], device: int) -> bool:
    """Whether a launch with a value for each parameter can run the version with these maps."""
    try:
        maps(found.kernel.launcher.packer.values(args, device), normalize_grid(grid, None, found.kernel.name))
    except NotEncodable:
        return False
    return True


def _no_map(*_: object) -> bytes:
    raise NotEncodable


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
            other = kernel.compiled_with(**(_launch_predicate.PLAIN if conditional else {"host_maps": False}))
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
