"""The field offsets of the C++ objects of torch's tensors, found by making tensors and searching for known values.

A tensor's address takes 2 ns that way, and its element type and device one comparison, where torch's functions take
17 (torch 2.13, 2026-11). Only the existence of these fields is assumed. If one is found at no offset or at
two, there is no layout, and torch's functions are called.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["STATE_MASK", "Layout", "Marks", "address_by", "find_layout", "find_marks", "state_by"]

_TENSOR_WORDS, _STORAGE_WORDS = 24, 8  # 64-bit words that are searched: a tensor has 22 to 24, by version of torch
_HEAD = 2  # words of an object's vtable and reference counts
STATE_MASK = (1 << 56) - 1  # flags end within the last byte of a state: its other bits are uninitialized


class Layout(NamedTuple):
    """Offsets in bytes: of the tensor's storage, offset, number of elements and `state` (element type, device, flags),
    and of the storage's address and flags. `methods` is the vtable of a plain tensor, `special` are the flags
    of a storage whose address must be read by a call: it is copied on write, or must not be written."""

    methods: int
    storage: int
    offset: int
    elements: int
    state: int
    address: int
    flags: int
    special: int


class Marks(NamedTuple):
    """The negative and conjugate bits of a tensor: an offset in bytes, and the bits of the word there, which must be
    clear."""

    place: int
    bits: int


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(address))


def _only(found: Sequence[int]) -> int:
    """The only offset; LookupError if there is none, or several."""
    if len(found) != 1:
        raise LookupError
    return found[0]


def _place(rows: Sequence[Sequence[int]], expected: Sequence[int], mask: int = (1 << 64) - 1) -> int:
    """The offset of the word that has the expected value in every row."""
    places = range(_HEAD, len(rows[0]))
    return 8 * _only([at for at in places if all(row[at] & mask == want for row, want in zip(rows, expected))])


def find_layout(look_at: Callable[[Any], Any]) -> Layout | None:
    """The layout of this process's torch, if it can be found completely; `look_at(tensor)` gives the results of torch's
    functions."""
    torch = sys.modules["torch"]
    try:
        with (
            torch._C.DisableTorchFunction(),
            torch._C._DisableTorchDispatch(),
        ):  # modes would intercept the tensors, or make others
            return _find(torch, look_at)
    except Exception:  # an incompatible torch
        return None


def find_marks() -> Marks | None:
    """The marks of this process's torch; None if they cannot be found."""
    torch = sys.modules["torch"]
    try:
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return _find_marks(torch)
    except Exception:  # an incompatible torch
        return None


def _find_marks(torch: Any) -> Marks:
    """The only word in which both kinds of views set one more bit, for every base, and plain views none."""
    negative: list[list[int]] = []
    conjugate: list[list[int]] = []
    plain: list[list[int]] = []
    for size in (3, 40, 700):
        real, pairs = (torch.empty(size, dtype=ty, device="cpu") for ty in (torch.float32, torch.complex64))
        negative.append(_changes(real, torch._neg_view(real)))
        conjugate.append(_changes(pairs, pairs.conj()))
        plain += [_changes(real, real[1:]), _changes(pairs, pairs[1:])]
    found = []
    for at in range(_HEAD, _TENSOR_WORDS):
        first, second = ({words[at] for words in rows} for rows in (negative, conjugate))
        bits = first | second
        single = len(first) == len(second) == 1 and len(bits) == 2 and all(bit and not bit & bit - 1 for bit in bits)
        if single and not any(words[at] for words in plain):
            found.append(Marks(8 * at, sum(bits)))
    (marks,) = found
    return marks


def _changes(tensor: Any, view: Any) -> list[int]:
    """The bits that differ between the objects of two tensors, by words."""
    return [a ^ b for a, b in zip(_words(tensor._cdata, _TENSOR_WORDS), _words(view._cdata, _TENSOR_WORDS))]


def _find(torch: Any, look_at: Callable[[Any], Any]) -> Layout:
    memory = bytearray(256)  # memory that torch did not allocate, with another address and owner
    made = {"device": "cpu", "requires_grad": False}
    probes = [
        torch.empty((5, 7), dtype=torch.float32, **made),
        torch.empty(97, dtype=torch.int16, **made)[13:],
        torch.empty(211, dtype=torch.float64, **made)[29:],
        torch.frombuffer(memory, dtype=torch.uint8)[3:],
    ]
    storages = [probe.untyped_storage() for probe in probes]
    views = [look_at(probe) for probe in probes]
    tensors = [_words(probe._cdata, _TENSOR_WORDS) for probe in probes]
    held = [_words(storage._cdata, _STORAGE_WORDS) for storage in storages]
    if any(type(probe) is not torch.Tensor for probe in probes) or len({words[0] for words in tensors}) != 1:
        raise LookupError
    states = [view.dtype | view.device << 16 | (view.device_index & 255) << 24 | 1 << 32 for view in views]
    flags, special = _special(torch, made, held)
    layout = Layout(
        tensors[0][0],
        _place(tensors, [storage._cdata for storage in storages]),
        _place(tensors, [probe.storage_offset() for probe in probes]),
        _place(tensors, [probe.numel() for probe in probes]),
        _place(tensors, states, (1 << 40) - 1),
        _place(held, [storage.data_ptr() for storage in storages]),
        flags,
        special,
    )
    if any(address_by(layout, probe) != view.address for probe, view in zip(probes, views)):
        raise LookupError
    return layout


def _special(torch: Any, made: dict[str, Any], plain: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The offset and the bit of a storage's flag for an address that must be read by a call."""
    tensor = torch.empty(64, dtype=torch.float32, **made)
    storage = tensor.untyped_storage()
    before = _words(storage._cdata, _STORAGE_WORDS)
    shared = torch._lazy_clone(tensor)  # copied by the first writer
    after = _words(storage._cdata, _STORAGE_WORDS)
    bits = [a ^ b for a, b in zip(before, after)]
    flags = [1 << shift for shift in range(0, 64, 8)]  # one byte each
    at = _only([i for i in range(_HEAD, _STORAGE_WORDS) if bits[i] in flags and after[i] & bits[i]])
    del shared
    if any(words[at] & bits[at] for words in plain):
        raise LookupError
    return 8 * at, bits[at]


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def address_by(layout: Layout, tensor: Any) -> int | None:
    """The address of a tensor's first element by the layout; None if torch's functions must be called."""
    at = tensor._cdata
    if _word(at) != layout.methods or not _word(at + layout.elements):
        return None
    storage = _word(at + layout.storage)
    if _word(storage + layout.flags) & layout.special:
        return None
    return _word(storage + layout.address) + _word(at + layout.offset) * int(tensor.element_size())


def state_by(layout: Layout, tensor: Any) -> int:
    """A tensor's element type, device and flags."""
    return _word(tensor._cdata + layout.state) & STATE_MASK
