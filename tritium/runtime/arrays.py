"""Pointer arguments of kernels: arrays of torch, NumPy, CuPy, JAX, by DLPack, the array interfaces, and `data_ptr`.

Array libraries are never imported here: a program that passes a tensor has imported its library.

An array is described by its element type as signatures spell it ("fp32"), the address of its first element, an object
that keeps that address valid (often the array itself), and the device whose memory it is in. A read-only array is
accepted here; launches refuse it where the kernel stores to it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..support.lazy import LazyModule
from .errors import ArgumentError

__all__ = [
    "EVERYTHING",
    "HOST",
    "NOWHERE",
    "UNKNOWN",
    "WRITEABLE",
    "ArrayInfo",
    "MockTensor",
    "TensorWrapper",
    "describe",
    "device_of",
    "element_name",
    "extent",
    "is_array",
    "is_read_only",
    "reinterpret",
    "refuse_marked",
    "stands_for_tensor",
    "torch_address",
]

_pointers = LazyModule(".pointers", __package__)

HOST, UNKNOWN, NOWHERE = -1, -2, -3
"""Device numbers besides those of GPUs: CPU memory, a plain address of unknown device, no memory."""


class ArrayInfo(NamedTuple):
    """`element` ("fp32"), `address` in bytes, `owner` (keep it while the address is used).

    `device` is a CUDA GPU's number, or HOST, UNKNOWN, NOWHERE. `stream` is the handle of the stream that
      writes the contents, if kernels on other streams have to wait for it.
    """

    element: str
    address: int
    owner: Any
    device: int = HOST
    stream: int | None = None


_NAMES = {
    "bool": "i1",
    "int1": "i1",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "bfloat16": "bf16",
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"float{n}": f"fp{n}" for n in (16, 32, 64)},
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "float8_e4m3b11fnuz": "fp8e4b15",
    "float8_e8m0fnu": "u8",
    "float4_e2m1fn_x2": "u8",
}
_NAMES.update({name: name for name in list(_NAMES.values())})
_NAMES.update({f"float8{name[3:]}": name for name in ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15")})

#: Triton's table of the spellings of element types: "float16" -> "fp16"; booleans are unsigned.
type_canonicalisation_dict = {
    "void": "void",
    "int": "i32",
    **_NAMES,
    **dict.fromkeys(("bool", "int1", "uint1", "i1", "u1"), "u1"),
}

_known: dict[Any, str] = {}


def element_name(dtype: Any) -> str:
    """The signature's name of an element type: of torch, NumPy, ml_dtypes, ours, or a string. ArgumentError else."""
    found = _known.get(dtype)
    if found is not None:
        return found
    if getattr(dtype, "byteorder", "=") == ">":
        raise ArgumentError(f"unsupported byte order of elements ({dtype!r})")
    text = str(getattr(dtype, "name", dtype)).rsplit(".", 1)[-1].removeprefix("*")
    if text not in _NAMES:
        raise ArgumentError(f"unsupported element type {dtype}")
    _known[dtype] = _NAMES[text]
    return _NAMES[text]


# ---- how to look into each kind of array: class -> function(value) -> ArrayInfo -------------------------------------

_adapters: dict[type, Callable[[Any], ArrayInfo] | None] = {}


def describe(value: Any) -> ArrayInfo | None:
    """The ArrayInfo of an array, or None if `value` is no array.

    ArgumentError for an array that no kernel can use: on an unsupported device, or of an unsupported element type.
    """
    cls = value.__class__
    try:
        adapter = _adapters[cls]
    except KeyError:
        adapter = _adapters[cls] = _find_adapter(value)
    return None if adapter is None else adapter(value)


def is_array(value: Any) -> bool:
    """Whether `describe` treats `value` as an array (usable or not)."""
    cls = value.__class__
    if cls not in _adapters:
        _adapters[cls] = _find_adapter(value)
    return _adapters[cls] is not None


def device_of(value: Any) -> int | None:
    """The device of an array: a GPU's number, HOST, UNKNOWN or NOWHERE; None if `value` is no array."""
    cls = value.__class__
    try:
        adapter = _adapters[cls]
    except KeyError:
        adapter = _adapters[cls] = _find_adapter(value)
    if adapter is None:
        return None
    if adapter is _from_numpy or (adapter is _from_torch and value.is_cpu):
        return HOST
    if adapter is _from_pointer:
        return _named_device(value)
    return adapter(value).device


def adapter_of(value: Any) -> str:
    """How an array is read: "numpy", "torch", "pointer" (`data_ptr`), "wrapper" (by its `base`), else ""."""
    return _FAST_ADAPTERS.get(_adapters.get(value.__class__), "")


def _find_adapter(value: Any) -> Callable[[Any], ArrayInfo] | None:
    cls = type(value)
    if isinstance(value, type):
        return None
    if any(c.__module__ == "numpy" and c.__name__ == "ndarray" for c in cls.__mro__):
        return _from_numpy
    if any(c.__module__ == "numpy" and c.__name__ == "generic" for c in cls.__mro__):
        return None  # a NumPy scalar is a number
    by_class = {TensorWrapper: _from_wrapper, MockTensor: _from_mock}.get(cls)
    if by_class is not None:
        return by_class
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return _from_torch if hasattr(value, "is_cpu") else _from_pointer
    if cls.__module__.split(".")[0] == "cupy" and hasattr(value, "data"):
        return _from_cupy
    if hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__dlpack__"):
        return _from_cuda_interface
    if hasattr(value, "__array_interface__"):
        return _from_interface
    if hasattr(value, "__dlpack__"):
        return _from_dlpack
    return None


def _device_error(where: str) -> ArgumentError:
    return ArgumentError(
        f"an array in the memory of {where}: kernels run on the CPU and on CUDA GPUs\n"
        "hint: pass a copy that is there (.cpu() or .cuda() in torch)"
    )


def _from_torch(value: Any) -> ArrayInfo:
    device = HOST
    if not value.is_cpu:
        if not value.is_cuda:
            raise _device_error(f"device {value.device}")
        device = value.get_device()
    try:
        address = value.data_ptr()
    except RuntimeError:  # sparse tensors, and fake tensors
        raise ArgumentError(
            f"a tensor of layout {value.layout} without elements in one place ({type(value).__name__})\n"
            "hint: pass a strided tensor (.to_dense() in torch)"
        ) from None
    refuse_marked(value)
    return ArrayInfo(element_name(value.dtype), address, value, device)


def refuse_marked(value: Any) -> None:
    """ArgumentError for a torch tensor with the negative or conjugate bit."""
    for asked, what, method in _MARKS:
        if getattr(value, asked, bool)():
            raise ArgumentError(
                f"a tensor whose elements are the {what} of what its memory holds ({asked}() is true)\n"
                f"hint: pass a tensor that holds them ({method}() in torch)"
            )


_MARKS = (("is_neg", "negative", ".resolve_neg"), ("is_conj", "conjugate", ".resolve_conj"))


def torch_address(value: Any) -> int | None:
    """The address of a torch tensor's elements; None for a tensor with the negative or conjugate bit."""
    return None if any(getattr(value, asked, bool)() for asked, *_ in _MARKS) else int(value.data_ptr())


def stands_for_tensor(value: Any) -> bool:
    """Whether a value with address 0 is a torch tensor with elements but without memory (as while torch traces)."""
    return _adapters.get(type(value)) is _from_torch and value.numel() > 0


def _from_wrapper(value: Any) -> ArrayInfo:
    inner = describe(value.base)
    assert inner is not None
    return inner._replace(element=element_name(value.dtype))


def _from_mock(value: Any) -> ArrayInfo:
    return ArrayInfo(element_name(value.dtype), 0, value, NOWHERE)


def _from_pointer(value: Any) -> ArrayInfo:
    return ArrayInfo(element_name(value.dtype), int(value.data_ptr()), value, _named_device(value))


def _named_device(value: Any) -> int:
    """The device that an object with an address names; UNKNOWN if it names none that is supported."""
    device = getattr(value, "device", None)
    if device is None:
        return UNKNOWN
    if not isinstance(device, str) and hasattr(device, "type"):  # torch's
        kind, number = device.type, getattr(device, "index", None)
    else:
        kind, _, number = str(device).partition(":")
    if kind == "cpu":
        return HOST
    if kind in ("hip", "xpu", "mps"):
        raise _device_error(f"device {device}")
    if kind != "cuda":
        return UNKNOWN
    found: int = number if number.__class__ is int else -1
    if found < 0:
        found = int(str(number)) if str(number).isdigit() else _pointers.device_of_address(int(value.data_ptr()))
    return found


def _from_cupy(value: Any) -> ArrayInfo:
    stream = sys.modules["cupy"].cuda.get_current_stream().ptr
    return ArrayInfo(element_name(value.dtype), value.data.ptr, value, value.device.id, stream)


def _from_cuda_interface(value: Any) -> ArrayInfo:
    interface = value.__cuda_array_interface__
    address = interface["data"][0]
    device = _pointers.device_of_address(address) if address else 0
    return ArrayInfo(_interface_element(interface), address, (value, interface), device, interface.get("stream"))


def _address_reader() -> Callable[[Any], int]:
    """Read the address of a NumPy array: straight from its structure on CPython (0.1 us instead of 0.8)."""
    offset = object.__basicsize__  # `char *data` is the first member after the object's head

    def read(array: Any, from_address: Any = ctypes.c_size_t.from_address, offset: int = offset) -> int:
        return from_address(id(array) + offset).value

    return read


def _slow_address(array: Any) -> int:
    return array.__array_interface__["data"][0]


_numpy_address: Callable[[Any], int] = _slow_address
_checked = False


_NUMPY_DTYPE = object.__basicsize__ + 40  # of `PyArrayObject`: after data, nd, dimensions, strides, base
_NUMPY_FLAGS = _NUMPY_DTYPE + 8
WRITEABLE = 0x400  # NPY_ARRAY_WRITEABLE


def numpy_address(array: Any) -> int:
    """The address of an array's first element."""
    global _numpy_address, _checked
    if not _checked:
        _checked = True
        read = _address_reader()
        flat = array.reshape(-1)
        probes = [array, flat, flat[-1:], flat[::-1]]
        try:
            if all(read(p) == _slow_address(p) for p in probes):
                _numpy_address = read
        except (ValueError, OSError):
            pass
    return _numpy_address(array)


def reads_numpy_structure(array: Any) -> bool:
    """Whether native code may read address, element type and flags from the structure of an array like this one."""
    numpy_address(array)
    if _numpy_address is _slow_address:
        return False
    flags = ctypes.c_uint32.from_address(id(array) + _NUMPY_FLAGS).value
    dtype = ctypes.c_size_t.from_address(id(array) + _NUMPY_DTYPE).value
    return dtype == id(array.dtype) and flags & 0xFFFF == array.flags.num & 0xFFFF


def is_read_only(owner: Any) -> bool:
    """Whether the owner of an array's memory (`ArrayInfo.owner`) is read-only."""
    if isinstance(owner, tuple):  # (array, interface), or a capsule, which only writable arrays have
        return isinstance(owner[1], dict) and bool(owner[1]["data"][1])
    return _adapters.get(type(owner)) is _from_numpy and not owner.flags.writeable


def _from_numpy(value: Any) -> ArrayInfo:
    return ArrayInfo(element_name(value.dtype), numpy_address(value), value)


_TYPESTR = {"f2": "fp16", "f4": "fp32", "f8": "fp64", "b1": "i1"}
_TYPESTR.update({f"{kind}{n // 8}": f"{kind}{n}" for kind in "iu" for n in (8, 16, 32, 64)})


def _interface_element(interface: Any) -> str:
    typestr = interface["typestr"]
    name = _TYPESTR.get(typestr[1:])
    if name is None or (typestr[0] == ">" and name[-1] != "8"):
        raise ArgumentError(f"unsupported element type {typestr!r} of an array interface")
    return name


def _from_interface(value: Any) -> ArrayInfo:
    interface = value.__array_interface__
    name = _interface_element(interface)
    data = interface.get("data")
    if data is None:
        raise ArgumentError("an __array_interface__ without the address of its data cannot be used by kernels")
    return ArrayInfo(name, data[0], (value, interface))


# ---- DLPack ---------------------------------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_size_t),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_CPU = (1, 3, 11)  # plain, CUDA pinned and ROCm pinned host memory
_DL_CUDA = (2, 13)  # a GPU's own memory, and memory that the driver moves
_DL_ROCM = 10  # the memory of an AMD GPU
_DL_CODES = {0: "i", 1: "u", 2: "fp", 4: "bf", 6: "i"}

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _dl_tensor(value: Any) -> tuple[_DLTensor, Any, int]:
    """The DLPack description of `value`, the capsule it lives in, and the device it is on.

    The exporting library orders contents on a GPU before later work in the GPU's current stream.
    """
    kind, index = map(int, value.__dlpack_device__())
    if kind in _DL_CUDA:
        stream = _pointers.current_stream(index) or 1  # 1 is DLPack's name of the default stream
        capsule, device = value.__dlpack__(stream=stream), index
    elif kind == _DL_ROCM:
        capsule, device = value.__dlpack__(stream=0), index  # 0 is DLPack's name of ROCm's default stream
    elif kind in _DL_CPU:
        capsule, device = value.__dlpack__(), HOST
    else:
        raise _device_error(f"DLPack device ({kind}, {index})")
    return _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor")), capsule, device


def _from_dlpack(value: Any) -> ArrayInfo:
    tensor, capsule, device = _dl_tensor(value)
    name = f"{_DL_CODES.get(tensor.code, '?')}{1 if tensor.code == 6 else tensor.bits}"
    if tensor.lanes != 1 or name not in _NAMES:
        raise ArgumentError(f"unsupported DLPack element type ({tensor.code}, {tensor.bits}, {tensor.lanes})")
    return ArrayInfo(name, tensor.data + tensor.byte_offset, (value, capsule), device)


_FAST_ADAPTERS: Mapping[Callable[[Any], ArrayInfo] | None, str] = {
    _from_numpy: "numpy",
    _from_torch: "torch",
    _from_pointer: "pointer",
    _from_wrapper: "wrapper",
}

# ---- which bytes belong to an array ---------------------------------------------------------------------------------

EVERYTHING = (0, (1 << 64) - 1)
"""The extent of an object that only has an address."""


def extent(value: Any) -> tuple[int, int]:
    """First byte and one past the last of the elements an array has (not of the memory it is a view of).

    An object that only has an address owns everything: (0, 2^64 - 1).
    """
    info = describe(value)
    if info is None:
        return (0, 0)
    if isinstance(value, TensorWrapper):
        return extent(value.base)
    geometry = _geometry(value, info)
    if geometry is None:
        return EVERYTHING
    shape, strides, size = geometry
    if 0 in shape:
        return (info.address, info.address)
    steps = [(n - 1) * s for n, s in zip(shape, strides)]
    return info.address + sum(s for s in steps if s < 0), info.address + sum(s for s in steps if s > 0) + size


def _geometry(value: Any, info: ArrayInfo) -> tuple[Sequence[int], Sequence[int], int] | None:
    """Shape, strides in bytes, and bytes of an element."""
    adapter = _adapters[value.__class__]
    if adapter is _from_numpy:
        return value.shape, value.strides, value.itemsize
    if adapter is _from_dlpack:
        tensor = _DLTensor.from_address(_capsule_pointer(info.owner[1], b"dltensor"))
        size = tensor.bits // 8
        shape = tensor.shape[: tensor.ndim]
        return shape, [s * size for s in tensor.strides[: tensor.ndim]] if tensor.strides else _dense(shape, size), size
    if adapter is _from_interface:
        interface = info.owner[1]
        size = int(interface["typestr"][2:])
        return interface["shape"], interface.get("strides") or _dense(interface["shape"], size), size
    try:
        size = value.element_size()
        return tuple(value.shape), [s * size for s in value.stride()], size
    except (AttributeError, TypeError):
        return None


def _dense(shape: Sequence[int], size: int) -> list[int]:
    strides = []
    for n in reversed(shape):
        strides.append(size)
        size *= n
    return strides[::-1]


# ---- stand-ins ------------------------------------------------------------------------------------------------------


class TensorWrapper:
    """An array seen with another element type: `reinterpret(tensor, dtype)`."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.base = base
        self.data = base
        self.device = getattr(base, "device", "cpu")
        self.shape = getattr(base, "shape", ())

    def data_ptr(self) -> int:
        """The address of the first element."""
        info = describe(self.base)
        assert info is not None
        return info.address

    def stride(self, *args: Any) -> Any:
        """The strides of the array, or the one of a dimension."""
        return self.base.stride(*args)

    def element_size(self) -> int:
        """The bytes of an element."""
        return int(self.base.element_size())

    def cpu(self) -> TensorWrapper:
        """A copy on the CPU, seen with the same element type."""
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        """A copy on another device, seen with the same element type."""
        return TensorWrapper(self.base.to(device), self.dtype)

    def clone(self) -> TensorWrapper:
        """A copy, seen with the same element type."""
        return TensorWrapper(self.base.clone(), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        """An array of the same kind, seen with the same element type."""
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        """Copy the elements of another one."""
        self.base.copy_(getattr(other, "base", other))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` with its memory read as elements of `dtype`, which must be as wide. TypeError if it is no array."""
    if isinstance(tensor, TensorWrapper):
        tensor = tensor.base
    if not is_array(tensor):
        raise ArgumentError(f"cannot reinterpret a {type(tensor).__name__}: it is no array")
    wide = describe(tensor)
    assert wide is not None
    if wide.element == element_name(dtype):
        return tensor
    return TensorWrapper(tensor, dtype)


@lru_cache(maxsize=256)
def _is_element_type(cls: type) -> bool:
    """Whether objects of a class are element types of torch or NumPy."""
    kinds = {(c.__module__.split(".")[0], c.__name__) for c in cls.__mro__}
    return bool(kinds & {("torch", "dtype"), ("numpy", "dtype")})


class MockTensor:
    """A placeholder for an array of `dtype` in `warmup`: 16-byte aligned, without memory."""

    def __init__(self, dtype: Any, shape: Sequence[int] | None = None, given: Any = None) -> None:
        self.dtype = dtype
        self.given = dtype if given is None else given  # what it was made of
        self.shape = [1] if shape is None else list(shape)

    @staticmethod
    def wrap_dtype(value: Any) -> Any:
        """`value`, or a MockTensor of it if it is an element type of torch or NumPy."""
        if isinstance(value, type) and value.__module__ == "numpy":  # numpy.float32
            return MockTensor(value.__name__, given=value)
        cls: Any = type(value)
        return MockTensor(value) if _is_element_type(cls) else value

    def stride(self) -> tuple[int, ...]:
        """Strides in elements of a contiguous tensor."""
        return tuple(_dense(self.shape, 1))

    @staticmethod
    def data_ptr() -> int:
        """No address: 0."""
        return 0

    @staticmethod
    def ptr_range() -> int:
        """No memory: 0."""
        return 0
