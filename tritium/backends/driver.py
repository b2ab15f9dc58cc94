"""The device interface for drivers, by Triton's names: `DriverBase`, and how descriptors are passed to kernels.

Tritium's own drivers (`runtime.cpu_driver.CPUDriver`, `runtime.cuda.CUDADriver`) count as such. Their launchers pack
descriptors themselves; `expand_signature` and `wrap_handle_tensordesc_impl` are for launchers of other makers.
"""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..support import TritiumError
from ..support.lazy import LazyModule

__all__ = [
    "Benchmarker",
    "DriverBase",
    "GPUDriver",
    "decompose_descriptor",
    "expand_signature",
    "wrap_handle_tensordesc_impl",
]

_torch = LazyModule("torch")
_torch_c = LazyModule("torch._C")


class Benchmarker(Protocol):
    """Times a function: `testing.do_bench` is one."""

    def __call__(self, kernel_call: Callable[[], Any], *, quantiles: list[float], **kwargs: Any) -> Sequence[float]:
        """The times of these quantiles, in milliseconds."""


class DriverBase(ABC):
    """A device for kernel launches, for `driver.set_active`."""

    checks: frozenset[str] = frozenset()
    """The checks of this device in every launch: modes of `instrumentation_mode`, and "bounds"."""

    compile_options: Mapping[str, object] = {}
    """Options of every kernel that is compiled for a launch on this device."""

    @classmethod
    @abstractmethod
    def is_active(cls) -> bool:
        """Is there such a device here?"""

    @abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type: "int32_t" for "i32"."""

    @abstractmethod
    def get_current_target(self) -> Any:
        """The target that launches compile for."""

    @abstractmethod
    def get_active_torch_device(self) -> Any:
        """The device as torch names it."""

    @abstractmethod
    def get_benchmarker(self) -> Benchmarker:
        """The timer of kernels on this device."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Memory for a profiler's records; NotImplementedError where a driver has none."""
        raise NotImplementedError(f"{type(self).__name__} has no memory for profilers")


class GPUDriver(DriverBase):
    """A GPU that torch calls `torch.cuda`: its devices and streams are torch's."""

    def __init__(self) -> None:
        cuda = _torch.cuda
        self.get_device_capability = cuda.get_device_capability
        self.get_current_device = cuda.current_device
        self.set_current_device = cuda.set_device
        raw = getattr(_torch_c, "_cuda_getCurrentRawStream", None)
        self.get_current_stream = raw or (lambda device: cuda.current_stream(device).cuda_stream)

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """`size` zero bytes on the device, written in `stream`: a raw one, 0 (the default one), or None (torch's)."""
        device = self.get_active_torch_device()
        zeros = functools.partial(_torch.zeros, size, dtype=_torch.int8, device=device)
        if stream is None:
            return zeros()
        interface = self.get_device_interface()  # type: ignore[attr-defined]
        own = stream != 0
        chosen = interface.ExternalStream(stream, device=device) if own else interface.default_stream(device)
        with interface.stream(chosen):
            memory = zeros()
        if own:
            memory.record_stream(chosen)
        return memory


class DescriptorTypeError(TritiumError, ValueError):
    """A type in a signature that should be a descriptor's, and is not one's."""


_DESCRIPTOR = re.compile(
    r"tensordesc(?:_im2col)?<(?P<element>[^\[>]*)\[(?P<block>[^\]]*)\](?:.*?,input_rank=(?P<rank>\d+))?"
)


def _is_descriptor(ty: Any) -> bool:
    return isinstance(ty, str) and ty.startswith("tensordesc")


def _words(ty: str, mapped: bool, map_type: str) -> list[str]:
    """The arguments of one descriptor: a tensor map, or its fields; then shape and strides."""
    found = _DESCRIPTOR.match(ty)
    if found is None:
        raise DescriptorTypeError(f"this is no type of a tensor descriptor: {ty}")
    rank = int(found["rank"] or found["block"].count(",") + 1)
    said = [map_type] if mapped else [f"*{found['element']}", *["i64"] * (2 * rank), "i1", "i1"]
    return [*said, *["i32"] * rank, *["i64"] * rank]


def expand_signature(signature: Iterable[Any], tensordesc_meta: Any, descriptor_type: str) -> list[Any]:
    """The types of what is passed for these arguments: each descriptor as its parts, inside of tuples too.

    Where there is `tensordesc_meta`, a descriptor is passed as a tensor map of `descriptor_type`.

    >>> expand_signature(["i32", "tensordesc<fp16[16]>"], [{}], "nvTmaDesc")
    ['i32', 'nvTmaDesc', 'i32', 'i64']
    """
    expanded: list[Any] = []
    for ty in signature:
        if isinstance(ty, tuple):
            expanded.append(tuple(expand_signature(ty, tensordesc_meta, descriptor_type)))
        elif _is_descriptor(ty):
            expanded += _words(ty, bool(tensordesc_meta), descriptor_type)
        else:
            expanded.append(ty)
    return expanded


def decompose_descriptor(arg: Any) -> list[Any]:
    """A descriptor as its parts: base, shape, strides, is its padding NaN, is it rounded; shape and strides again."""
    shape, strides = [*arg.shape], [*arg.strides]
    return [arg.base, *shape, *strides, arg.padding == "nan", arg.round_f32_to_tf32, *shape, *strides]


def wrap_handle_tensordesc_impl(
    launcher: Callable[..., Any],
    signature: Mapping[Any, Any],
    tensordesc_meta: Sequence[Any] | None,
    make_tensordesc_arg: Callable[[Any, Any, tuple[Any, ...]], Iterable[Any]],
) -> Callable[..., Any]:
    """A launcher whose last argument, the kernel's arguments, may hold descriptors.

    Each is passed as what `make_tensordesc_arg(descriptor, meta, the launcher's other arguments)` gives, with the next
    of `tensordesc_meta` (None without). The launcher itself where the signature has no descriptor.
    """
    types = tuple(signature.values())

    def has_descriptor(ty: Any) -> bool:
        return any(map(has_descriptor, ty)) if isinstance(ty, tuple) else _is_descriptor(ty)

    if not has_descriptor(types):
        return launcher

    def launch(*args: Any) -> Any:
        *base, kernel_args = args
        metas = iter(tensordesc_meta or ())

        def passed(types: Iterable[Any], values: Iterable[Any]) -> list[Any]:
            found: list[Any] = []
            for ty, value in zip(types, values):
                if _is_descriptor(ty):
                    found += make_tensordesc_arg(value, next(metas, None), tuple(base))
                else:
                    found.append(tuple(passed(ty, value)) if isinstance(ty, tuple) and has_descriptor(ty) else value)
            return found

        return launcher(*base, passed(types, kernel_args))

    return launch
