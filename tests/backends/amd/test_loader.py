"""Launches through HIP's runtime, on a stand-in that records its calls: no AMD GPU is needed, and none was used."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from tests.backends.amd import kernels
from tritium.backends.amd import libamdhip64
from tritium.backends.amd.libamdhip64 import FUNCTIONS, HIPError, Library, NoHIPError
from tritium.backends.amd.loader import LoadedCodeObject
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import InternalError, settings

_TEXTS = {
    "hipGetErrorName": ctypes.create_string_buffer(b"hipErrorInvalidValue"),
    "hipGetErrorString": ctypes.create_string_buffer(b"invalid argument"),
}


class Recorder:
    """HIP's functions as C callbacks; `calls` are (symbol, arguments), `failing` is a symbol that fails."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.failing = ""
        self.parameters = b""
        for symbol, types in FUNCTIONS.values():
            result = ctypes.c_void_p if symbol.startswith("hipGetError") else ctypes.c_int
            setattr(self, symbol, ctypes.CFUNCTYPE(result, *types)(self._function(symbol)))

    def _function(self, symbol: str) -> Any:
        def called(*arguments: Any) -> Any:
            if symbol.startswith("hipGetError"):
                return ctypes.addressof(_TEXTS[symbol])
            self.calls.append((symbol, arguments))
            if symbol == "hipGetDevice":
                ctypes.c_int.from_address(arguments[0]).value = 0
            if symbol == "hipModuleGetFunction":
                ctypes.c_uint64.from_address(arguments[0]).value = 0x1234
            if symbol == "hipModuleLaunchKernel":
                extra = (ctypes.c_uint64 * 5).from_address(arguments[10])
                assert (extra[0], extra[2], extra[4]) == (1, 2, 3)
                size = ctypes.c_size_t.from_address(extra[3]).value
                self.parameters = ctypes.string_at(extra[1], size)
            return int(symbol == self.failing)

        return called


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(scope="module")
def kernel() -> Any:
    source = ASTSource(kernels.softmax, {"x": "*fp32", "o": "*fp32", "n": "i32"}, {"B": 1024})
    return compile(source, target=GPUTarget("hip", "gfx942", 64))


def loaded(kernel: Any, recorder: Recorder) -> LoadedCodeObject:
    return LoadedCodeObject(kernel.asm["hsaco"], kernel.metadata._asdict(), Library(recorder))  # type: ignore[arg-type]


def test_a_launch_packs_arguments_and_sizes(kernel: Any, recorder: Recorder) -> None:
    code = loaded(kernel, recorder)
    code.launch((5, 1, 1), [0x1000, 0x2000, -3], stream=77)
    assert [name for name, _ in recorder.calls] == [
        "hipModuleLoadData",
        "hipModuleGetFunction",
        "hipModuleLaunchKernel",
    ]
    _, arguments = recorder.calls[-1]
    assert arguments[:9] == (0x1234, 5, 1, 1, 256, 1, 1, kernel.metadata.shared, 77)
    assert recorder.parameters == struct.pack("<QQi4xQQ", 0x1000, 0x2000, -3, 0, 0)
    code.unload()
    assert recorder.calls[-1][0] == "hipModuleUnload"


def test_a_wrong_number_of_arguments_is_refused(kernel: Any, recorder: Recorder) -> None:
    with pytest.raises(InternalError, match="kernel softmax takes 3 arguments, 2 were given"):
        loaded(kernel, recorder).pack([1, 2])


def test_errors_have_the_words_of_hip(kernel: Any, recorder: Recorder) -> None:
    recorder.failing = "hipModuleLoadData"
    with pytest.raises(HIPError, match=r"hipModuleLoadData: hipErrorInvalidValue \(1\): invalid argument"):
        loaded(kernel, recorder)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libamdhip64, "_library", [])
    with settings.amd.scope():
        settings.amd.libhip_path = "/nowhere/libamdhip64.so"
        with pytest.raises(NoHIPError, match="set TRITON_LIBHIP_PATH to libamdhip64.so"):
            libamdhip64.library()
