"""The device library under the name it has for AMD GPUs."""

# ruff: noqa: F403
from ....frontend.language.libdevice import *
