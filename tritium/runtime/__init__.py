"""Kernel launches: the JIT function, specialization, argument packing, launchers, tuning.

The only package that handles NumPy arrays and torch tensors; it imports neither library itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compiler.kernel import launch_with
from ..support.lazy import LazyModule, lazy_attributes
from .driver import driver
from .errors import (
    ArgumentError,
    AutotunerError,
    DeviceAssertError,
    LaunchError,
    OutOfResources,
    ReadOnlyError,
    SanitizerError,
    UnknownOptionError,
)
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from .tensor_descriptor import TensorDescriptor

if TYPE_CHECKING:
    from ..interpreter.kernels import InterpreterError
    from .launcher import Launcher

__getattr__ = lazy_attributes(
    __name__,
    {
        "InterpreterError": "..interpreter.kernels",
        "Launcher": ".launcher",
        "RedisRemoteCacheBackend": ".cache",
        "_allocation": ".allocation:",  # Triton's names of these modules
        "_async_compile": ".async_compile:",
        "RemoteCacheBackend": ".cache",
    },
    globals(),
)
_launcher = LazyModule(".launcher", __package__)
launch_with(lambda kernel: _launcher.make_launcher(kernel))  # not imported by a process that only compiles

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
    "ReadOnlyError",
    "SanitizerError",
    "TensorDescriptor",
    "TensorWrapper",
    "UnknownOptionError",
    "driver",
    "reinterpret",
]
