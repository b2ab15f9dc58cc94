"""The AMD backend as the compiler sees it."""

from __future__ import annotations

from typing import Any

from ...support.lazy import LazyModule
from ..gpu import GPUBackend
from .options import HIPOptions
from .target import HIPTarget

__all__ = ["HIPBackend"]


class HIPBackend(GPUBackend):
    """Compiles for one HIPTarget, or `GPUTarget("hip", "gfx942", 64)`."""

    kind = "hip"
    binary_ext = "hsaco"
    planned_stages = ("ttgir", "llir", "amdgcn", "hsaco")
    target_class = HIPTarget
    options_class = HIPOptions
    stage_functions = LazyModule(".stages", __package__)

    @classmethod
    def make_ttir(cls, module: Any, metadata: dict[str, Any], options: HIPOptions) -> Any:
        """The stage, for hooks that wrap it."""
        return cls.stage_functions.make_ttir(module, metadata, options)

    def get_target_name(self, options: HIPOptions) -> str:
        """`hip:gfx942`: the target of a module, `ttg.target`."""
        return f"hip:{options.target.arch}"

    def _later(self, stage: str) -> Exception:
        return self.missing_stage(stage, ["ttir"])

    def make_ttgir(self, *args: Any) -> Any:
        """UnsupportedStage: the stages end at ttir."""
        raise self._later("ttgir")

    def make_llir(self, *args: Any) -> Any:
        """UnsupportedStage: the stages end at ttir."""
        raise self._later("llir")

    def make_amdgcn(self, *args: Any) -> Any:
        """UnsupportedStage: the stages end at ttir."""
        raise self._later("amdgcn")

    def make_hsaco(self, *args: Any) -> Any:
        """UnsupportedStage: the stages end at ttir."""
        raise self._later("hsaco")

    def gluon_to_ttgir(self, *args: Any) -> Any:
        """UnsupportedStage: the stages end at ttir."""
        raise self._later("ttgir")
