"""A one-line summary of a kernel's resources, from its metadata: `26 registers/thread, no spills, 4 warps`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["LABELS", "resource_summary"]

#: key of the metadata -> how a quantity is called, in the singular and the plural.
LABELS = {
    "n_regs": ("register/thread", "registers/thread"),
    "n_spills": ("register/thread spilled", "registers/thread spilled"),
    "stack_size": ("byte of stack/thread", "bytes of stack/thread"),
    "shared": ("byte of shared memory", "bytes of shared memory"),
    "scratch_bytes": ("byte of scratch memory", "bytes of scratch memory"),
    "num_warps": ("warp", "warps"),
    "vgprs": ("VGPR", "VGPRs"),
    "agprs": ("of them AGPR", "of them AGPRs"),
    "sgprs": ("SGPR", "SGPRs"),
    "scratch": ("byte of scratch/thread", "bytes of scratch/thread"),
}

_OF_CPUS = ("scratch_bytes",)
_OF_AMD = ("vgprs", "agprs", "sgprs", "n_spills", "scratch", "shared", "num_warps")
_OF_NVIDIA = ("n_regs", "n_spills", "stack_size", "shared", "num_warps")


def resource_summary(found: Mapping[str, Any]) -> str:
    """The quantities in `found`, those that are zero left out; of a CPU's kernel only what CPUs have."""
    names = _OF_CPUS if "scratch_bytes" in found else _OF_AMD if "vgprs" in found else _OF_NVIDIA
    parts = []
    for name in names:
        value = found.get(name)
        if isinstance(value, int):
            if name == "n_spills" and value == 0:
                parts.append("no spills")
            elif value or name in ("n_regs", "vgprs", "num_warps"):
                parts.append(f"{value:,} {LABELS[name][value != 1]}")
    return ", ".join(parts)
