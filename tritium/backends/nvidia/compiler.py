"""The NVIDIA backend as the compiler sees it: options and the stage table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from ...support.lazy import LazyModule
from ..compiler import BaseBackend, GPUTarget, Stage
from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["CUDABackend"]

_stages = LazyModule(".stages", __package__)


class CUDABackend(BaseBackend):
    """Compiles for one CUDATarget, or `GPUTarget("cuda", 90, 32)`."""

    binary_ext = "cubin"
    planned_stages = ("ttgir", "llir", "ptx", "cubin")

    def __init__(self, target: Any) -> None:
        super().__init__(CUDATarget.of(target))

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Any target whose backend is called "cuda"."""
        return getattr(target, "backend", None) == "cuda"

    def hash(self) -> str:
        """The target; the rest is in the package's own hash."""
        return self.target.key

    def parse_options(self, options: Mapping[str, Any]) -> CUDAOptions:
        """See `CUDAOptions.parse`."""
        return CUDAOptions.parse(options, self.target)

    def option_names(self) -> Iterable[str]:
        """The fields of `CUDAOptions`."""
        return [f.name for f in fields(CUDAOptions)]

    def add_stages(self, stages: dict[str, Any], options: CUDAOptions, language: Any = None) -> None:
        """ttir"""
        stages["ttir"] = Stage(lambda module, metadata: _stages.make_ttir(module, metadata, options))

    def text_of(self, value: Any) -> str | bytes:
        """Modules with the source location of every operation: Triton makes line information of them."""
        if not hasattr(value, "to_text"):
            return super().text_of(value)
        return str(value.to_text(value, locations=True)) + "\n"

    def prepare(self) -> None:
        """The passes."""
        _ = _stages.make_ttir

    def load(self, code: bytes, metadata: Mapping[str, Any]) -> Any:
        """UnsupportedStage: there is no machine code yet."""
        raise self.missing_stage("cubin", ["ttir"])

    def describe(self) -> GPUTarget:
        """Triton's three values."""
        return GPUTarget("cuda", self.target.capability, self.target.warp_size)
