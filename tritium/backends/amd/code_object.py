"""What a code object says of its kernels: metadata (a MessagePack note) and kernel descriptors.

Source: LLVM's user guide for AMDGPU targets, sections "Code Object V5 Metadata" and "Kernel Descriptor".
"""

from __future__ import annotations

import re
import struct
from typing import TypeAlias

from ...support.dataclasses import dataclass
from ...support.patterns import pattern
from ..errors import BackendError
from .elf import Elf, parse_elf

__all__ = [
    "Argument",
    "KernelDescriptor",
    "KernelResources",
    "arguments_of",
    "descriptor_of",
    "kernels_of",
    "metadata_of",
    "resources_of",
    "resources_of_assembly",
]

NT_AMDGPU_METADATA = 32
_DESCRIPTOR = struct.Struct("<III4xq20xIIIHH4x")

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


_RESOURCES = (
    ".vgpr_count", ".agpr_count", ".sgpr_count", ".vgpr_spill_count", ".sgpr_spill_count",
    ".group_segment_fixed_size", ".private_segment_fixed_size", ".kernarg_segment_size", ".wavefront_size",
)  # fmt: skip
"""The keys of a kernel's metadata for the fields of `KernelResources`."""
_ENTRY = pattern(r"^[ \t-]*(\.\w+):[ \t]*(\d+)[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What a wave of a kernel has: registers per lane (`vgprs` counts `agprs` in), bytes of LDS and scratch, spills."""

    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds: int
    scratch: int
    kernarg_bytes: int
    wavefront_size: int


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """The 64 bytes by which a queue starts a kernel; `entry` is relative to the descriptor's own address."""

    group_segment: int
    private_segment: int
    kernarg_size: int
    entry: int
    rsrc3: int
    rsrc1: int
    rsrc2: int
    properties: int
    kernarg_preload: int

    @classmethod
    def read(cls, data: bytes) -> KernelDescriptor:
        """The descriptor of these 64 bytes."""
        return cls(*_DESCRIPTOR.unpack(data))


def metadata_of(elf: Elf) -> dict[str, Plain]:
    """The metadata of a code object: `amdhsa.kernels`, `amdhsa.target`, `amdhsa.version`."""
    for owner, kind, data in elf.notes():
        if owner == "AMDGPU" and kind == NT_AMDGPU_METADATA:
            found, _ = _unpack(data, 0)
            if isinstance(found, dict):
                return found
    raise BackendError("the code object has no AMDGPU metadata")


def _kernel(elf: Elf, name: str) -> dict[str, Plain]:
    kernels = metadata_of(elf).get("amdhsa.kernels")
    for kernel in kernels if isinstance(kernels, list) else []:
        if isinstance(kernel, dict) and kernel.get(".name") == name:
            return kernel
    raise BackendError(f"the code object has no kernel {name}")


def kernels_of(code: bytes) -> list[str]:
    """The names of the kernels of a code object."""
    kernels = metadata_of(parse_elf(code)).get("amdhsa.kernels")
    listed = kernels if isinstance(kernels, list) else []
    return [str(kernel[".name"]) for kernel in listed if isinstance(kernel, dict)]


def resources_of(code: bytes, name: str) -> KernelResources:
    """The resources of one kernel of a code object, or of an object before it is linked."""
    kernel = _kernel(parse_elf(code), name)
    found = (kernel.get(key, 0) for key in _RESOURCES)
    return KernelResources(*(value if isinstance(value, int) else 0 for value in found))


def resources_of_assembly(text: str) -> KernelResources:
    """The resources of the only kernel of assembly text, whose metadata is YAML (`.amdgpu_metadata`)."""
    found = {key: int(value) for key, value in _ENTRY.findall(text)}
    return KernelResources(*(found.get(key, 0) for key in _RESOURCES))


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument in the kernarg segment."""

    offset: int
    size: int
    kind: str


def arguments_of(code: bytes, name: str) -> list[Argument]:
    """The explicit arguments of a kernel, in order; those that the runtime adds are left out."""
    listed = _kernel(parse_elf(code), name).get(".args")
    out = []
    for row in listed if isinstance(listed, list) else []:
        if isinstance(row, dict):
            kind, offset, size = str(row.get(".value_kind")), row.get(".offset"), row.get(".size")
            if not kind.startswith("hidden_") and isinstance(offset, int) and isinstance(size, int):
                out.append(Argument(offset, size, kind))
    return out


def descriptor_of(code: bytes, name: str) -> KernelDescriptor:
    """The descriptor of one kernel of a code object."""
    elf = parse_elf(code)
    symbol = next((s for s in elf.symbols if s.name == f"{name}.kd"), None)
    if symbol is None:
        raise BackendError(f"the code object has no kernel {name}")
    section = elf.sections[symbol.section]
    start = symbol.value - section.address
    return KernelDescriptor.read(section.data[start : start + 64])


# -- MessagePack ------------------------------------------------------------------------------------------------------

_FIXED = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
    0xD3: ">q",
}  # fmt: skip
_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_CONTAINERS = {0xDC: (">H", 1), 0xDD: (">I", 1), 0xDE: (">H", 2), 0xDF: (">I", 2)}


def _unpack(data: bytes, at: int) -> tuple[Plain, int]:
    """The value at an offset, and the offset after it (MessagePack specification)."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if tag in _FIXED:
        (value,) = struct.unpack_from(_FIXED[tag], data, at)
        return value, at + struct.calcsize(_FIXED[tag])
    if 0xA0 <= tag < 0xC0:
        return data[at : at + tag - 0xA0].decode(), at + tag - 0xA0
    if tag in _LENGTHS:
        (size,) = struct.unpack_from(_LENGTHS[tag], data, at)
        at += struct.calcsize(_LENGTHS[tag])
        return data[at : at + size].decode(errors="replace"), at + size
    if tag < 0xA0:
        count, per = tag & 15, 2 if tag < 0x90 else 1
    elif tag in _CONTAINERS:
        form, per = _CONTAINERS[tag]
        (count,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
    else:
        raise BackendError(f"damaged metadata: tag {tag:#x}")
    return _unpack_container(data, at, count, per == 2)


def _unpack_container(data: bytes, at: int, count: int, is_map: bool) -> tuple[Plain, int]:
    items: list[Plain] = []
    for _ in range(count * (2 if is_map else 1)):
        item, at = _unpack(data, at)
        items.append(item)
    if not is_map:
        return items, at
    return {str(key): value for key, value in zip(items[::2], items[1::2])}, at
