"""An emulator of NVIDIA GPUs: it executes PTX text on the CPU, with NumPy. `emulator.amdgcn` is one of AMD GPUs.

It is a reference that shares nothing with the compiler, and lets kernels run where there is no GPU. It executes what
the text says, instruction by instruction, and checks what hardware does not: every access lies in an array that was
passed, is aligned, and does not race with another thread's in shared memory; every barrier is reached by all that it
waits for.

>>> import numpy as np
>>> from tritium.emulator import launch
>>> ptx = '''
... .version 8.0
... .target sm_80
... .address_size 64
... .visible .entry double(.param .u64 .ptr .global x) .reqntid 32 {
...   .reg .b32 %r<3>;
...   .reg .b64 %rd<3>;
...   ld.param.u64 %rd1, [x];
...   mov.u32 %r1, %tid.x;
...   mad.wide.u32 %rd2, %r1, 4, %rd1;
...   ld.global.u32 %r2, [%rd2];
...   add.u32 %r2, %r2, %r2;
...   st.global.u32 [%rd2], %r2;
...   ret;
... }
... '''
>>> x = np.arange(32, dtype=np.int32)
>>> report = launch(ptx, 1, [x])
>>> x[-1], report.threads
(np.int32(62), 32)
"""

from .errors import (
    AssemblyError,
    AsynchronyError,
    BarrierError,
    DataRace,
    Deadlock,
    DeviceAssertion,
    DeviceTrap,
    EmulationError,
    LaunchError,
    MemoryAccessError,
    MisalignedAccess,
    MissingWait,
    OutOfBounds,
    PTXError,
    RunawayKernel,
    TensorMapError,
    UninitializedRead,
    UnknownInstruction,
)
from .launch import launch
from .memory import Memory
from .report import Report
from .tensor_map import TensorMap, encode_im2col, encode_tiled

__all__ = [
    "AssemblyError",
    "AsynchronyError",
    "BarrierError",
    "DataRace",
    "Deadlock",
    "DeviceAssertion",
    "DeviceTrap",
    "EmulationError",
    "LaunchError",
    "Memory",
    "MemoryAccessError",
    "MisalignedAccess",
    "MissingWait",
    "OutOfBounds",
    "PTXError",
    "Report",
    "RunawayKernel",
    "TensorMap",
    "TensorMapError",
    "UninitializedRead",
    "UnknownInstruction",
    "encode_im2col",
    "encode_tiled",
    "launch",
]
