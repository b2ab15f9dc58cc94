"""The GPUs that kernels are rewritten for."""

from __future__ import annotations

from enum import Enum

__all__ = ["TranslatorTarget"]


class TranslatorTarget(str, Enum):
    """An architecture, which decides how dots and descriptors are written."""

    GENERIC = "generic"
    SM80 = "sm80"
    SM90 = "sm90"
    SM100 = "sm100"
    SM103 = "sm103"
    SM107 = "sm107"
    GFX90A = "gfx90a"
    GFX942 = "gfx942"
    GFX950 = "gfx950"
    GFX1250 = "gfx1250"

    @property
    def is_amd(self) -> bool:
        """Whether it is a GPU of AMD."""
        return self.value.startswith("gfx")

    @property
    def is_nvidia(self) -> bool:
        """Whether it is a GPU of NVIDIA."""
        return self.value.startswith("sm")

    @property
    def helpers_module(self) -> str:
        """The module of the functions that a rewritten kernel calls."""
        name = "common_helpers"
        if self.is_nvidia:
            name = "hopper_helpers" if self is TranslatorTarget.SM90 else "nvidia_helpers"
        return f"{__package__}.{name}"
