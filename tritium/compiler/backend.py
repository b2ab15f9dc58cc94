"""The backends, and the selection of one for a target."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..backends.compiler import BaseBackend, GPUTarget
from ..support import TritiumError
from ..support.lazy import LazyModule

__all__ = ["TargetError", "backends", "make_backend", "named_target", "register_backend"]

_metadata = LazyModule("importlib.metadata")  # 10 ms, needed for unusual targets only
_cpu = LazyModule("..backends.cpu.compiler", __package__)
_nvidia = LazyModule("..backends.nvidia.compiler", __package__)
_amd = LazyModule("..backends.amd.compiler", __package__)
_amd_target = LazyModule("..backends.amd.target", __package__)

_OWN: dict[str, Callable[[], type[BaseBackend]]] = {
    "cpu": lambda: _cpu.CPUBackend,
    "cuda": lambda: _nvidia.CUDABackend,
    "hip": lambda: _amd.HIPBackend,
}
_registered: dict[str, type[BaseBackend]] = {}


class TargetError(TritiumError, RuntimeError):
    """No backend, or more than one, compiles for a target."""


def register_backend(name: str, backend: type[BaseBackend]) -> None:
    """Register a backend in this process under `name`, replacing one of that name.

    TargetError for a backend that specializes arguments itself: specialization is the same on all targets.
    """
    for method in ("get_int_specialization", "get_tensor_specialization"):
        if getattr(backend, method) is not getattr(BaseBackend, method):
            raise TargetError(
                f"{backend.__name__}.{method} would never be called: launches specialize arguments alike on all "
                "targets; leave it out, or mark parameters with do_not_specialize"
            )
    _registered[name] = backend
    make_backend.cache_clear()


def backends() -> dict[str, type[BaseBackend]]:
    """All backends by name: those of the package, registered ones, and those of entry points."""
    found: dict[str, type[BaseBackend]] = {name: get() for name, get in _OWN.items()}
    for entry in _metadata.entry_points(group="tritium.backends"):
        found[entry.name] = entry.load()
    return {**found, **_registered}


def named_target(backend: str, arch: str) -> GPUTarget:
    """The GPU target of a name such as `cuda:90` or `hip:gfx1250`, with its warp size; OptionError for a bad arch.

    >>> named_target("hip", "gfx1250").warp_size, named_target("hip", "gfx950").warp_size
    (32, 64)
    """
    lanes: int = _amd_target.HIPTarget(arch).warp_size if backend == "hip" else 32
    return GPUTarget(backend, int(arch) if arch.isdigit() else arch, lanes)


@lru_cache(maxsize=64)
def make_backend(target: Any) -> BaseBackend:
    """The backend for `target` (a target value, or `GPUTarget`); TargetError if it is not exactly one."""
    # In the common case the entry points of installed packages are not searched (20 ms with imports).
    candidates = [b for b in _registered.values() if b.supports_target(target)]
    own = _OWN.get(getattr(target, "backend", ""))
    if not candidates and own is not None:
        candidates = [own()]
    candidates = candidates or [b for b in backends().values() if b.supports_target(target)]
    if len(candidates) != 1:
        names = ", ".join(sorted(backends()))
        if candidates:
            raise TargetError(f"{len(candidates)} backends compile for {target}; there are: {names}")
        if isinstance(target, str):
            hint = "hint: pass GPUTarget('cuda', 90, 32), or no target for the current device"
            raise TargetError(f"a target is a GPUTarget, not the string {target!r}\n{hint}")
        raise TargetError(f"unsupported target {target}: the backends are {names}")
    return candidates[0](target)
