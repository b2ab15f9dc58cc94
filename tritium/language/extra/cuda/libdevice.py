"""The device library under the name it has for NVIDIA GPUs."""

# ruff: noqa: F403
from ....frontend.language.libdevice import *
