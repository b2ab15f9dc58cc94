"""What a call of a kernel meets: the JIT function, specialization, argument packing, the launcher, tuning.

The only room that knows NumPy arrays and torch tensors, and it imports neither unless it is given one.
"""

from __future__ import annotations

from .driver import driver
from .errors import (
    ArgumentError,
    AutotunerError,
    DeviceAssertError,
    InterpreterError,
    LaunchError,
    OutOfResources,
    SanitizerError,
    UnknownOptionError,
)
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from .launcher import Launcher
from .tensor_descriptor import TensorDescriptor

__all__ = [
    "ArgumentError",
    "AutotunerError",
    "DeviceAssertError",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "LaunchError",
    "Launcher",
    "MockTensor",
    "OutOfResources",
    "SanitizerError",
    "TensorDescriptor",
    "TensorWrapper",
    "UnknownOptionError",
    "driver",
    "reinterpret",
]
