"""The parameters of a host TensorDescriptor: made in Python once, found again by native code.

A descriptor may be changed between launches, so that native code (`guard_descriptor`) reads all its fields at each
one, and compares them with those of the last few for which parameters were made.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from ..arrays import describe
from ..errors import ArgumentError
from ..tensor_descriptor import TensorDescriptor, element_bytes
from ..tensor_maps import MapEncoder
from .fields import DESCRIPTORS, FIELDS

__all__ = ["DescriptorMemo"]

_KEPT = 256  # memoized descriptors of an argument
_NAMES = ("base", "shape", "strides", "block_shape", "padding", "round_f32_to_tf32")
_INTEGERS = range(-(1 << 63), 1 << 63)


class DescriptorMemo:
    """`memo(descriptor)`: the parameter bytes of a descriptor like `like`, None for another kind.

    The kind is the base (`address_of(base)` is None for others), the block, the padding, and whether rows are uneven.
    `words` is what native code reads: the names of the fields, the block, the padding, and the latest `DESCRIPTORS`
    entries.
    """

    def __init__(
        self,
        like: TensorDescriptor,
        address_of: Callable[[Any], int | None],
        encoder: MapEncoder | None,
        times: int,
        format: str,
    ) -> None:
        info = describe(like.base)
        assert info is not None
        self._address_of, self._encoder, self._times = address_of, encoder, times
        self._block, self._padding = copy(like.block_shape), like.padding
        self._element_bytes = element_bytes(info.element)
        self._uneven = like.has_uneven_rows(self._element_bytes)
        self._pack = struct.Struct(format).pack
        self._known: dict[tuple[object, ...], bytes] = {}
        self._entries: list[object] = [None] * DESCRIPTORS
        self._next = 0
        self.words = self._make_words()

    def _make_words(self) -> ctypes.Array[ctypes.c_int64]:
        words = (ctypes.c_int64 * len(FIELDS["memo"]))()
        block = tuple(self._block)
        self._block_words = (ctypes.c_int64 * len(block))(*block)
        values = {f"{name}_name": id(name) for name in _NAMES}
        values |= {"rank": len(block), "block": ctypes.addressof(self._block_words), "padding": id(self._padding)}
        for name, value in values.items():
            words[FIELDS["memo"].index(name)] = value
        return words

    def set_base(self, guard: int) -> None:
        """Let native code check the base by the guard at this address."""
        self.words[FIELDS["memo"].index("base")] = guard

    def __call__(self, descriptor: TensorDescriptor) -> bytes | None:
        at = self._address_of(descriptor.base)
        if at is None or descriptor.block_shape != self._block or descriptor.padding != self._padding:
            return None
        fields = (*descriptor.shape, *descriptor.strides)
        key = at, descriptor.round_f32_to_tf32, *fields
        found = self._known.get(key)
        if found is None and (values := self._values(descriptor, at)) is not None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            try:
                found = self._known[key] = self._pack(*values)
            except struct.error:  # the launch in Python reports which argument it is
                return None
        if found is not None:
            self._remember(at, descriptor.round_f32_to_tf32, fields, found)
        return found

    def _values(self, descriptor: TensorDescriptor, address: int) -> Sequence[object] | None:
        """The values of a descriptor at an address; None where another kernel than that of `like` may be needed."""
        if descriptor.has_uneven_rows(self._element_bytes) is not self._uneven:
            return None
        if self._encoder is None:
            return address, *(*descriptor.shape, *descriptor.strides) * self._times
        try:
            return self._encoder(descriptor, address, "")
        except ArgumentError:  # the same
            return None

    def _remember(self, address: int, rounds: object, fields: Sequence[int], data: bytes) -> None:
        """Replace the oldest entry: address, `round_f32_to_tf32`, shape and strides, and the bytes.

        Entries are published by one store, since other threads may launch at any time.
        """
        if any(type(n) is not int or n not in _INTEGERS for n in fields) or len(fields) != 2 * len(self._block):
            return
        address -= (address >> 63) << 64
        entry = (ctypes.c_int64 * (len(fields) + 2))(address, id(rounds), *fields), data, rounds
        words = (ctypes.c_int64 * 2)(ctypes.addressof(entry[0]), id(data))
        number, self._next = self._next, (self._next + 1) % DESCRIPTORS
        self.words[FIELDS["memo"].index(f"entry{number}")] = ctypes.addressof(words)
        self._entries[number] = words, entry
