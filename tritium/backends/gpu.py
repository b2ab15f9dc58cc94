"""Common parts of GPU backends whose stages end at `ttir`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ..support.dataclasses import fields
from .compiler import BaseBackend, GPUTarget, Stage

__all__ = ["GPUBackend"]


class GPUBackend(BaseBackend):
    """A backend of one kind of target. Subclasses name its classes, and a module with the functions of the stages."""

    kind: ClassVar[str]
    target_class: ClassVar[Any]
    options_class: ClassVar[Any]
    stage_functions: ClassVar[Any]

    def __init__(self, target: Any) -> None:
        super().__init__(self.target_class.of(target))

    @classmethod
    def supports_target(cls, target: Any) -> bool:  # type: ignore[override]
        """Any target whose backend has the name of the kind."""
        return getattr(target, "backend", None) == cls.kind

    def hash(self) -> str:
        """The target; the rest is in the package's own hash."""
        return self.target.key  # type: ignore[no-any-return]

    def parse_options(self, options: Mapping[str, Any]) -> Any:
        """See `parse` of the options."""
        return self.options_class.parse(options, self.target)

    def option_names(self) -> Iterable[str]:
        """The fields of the options."""
        return [f.name for f in fields(self.options_class)]

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        """ttir"""
        stages["ttir"] = Stage(lambda module, metadata: self.stage_functions.make_ttir(module, metadata, options))

    def prepare(self) -> None:
        """The passes."""
        _ = self.stage_functions.make_ttir

    def load(self, code: bytes, metadata: Mapping[str, Any]) -> Any:
        """UnsupportedStage: there is no machine code yet."""
        raise self.missing_stage(self.binary_ext, ["ttir"])

    def describe(self) -> GPUTarget:
        """Triton's three values."""
        return GPUTarget(self.kind, self.target.arch, self.target.warp_size)
