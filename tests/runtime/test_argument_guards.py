"""Argument guards that call a function: what they pack and refuse, references and exceptions."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.fastpath.text import FIELDS, FRAME_HEAD

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")


@pytest.fixture(params=["quick", "optimized"], autouse=True)
def code(request: pytest.FixtureRequest) -> str:
    """Which code of the fast path tests run (see `conftest`)."""
    return str(request.param)


class Argument:
    """What the guards here are about."""


def failing(value: Any) -> None:
    raise ValueError("not this one")


#: check, what call(value) is, the bytes that are packed (None: the guard refuses)
CASES: dict[str, tuple[str, Any, bytes | None]] = {
    "address": ("address", 2**64 - 4096, struct.pack("<Q", 2**64 - 4096)),
    "no address": ("address", None, None),
    "address that is text": ("address", "an address", None),
    "not aligned": ("address", 4104, None),
    "bytes": ("bytes", bytes(range(8)), bytes(range(8))),
    "no bytes": ("bytes", None, None),
    "too few bytes": ("bytes", bytes(range(7)), None),
    "bytes that are text": ("bytes", "12345678", None),
}


def ask(check: str, call: Callable, value: Any, kind: type = Argument) -> bytes | None:
    """The 8 bytes that a guard of this kind packs, None where it refuses; an error that it leaves behind is raised."""
    native = native_fastpath()
    assert native is not None
    mask = 15 if check == "address" else 0  # addresses are multiples of 16
    fields = {"type": id(kind), "slot": FRAME_HEAD | 8 << 32 | mask << 48, "call": id(call)}
    guard = (ctypes.c_int64 * len(FIELDS["guard"]))(*(fields.get(name, 0) for name in FIELDS["guard"]))
    frame = ctypes.create_string_buffer(b"\x5a" * (FRAME_HEAD + 16), FRAME_HEAD + 16)
    function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    status = function(native.address(f"tt.guard_{check}"))(ctypes.addressof(guard), value, ctypes.addressof(frame))
    packed = frame.raw[FRAME_HEAD:][:8]
    assert frame.raw == b"\x5a" * FRAME_HEAD + packed + b"\x5a" * 8
    if status == 0:
        return packed
    assert packed == b"\x5a" * 8
    return None


@pytest.mark.parametrize(("check", "answer", "packed"), CASES.values(), ids=list(CASES))
def test_result_is_packed_or_refused_without_leaking_references(check: str, answer: Any, packed: bytes | None) -> None:
    value = Argument()

    def call(asked: Any) -> Any:
        assert asked is value
        return answer

    before = sys.getrefcount(answer), sys.getrefcount(value)
    for _ in range(100):
        assert ask(check, call, value) == packed
    if answer is not None:  # None is counted elsewhere, too
        assert (sys.getrefcount(answer), sys.getrefcount(value)) == before


@pytest.mark.parametrize("check", ["address", "bytes"])
def test_errors_and_other_types_are_refusals(check: str) -> None:
    assert ask(check, failing, Argument()) is None
    assert ask(check, failing, 5) is None  # not asked
    asked: list[Any] = []
    assert ask(check, asked.append, 5) is None and not asked
