"""Placement of a call: it runs on the device whose memory its arrays are in.

A call with arrays in CPU memory only runs on the CPU, with arrays of one GPU on that GPU. A call without arrays runs on
the active driver's device. For objects that are only an address, the CUDA driver determines the device, unless another
argument does. A call with arrays of several devices is an error that names two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..support.lazy import LazyModule
from .arrays import HOST, NOWHERE, UNKNOWN, describe, device_of
from .errors import ArgumentError
from .tensor_descriptor import TensorDescriptor

__all__ = ["only_host", "place", "place_name", "place_of"]

_pointers = LazyModule(".pointers", __package__)

_NUMBERS = frozenset((int, float, bool, str, type(None)))


def place_of(value: Any) -> int:
    """The device of an array; for an object that is only an address, the CUDA driver names it."""
    info = describe(value)
    assert info is not None
    return _pointers.device_of_address(info.address, HOST) if info.device == UNKNOWN else info.device  # type: ignore[no-any-return]


def only_host(args: Sequence[Any]) -> bool:
    """True if all arguments are numbers and CPU arrays, with at least one array: the fast check for most calls."""
    found = False
    for value in args:
        if value.__class__ not in _NUMBERS:
            if device_of(value) != HOST:
                return False
            found = True
    return found


def place(names: Sequence[str], args: Sequence[Any]) -> int | None:
    """The number of the GPU that arguments belong to, HOST, or None without arrays.

    `names` are those of the parameters. ArgumentError for arrays of several devices.
    """
    found, owner = None, ""
    for name, value in _arrays(names, args):
        try:
            where = device_of(value)
        except ArgumentError as error:
            raise ArgumentError(f"argument {name!r}: {error}") from None
        if where is None or where in (NOWHERE, found):
            continue
        if found is None or found == UNKNOWN:
            found, owner = where, name
        elif where != UNKNOWN:
            found, owner = _reconcile((found, owner), (where, name), names, args)
    return _of_addresses(names, args) if found == UNKNOWN else found


def _of_addresses(names: Sequence[str], args: Sequence[Any]) -> int | None:
    """The device of arguments that are only addresses: by the driver, of the first that is not null."""
    for _, value in _arrays(names, args):
        info = describe(value)
        if info is not None and info.address:
            return _pointers.device_of_address(info.address, HOST)  # type: ignore[no-any-return]
    return None


def _arrays(names: Sequence[str], args: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for name, value in zip(names, args):
        cls = value.__class__
        if cls in _NUMBERS:
            continue
        if isinstance(value, TensorDescriptor):
            yield name, value.base
        elif isinstance(value, tuple):
            yield from _arrays([name] * len(value), value)
        else:
            yield name, value


def place_name(where: int) -> str:
    """A device as named in messages: "the CPU's memory", "CUDA device 0"."""
    return "the CPU's memory" if where == HOST else f"the memory of CUDA device {where}"


def _reconcile(
    one: tuple[int, str], other: tuple[int, str], names: Sequence[str], args: Sequence[Any]
) -> tuple[int, str]:
    """The device for arrays on two: pinned CPU memory, or none, counts as the GPU's; anything else is an error."""
    host, gpu = (one, other) if one[0] == HOST else (other, one)
    if host[0] == HOST and _all_pinned(names, args):
        return gpu
    raise ArgumentError(
        f"argument {other[1]!r} is in {place_name(other[0])}, but {one[1]!r} is in {place_name(one[0])}\n"
        "hint: a launch takes arrays of one device (.cpu() and .cuda() copy in torch)"
    )


def _all_pinned(names: Sequence[str], args: Sequence[Any]) -> bool:
    """Whether all arrays in CPU memory are pinned (torch's `pin_memory`).

    Arrays without an address are in no memory: published kernels are passed empty tensors for unused parameters.
    """
    for _, value in _arrays(names, args):
        info = describe(value)
        if info is None or info.device != HOST or not info.address:
            continue
        if not (hasattr(value, "is_pinned") and value.is_pinned()):
            return False
    return True
