"""`triton.backends.backends`: the backends under Triton's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..compiler import backends
from ..runtime.cpu_driver import PreferredCPU
from ..support.lazy import LazyModule

__all__ = ["Backend", "known_backends"]

_cuda = LazyModule("..runtime.cuda", __package__)
_hip = LazyModule("..runtime.hip", __package__)


class Backend(NamedTuple):
    """A backend as Triton lists them."""

    compiler: Any
    driver: Any


_MAKERS = {"cuda": "nvidia", "hip": "amd"}


class _Absent:
    """The driver of a backend that compiles only: there is no such device."""

    @staticmethod
    def is_active() -> bool:
        return False


class _Backends(Mapping[str, Backend]):
    """`triton.backends.backends`: name -> backend, looked up on access.

    The names are Triton's, those of vendors: "nvidia" and "amd". Those of targets, "cuda" and "hip", are accepted too.
    """

    def _found(self) -> dict[str, Backend]:
        drivers = {"cpu": PreferredCPU, "cuda": _cuda.PreferredCUDA, "hip": _hip.PreferredHIP}
        found = backends().items()
        return {_MAKERS.get(name, name): Backend(compiler, drivers.get(name, _Absent)) for name, compiler in found}

    def __getitem__(self, name: str) -> Backend:
        return self._found()[_MAKERS.get(name, name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


known_backends = _Backends()
