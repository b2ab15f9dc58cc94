"""torch's C functions (the ABI that its ahead-of-time compiled models link to): reading tensors without Python.

Address, element type and device of a tensor take 20 ns that way, 100 by `data_ptr()`, `dtype` and `is_cuda`, and 40 by
DLPack's C functions (torch 2.13, 2026-11). They take the address of the C++ tensor inside the Python object, whose
offset is found by searching for the tensor's own `_cdata`, once a process. Tensors in the same state as one that was
read by these functions are read from memory (`torch_layout`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from .torch_layout import Layout, Marks, address_by, find_layout, find_marks, state_by

__all__ = ["CPU", "CUDA", "TensorKind", "TensorView", "functions_for", "kind_of", "look_at", "stream_function_address"]

CPU, CUDA = 0, 1
"""torch's numbers of device types."""

_NAMES = ("data_ptr", "dtype", "device_type", "device_index")
_OFFSETS = range(object.__basicsize__, object.__basicsize__ + 16, 8)  # candidates for the address of the C++ tensor


class TensorView(NamedTuple):
    """The functions' results for a tensor: address, torch's numbers of the element type and the device (type,
    index)."""

    address: int
    dtype: int
    device: int
    device_index: int


class TensorKind(NamedTuple):
    """torch's numbers of a tensor's element type and device (type, index), the size of an element, and the state of
    tensors of this kind in memory (0 if they must be read by calls)."""

    dtype: int
    device: int
    device_index: int
    element_size: int
    state: int


class _Functions:
    """`words`: the offset of the C++ tensor, the addresses of the functions by `_NAMES`, the bits of tensors with
    negative or conjugate views, and the layout (or zeros)."""

    def __init__(self, offset: int, addresses: Sequence[int], marks: Marks) -> None:
        head = (offset, *addresses, *marks)
        self.words = (ctypes.c_uint64 * (len(head) + len(Layout._fields)))(*head)
        self.address = ctypes.addressof(self.words)
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._calls = [kind(address) for address in addresses]
        self.layout = find_layout(self.look_at)
        self.kinds: dict[int, TensorKind] = {}  # by state
        self.words[len(head) :] = list(self.layout or [0] * len(Layout._fields))

    def look_at(self, tensor: Any) -> TensorView | None:
        """The functions' results for a tensor; None if they fail."""
        results, at = [], id(tensor) + self.words[0]
        for ask in self._calls:
            found = ctypes.c_int64()
            if ask(at, ctypes.addressof(found)):
                return None
            results.append(found.value)
        address, dtype, device, index = results
        return TensorView(address, dtype, device, ctypes.c_int32(index).value)


_known: dict[type, Any] = {}


def functions_for(tensor: Any) -> int:
    """The address of the functions' words for tensors of exactly this one's class; 0 without them.

    Only torch's own classes are supported: a subclass may override attributes (`__torch_function__`).
    """
    cls = type(tensor)
    if cls not in _known:
        _known[cls] = _find(tensor)
    found = _known[cls]
    return 0 if found is None else found.address


def _find(tensor: Any) -> _Functions | None:
    torch = sys.modules.get("torch")
    if torch is None or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    handle = getattr(tensor, "_cdata", None)
    offsets = [at for at in _OFFSETS if ctypes.c_uint64.from_address(id(tensor) + at).value == handle]
    addresses = [_address("libtorch_cpu.so", f"aoti_torch_get_{name}") for name in _NAMES]
    marks = find_marks()
    if len(offsets) != 1 or not all(addresses) or marks is None:
        return None
    return _Functions(offsets[0], addresses, marks)


def _address(library: str, name: str) -> int:
    """The address of a function in one of torch's loaded libraries; 0 if it is not found."""
    path = os.path.join(sys.modules["torch"].__path__[0], "lib", library)
    try:
        return ctypes.cast(getattr(ctypes.CDLL(path, os.RTLD_NOLOAD), name), ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0


def look_at(tensor: Any) -> TensorView | None:
    """The functions' results for a tensor of a class that `functions_for` supports; None if they fail."""
    view: TensorView | None = _known[type(tensor)].look_at(tensor)
    return view


def kind_of(tensor: Any) -> TensorKind | None:
    """The kind of a tensor of a class that `functions_for` supports; None if torch's functions fail.

    A state that has been seen tells the kind.
    """
    functions: _Functions = _known[type(tensor)]
    layout, kinds = functions.layout, functions.kinds
    state = 0 if layout is None else state_by(layout, tensor)
    if state and (known := kinds.get(state)) is not None:
        return known
    seen = functions.look_at(tensor)
    if seen is None or seen.address != (address := tensor.data_ptr()):
        return None
    if state and layout is not None and address_by(layout, tensor) != address:
        state = 0
    found = TensorKind(*seen[1:], tensor.element_size(), state)
    if state:
        kinds[state] = found
    return found


_stream_functions: dict[int, int] = {}


def stream_function_address(device: int, expected: int) -> int:
    """The address of a function (index, address of the result) for a GPU's current stream, if it returned `expected`
    when it was first used for this GPU; else 0."""
    if device not in _stream_functions:
        _stream_functions[device] = _find_stream_function(device, expected)
    return _stream_functions[device]


def _find_stream_function(device: int, expected: int) -> int:
    address = _address("libtorch_cuda.so", "aoti_torch_get_current_cuda_stream")
    if not address:
        return 0
    found = ctypes.c_int64()
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)(address)
    return address if ask(device, ctypes.addressof(found)) == 0 and found.value == expected else 0
