"""Tensors read from memory: the address is what torch says, and whatever is not as usual torch is asked about."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from tritium.runtime import torch_abi
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.fastpath.text import FIELDS, FRAME_HEAD
from tritium.runtime.torch_layout import address_by, find_layout

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine"),
    pytest.mark.skipif(not hasattr(torch, "_lazy_clone"), reason="a torch that is not read from memory"),
]

_Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Guard:
    """The guard of native code for tensors like `first`; torch's functions refuse, and are counted."""

    def __init__(self, first: Any) -> None:
        address = torch_abi.functions_for(first)
        assert address and torch_abi.kind_of(first).state
        self.asked = 0
        self._refuse = _Ask(self._count)
        words = list(torch_abi._known[type(first)].words)
        words[1:5] = [ctypes.cast(self._refuse, ctypes.c_void_p).value or 0] * 4
        self._words = (ctypes.c_uint64 * len(words))(*words)
        fields = {
            "type": id(type(first)),
            "slot": FRAME_HEAD | 8 << 32,
            "object": torch_abi.kind_of(first).state,
            "call": ctypes.addressof(self._words),
            "extra": first.element_size() << 32 | 0xFFFFFFFF,
        }
        self._guard = (ctypes.c_int64 * len(FIELDS["guard"]))(*(fields.get(name, 0) for name in FIELDS["guard"]))

    def _count(self, tensor: Any, place: Any) -> int:
        self.asked += 1
        return 1

    def read(self, tensor: Any) -> int | None:
        """The address that is packed; None where torch was asked."""
        native = native_fastpath()
        assert native is not None
        frame = ctypes.create_string_buffer(FRAME_HEAD + 8)
        check = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        before = self.asked
        status = check(native.address("tt.guard_tensor"))(
            ctypes.addressof(self._guard), tensor, ctypes.addressof(frame)
        )
        assert (status == 0) == (self.asked == before)
        (address,) = struct.unpack("<Q", frame.raw[FRAME_HEAD:])
        return address if status == 0 else None


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.float16, torch.float64, torch.complex128])
def test_usual_tensors_are_read(dtype: Any) -> None:
    memory = torch.zeros(64, dtype=dtype)
    guard = Guard(memory)
    viewed = [memory[at:] for at in (1, 3, 16)] + [memory[1:2], torch.zeros(3, 5, dtype=dtype)]
    made = [torch.zeros(1 << n, dtype=dtype) for n in range(16)]
    owned = bytearray(256)
    for tensor in (memory, *viewed, *made, torch.frombuffer(owned, dtype=dtype)[2:]):
        assert guard.read(tensor) == tensor.data_ptr()
    assert torch_abi.look_at(memory[3:]).address == address_by(find_layout(torch_abi.look_at), memory[3:])


def test_tensors_that_became_others_are_read_anew() -> None:
    tensor = torch.zeros(64)
    guard = Guard(tensor)
    for change in (
        lambda: tensor.set_(torch.zeros(64)),
        lambda: tensor.resize_(1 << 16),
        lambda: setattr(tensor, "data", torch.zeros(128)[2:]),
        lambda: torch.utils.swap_tensors(tensor, torch.zeros(64)),
        lambda: tensor.untyped_storage().resize_(1 << 20),
        lambda: tensor.requires_grad_(),
    ):
        change()
        assert guard.read(tensor) == tensor.data_ptr() != 0


def test_bits_after_a_tensors_flags_are_ignored() -> None:
    tensor, layout = torch.zeros(64), find_layout(torch_abi.look_at)
    guard = Guard(tensor)
    ctypes.c_uint8.from_address(tensor._cdata + layout.state + 7).value |= 0x80
    assert guard.read(tensor) == tensor.data_ptr()


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_other_tensors_use_the_functions_of_torch() -> None:
    guard = Guard(torch.zeros(64))
    shared = torch.zeros(64)
    copy = torch._lazy_clone(shared)
    guarded = torch.zeros(64)
    torch._C._set_throw_on_mutable_data_ptr(guarded)
    others = {
        "copied when written": copy,
        "of which there is a copy to be written": shared,
        "not to be written": guarded,
        "empty": torch.zeros(0),
        "an empty view": torch.zeros(8)[8:],
        "other elements": torch.zeros(64, dtype=torch.int32),
        "on no device": torch.zeros(64, device="meta"),
        "sparse": torch.sparse_coo_tensor([[0]], [1.0], (8,)),
        "wider elements": torch.zeros(64, dtype=torch.float64),
    }
    for name, tensor in others.items():
        assert guard.read(tensor) is None, name
    seen: list[Any] = []
    torch.func.vmap(lambda x: (seen.append(guard.read(x)), x)[1])(torch.zeros(3, 4))
    torch.func.functionalize(lambda x: (seen.append(guard.read(x)), x)[1])(torch.zeros(8))
    assert seen == [None, None]
    assert copy.data_ptr() != shared.data_ptr()  # a copy now
    assert guard.read(copy) == copy.data_ptr()


def test_torch_modes_do_not_see_probe_tensors() -> None:
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[Any] = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    torch_abi.functions_for(torch.zeros(1))
    with Functions(), Dispatches():
        assert find_layout(torch_abi.look_at) is not None
    assert seen == []


def test_without_a_layout_functions_of_torch_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_abi, "_known", {})
    monkeypatch.setattr(torch_abi, "find_layout", lambda look_at: None)
    tensor = torch.zeros(4)
    assert torch_abi.functions_for(tensor)
    assert torch_abi.kind_of(tensor).state == 0
    assert find_layout(lambda tensor: None) is None  # what the functions say cannot be found
