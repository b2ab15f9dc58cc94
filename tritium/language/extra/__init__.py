"""Functions beyond the language proper: the device library, and what only some GPUs have."""

from . import cuda, hip, libdevice
