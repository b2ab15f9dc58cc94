"""`tritium.language.extra.libdevice`: functions with the names of CUDA's device library."""

# ruff: noqa: F403
from ...frontend.language.libdevice import *
